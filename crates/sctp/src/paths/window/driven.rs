//! A window algorithm that is shared with TCP works on one path here, by way of a [`Driver`] and of
//! what the path counts for it.
//!
//! SCTP acknowledges chunks in any order, and a chunk may be sent again on another path. So a path
//! counts the octets that were given to it, each once, and those of them that are not outstanding
//! there any more: acknowledged by the cumulative TSN or a gap block, moved to another path, or
//! given up. A round has passed when the second count reaches what the first was.

use super::{Progress, View};
use anabranch_congestion::{Acked, Cause, Congestion, Driver, PathView, Sibling, Stamp, Told};
use anabranch_endpoint::Timer;
use anabranch_units::{Rate, Span, Time};
use anabranch_wire::Packet;

/// This many packets leave together where data is paced, as TCP has by default.
const PACING_BURST: u64 = 2;

/// A `Driven` is a window algorithm at work on a path.
#[derive(Debug)]
pub(crate) struct Driven {
    driver: Driver,
    /// `sent` counts the octets that were given to the path, each once.
    sent: u64,
    /// `settled` counts those of them that are no longer outstanding there.
    settled: u64,
    /// `limited` says that the window, not the application or the peer, stopped the last sending
    /// opportunity.
    limited: bool,
    /// `wake` says when paced data may leave that waits.
    wake: Timer,
    /// `min_rtt` is the smallest round-trip time that a chunk gave: more of them are looked at than
    /// the RTO's estimator hears of.
    min_rtt: Option<Span>,
    /// `losses` has the chunks that the SACK at hand found missing, where the algorithm hears of
    /// each: offset, octets and stamp.
    losses: Vec<(u64, u64, Stamp)>,
}

impl Driven {
    pub fn new(mut driver: Driver) -> Driven {
        driver.note_pacing(None);
        Driven {
            driver,
            sent: 0,
            settled: 0,
            limited: false,
            wake: Timer::IDLE,
            min_rtt: None,
            losses: Vec::new(),
        }
    }

    /// Begins anew with another algorithm, as the path leads another way. What is outstanding is
    /// still counted, and so is what was delivered.
    pub fn begin_anew(&mut self, congestion: Congestion) {
        self.driver.replace(congestion);
        self.driver.note_pacing(None);
        self.min_rtt = None;
        self.limited = false;
        self.losses.clear();
    }

    /// Returns the adapter itself, to be read.
    pub fn driver(&self) -> &Driver {
        &self.driver
    }

    #[inline]
    fn path(&self, view: &View) -> PathView {
        PathView {
            in_flight: view.flight,
            mss: view.chunk,
            srtt: view.srtt,
            min_rtt: least(self.min_rtt, view.min_rtt),
            app_limited: !self.limited,
            sent: self.sent,
            acked: self.settled,
        }
    }

    /// Notes that a chunk of `octets` is about to leave; `arrives` says that it was not outstanding
    /// here before.
    pub fn on_sent(&mut self, now: Time, octets: u64, arrives: bool, view: &View) {
        let path = self.path(view);
        self.driver.on_sent(now, octets, &path);
        if arrives {
            self.sent += octets;
        }
    }

    /// Notes that chunks of `octets` are outstanding here that were so elsewhere, or that had
    /// arrived and were dropped again by the receiver.
    pub fn adopt(&mut self, octets: u64) {
        self.sent += octets;
    }

    /// Notes that chunks of `octets` are not outstanding here any more, and were not acknowledged.
    pub fn forget(&mut self, octets: u64) {
        self.settled += octets;
    }

    /// Notes that the chunk of `octets` with this offset, which left with this stamp, is found
    /// missing; the algorithm hears of it with the feedback of the SACK, where it asks.
    pub fn note_lost(&mut self, offset: u64, octets: u64, stamp: &Stamp) {
        if self.driver.wants_losses() {
            self.losses.push((offset, octets, *stamp));
        }
    }

    /// Notes that the chunk with this offset, which left at `sent`, is newly acknowledged.
    pub fn on_record(&mut self, sent: Time, offset: u64, stamp: &Stamp) {
        self.driver.on_record(sent, offset, stamp);
    }

    /// Notes that something was newly acknowledged. The window may grow if `grows`.
    pub fn on_progress(&mut self, progress: &Progress, grows: bool, view: &View) {
        self.settled += progress.acked;
        self.min_rtt = least(self.min_rtt, progress.rtt);
        self.driver.on_delivered(progress.now, progress.acked);
        if grows {
            let path = self.path(&View { flight: progress.flight, ..*view });
            let (now, bytes, rtt) = (progress.now, progress.acked, progress.rtt);
            self.driver.on_ack(&Acked { now, bytes, rtt }, &path);
        }
    }

    /// Tells the algorithm of congestion; of what was outstanding no more than a window counts, as
    /// in TCP.
    pub fn on_congestion(&mut self, now: Time, cause: Cause, view: &View) {
        let flight = view.flight.min(self.driver.window());
        let path = self.path(&View { flight, ..*view });
        self.driver.on_congestion(now, cause, &path);
    }

    pub fn on_feedback(&mut self, told: &Told, view: &View) {
        if self.driver.wants_feedback() {
            let path = self.path(view);
            for (offset, octets, stamp) in self.losses.drain(..) {
                self.driver.on_lost(told.now, (offset, octets), &stamp, &path);
            }
            self.driver.on_feedback(told, &path);
        }
        self.driver.end_ack();
    }

    pub fn on_undo(&mut self) {
        self.driver.on_undo();
    }

    pub fn on_idle(&mut self, initial: u64) {
        self.driver.on_idle(initial);
    }

    pub fn on_siblings(&mut self, siblings: &[Sibling]) {
        self.driver.on_siblings(siblings);
    }

    /// Notes that a sending opportunity is over, with `flight` octets outstanding: something waits
    /// to leave, or not; a packet that was sent after a timeout may be `awaited`, which bounds the
    /// window, too.
    pub fn note_use(&mut self, waits: bool, awaited: bool, flight: u64) {
        if waits && self.wake.is_armed() {
            return; // the pacer ended it
        }
        self.limited = waits && (awaited || flight >= self.driver.window());
        if !self.limited {
            self.driver.on_app_limited(flight);
        }
    }

    /// Returns whether the pacer makes data wait; the timer is set then.
    pub fn waits_for_pacer(&mut self, now: Time) -> bool {
        match self.driver.paced_until(now) {
            Some(until) => self.wake.set(until),
            None => self.wake.stop(),
        }
        self.wake.is_armed()
    }

    /// Returns the date at which paced data may leave that waits; it is never where none does.
    pub fn deadline(&self) -> Time {
        self.wake.deadline()
    }

    /// Stops the pacer's timer if it has expired by `now`.
    pub fn on_timeout(&mut self, now: Time) {
        if self.wake.expired(now) {
            self.wake.stop();
        }
    }

    /// Notes that there is a round-trip sample, so that there may be a rate.
    pub fn note_pacing(&mut self, srtt: Option<Span>) {
        self.driver.note_pacing(srtt);
    }

    /// Notes that a packet with data left.
    pub fn on_paced(&mut self, now: Time, packet: &Packet, srtt: Option<Span>) {
        self.driver.on_paced(now, (1, packet.wire_len()), PACING_BURST, srtt);
    }

    pub fn pacing_rate(&self, srtt: Option<Span>) -> Option<Rate> {
        self.driver.pacing_rate(srtt)
    }
}

/// Returns the smaller of two spans, as far as they are known.
#[inline]
fn least(one: Option<Span>, other: Option<Span>) -> Option<Span> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
