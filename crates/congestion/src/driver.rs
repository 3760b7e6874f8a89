//! Drives a sender's window algorithm: the one adapter between a transport protocol and a
//! [`Controller`]. A TCP connection has one, so has each subflow of Multipath TCP, and each path of
//! an SCTP association.
//!
//! The sender tells what happened, in this order for each acknowledgment:
//!
//! 1. [`Driver::on_siblings`], where the algorithm is coupled and the connection has other paths;
//! 2. [`Driver::on_delivered`] and [`Driver::on_record`], for what newly arrived;
//! 3. [`Driver::on_undo`], where the last reduction turned out to be spurious;
//! 4. [`Driver::on_ack`], if the window may grow, then [`Driver::on_congestion`], if there is a
//!    signal (the order of RFC 9260 §7.2.4; a recovery scheme of TCP does one of the two);
//! 5. [`Driver::on_feedback`], then [`Driver::end_ack`].
//!
//! What algorithms need beside, the adapter keeps: delivery-rate samples, where the algorithm hears
//! feedback, and the date at which paced data may leave, once there is a rate. Others pay one branch
//! for each.

mod delivery_rate;
mod pacer;

pub use delivery_rate::Stamp;

use crate::{
    Acked, Cause, Congestion, CongestionEvent, Controller, Feedback, PathView, Shared, Sibling,
};
use anabranch_units::{Bytes, Rate, Span, Time};
use delivery_rate::DeliveryRate;
use pacer::Pacer;

/// `Told` is what an acknowledgment told, as the protocol knows it; fields are those of
/// [`Feedback`].
#[derive(Clone, Copy, Debug)]
pub struct Told {
    /// `now` is the time at which the acknowledgment arrived.
    pub now: Time,
    /// `acked` is how many octets were newly acknowledged, in order.
    pub acked: u64,
    /// `delivered` is how many octets are newly known to have arrived: in order or selectively.
    pub delivered: u64,
    /// `lost` is how many octets are newly believed lost.
    pub lost: u64,
    /// `marked` is how many octets were newly reported to have met congestion.
    pub marked: u64,
    /// `rtt` is the round-trip sample that this acknowledgment gives, if it gives one.
    pub rtt: Option<Span>,
    /// `in_recovery` says that a loss is being repaired.
    pub in_recovery: bool,
}

/// A `Driver` owns the window algorithm of one path, and what is kept for it.
#[derive(Debug)]
pub struct Driver {
    congestion: Congestion,
    extras: Option<Box<Extras>>,
}

/// `Extras` has what only some algorithms need.
#[derive(Debug, Default)]
struct Extras {
    /// `rate` has the counts for delivery-rate samples, where the algorithm hears feedback.
    rate: Option<DeliveryRate>,
    /// The pacer, which knows when the next data may leave; absent before there is a rate.
    pacer: Option<Pacer>,
}

impl Driver {
    /// Drives this controller; delivery rates are sampled only if it asks for feedback.
    pub fn new(congestion: Congestion) -> Driver {
        let rate = congestion.wants_feedback().then(DeliveryRate::default);
        let extras = rate.is_some().then(|| Box::new(Extras { rate, pacer: None }));
        Driver { congestion, extras }
    }

    /// Another algorithm, or the same with another window, takes over before any data was
    /// acknowledged: the counts go on.
    pub fn replace(&mut self, congestion: Congestion) {
        let new = Driver::new(congestion);
        self.congestion = new.congestion;
        self.extras = self.extras.take().or(new.extras);
    }

    /// Returns the algorithm at work, to be read only.
    pub fn algorithm(&self) -> &Congestion {
        &self.congestion
    }

    /// Returns the congestion window, in octets.
    #[inline]
    pub fn window(&self) -> u64 {
        self.congestion.window()
    }

    /// Returns the slow-start threshold, in octets; `u64::MAX` when infinite.
    #[inline]
    pub fn ssthresh(&self) -> u64 {
        self.congestion.ssthresh()
    }

