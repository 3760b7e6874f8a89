//! What a receiver of numbered datagrams measures: one-way delay, jitter, losses, reordering.
//!
//! Both ends have the simulation's clock, so that a delay is exact. A datagram is lost when it was
//! sent, has not arrived and is not in the network any more; one that is under way when the run ends
//! is neither lost nor received.

mod arrived;
mod jitter;

use crate::quantiles::{Distribution, Times};
use anabranch_media::voice::{Call, CallQuality};
use anabranch_units::Time;
use arrived::Arrived;
pub use arrived::Losses;
use jitter::Jitter;
pub use jitter::JitterSummary;

/// How datagrams are measured.
#[derive(Clone, PartialEq, Debug)]
pub struct DatagramSpec {
    /// First octets of each that the transport writes over with its number.
    pub header: u32,
    /// They are a call, which is heard through this receiver.
    pub call: Option<Call>,
}

/// Totals and distributions of the datagrams that one side sent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DatagramSummary {
    /// Datagrams that the host sent.
    pub sent: u64,
    /// Received for the first time.
    pub received: u64,
    /// Copies received beyond that.
    pub duplicates: u64,
    /// Datagrams in the network when the run ended.
    pub under_way: u64,
    /// Datagrams lost, and the runs that they make.
    pub losses: Losses,
    /// Received after one with a higher number (RFC 4737 §4.1, Type-P-Reordered).
    pub reordered: u64,
    /// One-way delay from the application's making it to its peer's reading it, seconds.
    pub delay: Option<Distribution>,
    /// Interarrival jitter (RFC 3550 §6.4.1); `None` before two datagrams.
    pub jitter: Option<JitterSummary>,
    /// Round-trip time of echoes, from making the request to reading the echo, in seconds; `None`
    /// for other datagrams.
    pub round_trip: Option<Distribution>,
    /// What the listener of a call heard; `None` for other datagrams.
    pub call: Option<CallSummary>,
}

/// A call as its hearer had it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CallSummary {
    /// Packets that came too late to be played.
    pub late: u64,
    /// Quality; `None` when nothing was heard.
    pub quality: Option<CallQuality>,
}

/// What a receiver has measured so far.
#[derive(Clone, Debug)]
pub(crate) struct Datagrams {
    delays: Times,
    round_trips: Times,
    jitter: Jitter,
    arrived: Arrived,
    /// One more than the highest number received: NextExp of RFC 4737 §3.3.
    next_expected: u64,
    reordered: u64,
    duplicates: u64,
    /// The receiver of the call and which packets it played.
    call: Option<(Call, Arrived)>,
}

impl Datagrams {
    pub(crate) fn new(spec: &DatagramSpec) -> Datagrams {
        Datagrams {
            delays: Times::new(),
            round_trips: Times::new(),
            jitter: Jitter::default(),
            arrived: Arrived::default(),
            next_expected: 0,
            reordered: 0,
            duplicates: 0,
            call: spec.call.clone().map(|call| (call, Arrived::default())),
        }
    }

    /// A copy of one that was received before.
    pub(crate) fn on_duplicate(&mut self) {
        self.duplicates += 1;
    }

    /// The datagram of this number, made at `made`; of an echo, whose request was made at `asked`.
    pub(crate) fn on_received(&mut self, now: Time, number: u64, made: Time, asked: Option<Time>) {
        self.delays.add(now.saturating_since(made));
        if let Some(asked) = asked {
            self.round_trips.add(now.saturating_since(asked));
        }
        self.jitter.on_received(now, made);
        self.arrived.set(number);
        if number >= self.next_expected {
            self.next_expected = number + 1;
        } else {
            self.reordered += 1;
        }
        if let Some((call, played)) = &mut self.call
            && call.on_received(now, made)
        {
            played.set(number);
        }
    }

    /// Sums up `sent` datagrams, of which the last `under_way` missing are in the network.
    pub(crate) fn summary(&self, sent: u64, under_way: u64) -> DatagramSummary {
        let losses = self.arrived.losses(sent, under_way);
        let call = self.call.as_ref().map(|(call, played)| {
            let unplayed = played.losses(sent, under_way);
            let ended = sent - under_way.min(sent);
            CallSummary {
                late: call.late(),
                quality: call.quality(ended, unplayed.lost, unplayed.runs),
            }
        });
        DatagramSummary {
            sent,
            received: self.arrived.count(),
            duplicates: self.duplicates,
            under_way,
            losses,
            reordered: self.reordered,
            delay: self.delays.distribution(),
            jitter: self.jitter.summary(),
            round_trip: self.round_trips.distribution(),
            call,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_units::Span;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn measures() -> Datagrams {
        Datagrams::new(&DatagramSpec { header: 4, call: None })
    }

    /// RFC 4737 §4.1.2: a datagram is reordered when its number is smaller than NextExp. The
    /// sequence 1, 2, 4, 5, 3, 6 has one.
    #[test]
    fn a_late_number_is_reordered_and_those_before_it_are_not() {
        let mut measured = measures();
        for (i, number) in [0, 1, 3, 4, 2, 5].into_iter().enumerate() {
            measured.on_received(at(100 + i as u64), number, at(number), None);
        }
        let summary = measured.summary(6, 0);
        assert_eq!((summary.reordered, summary.received, summary.losses.lost), (1, 6, 0));
    }

    #[test]
    fn what_is_under_way_is_not_lost() {
        let mut measured = measures();
        for number in [0, 1, 4] {
            measured.on_received(at(50 + number), number, at(number), None);
        }
        measured.on_duplicate();
        let summary = measured.summary(8, 2);
        assert_eq!((summary.sent, summary.received, summary.duplicates), (8, 3, 1));
        // 2, 3 and 5 are lost; 6 and 7 are under way.
        assert_eq!(summary.losses, Losses { lost: 3, runs: 2, longest: 2 });
        let delay = summary.delay.expect("some came");
        assert!((delay.mean - 0.05).abs() < 1e-12 && (delay.max - 0.05).abs() < 1e-12);
    }
}
