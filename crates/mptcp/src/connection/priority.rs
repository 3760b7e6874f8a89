//! Backups (RFC 8684 §3.3.8): MP_PRIO.

use super::Connection;
use anabranch_wire::tcp::mptcp::MptcpOption;

impl Connection {
    /// Whether the subflow with this key is a backup from now on (§3.3.8).
    pub fn set_backup(&mut self, key: anabranch_wire::FlowKey, backup: bool) {
        let Some(i) = self.subflows.iter().position(|subflow| subflow.key() == key) else { return };
        self.subflows[i].backup = backup;
        self.readiness.forget_eligible();
        if !self.session.is_multipath() || !self.subflows[i].is_open() {
            return;
        }
        // Before it is open what its SYN said may have left: the first ACK says it again.
        let options = &mut self.subflows[i].options;
        options.retain(|option| !matches!(option, MptcpOption::Prio { .. }));
        options.push(MptcpOption::Prio { backup });
        if self.subflows[i].is_usable() {
            self.subflows[i].tcp.ask_for_ack();
            self.touch(i);
        }
    }
}
