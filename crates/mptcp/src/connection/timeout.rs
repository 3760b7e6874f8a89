//! What the connection does by itself: its timers, when they run and what they call.

use super::{Connection, Due};
use anabranch_endpoint::{CloseReason, Endpoint};
use anabranch_units::{Span, Time};

impl Connection {
    pub(super) fn on_timeout(&mut self, now: Time) {
        for i in (0..self.subflows.len()).rev() {
            let subflow = &mut self.subflows[i];
            if subflow.tcp.poll_timeout() <= now {
                subflow.tcp.handle_timeout(now);
                self.touch(i);
            }
            if self.subflows[i].signals.renew(now) {
                self.subflows.ask_for_ack(i, &mut self.readiness);
            }
            if self.subflows[i].timer().is_some_and(|timer| timer.expired(now)) {
                self.on_third_ack_timer(now, i);
            }
        }
        self.collect(now);
        for due in Due::ALL {
            if !self.timers.take_expired(now, due) {
                continue;
            }
            match due {
                Due::Retransmit => self.on_data_timeout(now),
                Due::Probe => self.on_probe_timer(now),
                Due::Announce => self.announce_again(now),
                Due::Reopen => self.reopen_due(now),
                Due::Linger => self.on_linger_timer(),
            }
        }
    }

    /// No subflow has come back; or both streams have ended, and a subflow waits
    /// for a FIN that will not come.
    fn on_linger_timer(&mut self) {
        for i in 0..self.subflows.len() {
            self.subflows[i].abort();
            self.touch(i);
        }
        let reason = if self.is_closing() { CloseReason::Normal } else { CloseReason::TimedOut };
        self.finish(reason);
    }

    /// The usual case of a long transfer: the timers of the stream are as they should be.
    #[inline]
    pub(super) fn is_armed(&self) -> bool {
        let outstanding = self.sender.has_outstanding();
        self.session.is_multipath()
            && !self.has_ended()
            && !self.sender.is_closed()
            && self.timers.is_armed(Due::Retransmit) == outstanding
            && !self.timers.is_armed(Due::Probe)
            && (outstanding || !self.sender.has_unsent())
    }

    /// Sets the timers of the stream, where they are not.
    #[inline(never)]
    pub(super) fn arm(&mut self, now: Time) {
        if self.has_ended() || self.subflows.is_empty() {
            return;
        }
        let multipath = self.session.is_multipath();
        let outstanding = self.sender.has_outstanding() || multipath && self.sender.owes_fin();
        let blocked = !outstanding && self.sender.has_unsent() && self.is_blocked();
        self.keep_timer(now, Due::Retransmit, outstanding && multipath);
        self.keep_timer(now, Due::Probe, blocked);
        if self.is_closing() {
            self.keep_timer(now, Due::Linger, true);
        }
    }

    /// The peer's window is closed, or open by too little, or those of all subflows that may carry
    /// data are (§3.3.5), or what there is waits for more.
    fn is_blocked(&self) -> bool {
        // Backups are not for data that waits for the windows of others.
        let preferred = self.subflows.preferred(self.subflows.usable());
        self.is_corked_up()
            || self.sender.room(self.subflows.mss()) == 0
            || preferred != 0 && preferred & !self.subflows.closed(&self.sender) == 0
    }

    /// A timer runs as long as it is wanted.
    #[inline]
    fn keep_timer(&mut self, now: Time, due: Due, wanted: bool) {
        if !wanted {
            self.timers.stop(due);
        } else if !self.timers.is_armed(due) {
            self.start_timer(now, due);
        }
    }

    #[cold]
    fn start_timer(&mut self, now: Time, due: Due) {
        let after = match due {
            Due::Retransmit => {
                let doublings = self.sender.start_retransmission_timer(now);
                self.backed_off(doublings)
            }
            Due::Probe => self.backed_off(self.sender.tries().1),
            _ => self.config.linger,
        };
        self.timers.set(due, now + after);
    }

    /// The longest timeout of the subflows after so many doublings, up to where that of TCP
    /// grows: the connection is as patient as TCP.
    fn backed_off(&self, doublings: u32) -> Span {
        let rto = self.subflows.longest_rto();
        let most = self.config.subflow.rto.max.max(rto);
        rto.saturating_mul(1 << doublings.min(20)).min(most)
    }
}
