//! Decides which transfers have to complete, and in what time: those over a
//! network that loses little, with options that let a connection live.
//!
//! The limits are generous. They are there to catch a timeout that is stuck at
//! a minute, or a window that never opens again, and not to judge speed.

use anabranch_network::{ImpairmentKind, QueueLimit, TransmitterConfig};
use anabranch_scenario::schema::{
    Direction, Effect, FlowSpec, Ip, ListenSpec, MessagePace, MessageSpec, Protocol, Workload,
};
use anabranch_scenario::{AttackSpec, Scenario, Target};
use anabranch_sim::{Duration, Sizes};
use anabranch_tcp::SynCookies;
use anabranch_units::Span;

/// Retransmission timeouts of the greatest length that a transfer may need, in all.
const LONGEST_TIMEOUTS: f64 = 5.0;
/// Limits beyond this many seconds are none: the run ends before.
const MOST: f64 = 100_000.0;
/// Octets of a network packet that no queue limit here exceeds.
const PACKET: f64 = 9000.0;

/// Octets of the state of a connection of a stranger, at most.
const STRANGER: u64 = 16_000;

/// What is expected of the flows of a scenario.
pub(crate) struct Expected(Vec<Option<f64>>);

impl Expected {
    pub fn of(scenario: &Scenario) -> Expected {
        let Some([propagation, round_trip]) = round_trips(scenario) else {
            return Expected(vec![None; scenario.flows.len()]);
        };
        let total: f64 = scenario.flows.iter().map(|flow| octets(flow) * flow.count as f64).sum();
        let slowest = ways(scenario).map(|way| way.rate.as_bps()).min().unwrap_or(1) as f64;
        let others: f64 = scenario.flows.iter().map(|flow| flow.count as f64).sum();
        let attacked = attacks_end(scenario);
        let keeps_order = ways(scenario).all(|way| way.impairments.is_empty());
        let limit = |flow: &FlowSpec| {
            if !keeps_order && may_answer_with_cookies(scenario, flow) {
                return None;
            }
            let ends = [&flow.protocol, server(scenario, flow)];
            let timeouts = ends.map(|end| longest_timeout(scenario, end, round_trip));
            let timeout = timeouts[0]?.max(timeouts[1]?);
            let units = octets(flow) / unit(scenario, flow) + exchanges(flow);
            // What waits in queues is the flows' own: the slowest link carries it once.
            let moving = 20.0 * total * 8.0 / slowest + units * (propagation + 1.0);
            let limit = attacked + pace(flow) + moving * others + LONGEST_TIMEOUTS * timeout;
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
        let each = |protocol: &Protocol| match protocol {
            Protocol::Tcp(tcp) => {
                tcp.send_buffer + tcp.receive_buffer_max.unwrap_or(tcp.receive_buffer)
            }
            Protocol::Mptcp(mptcp) => mptcp.subflow.send_buffer + mptcp.subflow.receive_buffer,
            Protocol::Udp(udp) => udp.send_buffer,
            Protocol::Sctp(sctp) => sctp.config.send_buffer + u64::from(sctp.config.receive_buffer),
        };
        let of = |flow: &FlowSpec| {
            let ends = each(&flow.protocol) + each(server(scenario, flow));
            ends * u64::from(flow.count)
        };
        let strangers = |port: &ListenSpec| {
            let places = port.connections + port.limits.backlog + port.limits.half_open;
            places as u64 * (STRANGER + port.respond.unwrap_or(0).min(each(&port.protocol)))
        };
        let flows: u64 = scenario.flows.iter().map(of).sum();
        flows + scenario.listeners.iter().map(strangers).sum::<u64>()
    }
}

fn ways(scenario: &Scenario) -> impl Iterator<Item = &Direction> {
    scenario.links.iter().flat_map(|link| [&link.forward, &link.reverse])
}

/// A SYN cookie is in the ACK of the SYN-ACK and in the first data alone: later data that comes before either meets
/// a port that remembers nothing, and is answered by a reset (RFC 4987 §3.6, RFC 9293 §3.10.7.2).
fn may_answer_with_cookies(scenario: &Scenario, flow: &FlowSpec) -> bool {
    let Some(port) = listener(scenario, flow) else { return false };
    let flows = scenario.flows.iter().filter(|other| other.port == flow.port);
    let expected: usize = flows.map(|flow| flow.count as usize).sum();
    match port.limits.cookies {
        SynCookies::Off => false,
        SynCookies::WhenFull => {
            expected >= port.limits.half_open
                || scenario.attacks.iter().any(|attack| attack.port == flow.port)
        }
        SynCookies::Always => true,
    }
}

/// What the server's end of a flow is made of: by the port that listens there, or as the client's.
fn server<'a>(scenario: &'a Scenario, flow: &'a FlowSpec) -> &'a Protocol {
    listener(scenario, flow).map_or(&flow.protocol, |port| &port.protocol)
}

/// The port at which a flow ends.
fn listener<'a>(scenario: &'a Scenario, flow: &FlowSpec) -> Option<&'a ListenSpec> {
    let is_sctp = |protocol: &Protocol| matches!(protocol, Protocol::Sctp(_));
    let host =
        scenario.hosts.iter().find(|host| host.name == flow.to || host.nodes().contains(&flow.to));
    let is_there = |port: &&ListenSpec| {
        host.is_some_and(|host| host.name == port.host)
            && Some(port.port) == flow.port
            && is_sctp(&port.protocol) == is_sctp(&flow.protocol)
    };
    scenario.listeners.iter().find(is_there)
}

