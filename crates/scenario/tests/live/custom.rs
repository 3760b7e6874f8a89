//! Algorithms of the user's own in Rust on real packets, at each seam: they do there what they do in
//! virtual time.

use crate::support::machine;
use anabranch_congestion::{Acked, CongestionEvent, Controller, MakeWindow, PathView};
use anabranch_custom::{Found, Options};
use anabranch_mptcp::scheduler::{Candidate as Subflow, Choice, MakeScheduler, Scheduler, Stream};
use anabranch_network::{DelayLaw, Forward, MakeLaw};
use anabranch_scenario::live::{LiveOptions, live};
use anabranch_scenario::{Library, RunOptions, RunResult, Scenario, run};
use anabranch_sctp::policy::{Candidate, MakePolicy, Policy, Reason};
use anabranch_tcp::Range;
use anabranch_tcp::recovery::{AckView, LossDetector, MakeDetector};
use anabranch_units::Span;
use std::sync::Arc;

const WINDOW: u64 = 14_480;

/// A window that nothing changes.
struct Fixed;

impl Controller for Fixed {
    fn on_ack(&mut self, _acked: &Acked, _path: &PathView) {}
    fn on_congestion(&mut self, _event: &CongestionEvent, _path: &PathView) {}
    fn on_idle(&mut self, _initial: u64) {}
    fn window(&self) -> u64 {
        WINDOW
    }
    fn ssthresh(&self) -> u64 {
        u64::MAX
    }
}

/// A hole is lost as soon as something above has arrived, once.
#[derive(Debug)]
struct Hasty(u64);

impl LossDetector for Hasty {
    fn on_ack(&mut self, ack: &AckView<'_>, lost: &mut Vec<Range>) {
        self.0 = self.0.max(ack.una);
        for sacked in ack.sacked.iter() {
            if sacked.start > self.0 {
                lost.push(Range { start: self.0, end: sacked.start });
            }
            self.0 = self.0.max(sacked.end);
        }
    }
}

/// The subflow that came last has all that is new, and the others nothing.
#[derive(Debug)]
struct Last;

impl Scheduler for Last {
    fn choose(&mut self, candidates: &[Subflow], _stream: &Stream) -> Choice {
        match candidates.iter().max_by_key(|candidate| candidate.id) {
            Some(candidate) if candidate.has_room => Choice::New(candidate.id),
            _ => Choice::Wait,
        }
    }
}

/// What was lost goes the other way.
#[derive(Debug)]
struct Elsewhere;

impl Policy for Elsewhere {
    fn choose(&mut self, _reason: Reason, last: usize, paths: &[Candidate]) -> usize {
        (last + 1) % paths.len()
    }
}

/// Every ACK waits for 20 ms.
#[derive(Debug)]
struct Constant;

impl DelayLaw for Constant {
    fn delay(&mut self, _forward: &Forward) -> Span {
        Span::from_millis(20)
    }
}

struct Own;

fn found<F: ?Sized>(name: &str, make: Arc<F>) -> Found<F> {
    Found { name: name.into(), source: "1".into(), make }
}

impl Library for Own {
    fn window(&self, name: &str, _: &Options) -> Result<Found<MakeWindow>, String> {
        Ok(found(name, Arc::new(|_, _, _| Box::new(Fixed))))
    }
    fn recovery(&self, name: &str, _: &Options) -> Result<Found<MakeDetector>, String> {
        Ok(found(name, Arc::new(|_| Box::new(Hasty(0)))))
    }
    fn scheduler(&self, name: &str, _: &Options) -> Result<Found<MakeScheduler>, String> {
        Ok(found(name, Arc::new(|_| Box::new(Last))))
    }
    fn destination(&self, name: &str, _: &Options) -> Result<Found<MakePolicy>, String> {
        Ok(found(name, Arc::new(|_| Box::new(Elsewhere))))
    }
    fn regulator(&self, name: &str, _: &Options) -> Result<Found<MakeLaw>, String> {
        Ok(found(name, Arc::new(|_| Box::new(Constant))))
    }
}

