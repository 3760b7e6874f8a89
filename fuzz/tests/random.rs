//! The fuzz targets on a stable toolchain: the seeds, mutations of them, and
//! random octets. The series is fixed, so a failure can be run again.

mod mutate;

use anabranch_endpoint::Generator;
use mutate::{mutate, seeds};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

#[test]
fn mptcp_connection() {
    drive("mptcp_connection", 30_000, 600, anabranch_fuzz::mptcp_connection);
}

#[test]
fn mptcp_segments() {
    drive("mptcp_segments", 60_000, 600, anabranch_fuzz::mptcp_segments);
}

#[test]
fn parse_packet() {
    drive("parse_packet", 1_000_000, 120, anabranch_fuzz::parse_packet);
}

#[test]
fn parse_sctp() {
    drive("parse_sctp", 1_000_000, 200, anabranch_fuzz::parse_sctp);
}

#[test]
fn parse_tcp_options() {
    drive("parse_tcp_options", 1_000_000, 40, anabranch_fuzz::parse_tcp_options);
}

#[test]
fn sctp_association() {
    drive("sctp_association", 100_000, 600, anabranch_fuzz::sctp_association);
}

#[test]
fn sctp_chunks() {
    drive("sctp_chunks", 200_000, 600, anabranch_fuzz::sctp_chunks);
}

#[test]
fn tcp_connection() {
    drive("tcp_connection", 200_000, 600, anabranch_fuzz::tcp_connection);
}

/// Whole numbers from the environment; what is no number ends the test.
fn setting(name: &str, default: u64) -> u64 {
    let number = |text: String| text.parse().unwrap_or_else(|_| panic!("{name} = {text}"));
    std::env::var(name).map_or(default, number)
}

/// `inputs` of at most `max_len` octets, or as many as `FUZZ_RUNS` says. Each target has what takes it
/// some five seconds, by the rates in docs/reliability-soak.md.
fn drive(target: &str, inputs: u64, max_len: u64, body: impl Fn(&[u8])) {
    let seeds = seeds(target);
    assert!(!seeds.is_empty(), "no seeds for {target}");
    seeds.iter().for_each(|seed| body(seed));
    let (rounds, first) = (setting("FUZZ_RUNS", inputs), setting("FUZZ_SEED", 0));
    let mut random = Generator::from_u64(first);
    let began = on_processor();
    let mut input = Vec::new();
    for _ in 0..rounds {
        input.clear();
        match random.below(seeds.len() as u64 + 1) as usize {
            0 => fill(&mut input, &mut random, max_len),
            i => input.extend_from_slice(&seeds[i - 1]),
        }
        for _ in 0..random.below(6) {
            mutate(&mut input, &mut random);
        }
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| body(&input))) {
            eprintln!("{target} fails for the input {input:?}");
            resume_unwind(panic);
        }
    }
    let rate = match (began, on_processor()) {
        (Some(began), Some(ended)) if ended > began => {
            format!(", {:.0} in a second of processor", rounds as f64 / (ended - began))
        }
        _ => String::new(),
    };
    println!("{target}: {rounds} inputs, and {} seeds{rate}", seeds.len());
}

fn fill(input: &mut Vec<u8>, random: &mut Generator, max_len: u64) {
    let len = random.below(max_len + 1) as usize;
    while input.len() < len {
        let word = random.next_u64().to_le_bytes();
        input.extend_from_slice(&word[..word.len().min(len - input.len())]);
    }
}

/// Seconds that this thread has run, where the system tells (proc(5)).
fn on_processor() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}
