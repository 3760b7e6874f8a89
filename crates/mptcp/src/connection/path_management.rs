//! Path management (RFC 8684 §3.4): the addresses of both hosts by their identifiers, which of this
//! side's were announced, and which subflows are to be opened again.

use crate::path_manager::{PathManager, Wanted};
use anabranch_units::{Span, Time};
use anabranch_wire::{Addr, AddressBook};

/// Most addresses of the peer that are remembered.
const MOST_PEER_ADDRESSES: usize = 8;
/// Most times that an address is announced without an echo.
const MOST_ANNOUNCEMENTS: u32 = 4;

/// An address of this side that was announced and not echoed.
#[derive(Clone, Copy, Debug)]
struct Announcement {
    /// Identifier of the address that was announced.
    id: u8,
    /// How often its ADD_ADDR has been sent.
    tries: u32,
}

/// An address of the peer, with the port of the subflows to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PeerAddress {
    /// Address without its port.
    pub addr: Addr,
    /// Subflows to it go to this port.
    pub port: u16,
}

/// What became of an address that the peer has named.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Remembered {
    /// It is not remembered: it is known, or contradicts what is known, or there are too many.
    No,
    /// It was unknown and is remembered.
    New,
    /// It was known with another port, which is replaced.
    Port,
}

/// A subflow that is to be opened again.
#[derive(Clone, Copy, Debug)]
struct Reopening {
    /// The subflow as the path manager wants it.
    wanted: Wanted,
    /// The date before which it is not opened; [`Time::NEVER`] while it is being opened.
    at: Time,
    /// How often it has been lost without having carried data since.
    tries: u32,
}

/// The two ends of a subflow that is to be opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Ends {
    /// Identifier and address of this side's end.
    pub own: (u8, Addr),
    /// The peer's address has this identifier and this port.
    pub peer: (u8, Addr, u16),
}

/// What is known of addresses and of subflows that there should be.
#[derive(Debug)]
pub(super) struct PathManagement {
    /// This side's addresses by identifier (0 to 255), with gaps for those that are gone.
    own: Vec<Option<Addr>>,
    /// The peer's addresses by identifier, with gaps for those that are gone or unknown.
    peer: Vec<Option<PeerAddress>>,
    /// The peer does not want subflows to its first address (§3.1, flag C).
    avoids_first: bool,
    /// Announcements of this side's addresses that wait for an echo.
    announcements: Vec<Announcement>,
    /// Subflows that are to be opened again.
    reopenings: Vec<Reopening>,
    /// The peer called the failure of these subflows permanent (§3.6): they are not opened again.
    refused: Vec<Wanted>,
}

impl PathManagement {
    /// Knows this side's addresses, which are numbered in their order, and the peer's first.
    pub fn new(own: &[Addr], peer: (Addr, u16)) -> PathManagement {
        PathManagement {
            own: own.iter().copied().map(Some).collect(),
            peer: vec![Some(PeerAddress { addr: peer.0, port: peer.1 })],
            avoids_first: false,
            announcements: Vec::new(),
            reopenings: Vec::new(),
            refused: Vec::new(),
        }
    }

    /// The lowest identifier above all that this side has used; `None` when there is none left.
    pub fn next_id(&self) -> Option<u8> {
        u8::try_from(self.own.len()).ok()
    }

    /// One more address of this side; false where the address or the identifier is in use.
    pub fn add(&mut self, id: u8, addr: Addr) -> bool {
        let at = id as usize;
        let is_taken = self.own.get(at).is_some_and(Option::is_some);
        if is_taken || self.id_of(addr).is_some() {
            return false;
        }
        put(&mut self.own, at, addr);
        true
    }

    /// An address of this side is gone: its identifier. Nothing is announced or opened from there any
    /// more.
    pub fn remove(&mut self, addr: Addr) -> Option<u8> {
        let id = self.id_of(addr)?;
        self.own[id as usize] = None;
        self.announcements.retain(|known| known.id != id);
        self.reopenings.retain(|known| known.wanted.own != id as usize);
        Some(id)
    }

