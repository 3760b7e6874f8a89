//! MP_FASTCLOSE (RFC 8684 §3.5): everything ends at once.

use super::Connection;
use anabranch_endpoint::CloseReason;
use anabranch_wire::tcp::mptcp::{MptcpOption, ResetReason};

impl Connection {
    /// Everything ends now, and the peer hears of it (§3.5): by resets with
    /// MP_FASTCLOSE on every subflow.
    pub(super) fn abort_all(&mut self, reason: CloseReason) {
        let peer_key = self.session.peer_key().filter(|_| self.session.is_multipath());
        // As on Linux the resets have a reason, too: nothing is wrong.
        let why = MptcpOption::TcpRst { transient: false, reason: 0 };
        let options = peer_key.map(|key| vec![MptcpOption::Fastclose { key: key.0 }, why]);
        for i in 0..self.subflows.len() {
            let subflow = &mut self.subflows[i];
            if !subflow.is_gone() {
                subflow.reset_options = options.clone().unwrap_or_default();
                subflow.abort();
                self.touch(i);
            }
        }
        self.finish(reason);
    }

    /// MP_FASTCLOSE with this side's key: the peer has aborted.
    pub(super) fn on_fast_close(&mut self, key: u64) {
        if key != self.session.key().0 || self.has_ended() {
            return;
        }
        for i in 0..self.subflows.len() {
            let subflow = &mut self.subflows[i];
            if !subflow.is_gone() {
                let reason = ResetReason::Unspecified as u8;
                subflow.reset_options = vec![MptcpOption::TcpRst { transient: false, reason }];
                subflow.abort();
                self.touch(i);
            }
        }
        self.finish(CloseReason::Reset);
    }
}
