//! Associations as packet traces.

mod addresses;
mod answers;
mod auth;
mod blind;
mod bundling;
mod bursts;
mod checksum;
mod closed_window;
mod collision;
mod concurrent;
mod delivery;
mod ecn;
mod ending;
mod hostile;
mod immediate;
mod interleaving;
mod kernels;
mod losses;
mod mtu;
mod opening;
mod partial;
mod paths;
mod reconfig;
mod renumber;
mod rounds;
mod sending;
mod several;
mod states;
mod udp;
mod undo;
mod windows;
mod wraps;

use super::*;
use crate::message::Message;
use crate::paths::path::PathState;
use anabranch_endpoint::{ByteStream, Endpoint, Event, Observe, Seed};
use anabranch_testkit::{Fate, Pair, Side};
use anabranch_units::{Serial32, Span, Time};
use anabranch_wire::sctp::{Chunk, DataFlags, SctpPacket};
use anabranch_wire::{Body, Packet, Payload};

const LATENCY: Span = Span::from_millis(50);
/// Two addresses a side: even numbers are the first path's.
const CLIENT: [Addr; 2] = [Addr(0), Addr(1)];
const SERVER: [Addr; 2] = [Addr(10), Addr(11)];

fn at_ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// Chunks of these types must be authenticated.
fn authenticated(chunks: &[u8]) -> Option<Arc<crate::Authentication>> {
    let chunks = chunks.to_vec();
    Some(Arc::new(crate::Authentication { chunks, ..crate::Authentication::default() }))
}

/// Each packet acknowledged, no heartbeats: traces that are short.
fn plain(config: Config) -> Config {
    Config { sack_frequency: 1, heartbeat_interval: None, confirm_paths: false, ..config }
}

fn ends(config: &Config, addresses: usize) -> (Association, Association) {
    let seed = Seed::default();
    let (c, s) = ((&CLIENT[..addresses], 1000), (&SERVER[..addresses], 2000));
    (
        Association::client(config.clone(), c, (&SERVER[..1], 2000), seed.generator("client")),
        Association::server(config.clone(), s, (&CLIENT[..1], 1000), seed.generator("server")),
    )
}

fn pair<F: FnMut(Side, &Packet) -> Fate>(
    config: &Config,
    addresses: usize,
    rule: F,
) -> Pair<Association, F> {
    config.validate().unwrap();
    let (client, server) = ends(config, addresses);
    let mut pair = Pair::new(client, server, LATENCY, rule);
    pair.client.connect(Time::ZERO);
    pair
}

/// A pair whose first COOKIE ECHO comes after the 200 ms that its cookie lives.
fn with_late_cookie() -> Pair<Association, impl FnMut(Side, &Packet) -> Fate> {
    let mut first = true;
    let config = Config { cookie_life: Span::from_millis(200), ..plain(Config::rfc9260()) };
    pair(&config, 1, move |_, packet| {
        let is = matches!(sctp(packet).chunks.first(), Some(Chunk::CookieEcho(_)));
        match is && std::mem::take(&mut first) {
            true => Fate::Delay(Span::from_millis(300)),
            false => Fate::Deliver,
        }
    })
}

fn deliver(_: Side, _: &Packet) -> Fate {
    Fate::Deliver
}

fn sctp(packet: &Packet) -> &SctpPacket {
    match &packet.body {
        Body::Sctp(sctp) => sctp,
        other => panic!("not SCTP: {other:?}"),
    }
}

/// Drops the n-th packets of the client that carry data (from 1).
fn drop_nth(list: &[u32]) -> impl FnMut(Side, &Packet) -> Fate + use<> {
    let list = list.to_vec();
    let mut n = 0;
    move |side, packet| {
        if side == Side::Server || packet.payload_len() == 0 {
            return Fate::Deliver;
        }
        n += 1;
        if list.contains(&n) { Fate::Drop } else { Fate::Deliver }
    }
}

/// The log from a date on, a line a packet: date, side, path where it is not
/// the first, chunks. TSNs count from 1; data with the I bit ends in `I`.
fn trace<F: FnMut(Side, &Packet) -> Fate>(
    pair: &Pair<Association, F>,
    from_ms: u64,
) -> Vec<String> {
    let lines = pair.log.iter().filter(|l| l.sent >= at_ms(from_ms));
    lines
        .map(|l| {
            let (who, own, other) = match l.from {
                Side::Client => ('>', &pair.client, &pair.server),
                Side::Server => ('<', &pair.server, &pair.client),
            };
            let path = if l.packet.src.0 % 2 == 1 { "'" } else { "" };
            let chunks: Vec<String> =
                sctp(&l.packet).chunks.iter().map(|c| show(c, own, other)).collect();
            let lost = if l.fate == Fate::Drop { " x" } else { "" };
            format!("{} {who}{path} {}{lost}", l.sent.as_millis(), chunks.join(", "))
        })
        .collect()
}

