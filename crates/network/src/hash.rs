//! The hash of a flow: which queue, and which of several equal paths.

use anabranch_wire::FlowKey;

/// Returns a hash of addresses, protocol and ports, well mixed in all its bits.
pub fn flow_hash(key: &FlowKey) -> u32 {
    let addresses = (key.src.0 as u64) << 32 | key.dst.0 as u64;
    let ports = (key.src_port as u64) << 32 | (key.dst_port as u64) << 8 | key.protocol as u64;
    (mix(mix(addresses).wrapping_add(ports)) >> 32) as u32
}

/// Mixes all bits of `word`: the finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
pub(crate) fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_wire::Addr;

    #[test]
    fn flows_that_differ_in_anything_spread_evenly() {
        let mut counts = [0_u32; 16];
        for i in 0..16_000_u32 {
            let key = FlowKey {
                src: Addr(i % 10),
                dst: Addr(i / 10 % 10),
                protocol: 6,
                src_port: 49_152 + (i / 100) as u16,
                dst_port: 80,
            };
            counts[(flow_hash(&key) >> 28) as usize] += 1;
        }
        // Standard deviation 31.
        assert!(counts.iter().all(|n| (880..1120).contains(n)), "{counts:?}");
    }
}
