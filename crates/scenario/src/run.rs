//! Running a scenario once, or many times with different seeds.

use crate::Scenario;
use crate::build::{Built, BuiltFlow, build};
use crate::capture::{self, CaptureOptions};
use crate::measured;
use crate::outcome::{self, Outcome};
use crate::record::Recorders;
use crate::result::{
    AttackRow, FlowRow, LinkRow, ListenRow, MemoryRow, MessageRow, PathRow, PortRow, RegulatorRow,
    RunInfo, RunResult,
};
use crate::run_error::RunError;
use crate::schema::{Direction, Protocol};
use crate::slices::{self, Watch};
use crate::transport::Transport;
use anabranch_custom::catching;
use anabranch_endpoint::{CloseReason, GENERATOR, Observe, PathObservation, PathState, Seed};
use anabranch_sim::observe::ConservationChecker;
use anabranch_sim::parallel::{self, Incomplete, Plan, Until};
use anabranch_sim::{LinkId, MessageTotals, NodeId, Side, Simulation};
use anabranch_units::{Span, Time};
use anabranch_wire::Addr;
use std::path::PathBuf;

/// Options of a run that are not in the scenario.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RunOptions {
    /// Seed; `None` takes the scenario's.
    pub seed: Option<u64>,
    /// Number of the replication, from 0: another one has other random draws.
    pub replication: u64,
    /// Write packets to this file, as pcapng.
    pub pcap: Option<PathBuf>,
    /// The packets that are written, and how much of each.
    pub capture: CaptureOptions,
    /// Compute a hash over all packet events.
    pub trace_hash: bool,
    /// Check conservation on every link at every event; slow.
    pub check: bool,
    /// Threads that the run is divided over, if it can be and gains by it ([`RunInfo::one_core`] says why
    /// not); at most one means a single thread. The results are the same.
    pub cores: usize,
    /// Divide it wherever it can be, even if it hardly gains.
    pub divide_always: bool,
}

/// Runs `scenario` once.
///
/// ```
/// use anabranch_scenario::{RunOptions, Scenario, run};
/// let scenario = Scenario::from_toml(
///     r#"
///     hosts = ["a", "b"]
///     links = [{ ends = ["a", "b"], rate = "10 Mbit/s", delay = "5 ms" }]
///     flows = [{ name = "f", from = "a", to = "b", size = "1 MB" }]
///     "#,
///     "two-hosts.toml",
/// )?;
/// let result = run(&scenario, &RunOptions::default())?;
/// assert_eq!(result.flows[0].bytes, 1_000_000);
/// assert!(result.flows[0].finish_s.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run(scenario: &Scenario, options: &RunOptions) -> Result<RunResult, RunError> {
    run_slices(scenario, options, None)
}

/// Runs `scenario` once, and asks `watch` several times a second, true of which
/// ends it with [`RunError::Interrupted`]. The result is that of [`run`].
pub fn run_watched(
    scenario: &Scenario,
    options: &RunOptions,
    watch: Watch<'_>,
) -> Result<RunResult, RunError> {
    run_slices(scenario, options, Some(watch))
}

fn run_slices(
    scenario: &Scenario,
    options: &RunOptions,
    watch: Option<Watch<'_>>,
) -> Result<RunResult, RunError> {
    let clocks = Clocks::start();
    scenario.check_bound()?;
    let seed =
        Seed { seed: options.seed.unwrap_or(scenario.seed), replication: options.replication };
    let Built { mut simulation, flows, links } = build(scenario, seed)?;
    let recorders = Recorders::attach(scenario, &flows, &links, &mut simulation);
    if options.trace_hash {
        simulation.enable_trace_hash();
    }
    if options.check {
        simulation.attach(ConservationChecker::new());
    }
    let captured = options.pcap.as_ref().map(|path| {
        capture::start(path, &options.capture, scenario, &flows, &links, &mut simulation)
    });
    let captured = captured.transpose()?;

    let stages = stages(scenario, &flows);
    let plan = plan(scenario, &simulation, options);
    if let Some(Ok(plan)) = &plan {
        match run_divided(scenario, seed, simulation, plan, &stages, watch)? {
            Some(whole) => simulation = whole,
            None => return run_undivided(scenario, options, watch),
        }
    } else {
        let drive =
            |simulation: &mut _| stages.iter().all(|until| slices::run(simulation, *until, watch));
        let ran = catching(|| drive(&mut simulation));
        let ran =
            ran.map_err(|failure| RunError::Algorithm { at: Some(simulation.now()), failure })?;
        if !ran {
            return Err(RunError::Interrupted);
        }
    }

    if let Some(captured) = captured {
        captured.finish(&mut simulation)?;
    }
    let mut result = results(scenario, seed, &simulation, &flows, &links, &recorders, &clocks);
    match plan {
        Some(Ok(plan)) => result.run.cores = plan.parts(),
        Some(Err(why)) => result.run.one_core = Some(why),
        None => {}
    }
    Ok(result)
}

