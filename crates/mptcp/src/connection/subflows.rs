//! The subflows as a set: which there are, by which addresses and identifiers, which is the best
//! for a word to the peer, and what they have in common.

use super::readiness::Readiness;
use crate::config::capable_more;
use crate::path_counts::{self, PathCounts};
use crate::path_manager::Wanted;
use crate::sender::Sender;
use crate::subflow::Subflow;
use anabranch_congestion::Sibling;
use anabranch_endpoint::{Observation, Observe, PathObservation};
use anabranch_units::{Span, Time};
use anabranch_wire::{Addr, FlowKey};
use std::ops::{Deref, DerefMut};

/// The subflows are kept in the order of their opening.
#[derive(Debug)]
pub(super) struct Subflows {
    /// The subflows that there are, the oldest first.
    list: Vec<Subflow>,
    /// Addresses and ports of the subflows, in the same order, side by side: each packet is looked
    /// up.
    keys: Vec<FlowKey>,
    /// The connection's first subflow has these addresses and ports; it may be gone.
    first: FlowKey,
    /// Totals of what each path has carried, subflows that are gone included.
    paths: PathCounts,
    /// A coupled window algorithm is told this; it is made anew each time.
    siblings: Vec<Sibling>,
}

impl Deref for Subflows {
    type Target = [Subflow];

    #[inline]
    fn deref(&self) -> &[Subflow] {
        &self.list
    }
}

impl DerefMut for Subflows {
    #[inline]
    fn deref_mut(&mut self) -> &mut [Subflow] {
        &mut self.list
    }
}

impl Subflows {
    /// The first subflow alone, whose path has the number 0.
    pub fn of_first(first: Subflow) -> Subflows {
        let key = first.key();
        let mut paths = PathCounts::default();
        paths.number(key.src, key.dst, 0);
        Subflows { list: vec![first], keys: vec![key], first: key, paths, siblings: Vec::new() }
    }

    /// The addresses and ports of the first subflow, which may be gone.
    pub fn first_key(&self) -> FlowKey {
        self.first
    }

    /// Whether the subflow at `i` is the connection's first.
    pub fn is_first(&self, i: usize) -> bool {
        self.list[i].key() == self.first
    }

    /// The connection's first subflow, while it is there.
    pub fn first_of_all(&mut self) -> Option<&mut Subflow> {
        self.list.iter_mut().find(|subflow| subflow.key() == self.first)
    }

    /// Subflows that have not ended.
    pub fn alive(&self) -> usize {
        self.list.iter().filter(|subflow| !subflow.is_gone()).count()
    }

    /// Returns the place of the subflow with an identifier.
    #[inline]
    pub fn position(&self, id: u32) -> Option<usize> {
        // Until the first subflow ends, identifiers are places.
        if self.list.get(id as usize).is_some_and(|subflow| subflow.id == id) {
            return Some(id as usize);
        }
        self.list.iter().position(|subflow| subflow.id == id)
    }

    /// Returns the place of the subflow that has not ended and sends from and to these addresses
    /// and ports.
    #[inline]
    pub fn with_key(&self, key: FlowKey) -> Option<usize> {
        let mut all = self.keys.iter().enumerate();
        all.find(|(i, known)| **known == key && !self.list[*i].is_gone()).map(|(i, _)| i)
    }

    /// Whether a subflow has these two ends, be it over or not.
    pub fn has_ends(&self, local: (Addr, u16), remote: (Addr, u16)) -> bool {
        let ends = |key: &FlowKey| ((key.src, key.src_port), (key.dst, key.dst_port));
        self.keys.iter().any(|key| ends(key) == (local, remote))
    }

    /// An identifier that no subflow has.
    pub fn free_id(&self) -> Option<u32> {
        (0..u64::BITS).find(|id| self.position(*id).is_none())
    }

    /// The number of a path in what is observed; `copy` tells subflows between the same addresses
    /// apart.
    pub fn path(&mut self, local: Addr, remote: Addr, copy: u8) -> usize {
        self.paths.number(local, remote, copy)
    }

