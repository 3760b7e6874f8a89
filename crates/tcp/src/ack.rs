//! What is known of the ACK at hand.
//!
//! The value is made when a segment's ACK field has been found good, and lives until the ACK has been
//! dealt with: scoreboard, detectors, recovery scheme and window take from it what they need, and no
//! machine keeps anything of it.

use crate::range_set::Range;
use anabranch_units::{Span, Time};

/// An `Ack` holds what one ACK says and what it did to the sender.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// `now` is the date at which the ACK arrived.
    pub now: Time,
    /// `acked` counts the octets that the ACK newly acknowledges cumulatively.
    pub acked: u64,
    /// `sacked` counts the octets that the ACK newly SACKs.
    pub sacked: u64,
    /// `delivered` counts the octets that are newly known to have arrived: newly SACKed, or
    /// cumulatively acknowledged without having been SACKed before.
    pub delivered: u64,
    /// `duplicate` says that the ACK is a duplicate ACK (RFC 5681 §2; with SACK, RFC 6675 §2).
    pub duplicate: bool,
    /// `bare` says that the ACK acknowledges nothing new and has neither data nor FIN nor another
    /// window: what a duplicate ACK is without SACK (RFC 5681 §2).
    pub bare: bool,
    /// `has_blocks` says that an ACK that acknowledges nothing new carries a SACK option, whatever
    /// that tells.
    pub has_blocks: bool,
    /// `old` says that the ACK acknowledges less than one before it: only what it SACKs counts.
    pub old: bool,
    /// `uses_sack` says that SACK blocks were read when the ACK came.
    pub uses_sack: bool,
    /// `prior_in_flight` counts the octets that were sent and not acknowledged before the ACK, from
    /// SND.UNA to SND.NXT.
    pub prior_in_flight: u64,
    /// `prior_fack` is the offset after the highest octet that was SACKed before the ACK; it is 0
    /// where nobody watches.
    pub prior_fack: u64,
    /// `dsack` is the duplicate that the ACK reports (RFC 2883).
    pub dsack: Option<Range>,
    /// `echoes_congestion` says that the ACK carries an echo of congestion (RFC 3168 §6.1.2, RFC
    /// 9768), so that the window does not grow with it.
    pub echoes_congestion: bool,
    /// `marked` counts the octets that the ACK reports as marked, where reports are exact (RFC
    /// 9768).
    pub marked: Option<u32>,
    /// `rtt` is the round-trip sample that was taken with the ACK.
    pub rtt: Option<Span>,
    /// `echoed_from` is the millisecond in which the segment was sent whose timestamp the ACK
    /// echoes (RFC 7323); it is read where somebody watches.
    pub echoed_from: Option<u64>,
}

impl Ack {
    /// `new` makes an ACK that has said nothing yet and found `prior_in_flight` octets in flight.
    pub fn new(now: Time, prior_in_flight: u64) -> Ack {
        Ack {
            now,
            acked: 0,
            sacked: 0,
            delivered: 0,
            duplicate: false,
            bare: false,
            has_blocks: false,
            old: false,
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

    /// The ACK neither acknowledges, SACKs nor reports anything new, and is no duplicate ACK.
    pub fn tells_nothing(&self) -> bool {
        self.acked == 0 && self.sacked == 0 && !self.duplicate && self.dsack.is_none()
    }

    /// Returns the octets that met congestion: those that are reported, or all that the ACK
    /// delivers where it echoes congestion without a number.
    pub fn marked_octets(&self) -> u64 {
        match self.marked {
            Some(octets) => octets.into(),
            None if self.echoes_congestion => self.delivered,
            None => 0,
        }
    }
}
