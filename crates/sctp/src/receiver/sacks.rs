//! This machine decides when what has arrived is acknowledged, and over which route (RFC 9260 §6.2,
//! §6.4).

use crate::config::Config;
use crate::route::Route;
use anabranch_endpoint::Timer;
use anabranch_units::{Serial32, Time};

/// A SACK reports at most this many duplicates.
const MAX_DUPLICATES: usize = 16;

/// A `Told` is what the last SACK said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Told {
    /// No SACK has left.
    Nothing,
    /// Everything had arrived.
    Whole,
    /// There were gaps.
    Gaps,
}

/// `Sacks` decides when a SACK is due, and remembers what it has to say beside the TSN map.
#[derive(Debug)]
pub(crate) struct Sacks {
    /// `now` says that a SACK is not delayed any more.
    now: bool,
    /// `unsacked` counts the packets with data since the last SACK.
    unsacked: u32,
    /// `duplicates` are the TSNs that came again since the last SACK, up to [`MAX_DUPLICATES`].
    duplicates: Vec<Serial32>,
    /// `told` is what the last SACK said.
    told: Told,
    /// `timer` is that of the delayed SACK.
    pub timer: Timer,
    /// `route` leads back to where the last packet with data came from.
    pub route: Route,
    /// `echo` is the timestamp that the next SACK echoes: the oldest since the last one.
    pub echo: Option<u64>,
}

impl Sacks {
    /// `new` makes the machine before anything has arrived; SACKs will take `route`.
    pub fn new(route: Route) -> Sacks {
        Sacks {
            now: false,
            unsacked: 0,
            duplicates: Vec::new(),
            told: Told::Nothing,
            timer: Timer::IDLE,
            route,
            echo: None,
        }
    }

    /// Makes a SACK leave at once.
    pub fn ask(&mut self) {
        self.now = true;
    }

