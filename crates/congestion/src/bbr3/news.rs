//! What one acknowledgment brings, in the draft's terms.

use super::Model;
use crate::{Feedback, PathView};
use anabranch_units::{Span, Time};

/// `News` is what one acknowledgment brings (`RS` and `C`), as the steps need it.
#[derive(Clone, Copy, Debug)]
pub(super) struct News {
    pub(super) now: Time,
    /// `RS.newly_acked`: octets that this acknowledgment newly reports as delivered.
    pub(super) newly_acked: u64,
    /// `RS.delivery_rate`; 0 without a sample.
    pub(super) delivery_rate: f64,
    /// `RS.delivered`: octets delivered between the sending and the acknowledgment of the sample's
    /// segment.
    pub(super) delivered: u64,
    /// `RS.prior_delivered`; `None` without a sample.
    pub(super) prior_delivered: Option<u64>,
    /// `RS.is_app_limited`: the sample's segment was sent while the application limited the sender.
    pub(super) app_limited: bool,
    /// `RS.tx_in_flight`: octets in flight when the sample's segment was sent, itself included.
    pub(super) tx_in_flight: u64,
    /// `RS.lost`: octets believed lost since the sample's segment was sent.
    pub(super) lost: u64,
    /// `RS.rtt`: the round-trip sample, if this acknowledgment gives one.
    pub(super) rtt: Option<Span>,
    /// `marked` is how many octets of [`News::newly_acked`] met congestion.
    pub(super) marked: u64,
    /// `C.inflight`: octets in flight after this acknowledgment.
    pub(super) in_flight: u64,
    /// `C.is_cwnd_limited`: the window, not the application, limits the sender.
    pub(super) cwnd_limited: bool,
    /// `C.SMSS`: the sender's maximum segment size in octets.
    pub(super) mss: u64,
}

impl Model {
    /// `GenerateRateSample()`.
    pub(super) fn news(&self, feedback: &Feedback, path: &PathView) -> News {
        let rate = feedback.rate.filter(|rate| rate.interval > Span::ZERO);
        let prior_in_flight = path.in_flight + feedback.delivered + feedback.lost;
        News {
            now: feedback.now,
            newly_acked: feedback.delivered,
            delivery_rate: rate.map_or(0.0, |r| r.delivered as f64 / r.interval.as_secs_f64()),
            delivered: rate.map_or(0, |r| r.delivered),
            prior_delivered: rate.map(|r| r.prior_delivered),
            app_limited: rate
                .is_none_or(|r| r.app_limited || self.min_rtt.was_probing_at(r.prior_delivered)),
            tx_in_flight: rate.map_or(0, |r| r.tx_in_flight),
            lost: rate.map_or(0, |r| r.lost),
            rtt: feedback.rtt.filter(|rtt| *rtt > Span::ZERO),
            marked: feedback.marked,
            in_flight: path.in_flight,
            cwnd_limited: prior_in_flight + path.mss > self.cwnd,
            mss: path.mss,
        }
    }
}
