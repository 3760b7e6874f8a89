//! The phases of a connection, each with what exists only there.

use super::ecn::Asked;
use crate::state::State;
use anabranch_units::Time;

/// A `Phase` is one of the states of RFC 9293 §3.3.2 ([`State`] has the diagram) with its data.
/// CLOSED is two of them: a connection lives once.
// A tag of its own, which is asked for several times a packet: else it is hidden in the data.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub(super) enum Phase {
    /// The connection is CLOSED, before an OPEN.
    Closed,
    /// The connection is in LISTEN.
    Listen,
    /// The connection is in SYN-SENT.
    SynSent(SynSent),
    /// The connection is in SYN-RECEIVED.
    SynReceived(SynReceived),
    /// The connection is ESTABLISHED.
    Established,
    /// The connection is in FIN-WAIT-1.
    FinWait1,
    /// The connection is in FIN-WAIT-2.
    FinWait2,
    /// The connection is in CLOSE-WAIT.
    CloseWait,
    /// The connection is CLOSING.
    Closing,
    /// The connection is in LAST-ACK.
    LastAck,
    /// The connection is in TIME-WAIT.
    TimeWait {
        /// `until` is the date at which it ends (2 MSL).
        until: Time,
    },
    /// The connection is CLOSED for good.
    Ended,
}

/// A `SynSent` awaits the peer's SYN after an active OPEN.
#[derive(Clone, Copy, Debug)]
pub(super) struct SynSent {
    /// `opened` is the date of the OPEN.
    pub opened: Time,
    /// `due` says that the SYN is to leave, for the first time or again.
    pub due: bool,
    /// `asked` is what the last SYN asked for of ECN.
    pub asked: Asked,
}

/// A `SynReceived` knows both SYNs, of which ours is not acknowledged.
#[derive(Clone, Copy, Debug)]
pub(super) struct SynReceived {
    /// `passive` says that the connection was opened passively, and may listen again.
    pub passive: bool,
    /// `due` says that the SYN-ACK is to leave, for the first time or again.
    pub due: bool,
}

/// `Leaves` is what a state lets leave, resets apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Leaves {
    /// Data and ACKs may leave.
    Data,
    /// ACKs may leave, data may not.
    Acks,
    /// ACKs may leave, and data where a SYN with data opened the connection (RFC 7413).
    EarlyData,
    /// The SYN or SYN-ACK leaves.
    Syn,
    /// No packet may leave.
    Nothing,
}

impl Phase {
    /// Returns what may leave.
    #[inline]
    pub fn leaves(&self) -> Leaves {
        match self {
            Phase::SynSent(SynSent { due: true, .. })
            | Phase::SynReceived(SynReceived { due: true, .. }) => Leaves::Syn,
            Phase::Closed | Phase::Ended | Phase::Listen | Phase::SynSent(_) => Leaves::Nothing,
            Phase::SynReceived(_) => Leaves::EarlyData,
            Phase::FinWait2 | Phase::TimeWait { .. } => Leaves::Acks,
            Phase::Established
            | Phase::FinWait1
            | Phase::CloseWait
            | Phase::Closing
            | Phase::LastAck => Leaves::Data,
        }
    }

    /// Returns the state as the RFC names it.
    #[inline]
    pub fn state(&self) -> State {
        match self {
            Phase::Closed | Phase::Ended => State::Closed,
            Phase::Listen => State::Listen,
            Phase::SynSent(_) => State::SynSent,
            Phase::SynReceived(_) => State::SynReceived,
            Phase::Established => State::Established,
            Phase::FinWait1 => State::FinWait1,
            Phase::FinWait2 => State::FinWait2,
            Phase::CloseWait => State::CloseWait,
            Phase::Closing => State::Closing,
            Phase::LastAck => State::LastAck,
            Phase::TimeWait { .. } => State::TimeWait,
        }
    }

    /// The user opens actively (RFC 9293 §3.10.1), which makes a listening connection active.
    /// Returns false, and changes nothing, in other states.
    pub fn open(&mut self, now: Time) -> bool {
        let opens = matches!(self, Phase::Closed | Phase::Listen);
        if opens {
            *self = Phase::SynSent(SynSent { opened: now, due: true, asked: Asked::default() });
        }
        opens
    }

    /// The peer's SYN has come, after an OPEN that was `passive` or not: a SYN-ACK is due.
    pub fn answer_syn(&mut self, passive: bool) {
        *self = Phase::SynReceived(SynReceived { passive, due: true });
    }

    fn due_mut(&mut self) -> Option<&mut bool> {
        match self {
            Phase::SynSent(SynSent { due, .. }) | Phase::SynReceived(SynReceived { due, .. }) => {
                Some(due)
            }
            _ => None,
        }
    }

    /// A SYN or SYN-ACK is to leave.
    #[inline]
    pub fn is_syn_due(&self) -> bool {
        match self {
            Phase::SynSent(SynSent { due, .. }) | Phase::SynReceived(SynReceived { due, .. }) => {
                *due
            }
            _ => false,
        }
    }

    /// The SYN or SYN-ACK leaves again, in the handshake.
    pub fn repeat_syn(&mut self) {
        if let Some(due) = self.due_mut() {
            *due = true;
        }
    }

    /// The SYN or SYN-ACK left.
    pub fn on_syn_sent(&mut self) {
        if let Some(due) = self.due_mut() {
            *due = false;
        }
    }

    /// Returns what our SYN asked for of ECN, while its answer is awaited.
    pub fn asked(&self) -> Asked {
        match self {
            Phase::SynSent(opening) => opening.asked,
            _ => Asked::Nothing,
        }
    }

    /// The connection is in LISTEN.
    pub fn listens(&self) -> bool {
        matches!(self, Phase::Listen)
    }

    /// The connection is in SYN-RECEIVED after a passive OPEN.
    pub fn is_opened_passively(&self) -> bool {
        matches!(self, Phase::SynReceived(SynReceived { passive: true, .. }))
    }

    /// Returns when the state ends by itself.
    #[inline]
    pub fn deadline(&self) -> Time {
        match self {
            Phase::TimeWait { until } => *until,
            _ => Time::NEVER,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_lives_once() {
        let mut phase = Phase::Closed;
        assert!(phase.open(Time::ZERO) && phase.is_syn_due());
        phase.on_syn_sent();
        assert!(!phase.is_syn_due() && !phase.open(Time::ZERO));
        phase = Phase::Ended;
        assert!(!phase.open(Time::ZERO));
        assert_eq!(phase.state(), State::Closed);
    }

    /// RFC 9293 §3.5, figure 8: the SYN is sent again, with an ACK.
    #[test]
    fn a_simultaneous_open_does_not_listen_again() {
        let mut phase = Phase::Closed;
        phase.open(Time::ZERO);
        phase.on_syn_sent();
        phase.answer_syn(false);
        assert!(phase.is_syn_due() && !phase.is_opened_passively());
        assert_eq!(phase.state(), State::SynReceived);
    }

    #[test]
    fn nothing_repeats_a_syn_once_it_is_acknowledged() {
        let mut phase = Phase::Established;
        phase.repeat_syn();
        assert!(!phase.is_syn_due());
    }
}