    /// Adds a subflow behind the others.
    pub fn add(&mut self, subflow: Subflow, readiness: &mut Readiness) {
        readiness.add(subflow.id);
        self.keys.push(subflow.key());
        self.list.push(subflow);
    }

    /// A subflow goes that has ended and has nothing more to send.
    #[cold]
    pub fn remove(&mut self, i: usize, readiness: &mut Readiness) -> Subflow {
        let subflow = self.list.remove(i);
        self.keys.remove(i);
        readiness.remove(subflow.id);
        self.paths.retire(subflow.path, &subflow.observe(), &subflow.tcp.observe());
        subflow
    }

    /// Returns the subflows that carry data, by their bits.
    pub fn usable(&self) -> u64 {
        let usable = self.list.iter().filter(|subflow| subflow.is_usable());
        usable.fold(0, |all, subflow| all | subflow.bit())
    }

    /// The usable subflow that is the best for a word to the peer: one that answers, of the
    /// lowest round-trip time.
    pub fn best(&self) -> Option<usize> {
        let usable = self.list.iter().enumerate().filter(|(_, subflow)| subflow.is_usable());
        let cost = |subflow: &Subflow| (subflow.failed, subflow.is_backup(), subflow.srtt());
        usable.min_by_key(|(_, subflow)| cost(subflow)).map(|(i, _)| i)
    }

    /// Returns those of the subflows `among`, by their bits, that have the least rank (RFC 8684
    /// §3.3.8): backups, and those that do not answer, only without others.
    pub fn preferred(&self, among: u64) -> u64 {
        let (mut best, mut preferred) = (u32::MAX, 0);
        for subflow in self.list.iter().filter(|subflow| among & subflow.bit() != 0) {
            let rank = subflow.rank();
            if rank < best {
                (best, preferred) = (rank, 0);
            }
            preferred |= if rank == best { subflow.bit() } else { 0 };
        }
        preferred
    }

    /// Forgets which subflows have room, so that they are asked again.
    pub fn look_again(&self, readiness: &mut Readiness) {
        self.list.iter().for_each(|subflow| readiness.forget_room(subflow.id));
    }

    /// Returns the fastest of the subflows `among`, which are given by their bits.
    pub fn fastest(&self, among: u64) -> Option<usize> {
        let all = self.list.iter().enumerate().filter(|(_, subflow)| among & subflow.bit() != 0);
        all.min_by_key(|(_, subflow)| subflow.srtt()).map(|(i, _)| i)
    }

    /// One more segment fits the window that came with the subflow's own ACKs (§3.3.5): something on its
    /// path may take less than the peer.
    pub fn fits_window(&self, i: usize, sender: &Sender) -> bool {
        let tcp = &self.list[i].tcp;
        sender.fits_window(tcp.own_room(), tcp.mss())
    }

    /// The subflows that carry data whose own windows are closed, or open by too little, and which wait
    /// for no ACK that would open them: their peer is to be asked.
    pub fn closed(&self, sender: &Sender) -> u64 {
        let is_closed = |i: &usize| {
            let (una, end) = self.list[*i].tcp.outstanding();
            self.list[*i].is_usable() && una == end && !self.fits_window(*i, sender)
        };
        (0..self.list.len()).filter(is_closed).fold(0, |all, i| all | self.list[i].bit())
    }

    /// The peer is made to send ACKs on these subflows, given by their bits.
    pub fn ask_peer_on(&mut self, among: u64, readiness: &mut Readiness) {
        for i in 0..self.list.len() {
            if among & self.list[i].bit() != 0 {
                self.ask_peer(i, readiness);
            }
        }
    }

