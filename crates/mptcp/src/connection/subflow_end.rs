//! The end of one subflow (RFC 8684 §3.3.3, §3.6): by FIN, by reset, by this side. What it
//! has not delivered is left to the others.

use super::{Connection, Due, Lifetime};
use anabranch_endpoint::CloseReason;
use anabranch_tcp::State as TcpState;
use anabranch_units::Time;
use anabranch_wire::TcpSegment;
use anabranch_wire::tcp::mptcp::{MptcpOption, ResetReason};

impl Connection {
    pub(super) fn close_subflow(&mut self, i: usize) {
        if self.subflows[i].is_open() {
            self.subflows[i].close();
            self.touch(i);
        }
    }

    /// The peer's FIN has come on a subflow. Before the end of its stream it means this
    /// subflow alone (§3.3.4).
    #[cold]
    pub(super) fn on_subflow_fin(&mut self, i: usize) {
        if self.session.is_multipath() && self.is_contiguous() && self.subflows[i].is_mute() {
            // It ends the stream of a peer that has fallen back: its last segments had no options.
            self.on_options_lost(i);
        }
        if let Some(fallback) = self.session.fallback_mut() {
            fallback.fin_waits = true;
            self.read_subflow(i);
        } else if self.session.is_multipath() && !self.receiver.has_ended() {
            // After the end of the stream it says no more than that: the peer still reads.
            self.reinject_all(i);
            self.close_subflow(i);
        }
    }

    /// A subflow has ended. It stays until its reset, if any, has left.
    #[cold]
    pub(super) fn on_subflow_closed(&mut self, now: Time, i: usize, reason: CloseReason) {
        let was_removed = self.subflows[i].is_removed();
        self.subflows[i].on_end();
        let none_left = self.subflows.alive() == 0;
        if !self.session.is_multipath() {
            // Those beside the one that is TCP now end without a word.
            if none_left {
                self.finish(reason);
            }
            return;
        }
        self.reinject_all(i);
        if self.is_closing() && none_left {
            return self.finish(CloseReason::Normal);
        }
        if self.lifetime != Lifetime::Open {
            return;
        }
        // Before the peer is known to have the keys nothing can join.
        let again = self.session.is_confirmed() && self.reopen_later(now, i, reason, was_removed);
        // After a FIN, or without the address, another path may be made yet (§3.3.3).
        let broken = reason == CloseReason::Normal || was_removed;
        let waits = self.session.is_passive() || again || self.session.is_confirmed() && broken;
        if none_left && !waits && !self.paths.has_reopenings() {
            self.finish(reason);
        } else if !self.subflows.has_one_in_use() && !self.timers.is_armed(Due::Linger) {
            let at = now + self.config.linger;
            self.timers.set(Due::Linger, at);
        }
    }

    /// Resets a subflow and says why (§3.6).
    #[cold]
    pub(super) fn drop_subflow(&mut self, i: usize, reason: ResetReason) {
        let transient = matches!(reason, ResetReason::Unspecified | ResetReason::Resources);
        let subflow = &mut self.subflows[i];
        subflow.reset_options = vec![MptcpOption::TcpRst { transient, reason: reason as u8 }];
        subflow.abort();
        self.touch(i);
    }

    /// What a reset says that TCP has believed.
    #[cold]
    pub(super) fn on_reset_options(&mut self, i: usize, segment: &TcpSegment) {
        if self.subflows[i].tcp.state() != TcpState::Closed || !self.session.is_multipath() {
            return;
        }
        for option in segment.options.mptcp() {
            match option {
                MptcpOption::Fastclose { key } => self.on_fast_close(*key),
                MptcpOption::TcpRst { transient: false, .. } => {
                    if let Some(wanted) = self.subflows.opened_as(i, self.session.is_passive()) {
                        self.paths.refuse(wanted);
                    }
                }
                _ => {}
            }
        }
    }
}
