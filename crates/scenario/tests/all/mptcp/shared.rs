//! Connections of several clients at one port of a server.

use super::{play, series};
use anabranch_endpoint::{Demultiplex, Seed};
use anabranch_mptcp::{Config, Connection, Phase};
use anabranch_scenario::{RunResult, Scenario};
use anabranch_sim::{App, FlowSpec, LinkConfig, Side, Simulation, SimulationBuilder};
use anabranch_units::{Rate, Serial32, Span, Time};
use anabranch_wire::tcp::mptcp::{Join, MptcpOption};
use anabranch_wire::{Addr, Body, Packet, Payload, TcpFlags, TcpOptions, TcpSegment};

/// Clients `c0`, `c1`, ... and a server `s`, each with an interface at either of
/// two routers; a flow with these fields from each to port 4433.
fn many(clients: usize, of_server: &str, fields: impl Fn(usize) -> String) -> String {
    let (mut hosts, mut rest) = (String::new(), String::new());
    for (name, rate, more) in
        (0..clients).map(|i| (format!("c{i}"), 20, "")).chain([("s".to_owned(), 100, of_server)])
    {
        hosts += &format!("{{ name = \"{name}\", interfaces = [\"x\", \"y\"]{more} }},");
        for path in ["x", "y"] {
            rest += &format!(
                "[[links]]\nname = \"{name}{path}\"\nends = [\"{name}.{path}\", \"r{path}\"]\n\
                 rate = \"{rate} Mbit/s\"\ndelay = \"5 ms\"\n\
                 queue = {{ limit = \"100 packets\" }}\n"
            );
        }
    }
    for i in 0..clients {
        rest += &format!(
            "[[flows]]\nname = \"f{i}\"\nfrom = \"c{i}\"\nto = \"s\"\nport = 4433\n\
             octets = true\n{}\n",
            fields(i)
        );
    }
    format!("hosts = [{hosts}]\nrouters = [\"rx\", \"ry\"]\n{rest}")
}

const OVER_TWO: &str = "protocol = \"mptcp\"\nmptcp = { path_manager = \"pairs\" }";

/// What flow `i` sends: each another number of octets.
fn size(i: usize) -> u64 {
    300_000 + 1000 * i as u64
}

fn sizes(more: &str) -> impl Fn(usize) -> String {
    move |i| format!("size = \"{} B\"\n{more}", size(i))
}

/// Every flow carried what it was to carry, over as many paths.
fn check(result: &RunResult, paths: usize) {
    for (i, row) in result.flows.iter().enumerate() {
        let expected = (size(i), 0, Some(false));
        assert_eq!((row.bytes, row.wrong_octets, row.fallback), expected, "{row:?}");
        let its: Vec<_> = result.paths.iter().filter(|path| path.flow == row.flow).collect();
        assert_eq!(its.len(), paths, "{its:?}");
        let new: Vec<u64> = its.iter().filter_map(|its| its.new_bytes).collect();
        assert_eq!(new.iter().sum::<u64>(), size(i), "{its:?}");
        assert!(new.iter().all(|octets| *octets > 10_000), "{its:?}");
        assert!(its.iter().all(|its| its.from.starts_with(&row.flow.replace('f', "c"))), "{its:?}");
    }
}

#[test]
fn twenty_clients_join_their_own_connections() {
    check(&play(&many(20, "", sizes(OVER_TWO))), 2);
}

/// Data the other way, more subflows of each client, all from one host.
#[test]
fn several_connections_of_a_client_keep_apart() {
    let fields = "count = 5\nsize = \"0 B\"\nreverse_size = \"400 kB\"\nprotocol = \"mptcp\"\n\
                  mptcp = { path_manager = \"full-mesh\" }";
    let result = play(&many(1, "", |_| fields.to_owned()));
    assert_eq!(result.flows.len(), 5);
    for row in &result.flows {
        assert_eq!((row.reverse_bytes, row.wrong_octets), (400_000, 0), "{row:?}");
        let its = result.paths.iter().filter(|path| path.flow == row.flow);
        let new = its.map(|its| its.new_bytes.expect("counted")).sum::<u64>();
        assert_eq!(new, 400_000);
    }
}

