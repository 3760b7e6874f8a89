//! The echo of RFC 3168 §6.1.3, and with [`EcnMode::Dctcp`] that of RFC 8257
//! §3.2, which is exact: what each ACK acknowledges was marked, or was not.

use super::{Connection, EcnState};
use crate::config::EcnMode;
use anabranch_units::Time;
use anabranch_wire::{Packet, TcpFlags, TcpSegment};

/// ECN as RFC 3168 has it.
#[derive(Clone, Copy, Debug)]
pub(in crate::connection) struct Classic {
    /// The echo follows RFC 8257 §3.2.
    dctcp: bool,
    /// ACKs carry ECE. RFC 3168 §6.1.3: from CE until CWR. RFC 8257 §3.2: the
    /// last data came with CE (DCTCP.CE).
    pub echo: bool,
    /// An ACK that must leave before others: for what arrived before DCTCP.CE
    /// changed. Offset, and its echo.
    early: Option<(u64, bool)>,
    /// A reduction of which the peer has not heard.
    pub cwr_due: bool,
    /// Reductions by losses and timeouts of which the peer has heard.
    told: u32,
    /// Data is ECN-capable: no SYN of this side was without ECN (§6.1.1).
    pub ect: bool,
    /// New data waits for the retransmission timer, after an echo with a window of one segment
    /// (§6.1.2).
    held: bool,
    /// Such waits that have ended, in a row: while marks persist each is twice as long as the one
    /// before (RFC 9438 §4.6).
    waits: u32,
    /// Offset of what was held when the last wait ended.
    waited_to: u64,
}

impl Classic {
    /// `ect` says that data is to be ECN-capable.
    pub fn new(mode: EcnMode, ect: bool) -> Classic {
        let dctcp = mode == EcnMode::Dctcp;
        Classic {
            dctcp,
            echo: false,
            early: None,
            cwr_due: false,
            told: 0,
            ect,
            held: false,
            waits: 0,
            waited_to: 0,
        }
    }

    /// An echo came, for what is below `una`, with a window of one segment of `mss` octets. It is in
    /// a row with the last where that is the one segment which left since.
    pub fn hold(&mut self, una: u64, mss: u64) {
        if una > self.waited_to + mss {
            self.waits = 0;
        }
        self.held = !self.dctcp;
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

    /// CWR for new data that leaves after so many reductions by losses and
    /// timeouts, if the peer has not heard of a reduction.
    pub fn cwr(&mut self, reductions: u32) -> TcpFlags {
        if !self.cwr_due && self.told == reductions {
            return TcpFlags::default();
        }
        (self.cwr_due, self.told) = (false, reductions);
        TcpFlags::CWR
    }
}

impl Connection {
    /// New data waits for the retransmission timer, which runs though nothing may be outstanding.
    pub(in crate::connection) fn is_held_by_echo(&self) -> bool {
        self.retransmission.timer.is_armed() && self.hold().is_some()
    }

    /// What holds new data.
    fn hold(&self) -> Option<&Classic> {
        match self.extras.ecn() {
            Some(EcnState::Classic(state)) if state.held => Some(state),
            _ => None,
        }
    }

    /// An ACK with an echo has been dealt with: with a window of one segment it restarts the
    /// retransmission timer (§6.1.2), which backs off while marks persist (RFC 9438 §4.6).
    pub(in crate::connection) fn restart_timer_of_hold(&mut self, now: Time) {
        if let Some(waits) = self.hold().map(|state| state.waits) {
            self.retransmission.restart(now, self.sender.rtt.rto_doubled(waits));
        }
    }

    /// The retransmission timer expired: what an echo held may leave. Returns true where nothing is
    /// outstanding, so that the expiry is no timeout.
    pub(in crate::connection) fn ends_hold(&mut self) -> bool {
        let Some(EcnState::Classic(state)) = self.extras.ecn_mut() else { return false };
        let held = std::mem::take(&mut state.held);
        if held {
            state.waits += 1;
            state.waited_to = self.sender.max;
        }
        held && self.sender.una == self.sender.max
    }

    pub(super) fn on_classic_field(&mut self, ce: bool, segment: &TcpSegment) {
        let Some(EcnState::Classic(state)) = self.extras.ecn_mut() else { return };
        let before = state.echo;
        let early = state.on_arrival(ce, segment);
        if early && self.receiver.owes_ack() {
            state.early = Some((self.receiver.nxt, before));
            self.receiver.restart_count();
        }
    }

    /// The ACK that must leave before everything else.
    pub(super) fn early_ack(&mut self, now: Time) -> Option<Packet> {
        let Some(EcnState::Classic(state)) = self.extras.ecn_mut() else { return None };
        let (at, echo) = state.early.take()?;
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
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9438 §4.6: the waits get longer while the segment after each is marked too.
    #[test]
    fn waits_are_in_a_row_while_one_segment_at_a_time_is_marked() {
        let mut state = Classic::new(EcnMode::On, true);
        for (una, waits) in [(1000, 0), (2000, 1), (3000, 2), (5000, 0)] {
            state.hold(una, 1000);
            assert_eq!((state.held, state.waits), (true, waits), "{una}");
            (state.held, state.waits, state.waited_to) = (false, waits + 1, una);
        }
    }
}