    /// An address of this side has this identifier; `None` where it is no address of this side.
    pub fn id_of(&self, addr: Addr) -> Option<u8> {
        self.own.iter().position(|own| *own == Some(addr)).map(|id| id as u8)
    }

    /// Returns this side's address with an identifier; `None` where it is gone.
    pub fn own(&self, id: u8) -> Option<Addr> {
        self.own.get(id as usize).copied().flatten()
    }

    /// The identifiers of this side's addresses beside the first; some may be gone.
    pub fn further(&self) -> impl Iterator<Item = u8> + use<> {
        (1..self.own.len()).map(|id| id as u8)
    }

    /// The peer does not want subflows to its first address, or does.
    pub fn set_avoids_first(&mut self, avoids_first: bool) {
        self.avoids_first = avoids_first;
    }

    /// The peer has announced an address, or joined from it. An identifier that is known keeps its
    /// address, which may have another port (§3.4.1).
    pub fn remember(&mut self, id: u8, addr: Addr, port: u16) -> Remembered {
        let known = self.peer.get(id as usize).copied().flatten();
        match known {
            Some(known) if known.addr != addr || known.port == port => return Remembered::No,
            None if self.peer_count() >= MOST_PEER_ADDRESSES => return Remembered::No,
            _ => put(&mut self.peer, id as usize, PeerAddress { addr, port }),
        }
        // What the peer has refused before was to another port.
        self.refused.retain(|wanted| wanted.peer != id as usize);
        if known.is_some() { Remembered::Port } else { Remembered::New }
    }

    /// Returns how many addresses of the peer are known.
    pub fn peer_count(&self) -> usize {
        self.peer.iter().flatten().count()
    }

    /// Addresses of the peer are gone.
    pub fn forget(&mut self, ids: &[u8]) {
        for id in ids {
            if let Some(address) = self.peer.get_mut(*id as usize) {
                *address = None;
            }
        }
        self.reopenings.retain(|known| !ids.contains(&(known.wanted.peer as u8)));
    }

    /// An address of this side was announced.
    pub fn on_announced(&mut self, id: u8) {
        self.announcements.push(Announcement { id, tries: 1 });
    }

    /// The peer has echoed an address of this side.
    pub fn on_echo(&mut self, id: u8) {
        self.announcements.retain(|known| known.id != id);
    }

    /// No echo has come: these are announced again.
    pub fn announce_again(&mut self) -> Vec<u8> {
        self.announcements.retain(|known| known.tries < MOST_ANNOUNCEMENTS);
        self.announcements.iter_mut().for_each(|known| known.tries += 1);
        self.announcements.iter().map(|known| known.id).collect()
    }

    /// The addresses that wait for an echo have been announced so often, the newest of them.
    pub fn announcement_tries(&self) -> Option<u32> {
        self.announcements.iter().map(|known| known.tries).min()
    }

    /// The subflows that `manager` wants, and those whose time to be opened again has come; none
    /// that the peer has refused for good (§3.6).
    pub fn wanted(&self, manager: PathManager, now: Time) -> Vec<Wanted> {
        let mut all = manager.wanted(self.own.len(), self.peer.len());
        all.extend(self.reopenings.iter().map(|known| known.wanted));
        let waits =
            |wanted| self.reopenings.iter().any(|known| known.wanted == wanted && known.at > now);
        all.retain(|wanted| !waits(*wanted) && !self.refused.contains(wanted));
        all
    }

    /// The ends of a subflow; `None` where one of the addresses is gone or not wanted, or they are
    /// of two families.
    pub fn ends(&self, wanted: Wanted, book: &AddressBook) -> Option<Ends> {
        let local = self.own.get(wanted.own).copied().flatten()?;
        let remote = self.peer.get(wanted.peer).copied().flatten()?;
        let is_avoided = self.avoids_first && wanted.peer == 0;
        if is_avoided || book.is_ipv6(local) != book.is_ipv6(remote.addr) {
            return None;
        }
        let own = (wanted.own as u8, local);
        Some(Ends { own, peer: (wanted.peer as u8, remote.addr, remote.port) })
    }

