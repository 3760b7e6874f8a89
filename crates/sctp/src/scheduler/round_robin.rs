//! Round robin (RFC 8260 §3.2) takes a message of each stream in turn, or with interleaving a
//! chunk.

use super::{Account, Discipline, Key};

#[derive(Debug, Default)]
pub(super) struct RoundRobin {
    turns: u64,
}

impl Discipline for RoundRobin {
    fn join(&mut self, _: &mut Account) -> Key {
        self.turns += 1;
        (self.turns, 0)
    }

    fn again(&mut self, account: &mut Account, _: u64) -> Key {
        self.join(account)
    }
}