/// The points that a run goes through, to its end.
fn stages(scenario: &Scenario, flows: &[BuiltFlow]) -> Vec<Until> {
    if let Some(duration) = scenario.duration {
        return vec![Until::Date(Time::ZERO + duration)];
    }
    // Flows without a size are over when they stop.
    let endless = flows.iter().filter(|flow| !scenario.flows[flow.entry].has_end());
    let stop = endless.filter_map(|flow| flow.stop).max().unwrap_or(Time::ZERO);
    let end = Until::Completion(stop.max(Time::ZERO + scenario.time_limit));
    let stop = (stop > Time::ZERO).then_some(Until::Date(stop));
    stop.into_iter().chain([end]).collect()
}

/// How the run is divided over several cores, or why not; `None` where nobody asked for it.
fn plan(
    scenario: &Scenario,
    simulation: &Simulation<Transport>,
    options: &RunOptions,
) -> Option<Result<Plan, String>> {
    if options.cores <= 1 {
        return None;
    }
    if scenario.has_custom_algorithms() {
        return Some(Err("it has algorithms of the user's own".to_owned()));
    }
    let plan = match options.divide_always {
        true => Plan::new(simulation, options.cores),
        false => Plan::that_gains(simulation, options.cores),
    };
    Some(plan.map_err(|obstacle| obstacle.to_string()))
}

/// Makes a run again on one thread: its parts have gone beyond its end.
fn run_undivided(
    scenario: &Scenario,
    options: &RunOptions,
    watch: Option<Watch<'_>>,
) -> Result<RunResult, RunError> {
    let mut result = run_slices(scenario, &RunOptions { cores: 1, ..options.clone() }, watch)?;
    result.run.one_core = Some(
        "its last transfer ended by a reset or a timeout, which no part can foresee; it was made again"
            .to_owned(),
    );
    Ok(result)
}

/// Runs the parts of `plan`, of which `first` is the first; `None` if they went beyond the end of the run.
fn run_divided(
    scenario: &Scenario,
    seed: Seed,
    first: Simulation<Transport>,
    plan: &Plan,
    stages: &[Until],
    watch: Option<Watch<'_>>,
) -> Result<Option<Simulation<Transport>>, RunError> {
    let mut parts = vec![first];
    while parts.len() < plan.parts() {
        let Built { mut simulation, flows, links } = build(scenario, seed)?;
        // What they record the first one takes over in the end, whose recorders are asked.
        Recorders::attach(scenario, &flows, &links, &mut simulation);
        parts.push(simulation);
    }
    let is_stopped = || watch.is_some_and(|watch| watch());
    match parallel::run(parts, plan, stages, &is_stopped) {
        Ok(whole) => Ok(Some(whole)),
        Err(Incomplete::WentTooFar) => Ok(None),
        Err(Incomplete::Stopped) => Err(RunError::Interrupted),
    }
}