    /// A subflow was lost: it is opened again `after` that, doubled each time; false where the peer
    /// has refused it.
    pub fn reopen_later(&mut self, now: Time, wanted: Wanted, after: Span) -> bool {
        let before = self.reopenings.iter().position(|known| known.wanted == wanted);
        let tries = before.map_or(0, |at| self.reopenings.remove(at).tries);
        if self.refused.contains(&wanted) {
            return false;
        }
        let at = now + doubled(after, tries);
        self.reopenings.push(Reopening { wanted, at, tries: tries + 1 });
        true
    }

    /// The subflows whose date has come were to be opened: those that are under way wait for their
    /// end, the others (there are as many subflows as there may be) for another date.
    pub fn on_reopened(&mut self, now: Time, after: Span, is_open: impl Fn(Wanted) -> bool) {
        for known in self.reopenings.iter_mut().filter(|known| known.at <= now) {
            if is_open(known.wanted) {
                known.at = Time::NEVER;
            } else {
                known.at = now + doubled(after, known.tries);
                known.tries += 1;
            }
        }
    }

    /// The first date when a subflow is opened again.
    pub fn next_reopening(&self) -> Option<Time> {
        self.reopenings.iter().map(|known| known.at).min()
    }

    /// A subflow is open, and is no longer to be opened again.
    pub fn on_open(&mut self, wanted: Option<Wanted>) {
        self.reopenings.retain(|known| Some(known.wanted) != wanted);
    }

    /// A subflow is to be opened again.
    pub fn has_reopenings(&self) -> bool {
        !self.reopenings.is_empty()
    }

    /// No subflow is opened again any more.
    pub fn forget_reopenings(&mut self) {
        self.reopenings.clear();
    }

    /// The peer called the failure of a subflow permanent (§3.6).
    pub fn refuse(&mut self, wanted: Wanted) {
        self.refused.push(wanted);
    }

    /// Octets of what waits for echoes.
    pub fn memory(&self) -> u64 {
        (self.announcements.len() * size_of::<Announcement>()) as u64
    }
}

/// Doubles up to 64 times as much.
fn doubled(after: Span, tries: u32) -> Span {
    after.saturating_mul(1 << tries.min(6))
}

