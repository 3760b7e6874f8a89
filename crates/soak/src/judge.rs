//! Running a scenario and seeing which promises hold.

mod excuse;

use crate::drive::{Driven, Stop, close, drive};
use crate::expect::Expected;
use crate::failure::{Failure, Promise};
use crate::memory::Watch;
use anabranch_endpoint::{CloseReason, Endpoint, Observe, Seed};
use anabranch_scenario::build::{BuiltFlow, build};
use anabranch_scenario::schema::{Protocol, What};
use anabranch_scenario::{InputError, RunInfo, RunOptions, RunResult, Scenario, Target, run};
use anabranch_sim::parallel::Plan;
use anabranch_sim::{Side, Standing};
use anabranch_units::Time;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use excuse::Excuse;
pub(crate) use excuse::Passengers;

/// How a flow ended in a run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum End {
    /// Everything was delivered.
    Completed,
    /// It had no end of its own, and was cut off or goes on.
    Endless,
    /// Messages were given up, as they may be.
    PartlyReliable,
    /// The connection ended before, and said why.
    GaveUp(&'static str),
    /// One side ended and said why; the other waits, and has nothing to send
    /// (a half-open connection, RFC 9293 §3.5.1).
    PeerGaveUp,
    /// Something was still ahead when the run reached a limit.
    Unfinished,
}

/// A flow and how it ended.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowEnd {
    /// Name of the flow's transport.
    pub protocol: &'static str,
    /// How the flow ended.
    pub end: End,
}

/// The verdict on a scenario that was run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Verdict {
    /// The flows in the order of the scenario; none after a panic.
    pub flows: Vec<FlowEnd>,
    /// The kinds of the scenario's attacks.
    pub attacks: Vec<&'static str>,
    /// Flows that are deceived, or whose peers lie, and to which less is promised.
    pub excused: u64,
    /// The promises that were broken; none of a run as it should be.
    pub failures: Vec<Failure>,
    /// The run was divided over threads as well, and compared.
    pub divided: bool,
    /// Events that the simulator handled.
    pub events: u64,
    /// Virtual seconds until the run's end.
    pub seconds: f64,
    /// The longest of the transfers that had to complete, as a part of the time that they had.
    pub slowest: f64,
}

/// Runs the scenario of `text`, several times, and says which promises broke.
/// An error means that the text is no scenario.
pub fn judge(text: &str) -> Result<Verdict, InputError> {
    let scenario = match caught(|| Scenario::from_toml(text, "scenario")) {
        Ok(read) => read?,
        Err(failure) => return Ok(Verdict { failures: vec![failure], ..Verdict::default() }),
    };
    let attacks = scenario.attacks.iter().map(|attack| attack.kind.info().name).collect();
    let mut verdict = Verdict { attacks, ..Verdict::default() };
    if let Err(failure) = caught(|| look(&scenario, &mut verdict)) {
        verdict.failures.push(failure);
    }
    Ok(verdict)
}

fn look(scenario: &Scenario, verdict: &mut Verdict) {
    let read = Scenario::from_toml(&scenario.resolved_toml(), "resolved");
    if read.as_ref() != Ok(scenario) {
        let what = match read {
            Ok(_) => "reads back as another scenario".to_owned(),
            Err(error) => error.to_string(),
        };
        verdict.failures.push(Failure::new(Promise::Resolves, "scenario", what));
    }
    let watch = Watch::start();
    let mut driven = match drive(scenario, true) {
        Ok(driven) => driven,
        Err(error) => {
            let what = format!("was read, and not built: {error}");
            verdict.failures.push(Failure::new(Promise::Resolves, "scenario", what));
            return;
        }
    };
    (verdict.events, verdict.seconds) = (driven.events, driven.end.as_secs_f64());
    // Liars may send as fast as their links carry.
    let has_liars = scenario.attacks.iter().any(|attack| attack.kind.info().target == Target::Peer);
    if driven.stop == Stop::Busy && !has_liars {
        let what = format!("{} events in {} of virtual time", driven.events, driven.end);
        verdict.failures.push(Failure::new(Promise::TimeAdvances, "run", what));
    }
    judge_flows(scenario, &driven, verdict);
    compare(scenario, &driven, verdict);
    if matches!(driven.stop, Stop::End | Stop::Nothing) {
        judge_closing(scenario, &mut driven, verdict);
    }
    // What is observed of each packet grows with the run.
    let watches_packets = scenario.observe.iter().any(|observed| observed.what == What::Packets);
    if let Some(octets) = watch.excess(2 * Expected::buffers(scenario))
        && !watches_packets
    {
        let what = format!("the run needed {} MiB", octets >> 20);
        verdict.failures.push(Failure::new(Promise::BoundedMemory, "run", what));
    }
}

