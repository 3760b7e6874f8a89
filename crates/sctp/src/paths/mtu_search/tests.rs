use super::*;

const RTT: Span = Span::from_millis(100);
const WAIT: Span = Span::from_secs(1);

/// A path that carries `passes` octets, whose routers `tell`, or swallow what is larger.
struct Bench {
    search: MtuSearch,
    now: Time,
    passes: u32,
    tells: bool,
    nonces: u64,
    /// Milliseconds and sizes of probes; lost ones with an `x`, those that a router reports with a `!`.
    log: Vec<String>,
}

fn bench(config: &Config, passes: u32) -> Bench {
    let search = *MtuSearch::new(config).expect("the settings ask for it");
    Bench { search, now: Time::ZERO, passes, tells: false, nonces: 0, log: Vec::new() }
}

fn always() -> Config {
    Config { mtu_probing: MtuProbing::Always, ..Config::rfc9260() }
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

impl Bench {
    fn connect(&mut self) {
        self.search.set_connected(self.now, true, RTT);
    }

    /// Runs up to `ms`; gives what has left since.
    fn run(&mut self, ms: u64) -> Vec<String> {
        loop {
            if let Some(size) = self.search.poll_probe(self.now) {
                self.nonces += 1;
                self.search.on_sent(self.now, size, self.nonces, WAIT);
                let (mark, after) = match (size <= self.passes, self.tells) {
                    (true, _) => ("", RTT),
                    (false, true) => ("!", RTT / 2),
                    (false, false) => ("x", Span::ZERO),
                };
                self.log.push(format!("{} {size}{mark}", self.now.as_millis()));
                match mark {
                    "x" => {}
                    "!" => {
                        self.now += after;
                        self.search.on_too_big(self.now, self.passes, RTT);
                    }
                    _ => {
                        self.now += after;
                        assert!(self.search.waits_for(self.nonces).is_some());
                        self.search.on_answer(self.now);
                    }
                }
                continue;
            }
            if self.search.deadline() > at(ms) {
                self.now = self.now.max(at(ms));
                return std::mem::take(&mut self.log);
            }
            self.now = self.now.max(self.search.deadline());
        }
    }
}

/// §5.2: BASE, then the largest, which most paths carry; a search that ends there has no timer.
#[test]
fn a_path_that_carries_all_is_known_after_two_probes() {
    let mut bench = bench(&always(), 1500);
    assert_eq!(bench.search.mtu(), 1220, "before it is connected too");
    assert!(bench.run(1000).is_empty());
    bench.connect();
    assert_eq!(bench.run(10_000), ["1000 1220", "1100 1500"]);
    assert_eq!((bench.search.mtu(), bench.search.phase), (1500, Phase::Complete));
    assert_eq!(bench.search.deadline(), Time::NEVER);
}

/// §5.3.2: by halves of what is open; the smallest size that was lost is lost MAX_PROBES times in a
/// row before it is believed. Ten minutes later the search begins anew (PMTU_RAISE_TIMER).
#[test]
fn the_search_ends_at_what_passes() {
    let mut bench = bench(&always(), 1400);
    bench.connect();
    let found = [
        "0 1220",
        "100 1500x",
        "1100 1360",
        "1200 1428x",
        "2200 1392",
        "2300 1408x",
        "3300 1400",
        "3400 1404x",
        "4400 1404x",
        "5400 1404x",
    ];
    assert_eq!(bench.run(60_000), found);
    assert_eq!((bench.search.mtu(), bench.search.phase), (1400, Phase::Complete));
    assert_eq!(bench.search.deadline(), at(606_400));
    bench.passes = 1500;
    assert_eq!(bench.run(700_000), ["606400 1500"]);
    assert_eq!((bench.search.mtu(), bench.search.phase), (1500, Phase::Complete));
}

/// §5.1.2: MAX_PROBES makes a search robust against single losses.
#[test]
fn a_single_loss_does_not_bound_the_search() {
    let mut bench = bench(&always(), 1499);
    bench.connect();
    let mut first = bench.run(1000);
    bench.passes = 1500;
    first.extend(bench.run(10_000));
    let found = [
        "0 1220",
        "100 1500x",
        "1100 1360",
        "1200 1428",
        "1300 1464",
        "1400 1480",
        "1500 1488",
        "1600 1492",
        "1700 1496",
        "1800 1500",
    ];
    assert_eq!(first, found);
}

/// §5.3.1: three losses in a row end a search, of whatever sizes.
#[test]
fn three_losses_in_a_row_end_a_search() {
    let mut bench = bench(&always(), 1230);
    bench.connect();
    assert_eq!(bench.run(60_000), ["0 1220", "100 1500x", "1100 1360x", "2100 1288x"]);
    assert_eq!((bench.search.mtu(), bench.search.phase), (1220, Phase::Complete));
}

/// §4.6.2: what a router says is probed next, a round trip after the last probe (§8), and never taken
/// as it is; said of what is already in use it ends the search.
#[test]
fn what_a_router_says_is_probed_and_ends_the_search() {
    let mut bench = bench(&always(), 1400);
    bench.tells = true;
    bench.connect();
    assert_eq!(bench.run(150), ["0 1220", "100 1500!"]);
    assert_eq!(bench.search.mtu(), 1220, "PLPMTU is what was answered");
    assert_eq!(bench.run(60_000), ["200 1400", "300 1404!"]);
    assert_eq!((bench.search.mtu(), bench.search.phase), (1400, Phase::Complete));
}

/// §4.6.2, §8: less than PLPMTU is a black hole, which BASE_PLPMTU confirms; said of that it is an error;
/// less than MIN_PLPMTU, or more than was probed, is discarded.
#[test]
fn a_router_cannot_make_packets_smaller_by_itself() {
    let mut bench = bench(&always(), 1500);
    bench.connect();
    bench.run(1000);
    for size in [0, 68, 508, 1500, 9000] {
        bench.search.on_too_big(bench.now, size, RTT);
        assert_eq!((bench.search.mtu(), bench.search.phase), (1500, Phase::Complete), "{size}");
    }
    bench.search.on_too_big(bench.now, 1300, RTT);
    assert_eq!(bench.search.mtu(), 1220);
    assert_eq!(bench.run(2000), ["1000 1220", "1100 1300", "1200 1500"], "it was a lie");
    bench.search.on_too_big(bench.now, 600, RTT);
    assert_eq!(bench.search.mtu(), 1220);
    assert_eq!(bench.search.poll_probe(bench.now), Some(1220));
    bench.search.on_sent(bench.now, 1220, 99, WAIT);
    bench.search.on_too_big(bench.now, 600, RTT);
    assert_eq!((bench.search.mtu(), bench.search.phase), (512, Phase::Error { lost: 0 }));
    assert_eq!(bench.run(3000), ["2100 1220", "2200 1500"], "another");
}

/// §4.3: T3-rtx twice in a row, without data that arrives between.
#[test]
fn timeouts_in_a_row_are_a_black_hole() {
    let mut bench = bench(&always(), 1500);
    bench.connect();
    bench.run(1000);
    bench.passes = 1300;
    bench.search.on_data_timeout(bench.now, RTT);
    bench.search.on_data_arrived();
    bench.search.on_data_timeout(bench.now, RTT);
    assert_eq!(bench.search.mtu(), 1500);
    bench.search.on_data_timeout(bench.now, RTT);
    assert_eq!(bench.search.mtu(), 1220);
    let found = [
        "1000 1220",
        "1100 1500x",
        "2100 1360x",
        "3100 1288",
        "3200 1324x",
        "4200 1304x",
        "5200 1296",
        "5300 1300",
        "5400 1304x",
        "6400 1304x",
        "7400 1304x",
    ];
    assert_eq!(bench.run(60_000), found);
    assert_eq!(bench.search.mtu(), 1300);
}

/// `black-hole`: nothing is probed before.
#[test]
fn a_search_may_wait_for_a_black_hole() {
    let config = Config { mtu_probing: MtuProbing::BlackHole, ..Config::rfc9260() };
    let mut bench = bench(&config, 1400);
    bench.connect();
    assert!(bench.run(1000).is_empty());
    assert_eq!(bench.search.mtu(), 1500);
    bench.search.on_data_timeout(bench.now, RTT);
    bench.search.on_data_timeout(bench.now, RTT);
    assert_eq!(bench.search.mtu(), 1220);
    bench.run(60_000);
    assert_eq!(bench.search.mtu(), 1400);
    // What was found out outlives the connectivity, and is confirmed again.
    bench.search.set_connected(bench.now, false, RTT);
    assert_eq!((bench.search.mtu(), bench.search.deadline()), (1400, Time::NEVER));
    bench.connect();
    assert_eq!(bench.run(60_200), ["60000 1220", "60100 1500x"]);
}

/// §5.2, ERROR: BASE_PLPMTU is lost three times; it is tried again in intervals that double.
#[test]
fn without_the_base_size_packets_have_the_least() {
    let mut bench = bench(&always(), 600);
    bench.connect();
    let found = ["0 1220x", "1000 1220x", "2000 1220x", "3000 1220x", "5000 1220x", "8000 1220x"];
    assert_eq!(bench.run(12_000), found);
    assert_eq!((bench.search.mtu(), bench.search.phase), (512, Phase::Error { lost: 3 }));
    bench.passes = 1500;
    assert_eq!(bench.run(20_000), ["13000 1220", "13100 1500"]);
    assert_eq!(bench.search.mtu(), 1500);
}

/// A lost probe whose answer comes late after all is not waited for any more.
#[test]
fn answers_belong_to_the_probe_that_waits() {
    let mut bench = bench(&always(), 1500);
    bench.connect();
    assert_eq!(bench.search.poll_probe(at(0)), Some(1220));
    bench.search.on_sent(at(0), 1220, 7, WAIT);
    assert_eq!(bench.search.poll_probe(at(500)), None);
    assert_eq!((bench.search.waits_for(7), bench.search.waits_for(8)), (Some(at(0)), None));
    assert_eq!(bench.search.poll_probe(at(1000)), Some(1220));
    bench.search.on_sent(at(1000), 1220, 8, WAIT);
    assert_eq!((bench.search.waits_for(7), bench.search.waits_for(8)), (None, Some(at(1000))));
}