    /// Asks those of the subflows `among`, by their bits, of which it is not known whether they have
    /// room for data; `alone` says that there are no others that carry data.
    pub fn look_for_room(
        &mut self,
        now: Time,
        (among, alone): (u64, bool),
        sender: &Sender,
        readiness: &mut Readiness,
    ) {
        let mut unknown = readiness.unknown(among);
        while unknown != 0 {
            let id = unknown.trailing_zeros();
            unknown &= !(1 << id);
            let Some(i) = self.position(id) else { continue };
            // Nothing new is put at risk on a subflow that has fallen silent, but for want of
            // another: its tail loss probe is what it sent last.
            let tcp = &mut self.list[i].tcp;
            let takes_more = tcp.takes_more(now) && (alone || !tcp.is_probe_due());
            readiness.set_room(id, takes_more && self.fits_window(i, sender));
        }
    }

    /// The first subflow that carries the octet at a data offset, and where its piece ends.
    pub fn first_carrier(&self, data: u64) -> Option<(usize, u64)> {
        let mut all = self.list.iter().enumerate();
        all.find_map(|(i, subflow)| Some((i, subflow.sent.carrying(data)?.data_range().end)))
    }

    /// A subflow sends an ACK.
    pub fn ask_for_ack(&mut self, i: usize, readiness: &mut Readiness) {
        self.list[i].tcp.ask_for_ack();
        readiness.touch(self.list[i].id);
    }

    /// The peer hears something by an ACK on the best subflow.
    pub fn ask_best_for_ack(&mut self, readiness: &mut Readiness) {
        if let Some(i) = self.best() {
            self.ask_for_ack(i, readiness);
        }
    }

    /// The peer hears of a window of `octets` on every subflow that advertised less than that last,
    /// and less than a segment.
    pub fn tell_of_window(&mut self, octets: u64, readiness: &mut Readiness) {
        for subflow in self.list.iter_mut().filter(|subflow| subflow.is_usable()) {
            if subflow.own_window() < octets.min(subflow.tcp.mss()) {
                subflow.tcp.ask_for_ack();
                readiness.touch(subflow.id);
            }
        }
    }

    /// Makes every subflow that carries data send an ACK.
    pub fn ask_all_for_acks(&mut self, readiness: &mut Readiness) {
        for subflow in self.list.iter_mut().filter(|subflow| subflow.is_usable()) {
            subflow.tcp.ask_for_ack();
            readiness.touch(subflow.id);
        }
    }

    /// The peer is made to send an ACK on a subflow.
    pub fn ask_peer(&mut self, i: usize, readiness: &mut Readiness) {
        self.list[i].tcp.ask_peer_for_ack();
        readiness.touch(self.list[i].id);
    }

    /// Makes the peer send an ACK on every subflow that carries data.
    pub fn ask_peer_everywhere(&mut self, readiness: &mut Readiness) {
        for i in 0..self.list.len() {
            if self.list[i].is_usable() {
                self.ask_peer(i, readiness);
            }
        }
    }

    /// Payload of a full segment, on whichever subflow is the widest.
    pub fn mss(&self) -> u64 {
        self.list.iter().map(|subflow| subflow.tcp.mss()).max().unwrap_or(1)
    }

    /// Payload that the next segment of a subflow holds. The first segment of the first also has
    /// both keys, beside numbers of 64 bits where `long`.
    #[inline]
    pub fn most_for(&self, i: usize, long: bool) -> u64 {
        let subflow = &self.list[i];
        let begins = subflow.tcp.outstanding().1 == 1 + subflow.early.sent as u64;
        let more = if begins && self.is_first(i) { capable_more(long) } else { 0 };
        self.list[i].tcp.mss() - more as u64
    }

    /// Returns the longest retransmission timeout of the subflows that carry data; one second
    /// without any.
    pub fn longest_rto(&self) -> Span {
        let usable = self.list.iter().filter(|subflow| subflow.is_usable());
        usable.map(|subflow| subflow.tcp.rtt().rto()).max().unwrap_or(Span::from_secs(1))
    }

