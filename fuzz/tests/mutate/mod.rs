//! Inputs from inputs: the seeds, and the changes that fuzzing engines make.

use anabranch_endpoint::Generator;
use std::path::Path;

/// One of the changes that fuzzing engines make.
pub fn mutate(input: &mut Vec<u8>, random: &mut Generator) {
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

/// The seeds of a target, in the order of their names.
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(target);
    let mut paths: Vec<_> =
        folder.read_dir().expect("the seeds").map(|entry| entry.expect("a seed").path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("a seed")).collect()
}
