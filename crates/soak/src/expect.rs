//! Which transfers have to complete, and in what time: those over a network
//! that loses little, with options that let a connection live.
//!
//! The limits are generous. They are there to catch a timeout that is stuck at
//! a minute, or a window that never opens again, and not to judge speed.

use anabranch_network::{ImpairmentKind, QueueLimit, TransmitterConfig};
use anabranch_scenario::Scenario;
use anabranch_scenario::schema::{
    Direction, FlowSpec, Ip, MessagePace, MessageSpec, Mishap, Protocol, Workload,
};
use anabranch_sim::{Duration, Sizes};

/// Retransmission timeouts of the greatest length that a transfer may need, in all.
const LONGEST_TIMEOUTS: f64 = 5.0;
/// Limits beyond this many seconds are none: the run ends before.
const MOST: f64 = 100_000.0;
/// Octets of a network packet that no queue limit here exceeds.
const PACKET: f64 = 9000.0;

/// What is expected of the flows of a scenario.
pub(crate) struct Expected(Vec<Option<f64>>);

impl Expected {
    pub fn of(scenario: &Scenario) -> Expected {
        let Some([propagation, round_trip]) = round_trips(scenario) else {
            return Expected(vec![None; scenario.flows.len()]);
        };
        let total: f64 = scenario.flows.iter().map(|flow| octets(flow) * flow.count as f64).sum();
        let slowest = ways(scenario).map(|way| way.rate.as_bps()).min().unwrap_or(1) as f64;
        let others: f64 = scenario.flows.iter().map(|it| it.count as f64).sum();
        let limit = |flow: &FlowSpec| {
            let timeout = longest_timeout(scenario, flow, round_trip)?;
            let units = octets(flow) / unit(flow) + exchanges(flow);
            // What waits in queues is the flows' own: the slowest link carries it once.
            let moving = 20.0 * total * 8.0 / slowest + units * (propagation + 1.0);
            let limit = pace(flow) + moving * others + LONGEST_TIMEOUTS * timeout;
            (flow.has_end() && limit < MOST).then_some(limit)
        };
        Expected(scenario.flows.iter().map(limit).collect())
    }

    /// Seconds after which the flows of this entry have to be complete, if they have to.
    pub fn limit(&self, entry: usize) -> Option<f64> {
        self.0[entry]
    }

    /// Octets that the buffers of all flows hold at most.
    pub fn buffers(scenario: &Scenario) -> u64 {
        let of = |flow: &FlowSpec| {
            let each = match &flow.protocol {
                Protocol::Tcp(it) => {
                    it.send_buffer + it.receive_buffer_max.unwrap_or(it.receive_buffer)
                }
                Protocol::Mptcp(it) => it.subflow.send_buffer + it.subflow.receive_buffer,
                Protocol::Sctp(it) => it.config.send_buffer + u64::from(it.config.receive_buffer),
            };
            // Both ends, for each flow.
            2 * each * u64::from(flow.count)
        };
        scenario.flows.iter().map(of).sum()
    }
}

fn ways(scenario: &Scenario) -> impl Iterator<Item = &Direction> {
    scenario.links.iter().flat_map(|link| [&link.forward, &link.reverse])
}

/// Seconds of a round trip through empty queues and through full ones; `None` where a link does
/// more than lose a little.
fn round_trips(scenario: &Scenario) -> Option<[f64; 2]> {
    let total: f64 = scenario.flows.iter().map(|flow| octets(flow) * flow.count as f64).sum();
    let (mut sum, mut waits) = (0.01, 0.0);
    for host in &scenario.hosts {
        if host.config.backpressure.is_some() {
            return None;
        }
        sum += 50.0 * (host.config.receive + host.config.send).as_secs_f64();
    }
    for way in ways(scenario) {
        if way.transmitter != TransmitterConfig::Constant
            || way.regulator.is_some()
            || way.mtu.0 < 1500
        {
            return None;
        }
        let waiting = match way.queue.limit() {
            QueueLimit::Packets(n) if n < 10 => return None,
            QueueLimit::Packets(n) => (n as f64 * PACKET).min(total * 3.0 + 20_000.0),
            QueueLimit::Octets(n) if n.0 < 15_000 => return None,
            QueueLimit::Octets(n) => (n.0 as f64).min(total * 3.0 + 20_000.0),
            QueueLimit::Unlimited => total * 3.0 + 20_000.0,
        };
        waits += waiting * 8.0 / way.rate.as_bps() as f64;
        let latest = way.delays.iter().flat_map(|it| it.steps.iter().map(|it| it.1)).max();
        sum += latest.unwrap_or(way.delay).max(way.delay).as_secs_f64();
        let mut losses = 0.0;
        for impairment in &way.impairments {
            match &impairment.what {
                Mishap::Any(ImpairmentKind::Bernoulli { rate }) => losses += rate,
                Mishap::Any(ImpairmentKind::Duplicate { .. }) => {}
                Mishap::Any(ImpairmentKind::Reorder { extra, .. }) => sum += extra.as_secs_f64(),
                Mishap::Any(ImpairmentKind::ReorderDistance { longest, .. }) => {
                    sum += longest.as_secs_f64();
                }
                Mishap::Any(ImpairmentKind::Jitter(it)) => {
                    sum += (it.mean + it.deviation * 5).as_secs_f64();
                }
                _ => return None,
            }
        }
        if losses > 0.05 {
            return None;
        }
    }
    (sum + waits < 20.0).then_some([sum, sum + waits])
}