fn show(chunk: &Chunk, own: &Association, other: &Association) -> String {
    let of = |tsn: Serial32, side: &Association| tsn.distance_from(side.sender.origin);
    match chunk {
        Chunk::Data(data) => format!("DATA {}{}", of(data.tsn, own), at_once(data.flags)),
        Chunk::Sack(sack) => {
            let cum = of(sack.cum_tsn, other);
            let mut text = format!("SACK {cum}");
            for gap in &sack.gaps {
                text += &format!(" +{}-{}", cum + gap.start as i32, cum + gap.end as i32);
            }
            for tsn in &sack.duplicates {
                text += &format!(" dup {}", of(*tsn, other));
            }
            text
        }
        Chunk::Abort { causes, .. } => {
            let codes: Vec<String> = causes.iter().map(|c| c.code().to_string()).collect();
            format!("ABORT {}", codes.join(" ")).trim_end().into()
        }
        Chunk::Shutdown(cum) => format!("SHUTDOWN {}", of(*cum, other)),
        Chunk::Error(causes) => format!("ERROR {}", causes[0].code()),
        Chunk::IData(data) => {
            let of_message = format!("{}/{}", data.stream, data.mid);
            format!("I-DATA {} {of_message}{}", of(data.tsn, own), at_once(data.flags))
        }
        Chunk::ForwardTsn(f) => {
            let skipped = f.skipped.iter().map(|(stream, ssn)| format!(" {stream}/{ssn}"));
            format!("FORWARD-TSN {}{}", of(f.cum_tsn, own), skipped.collect::<String>())
        }
        Chunk::Asconf { parameters, .. } => match &parameters[1] {
            anabranch_wire::sctp::Parameter::ChangeAddress { change, .. } => {
                format!("ASCONF {change:?}")
            }
            other => format!("ASCONF {other:?}"),
        },
        Chunk::AsconfAck { parameters, .. } => format!("ASCONF-ACK {}", parameters.len()),
        Chunk::IForwardTsn(f) => {
            let u = |m: &anabranch_wire::sctp::SkippedMessage| if m.unordered { "u" } else { "" };
            let skipped = f.skipped.iter().map(|m| format!(" {}/{}{}", m.stream, m.mid, u(m)));
            format!("I-FORWARD-TSN {}{}", of(f.cum_tsn, own), skipped.collect::<String>())
        }
        other => other.name().map_or_else(|| format!("chunk {}", other.kind()), str::to_owned),
    }
}

fn at_once(flags: DataFlags) -> &'static str {
    if flags.contains(DataFlags::IMMEDIATE) { " I" } else { "" }
}

/// Runs until a date; nobody reads.
fn run<F: FnMut(Side, &Packet) -> Fate>(pair: &mut Pair<Association, F>, until: Time) {
    while pair.step(until) {}
}

/// What an attacker must not change.
fn standing(association: &Association) -> String {
    let Association { phase, identity, paths, receiver, control, sender, .. } = association;
    let own = (phase, identity.local_tag, identity.peer_tag);
    format!(
        "{:?}",
        (
            own,
            paths,
            &receiver.map,
            &receiver.sacks.timer,
            &sender.flight,
            &control.waiting,
            &control.outbox
        )
    )
}

/// All messages that have arrived, as stream and octets.
fn received(association: &mut Association) -> Vec<(u16, Vec<u8>)> {
    std::iter::from_fn(|| association.receive())
        .map(|m| (m.stream, m.payload.octets().map_or(Vec::new(), <[u8]>::to_vec)))
        .collect()
}

/// A packet of the client's, with these chunks, as a peer that knows the tag.
fn from_client(pair_client: &Association, tag: u32, chunks: Vec<Chunk>) -> Packet {
    let chunks = chunks.into_iter().collect();
    let port = pair_client.identity.local_port;
    let sctp =
        SctpPacket { src_port: port, dst_port: 2000, tag, udp: None, zero_checksum: false, chunks };
    Packet::new(CLIENT[0], SERVER[0], Body::Sctp(Box::new(sctp)))
}

/// A packet of the server's, with this chunk, to the client's first address.
fn from_server(tag: u32, chunk: Chunk) -> Packet {
    let chunks = [chunk].into_iter().collect();
    let sctp =
        SctpPacket { src_port: 2000, dst_port: 1000, tag, udp: None, zero_checksum: false, chunks };
    Packet::new(SERVER[0], CLIENT[0], Body::Sctp(Box::new(sctp)))
}
