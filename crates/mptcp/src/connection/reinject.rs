//! Data that is sent again on another subflow (RFC 8684 §3.3.6): what a subflow lost to a
//! timeout or left at its end, what nobody carries any more, and what blocks the receive
//! window (opportunistic retransmission and penalisation).

use super::{Connection, Due};
use crate::sender::Overdue;
use anabranch_tcp::Range;
use anabranch_units::Time;

impl Connection {
    /// What must be sent again, on a subflow that does not carry it.
    pub(super) fn send_again(&mut self, usable: u64) -> Option<usize> {
        // What only a subflow without room may carry keeps nothing behind it waiting.
        let next = self.sender.next_reinjection(self.readiness.roomy(usable))?;
        let i = self.best_among(usable & !next.carried)?;
        let end =
            next.range.end.min(next.range.start + self.subflows.most_for(i, self.sender.is_long()));
        let range = Range { end, ..next.range };
        self.sender.on_reinjected(range);
        self.counters.reinjected += 1;
        self.give(i, range)
    }

    /// Returns the fastest with room of the preferred subflows in `among`.
    fn best_among(&self, among: u64) -> Option<usize> {
        self.subflows.fastest(self.readiness.roomy(self.subflows.preferred(among)))
    }

    /// Data waits, a subflow has room, and the receive window is full because
    /// another subflow is slow: what it has not delivered is sent again, and it
    /// is penalised (Raiciu et al., NSDI 2012, section 4.2).
    #[cold]
    pub(super) fn unblock_window(&mut self, now: Time, usable: u64) -> Option<usize> {
        let una = self.sender.una();
        let i = self.best_among(usable)?;
        if una >= self.sender.nxt() || self.subflows[i].sent.carrying(una).is_some() {
            return None;
        }
        let (j, end) = self.subflows.first_carrier(una)?;
        let fast = self.subflows[i].srtt();
        if self.config.penalisation && self.subflows[j].penalise(now, fast) {
            self.counters.penalties += 1;
        }
        let end = end.min(una + self.subflows.most_for(i, self.sender.is_long()));
        self.counters.reinjected += 1;
        self.counters.opportunistic += 1;
        self.give(i, Range { start: una, end })
    }

    /// The timer of a subflow expired: what it has outstanding goes to others
    /// (§3.3.6), and it gets no more until something is acknowledged.
    #[cold]
    pub(super) fn on_subflow_timeout(&mut self, i: usize) {
        self.subflows[i].failed = true;
        self.reinject_all(i);
    }

    /// What a subflow has not delivered is to be sent again.
    pub(super) fn reinject_all(&mut self, i: usize) {
        let subflow = &self.subflows[i];
        self.sender.reinject_all(&subflow.sent, subflow.bit());
    }

    /// Data has waited for its DATA_ACK for longer than any subflow's timeout
    /// (§3.3.6). Where a subflow that answers still carries it, that subflow
    /// sees to it; otherwise it is sent again.
    pub(super) fn on_data_timeout(&mut self, now: Time) {
        let (rto, most) = (self.subflows.longest_rto(), self.config.subflow.max_retries);
        let subflows = &self.subflows;
        let overdue = self.sender.on_retransmission_timer(now, rto, most, || subflows.is_watched());
        if let Overdue::NotBefore(due) = overdue {
            return self.timers.set(Due::Retransmit, due);
        }
        let is_mute = self.is_mute();
        if is_mute && self.subflows[0].has_fallen_mute() {
            self.on_options_lost(0);
            return self.take_over(now);
        }
        if overdue == Overdue::GiveUp {
            return self.give_up(now);
        }
        let unproven = self.sender.is_unproven() && self.is_contiguous();
        if !self.session.is_confirmed() && !self.session.is_passive() || unproven {
            // The peer may not even know the keys, or no mapping of ours may reach it: then its ACK
            // has no option, and the connection is TCP from there on.
            if !self.subflows.is_empty() {
                self.subflows.ask_peer(0, &mut self.readiness);
            }
        } else if self.sender.owes_fin() && self.sender.tries().0 == 1 {
            self.subflows.ask_best_for_ack(&mut self.readiness);
        } else if self.sender.owes_fin() {
            // What seemed the best may be dead, and has nothing outstanding that would show it.
            self.subflows.ask_all_for_acks(&mut self.readiness);
        }
        let (carriers, alive) = self.subflows.carriers(self.sender.una());
        // What others could carry may wait for windows that nothing opens.
        let closed = self.subflows.closed(&self.sender);
        self.subflows.ask_peer_on(closed, &mut self.readiness);
        // Without their mapping, octets at new offsets of the only subflow that the peer knows would be read as new.
        if self.sender.has_outstanding() && !alive && !unproven && !is_mute {
            self.sender.reinject_oldest(self.subflows.mss(), carriers | self.subflows.mute());
        }
        self.arm(now);
    }

    /// The ACKs of the only subflow have lost their options while something waits for its DATA_ACK: once the subflow has
    /// delivered all it was given, a peer that leaves out DATA_ACKs that have not moved (§3.3.2) would have sent
    /// one.
    fn is_mute(&self) -> bool {
        self.subflows.len() == 1
            && (self.sender.has_outstanding() || self.sender.owes_fin())
            && self.subflows[0].is_mute()
    }

    /// The connection has become TCP between two segments: what the ACKs of its subflow have said so far is
    /// of the stream.
    fn take_over(&mut self, now: Time) {
        let Some(fallback) = self.session.fallback() else { return };
        let tcp = &self.subflows[0].tcp;
        let (una, end) = tcp.outstanding();
        let ack = fallback.acknowledged(una).min(self.sender.data_end());
        self.on_data_ack(now, ack, tcp.own_room() + (end - una));
        self.touch(0);
        self.arm(now);
    }

    /// Nothing came on any subflow after as many retransmissions, or probes of a closed window, as
    /// TCP makes (RFC 9293 §3.8.3, R2; §3.8.6.1): they are dead. A DATA_FIN without data and a
    /// probe are nothing that TCP sends again and would count itself. Others may be opened, and where
    /// none can be the connection ends.
    #[cold]
    pub(super) fn give_up(&mut self, now: Time) {
        self.sender.start_over();
        for i in 0..self.subflows.len() {
            if self.subflows[i].is_usable() {
                self.subflows[i].tcp.give_up();
                self.touch(i);
            }
        }
        self.collect(now);
    }
}
