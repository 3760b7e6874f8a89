//! Schedulers decide which subflow carries the next segment of the stream: one
//! scheduler a file, behind [`Scheduler`].
//!
//! Before a scheduler is asked, the subflows are narrowed down (RFC 8684
//! §3.3.8): those that answer and are no backups; without any, backups; without
//! any, those whose last segments were lost to a timeout.
//!
//! A new scheduler is one file here, one variant of [`SchedulerKind`] and of
//! `Active`, and one line of [`SCHEDULERS`]; one from outside the workspace
//! goes into [`SchedulerKind::Custom`].

mod blest;
mod ecf;
mod linux;
mod min_rtt;
mod otias;
mod redundant;
mod round_robin;
mod send_buffer;
mod sttf;

pub use blest::{Blest, BlestOptions};
pub use ecf::{Ecf, EcfOptions};
pub use linux::Linux;
pub use min_rtt::MinRtt;
pub use otias::Otias;
pub use redundant::Redundant;
pub use round_robin::RoundRobin;
pub use sttf::Sttf;

use anabranch_custom::{Custom, Place};
use anabranch_units::{Span, Time};
use std::fmt;

/// What a scheduler sees of a subflow. Amounts are octets, unless named otherwise.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// Number of the subflow; it is stable while the subflow lives.
    pub id: u32,
    /// A segment of new data would leave at once.
    pub has_room: bool,
    /// Smoothed round-trip time; one second before the first sample.
    pub srtt: Span,
    /// Mean deviation of the round-trip time.
    pub rttvar: Span,
    /// Congestion window of the subflow.
    pub cwnd: u64,
    /// Slow-start threshold of the subflow; infinite at first.
    pub ssthresh: u64,
    /// Estimate of what the subflow has in the network.
    pub in_flight: u64,
    /// What the subflow was given and the peer has not acknowledged on it, sent or not.
    pub queued: u64,
    /// Payload of a full segment.
    pub mss: u64,
    /// Data offset up to which the subflow was given data.
    pub sent_to: u64,
}

/// What a scheduler sees of the stream, in data offsets and octets.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    /// Time at which the scheduler is asked.
    pub now: Time,
    /// Everything before this offset is acknowledged.
    pub una: u64,
    /// Everything before this offset has been given to a subflow, but for what was skipped.
    pub nxt: u64,
    /// Octets that wait to be given to a subflow.
    pub unsent: u64,
    /// Octets of those that lie before `nxt`: what [`Choice::Ahead`] has passed over. They are the first that wait, and
    /// are in the receiver's window already.
    pub skipped: u64,
    /// The receiver's window lets so many octets leave.
    pub window_left: u64,
}

/// What a scheduler decides to send next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// The scheduler sends nothing now.
    Wait,
    /// A segment of new data is sent on this subflow.
    New(u32),
    /// A segment of new data that is not the next is sent on a subflow; what lies before it goes on waiting.
    Ahead {
        /// Number of the subflow that sends the segment.
        id: u32,
        /// Octets that wait and lie before the segment: fewer than [`Stream::skipped`], or than that and what the
        /// receiver's window takes of the rest.
        after: u64,
    },
    /// New data is given to a subflow, where it waits for the subflow's window.
    Assign {
        /// Number of the subflow that gets the data.
        id: u32,
        /// Octets that it gets, at most [`Stream::window_left`]; fewer where less is there.
        len: u64,
    },
    /// A copy is sent of what others have.
    Copy {
        /// Number of the subflow that sends the copy.
        id: u32,
        /// Data offset at which the copy begins, below [`Stream::nxt`].
        from: u64,
    },
}

/// A packet scheduler chooses the subflow of each segment.
pub trait Scheduler: fmt::Debug + Send {
    /// The subflow for the next segment, out of at least one; that of a choice
    /// has room.
    fn choose(&mut self, candidates: &[Candidate], stream: &Stream) -> Choice;

    /// The receiver's window, not the subflows', keeps data from leaving.
    fn on_window_blocked(&mut self, _now: Time) {}

    /// Subflows without room play no part in what it chooses: it is not told of
    /// them.
    fn needs_room(&self) -> bool {
        false
    }

    /// Tells a scheduler that needs room that this subflow alone has some, and gets the segment
    /// without being chosen.
    fn on_only(&mut self, _id: u32) {}

    /// Whether the scheduler sends copies, so that it is asked even when nothing new waits.
    fn copies(&self) -> bool {
        false
    }

