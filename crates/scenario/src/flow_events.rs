//! The events of flows that a scenario asks for (`what = "events"`), as rows.

use crate::build::BuiltFlow;
use crate::record::path_name;
use crate::schema::{Observe, Protocol, Scenario, What};
use crate::transport::Transport;
use anabranch_sim::observe::{Cause, EventRecorder, FlowEvent, Paths};
use anabranch_sim::{Handle, Side, Simulation};

/// An event of a flow, or several equal ones in a row.
#[derive(Clone, PartialEq, Debug)]
pub struct EventRow {
    /// Time of the first of them, in seconds of the run.
    pub time_s: f64,
    /// Time of the last of them, in seconds of the run.
    pub until_s: f64,
    /// Name of the flow.
    pub flow: String,
    /// The host at which it happened.
    pub host: String,
    /// `sender` or `receiver` of the flow's data.
    pub end: &'static str,
    /// Name of the path, as in the names of its series; `None` for a flow with one path.
    pub path: Option<String>,
    /// The kind, one word: see `anabranch_sim::observe::FlowEventKind::group`.
    pub kind: &'static str,
    /// What happened, in words.
    pub event: String,
    /// What brought it about, in words, where that is known.
    pub cause: Option<String>,
    /// Number of equal events in a row.
    pub count: u64,
}

/// The recorder of events, where the scenario asks for some.
pub(crate) struct Events {
    recorder: Option<Handle<EventRecorder>>,
}

impl Events {
    /// Attaches a recorder of the flows whose events `scenario` asks for, if there are any.
    pub(crate) fn attach(
        scenario: &Scenario,
        flows: &[BuiltFlow],
        simulation: &mut Simulation<Transport>,
    ) -> Events {
        let asked: Vec<&Observe> =
            scenario.observe.iter().filter(|observe| observe.what == What::Events).collect();
        let mut recorder = EventRecorder::new();
        let mut any = false;
        for flow in flows {
            let spec = &scenario.flows[flow.entry];
            if !asked.iter().any(|observe| observe.means(&spec.name, &flow.name)) {
                continue;
            }
            let paths = match spec.protocol {
                Protocol::Sctp(_) => Paths::Destinations,
                Protocol::Mptcp(_) => Paths::Pairs,
                _ => Paths::One,
            };
            recorder.record(flow.id, flow.sender, paths);
            any = true;
        }
        Events { recorder: any.then(|| simulation.attach(recorder)) }
    }

    /// What happened, by date.
    pub(crate) fn rows(
        &self,
        scenario: &Scenario,
        flows: &[BuiltFlow],
        simulation: &Simulation<Transport>,
    ) -> Vec<EventRow> {
        let Some(handle) = self.recorder else { return Vec::new() };
        let recorder = simulation.observer(handle);
        let mut all: Vec<(&BuiltFlow, &FlowEvent)> = flows
            .iter()
            .flat_map(|flow| recorder.events(flow.id).iter().map(move |event| (flow, event)))
            .collect();
        all.sort_by_key(|(_, event)| event.from);
        let row = |(flow, event): (&BuiltFlow, &FlowEvent)| {
            let spec = &scenario.flows[flow.entry];
            let host = if event.side == Side::Client { &spec.from } else { &spec.to };
            EventRow {
                time_s: event.from.as_secs_f64(),
                until_s: event.until.as_secs_f64(),
                flow: flow.name.clone(),
                host: host.clone(),
                end: if event.side == flow.sender { "sender" } else { "receiver" },
                path: event.path.map(|path| path_name(&path, simulation)),
                kind: event.kind.group(),
                event: event.kind.text(),
                cause: event.cause.map(Cause::text),
                count: event.count,
            }
        };
        all.into_iter().map(row).collect()
    }
}
