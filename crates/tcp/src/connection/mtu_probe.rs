//! Packetization-layer path MTU discovery (RFC 4821): the largest segment that
//! gets through is found by sending larger ones, where routers say nothing.
//!
//! The search is between the segment size in use, which is known to pass, and
//! the largest that may (§7.3): the middle, and in the end the upper bound, until
//! less than eight octets are open. A probe is one segment of new data, sent
//! where enough follows it for its loss to be told by ACKs (§7.2).
//!
//! | outcome (§7.6) | told by | then |
//! |---|---|---|
//! | success | the ACK of a probe that was not sent again | the size is used |
//! | failure | the probe alone is sent again | it is too large; the reduction of the window is undone when the repair is over (§7.4) |
//! | failure | a timeout | it is too large |
//! | inconclusive | more than the probe was lost | it is tried again |
//!
//! A path changes: ten minutes after the search has ended below what both SYNs
//! allow, it begins anew (PMTU_RAISE_TIMER of RFC 8899 §5.1.1).
//!
//! [`MtuProbing::Always`] starts from `mtu_probe_base` octets; [`MtuProbing::BlackHole`] from
//! what both SYNs allow, and searches after a black hole was suspected
//! (`icmp.rs`). Both are those of Linux's `tcp_mtu_probing`.
//!
//! Left out: probes of data that is sent again, and padding. A segment from
//! which Accurate ECN takes room for its option is no probe.

use super::Connection;
use crate::config::MtuProbing;
use crate::range_set::Range;
use crate::recovery::Scheme;
use anabranch_units::{Span, Time};

/// A difference of fewer octets is not worth a probe (Linux's `tcp_probe_threshold`).
const THRESHOLD: u64 = 8;

/// Time from the end of a search to the next.
const RAISE_AFTER: Span = Span::from_secs(600);

/// An `MtuProbe` is the search for the segment size. Its sizes are payloads, in octets; the lower
/// bound is [`Sender::mss`](crate::sender::Sender::mss).
#[derive(Debug)]
pub(super) struct MtuProbe {
    /// `most` is the size that both SYNs allow.
    most: u64,
    /// `high` is the upper bound: nothing larger is tried.
    high: u64,
    /// `failed` says that something larger has failed.
    failed: bool,
    /// `searching` says that a search is under way, or waits for its date.
    searching: bool,
    /// `resume_at` is the date at which the next search begins.
    resume_at: Time,
    /// `out` is the probe on its way.
    out: Option<Probe>,
}

/// A `Probe` is on its way.
#[derive(Clone, Copy, Debug)]
struct Probe {
    /// `range` is what the probe carries.
    range: Range,
    /// `timeouts` are the expiries of the retransmission timer before it.
    timeouts: u32,
    /// `resent` says that a part of the probe was sent again.
    resent: bool,
    /// `others` says that something else was sent again.
    others: bool,
    /// `recover` is the highest offset sent when something was first sent again.
    recover: u64,
    /// `reduced` says that this reduced the window.
    reduced: bool,
}

impl MtuProbe {
    /// Returns the size to try; `None` while there is nothing to learn.
    fn next_size(&mut self, now: Time, low: u64) -> Option<u64> {
        if !self.searching || self.out.is_some() || now < self.resume_at {
            return None;
        }
        if self.resume_at != Time::ZERO {
            (self.high, self.failed, self.resume_at) = (self.most, false, Time::ZERO);
        }
        let open = self.high.saturating_sub(low);
        if open >= THRESHOLD {
            return Some(low + open.div_ceil(2));
        }
        if open > 0 && !self.failed {
            return Some(self.high);
        }
        self.resume_at = if low < self.most { now + RAISE_AFTER } else { Time::NEVER };
        None
    }
}

