//! Keep-alives (RFC 9293 §3.8.4) and the user timeout (§3.8.3; the local part
//! of RFC 5482). Both are off unless configured.
//!
//! A keep-alive repeats the last acknowledged octet's sequence number without
//! data, so that the peer answers. It is sent only when nothing has been heard
//! for `idle` and nothing of ours is outstanding; after `probes` of them
//! without an answer the connection is reset.
//!
//! The user timeout ends a connection when data, or the SYN, has gone without
//! acknowledgment for that long. A closed window that the peer keeps
//! confirming does not end it (§3.8.6.1), unless `user_timeout_from_repeats`
//! says so. Where there is one, it also says how long keep-alives may go
//! without an answer, in place of their number (RFC 5482 §4.2).

use super::Connection;
use super::extras::ExtraDue;
use crate::state::State;
use anabranch_endpoint::CloseReason;
use anabranch_units::Time;
use anabranch_wire::{Packet, TcpFlags};

/// What keep-alives know of the peer's silence.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KeepAliveState {
    /// Time at which the last segment came; `None` until somebody looks.
    heard: Option<Time>,
    /// Probes sent since then.
    sent: u32,
    due: bool,
}

impl KeepAliveState {
    pub fn on_heard(&mut self, now: Time) {
        (self.heard, self.sent) = (Some(now), 0);
    }

    /// One leaves now, whatever was heard.
    pub fn probe(&mut self) {
        self.due = true;
    }
}

impl Connection {
    /// The connection is established: idle time begins.
    pub(super) fn start_keep_alive(&mut self, now: Time) {
        if let Some(settings) = self.config.keep_alive {
            let extras = self.extras.get();
            extras.keep_alive.on_heard(now);
            extras.timers[ExtraDue::KeepAlive as usize].set(now + settings.idle);
        }
    }

    /// Keep-alives were switched on, or idle time has another length: the timer is due, and finds out
    /// how long there is to wait.
    pub(super) fn rethink_keep_alive(&mut self) {
        let alive = self.state().is_synchronized() && self.state() != State::TimeWait;
        if alive && self.config.keep_alive.is_some() {
            self.extras.get().timers[ExtraDue::KeepAlive as usize].set(Time::ZERO);
        }
    }

    /// Returns how many keep-alives went without an answer so far.
    pub(super) fn keep_alive_probes(&self) -> u32 {
        self.extras.peek().map_or(0, |extras| extras.keep_alive.sent)
    }

    /// The timer is armed lazily: it asks how long nothing was heard.
    pub(super) fn on_keep_alive_timer(&mut self, now: Time) {
        let (Some(settings), busy) = (self.config.keep_alive, self.is_busy()) else { return };
        let user_timeout = self.config.user_timeout;
        let extras = self.extras.get();
        let state = &mut extras.keep_alive;
        let heard = *state.heard.get_or_insert(now);
        let silence = now.saturating_since(heard);
        let next = if busy {
            state.sent = 0;
            now + settings.idle
        } else if silence < settings.idle {
            heard + settings.idle
        } else if user_timeout
            .map_or(state.sent >= settings.probes, |most| state.sent > 0 && silence >= most)
        {
            return self.reset(CloseReason::TimedOut);
        } else {
            state.sent += 1;
            state.due = true;
            now + settings.interval
        };
        extras.timers[ExtraDue::KeepAlive as usize].set(next);
    }

    /// Something of ours is outstanding or waits to be sent: retransmissions
    /// and window probes tell whether the peer lives.
    fn is_busy(&self) -> bool {
        self.sender.una < self.sender.max || self.sender.nxt < self.sender.end
    }

    /// `<SEQ=SND.NXT-1><ACK=RCV.NXT><CTL=ACK>` (§3.8.4). Its number lies outside of
    /// the peer's window, so that its ACK counts for nothing (§3.10.7.4): one that is
    /// owed leaves before it.
    pub(super) fn keep_alive(&mut self, now: Time) -> Option<Packet> {
        if !self.extras.some()?.keep_alive.due {
            return None;
        }
        if self.receiver.ack_now || self.receiver.owes_ack() {
            return Some(self.pure_ack(now));
        }
        self.extras.get().keep_alive.due = false;
        let mut segment = self.segment(self.iss.at(self.sender.max - 1), TcpFlags::ACK);
        self.acknowledge(now, &mut segment);
        Some(self.control(segment))
    }

    /// Something that must be acknowledged left.
    pub(super) fn start_user_timeout(&mut self, now: Time) {
        if let Some(limit) = self.config.user_timeout {
            let timer = &mut self.extras.get().timers[ExtraDue::UserTimeout as usize];
            if !timer.is_armed() {
                timer.set(now + limit);
            }
        }
    }

    /// Data leaves that is to be acknowledged.
    pub(super) fn on_data_under_user_timeout(&mut self, now: Time) {
        match self.config.manners.user_timeout_from_repeats {
            false => self.start_user_timeout(now),
            true if self.sender.una == self.sender.max => self.stop_user_timeout(),
            true => {}
        }
    }

    /// What was sent is to be sent again, or a closed window to be probed.
    pub(super) fn on_repeat_under_user_timeout(&mut self, now: Time) {
        if self.config.manners.user_timeout_from_repeats {
            self.start_user_timeout(now);
        }
    }

    fn stop_user_timeout(&mut self) {
        if let Some(extras) = self.extras.some() {
            extras.timers[ExtraDue::UserTimeout as usize].stop();
        }
    }

    /// Something was acknowledged.
    pub(super) fn restart_user_timeout(&mut self, now: Time) {
        if self.config.manners.user_timeout_from_repeats {
            return self.stop_user_timeout();
        }
        let waits = self.sender.una < self.sender.max;
        if let (Some(limit), Some(extras)) = (self.config.user_timeout, self.extras.some()) {
            let timer = &mut extras.timers[ExtraDue::UserTimeout as usize];
            if waits { timer.set(now + limit) } else { timer.stop() }
        }
    }
}
