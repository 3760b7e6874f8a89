//! Explicit congestion notification: RFC 3168 §6.1, and with
//! [`EcnMode::Dctcp`] the receiver of RFC 8257 §3.2.
//!
//! | what leaves | codepoint |
//! |---|---|
//! | new data | ECT(0) (RFC 3168 §6.1.2) |
//! | data sent again, window probes | not-ECT (§6.1.5, §6.1.6) |
//! | SYN, pure ACK, FIN without data, RST | not-ECT (§6.1.1, §6.1.4) |
//! | all of these with `ecn_control` | ECT(0) (RFC 8311 §4.3) |
//!
//! A sender reduces its window once per window of data, whether the signs are
//! marks, losses or both (§6.1.2), and tells so by CWR on the next new data.
//! Over DCTCP the echo of each ACK is exact: what it acknowledges was marked,
//! or was not.
//!
//! Left out: the timer that spaces the segments of a window of one MSS under
//! marks (§6.1.2). A mark leaves two segments or more in all our windows.

use super::Connection;
use crate::config::EcnMode;
use crate::state::State;
use anabranch_congestion::{Cause, CongestionEvent, Controller};
use anabranch_units::Time;
use anabranch_wire::{Ecn, Packet, TcpFlags, TcpSegment};

/// ECN as both SYNs agreed on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct EcnState {
    /// The echo follows RFC 8257 §3.2.
    dctcp: bool,
    /// ACKs carry ECE. RFC 3168 §6.1.3: from CE until CWR. RFC 8257 §3.2: the
    /// last data came with CE (DCTCP.CE).
    echo: bool,
    /// An ACK that must leave before others: for what arrived before DCTCP.CE
    /// changed. Offset, and its echo.
    early: Option<(u64, bool)>,
    /// A reduction of which the peer has not heard.
    cwr_due: bool,
    /// Reductions by losses and timeouts of which the peer has heard.
    told: u32,
}

impl EcnState {
    fn new(mode: EcnMode) -> EcnState {
        let dctcp = mode == EcnMode::Dctcp;
        EcnState { dctcp, echo: false, early: None, cwr_due: false, told: 0 }
    }

    /// A packet arrived; true when what is owed to the peer must be
    /// acknowledged first, with the echo that was in force before.
    fn on_arrival(&mut self, ce: bool, segment: &TcpSegment) -> bool {
        let data = !segment.payload.is_empty();
        if self.dctcp {
            let changed = data && ce != self.echo;
            self.echo ^= changed;
            return changed;
        }
        if data && segment.flags.contains(TcpFlags::CWR) {
            self.echo = false;
        }
        self.echo |= ce;
        false
    }
}

impl Connection {
    /// Flags of our SYN or SYN-ACK (RFC 3168 §6.1.1). A SYN that is sent again
    /// does without (§6.1.1.1): some middlebox may not like it.
    pub(super) fn syn_ecn_flags(&mut self, answering: bool) -> TcpFlags {
        let none = TcpFlags::default();
        if answering {
            return if self.extras.ecn().is_some() { TcpFlags::ECE } else { none };
        }
        let asks = matches!(self.config.ecn, EcnMode::On | EcnMode::Dctcp) && self.retries == 0;
        self.asked_for_ecn = asks;
        if asks { TcpFlags::ECE.union(TcpFlags::CWR) } else { none }
    }

    /// The peer's SYN or SYN-ACK: agreed, if it is an ECN-setup one.
    pub(super) fn agree_on_ecn(&mut self, segment: &TcpSegment) {
        let mode = self.config.ecn;
        if mode == EcnMode::Off {
            return;
        }
        let (ece, cwr) =
            (segment.flags.contains(TcpFlags::ECE), segment.flags.contains(TcpFlags::CWR));
        let agreed = if segment.flags.contains(TcpFlags::ACK) {
            ece && !cwr && self.asked_for_ecn
        } else {
            ece && cwr
        };
        if agreed {
            self.extras.get().ecn = Some(EcnState::new(mode));
        }
    }

