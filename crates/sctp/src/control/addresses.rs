//! Changes of this side's addresses, and answers to the peer's, are here (RFC 5061): one ASCONF of
//! a side is outstanding at a time (§5.1), with one change.

pub(crate) mod refusal;

use crate::paths::Removal;
use anabranch_endpoint::Timer;
use anabranch_units::{Serial32, Time};
use anabranch_wire::Addr;
use anabranch_wire::sctp::{AddressChange, Cause, Chunk, Parameter};
use std::collections::VecDeque;
use std::fmt;

/// An `AddressError` says why a change of the addresses was not begun.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AddressError {
    /// One of the sides does not offer `dynamic_addresses`, or the state is none of ESTABLISHED,
    /// SHUTDOWN-PENDING and SHUTDOWN-SENT, or the peer has said that it does not know such a
    /// change.
    NotAvailable,
    /// The address belongs to this side already, or does not belong to it.
    Unfit(Addr),
    /// It is the last address of this side.
    Last,
    /// Too many changes wait.
    TooMany,
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AddressError::NotAvailable => f.write_str("addresses cannot be changed now"),
            AddressError::Unfit(addr) => write!(f, "address {} cannot be changed so", addr.0),
            AddressError::Last => f.write_str("the last address must stay"),
            AddressError::TooMany => f.write_str("too many changes wait"),
        }
    }
}
impl std::error::Error for AddressError {}

/// At most this many changes wait, the outstanding one included.
const MAX_WISHES: usize = 16;

/// At most this many answers are kept; a packet of the peer's with more ASCONFs gets the last ones
/// again.
const MAX_ANSWERS: usize = 16;

/// `Addresses` exist once addresses were to be changed, by either side.
#[derive(Debug)]
pub(crate) struct Addresses {
    /// `serial` is the number of this side's next ASCONF, or of the one outstanding.
    serial: Serial32,
    /// `expected` is the number of the peer's next ASCONF.
    expected: Serial32,
    /// `asked` is the ASCONF that is outstanding.
    asked: Option<Chunk>,
    /// `wishes` are the changes that this side wants, the outstanding one first.
    wishes: VecDeque<(AddressChange, Addr)>,
    /// `answered` are this side's last ASCONF-ACKs, for a peer that did not get them (§5.2 E1).
    answered: VecDeque<(Serial32, Chunk)>,
    /// `path` is the index of the path that the outstanding ASCONF left on last.
    path: usize,
    /// `unknown` are the changes that the peer has said it does not know.
    unknown: Vec<AddressChange>,
    /// `timer` is T4-rto.
    pub timer: Timer,
}

/// An `Outcome` says what the peer made of a change of this side's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Outcome {
    /// `change` is the kind of the change.
    pub change: AddressChange,
    /// `address` is the own address that was to change.
    pub address: Addr,
    /// `accepted` says that the peer took the change.
    pub accepted: bool,
}

impl Outcome {
    /// Returns whether the address does not belong to this side any more: it was taken away, or
    /// never taken.
    pub fn ends(&self) -> bool {
        (self.change == AddressChange::Delete) == self.accepted
            && self.change != AddressChange::SetPrimary
    }
}

impl Addresses {
    /// `starting_at` makes a state in which nothing was asked for; the initial TSNs are `ours` and
    /// `theirs`, which are the first numbers (§5.1 C1).
    pub fn starting_at(ours: Serial32, theirs: Serial32) -> Addresses {
        Addresses {
            serial: ours,
            expected: theirs,
            asked: None,
            wishes: VecDeque::new(),
            answered: VecDeque::new(),
            path: 0,
            unknown: Vec::new(),
            timer: Timer::IDLE,
        }
    }

    /// Adds a change that this side wants.
    pub fn wish(&mut self, change: AddressChange, addr: Addr) -> Result<(), AddressError> {
        if self.unknown.contains(&change) {
            return Err(AddressError::NotAvailable);
        }
        if self.wishes.len() == MAX_WISHES {
            return Err(AddressError::TooMany);
        }
        self.wishes.push_back((change, addr));
        Ok(())
    }

