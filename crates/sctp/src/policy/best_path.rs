//! Best path sends a chunk to where it is expected to arrive first.
//!
//! The expected time until it arrives on a path is
//!
//! ```text
//! D = W + SRTT / 2 + RTO · p / (1 − p)
//! ```
//!
//! W, the wait for the window: 0 while less than the window is outstanding, else
//! the excess, and a packet, at the rate of a window in each round trip. RTO, with its back-off,
//! is what a loss costs, and p / (1 − p) the expected number of losses: a
//! retransmission that is lost again is repaired by a timeout. p is 1 − (1 − l) /
//! 2^e with the estimated loss rate l and e errors in a row, each of which halves
//! the belief that the path works. A path that was never measured has its RTO for
//! SRTT. Ties stay on the path.

use super::{Candidate, Paths, least};

/// A packet is taken to have this many octets.
const PACKET: u64 = 1500;
/// No larger share of losses than this counts.
const WORST: f64 = 0.999;

pub(super) fn choose(last: usize, paths: &impl Paths) -> usize {
    least(last, paths, |path| expected(&path))
}

/// Returns the expected time until a chunk arrives on the path, in seconds.
fn expected(path: &Candidate) -> f64 {
    let rto = path.rto.as_secs_f64();
    let srtt = path.srtt.map_or(rto, |srtt| srtt.as_secs_f64());
    let cwnd = path.cwnd.max(1) as f64;
    let excess = match path.has_room() {
        true => 0,
        false => path.flight - path.cwnd + PACKET,
    } as f64;
    let works = (1.0 - path.loss) / (1_u64 << path.errors.min(60)) as f64;
    let p = (1.0 - works).clamp(0.0, WORST);
    srtt * excess / cwnd + srtt / 2.0 + rto * p / (1.0 - p)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_units::Span;

    /// The terms of the formula, one at a time.
    #[test]
    fn expected_times_follow_the_formula() {
        let rest = Candidate {
            active: true,
            confirmed: true,
            cwnd: 10_000,
            srtt: Some(Span::from_millis(100)),
            rto: Span::from_secs(1),
            ..Candidate::default()
        };
        let close = |path: Candidate, seconds: f64| {
            assert!((expected(&path) - seconds).abs() < 1e-4, "{}", expected(&path));
        };
        close(rest, 0.05);
        close(Candidate { flight: 9999, ..rest }, 0.05);
        close(Candidate { flight: 18_500, ..rest }, 0.15); // a round trip of wait
        close(Candidate { loss: 0.02, ..rest }, 0.05 + 0.02 / 0.98);
        close(Candidate { errors: 2, ..rest }, 0.05 + 3.0);
        close(Candidate { srtt: None, ..rest }, 0.5);
    }
}
