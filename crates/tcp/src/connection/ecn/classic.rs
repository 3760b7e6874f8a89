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
}

impl Classic {
    pub fn new(mode: EcnMode) -> Classic {
        let dctcp = mode == EcnMode::Dctcp;
        Classic { dctcp, echo: false, early: None, cwr_due: false, told: 0 }
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