    /// Returns whether the change waits, or is outstanding.
    pub fn is_wished(&self, change: AddressChange, addr: Addr) -> bool {
        self.wishes.contains(&(change, addr))
    }

    /// Returns whether the change is that of the ASCONF that is outstanding.
    pub fn is_asked(&self, change: AddressChange, addr: Addr) -> bool {
        self.asked.is_some() && self.wishes.front() == Some(&(change, addr))
    }

    /// Drops the changes that `is` names, and returns them.
    pub fn give_up(
        &mut self,
        is: impl Fn(AddressChange, Addr) -> bool,
    ) -> Vec<(AddressChange, Addr)> {
        let wishes = std::mem::take(&mut self.wishes).into_iter();
        let (gone, left): (Vec<_>, Vec<_>) = wishes.partition(|wish| is(wish.0, wish.1));
        self.wishes = left.into();
        gone
    }

    /// Returns the index of the path that the outstanding ASCONF left on last.
    pub fn path(&self) -> usize {
        self.path
    }

    /// Changes the index of the path as the removal of a path asks.
    pub fn follow(&mut self, removal: Removal) {
        self.path = removal.moved(self.path);
    }

    /// Makes the next ASCONF, if none is outstanding and a change waits; `local` are the own
    /// addresses. Returns whether it did: [`Addresses::send`] has it.
    pub fn ask(&mut self, local: &[Addr]) -> bool {
        let (None, Some((change, addr))) = (&self.asked, self.wishes.front().copied()) else {
            return false;
        };
        // §4.1.1: an address of the association, by which the peer finds it.
        let known = local.iter().copied().find(|own| *own != addr).unwrap_or(addr);
        let (correlation, address) = (self.serial.0, addr.into());
        let change = Parameter::ChangeAddress { change, correlation, address };
        let parameters = vec![Parameter::Address(known.into()), change];
        self.asked = Some(Chunk::Asconf { serial: self.serial, parameters });
        true
    }

    /// Returns the outstanding ASCONF, which leaves on `path`, perhaps again; T4-rto expires at
    /// `deadline`.
    pub fn send(&mut self, path: usize, deadline: Time) -> Option<Chunk> {
        self.timer.stop();
        let asconf = self.asked.clone()?;
        self.path = path;
        self.timer.set(deadline);
        Some(asconf)
    }

    /// Handles an ASCONF-ACK (§5.1 D). Returns what became of the change, if it answers the one
    /// that is outstanding.
    pub fn on_ack(&mut self, serial: Serial32, parameters: &[Parameter]) -> Option<Outcome> {
        if self.asked.is_none() || self.serial != serial {
            return None;
        }
        self.asked = None;
        self.timer.stop();
        self.serial = serial.add(1);
        let (change, address) = self.wishes.pop_front()?;
        let refusal = parameters.iter().find_map(|p| match p {
            Parameter::ErrorIndication { correlation, causes } if *correlation == serial.0 => {
                Some(causes)
            }
            _ => None,
        });
        // §5.3 F3a, F3b: such a change is not asked for again.
        let unknown = |cause: &Cause| matches!(cause, Cause::UnrecognizedParameters(_));
        if refusal.is_some_and(|causes| causes.iter().any(unknown)) {
            self.unknown.extend(match change {
                AddressChange::SetPrimary => &[AddressChange::SetPrimary][..],
                _ => &[AddressChange::Add, AddressChange::Delete],
            });
        }
        Some(Outcome { change, address, accepted: refusal.is_none() })
    }

    /// Returns whether an answer with this number answers what was not asked yet (§5.3 F0).
    pub fn is_ahead(&self, serial: Serial32) -> bool {
        self.asked.is_none() && serial.distance_from(self.serial) >= 0
    }

    /// Returns whether the peer's next ASCONF has this number.
    pub fn is_next(&self, serial: Serial32) -> bool {
        serial == self.expected
    }

