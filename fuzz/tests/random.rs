//! The fuzz targets on a stable toolchain: the seeds, mutations of them, and
//! random octets. The series is fixed, so a failure can be run again.

use anabranch_endpoint::Generator;
use std::path::Path;

const ROUNDS: u32 = 200_000;

#[test]
fn mptcp_connection() {
    drive("mptcp_connection", 600, anabranch_fuzz::mptcp_connection);
}

#[test]
fn parse_packet() {
    drive("parse_packet", 120, anabranch_fuzz::parse_packet);
}

#[test]
fn parse_sctp() {
    drive("parse_sctp", 200, anabranch_fuzz::parse_sctp);
}

#[test]
fn parse_tcp_options() {
    drive("parse_tcp_options", 40, anabranch_fuzz::parse_tcp_options);
}

#[test]
fn sctp_association() {
    drive("sctp_association", 600, anabranch_fuzz::sctp_association);
}

#[test]
fn tcp_connection() {
    drive("tcp_connection", 600, anabranch_fuzz::tcp_connection);
}

fn drive(target: &str, max_len: u64, body: impl Fn(&[u8])) {
    let seeds = seeds(target);
    assert!(!seeds.is_empty(), "no seeds for {target}");
    seeds.iter().for_each(|seed| body(seed));
    let mut random = Generator::from_u64(0);
    for _ in 0..ROUNDS {
        let mut input = match random.below(seeds.len() as u64 + 1) as usize {
            0 => octets(&mut random, max_len),
            i => seeds[i - 1].clone(),
        };
        for _ in 0..random.below(6) {
            mutate(&mut input, &mut random);
        }
        body(&input);
    }
}

/// One of the changes that fuzzing engines make.
fn mutate(input: &mut Vec<u8>, random: &mut Generator) {
    let at = random.below(input.len() as u64 + 1) as usize;
    match random.below(6) {
        0 => input.truncate(at),
        1 => input.insert(at, random.next_u64() as u8),
        2 => input.extend_from_within(at..),
        // Small numbers are what kinds and lengths are made of.
        3 if at < input.len() => input[at] = random.below(12) as u8,
        4 if at < input.len() => input[at] ^= 1 << random.below(8),
        5 if at < input.len() => drop(input.remove(at)),
        _ => {}
    }
}

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(target);
    let mut paths: Vec<_> =
        folder.read_dir().expect("the seeds").map(|entry| entry.expect("a seed").path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("a seed")).collect()
}

fn octets(random: &mut Generator, max_len: u64) -> Vec<u8> {
    (0..random.below(max_len + 1)).map(|_| random.next_u64() as u8).collect()
}