/// The server opens subflows itself, from the ports after the one at which it listens.
#[test]
fn a_server_opens_subflows_of_many_connections() {
    let passive = "protocol = \"mptcp\"\n\
                   mptcp = { path_manager = \"single\", passive_path_manager = \"pairs\" }";
    let result = play(&many(6, "", sizes(passive)));
    check(&result, 2);
    let opened = result.paths.iter().filter(|path| path.subflow == 1).count();
    assert_eq!(opened, 6);
}

/// Connections of TCP at the same port are told apart by addresses and ports.
#[test]
fn tcp_and_multipath_tcp_share_a_port() {
    let text = many(4, "", |i| sizes(if i % 2 == 0 { OVER_TWO } else { "" })(i));
    let result = play(&text);
    for (i, row) in result.flows.iter().enumerate() {
        assert_eq!((row.bytes, row.wrong_octets), (size(i), 0), "{row:?}");
        assert_eq!(row.protocol, if i % 2 == 0 { "mptcp" } else { "tcp" });
    }
}

/// A subflow that has given up comes again from the same port.
#[test]
fn a_subflow_is_opened_again() {
    let more = "protocol = \"mptcp\"\ntcp = { max_retries = 2 }\n\
                mptcp = { path_manager = \"pairs\", reopen = \"2 s\" }";
    let text = many(2, "", |_| more.to_owned());
    let cut = "{ kind = \"outage\", intervals = [{ at = \"2 s\", for = \"12 s\" }] }";
    let cut =
        format!("name = \"c1y\"\nimpairments = [{cut}]\nreverse = {{ impairments = [{cut}] }}");
    let text = text.replace("name = \"c1y\"", &cut);
    let result =
        play(&format!("duration = \"30 s\"\n{text}\n[[observe]]\nwhat = \"path_state\"\n"));
    assert!(result.flows.iter().all(|flow| flow.wrong_octets == 0 && flow.bytes > 10_000_000));
    let state = |name: &str| &series(&result, name).value;
    let cut = state("f1.c1.y-s.y.path_state");
    assert!(cut.contains(&3.0) && cut.last() == Some(&1.0), "{cut:?}");
    assert!(!state("f0.c0.y-s.y.path_state").contains(&3.0));
}

/// What waits in front of the server's lines counts for the connection that sent it.
#[test]
fn back_pressure_knows_whose_packets_wait() {
    let fields = |i: usize| format!("size = \"0 B\"\nreverse_size = \"{} B\"\n{OVER_TWO}", size(i));
    let result = play(&many(8, ", backpressure = \"4 kB\"", fields));
    for (i, row) in result.flows.iter().enumerate() {
        assert_eq!((row.reverse_bytes, row.wrong_octets), (size(i), 0), "{row:?}");
    }
}

