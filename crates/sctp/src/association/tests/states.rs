//! What each chunk does in each state: one table, to be judged by eye.

use super::*;
use anabranch_wire::sctp::SackChunk;

const STATES: [State; 8] = [
    State::Closed,
    State::CookieWait,
    State::CookieEchoed,
    State::Established,
    State::ShutdownPending,
    State::ShutdownSent,
    State::ShutdownReceived,
    State::ShutdownAckSent,
];

/// A client of an association that is in `state`.
pub(super) fn client_in(state: State) -> Association {
    let config = plain(Config::rfc9260());
    let mut pair = pair(&config, 1, deliver);
    let until = match state {
        State::CookieWait => 10,
        State::CookieEchoed => 110,
        _ => 1000,
    };
    pair.drive(at_ms(until));
    let mut client = pair.client;
    let drain = |client: &mut Association| while client.poll_transmit(at_ms(until)).is_some() {};
    match state {
        State::Closed => client.abort(),
        State::ShutdownPending => {
            client.write(10);
            client.close();
        }
        State::ShutdownSent => client.close(),
        State::ShutdownReceived => {
            client.write(10);
            drain(&mut client);
            let cum = client.sender.origin;
            client.handle_input(at_ms(until), &to_client(&client, Chunk::Shutdown(cum)));
        }
        State::ShutdownAckSent => {
            let cum = client.sender.origin;
            client.handle_input(at_ms(until), &to_client(&client, Chunk::Shutdown(cum)));
        }
        _ => {}
    }
    drain(&mut client);
    assert_eq!(client.state(), state);
    client
}

pub(super) fn to_client(client: &Association, chunk: Chunk) -> Packet {
    let tag = if matches!(chunk, Chunk::Init(_)) { 0 } else { client.identity.local_tag };
    from_server(tag, chunk)
}

fn init(client: &Association) -> Box<anabranch_wire::sctp::InitChunk> {
    let mut init = client.init_chunk();
    init.tag = 99;
    Box::new(init)
}

#[test]
fn state_by_event() {
    let mut table = String::new();
    type Make = fn(&Association) -> Chunk;
    let events: [(&str, Make); 14] = [
        ("INIT", |c| Chunk::Init(init(c))),
        ("INIT ACK", |c| Chunk::InitAck(init(c))),
        ("COOKIE ECHO (forged)", |_| Chunk::CookieEcho([0; 100].into())),
        ("COOKIE ACK", |_| Chunk::CookieAck),
        ("DATA", |c| {
            Chunk::Data(anabranch_wire::sctp::DataChunk {
                flags: anabranch_wire::sctp::DataFlags::WHOLE,
                tsn: c.receiver.origin.add(1),
                stream: 0,
                ssn: 0,
                ppid: 0,
                payload: Payload::virtual_of(10),
            })
        }),
        ("SACK (all)", |c| {
            Chunk::Sack(SackChunk {
                cum_tsn: c.sender.origin.at(c.sender.flight.next() - 1),
                a_rwnd: 1000,
                gaps: Vec::new(),
                duplicates: Vec::new(),
                packets: 0,
            })
        }),
        ("HEARTBEAT", |_| Chunk::Heartbeat([1].into())),
        ("HEARTBEAT ACK", |_| Chunk::HeartbeatAck([0; 16].into())),
        ("ABORT", |_| Chunk::Abort { reflected: false, causes: Vec::new() }),
        ("ERROR (stale)", |_| Chunk::Error(vec![anabranch_wire::sctp::Cause::StaleCookie(1)])),
        ("SHUTDOWN", |c| Chunk::Shutdown(c.sender.origin)),
        ("SHUTDOWN ACK", |_| Chunk::ShutdownAck),
        ("SHUTDOWN COMPLETE", |_| Chunk::ShutdownComplete { reflected: false }),
        ("unknown (0xff)", |_| Chunk::Unknown { kind: 0xff, flags: 0, value: [].into() }),
    ];
    for state in STATES {
        table += &format!("{state:?}\n");
        for (name, make) in events {
            let mut client = client_in(state);
            let packet = to_client(&client, make(&client));
            client.handle_input(at_ms(1000), &packet);
            let mut sent = Vec::new();
            while let Some(packet) = client.poll_transmit(at_ms(1000)) {
                let mut text: Vec<String> = Vec::new();
                for chunk in sctp(&packet).chunks.iter() {
                    text.push(name_of(chunk));
                }
                sent.push(text.join(" + "));
            }
            let sent = if sent.is_empty() { "-".into() } else { sent.join(", ") };
            let to = match client.state() == state {
                true => String::new(),
                false => format!(" -> {:?}", client.state()),
            };
            table += &format!("  {name:<21}{sent}{to}\n");
        }
    }
    let expected = include_str!("states.txt");
    assert_eq!(table, expected, "the table is now:\n{table}");
}

fn name_of(chunk: &Chunk) -> String {
    match chunk {
        Chunk::Data(_) => "DATA".into(),
        Chunk::Sack(_) => "SACK".into(),
        Chunk::Init(_) => "INIT".into(),
        Chunk::InitAck(_) => "INIT ACK".into(),
        Chunk::HeartbeatAck(_) => "HEARTBEAT ACK".into(),
        Chunk::Abort { reflected, .. } => format!("ABORT{}", if *reflected { " (T)" } else { "" }),
        Chunk::Shutdown(_) => "SHUTDOWN".into(),
        Chunk::ShutdownAck => "SHUTDOWN ACK".into(),
        Chunk::ShutdownComplete { reflected } => {
            format!("SHUTDOWN COMPLETE{}", if *reflected { " (T)" } else { "" })
        }
        Chunk::Error(causes) => format!("ERROR {}", causes[0].code()),
        Chunk::CookieEcho(_) => "COOKIE ECHO".into(),
        Chunk::CookieAck => "COOKIE ACK".into(),
        other => format!("chunk {}", other.kind()),
    }
}
