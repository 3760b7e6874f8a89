//! The interface that packets leave by may be full: what the host says, and
//! what the connection does meanwhile.
//!
//! Data that the interface would refuse is not sent: it neither counts as
//! outstanding, nor as sent again, and nothing of it is a sign of congestion in
//! the network. It is tried again after half a second, as Linux does
//! (`TCP_RESOURCE_PROBE_INTERVAL`); each try counts as a probe, so that the user
//! timeout runs.

use super::Connection;
use super::extras::ExtraDue;
use anabranch_endpoint::CloseReason;
use anabranch_units::{Span, Time};

/// Between tries (Linux's `TCP_RESOURCE_PROBE_INTERVAL`).
const RETRY: Span = Span::from_millis(500);

/// State of the interface that packets leave by.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Device {
    /// The interface takes no packet, as its host said last.
    pub full: bool,
    /// The first try since data waits.
    since: Option<Time>,
}

impl Connection {
    /// Whether the interface takes packets; at first it does.
    pub fn set_device_full(&mut self, full: bool) {
        if full || self.extras.some().is_some() {
            let device = &mut self.extras.get().device;
            (device.full, device.since) = (full, None);
        }
    }

    #[inline]
    pub(super) fn is_device_full(&self) -> bool {
        self.extras.peek().is_some_and(|extras| extras.device.full)
    }

    /// New data would leave now, but for the interface.
    pub(super) fn wait_for_device(&mut self, now: Time) {
        let nothing_out = self.sender.una == self.sender.max;
        let timer = &mut self.extras.get().timers[ExtraDue::Device as usize];
        if nothing_out && !timer.is_armed() {
            timer.set(now + self.sender.rtt.rto());
        }
    }

    /// A try: the interface is still full, or the data leaves with the next
    /// polls.
    pub(super) fn on_device_timer(&mut self, now: Time) {
        if !self.is_device_full() || self.sender.nxt >= self.sender.end {
            return;
        }
        let limit = self.config.user_timeout;
        let extras = self.extras.get();
        let since = *extras.device.since.get_or_insert(now);
        let waited = now.saturating_since(since);
        let left = limit.map_or(RETRY, |limit| limit.saturating_sub(waited));
        if left == Span::ZERO {
            return self.give_up_silent(CloseReason::TimedOut);
        }
        extras.timers[ExtraDue::Device as usize].set(now + left.min(RETRY));
        self.persist.silent += 1;
    }

    /// The retransmission timer has expired, and the interface is full: nothing
    /// is said of the network.
    pub(super) fn retransmits_later(&mut self, now: Time) -> bool {
        let full = self.is_device_full();
        if full {
            self.retransmission.restart(now, RETRY);
        }
        full
    }
}
