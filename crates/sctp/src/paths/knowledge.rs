//! What is known of a path comes from what was sent there for its own sake, and from heartbeats.
//!
//! Data and retransmissions tell of losses, of the rate that the path takes and of when it last
//! worked (passive knowledge); heartbeats tell of losses and of when it last worked (active). RTT
//! and RTO are the estimator's.

use anabranch_units::{Span, Time};

/// `Knowledge` is what is known of one path.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Knowledge {
    losses: Losses,
    /// `heard` is the date at which the peer last acknowledged something that was sent there, data
    /// or a heartbeat.
    pub heard: Option<Time>,
    /// `resent` is the date at which a chunk that had been lost was last sent there.
    pub resent: Option<Time>,
    /// `capacity` is the rate that the path takes, in octets per second, once a queue has been
    /// seen.
    capacity: Option<f64>,
}

impl Knowledge {
    /// With this many packets outstanding no SACK is delayed for want of a second packet.
    const BUSY: u64 = 4;

    /// Notes that `arrived` chunks or heartbeats arrived, and `lost` did not.
    #[inline]
    pub fn note(&mut self, arrived: u32, lost: u32) {
        self.losses.note(arrived, lost);
    }

    /// Returns the share of what is sent there that is lost, 0 to 1. Before there is evidence it is
    /// one in a hundred, as if of fifty chunks.
    pub fn loss(&self) -> f64 {
        self.losses.share()
    }

    /// Notes that the round trip of a chunk took `rtt`; when it left, `flight` octets were
    /// outstanding with it, in packets of `packet` octets. The least round-trip time is `least`.
    ///
    /// Where it is twice the least there is a queue, so that the path has been busy all the time,
    /// and takes what was outstanding in a round trip (Little's law): the mean over eight samples
    /// or so. With less than [`Knowledge::BUSY`] packets the time may be that of a SACK that was
    /// delayed for want of a second packet (RFC 9260 §6.2).
    #[inline]
    pub fn on_round_trip(&mut self, flight: u64, packet: u64, rtt: Span, least: Span) {
        if rtt < least * 2 || rtt == Span::ZERO || flight < Self::BUSY * packet {
            return;
        }
        let rate = flight as f64 / rtt.as_secs_f64();
        self.capacity = Some(match self.capacity {
            None => rate,
            Some(before) => before + (rate - before) / 8.0,
        });
    }

    /// Returns the rate that the path takes, in octets per second; `None` while no queue has been
    /// seen there.
    pub fn capacity(&self) -> Option<f64> {
        self.capacity
    }
}

/// `Losses` count what was lost of what was sent to a path; what is older has less weight.
#[derive(Clone, Copy, Debug, Default)]
struct Losses {
    /// `lost` counts what was lost, in units of a 256th.
    lost: u32,
    total: u32,
}

impl Losses {
    /// Once more than this many were counted, the counts are halved.
    const MEMORY: u32 = 512;

    #[inline]
    fn note(&mut self, arrived: u32, lost: u32) {
        self.lost += lost << 8;
        self.total += arrived + lost;
        if self.total > Self::MEMORY {
            self.lost /= 2;
            self.total /= 2;
        }
    }

    fn share(&self) -> f64 {
        (self.lost as f64 / 256.0 + 0.5) / (self.total as f64 + 50.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_one_in_a_hundred_until_there_is_evidence() {
        let mut known = Knowledge::default();
        assert_eq!(known.loss(), 0.01);
        known.note(90, 10);
        assert_eq!(known.loss(), 10.5 / 150.0);
        // The 513th halves what was before.
        known.note(413, 0);
        assert_eq!(known.loss(), 5.5 / (256.0 + 50.0));
    }

    /// 25,000 octets in each round trip of 100 ms are 2 Mbit/s, whatever the window.
    #[test]
    fn a_queue_tells_what_a_path_takes() {
        let (least, ms) = (Span::from_millis(40), Span::from_millis);
        let mut known = Knowledge::default();
        known.on_round_trip(10_000, 1500, ms(79), least);
        assert_eq!(known.capacity(), None, "no queue, hence no bound");
        known.on_round_trip(25_000, 1500, ms(100), least);
        assert_eq!(known.capacity(), Some(250_000.0));
        known.on_round_trip(1500, 1500, ms(300), least);
        assert_eq!(known.capacity(), Some(250_000.0), "a SACK that was delayed");
        known.on_round_trip(50_000, 1500, ms(200), least);
        assert_eq!(known.capacity(), Some(250_000.0));
        known.on_round_trip(33_000, 1500, ms(100), least);
        assert_eq!(known.capacity(), Some(260_000.0), "an eighth of the change");
    }
}