/// Seconds until the last attack is over; infinite where one lasts.
fn attacks_end(scenario: &Scenario) -> f64 {
    let end = |attack: &AttackSpec| match attack.duration {
        Some(duration) => (attack.start + duration).as_secs_f64(),
        None => f64::INFINITY,
    };
    // What a liar does to its own flow is none of the others' business.
    let outside =
        scenario.attacks.iter().filter(|attack| attack.kind.info().target != Target::Peer);
    outside.map(end).fold(0.0, f64::max)
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
            || way.queue.shapes()
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
        let latest =
            way.delays.iter().flat_map(|delay| delay.steps.iter().map(|step| step.1)).max();
        sum += latest.unwrap_or(way.delay).max(way.delay).as_secs_f64();
        let mut losses = 0.0;
        for impairment in &way.impairments {
            match &impairment.what {
                Effect::Any(ImpairmentKind::Bernoulli { rate }) => losses += rate,
                Effect::Any(ImpairmentKind::Duplicate { .. }) => {}
                Effect::Any(ImpairmentKind::Reorder { extra, .. }) => sum += extra.as_secs_f64(),
                Effect::Any(ImpairmentKind::ReorderDistance { longest, .. }) => {
                    sum += longest.as_secs_f64();
                }
                Effect::Any(ImpairmentKind::Jitter(jitter)) => {
                    sum += (jitter.mean + jitter.deviation * 5).as_secs_f64();
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
fn longest_timeout(scenario: &Scenario, end: &Protocol, round_trip: f64) -> Option<f64> {
    let mtu = ways(scenario).map(|way| way.mtu.0).min()?;
    let over_v6 = scenario.hosts.iter().any(|host| host.families.contains(&Ip::V6));
    let headers = if over_v6 { 60 } else { 40 };
    let of_tcp = |config: &anabranch_tcp::Config| {
        // Five SYNs, of which the last is answered.
        let tries = 3.0 * round_trip + 16.0 * config.rto.initial.as_secs_f64();
        let lives = config.max_retries >= 8
            && config.syn_retries >= 5
            && config.syn_ack_retries >= 4
            && config.user_timeout.is_none()
            && config.opening_timeout.is_none_or(|limit| limit.as_secs_f64() > tries)
            && config.keep_alive.is_none()
            && patience(config.rto.initial, config.rto.max, 5) > 3.0 * round_trip
            && u64::from(config.mss) + headers <= mtu;
        (lives && config.rto.max.as_secs_f64() > 3.0 * round_trip)
            .then(|| config.rto.max.max(config.rto.initial).as_secs_f64())
    };
    match end {
        Protocol::Tcp(tcp) => of_tcp(tcp),
        // A path that lives may be one of several that do not.
        Protocol::Mptcp(mptcp) => of_tcp(&mptcp.subflow),
        // It sends nothing again.
        Protocol::Udp(_) => None,
        Protocol::Sctp(spec) => {
            let config = &spec.config;
            let lives = config.association_max_retrans >= 8
                && config.path_max_retrans >= 4
                && config.max_init_retransmits >= 6
                && config.cookie_life.as_secs_f64() > 3.0 * round_trip
                && patience(config.rto.initial, config.rto.max, 6) > 3.0 * round_trip
                && !config.dynamic_addresses
                && u64::from(config.mtu) <= mtu;
            (lives && config.rto.max.as_secs_f64() > 3.0 * round_trip)
                .then(|| config.rto.max.max(config.rto.initial).as_secs_f64())
        }
    }
}

/// Seconds from the first packet of a handshake to the date when an end gives up after so many repetitions.
fn patience(initial: Span, max: Span, repetitions: u32) -> f64 {
    let timeout = |n: u32| initial.saturating_mul(1 << n).min(max).as_secs_f64();
    (0..=repetitions).map(timeout).sum()
}

/// Octets that a round trip moves at least.
fn unit(scenario: &Scenario, flow: &FlowSpec) -> f64 {
    let of = |end: &Protocol| match end {
        Protocol::Tcp(tcp) => u64::from(tcp.mss) / 2,
        Protocol::Mptcp(mptcp) => u64::from(mptcp.subflow.mss) / 2,
        Protocol::Udp(_) => u64::from(flow.datagram()),
        Protocol::Sctp(sctp) => u64::from(sctp.config.message_size.unwrap_or(sctp.config.mtu / 2)),
    };
    let octets = of(&flow.protocol).min(of(server(scenario, flow)));
    match &flow.workload {
        Workload::Messages(messages) => size(&messages.size).min(octets as f64),
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
        (Workload::Pages(_) | Workload::PageLoad(_) | Workload::Video(_), _, _)
        | (_, None, Some(_)) => f64::INFINITY,
        (Workload::Messages(messages), None, None) => {
            let of = |message_spec: &MessageSpec| match (
                &message_spec.size,
                &message_spec.pace,
                message_spec.count,
            ) {
                (Sizes::Constant { mean }, _, Some(n)) => (mean * n) as f64,
                (Sizes::Constant { mean }, MessagePace::At(dates), None) => {
                    (*mean * dates.len() as u64) as f64
                }
                _ => f64::INFINITY,
            };
            of(messages) + messages.reverse.as_deref().map_or(0.0, of)
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
        Workload::Messages(messages) => {
            let n = |message_spec: &MessageSpec| message_spec.count.unwrap_or(0) as f64;
            10.0 + 2.0 * (n(messages) + messages.reverse.as_deref().map_or(0.0, n))
        }
        _ => 10.0,
    }
}

/// Seconds that the application takes by itself.
fn pace(flow: &FlowSpec) -> f64 {
    let mean = |duration: &Duration| 20.0 * duration.mean.as_secs_f64();
    let sized = flow.size.unwrap_or(0) as f64 * 8.0;
    let own = match &flow.workload {
        Workload::Constant { rate, .. } => sized / rate.as_bps() as f64,
        Workload::OnOff { rate, on, off, .. } => {
            let sending = sized / rate.as_bps() as f64;
            sending + (sending / on.mean.as_secs_f64().max(1e-6) + 20.0) * mean(off)
        }
        Workload::Requests { think, count, .. } => count.unwrap_or(0) as f64 * mean(think),
        Workload::Messages(messages) => {
            let of = |message_spec: &MessageSpec| match &message_spec.pace {
                MessagePace::Rate(rate) => {
                    message_spec.count.unwrap_or(0) as f64 * size(&message_spec.size) * 8.0
                        / rate.as_bps() as f64
                }
                MessagePace::Every(time) => message_spec.count.unwrap_or(0) as f64 * mean(time),
                MessagePace::At(dates) => dates.last().map_or(0.0, |date| date.as_secs_f64()),
                MessagePace::Saturated => 0.0,
            };
            of(messages) + messages.reverse.as_deref().map_or(0.0, of)
        }
        _ => 0.0,
    };
    own + 20.0
}