    /// Returns whether the algorithm hears each acknowledgment ([`Controller::wants_feedback`]).
    #[inline]
    pub fn wants_feedback(&self) -> bool {
        self.congestion.wants_feedback()
    }

    /// Delivery rates are measured: each segment that leaves takes a [`Stamp`].
    #[inline]
    pub fn measures(&self) -> bool {
        self.extras.as_ref().is_some_and(|extras| extras.rate.is_some())
    }

    /// The window in a recovery is the algorithm's own ([`Controller::owns_recovery`]).
    pub fn owns_recovery(&self) -> bool {
        self.congestion.owns_recovery()
    }

    /// Returns whether the algorithm depends on the other paths of its connection.
    pub fn is_coupled(&self) -> bool {
        self.congestion.is_coupled()
    }

    /// Returns the facts that siblings should know of this path.
    pub fn shared(&self) -> Shared {
        self.congestion.shared()
    }

    /// Returns the quantity that couples this path to its siblings ([`Controller::coupling`]).
    pub fn coupling(&self, path: &Sibling) -> Option<f64> {
        self.congestion.coupling(path)
    }

    /// `octets` of data are about to leave, for the first time or again; `path` is as it is before.
    #[inline]
    pub fn on_sent(&mut self, now: Time, octets: u64, path: &PathView) {
        self.congestion.on_sent(now, octets, path);
        if let Some(rate) = self.rate_mut() {
            rate.on_sending(now, path.in_flight);
        }
    }

    /// Returns what a segment keeps that leaves now, after [`Driver::on_sent`]; nothing where no
    /// rate is measured. `tx_in_flight` counts the octets in flight with it, where losses are
    /// [told](Driver::wants_losses), else 0.
    #[inline]
    pub fn stamp(&self, tx_in_flight: u64) -> Stamp {
        let rate = self.extras.as_ref().and_then(|extras| extras.rate.as_ref());
        rate.map_or_else(Stamp::default, |rate| rate.stamp(tx_in_flight))
    }

    /// The algorithm hears of each segment that is believed lost ([`Controller::wants_losses`]).
    #[inline]
    pub fn wants_losses(&self) -> bool {
        self.congestion.wants_losses()
    }

    /// So many octets from `offset` on, which left with this `stamp`, are newly believed lost; `path` is
    /// as it is then. Before [`Driver::on_feedback`], and only where the algorithm
    /// [wants it](Driver::wants_losses).
    pub fn on_lost(
        &mut self,
        now: Time,
        (offset, octets): (u64, u64),
        stamp: &Stamp,
        path: &PathView,
    ) {
        if let Some(rate) = self.rate_mut() {
            let segment = rate.on_lost(offset, octets, stamp);
            self.congestion.on_lost(now, &segment, path);
        }
    }

    /// `octets` have newly arrived, in order or selectively.
    #[inline]
    pub fn on_delivered(&mut self, now: Time, octets: u64) {
        if let Some(rate) = self.rate_mut() {
            rate.on_delivered(now, octets);
        }
    }

    /// Notes that the segment which left at `sent` with this `stamp` is newly reported, whatever
    /// else was or will be before [`Driver::on_feedback`]. Of those that left together, that with
    /// the largest `order` is the newest.
    #[inline]
    pub fn on_record(&mut self, sent: Time, order: u64, stamp: &Stamp) {
        if let Some(rate) = self.rate_mut() {
            rate.on_record(sent, order, stamp);
        }
    }

    /// There is nothing more to send, with so many octets in flight, though the window is open.
    #[inline]
    pub fn on_app_limited(&mut self, in_flight: u64) {
        if let Some(rate) = self.rate_mut() {
            rate.on_app_limited(in_flight);
        }
    }

    /// Data was acknowledged, and the window may grow.
    #[inline]
    pub fn on_ack(&mut self, acked: &Acked, path: &PathView) {
        self.congestion.on_ack(acked, path);
    }