/// Seconds of the longest retransmission timeout; `None` where the options make a connection give
/// up on a network like this one, or its packets do not fit.
fn longest_timeout(scenario: &Scenario, flow: &FlowSpec, round_trip: f64) -> Option<f64> {
    let mtu = ways(scenario).map(|way| way.mtu.0).min()?;
    let over_v6 = scenario.hosts.iter().any(|host| host.families.contains(&Ip::V6));
    let headers = if over_v6 { 60 } else { 40 };
    let of_tcp = |it: &anabranch_tcp::Config| {
        let lives = it.max_retries >= 8
            && it.syn_retries >= 5
            && it.syn_ack_retries >= 4
            && it.user_timeout.is_none()
            && it.keep_alive.is_none()
            && u64::from(it.mss) + headers <= mtu;
        (lives && it.rto.max.as_secs_f64() > 3.0 * round_trip)
            .then(|| it.rto.max.max(it.rto.initial).as_secs_f64())
    };
    match &flow.protocol {
        Protocol::Tcp(it) => of_tcp(it),
        // A path that lives may be one of several that do not.
        Protocol::Mptcp(it) => of_tcp(&it.subflow),
        Protocol::Sctp(spec) => {
            let it = &spec.config;
            let lives = it.association_max_retrans >= 8
                && it.path_max_retrans >= 4
                && it.max_init_retransmits >= 6
                && it.cookie_life.as_secs_f64() > 3.0 * round_trip
                && !it.dynamic_addresses
                && u64::from(it.mtu) <= mtu;
            (lives && it.rto.max.as_secs_f64() > 3.0 * round_trip)
                .then(|| it.rto.max.max(it.rto.initial).as_secs_f64())
        }
    }
}

/// Octets that a round trip moves at least.
fn unit(flow: &FlowSpec) -> f64 {
    let octets = match &flow.protocol {
        Protocol::Tcp(it) => u64::from(it.mss) / 2,
        Protocol::Mptcp(it) => u64::from(it.subflow.mss) / 2,
        Protocol::Sctp(it) => u64::from(it.config.message_size.unwrap_or(it.config.mtu / 2)),
    };
    match &flow.workload {
        Workload::Messages(it) => size(&it.size).min(octets as f64),
        _ => (octets as f64).max(1.0),
    }
    .max(1.0)
}

fn size(sizes: &Sizes) -> f64 {
    match sizes {
        Sizes::Constant { mean } => *mean as f64,
        // Laws have tails; what is drawn is not known here.
        _ => 0.0,
    }
}

/// Octets of a flow in both directions; infinite where that is not known.
fn octets(flow: &FlowSpec) -> f64 {
    let sent = match (&flow.workload, flow.size, &flow.sizes) {
        (Workload::Requests { request, response, count, .. }, _, _) => {
            (request + response) as f64 * count.map_or(f64::INFINITY, |n| n as f64)
        }
        (Workload::Pages(_), _, _) | (_, None, Some(_)) => f64::INFINITY,
        (Workload::Messages(it), None, None) => {
            let of = |it: &MessageSpec| match (&it.size, &it.pace, it.count) {
                (Sizes::Constant { mean }, _, Some(n)) => (mean * n) as f64,
                (Sizes::Constant { mean }, MessagePace::At(dates), None) => {
                    (*mean * dates.len() as u64) as f64
                }
                _ => f64::INFINITY,
            };
            of(it) + it.reverse.as_deref().map_or(0.0, of)
        }
        (_, Some(n), _) => n as f64,
        _ => f64::INFINITY,
    };
    sent + flow.reverse_size.unwrap_or(0) as f64
}

/// Round trips that are waited for beside those that octets need.
fn exchanges(flow: &FlowSpec) -> f64 {
    match &flow.workload {
        Workload::Requests { count, .. } => 10.0 + 4.0 * count.unwrap_or(0) as f64,
        Workload::Messages(it) => {
            let n = |it: &MessageSpec| it.count.unwrap_or(0) as f64;
            10.0 + 2.0 * (n(it) + it.reverse.as_deref().map_or(0.0, n))
        }
        _ => 10.0,
    }
}

/// Seconds that the application takes by itself.
fn pace(flow: &FlowSpec) -> f64 {
    let mean = |it: &Duration| 20.0 * it.mean.as_secs_f64();
    let sized = flow.size.unwrap_or(0) as f64 * 8.0;
    let own = match &flow.workload {
        Workload::Constant { rate, .. } => sized / rate.as_bps() as f64,
        Workload::OnOff { rate, on, off, .. } => {
            let sending = sized / rate.as_bps() as f64;
            sending + (sending / on.mean.as_secs_f64().max(1e-6) + 20.0) * mean(off)
        }
        Workload::Requests { think, count, .. } => count.unwrap_or(0) as f64 * mean(think),
        Workload::Messages(it) => {
            let of = |it: &MessageSpec| match &it.pace {
                MessagePace::Rate(rate) => {
                    it.count.unwrap_or(0) as f64 * size(&it.size) * 8.0 / rate.as_bps() as f64
                }
                MessagePace::Every(time) => it.count.unwrap_or(0) as f64 * mean(time),
                MessagePace::At(dates) => dates.last().map_or(0.0, |it| it.as_secs_f64()),
                MessagePace::Saturated => 0.0,
            };
            of(it) + it.reverse.as_deref().map_or(0.0, of)
        }
        _ => 0.0,
    };
    own + 20.0
}
