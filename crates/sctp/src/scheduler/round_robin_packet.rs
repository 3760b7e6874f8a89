//! Round robin by packets (RFC 8260 §3.3) gives a packet messages of one stream alone, so that its
//! loss holds up one stream alone. Without interleaving a message that was begun is ended first.

use super::{Account, Discipline, Key};

#[derive(Debug, Default)]
pub(super) struct RoundRobinPacket {
    turns: u64,
}

impl Discipline for RoundRobinPacket {
    fn join(&mut self, _: &mut Account) -> Key {
        self.turns += 1;
        (self.turns, 0)
    }

    fn again(&mut self, account: &mut Account, _: u64) -> Key {
        self.join(account)
    }

    fn by_packet(&self) -> bool {
        true
    }
}
