//! This is the search for the path MTU of one destination: Datagram Packetization Layer Path MTU
//! Discovery (DPLPMTUD, RFC 8899 §5, §6.2), without I/O.
//!
//! ```text
//!              connected              lost MAX_PROBES times, or
//!  DISABLED ---------------> BASE --- a router says less than it -----> ERROR
//!   ^ connectivity lost       |  ^                                        |
//!   | (from any state)        |  | black hole                BASE passes  |
//!             BASE passes     |  | (T3-rtx twice in a row),               |
//!                             V  | or a router says less                  |
//!                          SEARCHING <------------------------------------+
//!       MAX passes, probes    |  ^
//!       lost MAX_PROBES times |  | PMTU_RAISE_TIMER
//!       in a row, or a router V  |
//!       says what is in use  SEARCH_COMPLETE
//! ```
//!
//! Sizes are those of IP packets, in octets, and multiples of four, since SCTP packets are. The
//! search algorithm (§5.3.2) tries the largest size first, which most paths carry, then the middle
//! of what is open. One loss bounds the search without being believed: when nothing is open any
//! more the smallest size that was lost is tried again, until MAX_PROBES probes in a row are lost
//! or it passes. What a router says is tried next and never taken as it is (§4.6.2).
//!
//! PLPMTU never grows but by an answered probe. MIN_PLPMTU is not probed: when packets as small as
//! that are lost the path fails by its error counter, which disables the search.

use crate::config::{Config, MtuProbing, Sizes};
use anabranch_endpoint::Timer;
use anabranch_units::{Span, Time};

/// A search ends when this many probes in a row are lost (MAX_PROBES, RFC 8899 §5.1.2, the
/// default).
const MAX_PROBES: u32 = 3;

/// This many expiries of T3-rtx in a row are taken for a black hole (RFC 8899 §4.3), as in TCP.
const BLACK_HOLE: u32 = 2;

/// Intervals of probes in the state Error double this often at most; PMTU_RAISE_TIMER bounds them
/// too.
const MOST_DOUBLINGS: u32 = 16;

/// A `Phase` is the state of RFC 8899 §5.2, with what exists only there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// There is no connectivity, or no search has begun.
    Disabled,
    /// BASE_PLPMTU is to be confirmed; `hint` is the size that a router has said.
    Base { hint: Option<u32> },
    /// Larger sizes are tried.
    Searching(Open),
    /// PLPMTU is in use, and nothing is probed.
    Complete,
    /// Not even BASE_PLPMTU passes; `lost` probes of it were lost here.
    Error { lost: u32 },
}

/// `Open` are the sizes that a search has still to tell apart, from PLPMTU on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Open {
    /// `high` is the upper bound of the sizes, in octets.
    high: u32,
    /// `lost` says that a probe of `high` octets was lost; else nothing is known of it.
    lost: bool,
    /// `hint` is the size that a router has said, which is tried first.
    hint: Option<u32>,
}

impl Open {
    /// Returns the size to try next, while packets have `mtu` octets.
    fn next(&self, mtu: u32) -> u32 {
        let middle = (mtu + (self.high - mtu) / 2) & !3;
        match self.hint {
            Some(hint) => hint,
            None if self.lost && middle > mtu => middle,
            None => self.high,
        }
    }
}

/// A `Probe` waits for its answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Probe {
    /// `size` is that of its packet, in octets (PROBED_SIZE).
    size: u32,
    /// `nonce` is a number that comes back with the answer.
    nonce: u64,
    /// `sent` is the date at which it left.
    sent: Time,
}

/// A `MtuSearch` is the search for the path MTU of one destination.
#[derive(Clone, Debug)]
pub(crate) struct MtuSearch {
    /// `sizes` bound the search.
    sizes: Sizes,
    /// `always` says that the search begins with the association, not with a black hole.
    always: bool,
    /// `raise_after` is PMTU_RAISE_TIMER.
    raise_after: Span,
    /// `phase` is the state of the search.
    phase: Phase,
    /// `mtu` is PLPMTU with the IP header: the size that packets may have, in octets.
    mtu: u32,
    /// `count` is PROBE_COUNT, the probes lost in a row.
    count: u32,
    /// `probe` is the one that waits for its answer.
    probe: Option<Probe>,
    /// `last` is the date at which a probe left last.
    last: Option<Time>,
    /// `due` says that the next probe may leave.
    due: bool,
    /// `timer` is PROBE_TIMER while a probe waits, and PMTU_RAISE_TIMER in the state Complete; else
    /// it says when the next probe may leave.
    timer: Timer,
    /// `timeouts` counts the expiries of T3-rtx in a row.
    timeouts: u32,
}

