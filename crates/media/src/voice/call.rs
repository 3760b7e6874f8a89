//! A call at its receiver: a playout buffer of fixed delay, and the quality of what it played.
//!
//! The first packet waits the delay of the buffer; each later one is played when its turn comes
//! after that. A packet that comes later than its turn is as lost as one that does not come.
//! Left out: buffers that adapt, and pauses in the speech.

use super::codec::Codec;
use super::emodel::{EModel, mos};
use anabranch_units::{Span, Time};

/// The receiver of a call.
#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    codec: Codec,
    packet: Span,
    buffer: Span,
    /// Network delay of the first packet and the wait in the buffer, once there was one.
    playout: Option<Span>,
    late: u64,
}

/// Quality of a call, and what it was computed from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CallQuality {
    /// Delay from mouth to ear.
    pub mouth_to_ear: Span,
    /// Packets that were not played, lost or late, as a share of those sent.
    pub unplayed: f64,
    /// Burst ratio of these (ITU-T G.107, clause 7.5).
    pub burst_ratio: f64,
    /// Rating R of the E-model.
    pub rating: f64,
    /// Mean opinion score estimated from it.
    pub mos: f64,
}

impl Call {
    /// A call with so much speech in each packet and such a playout buffer.
    pub fn new(codec: Codec, packet: Span, buffer: Span) -> Call {
        Call { codec, packet, buffer, playout: None, late: 0 }
    }

    /// A packet made at `made` has come: whether in time to be played.
    pub fn on_received(&mut self, now: Time, made: Time) -> bool {
        let delay = now.saturating_since(made);
        let playout = *self.playout.get_or_insert(delay + self.buffer);
        let in_time = delay <= playout;
        self.late += u64::from(!in_time);
        in_time
    }

    /// Packets that came too late.
    pub fn late(&self) -> u64 {
        self.late
    }

    /// The quality, of `sent` packets with `unplayed` not played, in `runs` runs in a row. `None`
    /// of a call of which nothing came.
    pub fn quality(&self, sent: u64, unplayed: u64, runs: u64) -> Option<CallQuality> {
        let playout = self.playout.filter(|_| sent > unplayed)?;
        let mouth_to_ear = self.packet + self.codec.lookahead + playout;
        let loss = unplayed as f64 / sent as f64;
        // The mean length of runs, over the one that random losses would have, 1 / (1 − Ppl).
        let burst_ratio = match runs {
            0 => 1.0,
            _ => (unplayed as f64 / runs as f64 * (1.0 - loss)).max(1.0),
        };
        let rating = EModel {
            delay_ms: mouth_to_ear.as_secs_f64() * 1e3,
            loss,
            burst_ratio,
            ie: self.codec.ie,
            bpl: self.codec.bpl,
            advantage: 0.0,
        }
        .rating();
        Some(CallQuality { mouth_to_ear, unplayed: loss, burst_ratio, rating, mos: mos(rating) })
    }
}

#[cfg(test)]
mod tests {
    use super::super::codec::CODECS;
    use super::*;

    const MS: fn(u64) -> Span = Span::from_millis;

    #[test]
    fn a_packet_later_than_its_turn_is_not_played() {
        let mut call = Call::new(CODECS[0], MS(20), MS(40));
        let mut hears = |made, took| {
            let made = Time::ZERO + MS(made);
            call.on_received(made + MS(took), made)
        };
        assert!(hears(0, 30) && hears(20, 70) && !hears(40, 71) && hears(60, 5));
        assert_eq!(call.late(), 1);
        let quality = call.quality(4, 1, 1).expect("something was played");
        // 20 ms in a packet, 30 ms under way, 40 ms in the buffer.
        assert_eq!(quality.mouth_to_ear, MS(90));
        assert_eq!(quality.unplayed, 0.25);
        assert_eq!(quality.burst_ratio, 1.0);
    }

    #[test]
    fn losses_that_come_together_have_a_burst_ratio() {
        let mut call = Call::new(CODECS[2], MS(20), MS(40));
        call.on_received(Time::ZERO + MS(30), Time::ZERO);
        let [alone, together] = [20, 5].map(|runs| call.quality(1000, 20, runs).expect("played"));
        assert_eq!((alone.burst_ratio, together.burst_ratio), (1.0, 4.0 * 0.98));
        assert!(together.mos < alone.mos);
        assert_eq!(call.quality(10, 10, 1), None);
    }

    /// By their factors: concealment helps G.711, and 5 % of loss leaves G.729A below what G.107,
    /// Annex B, calls satisfactory to many (MOS 3.6).
    #[test]
    fn codecs_stand_as_they_are_known_to() {
        let score = |codec, unplayed| {
            let mut call = Call::new(codec, MS(20), MS(40));
            call.on_received(Time::ZERO + MS(90), Time::ZERO);
            call.quality(1000, unplayed, unplayed).expect("played").mos
        };
        assert!(score(CODECS[1], 10) > 4.1, "{}", score(CODECS[1], 10));
        assert!(score(CODECS[2], 50) < 3.6, "{}", score(CODECS[2], 50));
        assert!(score(CODECS[0], 50) < score(CODECS[1], 50));
    }
}
