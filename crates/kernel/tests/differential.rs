//! The instructions that the kernel runs, in a machine of user space, beside the laws of `anabranch-congestion`:
//! random acknowledgments, losses, timeouts, spurious reductions and idle times on one path to four, each
//! with its own round-trip times, half of them changing as queues do.
//!
//! Fractions are cut off in the one and rounded in the other, so windows may differ by a segment or a hundredth.

use anabranch_congestion::{
    Acked, Algorithm, Cause, Congestion, CongestionEvent, Controller, Feedback, PathView,
    SsthreshFrom,
};
use anabranch_kernel::{Algorithm as Object, Event, Law, OTHERS, Sibling, instructions};
use anabranch_units::{Span, Time};

mod machine;

const MSS: u64 = 1448;
const EVENTS: usize = 2000;
const RUNS: u64 = 100;

/// xorshift64* by Vigna.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % bound
    }

    fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }
}

/// A path in both worlds.
struct Path {
    ours: Congestion,
    law: Law,
    /// Microseconds.
    base_rtt: u64,
    queue: u64,
    varies: bool,
    srtt: u64,
    least: u64,
    sent: u64,
    acked: u64,
}

impl Path {
    fn new(name: &str, random: &mut Random) -> Path {
        let mut algorithm = Algorithm::from_name(name).unwrap();
        let common = algorithm.common_mut().unwrap();
        // As Linux counts, and as its senders reduce.
        (common.ssthresh_from, common.slow_start_limit) = (SsthreshFrom::Cwnd, u8::MAX);
        let most = if random.one_in(4) { 2000 } else { 60 };
        let window = 2 + random.below(most);
        let ssthresh = if random.one_in(2) { None } else { Some(2 + random.below(200)) };
        let octets = ssthresh.map_or(u64::MAX, |segments| segments * MSS);
        let most = if random.one_in(2) { 5000 } else { 300_000 };
        // Of short queues two are often exactly twice as long as another; then the last digit of a
        // fraction decides whether wVegas drains them, which the two have not in common.
        let least = if name == "wvegas" { 20_000 } else { 200 };
        let base_rtt = least + random.below(most);
        Path {
            ours: algorithm.build(window * MSS, octets),
            law: Law::new(window as u32, ssthresh.map(|segments| segments as u32)),
            base_rtt,
            queue: 0,
            varies: random.one_in(2),
            srtt: 0,
            least: 0,
            sent: 0,
            acked: 0,
        }
    }

    fn view(&self, app_limited: bool) -> PathView {
        let micros = |us: u64| (us > 0).then(|| Span::from_micros(us));
        PathView {
            in_flight: if app_limited { 0 } else { self.ours.window() },
            mss: MSS,
            srtt: micros(self.srtt),
            min_rtt: micros(self.least),
            app_limited,
            sent: self.sent,
            acked: self.acked,
        }
    }

    /// A round-trip sample, with what follows from it.
    fn sample(&mut self, random: &mut Random) -> u64 {
        if self.varies {
            let most = self.base_rtt;
            self.queue = (self.queue + random.below(most / 16 + 1)).min(most);
            self.queue = self.queue.saturating_sub(random.below(most / 16 + 1));
        }
        let rtt = self.base_rtt + self.queue;
        self.srtt = if self.srtt == 0 { rtt } else { (7 * self.srtt + rtt) / 8 };
        self.least = if self.least == 0 { rtt } else { self.least.min(rtt) };
        rtt
    }
}

/// What the law and the object tell siblings, as the segments that it stands for.
fn told(name: &str, path: &Path) -> (f64, f64) {
    let (ours, theirs) = (path.ours.shared(), path.law.told() as f64);
    let plateau = |seconds: f64| 0.4 * seconds.powi(3);
    let rtt = path.srtt as f64 / 1e6;
    match name {
        "olia" => (ours.between_losses / MSS as f64, theirs / MSS as f64),
        "mcubic" => (plateau(ours.k), plateau(theirs / 1e6)),
        "wvegas" => (ours.rate * rtt, theirs / 256.0 * rtt),
        _ => (0.0, theirs),
    }
}

