//! Strict priority (RFC 8260 §3.4) serves the stream with the lowest value first, and goes round
//! robin between equals. With interleaving a message of a more urgent stream overtakes one that was
//! begun.

use super::{Account, Discipline, Key};

#[derive(Debug, Default)]
pub(super) struct Priority {
    turns: u64,
}

impl Discipline for Priority {
    fn join(&mut self, account: &mut Account) -> Key {
        self.turns += 1;
        (account.value as u64, self.turns)
    }

    fn again(&mut self, account: &mut Account, _: u64) -> Key {
        self.join(account)
    }
}