    /// A subflow has something outstanding, and will find out whether anybody answers.
    pub fn is_watched(&self) -> bool {
        let has_outstanding = |subflow: &Subflow| {
            let (una, max) = subflow.tcp.outstanding();
            una < max
        };
        self.list.iter().any(has_outstanding)
    }

    /// The subflows whose last ACK had no option, by their bits.
    pub fn mute(&self) -> u64 {
        let mute = self.list.iter().filter(|subflow| subflow.is_mute());
        mute.fold(0, |bits, subflow| bits | subflow.bit())
    }

    /// The subflows that carry the octet at a data offset, by their bits, and whether one of them
    /// still answers.
    pub fn carriers(&self, data: u64) -> (u64, bool) {
        let carriers = self.list.iter().filter(|subflow| subflow.sent.carrying(data).is_some());
        carriers.fold((0, false), |(bits, alive), subflow| {
            (bits | subflow.bit(), alive || subflow.is_usable() && !subflow.failed)
        })
    }

    /// A subflow's handshake is over. One that is being opened may never answer, and another
    /// attempt follow it, for ever.
    pub fn has_one_in_use(&self) -> bool {
        self.list.iter().any(|subflow| !subflow.is_gone() && subflow.tcp.state().is_synchronized())
    }

    /// Whether there is a subflow that this side has opened for the path manager's `wanted`.
    pub fn is_open(&self, wanted: Wanted) -> bool {
        self.list.iter().any(|subflow| !subflow.is_gone() && subflow.wanted == Some(wanted))
    }

    /// Whether there is a subflow between two addresses.
    pub fn joins(&self, local: Addr, remote: Addr) -> bool {
        let ends = |subflow: &Subflow| (subflow.key().src, subflow.key().dst);
        self.list.iter().any(|subflow| !subflow.is_gone() && ends(subflow) == (local, remote))
    }

    /// Returns which of the path manager's subflows this is, where this side opened it; the
    /// connection's first is the active side's.
    pub fn opened_as(&self, i: usize, passive: bool) -> Option<Wanted> {
        let first = !passive && self.is_first(i);
        self.list[i].wanted.or(first.then_some(Wanted::FIRST))
    }

    /// The window algorithm of a subflow hears of the others, where it is coupled.
    #[inline]
    pub fn tell_siblings(&mut self, i: usize) {
        if self.list.len() > 1 && self.list[i].tcp.is_coupled() {
            self.tell_coupled(i);
        }
    }

    #[inline(never)]
    fn tell_coupled(&mut self, i: usize) {
        self.siblings.clear();
        let others = self.list.iter().enumerate();
        let others = others.filter(|(j, subflow)| *j != i && subflow.is_usable());
        self.siblings.extend(others.map(|(_, subflow)| subflow.tcp.sibling()));
        self.list[i].tcp.on_siblings(&self.siblings);
    }

    /// The first deadline of a subflow, where not all of them have had their say: who
    /// holds packets back asks before that.
    #[cold]
    pub fn soonest(&self) -> Time {
        self.list.iter().map(Subflow::deadline).min().unwrap_or(Time::NEVER)
    }

    /// Adds the windows and counts of all subflows there are and have been; the round-trip time is
    /// that of the fastest.
    pub fn add_to(&self, all: &mut Observation) {
        self.paths.add_to(all);
        for one in self.list.iter().map(|subflow| subflow.tcp.observe()) {
            all.cwnd += one.cwnd;
            all.ssthresh = all.ssthresh.saturating_add(one.ssthresh);
            all.in_flight += one.in_flight;
            if one.srtt.is_some() && (all.srtt.is_none() || one.srtt < all.srtt) {
                (all.srtt, all.latest_rtt) = (one.srtt, one.latest_rtt);
            }
            all.rto = all.rto.max(one.rto);
            all.in_recovery |= one.in_recovery;
            all.packets_sent += one.packets_sent;
            all.retransmitted_packets += one.retransmitted_packets;
            all.fast_retransmits += one.fast_retransmits;
            all.timeouts += one.timeouts;
            all.ecn_reductions += one.ecn_reductions;
            all.undone_reductions += one.undone_reductions;
            all.tail_loss_probes += one.tail_loss_probes;
            all.spurious_retransmissions += one.spurious_retransmissions;
        }
    }

