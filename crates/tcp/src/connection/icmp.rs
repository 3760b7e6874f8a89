//! ICMP errors (RFC 9293 §3.9.2.2, RFC 5461, RFC 5927) and the path's MTU
//! (RFC 1191, RFC 8201; RFC 9293 §3.7.5).
//!
//! A message is believed when it quotes a segment of this connection that is
//! outstanding (RFC 5927 §4.1). *Soft* errors never end a connection
//! (RFC 9293 MUST-56); the user hears of trouble. *Hard* ones, protocol and
//! port unreachable, end the attempt to open one; once it is established they
//! are soft too (RFC 5461 §4.1, RFC 5927 §5.2), as in the common stacks. With
//! `manners.opening_errors` and
//! `soft_errors_end_opening` soft ones end the attempt too (RFC 5461 §4.1,
//! which tells that Linux does so).
//!
//! *Packet too big* lowers the segment size, and everything outstanding is
//! sent again in such segments. That is no sign of congestion: window and
//! timeout stay. Where routers say nothing, `black_hole_detection` halves the
//! segment size after the second timeout in a row (a black hole in the sense
//! of RFC 8899 §4.2); so does `mtu_probing`, which then looks for the largest
//! that passes (`mtu_probe.rs`).

use super::Connection;
use crate::config::MtuProbing;
use crate::manners::OpeningErrors;
use crate::recovery::Scheme;
use crate::state::State;
use anabranch_endpoint::{CloseReason, Demultiplex};
use anabranch_units::Time;
use anabranch_wire::{Icmp, IcmpKind, Packet, TcpSegment};

/// MTUs to try when the router does not say one (RFC 1191 §7.1).
const PLATEAUS: [u32; 11] = [65_535, 32_000, 17_914, 8166, 4352, 2002, 1492, 1006, 508, 296, 68];

/// Timeouts in a row that are taken for a black hole.
const BLACK_HOLE: u32 = 2;

/// The segment size that a black hole is never taken to be below (536 octets
/// pass everywhere, RFC 9293 §3.7.1).
const SAFE_MSS: u64 = 536;

impl Connection {
    pub(super) fn on_icmp(&mut self, now: Time, icmp: &Icmp) {
        let opening = matches!(self.state(), State::SynSent | State::SynReceived)
            && !self.is_accepted_early();
        let una = if opening { 0 } else { self.sender.una };
        // The segment after the last that was sent may be on its way out (Linux).
        let most = self.sender.max + if opening { self.sent_with_syn() } else { 0 };
        let most = most + self.config.soft_errors_end_opening as u64;
        let outstanding =
            matches!(icmp.quote.seq().expand(self.iss, una), Some(at) if una <= at && at < most);
        if icmp.quote.flow_key() != self.flow_key() || !outstanding {
            return;
        }
        if self.state() == State::SynSent && !matches!(icmp.kind, IcmpKind::PacketTooBig { .. }) {
            self.on_fast_open_failed(now);
        }
        match icmp.kind {
            IcmpKind::PacketTooBig { mtu: 0 } => {
                let size = icmp.quote.len as u32 + Packet::IP_HEADER;
                let next = PLATEAUS.into_iter().find(|plateau| *plateau < size);
                self.on_path_mtu(now, next.unwrap_or(0));
            }
            IcmpKind::PacketTooBig { mtu } => self.on_path_mtu(now, mtu),
            kind => {
                self.extras.get().icmp = Some(kind);
                if opening && self.ends_opening(kind) {
                    self.finish(CloseReason::Refused);
                } else {
                    self.pending.stalled = true;
                }
            }
        }
    }

    /// The error ends the attempt to open the connection.
    fn ends_opening(&self, kind: IcmpKind) -> bool {
        let hard = matches!(kind, IcmpKind::ProtocolUnreachable | IcmpKind::PortUnreachable);
        match self.config.manners.opening_errors {
            OpeningErrors::Hard => hard || self.config.soft_errors_end_opening,
            OpeningErrors::HardInSynSent => {
                let harder =
                    [IcmpKind::Prohibited, IcmpKind::TimeExceeded, IcmpKind::UnknownNextHeader];
                self.state() == State::SynSent && (hard || harder.contains(&kind))
            }
            OpeningErrors::Nothing => false,
        }
    }

    /// The last trouble that a router or the peer's host has reported of a
    /// segment of this connection, packets that were too big apart.
    pub fn icmp_error(&self) -> Option<IcmpKind> {
        self.extras.peek()?.icmp
    }

    /// The largest packet that the path is believed to carry: what a router said last, or else what
    /// the interface carries.
    pub(super) fn path_mtu(&self) -> u64 {
        let said = self.extras.peek().and_then(|extras| extras.path_mtu);
        let headers = Packet::IP_HEADER + TcpSegment::HEADER;
        said.unwrap_or(self.config.mss + headers) as u64
    }

    /// Returns what [`icmp_error`](Self::icmp_error) does, and forgets it.
    pub fn take_icmp_error(&mut self) -> Option<IcmpKind> {
        self.extras.some()?.icmp.take()
    }

    /// The path carries packets of at most `mtu` octets. Less than
    /// `min_path_mtu` is not believed: it would be an attack (RFC 5927 §7).
    fn on_path_mtu(&mut self, now: Time, mtu: u32) {
        if !self.config.path_mtu_discovery {
            return;
        }
        let headers = Packet::IP_HEADER + TcpSegment::HEADER;
        if self.config.manners.believes_small_mtu_alone
            && self.state() == State::SynSent
            && mtu >= u32::from(self.config.default_mss) + headers
        {
            return;
        }
        let mss = mtu.max(self.config.min_path_mtu).saturating_sub(headers) as u64;
        self.extras.get().path_mtu = Some(mss as u32 + headers);
        if self.state() == State::SynSent {
            self.extras.get().path_mss = Some(mss as u32);
        }
        self.on_fast_open_too_big(mss);
        let mss = mss - self.options_in_each_segment();
        self.limit_mtu_search(mss);
        self.shrink_segments(now, mss);
    }

    /// After timeouts in a row: smaller segments may pass where larger ones
    /// vanish.
    pub(super) fn suspect_black_hole(&mut self, now: Time) {
        let mss = self.sender.mss;
        let config = &self.config;
        let looks = config.black_hole_detection || config.mtu_probing != MtuProbing::Off;
        if looks && self.retransmission.retries >= BLACK_HOLE && mss > SAFE_MSS {
            self.lower_mtu_search(mss);
            self.shrink_segments(now, (mss / 2).max(SAFE_MSS));
        }
    }

    fn shrink_segments(&mut self, now: Time, mss: u64) {
        if mss >= self.sender.mss {
            return; // said already
        }
        self.sender.mss = mss;
        self.retransmission.forget_timed();
        if self.state().is_synchronized() && self.sender.flight() > 0 {
            self.scheme.on_too_big(&mut self.sender, mss);
            self.retransmission.restart(now, self.sender.rtt.rto());
        }
    }
}
