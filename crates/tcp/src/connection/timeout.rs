//! What the connection does by itself.

use super::Connection;
use super::extras::ExtraDue;
use crate::recovery::Scheme;
use crate::state::State;
use anabranch_endpoint::{CloseReason, Timer};
use anabranch_units::{Span, Time};

/// The shortest time that a timer which is set runs.
const TICK: Span = Span::from_micros(1);

impl Connection {
    pub(super) fn on_timeout(&mut self, now: Time) {
        if has_expired(&mut self.retransmission.timer, now) {
            self.on_retransmission_timeout(now);
        }
        if has_expired(&mut self.persist.timer, now) {
            self.on_probe_timer(now);
        }
        if has_expired(&mut self.receiver.delayed_ack, now) {
            self.on_ack_waited();
        }
        if self.phase.deadline() <= now {
            self.finish(CloseReason::Normal);
        }
        if self.scheme.deadline() <= now
            && let Some(from) = self.scheme.on_deadline(&mut self.sender, now)
        {
            if self.sender.watch.tells_losses() {
                let in_flight = self.scheme.in_flight(&self.sender);
                self.sender.tell_losses(now, in_flight);
            }
            self.restart_rto_from(from, now);
        }
        for due in ExtraDue::ALL {
            if self.extras.take_expired(due, now) {
                match due {
                    // Data leaves with the next polls.
                    ExtraDue::Pacing => {}
                    ExtraDue::Cork => {
                        self.extras.get().hold.cork_expired = true;
                        if self.extras.marks().is_some() {
                            self.push();
                        }
                    }
                    ExtraDue::KeepAlive => self.on_keep_alive_timer(now),
                    ExtraDue::Device => self.on_device_timer(now),
                    ExtraDue::UserTimeout => self.give_up_silent(CloseReason::TimedOut),
                    ExtraDue::Opening => {
                        if matches!(self.state(), State::SynSent | State::SynReceived) {
                            self.reset(CloseReason::TimedOut);
                        }
                    }
                }
            }
        }
    }

    /// A closed window is probed for as long as the peer answers (RFC 9293 §3.8.6.1, MUST-37), and
    /// where it does not, as often as data is sent again (§3.8.3, R2).
    fn on_probe_timer(&mut self, now: Time) {
        let is_closed = self.sender.nxt >= self.sender.peer_window.edge;
        if is_closed {
            self.on_repeat_under_user_timeout(now);
        }
        if is_closed && self.persist.is_given_up(self.config.max_retries) {
            return self.give_up_silent(CloseReason::TimedOut);
        }
        self.persist.on_expiry();
    }

    fn on_ack_waited(&mut self) {
        self.receiver.ack_now |= self.receiver.owes_ack();
        let rto = self.sender.rtt.rto();
        if let Some(timing) = &mut self.receiver.timing
            && self.receiver.ack_now
        {
            timing.on_waited(rto);
        }
    }

    /// RFC 6298 §5.4–5.6, RFC 9293 §3.8.3.
    fn on_retransmission_timeout(&mut self, now: Time) {
        if self.extras.ecn().is_some() && self.ends_hold() {
            return;
        }
        if self.retransmits_later(now) {
            return;
        }
        self.retransmission.on_expiry();
        let retries = self.retransmission.retries;
        self.pending.stalled |= retries == self.config.stalled_after;
        if matches!(self.state(), State::SynSent | State::SynReceived) {
            let limit = match self.state() {
                // The linear ones come on top, as in Linux.
                State::SynSent => self.config.syn_retries + self.config.syn_linear_timeouts,
                _ => self.config.syn_ack_retries,
            };
            if retries > limit {
                self.give_up_silent(CloseReason::TimedOut);
            } else {
                let linear =
                    self.state() == State::SynSent && retries <= self.config.syn_linear_timeouts;
                if !linear {
                    self.sender.rtt.on_timeout();
                }
                self.on_fast_open_failed(now);
                self.phase.repeat_syn();
            }
            return;
        }
        if retries > self.config.max_retries {
            self.give_up_silent(CloseReason::TimedOut);
            return;
        }
        self.suspect_black_hole(now);
        if !self.scheme.on_rto(&mut self.sender, now) {
            // A probe leaves instead: not a timeout.
            self.retransmission.take_back_expiry();
            self.restart_rto(now);
            return;
        }
        self.on_repeat_under_user_timeout(now);
    }

    pub(super) fn restart_rto(&mut self, now: Time) {
        self.restart_rto_from(now, now);
    }

    /// The retransmission timeout counts from a date that may have passed; the timer expires a tick after
    /// `now` at the earliest.
    fn restart_rto_from(&mut self, from: Time, now: Time) {
        if self.sender.flight() > 0 {
            let left = (from + self.sender.rtt.rto()).saturating_since(now);
            self.retransmission.restart(now, left.max(TICK));
        }
    }
}

/// A timer that has expired is stopped; false when it has not.
#[inline]
fn has_expired(timer: &mut Timer, now: Time) -> bool {
    let expired = timer.expired(now);
    if expired {
        timer.stop();
    }
    expired
}
