//! Seeds: each random component has a generator of its own, derived from
//! (seed, replication, component name), so that adding a component does not
//! shift another's draws.

/// The generator's name as results record it. Its output is pinned: a change
/// of algorithm is a change of name.
pub const GENERATOR: &str = "xoshiro256++ seeded by splitmix64(fnv1a64)";

/// What a run's random components are derived from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Seed {
    /// Seed of the experiment, as the user gives it.
    pub seed: u64,
    /// Number of the replication, from 0.
    pub replication: u64,
}

impl Seed {
    /// The generator of the component called `name`.
    pub fn generator(&self, name: &str) -> Generator {
        // FNV-1a, 64 bits, over seed, replication and name.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let bytes = self.seed.to_le_bytes().into_iter().chain(self.replication.to_le_bytes());
        for byte in bytes.chain(name.bytes()) {
            hash = (hash ^ byte as u64).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Generator::from_u64(hash)
    }
}

/// xoshiro256++ (Blackman and Vigna 2019, public domain).
#[derive(Clone, Debug)]
pub struct Generator {
    state: [u64; 4],
}

impl Generator {
    /// Seeded through SplitMix64, as the authors advise.
    pub fn from_u64(mut seed: u64) -> Generator {
        let mut next = || {
            seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = seed;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        };
        Generator { state: [next(), next(), next(), next()] }
    }
    /// Draws the next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        let [s0, s1, s2, s3] = self.state;
        let result = s0.wrapping_add(s3).rotate_left(23).wrapping_add(s0);
        let t = s1 << 17;
        let s2 = s2 ^ s0;
        let s3 = s3 ^ s1;
        self.state = [s0 ^ s3, s1 ^ s2, s2 ^ t, s3.rotate_left(45)];
        result
    }
    /// Uniform in [0, 1), 53 bits.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }
    /// True with probability `p`. Always draws once.
    pub fn chance(&mut self, p: f64) -> bool {
        self.uniform() < p
    }
    /// Uniform in 0..n (Lemire's multiply-shift; bias below n / 2^64).
    /// Panics when `n` is zero.
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "a range to draw from is never empty");
        ((self.next_u64() as u128 * n as u128) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_pinned() {
        // xoshiro256++ from state {1, 2, 3, 4}: the authors' reference output.
        let mut g = Generator { state: [1, 2, 3, 4] };
        assert_eq!(
            [g.next_u64(), g.next_u64(), g.next_u64()],
            [41_943_041, 58_720_359, 3_588_806_011_781_223]
        );
    }

    #[test]
    fn components_are_independent_of_each_other() {
        let seed = Seed { seed: 1, replication: 0 };
        let a = seed.generator("link a").next_u64();
        assert_eq!(a, seed.generator("link a").next_u64());
        assert_ne!(a, seed.generator("link b").next_u64());
        assert_ne!(a, Seed { seed: 1, replication: 1 }.generator("link a").next_u64());
        assert_ne!(a, Seed { seed: 2, replication: 0 }.generator("link a").next_u64());
    }

    #[test]
    fn uniform_has_the_mean_and_variance_of_its_law() {
        let mut g = Generator::from_u64(7);
        let n = 100_000;
        let draws: Vec<f64> = (0..n).map(|_| g.uniform()).collect();
        let mean = draws.iter().sum::<f64>() / n as f64;
        let var = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
        assert!((mean - 0.5).abs() < 0.005, "{mean}");
        assert!((var - 1.0 / 12.0).abs() < 0.002, "{var}");
    }
}