fn put<T: Clone>(list: &mut Vec<Option<T>>, at: usize, value: T) {
    if list.len() <= at {
        list.resize(at + 1, None);
    }
    list[at] = Some(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Addr = Addr(1);
    const B: Addr = Addr(2);
    const C: Addr = Addr(3);
    const SECOND: Wanted = Wanted { own: 1, ..Wanted::FIRST };

    fn at(s: u64) -> Time {
        Time::ZERO + Span::from_secs(s)
    }

    fn two() -> PathManagement {
        PathManagement::new(&[A, B], (C, 80))
    }

    #[test]
    fn identifiers_are_used_once() {
        let mut paths = two();
        assert_eq!((paths.id_of(B), paths.next_id()), (Some(1), Some(2)));
        assert!(!paths.add(7, A), "the address has an identifier");
        assert!(!paths.add(1, C), "the identifier has an address");
        assert!(paths.add(7, C));
        assert_eq!((paths.own(7), paths.own(3), paths.next_id()), (Some(C), None, Some(8)));
        assert_eq!(paths.remove(B), Some(1));
        assert_eq!((paths.remove(B), paths.own(1)), (None, None));
        assert_eq!(paths.further().collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7]);
        assert!(paths.add(255, B));
        assert_eq!(paths.next_id(), None);
    }

    #[test]
    fn announcements_are_repeated_until_they_are_echoed() {
        let mut paths = two();
        paths.add(2, C);
        paths.on_announced(1);
        assert_eq!((paths.announce_again(), paths.announcement_tries()), (vec![1], Some(2)));
        paths.on_announced(2);
        assert_eq!((paths.announce_again(), paths.announcement_tries()), (vec![1, 2], Some(2)));
        paths.on_echo(2);
        assert_eq!(paths.announce_again(), [1]);
        assert_eq!(paths.announce_again(), [], "four are enough");
        assert_eq!(paths.announcement_tries(), None);
        paths.on_announced(1);
        paths.remove(B);
        assert_eq!(paths.announce_again(), []);
    }

    #[test]
    fn a_peer_has_eight_addresses_at_most() {
        let mut paths = two();
        let is_new = |id: &u8| paths.remember(*id, Addr(100 + *id as u32), 80) == Remembered::New;
        let known = (0..=255).filter(is_new).count();
        assert_eq!((known, paths.peer_count()), (7, 8));
        paths.forget(&[3, 0]);
        assert_eq!(paths.remember(200, A, 80), Remembered::New);
        assert_eq!(paths.remember(3, B, 81), Remembered::New);
        let wanted = Wanted { peer: 3, ..Wanted::FIRST };
        let ends = Ends { own: (0, A), peer: (3, B, 81) };
        assert_eq!(paths.ends(wanted, &AddressBook::new()), Some(ends));
        assert_eq!(paths.ends(Wanted::FIRST, &AddressBook::new()), None, "it is gone");
    }

    /// RFC 8684 §3.4.1: an identifier keeps its address, and may have another port.
    #[test]
    fn an_address_may_have_another_port() {
        let mut paths = two();
        assert_eq!(paths.remember(3, B, 80), Remembered::New);
        assert_eq!(paths.remember(3, B, 80), Remembered::No, "the same again");
        assert_eq!(paths.remember(3, A, 81), Remembered::No, "another address");
        assert_eq!(paths.remember(3, B, 81), Remembered::Port);
        let wanted = Wanted { peer: 3, ..Wanted::FIRST };
        let ends = paths.ends(wanted, &AddressBook::new()).unwrap();
        assert_eq!(ends.peer, (3, B, 81));
    }

    #[test]
    fn a_peer_may_have_no_more_subflows_to_its_first_address() {
        let mut paths = two();
        assert!(paths.ends(SECOND, &AddressBook::new()).is_some());
        paths.set_avoids_first(true);
        assert_eq!(paths.ends(SECOND, &AddressBook::new()), None);
    }

    #[test]
    fn a_lost_subflow_is_opened_again_ever_later() {
        let mut paths = two();
        let second = Span::from_secs(1);
        assert_eq!(paths.wanted(PathManager::FullMesh, at(0)), [SECOND]);
        assert!(paths.reopen_later(at(0), SECOND, second));
        assert_eq!(paths.wanted(PathManager::FullMesh, at(0)), [], "not yet");
        assert_eq!(paths.next_reopening(), Some(at(1)));
        paths.on_reopened(at(1), second, |_| true);
        assert_eq!(paths.next_reopening(), Some(Time::NEVER), "under way");
        assert!(paths.reopen_later(at(1), SECOND, second));
        assert_eq!(paths.next_reopening(), Some(at(3)));
        paths.on_reopened(at(3), second, |_| false);
        assert_eq!(paths.next_reopening(), Some(at(7)), "there was no room for it");
        paths.on_open(Some(SECOND));
        assert!(!paths.has_reopenings());
    }

    /// RFC 8684 §3.6.
    #[test]
    fn what_the_peer_refuses_for_good_is_not_opened_again() {
        let mut paths = two();
        paths.reopen_later(at(0), Wanted::FIRST, Span::from_secs(1));
        assert_eq!(paths.wanted(PathManager::Single, at(1)), [Wanted::FIRST]);
        paths.refuse(Wanted::FIRST);
        assert_eq!(paths.wanted(PathManager::Single, at(1)), []);
        assert!(!paths.reopen_later(at(1), Wanted::FIRST, Span::from_secs(1)));
        assert!(!paths.has_reopenings());
    }

    #[test]
    fn nothing_is_opened_again_to_an_address_that_is_gone() {
        let mut paths = two();
        paths.reopen_later(at(0), SECOND, Span::from_secs(1));
        paths.forget(&[0]);
        assert!(!paths.has_reopenings());
        paths.reopen_later(at(0), SECOND, Span::from_secs(1));
        paths.remove(B);
        assert!(!paths.has_reopenings());
    }
}
