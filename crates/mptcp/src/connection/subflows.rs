//! The subflows as a set: which there are, which may have something to send, which is the
//! best for a word to the peer, and what they have in common.

use super::{Connection, Phase};
use crate::subflow::Subflow;
use anabranch_endpoint::Endpoint;
use anabranch_units::{Span, Time};

/// Payload of a full segment, on whichever subflow is the widest.
pub(super) fn widest(subflows: &[Subflow]) -> u64 {
    subflows.iter().map(|it| it.tcp.mss()).max().unwrap_or(1)
}

impl Connection {
    /// Subflows that have not ended.
    pub(super) fn alive(&self) -> usize {
        self.subflows.iter().filter(|it| !it.gone).count()
    }

    pub(super) fn position(&self, id: u32) -> Option<usize> {
        // Until the first subflow ends, numbers are places.
        if self.subflows.get(id as usize).is_some_and(|it| it.id == id) {
            return Some(id as usize);
        }
        self.subflows.iter().position(|it| it.id == id)
    }

    /// A number that no subflow has.
    pub(super) fn free_id(&self) -> Option<u32> {
        (0..u64::BITS).find(|id| self.position(*id).is_none())
    }

    /// One more subflow.
    pub(super) fn add(&mut self, subflow: Subflow) {
        self.keys.push(subflow.key());
        self.readiness.add(subflow.id);
        self.subflows.push(subflow);
    }

    /// Takes a subflow away that has ended and has nothing more to send.
    #[cold]
    pub(super) fn bury(&mut self, i: usize) {
        let it = self.subflows.remove(i);
        self.keys.remove(i);
        self.readiness.remove(it.id);
        self.sender.forget_carrier(it.bit());
        self.ledger.retire(it.path, &it.observe(), &it.tcp.observe());
    }

    /// Something happened to a subflow that may let it send.
    pub(super) fn touch(&mut self, i: usize) {
        self.readiness.touch(self.subflows[i].id);
    }

    /// Subflows whose octets and events are to be collected. After the fallback
    /// octets may wait for room; before the handshake's end, for what they are.
    pub(super) fn uncollected(&self) -> u64 {
        self.readiness.uncollected(self.phase != Phase::Multipath)
    }

    /// Subflows that carry data, by their bits.
    pub(super) fn usable(&self) -> u64 {
        self.subflows.iter().filter(|it| it.is_usable()).fold(0, |all, it| all | it.bit())
    }

    /// The usable subflow that is the best for a word to the peer: one that
    /// answers, of the lowest round-trip time.
    pub(super) fn best(&self) -> Option<usize> {
        let usable = self.subflows.iter().enumerate().filter(|(_, it)| it.is_usable());
        usable.min_by_key(|(_, it)| (it.failed, it.is_backup(), it.srtt())).map(|(i, _)| i)
    }

    /// The peer is told something by an ACK on the best subflow.
    pub(super) fn tell_peer(&mut self) {
        if let Some(i) = self.best() {
            self.subflows[i].tcp.ask_for_ack();
            self.touch(i);
        }
    }

    /// The same, on every subflow that carries data.
    pub(super) fn tell_peer_everywhere(&mut self) {
        for i in 0..self.subflows.len() {
            if self.subflows[i].is_usable() {
                self.subflows[i].tcp.ask_for_ack();
                self.touch(i);
            }
        }
    }

    /// Payload of a full segment, on whichever subflow is the widest.
    pub(super) fn mss(&self) -> u64 {
        widest(&self.subflows)
    }

    /// The longest retransmission timeout of the subflows that carry data.
    pub(super) fn longest_rto(&self) -> Span {
        let usable = self.subflows.iter().filter(|it| it.is_usable());
        usable.map(|it| it.tcp.rtt().rto()).max().unwrap_or(Span::from_secs(1))
    }

    /// The first deadline of a subflow, where not all of them have had their say: who
    /// holds packets back asks before that.
    #[cold]
    pub(super) fn soonest_of_all(&self) -> Time {
        let deadline = |it: &Subflow| it.tcp.poll_timeout().min(it.timer.deadline());
        self.subflows.iter().map(deadline).min().unwrap_or(Time::NEVER)
    }
}
