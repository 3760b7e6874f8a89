//! Initial sequence numbers (RFC 6528, RFC 9293 §3.4.1): `ISN = M + F`, with
//! `M` the 4-microsecond clock and `F` a pseudorandom function of the
//! connection's addresses and ports under a secret key.
//!
//! `F` is SipHash-2-4 (Aumasson and Bernstein 2012) truncated to 32 bits; the other
//! 32 are added to the connection's timestamps (RFC 7323 §5.4). The key comes from the connection's generator, and so from the run's seed: two
//! runs of one seed draw the same numbers. The RFC suggests MD5; it asks for a
//! function that cannot be inverted to the key, which SipHash was made for.

use anabranch_units::Time;
use anabranch_wire::Addr;

/// `F` for a connection from `local` to `remote`, and as many more bits that tell nothing of it.
pub(crate) fn offsets(key: [u64; 2], local: (Addr, u16), remote: (Addr, u16)) -> [u32; 2] {
    let mut message = [0; 12];
    message[..4].copy_from_slice(&local.0.0.to_le_bytes());
    message[4..6].copy_from_slice(&local.1.to_le_bytes());
    message[6..10].copy_from_slice(&remote.0.0.to_le_bytes());
    message[10..].copy_from_slice(&remote.1.to_le_bytes());
    let hash = sip_hash(key, &message);
    [hash as u32, (hash >> 32) as u32]
}

/// `M`: a tick every four microseconds, modulo 2^32.
pub(crate) fn clock(now: Time) -> u32 {
    (now.as_nanos() / 4000) as u32
}

/// SipHash-2-4 of a short message.
pub(crate) fn sip_hash([k0, k1]: [u64; 2], message: &[u8]) -> u64 {
    let mut v = [
        k0 ^ 0x736f_6d65_7073_6575,
        k1 ^ 0x646f_7261_6e64_6f6d,
        k0 ^ 0x6c79_6765_6e65_7261,
        k1 ^ 0x7465_6462_7974_6573,
    ];
    let mut compress = |word: u64| {
        v[3] ^= word;
        round(&mut v);
        round(&mut v);
        v[0] ^= word;
    };
    let (words, rest) = message.as_chunks::<8>();
    words.iter().for_each(|word| compress(u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    last[7] = message.len() as u8;
    compress(u64::from_le_bytes(last));
    v[2] ^= 0xff;
    (0..4).for_each(|_| round(&mut v));
    v[0] ^ v[1] ^ v[2] ^ v[3]
}

fn round([a, b, c, d]: &mut [u64; 4]) {
    *a = a.wrapping_add(*b);
    *b = b.rotate_left(13) ^ *a;
    *a = a.rotate_left(32);
    *c = c.wrapping_add(*d);
    *d = d.rotate_left(16) ^ *c;
    *a = a.wrapping_add(*d);
    *d = d.rotate_left(21) ^ *a;
    *c = c.wrapping_add(*b);
    *b = b.rotate_left(17) ^ *c;
    *c = c.rotate_left(32);
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_units::Span;

    /// The example of the paper's appendix A, and the empty message of the
    /// authors' test vectors.
    #[test]
    fn sip_hash_gives_the_published_values() {
        let key = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908];
        let message: Vec<u8> = (0..15).collect();
        assert_eq!(sip_hash(key, &message), 0xa129_ca61_49be_45e5);
        assert_eq!(sip_hash(key, &[]), 0x726f_db47_dd0e_0e31);
    }

    fn assert_differs(f: [u32; 2], g: [u32; 2]) {
        assert!(f[0] != g[0] && f[1] != g[1], "{f:?} {g:?}");
    }

    #[test]
    fn numbers_differ_by_key_and_by_connection_and_the_clock_ticks() {
        let (a, b) = ((Addr(0), 1), (Addr(1), 2));
        let f = offsets([1, 2], a, b);
        assert_eq!(f, offsets([1, 2], a, b));
        assert_differs(f, offsets([1, 3], a, b));
        assert_differs(f, offsets([1, 2], b, a));
        assert_differs(f, offsets([1, 2], a, (Addr(1), 3)));
        assert_eq!(clock(Time::ZERO + Span::from_micros(4_000)), 1000);
        // RFC 9293 §3.4.1: the number space is used up in 4.77 hours.
        assert_eq!(clock(Time::ZERO + Span::from_micros(4 << 32)), 0);
    }
}