    /// Tells of a congestion signal, one for each window of data; `path` is as it was before the
    /// loss was found or the mark was reported.
    pub fn on_congestion(&mut self, now: Time, cause: Cause, path: &PathView) {
        self.congestion.on_congestion(&CongestionEvent { now, cause }, path);
    }

    /// All else that an acknowledgment caused has happened; `path` is as it was left. Only where the
    /// algorithm [wants it](Driver::wants_feedback).
    pub fn on_feedback(&mut self, told: &Told, path: &PathView) {
        let rate = self.extras.as_ref().and_then(|extras| extras.rate.as_ref());
        let feedback = Feedback {
            now: told.now,
            acked: told.acked,
            delivered: told.delivered,
            lost: told.lost,
            marked: told.marked,
            rtt: told.rtt,
            rate: rate.and_then(|rate| rate.sample(path.min_rtt)),
            in_recovery: told.in_recovery,
        };
        self.congestion.on_feedback(&feedback, path);
    }

    /// Forgets what belongs to the acknowledgment at hand: the next may come.
    #[inline]
    pub fn end_ack(&mut self) {
        if let Some(rate) = self.rate_mut() {
            rate.end_ack();
        }
    }

    /// Tells the algorithm that its last reduction was spurious.
    pub fn on_undo(&mut self) {
        self.congestion.on_undo();
    }

    /// The path was idle for longer than a retransmission timeout.
    pub fn on_idle(&mut self, initial: u64) {
        self.congestion.on_idle(initial);
    }

    /// Tells of the other paths, before each acknowledgment of a coupled algorithm.
    pub fn on_siblings(&mut self, siblings: &[Sibling]) {
        self.congestion.on_siblings(siblings);
    }

    /// The path holds back others of its connection.
    pub fn on_penalty(&mut self, mss: u64) {
        self.congestion.on_penalty(mss);
    }

    /// The rate to pace at, where the algorithm has one.
    pub fn pacing_rate(&self, srtt: Option<Span>) -> Option<Rate> {
        self.congestion.pacing_rate(srtt)
    }

    /// Makes the pacer once the algorithm has a rate. Called when a path opens and with each
    /// round-trip sample, not for each packet: once there is a rate, there is one.
    pub fn note_pacing(&mut self, srtt: Option<Span>) {
        if self.pacer().is_none() && self.congestion.pacing_rate(srtt).is_some() {
            self.extras.get_or_insert_default().pacer = Some(Pacer::default());
        }
    }

    /// Returns whether data leaves at a rate, rather than as soon as the window allows.
    #[inline]
    pub fn is_paced(&self) -> bool {
        self.pacer().is_some()
    }

    /// Returns when data may leave, if the pacer makes it wait now.
    #[inline]
    pub fn paced_until(&self, now: Time) -> Option<Time> {
        let pacer = self.pacer()?;
        (!pacer.may_send(now)).then_some(pacer.next)
    }

    /// A packet of `size` left that counts `share` of the `burst` that may leave together: in octets of
    /// data, or in packets. The algorithm may have less leave together.
    #[inline]
    pub fn on_paced(
        &mut self,
        now: Time,
        (share, size): (u64, Bytes),
        burst: u64,
        srtt: Option<Span>,
    ) {
        if let Some(extras) = &mut self.extras
            && let Some(pacer) = &mut extras.pacer
            && let Some(rate) = self.congestion.pacing_rate(srtt)
        {
            let burst = match self.congestion.longest_burst() {
                None => burst,
                Some(longest) => {
                    let packets = rate.bytes_in(longest).0 / size.0.max(1);
                    burst.min(share * packets.max(1))
                }
            };
            pacer.on_sent(now, share, size, rate, burst);
        }
    }

    #[inline]
    fn rate_mut(&mut self) -> Option<&mut DeliveryRate> {
        self.extras.as_mut()?.rate.as_mut()
    }

    #[inline]
    fn pacer(&self) -> Option<&Pacer> {
        self.extras.as_ref()?.pacer.as_ref()
    }
}
