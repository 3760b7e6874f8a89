//! What the packets of a run look like on its links.

use anabranch_scenario::{CaptureOptions, RunOptions, RunResult, Scenario, Snap, run};
use anabranch_wire::pcapng::reader::Reader;
use std::sync::atomic::{AtomicU32, Ordering};

/// Runs a scenario; the result, and each packet that came out of a link: the
/// direction's name and the octets.
pub fn captured(text: &str) -> (RunResult, Vec<(String, Vec<u8>)>) {
    static FILES: AtomicU32 = AtomicU32::new(0);
    let scenario = Scenario::from_toml(text, "test.toml").unwrap_or_else(|e| panic!("{e}"));
    let resolved = scenario.resolved_toml();
    assert_eq!(Scenario::from_toml(&resolved, "t").as_ref(), Ok(&scenario), "{resolved}");
    let number = FILES.fetch_add(1, Ordering::Relaxed);
    let file = format!("frames-{}-{number}.pcapng", std::process::id());
    let path = std::env::temp_dir().join(file);
    let options = RunOptions {
        check: true,
        pcap: Some(path.clone()),
        capture: CaptureOptions {
            places: scenario.links.iter().map(|link| link.name.clone()).collect(),
            snap: Snap::Whole,
            ..CaptureOptions::default()
        },
        ..RunOptions::default()
    };
    let result = run(&scenario, &options).unwrap_or_else(|e| panic!("{e}"));
    let octets = std::fs::read(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    let mut reader = Reader::new(&octets).unwrap();
    let mut frames = Vec::new();
    for frame in reader.by_ref() {
        let frame = frame.unwrap();
        frames.push((frame.interface, frame.ip.to_vec()));
    }
    let name = |i: usize| reader.interfaces()[i].name.clone();
    let frames = frames.into_iter().map(|(i, ip)| (name(i), ip)).collect();
    (result, frames)
}

/// The version of IP of every packet on a link, the longest of them and the sum
/// of all, in octets.
pub fn summary(frames: &[(String, Vec<u8>)], link: &str) -> (Vec<u8>, usize, u64) {
    let ips = || frames.iter().filter(|(name, _)| name == link).map(|(_, ip)| ip);
    let mut versions: Vec<u8> = ips().map(|ip| ip[0] >> 4).collect();
    versions.sort_unstable();
    versions.dedup();
    let longest = ips().map(Vec::len).max().unwrap_or(0);
    (versions, longest, ips().map(|ip| ip.len() as u64).sum())
}
