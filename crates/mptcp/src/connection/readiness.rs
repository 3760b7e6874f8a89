//! Knows which subflows may act, and when the first of them wants to be called: sets of
//! subflows, and the operations that keep them consistent.
//!
//! A connection that asked each of its subflows after each packet would spend most of its time
//! on questions whose answers are known. [`Readiness`] remembers the answers until something
//! happens that may change them, which [`Readiness::touch`] says.

use anabranch_units::Time;

/// A subflow with this identifier has this bit.
fn bit(id: u32) -> u64 {
    1 << id
}

/// What is known of the subflows without asking them. A set of subflows is 64 bits, one for
/// each identifier.
#[derive(Debug)]
pub(super) struct Readiness {
    /// Subflows that may have packets to send, and are polled.
    unpolled: u64,
    /// Octets and events of these have not been collected since something happened to them.
    uncollected: u64,
    /// Subflows that are known to have no room for data. Disjoint with `roomy`.
    full: u64,
    /// Subflows that are known to have room for data. Disjoint with `full`.
    roomy: u64,
    /// Subflows that had nothing more to send when they were polled since the last round ended.
    drained: u64,
    /// Subflows that know that data waits for room in their windows.
    awaited: u64,
    /// The scheduler chooses among these, as far as is known; empty when that is to be found out.
    eligible: u64,
    /// The time at which each subflow wants to be called, by identifier; right for those that are
    /// not in `unpolled`, and [`Time::NEVER`] where there is none.
    deadlines: Vec<Time>,
    /// The first of `deadlines`.
    soonest: Time,
}

impl Readiness {
    /// The state of a connection that has one subflow, whose identifier is 0 and which may have
    /// something to send.
    pub fn of_first() -> Readiness {
        Readiness {
            unpolled: 1,
            uncollected: 0,
            full: 0,
            roomy: 0,
            drained: 0,
            awaited: 0,
            eligible: 0,
            deadlines: vec![Time::NEVER],
            soonest: Time::NEVER,
        }
    }

    /// Adds a subflow, of which nothing is known yet.
    pub fn add(&mut self, id: u32) {
        let len = self.deadlines.len().max(id as usize + 1);
        self.deadlines.resize(len, Time::NEVER);
        self.touch(id);
    }

    /// A subflow is gone: it is in no set, and its identifier may be given again.
    #[cold]
    pub fn remove(&mut self, id: u32) {
        let bit = bit(id);
        for set in [
            &mut self.unpolled,
            &mut self.uncollected,
            &mut self.full,
            &mut self.roomy,
            &mut self.drained,
            &mut self.awaited,
        ] {
            *set &= !bit;
        }
        self.eligible = 0;
        self.deadlines[id as usize] = Time::NEVER;
        self.find_soonest();
    }

    /// Something happened to a subflow that may let it send, or give it news.
    #[inline]
    pub fn touch(&mut self, id: u32) {
        self.unpolled |= bit(id);
        self.uncollected |= bit(id);
        self.forget_room(id);
    }

    /// A subflow was asked for something to send, and has no news.
    pub fn wake(&mut self, id: u32) {
        self.unpolled |= bit(id);
    }

    /// Some subflow may have something to send.
    #[inline]
    pub fn has_unpolled(&self) -> bool {
        self.unpolled != 0
    }

    /// The subflow of the lowest identifier among those that may have something to send.
    #[inline]
    pub fn next_unpolled(&self) -> Option<u32> {
        (self.unpolled != 0).then(|| self.unpolled.trailing_zeros())
    }

    /// Nothing happened to any subflow since a round of polling ended.
    #[inline]
    pub fn is_settled(&self) -> bool {
        self.unpolled | self.drained == 0
    }

    /// A subflow has been polled and has nothing more to send.
    #[inline]
    pub fn drain(&mut self, id: u32) {
        self.unpolled &= !bit(id);
        self.drained |= bit(id);
    }

    /// Returns the subflows that are to be collected. Where octets may have to wait in a subflow
    /// (`kept`), any that may have something to send may have some that can move now.
    #[inline]
    pub fn uncollected(&self, kept: bool) -> u64 {
        if kept { self.unpolled } else { self.uncollected }
    }

