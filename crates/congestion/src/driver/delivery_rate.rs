//! Delivery-rate samples: draft-ietf-ccwg-bbr, section "Delivery Rate
//! Samples" (draft-cheng-iccrg-delivery-rate-estimation).
//!
//! Each segment or chunk remembers how much had been delivered when it left ([`Stamp`]);
//! when it is acknowledged, what was delivered since, over the time that this
//! took, is a sample. The time is the longer of the interval in which the flight
//! was sent and that in which it was acknowledged, so that neither compressed
//! ACKs nor bursts exaggerate.

use crate::{LostSegment, RateSample};
use anabranch_units::{Span, Time};

/// `Stamp` is what a segment or chunk remembers of its sending.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stamp {
    /// `P.delivered`: octets delivered on the path when this left.
    delivered: u64,
    /// `P.delivered_time`: when the last of those octets was known to have arrived.
    delivered_at: Time,
    /// `P.first_send_time`: the start of the flight that it belongs to.
    first_sent: Time,
    /// `P.is_app_limited`: the application limited the sender when this left.
    app_limited: bool,
    /// `P.tx_in_flight`: octets in flight when this had left.
    tx_in_flight: u64,
    /// `P.lost`: octets believed lost on the path when this left.
    lost: u64,
}

/// The path's counts, and the sample of the acknowledgment in hand.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DeliveryRate {
    /// `C.delivered`: octets known to have arrived so far.
    delivered: u64,
    /// `C.delivered_time`: when `delivered` last grew, or a flight began from nothing.
    delivered_at: Time,
    /// `C.first_send_time`: when the newest segment acknowledged so far was sent, or a flight
    /// began.
    first_sent: Time,
    /// `C.app_limited`: the count of delivered octets with which the flight
    /// that the application limited ends; 0 for none.
    app_limited: u64,
    /// `C.lost`: octets believed lost so far.
    lost: u64,
    /// `newest` is the newest segment that the acknowledgment in hand reports; the sample is taken
    /// from its stamp.
    newest: Option<Newest>,
}

#[derive(Clone, Copy, Debug)]
struct Newest {
    stamp: Stamp,
    sent: Time,
    order: u64,
}

impl DeliveryRate {
    /// Data leaves; `in_flight` octets were in the network before. A flight
    /// that starts from nothing starts the intervals.
    pub fn on_sending(&mut self, now: Time, in_flight: u64) {
        if in_flight == 0 {
            self.first_sent = now;
            self.delivered_at = now;
        }
    }

    /// The stamp of what leaves now, with which so many octets are in flight.
    pub fn stamp(&self, tx_in_flight: u64) -> Stamp {
        Stamp {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            app_limited: self.app_limited != 0,
            tx_in_flight,
            lost: self.lost,
        }
    }

    /// So many octets are newly known to have arrived.
    pub fn on_delivered(&mut self, now: Time, octets: u64) {
        if octets == 0 {
            return;
        }
        self.delivered += octets;
        self.delivered_at = now;
        if self.app_limited != 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
    }

    /// Notes that the segment which left at `sent` is newly reported; of those that left together
    /// the one with the largest `order` is the newest.
    pub fn on_record(&mut self, sent: Time, order: u64, stamp: &Stamp) {
        let last = self.newest.map_or(0, |n| n.order);
        if sent > self.first_sent || sent == self.first_sent && order > last {
            self.newest = Some(Newest { stamp: *stamp, sent, order });
            self.first_sent = sent;
        }
    }

    /// Returns the sample; `None` without a newly reported segment, and where the interval is
    /// shorter than any round trip and so cannot be trusted.
    pub fn sample(&self, min_rtt: Option<Span>) -> Option<RateSample> {
        let Newest { stamp, sent, .. } = self.newest?;
        let send_elapsed = sent - stamp.first_sent;
        let ack_elapsed = self.delivered_at - stamp.delivered_at;
        let interval = send_elapsed.max(ack_elapsed);
        if interval < min_rtt.unwrap_or(Span::ZERO) || interval == Span::ZERO {
            return None;
        }
        Some(RateSample {
            delivered: self.delivered - stamp.delivered,
            interval,
            prior_delivered: stamp.delivered,
            total_delivered: self.delivered,
            app_limited: stamp.app_limited,
            tx_in_flight: stamp.tx_in_flight,
            lost: self.lost - stamp.lost,
        })
    }

