//! Explicit congestion notification: RFC 3168 §6.1 with the echo of its §6.1.3
//! or of DCTCP ([`classic`]), or the accurate feedback of RFC 9768
//! ([`accurate`]).
//!
//! | what leaves | codepoint |
//! |---|---|
//! | new data | ECT (RFC 3168 §6.1.2): ECT(0), or as `ect` says; ECT(0) after a fall back from AccECN to RFC 3168, since ECT(1) means that both ends have accurate feedback (RFC 9331 §4.2) |
//! | data sent again, window probes | not-ECT (§6.1.5, §6.1.6) |
//! | SYN, pure ACK, FIN without data, RST | not-ECT (§6.1.1, §6.1.4) |
//! | all of these with `ecn_control` | ECT (RFC 8311 §4.3) |
//!
//! A sender reduces its window once per window of data, whether the signs are
//! marks, losses or both (§6.1.2), and over RFC 3168 tells so by CWR on the next
//! new data.
//!
//! Where the window is one segment and marks go on, the retransmission timer spaces
//! the segments (§6.1.2) and backs off (RFC 9438 §4.6); with the echo of DCTCP or of RFC 9768, which follow its own
//! rules, it does not.

mod accurate;
mod classic;
mod counters;
mod tally;

use super::Connection;
use super::phase::Phase;
use crate::config::EcnMode;
use crate::state::State;
use accurate::Accurate;
use anabranch_congestion::Cause;
use anabranch_endpoint::CloseReason;
use anabranch_units::Time;
use anabranch_wire::{Body, Ecn, Packet, TcpFlags, TcpSegment};
use classic::Classic;

/// ECN as both SYNs agreed on it.
#[derive(Clone, Debug)]
pub(super) enum EcnState {
    /// RFC 3168, with its echo or that of DCTCP.
    Classic(Classic),
    /// AccECN (RFC 9768).
    Accurate(Box<Accurate>),
}

/// What our SYNs asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Asked {
    /// Nothing, or nothing was sent.
    #[default]
    Nothing,
    /// ECN by RFC 3168.
    Classic,
    /// RFC 3168, and the last SYN for nothing any more.
    ClassicTakenBack,
    /// AccECN, RFC 9768.
    Accurate,
    /// RFC 9768, and the last SYN for nothing any more.
    TakenBack,
}

impl EcnState {
    /// Reports of marks are exact (RFC 9768).
    #[inline]
    pub fn is_accurate(&self) -> bool {
        matches!(self, EcnState::Accurate(_))
    }
}

impl Asked {
    fn is_taken_back(self) -> bool {
        self == Asked::TakenBack
    }

    /// AccECN was asked for from this side.
    fn is_ours(self) -> bool {
        matches!(self, Asked::Accurate | Asked::TakenBack)
    }
}

impl Connection {
    /// Flags of our SYN or SYN-ACK. A SYN that is sent again does without (RFC
    /// 3168 §6.1.1.1), or after `ecn_syn_retries`, for AccECN the second time (RFC 9768 §3.1.4.1): some
    /// middlebox may not like it.
    pub(super) fn syn_ecn_flags(&mut self, answering: bool) -> TcpFlags {
        if answering {
            let timeouts = self.retransmission.retries;
            return match self.extras.ecn_mut() {
                None => TcpFlags::default(),
                Some(EcnState::Classic(_)) => TcpFlags::ECE,
                Some(EcnState::Accurate(state)) => state.syn_ack_flags(timeouts),
            };
        }
        let asked = match (self.config.ecn, self.retransmission.retries) {
            (EcnMode::On | EcnMode::Dctcp, n) if n <= self.config.ecn_syn_retries => Asked::Classic,
            (EcnMode::On | EcnMode::Dctcp, _) => Asked::ClassicTakenBack,
            (EcnMode::Accurate, 0 | 1) => Asked::Accurate,
            (EcnMode::Accurate, _) => Asked::TakenBack,
            _ => Asked::Nothing,
        };
        if let Phase::SynSent(opening) = &mut self.phase {
            opening.asked = asked;
        }
        match asked {
            Asked::Nothing | Asked::ClassicTakenBack | Asked::TakenBack => TcpFlags::default(),
            Asked::Classic => accurate::flags(0b011),
            Asked::Accurate => accurate::flags(0b111),
        }
    }

    /// The peer's SYN or SYN-ACK, which came as `ecn`: RFC 3168 §6.1.1, RFC 9768
    /// §3.1.1 (table 2), with §3.1.3 for the codes that are not in use.
    pub(super) fn agree_on_ecn(&mut self, segment: &TcpSegment, ecn: Ecn) {
        let mode = self.config.ecn;
        if mode == EcnMode::Off {
            return;
        }
        let code = accurate::field(segment);
        let classic = if segment.flags.contains(TcpFlags::ACK) {
            match (self.phase.asked(), code) {
                // RFC 3168 knows no AE. An answer to the first SYN, after another without ECN: what
                // is marked is echoed (§6.1.1).
                (Asked::Classic | Asked::ClassicTakenBack, _) => code & 0b011 == 0b001,
                (Asked::Accurate, 0b001) => true,
                (Asked::Nothing, _) | (_, 0b000 | 0b001 | 0b111) => false,
                (Asked::Accurate | Asked::TakenBack, _) => {
                    let sent = self.syn_codepoint();
                    let told = accurate::decoded(code).unwrap_or(sent);
                    return self.begin_accurate(segment, ecn, Some(told), sent);
                }
            }
        } else {
            match (mode, code) {
                (EcnMode::Accurate, 0b000 | 0b011) => code == 0b011,
                (EcnMode::Accurate, _) => {
                    return self.begin_accurate(segment, ecn, None, Ecn::NotEct);
                }
                _ => code & 0b011 == 0b011,
            }
        };
        if classic {
            let ect = self.phase.asked() != Asked::ClassicTakenBack;
            self.extras.get().ecn = Some(EcnState::Classic(Classic::new(mode, ect)));
        }
    }

