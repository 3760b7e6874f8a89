//! What forged chunks do does not depend on where TSNs begin (RFC 1982, RFC 9260 §1.6): they go through
//! zero here, in the middle of losses and attacks.

use super::*;
use anabranch_endpoint::Generator;
use anabranch_wire::sctp::{DataChunk, GapBlock, SackChunk};
use std::collections::BTreeSet;

/// One before the first TSN of a client whose TSNs go through nothing of note.
const CALM: u32 = 1 << 28;
/// Messages, of a thousand octets; they are written together, in 83 chunks.
const MESSAGES: u32 = 120;

/// A chunk by somebody who knows the client's origin, so far from it.
fn forged(random: &mut Generator, origin: u32) -> Chunk {
    let near = |random: &mut Generator| {
        let far = match random.below(4) {
            0 => random.next_u64() as u32,
            _ => random.below(2 * u64::from(MESSAGES)) as u32,
        };
        Serial32(origin.wrapping_add(far))
    };
    if random.below(2) == 0 {
        let payload = Payload::virtual_of(100);
        let tsn = near(random);
        return Chunk::Data(DataChunk {
            flags: DataFlags::WHOLE,
            tsn,
            stream: 0,
            ssn: 7,
            ppid: 0,
            payload,
        });
    }
    let cum_tsn = near(random);
    let gap = |random: &mut Generator| {
        let start = 2 + random.below(40) as u16;
        GapBlock { start, end: start + random.below(3) as u16 }
    };
    let gaps = (0..random.below(3)).map(|_| gap(random)).collect();
    Chunk::Sack(SackChunk { cum_tsn, a_rwnd: 60_000, gaps, duplicates: Vec::new(), packets: 0 })
}

/// The packets of a transfer with losses, while somebody sends DATA to the server and SACKs to the
/// client: under tags that are guessed, or with the right ones.
fn becomes(origin: u32, seed: u64, knows_tags: bool) -> (Vec<String>, u32, u64) {
    let mut random = Generator::from_u64(seed);
    let lost: BTreeSet<u32> = (0..12).map(|_| random.below(150) as u32).collect();
    let mut n = 0;
    let mut pair = pair(&plain(Config::rfc9260()), 1, move |side, packet| {
        n += u32::from(side == Side::Client && packet.payload_len() > 0);
        let is_lost = side == Side::Client && packet.payload_len() > 0 && lost.contains(&n);
        if is_lost { Fate::Drop } else { Fate::Deliver }
    });
    pair.client.sender.origin = Serial32(origin);
    run(&mut pair, at_ms(400));
    for _ in 0..MESSAGES {
        pair.client.write(1000);
    }
    for step in 0..60 {
        let now = at_ms(400 + 37 * step);
        run(&mut pair, now);
        let chunk = forged(&mut random, origin);
        let to_client = matches!(chunk, Chunk::Sack(_));
        let guess = random.next_u64() as u32;
        let tags = [pair.server.identity.local_tag, pair.client.identity.local_tag];
        let tag = if knows_tags { tags[usize::from(to_client)] } else { guess };
        let mut packet = from_client(&pair.client, tag, vec![chunk]);
        if to_client {
            std::mem::swap(&mut packet.src, &mut packet.dst);
            if let Body::Sctp(sctp) = &mut packet.body {
                std::mem::swap(&mut sctp.src_port, &mut sctp.dst_port);
            }
        }
        let victim = if to_client { &mut pair.client } else { &mut pair.server };
        victim.handle_input(now, &packet);
    }
    run(&mut pair, at_ms(20_000));
    let last = pair.client.sender.next_tsn().0.wrapping_sub(1);
    (trace(&pair, 400), last, pair.server.read(u64::MAX))
}

#[test]
fn forged_chunks_do_the_same_wherever_tsns_begin() {
    for seed in 0..40 {
        for knows_tags in [false, true] {
            let (calm, _, read) = becomes(CALM, seed, knows_tags);
            for below in [0, 1, 10, 60, 75] {
                let origin = u32::MAX - below;
                let (there, last, _) = becomes(origin, seed, knows_tags);
                assert!(knows_tags || last < MESSAGES, "they went through zero: {last}");
                assert_eq!(there, calm, "{below} TSNs before zero, seed {seed}, tags {knows_tags}");
            }
            // §8.5: whoever does not know the tag changes nothing.
            assert!(knows_tags || read == u64::from(MESSAGES) * 1000, "{read}");
        }
    }
}