    /// Counts octets of a segment at `offset`, which left with this stamp, as newly believed lost.
    pub fn on_lost(&mut self, offset: u64, bytes: u64, stamp: &Stamp) -> LostSegment {
        self.lost += bytes;
        LostSegment {
            offset,
            bytes,
            tx_in_flight: stamp.tx_in_flight,
            lost: self.lost - stamp.lost,
            app_limited: stamp.app_limited,
        }
    }

    /// Forgets what belongs to the acknowledgment at hand: the next may come.
    pub fn end_ack(&mut self) {
        self.newest = None;
    }

    /// The application has nothing more to send while the window is open.
    pub fn on_app_limited(&mut self, in_flight: u64) {
        self.app_limited = (self.delivered + in_flight).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// Ten segments of 1000 octets a millisecond apart; the ACKs come after
    /// 100 ms at half that rate: the samples converge to the ACKs' rate.
    #[test]
    fn the_slower_of_sending_and_acknowledging_counts() {
        let mut c = DeliveryRate::default();
        let stamps: Vec<_> = (0..10)
            .map(|n| {
                c.on_sending(at(n), n * 1000);
                (at(n), c.stamp(0))
            })
            .collect();
        let mut samples = Vec::new();
        for (n, (sent, stamp)) in stamps.iter().enumerate() {
            c.on_delivered(at(100 + 2 * n as u64), 1000);
            c.on_record(*sent, 1000 * (n as u64 + 1), stamp);
            let s = c.sample(Some(Span::from_millis(100))).unwrap();
            samples.push((s.delivered, s.interval.as_millis()));
            c.end_ack();
        }
        assert_eq!(samples[0], (1000, 100));
        assert_eq!(samples[9], (10_000, 118));
    }

    /// An interval shorter than the least round trip comes from an ACK of a
    /// retransmission for the original: not a sample.
    #[test]
    fn intervals_shorter_than_a_round_trip_are_refused() {
        let mut c = DeliveryRate::default();
        c.on_sending(at(0), 0);
        let stamp = c.stamp(0);
        c.on_delivered(at(5), 1000);
        c.on_record(at(0), 1000, &stamp);
        assert_eq!(c.sample(Some(Span::from_millis(10))), None);
        assert!(c.sample(Some(Span::from_millis(5))).is_some());
    }

    #[test]
    fn a_flight_limited_by_the_application_is_told() {
        let mut c = DeliveryRate::default();
        c.on_sending(at(0), 0);
        c.on_app_limited(1000);
        let stamp = c.stamp(0);
        c.on_delivered(at(10), 1000);
        c.on_record(at(0), 1000, &stamp);
        assert!(c.sample(None).unwrap().app_limited);
        c.end_ack();
        // Everything of that flight is delivered: the next is not limited.
        c.on_delivered(at(11), 1);
        assert!(!c.stamp(0).app_limited);
    }

    /// Five segments, of which the second and the fourth are lost: what was in flight with each when it
    /// left, and what was lost since.
    #[test]
    fn each_loss_tells_what_was_in_flight_and_lost_since_it_was_sent() {
        let mut c = DeliveryRate::default();
        let stamps: Vec<_> = (0..5)
            .map(|n| {
                c.on_sending(at(n), n * 10);
                c.stamp(n * 10 + 10)
            })
            .collect();
        let lost = |offset, tx_in_flight, lost| LostSegment {
            offset,
            bytes: 10,
            tx_in_flight,
            lost,
            app_limited: false,
        };
        assert_eq!(c.on_lost(10, 10, &stamps[1]), lost(10, 20, 10));
        assert_eq!(c.on_lost(30, 10, &stamps[3]), lost(30, 40, 20));
        // The second is sent again, with only the fifth besides; that arrives, and it is lost again.
        let again = c.stamp(20);
        c.on_delivered(at(70), 10);
        c.on_record(at(4), 50, &stamps[4]);
        let sample = c.sample(None).expect("the fifth arrived");
        assert_eq!((sample.tx_in_flight, sample.lost), (50, 20));
        assert_eq!(c.on_lost(10, 10, &again), lost(10, 20, 10));
    }
}
