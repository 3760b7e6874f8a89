//! Mutated scripts end with a verdict: none panics, overflows the stack, runs on
//! for ever or allocates what a number of the script says.
//!
//! `ANABRANCH_DRILL_MUTANTS` sets how many are run in place of the 400 of every test run;
//! `ANABRANCH_DRILL_SEED` sets the seed.

use anabranch_endpoint::Generator;
use anabranch_packetdrill::runner::Drill;
use anabranch_packetdrill::suites::list_all;
use std::path::Path;
use std::time::{Duration, Instant};

/// Numbers at and around the limits of their types.
const NUMBERS: [&str; 24] = [
    "0",
    "1",
    "-1",
    "3",
    "4",
    "127",
    "255",
    "256",
    "1459",
    "65534",
    "65535",
    "65536",
    "1000000",
    "2147483647",
    "2147483648",
    "-2147483649",
    "4294967295",
    "4294967296",
    "9999999",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "0x8000000000000000",
    "-0x8000000000000000",
];

/// What stands anywhere in scripts.
const TOKENS: [&str; 20] = [
    "...", "[", "]", "{", "}", "(", ")", "=", ",", ":", "<", ">", "+", "*", "~", "|", "%{", "}%",
    "`", "\"",
];

/// How long a mutant may take. It stops nothing: the test says which took longer.
const LONGEST: Duration = Duration::from_secs(5);

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
#[expect(clippy::disallowed_methods, reason = "how long a mutant takes is what is judged")]
fn a_mutated_script_ends_with_a_verdict() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/packetdrill");
    let place = std::env::var("ANABRANCH_PACKETDRILL_SUITES").map_or(folder, Into::into);
    let scripts: Vec<String> = list_all(place.as_os_str())
        .expect("the folder can be read")
        .iter()
        .map(|script| {
            String::from_utf8_lossy(&std::fs::read(&script.file).expect("a script")).into_owned()
        })
        .collect();
    let mut random = Generator::from_u64(setting("ANABRANCH_DRILL_SEED", 1));
    let drill = Drill::new(None);
    let said = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mutant.pkt");
    let mut bad = Vec::new();
    for number in 0..setting("ANABRANCH_DRILL_MUTANTS", 400) {
        let mut text = scripts[random.below(scripts.len() as u64) as usize].clone();
        for _ in 0..1 + random.below(3) {
            let other = &scripts[random.below(scripts.len() as u64) as usize];
            text = mutated(&text, other, &mut random);
        }
        // What ends the process leaves its script behind.
        std::fs::write(&said, &text).expect("a file in the folder for tests");
        let start = Instant::now();
        let result = std::panic::catch_unwind(|| drill.text("mutant", &text));
        let took = start.elapsed();
        if result.is_err() || took > LONGEST {
            bad.push(format!("mutant {number} panicked or took {took:?}:\n{text}"));
        }
    }
    assert!(bad.is_empty(), "{} mutants, the first: {}", bad.len(), bad[0]);
}

/// Where the numbers of a text are: their start and length.
fn numbers(text: &str) -> Vec<(usize, usize)> {
    let octets = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < octets.len() {
        let len = octets[at..].iter().take_while(|octet| octet.is_ascii_digit()).count();
        if len > 0 {
            found.push((at, len));
        }
        at += len.max(1);
    }
    found
}

fn mutated(text: &str, other: &str, random: &mut Generator) -> String {
    fn pick<'a, T>(all: &'a [T], random: &mut Generator) -> &'a T {
        &all[random.below(all.len() as u64) as usize]
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut place = random.below(text.len() as u64) as usize;
    while !text.is_char_boundary(place) {
        place -= 1;
    }
    let (before, after) = text.split_at(place);
    match random.below(8) {
        0..4 => {
            let numbers = numbers(text);
            let Some((at, len)) = numbers.get(random.below(numbers.len().max(1) as u64) as usize)
            else {
                return text.to_owned();
            };
            format!("{}{}{}", &text[..*at], pick(&NUMBERS, random), &text[at + len..])
        }
        4 => format!("{before}{}{after}", pick(&TOKENS, random)),
        5 => {
            let skipped = pick(&lines, random).as_ptr() as usize - text.as_ptr() as usize;
            let end = text[skipped..].find('\n').map_or(text.len(), |end| skipped + end + 1);
            format!("{}{}", &text[..skipped], &text[end..])
        }
        6 => {
            let lines_of_other: Vec<&str> = other.split_inclusive('\n').collect();
            let at = random.below(lines.len() as u64) as usize;
            let (first, rest) = lines.split_at(at);
            [&first.concat(), *pick(&lines_of_other, random), &rest.concat()].concat()
        }
        _ => {
            let token = pick(&TOKENS, random).repeat(1 << random.below(18));
            format!("{before}{token}{after}")
        }
    }
}