fn siblings_of(
    paths: &[Path],
    mine: usize,
) -> (Vec<anabranch_congestion::Sibling>, [Sibling; OTHERS]) {
    let micros = |us: u64| (us > 0).then(|| Span::from_micros(us));
    let others = || paths.iter().enumerate().filter(|(i, path)| *i != mine && path.srtt > 0);
    let ours = others().map(|(_, path)| anabranch_congestion::Sibling {
        window: path.ours.window(),
        slow_start: path.ours.window() < path.ours.ssthresh(),
        mss: MSS,
        srtt: micros(path.srtt),
        min_rtt: micros(path.least),
        state: path.ours.shared(),
    });
    let mut theirs = [Sibling::default(); OTHERS];
    for (slot, (_, path)) in theirs.iter_mut().zip(others()) {
        let window = (path.law.window() * 65536.0) as u64;
        *slot = Sibling { window, told: path.law.told(), rtt_us: path.srtt as u32 };
    }
    (ours.collect(), theirs)
}

/// One event in both worlds.
fn happen(
    paths: &mut [Path],
    i: usize,
    event: Event,
    now_us: u64,
    program: &[u8],
    random: &mut Random,
) {
    let (ours, theirs) = siblings_of(paths, i);
    let path = &mut paths[i];
    let now = Time::ZERO + Span::from_micros(now_us);
    let acks = matches!(event, Event::Ack | Event::Limited);
    let segments = if acks { 1 + random.below(3) } else { 0 };
    let rtt = if acks { path.sample(random) } else { 0 };
    if acks {
        path.acked += segments * MSS;
        path.sent = path.sent.max(path.acked + path.ours.window() / MSS * MSS);
    }
    path.law.happen(event, now_us, segments as u32);
    path.law.time(rtt as u32, path.srtt as u32, path.least as u32);
    path.law.count(path.sent, path.acked, segments as u32);
    path.law.segment(MSS as u32);
    path.law.siblings(&theirs);
    machine::run(program, path.law.octets());
    path.ours.on_siblings(&ours);
    let view = path.view(matches!(event, Event::Limited | Event::Sent));
    let signal = |cause| CongestionEvent { now, cause };
    match event {
        Event::Ack | Event::Limited => {
            let rtt = Some(Span::from_micros(rtt));
            path.ours.on_ack(&Acked { now, bytes: segments * MSS, rtt }, &view);
            let feedback = Feedback {
                now,
                acked: segments * MSS,
                delivered: segments * MSS,
                lost: 0,
                marked: 0,
                rtt,
                rate: None,
                in_recovery: false,
            };
            path.ours.on_feedback(&feedback, &view);
            path.law.happen(Event::Feedback, now_us, 0);
            machine::run(program, path.law.octets());
        }
        Event::Loss => path.ours.on_congestion(&signal(Cause::Loss), &view),
        Event::Timeout => path.ours.on_congestion(&signal(Cause::Timeout), &view),
        Event::Undo => path.ours.on_undo(),
        Event::Idle => path.ours.on_idle(u64::MAX),
        Event::Sent => path.ours.on_sent(now, MSS, &view),
        Event::Feedback => {}
    }
}

fn choose(random: &mut Random) -> Event {
    match random.below(1000) {
        0..=3 => Event::Loss,
        4 => Event::Timeout,
        5..=6 => Event::Undo,
        7 => Event::Idle,
        8..=9 => Event::Sent,
        10..=30 => Event::Limited,
        _ => Event::Ack,
    }
}

