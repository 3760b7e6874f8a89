//! What the subflows of a connection have written into its entry of the map `connections` (`struct connection` of
//! bpf/kernel.h).

use crate::OTHERS;

/// Octets of a `struct slot`.
const SLOT: usize = 48;
/// Segments of a window have 16 bits of fraction there.
const SEGMENT: f64 = 65536.0;

/// A subflow as it stands in the entry.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Entry {
    /// Token of its connection, as `MPTCP_INFO` has it.
    pub token: u32,
    /// Port of this side of the subflow.
    pub local: u16,
    /// Port of the peer of the subflow.
    pub remote: u16,
    /// Congestion window, in segments.
    pub window: f64,
    /// `law.term` at its last acknowledgment in congestion avoidance; 0 before the first.
    term: u64,
}

/// Reads the octets of one entry: the subflows that are there.
pub fn entries(octets: &[u8; ENTRY]) -> Vec<Entry> {
    octets.chunks_exact(SLOT).filter_map(read).collect()
}

/// Octets of a connection's entry.
pub const ENTRY: usize = (OTHERS + 1) * SLOT;

fn read(slot: &[u8]) -> Option<Entry> {
    let word = |at: usize| slot[at..at + 8].try_into().map_or(0, u64::from_ne_bytes);
    let half = |at: usize| [slot[at], slot[at + 1]];
    (word(0) != 0).then(|| Entry {
        token: word(40) as u32,
        local: u16::from_ne_bytes(half(44)),
        remote: u16::from_be_bytes(half(46)),
        window: word(8) as f64 / SEGMENT,
        term: word(32),
    })
}

/// The unit of a law's term.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// `alpha / cwnd_total` of RFC 6356, a fraction of 32 bits: the entry's windows make it alpha.
    Alpha,
    /// Segments by which an acknowledged segment opens the window, a fraction of 32 bits.
    Growth,
    /// Microseconds, as a whole number.
    Micros,
    /// A share, a fraction of 24 bits.
    Share,
    /// Segments, with 12 bits of fraction.
    Segments,
}

impl Unit {
    /// The term of one of an entry's subflows: alpha; growth as a multiple of Reno's, which is `1 / window`; seconds;
    /// a share; segments.
    pub fn value(self, of: &Entry, all: &[Entry]) -> f64 {
        let term = of.term as f64;
        let whole = |bits: i32| term / 2_f64.powi(bits);
        match self {
            Unit::Alpha => whole(32) * all.iter().map(|entry| entry.window).sum::<f64>(),
            Unit::Growth => whole(32) * of.window,
            Unit::Micros => term / 1e6,
            Unit::Share => whole(24),
            Unit::Segments => whole(12),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn octets() -> [u8; ENTRY] {
        let mut octets = [0; ENTRY];
        let mut put = |at: usize, value: &[u8]| octets[at..at + value.len()].copy_from_slice(value);
        for (slot, segments, term) in [(0, 30_u64, 1_u64 << 27), (2, 10, 1 << 28)] {
            let at = slot * SLOT;
            put(at, &7_u64.to_ne_bytes());
            put(at + 8, &(segments << 16).to_ne_bytes());
            put(at + 32, &term.to_ne_bytes());
            put(at + 40, &0xabcd_u32.to_ne_bytes());
            put(at + 44, &(40_000 + slot as u16).to_ne_bytes());
            put(at + 46, &80_u16.to_be_bytes());
        }
        octets
    }

    #[test]
    fn free_slots_are_left_out() {
        let found = entries(&octets());
        let told: Vec<_> = found
            .iter()
            .map(|entry| (entry.token, entry.local, entry.remote, entry.window))
            .collect();
        assert_eq!(told, [(0xabcd, 40_000, 80, 30.0), (0xabcd, 40_002, 80, 10.0)]);
    }

    #[test]
    fn a_term_has_the_unit_of_its_law() {
        let found = entries(&octets());
        let values = |unit: Unit| [unit.value(&found[0], &found), unit.value(&found[1], &found)];
        assert_eq!(values(Unit::Alpha), [1.25, 2.5], "of 40 segments");
        assert_eq!(values(Unit::Growth), [0.9375, 0.625]);
        assert_eq!(values(Unit::Micros), [134.217_728, 268.435_456]);
        assert_eq!(values(Unit::Share), [8.0, 16.0]);
        assert_eq!(values(Unit::Segments), [32768.0, 65536.0]);
    }
}
