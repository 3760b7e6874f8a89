//! The end of one subflow (RFC 8684 §3.3.3, §3.6): by FIN, by reset, by this side. What it
//! has not delivered is left to the others.

use super::{Connection, Due, Phase};
use anabranch_endpoint::{ByteStream, CloseReason};
use anabranch_tcp::State as TcpState;
use anabranch_units::Time;
use anabranch_wire::TcpSegment;
use anabranch_wire::tcp::mptcp::{MptcpOption, ResetReason};

impl Connection {
    pub(super) fn close_subflow(&mut self, i: usize) {
        let it = &mut self.subflows[i];
        if !it.closed {
            it.closed = true;
            // A handshake that is under way is not worth finishing.
            if it.tcp.state().is_synchronized() {
                it.tcp.close();
            } else {
                it.tcp.abort();
            }
            self.touch(i);
        }
    }

    /// The peer's FIN on a subflow. Before the end of its stream it means this
    /// subflow alone (§3.3.4).
    #[cold]
    pub(super) fn on_subflow_fin(&mut self, i: usize) {
        if self.phase == Phase::Fallback {
            self.pending.peer_closed = true;
        } else if self.phase == Phase::Multipath && !self.receiver.has_ended() {
            // After the end of the stream it says no more than that: the peer still reads.
            self.reinject_all(i);
            self.close_subflow(i);
        }
    }

    /// A subflow has ended. It stays until its reset, if any, has left.
    #[cold]
    pub(super) fn on_subflow_closed(&mut self, now: Time, i: usize, reason: CloseReason) {
        self.subflows[i].gone = true;
        self.subflows[i].timer.stop();
        if self.phase != Phase::Multipath {
            return self.finish(reason);
        }
        self.reinject_all(i);
        let none_left = self.alive() == 0;
        if self.closing && none_left {
            return self.finish(CloseReason::Normal);
        }
        if self.ended || self.closing {
            return;
        }
        // Before the peer is known to have the keys nothing can join.
        let again = self.confirmed && self.reopen_later(now, i, reason);
        // After a FIN, or without the address, another path may be made yet (§3.3.3).
        let broken = reason == CloseReason::Normal || self.subflows[i].removed;
        let waits = self.passive || again || self.confirmed && broken;
        if none_left && !waits && self.reopenings.is_empty() {
            self.finish(reason);
        } else if !self.has_subflow_in_use() && !self.timer(Due::Linger).is_armed() {
            let at = now + self.config.linger;
            self.timer(Due::Linger).set(at);
        }
    }

    /// A subflow whose handshake is over. One that is being opened may never answer, and another attempt
    /// follow it, for ever.
    fn has_subflow_in_use(&self) -> bool {
        self.subflows.iter().any(|it| !it.gone && it.tcp.state().is_synchronized())
    }

    /// Resets a subflow and says why (§3.6).
    #[cold]
    pub(super) fn drop_subflow(&mut self, i: usize, reason: ResetReason) {
        let transient = matches!(reason, ResetReason::Unspecified | ResetReason::Resources);
        let it = &mut self.subflows[i];
        it.farewell = Some(MptcpOption::TcpRst { transient, reason: reason as u8 });
        it.closed = true;
        it.tcp.abort();
        self.touch(i);
    }

    /// What a reset says that TCP has believed.
    #[cold]
    pub(super) fn on_reset_options(&mut self, i: usize, segment: &TcpSegment) {
        if self.subflows[i].tcp.state() != TcpState::Closed || self.phase != Phase::Multipath {
            return;
        }
        for option in segment.options.mptcp() {
            match option {
                MptcpOption::Fastclose { key } => self.on_fast_close(*key),
                MptcpOption::TcpRst { transient: false, .. } => {
                    self.refused.extend(self.opened_as(i));
                }
                _ => {}
            }
        }
    }
}
