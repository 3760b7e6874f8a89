//! What the connection does by itself.

use super::{Connection, Due};
use anabranch_endpoint::{ByteStream, CloseReason, Endpoint};
use anabranch_tcp::Range;
use anabranch_units::Time;

impl Connection {
    pub(super) fn on_timeout(&mut self, now: Time) {
        for i in (0..self.subflows.len()).rev() {
            let it = &mut self.subflows[i];
            if it.tcp.poll_timeout() <= now {
                it.tcp.handle_timeout(now);
                self.touch(i);
            }
            if self.subflows[i].timer.expired(now) {
                self.subflows[i].timer.stop();
                self.on_third_ack_timer(now, i);
            }
        }
        self.collect(now);
        for due in Due::ALL {
            if !self.timer(due).expired(now) {
                continue;
            }
            self.timer(due).stop();
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
        if self.closing {
            for i in 0..self.subflows.len() {
                self.subflows[i].tcp.abort();
                self.touch(i);
            }
            self.finish(CloseReason::Normal);
        } else {
            self.finish(CloseReason::TimedOut);
        }
    }

    /// Something new has a DATA_ACK.
    pub(super) fn on_data_acked(&mut self, now: Time) {
        self.retries = 0;
        self.progress = now;
        if self.out.blocked {
            self.out.blocked = false;
            self.pending.writable = true;
        }
    }

    /// Data has waited for its DATA_ACK for longer than any subflow's timeout
    /// (§3.3.6). Where a subflow that answers still carries it, that subflow
    /// sees to it; otherwise it is sent again.
    fn on_data_timeout(&mut self, now: Time) {
        // A DATA_ACK since the timer was set moves it; without one it is as set.
        let due = self.progress + self.longest_rto();
        if self.retries == 0 && due > now {
            self.timer(Due::Retransmit).set(due);
            return;
        }
        self.retries += 1;
        if !self.confirmed && !self.passive {
            // The peer may not even know the keys.
            if let Some(first) = self.subflows.first_mut() {
                first.tcp.ask_peer_for_ack();
                self.touch(0);
            }
        } else if self.out.owes_fin() {
            self.tell_peer();
        }
        let una = self.out.una;
        let mut carriers = 0;
        let mut alive = false;
        for it in &self.subflows {
            if it.sent.carrying(una).is_some() {
                carriers |= it.bit();
                alive |= it.is_usable() && !it.failed;
            }
        }
        if una < self.out.nxt && !alive {
            let end = self.out.nxt.min(una + self.mss());
            self.out.set_carriers(una, carriers);
            self.out.reinject(Range { start: una, end }, carriers);
        }
        self.arm(now);
    }

    /// The window is closed, or open by too little, and nothing is outstanding.
    fn on_probe_timer(&mut self, now: Time) {
        self.probes += 1;
        if self.out.edge > self.out.nxt {
            self.override_silly = true; // RFC 9293 §3.8.6.2.1
        } else if let Some(i) = self.best() {
            self.subflows[i].tcp.ask_peer_for_ack();
            self.touch(i);
        }
        self.arm(now);
    }
}