    /// Keeps the answer to the peer's next ASCONF, which has these parameters.
    pub fn settle(&mut self, serial: Serial32, parameters: Vec<Parameter>) {
        self.answered.push_back((serial, Chunk::AsconfAck { serial, parameters }));
        if self.answered.len() > MAX_ANSWERS {
            self.answered.pop_front();
        }
        self.expected = serial.add(1);
    }

    /// Returns the answer to the ASCONF with this number, if that is kept (§5.2 E).
    pub fn answer(&self, serial: Serial32) -> Option<Chunk> {
        let found = self.answered.iter().find(|answered| answered.0 == serial);
        found.map(|answered| answered.1.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_units::Span;

    const OWN: [Addr; 2] = [Addr(1), Addr(2)];

    fn late() -> Time {
        Time::ZERO + Span::from_secs(1)
    }

    /// RFC 5061 §5.1: one at a time; the peer finds the association by another address.
    #[test]
    fn changes_leave_one_by_one_until_they_are_answered() {
        let mut addresses = Addresses::starting_at(Serial32(5), Serial32(9));
        assert!(!addresses.ask(&OWN));
        addresses.wish(AddressChange::Add, OWN[1]).unwrap();
        addresses.wish(AddressChange::Delete, OWN[0]).unwrap();
        assert!(addresses.ask(&OWN) && !addresses.ask(&OWN));
        let Some(Chunk::Asconf { serial, parameters }) = addresses.send(1, late()) else {
            panic!()
        };
        assert_eq!((serial, &parameters[0]), (Serial32(5), &Parameter::Address(OWN[0].into())));
        assert_eq!((addresses.timer.deadline(), addresses.path()), (late(), 1));
        assert_eq!(addresses.on_ack(Serial32(4), &[]), None, "an answer to none of ours");
        let outcome = addresses.on_ack(Serial32(5), &[]).unwrap();
        assert!(outcome.accepted && !outcome.ends() && !addresses.timer.is_armed());
        assert!(!addresses.is_wished(AddressChange::Add, OWN[1]));
        assert!(addresses.ask(&OWN));
        let refusal = Parameter::ErrorIndication { correlation: 6, causes: Vec::new() };
        let outcome = addresses.on_ack(Serial32(6), &[refusal]).unwrap();
        assert!(!outcome.accepted && !outcome.ends(), "what was refused is as it was before");
    }

    #[test]
    fn an_address_ends_when_it_was_taken_away_or_never_taken() {
        for (change, accepted, ends) in [
            (AddressChange::Add, true, false),
            (AddressChange::Add, false, true),
            (AddressChange::Delete, true, true),
            (AddressChange::Delete, false, false),
            (AddressChange::SetPrimary, true, false),
            (AddressChange::SetPrimary, false, false),
        ] {
            let outcome = Outcome { change, address: OWN[0], accepted };
            assert_eq!(outcome.ends(), ends, "{outcome:?}");
        }
    }

    /// RFC 5061 §5.2: the last answers are given again, those before and later ASCONFs get none.
    #[test]
    fn the_peers_changes_are_answered_once_and_again() {
        let mut addresses = Addresses::starting_at(Serial32(5), Serial32(9));
        assert!(addresses.is_next(Serial32(9)) && addresses.answer(Serial32(8)).is_none());
        addresses.settle(Serial32(9), Vec::new());
        assert!(addresses.answer(Serial32(9)).is_some() && addresses.is_next(Serial32(10)));
        assert!(
            addresses.answer(Serial32(8)).is_none() && addresses.answer(Serial32(11)).is_none()
        );
        (10..27).for_each(|serial| addresses.settle(Serial32(serial), Vec::new()));
        let kept = (0..40).filter(|serial| addresses.answer(Serial32(*serial)).is_some());
        assert_eq!(kept.collect::<Vec<_>>(), (11..27).collect::<Vec<_>>());
    }
}