impl MtuSearch {
    /// `new` makes the search that the settings ask for; `None` when they ask for none.
    pub fn new(config: &Config) -> Option<Box<MtuSearch>> {
        let always = match config.mtu_probing {
            MtuProbing::Off => return None,
            MtuProbing::BlackHole => false,
            MtuProbing::Always => true,
        };
        let sizes = config.mtu_sizes();
        Some(Box::new(MtuSearch {
            sizes,
            always,
            raise_after: config.mtu_raise_timer,
            phase: Phase::Disabled,
            mtu: config.first_mtu() & !3,
            count: 0,
            probe: None,
            last: None,
            due: false,
            timer: Timer::IDLE,
            timeouts: 0,
        }))
    }

    /// Begins or ends the search, as the peer's address is reached, or not any more (§5.2,
    /// DISABLED). A round trip takes `rtt`.
    pub fn set_connected(&mut self, now: Time, connected: bool, rtt: Span) {
        match (connected, self.phase == Phase::Disabled) {
            (true, true) if self.always || self.mtu < self.sizes.max => {
                self.enter_base(now, None, rtt);
            }
            (true, true) => self.complete(now),
            (false, false) => self.disconnect(),
            _ => {}
        }
    }

    /// Ends the search: nothing is probed until there is connectivity again.
    pub fn disconnect(&mut self) {
        self.phase = Phase::Disabled;
        self.wait_for_nothing();
        self.timer.stop();
    }

    /// Notes that T3-rtx expired (§4.3). Too often in a row it shows a black hole.
    pub fn on_data_timeout(&mut self, now: Time, rtt: Span) {
        let larger = self.mtu > self.sizes.base;
        if larger && matches!(self.phase, Phase::Searching(_) | Phase::Complete) {
            self.timeouts += 1;
            if self.timeouts >= BLACK_HOLE {
                self.enter_base(now, None, rtt);
            }
        }
    }

    /// Notes that the earliest data that was outstanding has arrived.
    #[inline]
    pub fn on_data_arrived(&mut self) {
        self.timeouts = 0;
    }

    /// Returns the size of the probe that is to leave now, if one is. It must be asked whenever
    /// something has happened.
    pub fn poll_probe(&mut self, now: Time) -> Option<u32> {
        if self.timer.expired(now) {
            self.timer.stop();
            match self.probe.take() {
                Some(probe) => self.on_lost(now, probe.size),
                None if self.phase == Phase::Complete => self.search(now, None),
                None => self.due = true,
            }
        }
        if !std::mem::take(&mut self.due) {
            return None;
        }
        match self.phase {
            Phase::Base { .. } | Phase::Error { .. } => Some(self.sizes.base),
            Phase::Searching(open) => Some(open.next(self.mtu)),
            Phase::Disabled | Phase::Complete => None,
        }
    }

    /// Notes that the probe of `size` octets leaves; without an answer it is lost after `wait`.
    pub fn on_sent(&mut self, now: Time, size: u32, nonce: u64, wait: Span) {
        self.probe = Some(Probe { size, nonce, sent: now });
        self.last = Some(now);
        self.timer.set(now + wait);
    }

    /// Returns the date at which the probe with this nonce left, if it waits for its answer.
    pub fn waits_for(&self, nonce: u64) -> Option<Time> {
        self.probe.filter(|probe| probe.nonce == nonce).map(|probe| probe.sent)
    }

    /// Handles the answer to the probe that waits (§5.3.1): its size passes.
    pub fn on_answer(&mut self, now: Time) {
        let Some(probe) = self.probe.take() else { return };
        (self.count, self.timeouts) = (0, 0);
        self.timer.stop();
        match &mut self.phase {
            Phase::Base { hint } => {
                let hint = *hint;
                self.mtu = probe.size;
                self.search(now, hint);
            }
            Phase::Error { .. } => {
                self.mtu = probe.size;
                self.search(now, None);
            }
            Phase::Searching(open) => {
                self.mtu = self.mtu.max(probe.size);
                open.hint = open.hint.filter(|hint| *hint > self.mtu);
                if open.high <= self.mtu {
                    (open.high, open.lost) = (self.sizes.max, false);
                }
                self.due = true;
                if self.mtu >= self.sizes.max {
                    self.complete(now);
                }
            }
            Phase::Disabled | Phase::Complete => {}
        }
    }

