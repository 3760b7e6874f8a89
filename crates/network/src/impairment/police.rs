//! A policer: a packet that comes when the token bucket has fewer tokens than
//! it has octets is dropped, and takes none (RFC 2697 §3 in colour-blind mode
//! with an excess burst of zero, where red is dropped). For packets that wait
//! instead there is the token bucket of the transmitter.

use crate::catalogue::Info;
use crate::transmitter::Bucket;
use anabranch_units::{Bytes, Rate, Time};

pub(super) const INFO: Info = Info {
    name: "police",
    summary: "what exceeds a token bucket (rate, burst) is dropped",
    reference: "RFC 2697 §3",
};

/// `Police` is the token bucket of the policer.
#[derive(Debug)]
pub struct Police(Bucket);

impl Police {
    /// Makes a policer whose bucket is full.
    pub fn new(rate: Rate, burst: Bytes) -> Police {
        Police(Bucket::new(rate, burst))
    }

    /// Returns whether a packet of `size` octets conforms, and takes its tokens if it does.
    pub fn admits(&mut self, now: Time, size: u32) -> bool {
        let conforms = self.0.fits(size) && self.0.conforms_at(size) <= now;
        if conforms {
            self.0.take(now, size);
        }
        conforms
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_units::Span;

    #[test]
    fn a_burst_passes_and_then_the_rate() {
        // 12 Mbit/s: 1500 octets of tokens each millisecond, 4500 at most.
        let mut police = Police::new(Rate::mbit(12), Bytes(4500));
        let at = |us| Time::ZERO + Span::from_micros(us);
        let passed: Vec<_> = [0, 0, 0, 0, 999, 1000, 1999, 2000, 9000, 9000, 9000, 9000]
            .map(|us| police.admits(at(us), 1500))
            .into();
        let t = true;
        let f = false;
        assert_eq!(passed, [t, t, t, f, f, t, f, t, t, t, t, f]);
        assert!(!Police::new(Rate::mbit(12), Bytes(1000)).admits(at(0), 1500));
    }
}