    /// Something happened to this subflow and to no other since all were collected.
    #[inline]
    pub fn is_only_uncollected(&self, id: u32) -> bool {
        self.uncollected == bit(id)
    }

    /// Octets and events of a subflow are about to be collected.
    #[inline]
    pub fn collect(&mut self, id: u32) {
        self.uncollected &= !bit(id);
    }

    /// Returns those of the subflows `among` that are known to have room for data.
    #[inline]
    pub fn roomy(&self, among: u64) -> u64 {
        self.roomy & among
    }

    /// Returns those of the subflows `among` of which it is not known whether they have room.
    #[inline]
    pub fn unknown(&self, among: u64) -> u64 {
        among & !self.full & !self.roomy
    }

    /// A subflow was asked whether it has room for data.
    #[inline]
    pub fn set_room(&mut self, id: u32, has_room: bool) {
        self.forget_room(id);
        *(if has_room { &mut self.roomy } else { &mut self.full }) |= bit(id);
    }

    /// Forgets whether a subflow has room for data, so that it is asked again.
    #[inline]
    pub fn forget_room(&mut self, id: u32) {
        self.full &= !bit(id);
        self.roomy &= !bit(id);
    }

    /// The subflows among which the scheduler chooses, until something changes which they are.
    #[inline]
    pub fn set_eligible(&mut self, subflows: u64) {
        self.eligible = subflows;
    }

    /// The scheduler may have to choose among other subflows than before.
    #[inline]
    pub fn forget_eligible(&mut self) {
        self.eligible = 0;
    }

    /// The scheduler chooses among these; empty when that is not known.
    #[inline]
    pub fn eligible(&self) -> u64 {
        self.eligible
    }

    /// Returns those of the subflows `among` that are not known to be full.
    pub fn not_full(&self, among: u64) -> u64 {
        among & !self.full
    }

    /// The one subflow that data waits for and that may have something to send, where it is also the
    /// only eligible one that is not known to be full.
    #[inline]
    pub fn only_taker(&self) -> Option<u32> {
        let bit = self.unpolled & self.awaited;
        let alone = bit.is_power_of_two() && self.eligible & !self.full == bit;
        (alone && self.unpolled == bit).then(|| bit.trailing_zeros())
    }

    /// A round of polling is over, and data waits or not (`waits`): which subflows are to hear
    /// whether it waits for their windows, and which of them it waits for.
    #[inline]
    pub fn end_round(&mut self, waits: bool) -> (u64, u64) {
        let awaited = if waits { self.full } else { 0 };
        let news = self.drained & awaited | (awaited ^ self.awaited);
        (self.drained, self.awaited) = (0, awaited);
        (news, awaited)
    }

    /// The first date when a subflow wants to be called; `None` while one has not had its say.
    #[inline]
    pub fn soonest(&self) -> Option<Time> {
        (self.unpolled == 0).then_some(self.soonest)
    }

    /// Sets when a subflow that has nothing to send wants to be called. Only where the first to be
    /// called moves back are the others looked at.
    #[inline]
    pub fn set_deadline(&mut self, id: u32, deadline: Time) {
        let before = std::mem::replace(&mut self.deadlines[id as usize], deadline);
        if deadline <= self.soonest {
            self.soonest = deadline;
        } else if before == self.soonest {
            self.find_soonest();
        }
    }

