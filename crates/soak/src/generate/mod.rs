//! Random scenarios through the schema that users write: a network, what goes
//! wrong in it, flows over every transport with any of their options, ports that
//! listen to strangers, and hostile hosts.
//!
//! A scenario is small: a transfer has at most some thousand segments, so that
//! thousands of runs fit a minute. Extremes are as likely as usual values. Not
//! every combination is allowed by the schema; one that is refused is no
//! scenario, and is counted by whoever asked for it.

mod hostile;
mod impairments;
mod network;
mod options;
mod queues;
mod traffic;
mod windows;

use crate::draw::{Draw, micros, number, table};
use network::{Network, Temper};
use toml::{Table, Value};

/// The transports that flows are drawn from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Transport {
    Tcp,
    Sctp,
    Mptcp,
}

/// The scenario with this number, as a table; the same for all times, as long
/// as the generator is.
pub fn scenario(number_of_it: u64) -> Table {
    let draw = &mut Draw::new(number_of_it);
    let temper = draw.pick(&[Temper::Gentle, Temper::Rough, Temper::Rough, Temper::Hostile]);
    let transport = draw.pick(&[Transport::Tcp, Transport::Sctp, Transport::Mptcp]);
    let mut network = Network::draw(draw, transport, temper);
    let mut flows = traffic::flows(draw, transport, &network);
    let mut scenario = table([("seed", number(draw.between(0, 1 << 40)))]);
    let has_routes = network.routers.len() > 1;
    let listeners = hostile::listeners(draw, &network, &mut flows);
    if draw.chance(if listeners.is_empty() { 0.15 } else { 0.6 }) {
        let (attacks, duration) = hostile::attacks(draw, &mut network, &listeners, &flows);
        scenario.insert("attacks".into(), Value::Array(attacks));
        scenario.insert("duration".into(), duration);
    }
    if !listeners.is_empty() {
        let listeners = listeners.into_iter().map(Value::from).collect();
        scenario.insert("listen".into(), Value::Array(listeners));
    }
    network.write(&mut scenario);
    if draw.chance(0.2) {
        scenario.insert("icmp".into(), icmp(draw));
    }
    if has_routes && draw.chance(0.1) {
        scenario.insert("routing".into(), "ecmp".into());
    }
    scenario.insert("flows".into(), Value::Array(flows));
    if draw.chance(0.1) {
        scenario.insert("observe".into(), observe(draw));
    }
    scenario
}

fn icmp(draw: &mut Draw) -> Value {
    match draw.between(0, 2) {
        0 => true.into(),
        1 => "linux".into(),
        _ => {
            let bucket = table([
                ("interval", micros(draw.spread(1000, 10_000_000))),
                ("burst", number(draw.between(1, 50))),
            ]);
            let name = draw.pick(&["node", "destination"]);
            table([(name, bucket.into()), ("too_big", draw.chance(0.5).into())]).into()
        }
    }
}

fn observe(draw: &mut Draw) -> Value {
    let all = [
        "cwnd",
        "ssthresh",
        "in_flight",
        "srtt",
        "received",
        "packets",
        "ack-compression",
        "responses",
        "path_cwnd",
        "path_srtt",
        "path_state",
        "path_errors",
        "message_delay",
        "message_wait",
        "queue",
    ];
    let mut one = table([("what", draw.pick(&all).into())]);
    if draw.chance(0.3) {
        // A point each time, and a run may take days.
        one.insert("interval".into(), draw.time(1_000_000, 60_000_000));
    }
    Value::Array(vec![one.into()])
}
