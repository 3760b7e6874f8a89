//! Memory of idle connections: many flows are established and then do
//! nothing. Both endpoints, their applications and what the simulator keeps
//! for the flow count.

use super::Measurement;
use super::process::{Stopwatch, resident};
use crate::InputError;
use crate::transport::Transport;
use anabranch_endpoint::Seed;
use anabranch_sim::{App, FlowSpec, LinkConfig, Simulation, SimulationBuilder};
use anabranch_tcp::{Config, Connection};
use anabranch_units::{Rate, Span, Time};
use std::sync::Arc;

/// Flows that share a pair of hosts; ports are 16 bits.
const FLOWS_OF_A_PAIR: usize = 25_000;
const FIRST_PORT: u16 = 10_000;

/// Establishes `count` connections that carry no data and measures how much
/// resident memory has grown.
pub(super) fn measure(count: usize) -> Result<Measurement, InputError> {
    let watch = Stopwatch::start();
    let failed = |error: String| InputError::whole_file("idle-flows", error);
    // Takes up what earlier work in this process has freed and the allocator
    // kept, so that the growth measured is all of the connections'.
    let filler = build(count / 5).map_err(|e| failed(e.to_string()))?;
    let before = resident();
    let (mut simulation, flows) = build(count).map_err(|e| failed(e.to_string()))?;
    simulation.run_until(Time::ZERO + Span::from_secs(10));
    let after = resident();
    let established = flows.iter().filter(|f| simulation.flow_result(**f).established).count();
    if established != count {
        return Err(failed(format!("{established} of {count} connections were established")));
    }
    drop(filler);
    let grown = after.saturating_sub(before) as f64;
    let hops = simulation.packet_hops();
    let end_s = simulation.now().as_secs_f64();
    let mut m = watch.measurement("idle-flows", "", end_s, hops, Vec::new());
    m.extra.push(("connections", count as f64));
    m.extra.push(("bytes_per_connection", grown / count as f64));
    Ok(m)
}

type Idle = (Simulation<Transport>, Vec<anabranch_sim::FlowId>);

fn build(count: usize) -> Result<Idle, anabranch_sim::BuildError> {
    let seed = Seed { seed: 1, replication: 0 };
    let config = Arc::new(Config::default());
    let mut builder = SimulationBuilder::new();
    let mut flows = Vec::with_capacity(count);
    for pair in 0..count.div_ceil(FLOWS_OF_A_PAIR) {
        let (a, b) = (builder.host(&format!("a{pair}")), builder.host(&format!("b{pair}")));
        for (from, to, name) in
            [(a, b, format!("a{pair}-b{pair}")), (b, a, format!("b{pair}-a{pair}"))]
        {
            let link = LinkConfig::new(Rate::gbit(10), Span::from_millis(1));
            builder.link(from, to, &name, link, seed.generator(&format!("link {name}")));
        }
        let of_this_pair = FLOWS_OF_A_PAIR.min(count - pair * FLOWS_OF_A_PAIR);
        for i in 0..of_this_pair {
            let port = FIRST_PORT + i as u16;
            let [here, there] = [(builder.addr(a), port), (builder.addr(b), port)];
            let generator = |role| seed.generator(&format!("flow {pair}-{i} {role}"));
            flows.push(builder.flow(FlowSpec {
                name: "idle".to_owned(),
                client: (a, port),
                server: (b, port),
                client_endpoint:
                    Connection::client(config.clone(), here, there, generator("client")).into(),
                server_endpoint:
                    Connection::server(config.clone(), there, here, generator("server")).into(),
                // Both read only: nobody writes, nobody closes.
                client_app: App::Sink,
                server_app: App::Sink,
                // 20,000 handshakes a second, so that no queue overflows.
                start: Time::ZERO + Span::from_micros(50) * i as u64,
                stop: None,
                octets: false,
            }));
        }
    }
    Ok((builder.build()?, flows))
}
