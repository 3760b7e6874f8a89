//! What a run gives: a row for each flow and link, and the series that were
//! asked for.

use crate::flow_events::EventRow;
use crate::outcome::{End, Outcome};
use crate::warnings::Warning;
use anabranch_media::video::VideoSummary;
use anabranch_network::abr::PortCounters;
use anabranch_sim::observe::Queueing;
use anabranch_sim::{
    AttackResult, DatagramSummary, LinkCounters, LoadSummary, MemoryResult, ReceptionResult,
    RegulatorCounters,
};

/// What a run of a scenario gives: tables, series, and facts about the run.
#[derive(Clone, PartialEq, Debug)]
pub struct RunResult {
    /// The flows in the order of the scenario.
    pub flows: Vec<FlowRow>,
    /// What happened to the flows whose events the scenario asks for, by date.
    pub events: Vec<EventRow>,
    /// The series that the scenario asks for, by name.
    pub series: Vec<NamedSeries>,
    /// The directions of the links in the order of the scenario.
    pub links: Vec<LinkRow>,
    /// The regulators in the order of their links.
    pub regulators: Vec<RegulatorRow>,
    /// The ports of lines of ATM in the order of their channels.
    pub lines: Vec<PortRow>,
    /// The paths of flows whose transport has several.
    pub paths: Vec<PathRow>,
    /// The messages of flows that have some.
    pub messages: Vec<MessageRow>,
    /// The datagrams of flows over UDP, of each direction.
    pub datagrams: Vec<DatagramRow>,
    /// The videos that flows watch.
    pub videos: Vec<VideoRow>,
    /// The loads of pages whose objects depend on each other.
    pub loads: Vec<LoadRow>,
    /// The ports that listen to strangers.
    pub listeners: Vec<ListenRow>,
    /// The attacks from outside.
    pub attacks: Vec<AttackRow>,
    /// Hosts that listen or are attacked, where the run has a duration.
    pub memory: Vec<MemoryRow>,
    /// Facts about the run itself: versions, seeds, times.
    pub run: RunInfo,
}

/// A port that listens to strangers.
#[derive(Clone, PartialEq, Debug)]
pub struct ListenRow {
    /// Name of the port, as the scenario has it.
    pub name: String,
    /// Connections and memory that the port holds, and its totals.
    pub result: ReceptionResult,
}

/// An attack from outside.
#[derive(Clone, PartialEq, Debug)]
pub struct AttackRow {
    /// Name of the attack, as the scenario has it.
    pub name: String,
    /// Packets and octets that were sent, and answers to them.
    pub result: AttackResult,
}

/// What the endpoints and listening ports of a host took.
#[derive(Clone, PartialEq, Debug)]
pub struct MemoryRow {
    /// Name of the host.
    pub host: String,
    /// Octets, looked at every 5 ms.
    pub result: MemoryResult,
}

/// What became of a flow by the end of the run.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowRow {
    /// Name of the flow.
    pub flow: String,
    /// Transport: `tcp`, `sctp`, `mptcp` or `udp`.
    pub protocol: &'static str,
    /// Time at which it started, in seconds.
    pub start_s: f64,
    /// Time at which the last octet reached the receiving application, in seconds, if it did.
    pub finish_s: Option<f64>,
    /// Octets that the application of the host `to` received.
    pub bytes: u64,
    /// Octets that the application of the host `from` received.
    pub reverse_bytes: u64,
    /// `bytes`, or `reverse_bytes` where requests are answered, over the time from the start until the
    /// finish, or else until the flow stopped or the run ended.
    pub goodput_bps: f64,
    /// Data packets sent again, by both sides.
    pub retransmitted_packets: u64,
    /// Entries into fast retransmit.
    pub fast_retransmits: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// The connection was established.
    pub established: bool,
    /// Why the connection ended, once it has: `normal`, `reset`, `refused`,
    /// `timed-out` or `aborted`.
    pub closed: Option<&'static str>,
    /// Outcome of the flow, from complete to stalled.
    pub outcome: Outcome,
    /// Where the outcome is `ended`, `unfinished` or `stalled`: how much has arrived of how much, what
    /// it waits for, and the state of both ends.
    pub why: Option<String>,
    /// Octets that arrived other than they were sent (flows of real octets).
    pub wrong_octets: u64,
    /// Reductions of the window that were undone, by both sides.
    pub undone_reductions: u64,
    /// Tail loss probes, of both sides.
    pub tail_loss_probes: u64,
    /// Retransmissions that turned out spurious to their sender, of both sides;
    /// see [`Observation`](anabranch_endpoint::Observation).
    pub spurious_retransmissions: u64,
    /// Whether a side of a flow over Multipath TCP has fallen back to TCP (RFC 8684 §3.7). `None`
    /// for other transports.
    pub fallback: Option<bool>,
}

/// Totals of the messages of a flow, of one direction.
#[derive(Clone, PartialEq, Debug)]
pub struct MessageRow {
    /// The flow; `FLOW.reverse` for the messages of its other host.
    pub flow: String,
    /// Made by the application.
    pub made: u64,
    /// Messages that the peer's application read.
    pub delivered: u64,
    /// Mean time from being made to being read, of those that were.
    pub delay_s: Option<f64>,
    /// Longest time from being made to being read, in seconds.
    pub longest_delay_s: Option<f64>,
    /// Mean time that they were complete at the receiver and waited for
    /// earlier ones of their stream (head-of-line blocking).
    pub wait_s: Option<f64>,
    /// Longest time that one was complete and waited for earlier ones, in seconds.
    pub longest_wait_s: Option<f64>,
}

