//! The scheduler at work: what it is asked, and what is known without asking it.

use super::readiness::Readiness;
use super::subflows::Subflows;
use crate::scheduler::{Active, Candidate, Choice, SchedulerKind, Stream};
use crate::subflow::Subflow;
use anabranch_units::Time;

/// The scheduler and what it needs.
#[derive(Debug)]
pub(super) struct Scheduling {
    /// It chooses.
    scheduler: Active,
    /// It chooses among subflows with room and makes no copies, so that it need
    /// not be asked where there is one.
    takes_turns_by_room: bool,
    /// The last packet was data: its subflow may take more.
    in_burst: bool,
    /// The scheduler sees these; they are made anew each time.
    candidates: Vec<Candidate>,
}

impl Scheduling {
    /// A scheduler that has not been asked yet.
    pub fn new(kind: &SchedulerKind) -> Scheduling {
        let mut scheduler = kind.build();
        let takes_turns_by_room = scheduler.needs_room() && !scheduler.copies();
        Scheduling { scheduler, takes_turns_by_room, in_burst: false, candidates: Vec::new() }
    }

    /// Where nothing new waits and nothing is to be sent again, there is nothing to decide; and
    /// where one subflow has room it is the choice.
    #[inline]
    pub fn takes_turns_by_room(&self) -> bool {
        self.takes_turns_by_room
    }

    /// It sends copies, so it is asked even when nothing new waits.
    pub fn copies(&mut self) -> bool {
        self.scheduler.copies()
    }

    /// A packet leaves that is data, or not.
    #[inline]
    pub fn on_packet(&mut self, is_data: bool) {
        self.in_burst = is_data;
    }

    /// The last packet was data.
    #[inline]
    pub fn is_in_burst(&self) -> bool {
        self.in_burst
    }

    /// The last packet was data, and the next is about to be looked for.
    #[inline]
    pub fn end_burst(&mut self) -> bool {
        std::mem::take(&mut self.in_burst)
    }

    /// The receiver's window, not the subflows', keeps data from leaving.
    pub fn on_window_blocked(&mut self, now: Time) {
        self.scheduler.on_window_blocked(now);
    }

    /// This subflow alone had room, and got the segment without being chosen.
    #[inline]
    pub fn on_only(&mut self, id: u32) {
        self.scheduler.on_only(id);
    }

    /// Which of the `eligible` subflows gets the next segment; `has_window`: the peer's window
    /// lets new data leave.
    pub fn choose(
        &mut self,
        subflows: &Subflows,
        readiness: &Readiness,
        stream: &Stream,
        has_window: bool,
    ) -> Choice {
        let mut eligible = readiness.eligible();
        if self.scheduler.needs_room() {
            eligible = readiness.roomy(eligible);
            if eligible == 0 {
                return Choice::Wait;
            }
            if eligible.is_power_of_two() && has_window {
                self.scheduler.on_only(eligible.trailing_zeros());
                return Choice::New(eligible.trailing_zeros());
            }
        }
        self.candidates.clear();
        let eligible = subflows.iter().filter(|subflow| eligible & subflow.bit() != 0);
        let candidate = |subflow: &Subflow| subflow.candidate(readiness.roomy(subflow.bit()) != 0);
        self.candidates.extend(eligible.map(candidate));
        self.scheduler.choose(&self.candidates, stream)
    }
}