/// Delivered, given up, or under way.
fn judge_flows(scenario: &Scenario, driven: &Driven, verdict: &mut Verdict) {
    let simulation = &driven.built.simulation;
    let expected = Expected::of(scenario);
    for flow in &driven.built.flows {
        let spec = &scenario.flows[flow.entry];
        let excuse = excuse(scenario, driven, flow);
        verdict.excused += u64::from(excuse >= Excuse::LiedTo);
        let protocol = spec.protocol.name();
        let result = simulation.flow_result(flow.id);
        let mut broken = |promise, what: &str| {
            let what = format!("{what}; flow {}: {}", flow.name, state(driven, flow));
            verdict.failures.push(Failure::new(promise, of(driven, flow, protocol), what));
        };
        if result.wrong_octets > 0 && excuse < Excuse::Deceived {
            broken(Promise::OctetsEqual, &format!("{} wrong octets", result.wrong_octets));
        }
        let over = [Side::Client, Side::Server].map(|side| simulation.is_closed(flow.id, side));
        let end = match (spec.has_end(), result.finish, result.closed) {
            (false, _, _) => End::Endless,
            (true, ..) if has_nothing_to_move(driven, flow) => End::Completed,
            (true, Some(_), _) => End::Completed,
            (true, None, Some(CloseReason::Normal)) if gives_up_messages(scenario, flow) => {
                End::PartlyReliable
            }
            (true, None, Some(CloseReason::Normal)) if excuse >= Excuse::LiedTo => {
                End::GaveUp("normal")
            }
            // The port has it all, and nobody has accepted the connection.
            (true, None, Some(CloseReason::Normal)) if simulation.is_kept_waiting(flow.id) => {
                End::Unfinished
            }
            (true, None, Some(CloseReason::Normal)) => {
                broken(Promise::NothingLost, "ended normally before everything was delivered");
                End::GaveUp("normal")
            }
            (true, None, Some(reason)) => End::GaveUp(word(reason)),
            // The other side has shut down in order, and the last chunk is on its way.
            (true, None, None) if over[1] && gives_up_messages(scenario, flow) => {
                End::PartlyReliable
            }
            (true, None, None) if over[1] => End::PeerGaveUp,
            (true, None, None) => End::Unfinished,
        };
        let stands = match simulation.standing(flow.id) {
            _ if has_nothing_to_move(driven, flow) => false,
            Standing::Stalled => true,
            Standing::Idle => spec.has_end() && driven.stop == Stop::Nothing,
            _ => false,
        };
        if stands {
            if excuse < Excuse::LiedTo {
                broken(Promise::NoStall, "stands still, and nothing is ahead");
            }
        } else if let Some(limit) = expected.limit(flow.entry)
            && excuse == Excuse::None
            && driven.stop != Stop::CutShort
            && has_time(scenario, result.start, limit)
        {
            let until = result.finish.unwrap_or(driven.end);
            let took = until.saturating_since(result.start).as_secs_f64();
            verdict.slowest = verdict.slowest.max(took / limit);
            if end != End::Completed && end != End::PartlyReliable {
                broken(Promise::Completes, "did not complete over a network that loses little");
            } else if took > limit {
                let what = format!("took {took:.0} s where {limit:.0} s are plenty");
                broken(Promise::Completes, &what);
            }
        }
        verdict.flows.push(FlowEnd { protocol, end });
    }
}