#[test]
fn wrong_ports_are_named() {
    let read = |fields: &str| {
        let text = many(1, "", |_| fields.to_owned());
        Scenario::from_toml(&text, "t").map(|_| ()).map_err(|e| e.to_string())
    };
    let passive = "size = \"1 B\"\nprotocol = \"mptcp\"\n\
                   mptcp = { passive_path_manager = { kind = \"n-diffports\", ports = 3 } }";
    assert_eq!(read(passive), Ok(()));
    let port = |text: &str, port: &str| text.replace("4433", port);
    for (text, said) in [
        (port(&many(1, "", sizes("")), "0"), "value `0`: allowed: a whole number from 1 to 49151"),
        (port(&many(1, "", sizes("")), "49152"), "allowed: a whole number from 1 to 49151"),
        (port(&many(1, "", |_| passive.to_owned()), "49149"), "allowed: at most 49148"),
        (
            many(1, "", sizes("protocol = \"sctp\"")),
            "field `flows[0].port`: value `4433`: allowed: none in a flow over SCTP",
        ),
    ] {
        let error = Scenario::from_toml(&text, "t").unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

/// A connection between `d` and port 80 of `s`, and a host `c` outside.
fn beside_a_stranger() -> (Simulation<Connection>, [anabranch_sim::NodeId; 2]) {
    let mut builder = SimulationBuilder::new();
    let seed = Seed::default();
    let [s, d, c] = ["s", "d", "c"].map(|name| builder.host(name));
    for (from, to) in [(s, d), (d, s), (s, c), (c, s)] {
        let config = LinkConfig::new(Rate::mbit(10), Span::from_millis(5));
        builder.link(from, to, "l", config, seed.generator("l"));
    }
    let of = |name: &str| seed.generator(name);
    let [server, client] = [s, d].map(|node| builder.addr(node));
    let config = Config::default();
    builder.share_port(s, 80);
    builder.outside(c);
    builder.flow(FlowSpec {
        name: "f".to_owned(),
        client: (d, 1000),
        server: (s, 80),
        client_endpoint: Connection::client(
            config.clone(),
            (&[client], 1000),
            (server, 80),
            of("client"),
        ),
        server_endpoint: Connection::server(config, (&[server], 80), (client, 1000), of("server")),
        client_app: App::Bulk { bytes: None },
        server_app: App::Sink,
        start: Time::ZERO,
        stop: None,
        octets: false,
    });
    (builder.build().unwrap(), [c, s])
}

/// RFC 8684 §3.2: by the token alone, from wherever the SYN comes; an unknown one is
/// answered with a reset whose MP_TCPRST says "MPTCP-specific error".
#[test]
fn a_join_is_for_the_connection_that_it_names() {
    let (mut sim, [c, s]) = beside_a_stranger();
    sim.run_until(Time::ZERO + Span::from_millis(100));
    let flow = anabranch_sim::FlowId(0);
    let server = sim.endpoint(flow, Side::Server);
    assert_eq!(server.phase(), Phase::Multipath);
    let right = server.token();
    let mut answer = |token: u32, port: u16| {
        let mut options = TcpOptions { mss: Some(1460), ..TcpOptions::default() };
        let join = Join::Syn { backup: false, address: 3, token, nonce: 77 };
        options.rare_mut().mptcp.push(MptcpOption::Join(join));
        let segment = TcpSegment {
            src_port: port,
            dst_port: 80,
            seq: Serial32(500),
            ack: Serial32(0),
            flags: TcpFlags::SYN,
            window: 1000,
            urgent: 0,
            options,
            payload: Payload::EMPTY,
        };
        sim.enter(c, Packet::new(Addr(c.0), Addr(s.0), Body::Tcp(segment)));
        let end = sim.now() + Span::from_millis(20);
        sim.run_until(end);
        let packet = sim.departures().next().expect("an answer").packet.clone();
        let Body::Tcp(answer) = packet.body else { panic!() };
        assert_eq!((answer.dst_port, answer.ack), (port, Serial32(501)));
        (answer.flags, answer.options.mptcp().to_vec())
    };
    let reset = TcpFlags::RST.union(TcpFlags::ACK);
    let reason = MptcpOption::TcpRst { transient: false, reason: 1 };
    assert_eq!(answer(right ^ 1, 2000), (reset, vec![reason]));
    let (flags, options) = answer(right, 2001);
    assert_eq!(flags, TcpFlags::SYN.union(TcpFlags::ACK));
    assert!(matches!(options[..], [MptcpOption::Join(Join::SynAck { .. })]), "{options:?}");
    assert_eq!(sim.node_drops().no_endpoint, 1);
    assert_eq!(sim.endpoint(flow, Side::Server).flow_key().dst_port, 1000);
}
