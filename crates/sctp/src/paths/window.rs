//! The congestion window of one path follows the rules of RFC 9260 §7.2, with the switches by which
//! the standards differ ([`standard`]), or an algorithm shared with TCP ([`driven`]). Windows count
//! DATA chunks with their headers, as "outstanding data" is defined in RFC 9260 §2.3.

mod driven;
mod standard;

#[cfg(test)]
mod tests;

use crate::config::{Config, Window as Kind};
use anabranch_congestion::{Cause, Driver, Sibling, Stamp, Told};
use anabranch_units::{Rate, Span, Time};
use anabranch_wire::Packet;
use driven::Driven;
use standard::Standard;

/// A `Progress` is what a SACK did for a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    pub now: Time,
    /// `acked` counts the octets that were newly acknowledged of what was last sent to the path.
    pub acked: u64,
    /// `duplicated` counts the octets of chunks that the peer reports as duplicates.
    pub duplicated: u64,
    /// `flight` is what was outstanding on the path before the SACK, in octets.
    pub flight: u64,
    /// `idle` says that nothing is outstanding on the path any more.
    pub idle: bool,
    /// `may_grow` says that windows may grow with this SACK.
    pub may_grow: bool,
    pub rtt: Option<Span>,
}

/// A `View` is what a window sees of its path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    /// `flight` is what is outstanding, in octets.
    pub flight: u64,
    /// `chunk` is the size of the largest DATA chunk of a packet, in octets.
    pub chunk: u64,
    pub srtt: Option<Span>,
    pub min_rtt: Option<Span>,
}

/// A `Window` is the congestion window of a path.
#[derive(Debug)]
pub(crate) enum Window {
    Standard(Standard),
    Driven(Box<Driven>),
}

impl Window {
    pub fn new(config: &Config) -> Window {
        match &config.window {
            Kind::Standard => Window::Standard(Standard::new(config)),
            Kind::Algorithm(algorithm) => {
                let ssthresh = config.initial_ssthresh.unwrap_or(u64::MAX);
                let congestion = algorithm.build(config.initial_window(), ssthresh);
                Window::Driven(Box::new(Driven::new(Driver::new(congestion))))
            }
        }
    }

    /// Begins anew with packets of `mtu` octets, whatever is outstanding. A threshold that the
    /// configuration leaves open is `ssthresh` where the window follows RFC 9260; an algorithm
    /// shared with TCP begins without one.
    pub fn begin_anew(&mut self, config: &Config, mtu: u32, ssthresh: u64) {
        match (self, &config.window) {
            (Window::Driven(driven), Kind::Algorithm(algorithm)) => {
                let ssthresh = config.initial_ssthresh.unwrap_or(u64::MAX);
                driven.begin_anew(algorithm.build(config.initial_window_of(mtu), ssthresh));
            }
            (window, _) => {
                *window = Window::Standard(Standard::new(config).with_mtu(config, mtu));
                if config.initial_ssthresh.is_none() {
                    window.set_initial_ssthresh(ssthresh);
                }
            }
        }
    }

    /// Returns the algorithm that is shared with TCP, where there is one.
    #[inline]
    pub fn driven(&mut self) -> Option<&mut Driven> {
        match self {
            Window::Standard(_) => None,
            Window::Driven(driven) => Some(driven),
        }
    }

    #[inline]
    fn driver(&self) -> Option<&Driver> {
        match self {
            Window::Standard(_) => None,
            Window::Driven(driven) => Some(driven.driver()),
        }
    }

    /// Sets the threshold before the first loss to the peer's receive window of `rwnd` octets,
    /// where the window follows RFC 9260.
    pub fn set_initial_ssthresh(&mut self, rwnd: u64) {
        if let Window::Standard(standard) = self {
            standard.set_initial_ssthresh(rwnd);
        }
    }

    #[inline]
    pub fn cwnd(&self) -> u64 {
        match self {
            Window::Standard(standard) => standard.cwnd,
            Window::Driven(driven) => driven.driver().window(),
        }
    }

    /// Returns how many octets may be outstanding when new data leaves: the window, less what is
    /// beyond a burst.
    #[inline]
    pub fn limit(&self) -> u64 {
        match self {
            Window::Standard(standard) => standard.limit(),
            Window::Driven(driven) => driven.driver().window(),
        }
    }

    #[inline]
    pub fn ssthresh(&self) -> u64 {
        match self {
            Window::Standard(standard) => standard.ssthresh,
            Window::Driven(driven) => driven.driver().ssthresh(),
        }
    }

    /// Notes that a chunk of `octets` is about to leave; `arrives` says that it was not outstanding
    /// on this path before.
    #[inline]
    pub fn on_sent(&mut self, now: Time, octets: u64, arrives: bool, view: &View) {
        match self {
            Window::Standard(standard) => standard.on_sent(),
            Window::Driven(driven) => driven.on_sent(now, octets, arrives, view),
        }
    }

    /// Notes that chunks of `octets` are outstanding on this path though they did not leave on it.
    pub fn adopt(&mut self, octets: u64) {
        if let Window::Driven(driven) = self {
            driven.adopt(octets);
        }
    }

    /// Notes that the chunk of `octets` with this offset, which left with this stamp, is found
    /// missing.
    pub fn note_lost(&mut self, offset: u64, octets: u64, stamp: &Stamp) {
        if let Window::Driven(driven) = self {
            driven.note_lost(offset, octets, stamp);
        }
    }

