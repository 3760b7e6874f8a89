//! Tail loss probes: RFC 8985 §7. Names are the RFC's.

use crate::ack::Ack;
use crate::sender::Sender;
use anabranch_endpoint::Timer;
use anabranch_units::{Span, Time};

/// PTO before a round-trip time is known (§7.2).
const INITIAL: Span = Span::from_secs(1);

/// No PTO is shorter: after a round trip of no time at all the timer would be
/// due at once.
const LEAST: Span = Span::from_micros(1);

/// The probe timer, and the probe that is on its way.
#[derive(Debug)]
pub(super) struct Prober {
    enabled: bool,
    max_ack_delay: Span,
    /// Probes are sent by Linux's rules.
    linux: bool,
    pub timer: Timer,
    /// A probe is to leave now.
    due: bool,
    /// `TLP.end_seq` and `TLP.is_retrans`.
    on_its_way: Option<(u64, bool)>,
    /// A round trip was measured since the last probe (§7.3).
    measured: bool,
    /// Probes sent since the connection began.
    pub sent: u32,
}

/// What an ACK told about the probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    /// Nothing, or that it was spurious.
    Fine,
    /// The probe repaired a loss (§7.4.2).
    Repaired,
}

impl Prober {
    pub fn new(enabled: bool, max_ack_delay: Span, linux: bool) -> Prober {
        Prober {
            enabled,
            max_ack_delay,
            linux,
            timer: Timer::IDLE,
            due: false,
            on_its_way: None,
            measured: true,
            sent: 0,
        }
    }

    /// §7.2, `TLP_calc_PTO`. That PTO is at most what is left of the
    /// retransmission timeout is seen to when that expires. Where no probe may leave the timer does
    /// not run: it would take the place of the retransmission timeout for nothing.
    pub fn schedule(&mut self, s: &Sender, now: Time) {
        if !self.enabled || !self.linux && !self.may_leave() {
            return;
        }
        let pto = match s.rtt.srtt() {
            None => INITIAL,
            Some(srtt) if s.flight() <= s.mss => srtt * 2 + self.max_ack_delay,
            Some(srtt) => srtt * 2,
        };
        self.timer.set(now + pto.max(LEAST));
    }

    /// §7.3: no probe is on its way, and a round trip has been measured since the last.
    fn may_leave(&self) -> bool {
        self.on_its_way.is_none() && (self.measured || self.linux)
    }

    /// A probe leaves if it may. Returns from when the retransmission timeout counts: from now, or by
    /// Linux's rules from when the `oldest` segment was sent if no probe leaves.
    pub fn on_expiry(&mut self, now: Time, oldest: Option<Time>) -> Time {
        self.timer.stop();
        self.due = self.may_leave();
        oldest.filter(|_| self.linux && !self.due).unwrap_or(now)
    }

    pub fn is_due(&self) -> bool {
        self.due
    }

    /// A segment left; true when it was the probe.
    pub fn on_sent(&mut self, end: u64, retransmission: bool) -> bool {
        if !self.due {
            return false;
        }
        self.due = false;
        self.measured = false;
        self.sent += 1;
        self.on_its_way = Some((end, retransmission));
        true
    }

    /// A repair begins: no probe is needed.
    pub fn forget(&mut self) {
        self.timer.stop();
        self.due = false;
        self.on_its_way = None;
    }

    /// §7.4, `TLP_process_ack`.
    pub fn on_ack(&mut self, una: u64, ack: &Ack) -> Outcome {
        self.due &= ack.delivered == 0;
        self.measured |= ack.rtt.is_some();
        let Some((end, retransmission)) = self.on_its_way.filter(|(end, _)| una >= *end) else {
            return Outcome::Fine;
        };
        let (seen_twice, beyond) = (ack.dsack.is_some_and(|d| d.end == end), una > end);
        let bare = ack.bare && !ack.has_blocks;
        if retransmission && !seen_twice && !beyond && !bare {
            return Outcome::Fine; // it remains to be seen
        }
        self.on_its_way = None;
        // Case 1: the original arrived too. Case 2: all was repaired. Case 3:
        // the duplicate ACK of a receiver without DSACK.
        if retransmission && beyond && !seen_twice { Outcome::Repaired } else { Outcome::Fine }
    }
}
