//! What became of the subflows by a segment or a deadline: their octets, what is
//! acknowledged, their events.

use super::Connection;
use crate::subflow::Stage;
use anabranch_endpoint::{Endpoint, Event};
use anabranch_tcp::State as TcpState;
use anabranch_units::Time;

impl Connection {
    /// Collects octets, events and ends of the subflows, after segments and deadlines.
    #[inline]
    pub(super) fn collect(&mut self, now: Time) {
        loop {
            let waiting = self.uncollected();
            if waiting.is_power_of_two() {
                if let Some(i) = self.subflows.position(waiting.trailing_zeros()) {
                    self.collect_one(now, i);
                }
            } else {
                for i in 0..self.subflows.len() {
                    if self.uncollected() & self.subflows[i].bit() != 0 {
                        self.collect_one(now, i);
                    }
                }
            }
            let was_closing = self.is_closing();
            self.end_if_done();
            if self.is_closing() == was_closing {
                return; // or handshakes may have ended with it
            }
        }
    }

    #[inline]
    pub(super) fn collect_one(&mut self, now: Time, i: usize) {
        let subflow = &mut self.subflows[i];
        self.readiness.collect(subflow.id);
        if subflow.is_gone() {
            return;
        }
        if subflow.tcp.readable() > 0 {
            self.read_subflow(i);
        }
        let subflow = &mut self.subflows[i];
        if subflow.tcp.state() == TcpState::Listen && subflow.stage != Stage::First {
            subflow.on_end(); // the peer has taken its join back
            return;
        }
        let (una, _) = subflow.tcp.outstanding();
        if una != subflow.una {
            subflow.una = una;
            subflow.failed = false;
            subflow.sent.drop_below(una);
        }
        if subflow.tcp.timeouts() != subflow.timeouts {
            subflow.timeouts = subflow.tcp.timeouts();
            self.on_subflow_timeout(i);
        }
        if self.subflows[i].tcp.has_news() {
            self.on_news(now, i);
        }
    }

    /// What a subflow reports, beside what it is asked for anyway.
    #[cold]
    fn on_news(&mut self, now: Time, i: usize) {
        while let Some(event) = self.subflows[i].tcp.poll_event() {
            match event {
                Event::Connected => self.on_subflow_connected(now, i),
                Event::Stalled => self.pending.stalled |= self.subflows.len() == 1,
                Event::PeerClosed => self.on_subflow_fin(i),
                Event::Closed(reason) => return self.on_subflow_closed(now, i, reason),
                Event::Readable | Event::Writable | Event::Urgent => {}
            }
        }
    }

    #[cold]
    fn on_subflow_connected(&mut self, now: Time, i: usize) {
        let subflow = &mut self.subflows[i];
        subflow.tcp.share_window();
        subflow.una = 1;
        if subflow.stage == Stage::First {
            subflow.stage = Stage::Ready;
            self.on_first_connected(now);
        }
    }
}
