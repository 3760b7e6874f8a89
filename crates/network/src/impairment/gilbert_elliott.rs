//! Losses in bursts: the chain of two states of Gilbert (1960) and Elliott
//! (1963), with the letters of Hasslinger and Hohlfeld (MMB 2008).
//!
//! Before each packet the chain moves: good to bad with probability p, bad to
//! good with probability r. The packet then survives with probability k in the
//! good state and h in the bad one. Hence pi_B = p / (p + r), loss
//! (1 - k) pi_G + (1 - h) pi_B, and with k = 1, h = 0 bursts of mean length
//! 1 / r. The chain starts in its stationary law.

use crate::catalogue::Info;
use anabranch_endpoint::Generator;

pub(super) const INFO: Info = Info {
    name: "gilbert-elliott",
    summary: "losses in bursts from a good and a bad state (p, r, k, h)",
    reference: "Gilbert 1960; Elliott 1963; Hasslinger and Hohlfeld, MMB 2008",
};

/// `GilbertElliott` is the chain of two states, with its current one.
#[derive(Debug)]
pub struct GilbertElliott {
    p: f64,
    r: f64,
    k: f64,
    h: f64,
    bad: bool,
    generator: Generator,
}

impl GilbertElliott {
    /// A chain in its stationary law (good, when p and r are zero).
    pub fn new(p: f64, r: f64, k: f64, h: f64, mut generator: Generator) -> GilbertElliott {
        let pi_bad = if p + r > 0.0 { p / (p + r) } else { 0.0 };
        let bad = generator.chance(pi_bad);
        GilbertElliott { p, r, k, h, bad, generator }
    }

    /// Moves the chain, then says whether the packet is lost. Always draws
    /// twice.
    pub fn loses(&mut self) -> bool {
        let moves = self.generator.chance(if self.bad { self.r } else { self.p });
        self.bad ^= moves;
        !self.generator.chance(if self.bad { self.h } else { self.k })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_testkit::marks::record;

    /// Loss rate and mean burst length over `n` packets.
    fn measure(mut chain: GilbertElliott, n: u32) -> (f64, f64) {
        let (mut lost, mut bursts, mut before) = (0, 0, false);
        for _ in 0..n {
            let now = chain.loses();
            lost += now as u32;
            bursts += (now && !before) as u32;
            before = now;
        }
        (lost as f64 / n as f64, lost as f64 / bursts as f64)
    }

    #[test]
    fn loss_and_bursts_follow_the_stationary_law() {
        // Q2: pi_B = 0.01 / (0.01 + 0.25); k = 1, h = 0, so the mean burst is 1 / r = 4.
        let chain = GilbertElliott::new(0.01, 0.25, 1.0, 0.0, Generator::from_u64(11));
        let (loss, burst) = measure(chain, 1_000_000);
        record("Q2", "loss, p = 0.01, r = 0.25", "0.0385", format!("{loss:.4}"), "0.0015");
        record("Q2", "mean burst, the same", 4, format!("{burst:.2}"), "0.12");
        assert!((loss - 0.01 / 0.26).abs() < 0.0015, "{loss}");
        assert!((burst - 4.0).abs() < 0.12, "{burst}");
    }

    #[test]
    fn both_states_may_lose() {
        // Q2: loss = (1 - k) pi_G + (1 - h) pi_B = 0.01 * 0.9 + 0.5 * 0.1.
        let chain = GilbertElliott::new(0.02, 0.18, 0.99, 0.5, Generator::from_u64(12));
        let (loss, _) = measure(chain, 1_000_000);
        record(
            "Q2",
            "loss, p = 0.02, r = 0.18, k = 0.99, h = 0.5",
            0.059,
            format!("{loss:.4}"),
            "0.0015",
        );
        assert!((loss - 0.059).abs() < 0.0015, "{loss}");
    }

    #[test]
    fn starts_in_the_stationary_law() {
        let bad = |i| GilbertElliott::new(0.1, 0.3, 1.0, 0.0, Generator::from_u64(i)).bad;
        let share = (0..20_000).filter(|i| bad(*i)).count() as f64 / 20_000.0;
        assert!((share - 0.25).abs() < 0.015, "{share}");
        assert!(!GilbertElliott::new(0.0, 0.0, 1.0, 0.0, Generator::from_u64(0)).bad);
    }
}