    /// Notes that chunks of `octets` are not outstanding on this path any more, and were not
    /// acknowledged.
    #[inline]
    pub fn forget(&mut self, octets: u64) {
        if let Window::Driven(driven) = self {
            driven.forget(octets);
        }
    }

    /// Returns what a chunk keeps that leaves now, where the algorithm hears of it; `tx_in_flight`
    /// counts the octets in flight with it.
    #[inline]
    pub fn stamp(&self, tx_in_flight: u64) -> Option<Stamp> {
        let driver = self.driver().filter(|driver| driver.measures())?;
        Some(driver.stamp(tx_in_flight))
    }

    /// Notes that something was newly acknowledged. Where the window is `frozen`, in fast recovery
    /// or with a report of congestion, it does not grow (RFC 9260 §7.2.1, §7.2.2; RFC 3168 §6.1.2).
    #[inline]
    pub fn on_progress(&mut self, progress: &Progress, frozen: bool, view: &View) {
        match self {
            Window::Standard(standard) if !frozen => standard.on_progress(progress),
            Window::Standard(_) => {}
            Window::Driven(driven) => {
                driven.on_progress(progress, progress.may_grow && !frozen, view);
            }
        }
    }

    /// Reduces the window, as SACKs reported a loss (§7.2.3), the timer expired, or a router marked
    /// a packet.
    pub fn on_congestion(&mut self, now: Time, cause: Cause, view: &View) {
        match self {
            Window::Standard(standard) => standard.on_congestion(cause == Cause::Timeout),
            Window::Driven(driven) => driven.on_congestion(now, cause, view),
        }
    }

    /// Takes the last reduction back, which was spurious.
    pub fn on_undo(&mut self) {
        match self {
            Window::Standard(standard) => standard.on_undo(),
            Window::Driven(driven) => driven.on_undo(),
        }
    }

    /// Tells the algorithm what a SACK told, after all that it caused.
    pub fn on_feedback(&mut self, told: &Told, view: &View) {
        if let Window::Driven(driven) = self {
            driven.on_feedback(told, view);
        }
    }

    /// Lets the window decay, as nothing was sent for `rtos` retransmission timeouts, while
    /// `flight` octets are outstanding (§7.2.1). Algorithms shared with TCP hear of it where
    /// nothing is.
    pub fn on_idle(&mut self, rtos: u64, flight: u64, initial: u64) {
        match self {
            Window::Standard(standard) => standard.on_idle(rtos),
            Window::Driven(driven) if flight == 0 => driven.on_idle(initial),
            Window::Driven(_) => {}
        }
    }

    /// Changes the unit of growth to `unit` octets, as packets have another size now. Algorithms
    /// shared with TCP see it in each [`View`].
    pub fn set_unit(&mut self, unit: u32) {
        if let Window::Standard(standard) = self {
            standard.set_unit(unit);
        }
    }

    /// Limits a burst (Max.Burst, §6.1 rule D): new data leaves while no more than `burst` packets
    /// above what is outstanding now are.
    #[inline]
    pub fn limit_burst(&mut self, flight: u64, burst: u64) {
        if let Window::Standard(standard) = self {
            standard.limit_burst(flight, burst);
        }
    }

    /// Returns whether the window in a recovery is the algorithm's own, so that losses in it are
    /// told once.
    pub fn owns_recovery(&self) -> bool {
        self.driver().is_some_and(Driver::owns_recovery)
    }

    /// Returns whether the algorithm depends on the other paths.
    #[inline]
    pub fn is_coupled(&self) -> bool {
        self.driver().is_some_and(Driver::is_coupled)
    }

    /// Returns what the algorithms of other paths see of this one.
    pub fn sibling(&self, view: &View) -> Sibling {
        Sibling {
            window: self.cwnd(),
            slow_start: self.cwnd() < self.ssthresh(),
            mss: view.chunk,
            srtt: view.srtt,
            min_rtt: view.min_rtt,
            state: self.driver().map(Driver::shared).unwrap_or_default(),
        }
    }

    /// Returns whether the pacer makes data wait; its timer is set then.
    #[inline]
    pub fn waits_for_pacer(&mut self, now: Time) -> bool {
        self.is_paced() && self.driven().is_some_and(|driven| driven.waits_for_pacer(now))
    }

    /// Returns whether data leaves at a rate.
    #[inline]
    pub fn is_paced(&self) -> bool {
        self.driver().is_some_and(Driver::is_paced)
    }

    /// Notes that a packet with data left.
    pub fn on_paced(&mut self, now: Time, packet: &Packet, srtt: Option<Span>) {
        if let Window::Driven(driven) = self {
            driven.on_paced(now, packet, srtt);
        }
    }

    /// Returns the date at which paced data may leave that waits.
    #[inline]
    pub fn deadline(&self) -> Time {
        match self {
            Window::Standard(_) => Time::NEVER,
            Window::Driven(driven) => driven.deadline(),
        }
    }

    /// Returns the rate at which data leaves, where it is paced.
    pub fn pacing_rate(&self, srtt: Option<Span>) -> Option<Rate> {
        match self {
            Window::Standard(_) => None,
            Window::Driven(driven) => driven.pacing_rate(srtt),
        }
    }
}