/// The worst difference of a random sequence, in parts of what is allowed.
fn worst(name: &str, program: &[u8], seed: u64) -> f64 {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let count = 1 + random.below(4);
    let mut paths: Vec<_> = (0..count).map(|_| Path::new(name, &mut random)).collect();
    let mut now_us = 1_000_000;
    let mut worst = 0.0_f64;
    for _ in 0..EVENTS {
        let i = random.below(count) as usize;
        now_us += random.below(4 * paths[i].base_rtt / (paths[i].ours.window() / MSS + 1) + 2);
        if random.one_in(2000) {
            now_us += random.below(3_000_000);
        }
        let event = choose(&mut random);
        // At equality RFC 5681 section 3.1 leaves the choice between slow start and congestion avoidance; a fraction's
        // last digit makes it.
        let chooses = (paths[i].law.window() - paths[i].law.ssthresh()).abs() < 1e-6;
        happen(&mut paths, i, event, now_us, program, &mut random);
        let path = &paths[i];
        let ssthresh = match path.ours.ssthresh() {
            u64::MAX => f64::INFINITY,
            octets => octets as f64 / MSS as f64,
        };
        let window = path.ours.window() as f64 / MSS as f64;
        let (own, theirs) = told(name, path);
        for (what, own, theirs) in [
            ("window", window, path.law.window()),
            ("threshold", ssthresh, path.law.ssthresh()),
            ("word to siblings", own, theirs),
        ] {
            let same = own.is_infinite() && theirs.is_infinite();
            let apart = if same { 0.0 } else { (theirs - own).abs() / (own / 100.0).max(1.0) };
            if chooses && apart > 0.1 {
                return worst;
            }
            assert!(
                apart <= 1.0,
                "{name}, {count} paths, seed {seed}, {event:?} at {now_us} us: the object has {theirs} as \
                 its {what}, the law {own}"
            );
            worst = worst.max(apart);
        }
    }
    worst
}

fn agree(name: &str) {
    let program = instructions(Object::from_name(name).unwrap()).unwrap();
    let worst = (1..=RUNS).map(|seed| worst(name, program, seed)).fold(0.0, f64::max);
    println!("{name}: {RUNS} sequences of {EVENTS} events, at worst {worst:.4} of what is allowed");
}

macro_rules! agree {
    ($($test:ident $name:literal;)*) => {
        $(#[test]
        fn $test() {
            agree($name);
        })*
    };
}

agree! {
    lia "lia";
    olia "olia";
    balia "balia";
    wvegas "wvegas";
    mcubic "mcubic";
    mcubic_share "mcubic-share";
    westwood "westwood";
    vegas "vegas";
    highspeed "highspeed";
}

/// Another law is noticed: what the test says is no matter of course.
#[test]
#[should_panic(expected = "the object has")]
fn another_law_is_noticed() {
    let program = instructions(Object::from_name("balia").unwrap()).unwrap();
    let mut random = Random(7);
    let mut paths: Vec<_> = (0..2).map(|_| Path::new("lia", &mut random)).collect();
    for step in 0..EVENTS as u64 {
        let (i, event) = (step as usize % 2, choose(&mut random));
        happen(&mut paths, i, event, 1_000_000 + 1000 * step, program, &mut random);
        let (ours, theirs) = (paths[i].ours.window() as f64 / MSS as f64, paths[i].law.window());
        assert!((ours - theirs).abs() <= (ours / 100.0).max(1.0), "the object has {theirs}");
    }
}

/// A kernel's windows are whole segments. What a reduction leaves keeps its fraction all the same, while proportional rate
/// reduction moves the window and when it comes to the threshold; what the kernel does otherwise holds.
#[test]
fn a_fraction_survives_the_kernels_recovery() {
    let program = instructions(Object::from_name("mcubic").unwrap()).unwrap();
    let mut law = Law::new(9, None);
    let mut hear = |event, segments, told: Option<(u32, u32)>| {
        law.happen(event, 1_000_000, segments);
        law.time(0, 20_000, 20_000);
        let (window, ssthresh) = told.unwrap_or((0, 0));
        law.kernel(window, ssthresh);
        machine::run(program, law.octets());
        (law.window(), law.ssthresh())
    };
    let near = |(window, ssthresh): (f64, f64), expected: (f64, f64)| {
        let apart = (window - expected.0).abs().max((ssthresh - expected.1).abs());
        assert!(apart < 1e-3, "({window}, {ssthresh}), expected {expected:?}");
    };
    const INFINITE: u32 = 0x7fff_ffff;
    near(hear(Event::Loss, 0, Some((9, INFINITE))), (6.3, 6.3));
    near(hear(Event::Limited, 1, Some((8, 6))), (8.0, 6.3));
    near(hear(Event::Limited, 1, Some((6, 6))), (6.3, 6.3));
    near(hear(Event::Loss, 0, Some((6, 6))), (4.41, 4.41));
    near(hear(Event::Limited, 1, Some((2, 3))), (2.0, 3.0));
}
