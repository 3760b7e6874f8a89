//! When reordering triggers a recovery: the same segments arrive in the same
//! order at senders that differ in their scheme alone.

use super::super::solo::Solo;
use super::*;
use anabranch_wire::SackBlock;

/// What a sender had heard when it took a segment for lost.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Heard {
    /// Segments acknowledged, and how many blocks, of each ACK.
    acks: Vec<(u64, usize)>,
    detected: bool,
}

/// The peer of a path that holds back some segments: number `n` arrives
/// `late[n]` ms later than the others. Runs up to the first detection.
fn first_detection(recovery: Recovery, late: &[u64]) -> Heard {
    let config = Config { initial_window: InitialWindow::Segments(10), ..classic(recovery) };
    let mut sender = Solo::established(&config);
    let mut wide = sender.segment(".", 1, 1, 0);
    wide.window = 60_000; // as all that follow, or the first were a window update
    sender.deliver(wide);
    sender.end.write(late.len() as u64 * 1000);
    let mut path = BTreeSet::new();
    let mut left = sender.sent();
    let mut arrived = BTreeSet::new();
    let mut heard = Heard { acks: Vec::new(), detected: false };
    loop {
        for line in &left {
            let (seq, _) = line.split_once(' ').unwrap().1.split_once(':').unwrap();
            let number = seq.parse::<u64>().unwrap() / 1000;
            let at = sender.now.as_millis() + 100 + late[number as usize];
            path.insert((at, number));
        }
        let Some((at, number)) = path.pop_first() else { return heard };
        assert_eq!(sender.until(at), [""; 0], "no timer is needed");
        arrived.insert(number);
        let segment = acknowledge(&sender, &arrived, number);
        let blocks = segment.options.sack.as_slice().len();
        left = sender.deliver(segment);
        let una = (sender.end.sender.una - 1) / 1000;
        heard.acks.push((una, blocks));
        if sender.end.observe().fast_retransmits > 0 {
            heard.detected = true;
            return heard;
        }
    }
}

/// The ACK of a receiver that has these segments, `latest` the last.
fn acknowledge(sender: &Solo, arrived: &BTreeSet<u64>, latest: u64) -> anabranch_wire::TcpSegment {
    let next = (0..).find(|n| !arrived.contains(n)).unwrap();
    let mut segment = sender.segment(".", 1, next as i64 * 1000 + 1, 0);
    segment.window = 60_000;
    let mut blocks: Vec<(u64, u64)> = Vec::new();
    for n in arrived.range(next..) {
        match blocks.last_mut() {
            Some((_, end)) if *end == *n => *end += 1,
            _ => blocks.push((*n, n + 1)),
        }
    }
    // The block with the latest segment first (RFC 2018 §4).
    blocks.sort_by_key(|(start, end)| !(*start <= latest && latest < *end));
    for (start, end) in blocks.into_iter().take(4) {
        let at = |n: u64| sender.end.iss.add(n as u32 * 1000 + 1);
        segment.options.sack.push(SackBlock { left: at(start), right: at(end) });
    }
    segment
}

/// The paper, §2.2: the window is reduced at the moment at which Reno reduces
/// it. Over random reorderings the first detection comes with the same ACK as
/// Reno's and NewReno's; FACK's never later, and in many earlier.
#[test]
fn reordering_triggers_it_with_the_ack_that_triggers_reno() {
    let mut random = Seed::default().generator("reorderings");
    let (mut detections, mut others, mut earlier) = (0, 0, 0);
    for case in 0..400 {
        let (share, most) = (0.02 + 0.3 * random.uniform(), 2 + random.below(80));
        let late: Vec<u64> = (0..60)
            .map(|n| n % 10 + if random.chance(share) { 1 + random.below(most) } else { 0 })
            .collect();
        let ours = first_detection(Recovery::Decoupled { opens_late: false }, &late);
        for rival in [
            Recovery::Reno { exit_growth: false },
            Recovery::NewReno { impatient: false, exit_growth: false },
        ] {
            others += (ours != first_detection(rival, &late)) as u32;
        }
        let fack = first_detection(Recovery::Fack { prr: false }, &late);
        assert!(!ours.detected || fack.detected, "case {case}");
        assert!(fack.acks.len() <= ours.acks.len(), "case {case}");
        detections += ours.detected as u32;
        earlier += (fack.acks.len() < ours.acks.len()) as u32;
    }
    let name = "400 reorderings: first detection with another ACK than Reno's or NewReno's";
    record("recovery", name, 0, others, "exact");
    assert_eq!(others, 0);
    assert!(detections > 100 && earlier > 50, "{detections} detections, FACK {earlier} earlier");
}
