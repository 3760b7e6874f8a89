//! Fingerprints of states, and the set of those that were seen.
//!
//! An endpoint and its application are a function of what they were called with and when.
//! A state is therefore known by the history of calls of each side and by what is in the
//! network, and a packet by the history of its sender and its number in what the sender had to
//! say then: no field of an endpoint has to be read. Two orders of independent events give the same
//! histories and so the same fingerprint; two histories that an endpoint does not tell apart
//! (a duplicate that it ignored) do not, which costs time and hides nothing. Fingerprints of
//! 64 bits of different states are equal once in 10^19 / states^2.

/// Adds a word to a fingerprint (a round of SplitMix64 on their combination).
#[inline]
pub(crate) fn mix(hash: u64, word: u64) -> u64 {
    let mut z = hash.rotate_left(23) ^ word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A set of fingerprints: open addressing, at most half full.
#[derive(Debug)]
pub(crate) struct Seen {
    /// 0 for none; the fingerprint 0 is taken for 1.
    slots: Vec<u64>,
    len: usize,
}

impl Seen {
    pub fn new() -> Seen {
        Seen { slots: vec![0; 1 << 12], len: 0 }
    }

    /// Returns how many fingerprints there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Adds a fingerprint; true where it is new.
    pub fn insert(&mut self, fingerprint: u64) -> bool {
        let fingerprint = fingerprint.max(1);
        if 2 * self.len >= self.slots.len() {
            let grown = vec![0; 2 * self.slots.len()];
            for old in std::mem::replace(&mut self.slots, grown) {
                if old != 0 {
                    let slot = self.find(old);
                    self.slots[slot] = old;
                }
            }
        }
        let slot = self.find(fingerprint);
        let is_new = self.slots[slot] == 0;
        self.slots[slot] = fingerprint;
        self.len += usize::from(is_new);
        is_new
    }

    /// The slot that has it, or the one that it goes to.
    fn find(&self, fingerprint: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = fingerprint as usize & mask;
        while self.slots[slot] != 0 && self.slots[slot] != fingerprint {
            slot = (slot + 1) & mask;
        }
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_new_once() {
        let mut seen = Seen::new();
        let prints = || (0..20_000).map(|n| mix(0, n / 2));
        assert_eq!(prints().filter(|print| seen.insert(*print)).count(), 10_000);
        assert_eq!(seen.len(), 10_000);
        assert_eq!(prints().filter(|print| seen.insert(*print)).count(), 0);
    }

    #[test]
    fn the_order_of_words_matters() {
        assert_ne!(mix(mix(0, 1), 2), mix(mix(0, 2), 1));
        assert_ne!(mix(0, 0), 0);
    }
}
