//! What a scheme of the user's own is: told of ACKs, it says which octets are lost.

use crate::range_set::{Range, RangeSet};
use anabranch_custom::Place;
use anabranch_units::{Span, Time};
use std::fmt;

/// What a scheme of the user's own sees with an ACK. Offsets count octets from
/// the SYN.
#[derive(Clone, Copy, Debug)]
pub struct AckView<'a> {
    /// Time at which the ACK arrived.
    pub now: Time,
    /// Oldest offset that is not acknowledged.
    pub una: u64,
    /// The offset after the highest ever sent.
    pub max: u64,
    /// Payload of a full segment.
    pub mss: u64,
    /// Octets newly acknowledged in order.
    pub acked: u64,
    /// Octets newly known to have arrived.
    pub delivered: u64,
    /// The ACK is a duplicate (RFC 5681 §2).
    pub duplicate: bool,
    /// Duplicate ACKs in a row.
    pub dupacks: u32,
    /// SACKed ranges above `una`, from low to high.
    pub sacked: &'a RangeSet,
    /// Ranges that were called lost and have not been sent again.
    pub lost: &'a RangeSet,
    /// A loss is being repaired.
    pub in_recovery: bool,
    /// The round-trip sample of this ACK.
    pub rtt: Option<Span>,
    /// Smoothed round-trip time.
    pub srtt: Option<Span>,
    /// Smallest round-trip time seen.
    pub min_rtt: Option<Span>,
}

/// A scheme of the user's own.
pub trait LossDetector: fmt::Debug + Send {
    /// An ACK came: appends the ranges that are lost, from what it tells.
    /// What is not outstanding, or SACKed, is left out by the sender.
    fn on_ack(&mut self, ack: &AckView<'_>, lost: &mut Vec<Range>);

    /// `range` left, for the first time or `again`.
    fn on_sent(&mut self, _now: Time, _range: Range, _again: bool) {}

    /// The retransmission timer expired: all that is not SACKed is sent again
    /// from `una` on.
    fn on_timeout(&mut self) {}
}

/// Makes a scheme of the user's own, given its place.
pub type MakeDetector = dyn Fn(&Place) -> Box<dyn LossDetector> + Send + Sync;