const SCENARIO: &str = r#"
    hosts = [
        "a", { name = "k", external = true },
        { name = "c", interfaces = ["x", "y"] },
        { name = "l", interfaces = ["x", "y"], external = true },
        { name = "d", interfaces = ["x", "y"] }, { name = "e", interfaces = ["x", "y"] },
    ]
    routers = ["r"]
    [[links]]
    ends = ["a", "r"]
    rate = "100 Mbit/s"
    delay = "1 ms"
    [[links]]
    ends = ["r", "k"]
    rate = "100 Mbit/s"
    delay = "9 ms"
    impairments = [{ kind = "periodic", every = 60 }]
    regulator = { law = "own:constant" }
    reverse = { impairments = [] }
    [[links]]
    ends = ["c.x", "l.x"]
    rate = "10 Mbit/s"
    delay = "10 ms"
    queue = { limit = "40 packets" }
    [[links]]
    ends = ["c.y", "l.y"]
    rate = "10 Mbit/s"
    delay = "10 ms"
    queue = { limit = "40 packets" }
    [[links]]
    ends = ["d.x", "e.x"]
    rate = "10 Mbit/s"
    delay = "10 ms"
    impairments = [{ kind = "periodic", every = 40 }]
    reverse = { impairments = [] }
    [[links]]
    ends = ["d.y", "e.y"]
    rate = "10 Mbit/s"
    delay = "10 ms"
    [[flows]]
    name = "fixed"
    from = "a"
    to = "k"
    size = "434400 B"
    tcp = { window = "own:fixed", recovery = "own:hasty" }
    [[flows]]
    name = "last"
    from = "c"
    to = "l"
    size = "1500 kB"
    protocol = "mptcp"
    mptcp = { scheduler = "own:last", path_manager = "pairs" }
    [[flows]]
    name = "elsewhere"
    from = "d"
    to = "e"
    size = "500 kB"
    protocol = "sctp"
    sctp = { destination = "own:elsewhere" }
"#;

fn judge(world: &str, run_result: &RunResult) {
    for flow in &run_result.flows {
        assert_eq!(flow.wrong_octets, 0, "{world} {flow:?}");
        assert!(flow.finish_s.is_some(), "{world} {flow:?}");
    }
    let fixed = &run_result.flows[0];
    // Thirty windows, a round of 20 ms and the 20 ms of the law each, and one for the handshake;
    // the windows stay as large though each sixtieth segment is lost and sent again.
    let rounds = 434_400.0 / WINDOW as f64 + 1.0;
    let finish = fixed.finish_s.unwrap_or(f64::NAN);
    assert!((0.85..1.4).contains(&(finish / (rounds * 0.040))), "{world}: {finish}");
    assert!((5..=8).contains(&fixed.retransmitted_packets), "{world} {fixed:?}");
    assert_eq!(fixed.timeouts, 0, "{world} {fixed:?}");

    // Links in the file's order, each with its reverse.
    let [first, last] = [4, 6].map(|link| run_result.links[link].counters.bytes_delivered);
    // What left before the second subflow was there is the first's.
    assert!(last > 1_200_000 && last > 5 * first, "{world} {first} {last}");
    let elsewhere = run_result.paths.iter().filter(|path| path.flow == "elsewhere");
    let again: Vec<_> = elsewhere.map(|path| path.retransmitted_packets).collect();
    assert!(again[0] == 0 && again[1] >= 5, "{world} {again:?}");
}

#[test]
fn algorithms_in_rust_work_at_every_seam() {
    if !machine() {
        return;
    }
    let mut scenario = Scenario::from_toml(SCENARIO, "own.toml").unwrap_or_else(|e| panic!("{e}"));
    let error = live(&scenario, &LiveOptions::default(), |_| ()).unwrap_err().to_string();
    assert!(error.contains("flows[0].tcp.window"), "nobody knows the names yet: {error}");
    scenario.bind(&Own).unwrap_or_else(|e| panic!("{e}"));
    let simulated = run(&scenario, &RunOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    judge("in virtual time", &simulated);
    let real = live(&scenario, &LiveOptions::default(), |_| ()).unwrap_or_else(|e| panic!("{e}"));
    judge("live", &real.result);
}