/// What a simulation of `scenario` has to tell now.
pub(crate) fn results(
    scenario: &Scenario,
    seed: Seed,
    simulation: &Simulation<Transport>,
    flows: &[BuiltFlow],
    links: &[(String, LinkId)],
    recorders: &Recorders,
    clocks: &Clocks,
) -> RunResult {
    let end = simulation.now();
    let flow_row = |flow: &BuiltFlow| {
        let protocol = scenario.flows[flow.entry].protocol.name();
        let result = simulation.flow_result(flow.id);
        let outcome = outcome::of(simulation, flow);
        flow_row(flow, protocol, &result, fallback(simulation, flow), outcome, end)
    };
    let ways = scenario.links.iter().flat_map(|link| [&link.forward, &link.reverse]);
    let link_row = |((name, id), way): (&(String, LinkId), &Direction)| {
        let counters = simulation.link_counters(*id);
        LinkRow {
            name: name.clone(),
            utilisation: measured::utilisation(way, counters.bytes_delivered, end),
            queueing: recorders.queueing(*id, simulation),
            counters,
        }
    };
    let regulator_row = |(name, id): &(String, _)| {
        let counters = simulation.regulator_counters(*id)?;
        Some(RegulatorRow { name: name.clone(), counters })
    };
    let (wall_s, cpu_s) = clocks.read();
    RunResult {
        flows: flows.iter().map(flow_row).collect(),
        events: recorders.events(scenario, flows, simulation),
        series: recorders.series(scenario, flows, links, simulation),
        links: links.iter().zip(ways).map(link_row).collect(),
        regulators: links.iter().filter_map(regulator_row).collect(),
        lines: simulation
            .lines()
            .flat_map(|(name, [there, back])| {
                [(name.to_owned(), there), (format!("{name}-reverse"), back)]
            })
            .map(|(name, counters)| PortRow { name, counters })
            .collect(),
        messages: flows
            .iter()
            .filter(|flow| !matches!(scenario.flows[flow.entry].protocol, Protocol::Udp(_)))
            .flat_map(|flow| message_rows(flow, simulation))
            .collect(),
        datagrams: measured::datagrams(scenario, flows, simulation),
        videos: measured::videos(scenario, flows, simulation),
        loads: measured::loads(flows, simulation),
        paths: flows.iter().flat_map(|flow| path_rows(flow, simulation, end)).collect(),
        listeners: simulation
            .receptions()
            .map(|(name, result)| ListenRow { name: name.to_owned(), result })
            .collect(),
        attacks: simulation
            .attacks()
            .map(|(name, result)| AttackRow { name: name.to_owned(), result })
            .collect(),
        memory: simulation
            .memory()
            .map(|(host, result)| MemoryRow { host: host.to_owned(), result })
            .collect(),
        run: RunInfo {
            version: env!("CARGO_PKG_VERSION"),
            seed: seed.seed,
            replication: seed.replication,
            generator: GENERATOR,
            events: simulation.events(),
            packet_hops: simulation.packet_hops(),
            dropped_checksum: simulation.node_drops().checksum,
            icmp_withheld: simulation.node_drops().icmp_withheld,
            wall_s,
            cpu_s,
            end_s: end.as_secs_f64(),
            ended: outcome::end(scenario, simulation),
            trace_hash: simulation.trace_hash(),
            cores: 1,
            one_core: None,
            warnings: scenario.warnings(),
            resolved: scenario.resolved_toml(),
        },
    }
}

/// Runs the replications `0..replications` on up to `jobs` threads; the order
/// of the results, and the results, do not depend on `jobs`. `seed` and
/// `trace_hash` are those of [`RunOptions`].
pub fn run_batch(
    scenario: &Scenario,
    seed: Option<u64>,
    replications: std::ops::Range<u64>,
    jobs: usize,
    trace_hash: bool,
) -> Vec<Result<RunResult, RunError>> {
    let count = usize::try_from(replications.end.saturating_sub(replications.start));
    anabranch_sim::run_batch(count.unwrap_or(usize::MAX), jobs, |i| {
        let replication = replications.start + i as u64;
        run(scenario, &RunOptions { seed, replication, trace_hash, ..RunOptions::default() })
    })
}

/// Returns how long a flow has taken: to its finish, or else until it stopped or the run ended.
fn seconds(flow: &BuiltFlow, result: &anabranch_sim::FlowResult, end: Time) -> f64 {
    let until = result.finish.unwrap_or(flow.stop.map_or(end, |stop| stop.min(end)));
    until.saturating_since(result.start).as_secs_f64()
}

/// Whether a side of a flow over Multipath TCP goes on as TCP.
fn fallback(simulation: &Simulation<Transport>, flow: &BuiltFlow) -> Option<bool> {
    let sides = [Side::Client, Side::Server].map(|side| simulation.endpoint(flow.id, side));
    let sides = sides.iter().filter_map(|side| side.has_fallen_back());
    sides.reduce(|one, other| one || other)
}

/// The word for why a connection ended.
pub(crate) fn reason_name(reason: CloseReason) -> &'static str {
    match reason {
        CloseReason::Normal => "normal",
        CloseReason::Reset => "reset",
        CloseReason::Refused => "refused",
        CloseReason::TimedOut => "timed-out",
        CloseReason::Aborted => "aborted",
    }
}

