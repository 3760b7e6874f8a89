//! SHA-1 (FIPS 180-4 §6.1) and its HMAC (RFC 2104) are here because RFC 4895 §3.3 makes them
//! mandatory. Nothing else should use them.

fn digest(message: &[u8]) -> [u8; 20] {
    let mut state = [0x67452301_u32, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0];
    let mut padded = message.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend_from_slice(&(message.len() as u64 * 8).to_be_bytes());
    for block in padded.chunks_exact(64) {
        compress(&mut state, block);
    }
    let mut digest = [0; 20];
    for (octets, word) in digest.chunks_exact_mut(4).zip(state) {
        octets.copy_from_slice(&word.to_be_bytes());
    }
    digest
}

fn compress(state: &mut [u32; 5], block: &[u8]) {
    let mut w = [0_u32; 80];
    for (word, octets) in w.iter_mut().zip(block.chunks_exact(4)) {
        *word = u32::from_be_bytes([octets[0], octets[1], octets[2], octets[3]]);
    }
    for t in 16..80 {
        w[t] = (w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16]).rotate_left(1);
    }
    let [mut a, mut b, mut c, mut d, mut e] = *state;
    for (t, word) in w.iter().enumerate() {
        let (f, k) = match t / 20 {
            0 => (b & c | !b & d, 0x5a827999),
            1 => (b ^ c ^ d, 0x6ed9eba1),
            2 => (b & c | b & d | c & d, 0x8f1bbcdc),
            _ => (b ^ c ^ d, 0xca62c1d6_u32),
        };
        let next = a.rotate_left(5).wrapping_add(f).wrapping_add(e).wrapping_add(k);
        (e, d, c, b, a) = (d, c, b.rotate_left(30), a, next.wrapping_add(*word));
    }
    for (word, more) in state.iter_mut().zip([a, b, c, d, e]) {
        *word = word.wrapping_add(more);
    }
}

/// Returns the HMAC-SHA-1 of `message`.
pub(crate) fn hmac(key: &[u8], message: &[u8]) -> [u8; 20] {
    let mut block = [0; 64];
    match key.len() {
        0..=64 => block[..key.len()].copy_from_slice(key),
        _ => block[..20].copy_from_slice(&digest(key)),
    }
    let inner = digest(&[&block.map(|octet| octet ^ 0x36), message].concat());
    digest(&[block.map(|octet| octet ^ 0x5c).as_slice(), &inner].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(octets: &[u8]) -> String {
        octets.iter().map(|octet| format!("{octet:02x}")).collect()
    }

    /// RFC 3174 §7.3, tests 1, 2 and 4.
    #[test]
    fn digests_of_rfc_3174() {
        assert_eq!(hex(&digest(b"abc")), "a9993e364706816aba3e25717850c26c9cd0d89d");
        let two = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        assert_eq!(hex(&digest(two)), "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
        let many = b"01234567".repeat(80);
        assert_eq!(hex(&digest(&many)), "dea356a2cddd90c7a7ecedc5ebb563934f460452");
    }

    /// RFC 2202 §3, cases 1, 2 and 6 (a key longer than a block).
    #[test]
    fn hmacs_of_rfc_2202() {
        let first = hmac(&[0x0b; 20], b"Hi There");
        assert_eq!(hex(&first), "b617318655057264e28bc0b6fb378c8ef146be00");
        let second = hmac(b"Jefe", b"what do ya want for nothing?");
        assert_eq!(hex(&second), "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79");
        let long = b"Test Using Larger Than Block-Size Key - Hash Key First";
        let sixth = hmac(&[0xaa; 80], long);
        assert_eq!(hex(&sixth), "aa4ae5e15272d00e95705637ce8a3b55ed402112");
    }
}
