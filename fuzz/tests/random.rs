//! The fuzz targets on a stable toolchain: the seeds, mutations of them, and
//! random octets. The series is fixed, so a failure can be run again.

mod mutate;

use anabranch_endpoint::Generator;
use mutate::{mutate, seeds};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Inputs of each target, where `FUZZ_RUNS` does not say otherwise.
const ROUNDS: u64 = 200_000;

#[test]
fn mptcp_connection() {
    drive("mptcp_connection", 600, anabranch_fuzz::mptcp_connection);
}

#[test]
fn mptcp_segments() {
    drive("mptcp_segments", 600, anabranch_fuzz::mptcp_segments);
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
fn sctp_chunks() {
    drive("sctp_chunks", 600, anabranch_fuzz::sctp_chunks);
}

#[test]
fn tcp_connection() {
    drive("tcp_connection", 600, anabranch_fuzz::tcp_connection);
}

/// Whole numbers from the environment; what is no number ends the test.
fn setting(name: &str, default: u64) -> u64 {
    let number = |text: String| text.parse().unwrap_or_else(|_| panic!("{name} = {text}"));
    std::env::var(name).map_or(default, number)
}

fn drive(target: &str, max_len: u64, body: impl Fn(&[u8])) {
    let seeds = seeds(target);
    assert!(!seeds.is_empty(), "no seeds for {target}");
    seeds.iter().for_each(|seed| body(seed));
    let (rounds, first) = (setting("FUZZ_RUNS", ROUNDS), setting("FUZZ_SEED", 0));
    let mut random = Generator::from_u64(first);
    for _ in 0..rounds {
        let mut input = match random.below(seeds.len() as u64 + 1) as usize {
            0 => octets(&mut random, max_len),
            i => seeds[i - 1].clone(),
        };
        for _ in 0..random.below(6) {
            mutate(&mut input, &mut random);
        }
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| body(&input))) {
            eprintln!("{target} fails for the input {input:?}");
            resume_unwind(panic);
        }
    }
    println!("{target}: {rounds} inputs, and {} seeds", seeds.len());
}

fn octets(random: &mut Generator, max_len: u64) -> Vec<u8> {
    (0..random.below(max_len + 1)).map(|_| random.next_u64() as u8).collect()
}