    /// Whether it gives subflows what their windows do not let leave yet ([`Choice::Assign`]), so that it is
    /// asked even when none has room.
    fn assigns(&self) -> bool {
        false
    }
}

/// A scheduler with its options, as settings name it.
#[derive(Clone, Debug, PartialEq)]
pub enum SchedulerKind {
    /// The subflow of the lowest round-trip time that has room, as in the out-of-tree Linux.
    MinRtt,
    /// The subflow whose queue is gone the soonest, as in Linux.
    Linux,
    /// The subflows in turn, a segment each.
    RoundRobin,
    /// Everything on every subflow.
    Redundant,
    /// BLEST sends nothing on a slow subflow that would block the window.
    Blest(BlestOptions),
    /// ECF seeks the earliest completion.
    Ecf(EcfOptions),
    /// OTIAS gives each segment to the subflow on which it would arrive first, where it waits.
    Otias,
    /// STTF seeks the shortest transfer time of each segment that waits.
    Sttf,
    /// A scheduler that the user wrote.
    Custom(Box<Custom<MakeScheduler>>),
}

/// Makes a scheduler of the user's own, given its place.
pub type MakeScheduler = dyn Fn(&Place) -> Box<dyn Scheduler> + Send + Sync;

/// A line of the catalogue of schedulers.
#[derive(Clone, Copy, Debug)]
pub struct SchedulerInfo {
    /// The name in scenarios.
    pub name: &'static str,
    /// What the scheduler does, in one phrase.
    pub summary: &'static str,
    /// The paper or implementation that defines it.
    pub reference: &'static str,
}

/// The catalogue of all schedulers.
pub const SCHEDULERS: &[SchedulerInfo] = &[
    SchedulerInfo {
        name: "min-rtt",
        summary: "the subflow of the lowest round-trip time whose window has room",
        reference: "Raiciu et al., NSDI 2012; Linux's out-of-tree kernel",
    },
    SchedulerInfo {
        name: "linux",
        summary: "the subflow whose queue is gone the soonest at its pacing rate, for 64 kB",
        reference: "Linux, net/mptcp/protocol.c, since 5.16",
    },
    SchedulerInfo {
        name: "round-robin",
        summary: "subflows in turn, a segment each",
        reference: "Paasch et al., CSWS 2014",
    },
    SchedulerInfo {
        name: "redundant",
        summary: "every segment on every subflow",
        reference: "Frömmgen et al., ICC 2016",
    },
    SchedulerInfo {
        name: "blest",
        summary: "leaves a slow subflow idle where it would block the receive window",
        reference: "Ferlin et al., IFIP Networking 2016",
    },
    SchedulerInfo {
        name: "ecf",
        summary: "waits for the fast subflow where that completes the data earlier",
        reference: "Lim et al., CoNEXT 2017",
    },
    SchedulerInfo {
        name: "otias",
        summary: "each segment to the subflow on which it would arrive first, to wait there",
        reference: "Yang, Wang and Amer, WAINA 2014",
    },
    SchedulerInfo {
        name: "sttf",
        summary: "each segment to the subflow of the shortest transfer time, reckoned by rounds",
        reference: "Hurtig et al., IEEE/ACM ToN 2019",
    },
];

impl SchedulerKind {
    /// The scheduler has that name, and its default options.
    pub fn from_name(name: &str) -> Option<SchedulerKind> {
        Some(match name {
            "min-rtt" => SchedulerKind::MinRtt,
            "linux" => SchedulerKind::Linux,
            "round-robin" => SchedulerKind::RoundRobin,
            "redundant" => SchedulerKind::Redundant,
            "blest" => SchedulerKind::Blest(BlestOptions::default()),
            "ecf" => SchedulerKind::Ecf(EcfOptions::default()),
            "otias" => SchedulerKind::Otias,
            "sttf" => SchedulerKind::Sttf,
            _ => return None,
        })
    }

    /// Returns the name in scenarios, or the user's for a scheduler of his own.
    pub fn name(&self) -> &str {
        match self {
            SchedulerKind::MinRtt => "min-rtt",
            SchedulerKind::Linux => "linux",
            SchedulerKind::RoundRobin => "round-robin",
            SchedulerKind::Redundant => "redundant",
            SchedulerKind::Blest(_) => "blest",
            SchedulerKind::Ecf(_) => "ecf",
            SchedulerKind::Otias => "otias",
            SchedulerKind::Sttf => "sttf",
            SchedulerKind::Custom(custom) => custom.name(),
        }
    }

