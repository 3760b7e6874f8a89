//! What leaves: the loop over the subflows' packets. Data is given to a subflow only
//! when it would leave at once.

use super::Connection;
use anabranch_units::Time;
use anabranch_wire::Packet;

impl Connection {
    /// What leaves next: what a subflow has to send by itself, or with what it is given.
    /// There is one loop for both, although most packets are those of
    /// [`Connection::only_taker`]: its parts are large, and this is the only place of each.
    #[inline(never)]
    pub(super) fn next_packet(&mut self, now: Time) -> Option<Packet> {
        if !self.outbox.is_empty() {
            return self.outbox.pop_front();
        }
        let mut taker = self.only_taker();
        // In the middle of a burst: the subflow is asked for what it still has when it
        // takes no more.
        if self.scheduling.end_burst() && taker.is_none() {
            taker = self.schedule(now).map(|i| (i, 0));
        }
        loop {
            while let Some(id) = self.readiness.next_unpolled() {
                let offer = taker.take();
                let i = offer.map_or_else(|| self.polled_next(id), |(i, _)| i);
                if offer.is_none() && self.chooses(now, i) {
                    taker = self.schedule(now).map(|i| (i, 0));
                    if taker.is_some() {
                        continue;
                    }
                }
                let len = offer.map_or(0, |(_, len)| len);
                let packet = self.poll_subflow(now, i, len);
                if packet.is_some() {
                    return packet;
                }
                let quiet = self.rest(now, i);
                if len > 0 && quiet {
                    self.end_round(now);
                    return None;
                }
            }
            taker = self.schedule(now).map(|i| (i, 0));
            if taker.is_some() {
                continue;
            }
            // As TCP the last data has left: the FIN follows.
            self.end_if_done();
            if !self.readiness.has_unpolled() {
                self.end_round(now);
                return None;
            }
        }
    }

    /// What a subflow sends next, by itself or of the next `len` octets of the stream, with what
    /// it carries of the whole.
    #[inline(always)]
    fn poll_subflow(&mut self, now: Time, i: usize, len: u64) -> Option<Packet> {
        let tcp = &mut self.subflows[i].tcp;
        let (_, end) = tcp.outstanding();
        let mut packet = tcp.poll_transmit_with(now, len);
        let given = (len > 0 && tcp.outstanding().1 > end).then(|| self.on_given(i, len));
        if let Some(leaving) = &mut packet {
            self.complete(now, i, leaving, given);
            if self.scheduling.is_in_burst() && given.is_none() {
                self.readiness.forget_room(self.subflows[i].id);
            }
            self.end_if_silent(now, i);
        } else if len > 0 {
            self.readiness.set_room(self.subflows[i].id, false);
        }
        packet
    }

    /// The usual packet of a receiver is an ACK that leaves nothing to say: then the next
    /// poll need not look for more.
    #[inline]
    fn end_if_silent(&mut self, now: Time, i: usize) {
        if !self.scheduling.is_in_burst()
            && self.has_nothing_to_give()
            && self.subflows[i].tcp.is_silent()
        {
            self.rest(now, i);
            if !self.readiness.has_unpolled() && !self.sender.is_closed() {
                self.end_round(now);
            }
        }
    }

    /// Returns the place of the subflow that is polled for what it has to send by itself.
    #[inline]
    fn polled_next(&mut self, id: u32) -> usize {
        self.readiness.forget_eligible();
        self.subflows.position(id).expect("only subflows that there are wait to be polled")
    }

    /// A subflow in a repair could send something new now: it is given some before it is
    /// asked, so that it chooses as a TCP does whose data waits (rules 2 to 4 of RFC 6675 §4,
    /// RFC 8985 §7.3).
    #[inline]
    fn chooses(&mut self, now: Time, i: usize) -> bool {
        !self.has_nothing_to_give()
            && self.subflows[i].tcp.may_resend()
            && self.has_room_in_repair(now, i)
    }

    /// A subflow that repairs has room. What it must repair first leaves before anything new is
    /// given to another for want of room.
    #[cold]
    fn has_room_in_repair(&mut self, now: Time, i: usize) -> bool {
        let (usable, bit) = (self.subflows.usable(), self.subflows[i].bit());
        self.look_for_room(now, usable & bit, usable == bit);
        self.readiness.roomy(usable & bit) != 0
    }

    /// Nothing has happened to a receiver since all that it had to send left: hosts
    /// ask again after each event that an application has heard.
    #[inline]
    pub(super) fn is_settled(&self) -> bool {
        self.readiness.is_settled() && self.has_nothing_to_give() && self.outbox.is_empty()
    }

    /// No scheduler has anything to decide.
    #[inline]
    fn has_nothing_to_give(&self) -> bool {
        self.scheduling.takes_turns_by_room() && self.sender.has_nothing()
    }

    /// A subflow has nothing more to send. True when nothing else has happened to
    /// it, so that nobody else has become able to send.
    #[inline]
    fn rest(&mut self, now: Time, i: usize) -> bool {
        let (id, bit) = (self.subflows[i].id, self.subflows[i].bit());
        self.readiness.drain(id);
        let quiet = self.uncollected() & bit == 0;
        if !quiet {
            self.collect_one(now, i); // what commands did
        }
        self.readiness.set_deadline(id, self.subflows[i].deadline());
        if self.subflows[i].is_gone() {
            let gone = self.subflows.remove(i, &mut self.readiness);
            self.sender.forget_carrier(gone.bit());
        }
        quiet
    }

    /// Everything that can leave has left: subflows hear whether their windows
    /// are full while there is more, and timers are set.
    #[inline]
    fn end_round(&mut self, now: Time) {
        let waits = self.sender.has_unsent() && !self.has_ended();
        let (mut news, awaited) = self.readiness.end_round(waits);
        while news != 0 {
            let id = news.trailing_zeros();
            news &= news - 1;
            if let Some(i) = self.subflows.position(id) {
                self.subflows[i].tcp.set_waiting(awaited & 1 << id != 0);
            }
        }
        if !self.is_armed() {
            self.arm(now);
        }
    }
}