    /// §6.1.1.1: a SYN without ECN of the same connection takes ECN back.
    pub(super) fn on_repeated_syn(&mut self, segment: &TcpSegment) {
        let both = TcpFlags::ECE.union(TcpFlags::CWR);
        if !segment.flags.contains(both)
            && let Some(extras) = self.extras.some()
        {
            extras.ecn = None;
        }
    }

    /// An acceptable segment came: what the network marked is echoed.
    #[inline(never)]
    pub(super) fn on_ecn_field(&mut self, ecn: Ecn, segment: &TcpSegment) {
        let Some(state) = self.extras.some().and_then(|it| it.ecn.as_mut()) else { return };
        let before = state.echo;
        if state.on_arrival(ecn == Ecn::Ce, segment) && self.receiver.owes_ack() {
            state.early = Some((self.receiver.nxt, before));
            self.receiver.restart_count();
        }
    }

    /// The ACK that must leave before everything else.
    #[inline(never)]
    pub(super) fn early_ack(&mut self, now: Time) -> Option<Packet> {
        let (at, echo) = self.extras.some()?.ecn.as_mut()?.early.take()?;
        let owed = self.receiver.owed();
        let mut segment = self.segment(self.iss.at(self.sender.max), TcpFlags::ACK);
        self.acknowledge(now, &mut segment);
        self.receiver.owe(owed);
        let behind = (self.receiver.nxt - at) >> self.agreed.own_shift;
        segment.ack = self.receiver.irs.at(at);
        segment.window = (segment.window as u64 + behind).min(0xFFFF) as u16;
        segment.flags = TcpFlags::ACK.union(if echo { TcpFlags::ECE } else { TcpFlags::default() });
        Some(self.control(segment))
    }

    /// The echo for a segment that acknowledges.
    #[inline]
    pub(super) fn ecn_echo(&self) -> TcpFlags {
        match self.extras.ecn() {
            Some(state) if state.echo => TcpFlags::ECE,
            _ => TcpFlags::default(),
        }
    }

    /// The segment carries an echo for us: no growth with it (§6.1.2).
    pub(super) fn is_echo(&self, segment: &TcpSegment) -> bool {
        segment.flags.contains(TcpFlags::ECE) && self.extras.ecn().is_some()
    }

    /// Reduces the window for an echo, once per window of data.
    #[inline(never)]
    pub(super) fn on_echo(&mut self, now: Time, in_flight: u64) {
        let s = &mut self.sender;
        // The ACK of `cwr_point` itself left the peer before it heard CWR.
        if s.una <= s.cwr_point || !s.may_enter_recovery() {
            return;
        }
        let path = s.path(in_flight);
        s.congestion.on_congestion(&CongestionEvent { now, cause: Cause::EcnMark }, &path);
        s.cwr_point = s.max;
        if let Some(state) = self.extras.some().and_then(|it| it.ecn.as_mut()) {
            state.cwr_due = true;
        }
    }

    /// New data leaves: ECT(0), and CWR if the window has been reduced, for
    /// whatever reason.
    #[inline(never)]
    pub(super) fn mark_new_data(&mut self, packet: &mut Packet) {
        let reductions = self.sender.fast_retransmits.wrapping_add(self.sender.timeouts);
        let Some(state) = self.extras.some().and_then(|it| it.ecn.as_mut()) else { return };
        packet.ecn = Ecn::Ect0;
        if (state.cwr_due || state.told != reductions)
            && let anabranch_wire::Body::Tcp(segment) = &mut packet.body
        {
            segment.flags = segment.flags.union(TcpFlags::CWR);
            state.cwr_due = false;
            state.told = reductions;
        }
    }

    /// The codepoint of everything that is not new data.
    pub(super) fn control_ecn(&self) -> Ecn {
        let asking = self.asked_for_ecn && self.state == State::SynSent;
        if self.config.ecn_control && (asking || self.extras.ecn().is_some()) {
            Ecn::Ect0
        } else {
            Ecn::NotEct
        }
    }
}