    /// A SYN of the same connection, again. RFC 3168 §6.1.1.1: one without ECN
    /// takes ECN back. RFC 9768 §3.1.5: feedback goes on, but nothing is
    /// ECN-capable any more; a host that asks for another kind is reset.
    pub(super) fn on_repeated_syn(&mut self, segment: &TcpSegment) {
        let code = accurate::field(segment);
        match self.extras.ecn_mut() {
            Some(EcnState::Accurate(state)) => match code {
                0b000 => state.ect = false,
                0b011 => self.reset(CloseReason::Aborted),
                _ => {}
            },
            Some(EcnState::Classic(_)) if code & 0b011 != 0b011 => self.extras.get().ecn = None,
            _ => {}
        }
    }

    /// An acceptable segment came: what the network marked is echoed.
    #[inline(never)]
    pub(super) fn on_ecn_field(&mut self, ecn: Ecn, segment: &TcpSegment) {
        match self.extras.ecn() {
            None => {}
            Some(EcnState::Classic(_)) => self.on_classic_field(ecn == Ecn::Ce, segment),
            Some(EcnState::Accurate(_)) => self.on_accurate_field(ecn, segment.payload.len()),
        }
    }

    /// An ACK that must leave before everything else.
    #[inline(never)]
    pub(super) fn urgent_ack(&mut self, now: Time) -> Option<Packet> {
        self.early_ack(now).or_else(|| self.answer_syn_ack(now))
    }

    /// The echo for a segment that acknowledges.
    #[inline]
    pub(super) fn ecn_echo(&self) -> TcpFlags {
        match self.extras.ecn() {
            Some(EcnState::Classic(state)) if state.echo => TcpFlags::ECE,
            Some(EcnState::Accurate(state)) => state.ace(),
            _ => TcpFlags::default(),
        }
    }

    /// The segment carries an echo for us: no growth with it (RFC 3168 §6.1.2).
    /// The accurate one is read with the acknowledgment.
    pub(super) fn is_echo(&self, segment: &TcpSegment) -> bool {
        segment.flags.contains(TcpFlags::ECE)
            && matches!(self.extras.ecn(), Some(EcnState::Classic(_)))
    }

    /// Reduces the window for an echo, once per window of data. A window of one segment is not
    /// reduced: new data waits for the retransmission timer (§6.1.2).
    #[inline(never)]
    pub(super) fn on_echo(&mut self, now: Time, in_flight: u64) {
        let s = &mut self.sender;
        if self.config.ecn_wait
            && s.cwnd() < 2 * s.mss
            && let Some(EcnState::Classic(state)) = self.extras.ecn_mut()
        {
            state.hold(s.una, s.mss);
        }
        // The ACK of `cwr_point` itself left the peer before it heard CWR.
        if s.una <= s.recovery_point.cwr || !s.recovery_point.is_reached(s.una) {
            return;
        }
        let path = s.path(in_flight);
        s.congestion.on_congestion(now, Cause::EcnMark, &path);
        s.counters.ecn_reductions += 1;
        s.recovery_point.cwr = s.max;
        if let Some(EcnState::Classic(state)) = self.extras.ecn_mut() {
            state.cwr_due = true;
        }
    }

    /// New data leaves: ECT, and over RFC 3168 CWR if the window has been
    /// reduced, for whatever reason.
    #[inline(never)]
    pub(super) fn mark_new_data(&mut self, packet: &mut Packet) {
        let codepoint = self.codepoint();
        let reductions = self.sender.counters.reductions;
        match self.extras.ecn_mut() {
            None => {}
            Some(EcnState::Classic(state)) if !state.ect => packet.ecn = Ecn::NotEct,
            Some(EcnState::Classic(state)) => {
                packet.ecn = codepoint;
                if let Body::Tcp(segment) = &mut packet.body {
                    segment.flags = segment.flags.union(state.cwr(reductions));
                }
            }
            Some(EcnState::Accurate(state)) if state.ect => packet.ecn = codepoint,
            Some(EcnState::Accurate(_)) => packet.ecn = Ecn::NotEct,
        }
    }

    /// The codepoint of everything that is not new data.
    pub(super) fn control_ecn(&self) -> Ecn {
        let capable = match self.extras.ecn() {
            None => self.state() == State::SynSent,
            Some(EcnState::Classic(state)) => state.ect,
            Some(EcnState::Accurate(state)) => state.ect,
        };
        if !self.config.ecn_control || !capable {
            Ecn::NotEct
        } else if self.state() == State::SynSent {
            self.syn_codepoint()
        } else {
            self.codepoint()
        }
    }

    /// The codepoint of ECN-capable packets, as both ends agreed on ECN: one that asked for AccECN,
    /// and has RFC 3168, does not say by ECT(1) that it has accurate feedback (RFC 9331 §4.2).
    fn codepoint(&self) -> Ecn {
        let fell_back = self.config.ecn == EcnMode::Accurate
            && matches!(self.extras.ecn(), Some(EcnState::Classic(_)));
        if fell_back { Ecn::Ect0 } else { self.config.ect.codepoint() }
    }

    /// The codepoint of our SYN.
    fn syn_codepoint(&self) -> Ecn {
        let asks = matches!(self.phase.asked(), Asked::Classic | Asked::Accurate);
        if self.config.ecn_control && asks { self.config.ect.codepoint() } else { Ecn::NotEct }
    }
}