/// Judges that both sides come to know it after everything was delivered.
fn judge_closing(scenario: &Scenario, driven: &mut Driven, verdict: &mut Verdict) {
    if scenario.duration.is_some() {
        return;
    }
    if close(driven) != Stop::Nothing || is_held(driven) {
        return;
    }
    let simulation = &driven.built.simulation;
    for flow in &driven.built.flows {
        let spec = &scenario.flows[flow.entry];
        let result = simulation.flow_result(flow.id);
        let over = [Side::Client, Side::Server].map(|side| simulation.is_closed(flow.id, side));
        let stands = match over {
            [false, false] => result.finish.is_some() && result.established,
            [true, false] => result.closed == Some(CloseReason::Normal),
            _ => false,
        };
        let is_deceived = excuse(scenario, driven, flow) >= Excuse::LiedTo;
        if spec.has_end() && stands && !is_deceived {
            let what = format!(
                "does not close, and nothing is ahead; flow {}: {}",
                flow.name,
                state(driven, flow)
            );
            let of = format!("{} at its end", of(driven, flow, spec.protocol.name()));
            verdict.failures.push(Failure::new(Promise::NoStall, of, what));
        }
    }
}

/// Runs the scenario again without checks, once as a user runs it, if it ends, and compares the
/// hashes.
fn compare(scenario: &Scenario, driven: &Driven, verdict: &mut Verdict) {
    let hash = match driven.stop {
        Stop::Busy => return,
        Stop::CutShort => drive(scenario, false).ok().map(|again| again.hash),
        Stop::End | Stop::Nothing | Stop::Time => {
            let options = RunOptions { trace_hash: true, ..RunOptions::default() };
            let result = run(scenario, &options).ok();
            if let Some(alone) = &result {
                compare_divided(scenario, alone, verdict);
            }
            result.and_then(|result| result.run.trace_hash)
        }
    };
    if hash != Some(driven.hash) {
        let what = format!("hash {:016x}, then {hash:x?}", driven.hash);
        verdict.failures.push(Failure::new(Promise::SameBits, "run", what));
    }
}

/// A run that threads would divide into more windows is not divided: that may take long on a busy machine.
const MOST_WINDOWS: f64 = 50_000.0;

/// Runs a scenario once more, divided over threads, if that can be and does not take long, and compares
/// what became of flows and links with a run on one thread.
fn compare_divided(scenario: &Scenario, alone: &RunResult, verdict: &mut Verdict) {
    let mut scenario = scenario.clone();
    // Who watches packets watches all of them.
    scenario.observe.clear();
    let Ok(built) = build(&scenario, Seed { seed: scenario.seed, replication: 0 }) else { return };
    let meets_seldom = |plan: Plan| alone.run.end_s < MOST_WINDOWS * plan.lookahead().as_secs_f64();
    if !Plan::new(&built.simulation, 3).is_ok_and(meets_seldom) {
        return;
    }
    let options = RunOptions { cores: 3, divide_always: true, ..RunOptions::default() };
    let Ok(divided) = run(&scenario, &options) else { return };
    verdict.divided = divided.run.cores > 1;
    let facts = |result: &RunResult| {
        let RunInfo { events, packet_hops, end_s, ended, .. } = &result.run;
        (*events, *packet_hops, *end_s, *ended)
    };
    let same = alone.flows == divided.flows
        && alone
            .links
            .iter()
            .map(|link| link.counters)
            .eq(divided.links.iter().map(|link| link.counters))
        && alone.paths == divided.paths
        && alone.messages == divided.messages
        && alone.datagrams == divided.datagrams
        && alone.videos == divided.videos
        && alone.loads == divided.loads
        && facts(alone) == facts(&divided);
    if !same {
        let what = format!("on one thread {:?}, divided {:?}", facts(alone), facts(&divided));
        verdict.failures.push(Failure::new(Promise::SameBits, "divided", what));
    }
}

/// What tells failures of flows apart.
fn of(driven: &Driven, flow: &BuiltFlow, protocol: &str) -> String {
    let sides = [Side::Client, Side::Server];
    let ends = sides.map(|side| driven.built.simulation.endpoint(flow.id, side));
    match ends.iter().any(|end| end.has_fallen_back() == Some(true)) {
        true => format!("{protocol} after its fallback"),
        false => protocol.to_owned(),
    }
}