    fn find_soonest(&mut self) {
        self.soonest = self.deadlines.iter().copied().min().unwrap_or(Time::NEVER);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_units::Span;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// A connection of two subflows that nothing has happened to since a round ended.
    fn two() -> Readiness {
        let mut two = Readiness::of_first();
        two.add(1);
        for id in 0..2 {
            two.collect(id);
            two.drain(id);
        }
        two.end_round(false);
        two
    }

    #[test]
    fn what_happens_to_a_subflow_makes_its_answers_unknown() {
        let mut readiness = two();
        assert!(readiness.is_settled());
        readiness.set_room(0, false);
        readiness.set_room(1, true);
        assert_eq!((readiness.unknown(0b11), readiness.roomy(0b11)), (0, 0b10));
        readiness.touch(1);
        assert_eq!((readiness.unknown(0b11), readiness.roomy(0b11)), (0b10, 0));
        assert_eq!((readiness.next_unpolled(), readiness.uncollected(false)), (Some(1), 0b10));
        assert!(readiness.is_only_uncollected(1) && !readiness.is_settled());
        readiness.collect(1);
        assert_eq!((readiness.uncollected(false), readiness.uncollected(true)), (0, 0b10));
        readiness.drain(1);
        assert!(!readiness.has_unpolled() && !readiness.is_settled(), "the round has not ended");
        readiness.end_round(false);
        assert!(readiness.is_settled());
    }

    #[test]
    fn room_is_there_or_not() {
        let mut readiness = two();
        readiness.set_room(0, true);
        readiness.set_room(0, false);
        assert_eq!((readiness.roomy(0b11), readiness.unknown(0b11)), (0, 0b10));
        readiness.forget_room(0);
        assert_eq!(readiness.unknown(0b11), 0b11);
    }

    #[test]
    fn subflows_hear_of_waiting_data_once_and_again_when_they_have_sent() {
        let mut readiness = two();
        readiness.set_room(0, false);
        readiness.set_room(1, false);
        assert_eq!(readiness.end_round(true), (0b11, 0b11));
        assert_eq!(readiness.end_round(true), (0, 0b11));
        readiness.wake(0);
        readiness.drain(0);
        assert_eq!(readiness.end_round(true), (0b01, 0b11));
        readiness.set_room(1, true);
        assert_eq!(readiness.end_round(true), (0b10, 0b01), "it has room now");
        assert_eq!(readiness.end_round(false), (0b01, 0), "nothing waits any more");
    }

    #[test]
    fn the_only_taker_is_the_one_that_an_acknowledgment_came_to() {
        let mut readiness = two();
        readiness.set_room(0, false);
        readiness.set_room(1, false);
        readiness.end_round(true);
        readiness.set_eligible(0b11);
        assert_eq!(readiness.only_taker(), None);
        readiness.touch(1);
        assert_eq!(readiness.only_taker(), Some(1));
        readiness.touch(0);
        assert_eq!(readiness.only_taker(), None, "two could take it");
        readiness.drain(0);
        readiness.set_room(0, false);
        assert_eq!(readiness.only_taker(), Some(1));
        readiness.forget_eligible();
        assert_eq!(readiness.only_taker(), None, "the scheduler is to be asked");
    }

    #[test]
    fn the_first_deadline_is_that_of_the_subflows_that_had_their_say() {
        let mut readiness = two();
        readiness.set_deadline(0, at(20));
        readiness.set_deadline(1, at(10));
        assert_eq!(readiness.soonest(), Some(at(10)));
        readiness.set_deadline(1, at(30));
        assert_eq!(readiness.soonest(), Some(at(20)), "the first moved back");
        readiness.touch(1);
        assert_eq!(readiness.soonest(), None);
        readiness.remove(1);
        assert_eq!(readiness.soonest(), Some(at(20)));
        readiness.remove(0);
        assert_eq!((readiness.soonest(), readiness.is_settled()), (Some(Time::NEVER), true));
    }

    #[test]
    fn an_identifier_that_is_given_again_starts_anew() {
        let mut readiness = two();
        readiness.set_room(1, false);
        readiness.set_eligible(0b11);
        readiness.end_round(true);
        readiness.remove(1);
        assert_eq!(readiness.eligible(), 0);
        readiness.add(1);
        assert_eq!((readiness.unknown(0b10), readiness.next_unpolled()), (0b10, Some(1)));
        readiness.drain(1);
        readiness.set_room(1, false);
        assert_eq!(readiness.end_round(true), (0b10, 0b10), "it has not heard yet");
        readiness.add(40);
        readiness.set_deadline(40, at(5));
        readiness.drain(40);
        assert_eq!(readiness.soonest(), Some(at(5)));
    }
}
