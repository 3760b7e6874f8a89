//! What is known of the ACK at hand.
//!
//! The value is made when a segment's ACK field has been found good, and lives until the ACK has been
//! dealt with: scoreboard, witnesses, recovery scheme and window take from it what they need, and no
//! machine keeps anything of it.

use crate::range_set::Range;
use anabranch_units::{Span, Time};

/// What one ACK says and did.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// The date at which it arrived.
    pub now: Time,
    /// Octets newly acknowledged cumulatively.
    pub acked: u64,
    /// Octets newly SACKed.
    pub sacked: u64,
    /// Octets newly known to have arrived: newly SACKed, or cumulatively
    /// acknowledged without having been SACKed before.
    pub delivered: u64,
    /// It is a duplicate ACK (RFC 5681 §2; with SACK, RFC 6675 §2).
    pub duplicate: bool,
    /// SACK was in use when it came.
    pub uses_sack: bool,
    /// Octets sent and not acknowledged before it, counted from SND.NXT.
    pub prior_in_flight: u64,
    /// The offset after the highest SACKed octet before it; 0 where nobody watches.
    pub prior_fack: u64,
    /// The duplicate that it reports (RFC 2883).
    pub dsack: Option<Range>,
    /// It carries an echo of congestion (RFC 3168 §6.1.2, RFC 9768): the window does not grow with it.
    pub echoes_congestion: bool,
    /// Octets that it reports as marked, where reports are exact (RFC 9768).
    pub marked: Option<u32>,
    /// The round-trip sample that was taken with it.
    pub rtt: Option<Span>,
    /// The millisecond in which the segment was sent whose timestamp it
    /// echoes (RFC 7323), where somebody watches.
    pub echoed_from: Option<u64>,
}

impl Ack {
    /// An ACK that has said nothing yet, with `prior_in_flight` octets in flight.
    pub fn new(now: Time, prior_in_flight: u64) -> Ack {
        Ack {
            now,
            acked: 0,
            sacked: 0,
            delivered: 0,
            duplicate: false,
            uses_sack: false,
            prior_in_flight,
            prior_fack: 0,
            dsack: None,
            echoes_congestion: false,
            marked: None,
            rtt: None,
            echoed_from: None,
        }
    }

    /// It neither acknowledges, SACKs nor reports anything new, and is no duplicate ACK.
    pub fn tells_nothing(&self) -> bool {
        self.acked == 0 && self.sacked == 0 && !self.duplicate && self.dsack.is_none()
    }

    /// Octets that met congestion: as reported, or all that it delivers where it echoes congestion
    /// without a number.
    pub fn marked_octets(&self) -> u64 {
        match self.marked {
            Some(octets) => octets.into(),
            None if self.echoes_congestion => self.delivered,
            None => 0,
        }
    }
}
