//! Delay laws of the user's own.

use crate::link::Link;
use anabranch_custom::Place;
use anabranch_units::{Rate, Span, Time};
use std::fmt;

/// `Forward` is what a law of the user's own sees of the forward link.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Forward {
    /// `now` is the time at which the law is asked.
    pub now: Time,
    /// Time since which the ACK at the head is held.
    pub since: Time,
    /// `packets` is how many packets wait in the queue.
    pub packets: u64,
    /// `octets` is how many octets these packets have.
    pub octets: u64,
    /// `octets_received` is how many octets came to the link so far.
    pub octets_received: u64,
    /// `rate` is the link's rate now; `None` where it has none.
    pub rate: Option<Rate>,
}

/// `DelayLaw` is a law that holds ACKs: see the module above.
pub trait DelayLaw: fmt::Debug + Send {
    /// Returns how long the ACK at the head is held altogether, as the forward link is now. It is
    /// asked again while it holds, at the latest after `recheck`.
    fn delay(&mut self, forward: &Forward) -> Span;

    /// Hears that the ACK at the head went on.
    fn on_release(&mut self, _now: Time) {}
}

/// Makes a law of the user's own, given its place.
pub type MakeLaw = dyn Fn(&Place) -> Box<dyn DelayLaw> + Send + Sync;

pub(super) fn due(law: &mut dyn DelayLaw, now: Time, since: Time, forward: &mut Link) -> Time {
    let waiting = forward.waiting(now);
    let view = Forward {
        now,
        since,
        packets: waiting.packets,
        octets: waiting.octets,
        octets_received: forward.octets_received(),
        rate: forward.rate_at(now),
    };
    since.saturating_add(law.delay(&view))
}