/// The datagrams of a direction of a flow over UDP. Echoes and calls are parts of it.
#[derive(Clone, PartialEq, Debug)]
pub struct DatagramRow {
    /// The flow; `FLOW.reverse` for the datagrams of its other host.
    pub flow: String,
    /// Name of the codec, of a call.
    pub codec: Option<&'static str>,
    /// The datagrams are echoes of the peer's.
    pub is_echo: bool,
    /// Counts and delays of the datagrams.
    pub summary: DatagramSummary,
}

/// A video that a flow watched.
#[derive(Clone, PartialEq, Debug)]
pub struct VideoRow {
    /// Name of the flow.
    pub flow: String,
    /// The rule that selects rates.
    pub selection: &'static str,
    /// Rates, stalls and delays of the video.
    pub summary: VideoSummary,
}

/// The loads of a page by a flow.
#[derive(Clone, PartialEq, Debug)]
pub struct LoadRow {
    /// Name of the flow.
    pub flow: String,
    /// Counts and times of the loads.
    pub summary: LoadSummary,
}

/// A path of a flow, as the sender of its data saw it at the end.
#[derive(Clone, PartialEq, Debug)]
pub struct PathRow {
    /// Name of the flow.
    pub flow: String,
    /// The sender's interface.
    pub from: String,
    /// The peer's interface.
    pub to: String,
    /// Index among the subflows between the two interfaces, from 0.
    pub subflow: u8,
    /// `unconfirmed`, `active`, `potentially-failed` or `inactive`.
    pub state: &'static str,
    /// Packets with data sent.
    pub packets: u64,
    /// Packets among `packets` that carried retransmissions.
    pub retransmitted_packets: u64,
    /// Octets sent this way that the peer has acknowledged; what went several
    /// ways counts in each.
    pub bytes: u64,
    /// Octets that came this way to the receiver and were new to it; `None`
    /// where it does not count them.
    pub new_bytes: Option<u64>,
    /// `new_bytes` over the time of the flow's `goodput_bps`.
    pub goodput_bps: Option<f64>,
    /// Reductions of the window for missing reports.
    pub fast_retransmits: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Heartbeats sent to this address.
    pub heartbeats: u64,
    /// Errors in a row, at the end of the run.
    pub errors: u32,
    /// Congestion window, in octets.
    pub cwnd: u64,
    /// Smoothed round-trip time, once measured.
    pub srtt_s: Option<f64>,
    /// Retransmission timeout.
    pub rto_s: f64,
}

/// A direction of a link and its counters.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkRow {
    /// Name of the link's direction.
    pub name: String,
    /// Totals that the direction counted.
    pub counters: LinkCounters,
    /// Octets that it delivered, over those that its rate could have carried in the run; `None` where
    /// its rate changes.
    pub utilisation: Option<f64>,
    /// Distributions of its queue, where the scenario asks for them.
    pub queueing: Option<Queueing>,
}

/// A regulator and its counters.
#[derive(Clone, PartialEq, Debug)]
pub struct RegulatorRow {
    /// Name of its forward link's direction.
    pub name: String,
    /// Totals that the regulator counted.
    pub counters: RegulatorCounters,
}

/// A port of a line of ATM and its counters.
#[derive(Clone, PartialEq, Debug)]
pub struct PortRow {
    /// The line's name; of the port at its second end with `-reverse`.
    pub name: String,
    /// Totals that the port counted.
    pub counters: PortCounters,
}

/// A quantity over time, one value for each date.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct NamedSeries {
    /// `FLOW.WHAT`, `FLOW.reverse.WHAT` or `LINK.WHAT`.
    pub name: String,
    /// Dates in seconds of the run, ascending.
    pub time_s: Vec<f64>,
    /// Octets, seconds, packets or stream offsets, as the quantity has it.
    pub value: Vec<f64>,
    /// Octets of payload of each packet; for packets sent only.
    pub len: Vec<u32>,
    /// Whether the first octet of each packet had been sent before; for packets sent only.
    pub retransmission: Vec<bool>,
}

/// Facts about a run that are not of its flows.
#[derive(Clone, PartialEq, Debug)]
pub struct RunInfo {
    /// Version of this package.
    pub version: &'static str,
    /// Seed from which its random numbers were derived.
    pub seed: u64,
    /// Number of the replication, from 0.
    pub replication: u64,
    /// Name of the random generator.
    pub generator: &'static str,
    /// Events that the simulator handled.
    pub events: u64,
    /// Packets times the links that each crossed.
    pub packet_hops: u64,
    /// Packets that hosts dropped because the transport's checksum did not
    /// match.
    pub dropped_checksum: u64,
    /// ICMP errors that a limit of their rate kept back.
    pub icmp_withheld: u64,
    /// Wall-clock seconds of the run.
    pub wall_s: f64,
    /// CPU seconds of the thread.
    pub cpu_s: f64,
    /// Virtual time at which the run ended, in seconds.
    pub end_s: f64,
    /// The reason for which the run ended.
    pub ended: End,
    /// Hash over all packet events, when asked for.
    pub trace_hash: Option<u64>,
    /// Threads that the run was divided over.
    pub cores: usize,
    /// Why it was not divided, where somebody asked for that.
    pub one_core: Option<String>,
    /// What the scenario says, but hardly means.
    pub warnings: Vec<Warning>,
    /// The scenario with every default spelt out.
    pub resolved: String,
}