    /// A path that has had a subflow, by its number. Counts are those of all its subflows, the
    /// rest is of the one that there is.
    pub fn observe_path(&self, path: usize) -> Option<PathObservation> {
        let past = self.paths.get(path)?;
        let now = self.list.iter().filter(|subflow| subflow.path == path);
        Some(now.fold(past, |all, subflow| path_counts::sum(&all, &subflow.observe())))
    }
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;
    use crate::subflow::Stage;
    use anabranch_endpoint::Seed;
    use anabranch_tcp::{Config, Connection as Tcp};

    /// A subflow from port `1000 + id`, whose handshake has not begun.
    pub fn subflow(id: u32, stage: Stage) -> Subflow {
        let generator = Seed::default().generator("subflow");
        let (local, remote) = ((Addr(0), 1000 + id as u16), (Addr(1), 80));
        Subflow::new(Tcp::client(Config::default(), local, remote, generator), id, 0, stage)
    }
}

#[cfg(test)]
mod tests {
    use super::testing::subflow;
    use super::*;
    use crate::subflow::Stage;

    fn three() -> (Subflows, Readiness) {
        let mut subflows = Subflows::of_first(subflow(0, Stage::First));
        let mut readiness = Readiness::of_first();
        for id in 1..3 {
            assert_eq!(subflows.free_id(), Some(id));
            subflows.add(subflow(id, Stage::Ready), &mut readiness);
        }
        (subflows, readiness)
    }

    #[test]
    fn identifiers_and_addresses_stay_with_their_subflows() {
        let (mut subflows, mut readiness) = three();
        let last = subflows[2].key();
        assert_eq!((subflows.position(2), subflows.with_key(last)), (Some(2), Some(2)));
        assert_eq!(subflows.remove(1, &mut readiness).id, 1);
        assert_eq!((subflows.position(2), subflows.with_key(last)), (Some(1), Some(1)));
        assert_eq!((subflows.position(1), subflows.free_id()), (None, Some(1)));
        subflows[1].on_end();
        assert_eq!((subflows.with_key(last), subflows.alive()), (None, 1), "its port is free");
        assert!(subflows.is_first(0) && subflows.first_of_all().is_some());
        subflows.remove(0, &mut readiness);
        assert!(subflows.first_of_all().is_none());
        assert_eq!(subflows.first_key().src_port, 1000);
    }

    /// RFC 8684 §3.3.8.
    #[test]
    fn backups_and_subflows_that_do_not_answer_come_last() {
        let (mut subflows, _) = three();
        assert_eq!(subflows.preferred(0b111), 0b111);
        subflows[0].peer_backup = true;
        assert_eq!(subflows.preferred(0b111), 0b110);
        subflows[1].failed = true;
        assert_eq!((subflows.preferred(0b111), subflows.preferred(0b011)), (0b100, 0b001));
        assert_eq!(subflows.preferred(0), 0);
    }

    #[test]
    fn a_subflow_that_ends_is_opened_again_unless_its_address_was_removed() {
        let (mut subflows, _) = three();
        assert_eq!(subflows.opened_as(0, false), Some(Wanted::FIRST));
        assert_eq!(subflows.opened_as(0, true), None, "the peer opened it");
        let wanted = Wanted { copy: 1, ..Wanted::FIRST };
        subflows[1].wanted = Some(wanted);
        assert!(subflows.is_open(wanted) && subflows[1].is_open());
        subflows[1].remove();
        assert!(subflows[1].is_removed() && !subflows[1].is_open());
        subflows[1].on_end();
        assert!(!subflows.is_open(wanted) && subflows[1].is_gone());
        assert_eq!(subflows.usable(), 0, "no handshake is over");
    }
}