    pub(crate) fn build(&self) -> Active {
        match self {
            SchedulerKind::MinRtt => Active::MinRtt(MinRtt),
            SchedulerKind::Linux => Active::Linux(Linux::default()),
            SchedulerKind::RoundRobin => Active::RoundRobin(RoundRobin::default()),
            SchedulerKind::Redundant => Active::Redundant(Redundant),
            SchedulerKind::Blest(options) => Active::Blest(Blest::new(*options)),
            SchedulerKind::Ecf(options) => Active::Ecf(Ecf::new(*options)),
            SchedulerKind::Otias => Active::Otias(Otias::default()),
            SchedulerKind::Sttf => Active::Sttf(Sttf),
            SchedulerKind::Custom(custom) => Active::Custom(custom.maker()(custom.place())),
        }
    }
}

/// A scheduler is at work.
#[derive(Debug)]
pub(crate) enum Active {
    MinRtt(MinRtt),
    Linux(Linux),
    RoundRobin(RoundRobin),
    Redundant(Redundant),
    Blest(Blest),
    Ecf(Ecf),
    Otias(Otias),
    Sttf(Sttf),
    Custom(Box<dyn Scheduler>),
}

impl Active {
    fn scheduler(&mut self) -> &mut dyn Scheduler {
        match self {
            Active::MinRtt(scheduler) => scheduler,
            Active::Linux(scheduler) => scheduler,
            Active::RoundRobin(scheduler) => scheduler,
            Active::Redundant(scheduler) => scheduler,
            Active::Blest(scheduler) => scheduler,
            Active::Ecf(scheduler) => scheduler,
            Active::Otias(scheduler) => scheduler,
            Active::Sttf(scheduler) => scheduler,
            Active::Custom(scheduler) => scheduler.as_mut(),
        }
    }

    pub fn choose(&mut self, candidates: &[Candidate], stream: &Stream) -> Choice {
        self.scheduler().choose(candidates, stream)
    }
    pub fn on_window_blocked(&mut self, now: Time) {
        self.scheduler().on_window_blocked(now);
    }
    pub fn copies(&mut self) -> bool {
        self.scheduler().copies()
    }
    pub fn assigns(&mut self) -> bool {
        self.scheduler().assigns()
    }
    pub fn needs_room(&mut self) -> bool {
        self.scheduler().needs_room()
    }
    pub fn on_only(&mut self, id: u32) {
        self.scheduler().on_only(id);
    }
}

/// Returns the candidate of the lowest round-trip time; of equals the oldest subflow.
fn fastest<'a>(of: impl Iterator<Item = &'a Candidate>) -> Option<&'a Candidate> {
    of.min_by_key(|candidate| (candidate.srtt, candidate.id))
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// A subflow with a window of ten segments of 1000 octets, empty.
    pub fn candidate(id: u32, rtt_ms: u64) -> Candidate {
        Candidate {
            id,
            has_room: true,
            srtt: Span::from_millis(rtt_ms),
            rttvar: Span::ZERO,
            cwnd: 10_000,
            ssthresh: u64::MAX,
            in_flight: 0,
            queued: 0,
            mss: 1000,
            sent_to: 1,
        }
    }

    /// The same, full.
    pub fn full(id: u32, rtt_ms: u64) -> Candidate {
        Candidate { has_room: false, in_flight: 10_000, queued: 10_000, ..candidate(id, rtt_ms) }
    }

    /// Nothing in the network, an open window.
    pub fn stream(unsent: u64) -> Stream {
        Stream { now: Time::ZERO, una: 1, nxt: 1, unsent, skipped: 0, window_left: 1 << 30 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_the_table_agree() {
        for info in SCHEDULERS {
            assert_eq!(SchedulerKind::from_name(info.name).unwrap().name(), info.name);
        }
        assert!(SchedulerKind::from_name("fastest").is_none());
    }

    #[test]
    fn nobody_but_who_assigns_chooses_a_full_subflow() {
        for info in SCHEDULERS {
            let mut scheduler = SchedulerKind::from_name(info.name).unwrap().build();
            if scheduler.assigns() {
                continue;
            }
            let all = [testing::full(0, 10), testing::full(1, 20)];
            let choice = scheduler.choose(&all, &testing::stream(1 << 20));
            assert_eq!(choice, Choice::Wait, "{}", info.name);
        }
    }
}