    /// Handles the word of a router that packets of `size` octets pass and larger ones do not,
    /// about a packet of this side's (§4.6.2).
    pub fn on_too_big(&mut self, now: Time, size: u32, rtt: Span) {
        let size = size & !3;
        let probed = self.probe.map_or(self.mtu, |probe| probe.size.max(self.mtu));
        if self.phase == Phase::Disabled || size < self.sizes.min || size >= probed {
            return; // not believed, or it contradicts what is known
        }
        match self.phase {
            // §5.2; in other states BASE_PLPMTU is probed first, so that no router alone makes
            // packets smaller than that (§8).
            Phase::Base { .. } if size < self.sizes.base => return self.fail(now, rtt),
            Phase::Error { .. } => return,
            _ if size < self.mtu => return self.enter_base(now, Some(size), rtt),
            _ => {}
        }
        let Phase::Searching(open) = &mut self.phase else { return };
        if size == self.mtu {
            return self.complete(now);
        }
        *open = Open { high: size + 4, lost: true, hint: Some(size) };
        self.wait_for_nothing();
        self.schedule(now, rtt);
    }

    /// Returns PLPMTU with the IP header, in octets.
    #[inline]
    pub fn mtu(&self) -> u32 {
        self.mtu
    }

    /// Returns the date at which to call [`MtuSearch::poll_probe`].
    #[inline]
    pub fn deadline(&self) -> Time {
        self.timer.deadline()
    }

    /// Handles the loss of a probe, as PROBE_TIMER expired (§5.2, §5.3.1).
    fn on_lost(&mut self, now: Time, size: u32) {
        self.count += 1;
        let last = self.count >= MAX_PROBES;
        match &mut self.phase {
            Phase::Base { .. } if last => self.fail(now, Span::ZERO),
            Phase::Searching(_) if last => self.complete(now),
            Phase::Base { .. } => self.due = true,
            Phase::Searching(open) => {
                *open = Open { high: open.high.min(size), lost: true, hint: None };
                self.due = true;
            }
            Phase::Error { lost } => {
                let wait = Span::from_secs(1) * (1 << (*lost).min(MOST_DOUBLINGS));
                *lost += 1;
                self.timer.set(now + wait.min(self.raise_after));
            }
            Phase::Disabled | Phase::Complete => {}
        }
    }

    /// Enters the state Base: packets have no more than BASE_PLPMTU until it is confirmed again.
    fn enter_base(&mut self, now: Time, hint: Option<u32>, rtt: Span) {
        self.phase = Phase::Base { hint };
        self.mtu = self.mtu.min(self.sizes.base);
        (self.count, self.timeouts) = (0, 0);
        self.wait_for_nothing();
        self.schedule(now, rtt);
    }

    /// Enters the state Error: packets have MIN_PLPMTU until BASE_PLPMTU passes.
    fn fail(&mut self, now: Time, rtt: Span) {
        self.phase = Phase::Error { lost: 0 };
        self.mtu = self.sizes.min;
        self.count = 0;
        self.wait_for_nothing();
        self.schedule(now, rtt);
    }

    /// Enters the state Searching: larger sizes than PLPMTU are tried.
    fn search(&mut self, now: Time, hint: Option<u32>) {
        if self.mtu >= self.sizes.max {
            return self.complete(now);
        }
        let hint = hint.filter(|hint| *hint > self.mtu);
        self.phase = Phase::Searching(Open { high: self.sizes.max, lost: false, hint });
        self.count = 0;
        self.due = true;
    }

    /// Enters the state Complete: PLPMTU stays until PMTU_RAISE_TIMER expires; one that cannot be
    /// raised needs no timer.
    fn complete(&mut self, now: Time) {
        self.phase = Phase::Complete;
        self.wait_for_nothing();
        match self.mtu < self.sizes.max {
            true => self.timer.set(now + self.raise_after),
            false => self.timer.stop(),
        }
    }

    fn wait_for_nothing(&mut self) {
        (self.probe, self.due) = (None, false);
    }

    /// Lets the next probe leave now, or a round trip of `rtt` after the last (§8).
    fn schedule(&mut self, now: Time, rtt: Span) {
        match self.last.map(|last| last + rtt).filter(|date| *date > now) {
            Some(date) => self.timer.set(date),
            None => {
                self.timer.stop();
                self.due = true;
            }
        }
    }
}

#[cfg(test)]
mod tests;
