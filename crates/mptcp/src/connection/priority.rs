//! Backups (RFC 8684 §3.3.8): MP_PRIO, and which subflows are liked the best.

use super::{Connection, Phase};
use crate::subflow::Subflow;
use anabranch_wire::tcp::mptcp::MptcpOption;

impl Connection {
    /// Whether the subflow with this key is a backup from now on (§3.3.8).
    pub fn set_backup(&mut self, key: anabranch_wire::FlowKey, backup: bool) {
        let Some(i) = self.subflows.iter().position(|it| it.key() == key) else { return };
        self.subflows[i].backup = backup;
        self.readiness.forget_eligible();
        if self.phase != Phase::Multipath || self.subflows[i].closed {
            return;
        }
        // Before it is open what its SYN said may have left: the first ACK says it again.
        let options = &mut self.subflows[i].options;
        options.retain(|it| !matches!(it, MptcpOption::Prio { .. }));
        options.push(MptcpOption::Prio { backup });
        if self.subflows[i].is_usable() {
            self.subflows[i].tcp.ask_for_ack();
            self.touch(i);
        }
    }

    /// How little a subflow is liked (RFC 8684 §3.3.8): backups, and those that
    /// do not answer, only without others.
    pub(super) fn rank(it: &Subflow) -> u32 {
        it.is_backup() as u32 + 2 * it.failed as u32
    }

    /// Of the subflows in `among` those that are liked the best.
    pub(super) fn liked(&self, among: u64) -> u64 {
        let (mut best, mut liked) = (u32::MAX, 0);
        for it in self.subflows.iter().filter(|it| among & it.bit() != 0) {
            let rank = Connection::rank(it);
            if rank < best {
                (best, liked) = (rank, 0);
            }
            liked |= if rank == best { it.bit() } else { 0 };
        }
        liked
    }
}