    /// Returns whether a SACK is to leave at once.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.now
    }

    /// Returns whether packets with data wait for their SACK.
    #[inline]
    pub fn is_waiting(&self) -> bool {
        self.unsacked > 0
    }

    /// Returns how many packets with data have come since the last SACK.
    pub fn packets(&self) -> u32 {
        self.unsacked
    }

    /// Returns the duplicates that the next SACK reports.
    #[inline]
    pub fn duplicates(&self) -> &[Serial32] {
        &self.duplicates
    }

    /// Notes that a TSN came again, which is reported at once (RFC 9260 §6.2).
    pub fn note_duplicate(&mut self, tsn: Serial32) {
        if self.duplicates.len() < MAX_DUPLICATES {
            self.duplicates.push(tsn);
        }
        self.now = true;
    }

    /// Notes that a packet with data came over `route`, and decides whether its SACK may be delayed
    /// (RFC 9260 §5.1, §6.2, §6.7). `has_gaps` says whether TSNs before the highest one are missing
    /// now.
    #[inline]
    pub fn on_packet(&mut self, route: Route, has_gaps: bool, config: &Config) {
        self.route = route;
        self.unsacked += 1;
        let delayed = config.concurrent.is_some_and(|c| c.delayed_ack);
        self.now |= self.unsacked >= config.sack_frequency || (has_gaps && !delayed);
        self.now |= self.told == Told::Nothing; // §5.1: the first at once
        self.now |= config.prompt_fill && self.told == Told::Gaps && !has_gaps;
    }

    /// Starts the timer of the delayed SACK, unless a SACK is due at once or the timer runs.
    #[inline]
    pub fn delay(&mut self, now: Time, config: &Config) {
        if !self.now && !self.timer.is_armed() {
            self.timer.set(now + config.sack_delay);
        }
    }

    /// Leaves the acknowledgment to a SHUTDOWN (RFC 9260 §9.2); a SACK leaves beside it where that
    /// cannot say all.
    pub fn leave_to_shutdown(&mut self, has_gaps: bool) {
        self.now = has_gaps || !self.duplicates.is_empty();
        if !self.now {
            self.unsacked = 0;
        }
    }

    /// Makes a SACK leave, as the timer of the delayed SACK expired.
    pub fn on_timer(&mut self) {
        self.timer.stop();
        self.now = true;
    }

    /// Notes that a SACK leaves, and returns the duplicates that it reports.
    #[inline]
    pub fn take(&mut self, gaps: bool) -> Vec<Serial32> {
        self.told = if gaps { Told::Gaps } else { Told::Whole };
        self.unsacked = 0;
        self.now = false;
        self.timer.stop();
        std::mem::take(&mut self.duplicates)
    }

    /// Forgets the duplicates, which mean nothing once TSNs have started anew.
    pub fn forget_duplicates(&mut self) {
        self.duplicates.clear();
    }

    /// Begins anew, as the peer has restarted: nothing waits to be acknowledged.
    pub fn restart(&mut self) {
        self.duplicates.clear();
        self.unsacked = 0;
        self.told = Told::Nothing;
        self.stop();
    }

    /// Ends with the association: no SACK leaves any more.
    pub fn stop(&mut self) {
        self.now = false;
        self.timer.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_units::Span;
    use anabranch_wire::Addr;

    const ROUTE: Route = Route { path: 0, source: Addr(0) };

    fn sacks_after_the_first() -> Sacks {
        let mut sacks = Sacks::new(ROUTE);
        sacks.on_packet(ROUTE, false, &Config::rfc9260());
        assert!(sacks.is_due(), "RFC 9260 §5.1: the first at once");
        sacks.take(false);
        sacks
    }

    /// RFC 9260 §6.2: every second packet at once, a single one after the delay.
    #[test]
    fn every_second_packet_is_acknowledged_at_once() {
        let config = Config::rfc9260();
        let mut sacks = sacks_after_the_first();
        sacks.on_packet(ROUTE, false, &config);
        sacks.delay(Time::ZERO, &config);
        assert!(!sacks.is_due() && sacks.is_waiting());
        assert_eq!(sacks.timer.deadline(), Time::ZERO + Span::from_millis(200));
        sacks.on_packet(ROUTE, false, &config);
        assert!(sacks.is_due());
        sacks.take(false);
        assert!(!sacks.is_due() && !sacks.is_waiting() && !sacks.timer.is_armed());
        sacks.on_packet(ROUTE, false, &config);
        sacks.delay(Time::ZERO, &config);
        sacks.on_timer();
        assert!(sacks.is_due() && !sacks.timer.is_armed());
    }

    /// RFC 9260 §6.7 asks for it while there is a gap; FreeBSD's stack also when the last was
    /// filled.
    #[test]
    fn gaps_are_reported_at_once_and_their_end_where_that_is_wanted() {
        for (prompt_fill, at_once) in [(false, false), (true, true)] {
            let config = Config { prompt_fill, ..Config::rfc9260() };
            let mut sacks = sacks_after_the_first();
            sacks.on_packet(ROUTE, true, &config);
            assert!(sacks.is_due());
            sacks.take(true);
            sacks.on_packet(ROUTE, false, &config);
            assert_eq!(sacks.is_due(), at_once);
        }
    }

    #[test]
    fn duplicates_are_reported_once_and_not_without_bound() {
        let mut sacks = sacks_after_the_first();
        (0..20).for_each(|tsn| sacks.note_duplicate(Serial32(tsn)));
        assert!(sacks.is_due());
        assert_eq!(sacks.take(false).len(), MAX_DUPLICATES);
        assert!(sacks.duplicates().is_empty());
    }

    /// RFC 9260 §9.2: a SHUTDOWN says all but gaps and duplicates.
    #[test]
    fn a_shutdown_stands_for_a_sack_that_has_no_more_to_say() {
        let config = Config::rfc9260();
        for (gaps, duplicate, beside) in
            [(false, false, false), (true, false, true), (false, true, true)]
        {
            let mut sacks = sacks_after_the_first();
            sacks.on_packet(ROUTE, gaps, &config);
            if duplicate {
                sacks.note_duplicate(Serial32(1));
            }
            sacks.leave_to_shutdown(gaps);
            assert_eq!((sacks.is_due(), sacks.is_waiting()), (beside, beside));
        }
    }
}
