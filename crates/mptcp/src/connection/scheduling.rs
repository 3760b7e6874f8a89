//! The scheduler at work: what it is asked, and what is known without asking it.

use super::readiness::Readiness;
use super::subflows::Subflows;
use crate::scheduler::{Active, Candidate, Choice, SchedulerKind, Stream};
use crate::subflow::Subflow;
use anabranch_units::Time;

/// The scheduler and what it needs.
#[derive(Debug)]
pub(super) struct Scheduling {
    /// The scheduler, which chooses the subflow of each segment.
    scheduler: Active,
    /// The scheduler chooses among subflows with room and makes no copies, so that it need not be
    /// asked where there is one.
    takes_turns_by_room: bool,
    /// The scheduler gives subflows data that waits in them.
    assigns: bool,
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
        let (assigns, candidates) = (scheduler.assigns(), Vec::new());
        Scheduling { scheduler, takes_turns_by_room, assigns, in_burst: false, candidates }
    }

    /// Where nothing new waits and nothing is to be sent again, there is nothing to decide; and
    /// where one subflow has room it is the choice.
    #[inline]
    pub fn takes_turns_by_room(&self) -> bool {
        self.takes_turns_by_room
    }

    /// Whether data that was given to a subflow may wait in it for its window.
    #[inline]
    pub fn assigns(&self) -> bool {
        self.assigns
    }

    /// Whether the scheduler sends copies, so that it is asked even when nothing new waits.
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

    /// Tells the scheduler that this subflow alone had room, and got the segment without being
    /// chosen.
    #[inline]
    pub fn on_only(&mut self, id: u32) {
        self.scheduler.on_only(id);
    }

    /// Chooses which of the `eligible` subflows gets the next segment; `has_window`: the peer's
    /// window lets new data leave.
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

#[cfg(test)]
mod tests {
    use super::super::subflows::testing::subflow;
    use super::*;
    use crate::scheduler::testing::stream;
    use crate::subflow::Stage;

    /// Two subflows, both of which the scheduler may choose.
    fn two() -> (Subflows, Readiness) {
        let mut subflows = Subflows::of_first(subflow(0, Stage::First));
        let mut readiness = Readiness::of_first();
        subflows.add(subflow(1, Stage::Ready), &mut readiness);
        readiness.set_eligible(0b11);
        (subflows, readiness)
    }

    #[test]
    fn the_only_subflow_with_room_is_the_choice() {
        let (subflows, mut readiness) = two();
        let mut scheduling = Scheduling::new(&SchedulerKind::RoundRobin);
        assert!(scheduling.takes_turns_by_room() && !scheduling.copies());
        let mut choose =
            |readiness: &Readiness| scheduling.choose(&subflows, readiness, &stream(9000), true);
        readiness.set_room(0, false);
        assert_eq!(choose(&readiness), Choice::Wait, "the other has not been asked for room");
        readiness.set_room(1, true);
        assert_eq!(choose(&readiness), Choice::New(1));
        readiness.set_room(0, true);
        assert_eq!(choose(&readiness), Choice::New(0), "the other one's turn");
        readiness.set_eligible(0b10);
        assert_eq!(choose(&readiness), Choice::New(1), "the first is a backup now");
        readiness.forget_eligible();
        assert_eq!(choose(&readiness), Choice::Wait);
    }

    #[test]
    fn a_scheduler_that_copies_sees_subflows_without_room_too() {
        let (mut subflows, mut readiness) = two();
        let mut scheduling = Scheduling::new(&SchedulerKind::Redundant);
        assert!(scheduling.copies() && !scheduling.takes_turns_by_room());
        let stream = Stream { nxt: 3001, ..stream(0) };
        readiness.set_room(0, false);
        readiness.set_room(1, true);
        subflows[0].sent_to = 3001;
        let choice = scheduling.choose(&subflows, &readiness, &stream, false);
        assert_eq!(choice, Choice::Copy { id: 1, from: 1 });
        subflows[1].sent_to = 3001;
        assert_eq!(scheduling.choose(&subflows, &readiness, &stream, false), Choice::Wait);
    }

    #[test]
    fn a_burst_goes_on_while_data_leaves() {
        let mut scheduling = Scheduling::new(&SchedulerKind::MinRtt);
        assert!(!scheduling.end_burst());
        scheduling.on_packet(true);
        assert!(scheduling.is_in_burst() && scheduling.end_burst() && !scheduling.is_in_burst());
        scheduling.on_packet(true);
        scheduling.on_packet(false);
        assert!(!scheduling.end_burst(), "an ACK left last");
    }
}
