//! Ends: of the stream (DATA_FIN, RFC 8684 §3.3.3), of subflows (§3.3.4, §3.6),
//! of everything at once (MP_FASTCLOSE, §3.5).
//!
//! Subflows are closed when both DATA_FINs have been acknowledged; a subflow that
//! ends earlier leaves what it has not delivered to the others.

use super::{Connection, Due, Phase, Reopening};
use crate::path_manager::Wanted;
use anabranch_endpoint::{ByteStream, CloseReason, Endpoint};
use anabranch_tcp::State as TcpState;
use anabranch_units::Time;
use anabranch_wire::TcpSegment;
use anabranch_wire::tcp::mptcp::{MptcpOption, ResetReason};

impl Connection {
    /// The user has closed: the DATA_FIN rides on the last data, or leaves with
    /// an ACK.
    pub(super) fn on_closed_by_user(&mut self) {
        match self.phase {
            Phase::Opening if self.passive && self.subflows[0].tcp.state() == TcpState::Listen => {
                self.subflows[0].tcp.close();
                self.finish(CloseReason::Aborted);
            }
            Phase::Multipath if self.out.owes_fin() => {
                if !self.confirmed && !self.passive {
                    self.subflows[0].tcp.ask_peer_for_ack();
                    self.touch(0);
                } else {
                    self.tell_peer_everywhere();
                }
            }
            _ => self.end_if_done(),
        }
    }

    /// Closes the subflows when there is nothing more to say.
    #[inline]
    pub(super) fn end_if_done(&mut self) {
        if self.out.closed {
            self.end_if_all_is_said();
        }
    }

    fn end_if_all_is_said(&mut self) {
        match self.phase {
            Phase::Opening => {}
            Phase::Fallback => {
                let all_given = self.out.closed && self.out.unsent() == 0;
                if all_given
                    && let Some(only) = self.subflows.first_mut()
                    && !only.closed
                {
                    only.closed = true;
                    only.tcp.close();
                    self.touch(0);
                }
            }
            Phase::Multipath if self.out.is_done() && self.inc.has_ended() && !self.closing => {
                self.closing = true;
                self.reopenings.clear();
                for i in 0..self.subflows.len() {
                    self.close_subflow(i);
                }
            }
            Phase::Multipath => {}
        }
    }

    fn close_subflow(&mut self, i: usize) {
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
        } else if self.phase == Phase::Multipath && !self.inc.has_ended() {
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
        } else if none_left && !self.timer(Due::Linger).is_armed() {
            let at = now + self.config.linger;
            self.timer(Due::Linger).set(at);
        }
    }

    /// A subflow that was lost is opened again after a while; false when it is
    /// not.
    fn reopen_later(&mut self, now: Time, i: usize, reason: CloseReason) -> bool {
        let lost = !matches!(reason, CloseReason::Normal);
        let Some(after) = self.config.reopen.filter(|_| lost) else { return false };
        // What the peer opened is the peer's to open again.
        let Some(wanted) = self.opened_as(i) else { return false };
        if self.subflows[i].removed {
            return false;
        }
        let before = self.reopenings.iter().position(|it| it.wanted == wanted);
        let tries = before.map_or(0, |at| self.reopenings.remove(at).tries);
        if self.refused.contains(&wanted) {
            return false;
        }
        let at = now + after.saturating_mul(1 << tries.min(6));
        self.reopenings.push(Reopening { wanted, at, tries: tries + 1 });
        self.arm_reopening();
        true
    }

    /// Which of the path manager's subflows it is, where this side opened it.
    fn opened_as(&self, i: usize) -> Option<Wanted> {
        let it = &self.subflows[i];
        let first = !self.passive && it.key() == self.first;
        it.wanted.or(first.then_some(Wanted::FIRST))
    }

    /// Takes a subflow away that has ended and has nothing more to send.
    #[cold]
    pub(super) fn bury(&mut self, i: usize) {
        let it = self.subflows.remove(i);
        self.keys.remove(i);
        let bit = it.bit();
        self.dirty &= !bit;
        self.full &= !bit;
        self.roomy &= !bit;
        self.uncollected &= !bit;
        self.polled &= !bit;
        self.contenders = 0;
        self.told &= !bit;
        self.out.reinjections.iter_mut().for_each(|it| it.carried &= !bit);
        self.ledger.retire(it.path, &it.observe(), &it.tcp.observe());
        self.find_soonest();
    }

    /// Subflows that have not ended.
    pub(super) fn alive(&self) -> usize {
        self.subflows.iter().filter(|it| !it.gone).count()
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

    /// Everything ends now, and the peer hears of it (§3.5): by resets with
    /// MP_FASTCLOSE on every subflow.
    pub(super) fn abort_all(&mut self, reason: CloseReason) {
        let multipath = self.phase == Phase::Multipath;
        let key = self.peer_key.0;
        for i in 0..self.subflows.len() {
            let it = &mut self.subflows[i];
            if !it.gone {
                it.farewell = multipath.then_some(MptcpOption::Fastclose { key });
                it.closed = true;
                it.tcp.abort();
                self.touch(i);
            }
        }
        self.finish(reason);
    }

    /// MP_FASTCLOSE with this side's key: the peer has aborted.
    pub(super) fn on_fast_close(&mut self, key: u64) {
        if key != self.key.0 || self.ended {
            return;
        }
        for i in 0..self.subflows.len() {
            if !self.subflows[i].gone {
                let reason = ResetReason::Unspecified as u8;
                self.subflows[i].farewell = Some(MptcpOption::TcpRst { transient: false, reason });
                self.subflows[i].closed = true;
                self.subflows[i].tcp.abort();
                self.touch(i);
            }
        }
        self.finish(CloseReason::Reset);
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