impl Connection {
    /// Both SYNs allow segments of `mss` octets; returns those to begin with.
    pub(super) fn start_mtu_search(&mut self, mss: u64) -> u64 {
        let mode = self.config.mtu_probing;
        if mode == MtuProbing::Off {
            return mss;
        }
        let always = mode == MtuProbing::Always;
        self.extras.get().mtu = Some(Box::new(MtuProbe {
            most: mss,
            high: mss,
            failed: false,
            searching: always,
            resume_at: Time::ZERO,
            out: None,
        }));
        let base = u64::from(self.config.mtu_probe_base) - self.options_in_each_segment();
        if always { mss.min(base) } else { mss }
    }

    /// A router said that segments of `high` octets pass, and no larger ones.
    pub(super) fn limit_mtu_search(&mut self, high: u64) {
        if let Some(search) = self.extras.mtu_mut() {
            search.high = search.high.min(high);
            (search.searching, search.failed, search.resume_at) = (true, false, Time::ZERO);
        }
    }

    /// Segments of `mss` octets vanish.
    pub(super) fn lower_mtu_search(&mut self, mss: u64) {
        if let Some(search) = self.extras.mtu_mut() {
            search.high = search.high.min(mss - 1);
            (search.searching, search.failed, search.resume_at) = (true, true, Time::ZERO);
        }
    }

    /// A full segment of new data, `range`, is about to leave, and becomes a probe where one is
    /// due. Returns false when it has to wait for the window.
    pub(super) fn probe_mtu(&mut self, now: Time, range: &mut Range) -> bool {
        let data_end = self.data_end();
        let repairing = self.scheme.in_recovery();
        let in_flight = self.scheme.in_flight(&self.sender);
        let Some(search) = self.extras.mtu_mut() else { return true };
        let s = &self.sender;
        let usual = range.len() == s.mss && range.start == s.max;
        if !usual || repairing || s.recovery_point.is_going_back() || s.dup_acks.count > 0 {
            return true;
        }
        let Some(size) = search.next_size(now, s.mss) else { return true };
        // What shows its loss: as many segments behind it as are duplicates.
        let behind = (s.dup_acks.thresh as u64 + 1) * s.mss;
        let end = range.start + size;
        if data_end.min(s.peer_window.edge) < end + behind || s.cwnd() < size + behind {
            return true;
        }
        if in_flight + size > s.cwnd() {
            return false;
        }
        range.end = end;
        let timeouts = s.counters.timeouts;
        search.out = Some(Probe {
            range: *range,
            timeouts,
            resent: false,
            others: false,
            recover: 0,
            reduced: false,
        });
        true
    }

    /// A segment from `start` is sent again.
    pub(super) fn on_resent_beside_probe(&mut self, start: u64) {
        let s = &self.sender;
        if let Some(probe) = self.extras.mtu_mut().and_then(|search| search.out.as_mut()) {
            if !probe.resent && !probe.others {
                probe.recover = s.max;
                probe.reduced = s.una >= s.recovery_point.cwr;
            }
            let within = probe.range.start <= start && start < probe.range.end;
            probe.resent |= within;
            probe.others |= !within;
        }
    }

    /// Something new was acknowledged: the probe's fate may be known.
    pub(super) fn on_mtu_progress(&mut self) {
        let s = &self.sender;
        let Some(search) = self.extras.mtu_mut() else { return };
        let Some(probe) = search.out.filter(|probe| s.una >= probe.range.end.max(probe.recover))
        else {
            return;
        };
        search.out = None;
        let size = probe.range.len();
        if !probe.resent {
            self.sender.mss = self.sender.mss.max(size);
            return;
        }
        let timed_out = s.counters.timeouts != probe.timeouts;
        if !timed_out && probe.others {
            return; // inconclusive
        }
        if size <= search.high {
            (search.high, search.failed) = (size - 1, true);
        }
        if !timed_out && probe.reduced {
            self.sender.undo_reduction();
            self.scheme.on_undo(&mut self.sender);
        }
    }
}