/// Packets wait for a transmitter that never sends again.
fn is_held(driven: &Driven) -> bool {
    let simulation = &driven.built.simulation;
    let links = driven.built.links.iter().map(|(_, id)| simulation.link_counters(*id));
    simulation.next_event() == Time::NEVER && links.map(|link| link.queued).sum::<u64>() > 0
}

/// Neither side has an octet to write.
fn has_nothing_to_move(driven: &Driven, flow: &BuiltFlow) -> bool {
    let octets = |reader| driven.built.simulation.progress(flow.id, reader).1;
    [Side::Client, Side::Server].into_iter().all(|reader| octets(reader) == Some(0))
}

/// The run goes on for so long after the flow's start.
fn has_time(scenario: &Scenario, start: Time, limit: f64) -> bool {
    scenario.duration.is_none_or(|duration| duration.as_secs_f64() >= start.as_secs_f64() + limit)
}

/// Returns the promises that a flow is excused from.
fn excuse(scenario: &Scenario, driven: &Driven, flow: &BuiltFlow) -> Excuse {
    let passes = driven.is_passenger(flow.id);
    if passes && excuse::can_be_deceived_on_the_way(&scenario.flows[flow.entry].protocol) {
        return Excuse::Deceived;
    }
    excuse::of_attacks(scenario, flow)
}

/// Whether messages of the flow may be given up.
fn gives_up_messages(scenario: &Scenario, flow: &BuiltFlow) -> bool {
    match &scenario.flows[flow.entry].protocol {
        Protocol::Sctp(spec) => spec.config.partial_reliability,
        _ => false,
    }
}

/// What both sides of a flow say of themselves.
fn state(driven: &Driven, flow: &BuiltFlow) -> String {
    let simulation = &driven.built.simulation;
    let result = simulation.flow_result(flow.id);
    let side = |side| {
        let endpoint = simulation.endpoint(flow.id, side);
        let seen = endpoint.observe();
        let closed = if simulation.is_closed(flow.id, side) { ", closed" } else { "" };
        format!(
            "{side:?}: {} octets acknowledged, {} received, {} in flight, window {}, RTO {}, \
             {} timeouts, next date {}{closed}",
            seen.bytes_acked,
            seen.bytes_received,
            seen.in_flight,
            seen.cwnd,
            seen.rto,
            seen.timeouts,
            endpoint.poll_timeout(),
        )
    };
    format!(
        "{} and {} octets delivered, closed {:?}, at {}; {}; {}",
        result.bytes,
        result.reverse_bytes,
        result.closed,
        simulation.now(),
        side(Side::Client),
        side(Side::Server)
    )
}

fn word(reason: CloseReason) -> &'static str {
    match reason {
        CloseReason::Normal => "normal",
        CloseReason::Reset => "reset",
        CloseReason::Refused => "refused",
        CloseReason::TimedOut => "timed-out",
        CloseReason::Aborted => "aborted",
    }
}

thread_local! {
    /// Place and words of the last panic on this thread; `None` while nobody asks.
    static PANIC: RefCell<Option<(String, String)>> = const { RefCell::new(None) };
}

/// What `run` gives, or the panic that ended it.
fn caught<R>(run: impl FnOnce() -> R) -> Result<R, Failure> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let told = PANIC.with_borrow_mut(|asked| {
                let asked = asked.as_mut()?;
                let place = info
                    .location()
                    .map(|location| format!("{}:{}", location.file(), location.line()));
                let payload = info.payload();
                let text = payload.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
                let said = text.unwrap_or("no message");
                *asked = (place.unwrap_or_default(), said.to_owned());
                Some(())
            });
            if told.is_none() {
                usual(info);
            }
        }));
    });
    PANIC.set(Some(Default::default()));
    let result = catch_unwind(AssertUnwindSafe(run));
    let (place, said) = PANIC.take().unwrap_or_default();
    result.map_err(|_| Failure::new(Promise::NoPanic, place, said))
}

#[cfg(test)]
mod tests;