fn flow_row(
    flow: &BuiltFlow,
    protocol: &'static str,
    result: &anabranch_sim::FlowResult,
    fallback: Option<bool>,
    (outcome, why): (Outcome, Option<String>),
    end: Time,
) -> FlowRow {
    let seconds = seconds(flow, result, end);
    let bytes = match flow.sender {
        Side::Client => result.bytes,
        Side::Server => result.reverse_bytes,
    };
    FlowRow {
        flow: flow.name.clone(),
        protocol,
        start_s: result.start.as_secs_f64(),
        finish_s: result.finish.map(|finish| finish.as_secs_f64()),
        bytes: result.bytes,
        reverse_bytes: result.reverse_bytes,
        goodput_bps: if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 },
        retransmitted_packets: result.retransmitted_packets,
        fast_retransmits: result.fast_retransmits,
        timeouts: result.timeouts,
        established: result.established,
        closed: result.closed.map(reason_name),
        outcome,
        why,
        wrong_octets: result.wrong_octets,
        undone_reductions: result.undone_reductions,
        tail_loss_probes: result.tail_loss_probes,
        spurious_retransmissions: result.spurious_retransmissions,
        fallback,
    }
}

/// The messages of a flow, of each direction that has some.
fn message_rows<'a>(
    flow: &'a BuiltFlow,
    simulation: &'a Simulation<Transport>,
) -> impl Iterator<Item = MessageRow> + 'a {
    let back = || format!("{}.reverse", flow.name);
    let sides = [(flow.sender, flow.name.clone()), (flow.sender.peer(), back())];
    sides.into_iter().filter_map(move |(side, name)| {
        Some(message_row(name, simulation.message_totals(flow.id, side)?))
    })
}

fn message_row(flow: String, totals: MessageTotals) -> MessageRow {
    let of_delivered = |span: Span| (totals.delivered > 0).then(|| span.as_secs_f64());
    let mean = |sum| of_delivered(sum).map(|seconds| seconds / totals.delivered as f64);
    MessageRow {
        flow,
        made: totals.made,
        delivered: totals.delivered,
        delay_s: mean(totals.delay),
        longest_delay_s: of_delivered(totals.longest_delay),
        wait_s: mean(totals.waited),
        longest_wait_s: of_delivered(totals.longest_wait),
    }
}

/// The paths of a flow, from its sender; what came over each, from its receiver.
fn path_rows<'a>(
    flow: &'a BuiltFlow,
    simulation: &'a Simulation<Transport>,
    end: Time,
) -> impl Iterator<Item = PathRow> + 'a {
    let paths = |side| {
        let endpoint = simulation.endpoint(flow.id, side);
        (0..).map_while(|path| endpoint.observe_path(path))
    };
    let name = |addr: Addr| simulation.node_name(NodeId(addr.0)).to_owned();
    let at_receiver: Vec<_> = paths(flow.sender.peer()).collect();
    let seconds = seconds(flow, &simulation.flow_result(flow.id), end);
    paths(flow.sender).map(move |path| {
        let reversed = |path_observation: &&PathObservation| {
            (path_observation.local, path_observation.remote, path_observation.subflow)
                == (path.remote, path.local, path.subflow)
        };
        let new_bytes =
            at_receiver.iter().find(reversed).and_then(|at_receiver| at_receiver.bytes_received);
        let goodput = |bytes| if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 };
        PathRow {
            flow: flow.name.clone(),
            from: name(path.local),
            to: name(path.remote),
            subflow: path.subflow.unwrap_or(0),
            state: match path.state {
                PathState::Unconfirmed => "unconfirmed",
                PathState::Active => "active",
                PathState::PotentiallyFailed => "potentially-failed",
                PathState::Inactive => "inactive",
            },
            packets: path.packets,
            retransmitted_packets: path.retransmitted,
            bytes: path.bytes_acked,
            new_bytes,
            goodput_bps: new_bytes.map(goodput),
            fast_retransmits: path.fast_retransmits,
            timeouts: path.timeouts,
            heartbeats: path.heartbeats,
            errors: path.errors,
            cwnd: path.cwnd,
            srtt_s: path.srtt.map(|srtt| srtt.as_secs_f64()),
            rto_s: path.rto.as_secs_f64(),
        }
    })
}

/// Wall clock and CPU time of this thread, for reports only.
pub(crate) struct Clocks {
    wall: std::time::Instant,
    cpu: cpu_time::ThreadTime,
}

impl Clocks {
    #[expect(
        clippy::disallowed_methods,
        reason = "how long a run took is reported, and used nowhere"
    )]
    pub(crate) fn start() -> Clocks {
        Clocks { wall: std::time::Instant::now(), cpu: cpu_time::ThreadTime::now() }
    }

    fn read(&self) -> (f64, f64) {
        (self.wall.elapsed().as_secs_f64(), self.cpu.elapsed().as_secs_f64())
    }
}
