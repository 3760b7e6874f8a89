//! Driving a simulation to its end as a run does, with limits of virtual time
//! and of events.

use crate::judge::Passengers;
use anabranch_endpoint::Seed;
use anabranch_scenario::Scenario;
use anabranch_scenario::build::{Built, build};
use anabranch_scenario::schema::{ChannelKind, ChannelSpec};
use anabranch_scenario::transport::Transport;
use anabranch_sim::observe::{ConservationChecker, Handle};
use anabranch_sim::{FlowId, Simulation};
use anabranch_units::{Span, Time};

/// Events of a run, at most: the transfers of a generated scenario need some
/// ten thousand.
const MOST_EVENTS: u64 = 1_000_000;
/// Events of a second of virtual time, at most, of a run that comes to that
/// limit: heartbeats and probes of a connection that waits need fewer, and a
/// transfer has ended by then.
const MOST_OF_A_SECOND: f64 = 1000.0;
/// Events of each cell of a line of ATM, about: queued, sent, arrived, and what its rate becomes.
const EVENTS_OF_A_CELL: f64 = 4.0;
/// Events for each octet that reached its reader, at most, of one that has more in a second: a link
/// of a gigabit carries a million packets in a few seconds.
const MOST_FOR_AN_OCTET: u64 = 20;
/// Virtual time that connections have to close in after the last octet.
const CLOSING: Span = Span::from_secs(4 * 3600);
/// Events between two looks at the limits, about.
const SLICE: u64 = 20_000;

/// The reason for which a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    /// The run ended as the scenario says: its duration has passed, or every flow has ended.
    End,
    /// Nothing was pending any more.
    Nothing,
    /// The scenario's limit of virtual time.
    Time,
    /// The limit of events, while time advanced or octets arrived.
    CutShort,
    /// The limit of events, and neither time nor the transfers advance.
    Busy,
}

/// A simulation that has run, and how it ended.
pub(crate) struct Driven {
    pub built: Built,
    pub stop: Stop,
    /// Hash of all packets until then.
    pub hash: u64,
    pub end: Time,
    pub events: u64,
    pub passengers: Option<Handle<Passengers>>,
}

impl Driven {
    /// The flow passed a link that changes octets and mends their checksum.
    pub fn is_passenger(&self, flow: FlowId) -> bool {
        self.passengers.is_some_and(|handle| self.built.simulation.observer(handle).has(flow))
    }
}

/// Runs the scenario as `anabranch run` does; with `check`, every link is
/// counted at every event.
pub(crate) fn drive(scenario: &Scenario, check: bool) -> Result<Driven, String> {
    let seed = Seed { seed: scenario.seed, replication: 0 };
    let mut built = build(scenario, seed).map_err(|error| error.to_string())?;
    let passengers = Passengers::of(scenario, &built);
    let simulation = &mut built.simulation;
    simulation.enable_trace_hash();
    if check {
        simulation.attach(ConservationChecker::new());
    }
    let passengers = passengers.map(|passengers| simulation.attach(passengers));
    let most = MOST_OF_A_SECOND
        + EVENTS_OF_A_CELL * cells_per_second(scenario)
        + allocations_per_second(scenario);
    let stop = match scenario.duration {
        Some(duration) => advance(simulation, Time::ZERO + duration, false, most),
        None => {
            let endless = built.flows.iter().filter(|flow| !scenario.flows[flow.entry].has_end());
            let over = endless.filter_map(|flow| flow.stop).max().unwrap_or(Time::ZERO);
            let first = match over > Time::ZERO {
                true => advance(simulation, over, false, most),
                false => Stop::End,
            };
            let limit = over.max(Time::ZERO + scenario.time_limit);
            match first {
                Stop::End | Stop::Nothing => advance(simulation, limit, true, most),
                limited => limited,
            }
        }
    };
    let hash = built.simulation.trace_hash().expect("it is enabled");
    let (end, events) = (built.simulation.now(), built.simulation.events());
    Ok(Driven { built, stop, hash, end, events, passengers })
}

/// Lets connections close for a while.
pub(crate) fn close(driven: &mut Driven) -> Stop {
    let until = driven.built.simulation.now().saturating_add(CLOSING);
    advance(&mut driven.built.simulation, until, false, MOST_OF_A_SECOND)
}

/// Cells that all lines of ATM carry in both directions: their sources send some as long as there is
/// a packet.
fn cells_per_second(scenario: &Scenario) -> f64 {
    let capacity = |channel: &ChannelSpec| match &channel.kind {
        ChannelKind::Abr(line) => line.config.rates.iter().map(|rate| rate.as_bps() as f64).sum(),
        ChannelKind::Told { .. } => 0.0,
    };
    scenario.channels.iter().map(capacity).sum::<f64>() / (53.0 * 8.0)
}

/// How often channels look at their links, as long as one of these has a packet.
fn allocations_per_second(scenario: &Scenario) -> f64 {
    let of = |channel: &ChannelSpec| match &channel.kind {
        ChannelKind::Told { forward, reverse } => {
            1.0 / forward.interval.as_secs_f64() + 1.0 / reverse.interval.as_secs_f64()
        }
        ChannelKind::Abr(_) => 0.0,
    };
    scenario.channels.iter().map(of).sum()
}

/// Advances until a date, with at most so many events of a second.
fn advance(
    simulation: &mut Simulation<Transport>,
    until: Time,
    to_completion: bool,
    most_of_a_second: f64,
) -> Stop {
    let first = simulation.events();
    let mut slice = Span::from_millis(1);
    loop {
        let (now, before) = (simulation.now(), simulation.events());
        // What is next lies within the slice, so that idle time costs none.
        let from = now.max(simulation.next_event().min(until));
        let limit = from.saturating_add(slice).min(until);
        if to_completion {
            if simulation.run_to_completion(limit) || simulation.have_all_ended() {
                return Stop::End;
            }
        } else {
            simulation.run_until(limit);
        }
        if simulation.next_event() == Time::NEVER {
            // A run with a duration ends at its date all the same.
            if !to_completion {
                simulation.run_until(until);
            }
            return Stop::Nothing;
        }
        if limit == until {
            return if to_completion { Stop::Time } else { Stop::End };
        }
        let took = simulation.events() - before;
        if simulation.events() - first > MOST_EVENTS {
            let most = most_of_a_second * simulation.now().as_secs_f64();
            let idles = simulation.events() as f64 <= most;
            let moves = octets_read(simulation) >= simulation.events() / MOST_FOR_AN_OCTET;
            return if idles || moves { Stop::CutShort } else { Stop::Busy };
        }
        if took < SLICE / 2 {
            slice = slice.saturating_mul(2);
        } else if took > SLICE * 2 {
            slice = (slice / 4).max(Span::from_picos(1));
        }
    }
}

/// Octets that applications have read.
fn octets_read(simulation: &Simulation<Transport>) -> u64 {
    let flows =
        (0..simulation.flow_count() as u32).map(|flow| simulation.flow_result(FlowId(flow)));
    flows.map(|flow| flow.bytes + flow.reverse_bytes).sum()
}
