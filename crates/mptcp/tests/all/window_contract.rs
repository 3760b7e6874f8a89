//! Every hook of a window algorithm fires when and only when the comments of `Controller` say, on the
//! subflows of Multipath TCP: a recorder goes through the seam for algorithms of the user's own.

use anabranch_check::contract::{Call, Recorder, broken, causes};
use anabranch_congestion::{Algorithm, Cause};
use anabranch_endpoint::{ByteStream, Observe, Seed};
use anabranch_mptcp::{Config, Connection, PathManager};
use anabranch_tcp::InitialWindow;
use anabranch_tcp::recovery::Recovery;
use anabranch_testkit::{Fate, Pair, Side};
use anabranch_units::{Span, Time};
use anabranch_wire::{Addr, Packet};

const MSS: u64 = 1000;
/// Segments of the transfer.
const SEGMENTS: u64 = 400;

/// The calls of the client's controllers in a transfer over two paths with this rule.
fn play(name: &str, rule: impl FnMut(Side, &Packet) -> Fate) -> Vec<Vec<Call>> {
    let recorder = Recorder::default();
    let mut config = Config {
        path_manager: PathManager::from_name("pairs").expect("it is known"),
        ..Config::default()
    };
    config.subflow = anabranch_tcp::Config {
        mss: MSS as u32,
        timestamps: false,
        recovery: Recovery::from_name("sack").expect("it is known"),
        window: recorder.algorithm(Algorithm::from_name(name).expect("it is known"), true),
        initial_window: InitialWindow::Segments(10),
        receive_buffer: 1 << 24,
        ..anabranch_tcp::Config::default()
    };
    config.validate().expect("settings that can be");
    let seed = Seed::default();
    let (own, peer) = ([Addr(0), Addr(2)], [Addr(1), Addr(3)]);
    let client =
        Connection::client(config.clone(), (&own, 1), (peer[0], 2), seed.generator("client"));
    let server = Connection::server(config, (&peer, 2), (own[0], 1), seed.generator("server"));
    let mut pair = Pair::new(client, server, Span::from_millis(50), rule);
    pair.client.connect(Time::ZERO);
    pair.drive(Time::ZERO + Span::from_secs(2));
    pair.client.write(SEGMENTS * MSS);
    pair.drive(Time::ZERO + Span::from_secs(200));
    assert_eq!(pair.server.observe().bytes_received, SEGMENTS * MSS);
    recorder.lives()
}

/// Each subflow hears of the others before each of its acknowledgments, and of its own losses alone.
#[test]
fn subflows_hear_of_themselves_and_of_their_siblings() {
    let mut n = 0;
    let lives = play("lia", move |side, packet| {
        n += (side == Side::Client && packet.payload_len() > 0) as u32;
        if side == Side::Client && n == 60 && packet.payload_len() > 0 {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    assert!(lives.len() >= 2, "{} subflows carried data", lives.len());
    for life in &lives {
        assert_eq!(broken(life, true, true), Vec::<String>::new());
        let told = life.iter().any(|call| matches!(call, Call::Siblings(_)));
        assert!(told, "of its siblings");
        assert!(!life.iter().any(|call| matches!(call, Call::Penalty(_) | Call::Undo)));
    }
    let causes: Vec<Cause> = lives.iter().flat_map(|life| causes(life)).collect();
    assert_eq!(causes, [Cause::Loss], "one loss, on one subflow");
}

/// What is not coupled hears of no sibling.
#[test]
fn siblings_are_for_those_who_ask() {
    let lives = play("reno", |_, _| Fate::Deliver);
    for life in &lives {
        assert_eq!(broken(life, true, false), Vec::<String>::new());
    }
}
