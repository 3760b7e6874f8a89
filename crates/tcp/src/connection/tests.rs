//! Pairs of connections over a path with scripted losses: traces of the
//! handshake, of flow control, of closing, and of every recovery scheme.

mod accurate_ecn;
mod decoupled;
mod drops;
mod ecn;
mod fast_open;
mod hostile;
mod icmp;
mod manners;
mod mtu_probe;
mod pacing;
mod patience;
mod prr;
mod rack;
mod segments;
mod sending;
mod solo;
mod states;
mod subflow;
mod undo;
mod window_growth;
mod wraps;

use super::*;
use crate::config::{Counting, DelayedAck, InitialReceiveWindow, InitialWindow};
use crate::recovery::{Pipe, Recovery};
use anabranch_congestion::Algorithm;
use anabranch_endpoint::{
    ByteStream, Demultiplex, Endpoint, Event, Observation, Observe, Seed, TemporalSharing,
};
use anabranch_testkit::marks::record;
use anabranch_testkit::{Fate, Pair, Side};
use anabranch_units::Span;
use anabranch_wire::{Body, Ecn, Packet, TcpFlags, TcpSegment};

const LATENCY: Span = Span::from_millis(100);

fn at_ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// The published experiment's sender: 1000-octet segments, an ACK per segment,
/// congestion avoidance from ten segments. ns-2 starts with a window of two
/// and lets the ACK of its SYN open it: three.
fn classic(recovery: Recovery) -> Config {
    Config {
        mss: 1000,
        initial_window: InitialWindow::Segments(3),
        initial_ssthresh: Some(10_000),
        timestamps: false,
        delayed_ack: DelayedAck { count: 1, delay: Span::ZERO },
        counting: Counting::Acks,
        recovery,
        window: Algorithm::from_name("reno").unwrap(),
        ..Config::default()
    }
}

fn ends(config: &Config) -> (Connection, Connection) {
    let seed = Seed::default();
    let (a, b) = ((Addr(0), 1000), (Addr(1), 2000));
    (
        Connection::client(config.clone(), a, b, seed.generator("client")),
        Connection::server(config.clone(), b, a, seed.generator("server")),
    )
}

fn pair<F: FnMut(Side, &Packet) -> Fate>(config: &Config, rule: F) -> Pair<Connection, F> {
    let (client, server) = ends(config);
    let mut pair = Pair::new(client, server, LATENCY, rule);
    pair.client.connect(Time::ZERO);
    pair
}

fn tcp(packet: &Packet) -> &TcpSegment {
    match &packet.body {
        Body::Tcp(segment) => segment,
        other => panic!("not TCP: {other:?}"),
    }
}

/// Drops the n-th data packets of the client (from 1), each once.
fn drop_nth(list: &[u32]) -> impl FnMut(Side, &Packet) -> Fate {
    let mut list = list.to_vec();
    let mut n = 0;
    move |side, packet| {
        if side == Side::Server || packet.payload_len() == 0 {
            return Fate::Deliver;
        }
        n += 1;
        match list.iter().position(|x| *x == n) {
            Some(at) => {
                list.remove(at);
                Fate::Drop
            }
            None => Fate::Deliver,
        }
    }
}

/// The client's data segments by number from 1, grouped by time of sending.
fn rounds<F: FnMut(Side, &Packet) -> Fate>(pair: &Pair<Connection, F>) -> Vec<(u64, Vec<u64>)> {
    let mut rounds: Vec<(u64, Vec<u64>)> = Vec::new();
    for line in &pair.log {
        if line.from == Side::Server || line.packet.payload_len() == 0 {
            continue;
        }
        let offset = tcp(&line.packet).seq.expand(pair.client.iss, 0).unwrap();
        let number = (offset - 1) / 1000 + 1;
        let ms = line.sent.as_millis();
        match rounds.last_mut() {
            Some((at, list)) if *at == ms => list.push(number),
            _ => rounds.push((ms, vec![number])),
        }
    }
    rounds
}

/// The log from a date on, a line a packet: `date side flags seq:len ack`, with
/// offsets from the SYNs; flags as in tcpdump (A: AE, E: ECE, W: CWR), then the ECN
/// codepoint and the Fast Open option where there is one (`FO?` asks for a cookie).
fn trace<F: FnMut(Side, &Packet) -> Fate>(pair: &Pair<Connection, F>, from_ms: u64) -> Vec<String> {
    let lines = pair.log.iter().filter(|l| l.sent >= at_ms(from_ms));
    lines
        .map(|l| {
            let (who, own, other) = match l.from {
                Side::Client => ('>', &pair.client, &pair.server),
                Side::Server => ('<', &pair.server, &pair.client),
            };
            format!("{} {who} {}", l.sent.as_millis(), show(&l.packet, own.iss, other.iss))
        })
        .collect()
}

/// A packet as a line of a trace; see [`trace`].
fn show(packet: &Packet, iss: Serial32, peer: Serial32) -> String {
    let s = tcp(packet);
    let names = [
        (TcpFlags::SYN, 'S'),
        (TcpFlags::FIN, 'F'),
        (TcpFlags::RST, 'R'),
        (TcpFlags::PSH, 'P'),
        (TcpFlags::URG, 'U'),
        (TcpFlags::AE, 'A'),
        (TcpFlags::ECE, 'E'),
        (TcpFlags::CWR, 'W'),
        (TcpFlags::ACK, '.'),
    ];
    let flags: String = names.iter().filter(|n| s.flags.contains(n.0)).map(|n| n.1).collect();
    let mut line = format!("{flags} {}:{}", s.seq.distance_from(iss), s.payload.len());
    if s.flags.contains(TcpFlags::ACK) {
        line += &format!(" {}", s.ack.distance_from(peer));
    }
    match s.options.fast_open() {
        None => {}
        Some(option) if option.cookie.is_request() => line += " FO?",
        Some(_) => line += " FO",
    }
    match packet.ecn {
        Ecn::NotEct => {}
        codepoint => line += &format!(" {codepoint:?}"),
    }
    line
}

#[test]
fn three_way_handshake_and_orderly_close() {
    let config = classic(Recovery::Reno { exit_growth: false });
    let mut pair = pair(&config, |_, _| Fate::Deliver);
    pair.client.write(1500);
    pair.client.close();
    let mut events = pair.drive(at_ms(250));
    assert_eq!(pair.client.state(), State::FinWait1);
    events.extend(pair.drive(at_ms(350)));
    assert_eq!(pair.server.state(), State::CloseWait);
    pair.server.close();
    events.extend(pair.drive(at_ms(100_000)));
    let flags: Vec<String> = pair
        .log
        .iter()
        .map(|l| {
            let s = tcp(&l.packet);
            let names = [
                (TcpFlags::SYN, "S"),
                (TcpFlags::FIN, "F"),
                (TcpFlags::RST, "R"),
                (TcpFlags::ACK, "."),
            ];
            let f: String = names.iter().filter(|n| s.flags.contains(n.0)).map(|n| n.1).collect();
            let who = if l.from == Side::Client { '>' } else { '<' };
            format!("{} {who} {f} {}", l.sent.as_millis(), s.payload.len())
        })
        .collect();
    assert_eq!(
        flags,
        [
            "0 > S 0",
            "100 < S. 0",
            "200 > . 1000",
            "200 > F. 500",
            "300 < . 0",
            "300 < . 0",
            "350 < F. 0",
            "450 > . 0",
        ]
    );
    assert_eq!(pair.client.state(), State::Closed);
    assert_eq!(pair.server.state(), State::Closed);
    let closed =
        |side| events.iter().any(|e| e.1 == side && e.2 == Event::Closed(CloseReason::Normal));
    assert!(closed(Side::Client) && closed(Side::Server), "{events:?}");
}

#[test]
fn simultaneous_close_goes_through_closing() {
    let mut pair = pair(&classic(Recovery::Reno { exit_growth: false }), |_, _| Fate::Deliver);
    pair.drive(at_ms(400));
    pair.client.close();
    pair.server.close();
    pair.drive(at_ms(450));
    assert_eq!((pair.client.state(), pair.server.state()), (State::FinWait1, State::FinWait1));
    pair.drive(at_ms(550));
    assert_eq!((pair.client.state(), pair.server.state()), (State::Closing, State::Closing));
    pair.drive(at_ms(650));
    assert_eq!((pair.client.state(), pair.server.state()), (State::TimeWait, State::TimeWait));
}

#[test]
fn simultaneous_open_establishes_one_connection() {
    let config = classic(Recovery::Reno { exit_growth: false });
    let (client, _) = ends(&config);
    let other = Connection::client(
        config,
        (Addr(1), 2000),
        (Addr(0), 1000),
        Seed::default().generator("x"),
    );
    let mut pair = Pair::new(client, other, LATENCY, |_, _| Fate::Deliver);
    pair.client.connect(Time::ZERO);
    pair.server.connect(Time::ZERO);
    pair.drive(at_ms(500));
    assert_eq!(
        (pair.client.state(), pair.server.state()),
        (State::Established, State::Established)
    );
}

#[test]
fn lost_syns_back_off_and_give_up() {
    let config = Config { syn_retries: 3, ..classic(Recovery::Reno { exit_growth: false }) };
    let mut pair = pair(&config, |_, _| Fate::Drop);
    let events = pair.drive(at_ms(100_000));
    let times: Vec<u64> = pair.log.iter().map(|l| l.sent.as_millis()).collect();
    assert_eq!(times, [0, 1000, 3000, 7000]);
    assert_eq!(
        events,
        [
            (at_ms(7_000), Side::Client, Event::Stalled), // R1: three retransmissions
            (at_ms(15_000), Side::Client, Event::Closed(CloseReason::TimedOut)),
        ]
    );
}

#[test]
fn an_abort_resets_the_peer() {
    let mut pair = pair(&classic(Recovery::Reno { exit_growth: false }), |_, _| Fate::Deliver);
    pair.drive(at_ms(400));
    pair.client.abort();
    let events = pair.drive(at_ms(1000));
    assert_eq!(
        events,
        [
            (at_ms(400), Side::Client, Event::Closed(CloseReason::Aborted)),
            (at_ms(500), Side::Server, Event::Closed(CloseReason::Reset)),
        ]
    );
}

#[test]
fn a_connection_lives_once() {
    let mut pair = pair(&classic(Recovery::Reno { exit_growth: false }), |_, _| Fate::Deliver);
    pair.drive(at_ms(400));
    pair.client.abort();
    pair.drive(at_ms(1000));
    pair.client.connect(at_ms(1000));
    assert_eq!(pair.client.state(), State::Closed);
    assert_eq!(pair.client.poll_transmit(at_ms(1000)), None);
}

/// RFC 9293 §3.8.6.1: a reader that stops closes the window; probes reopen it.
#[test]
fn a_closed_window_is_probed_until_it_opens() {
    let config = Config { receive_buffer: 3000, ..classic(Recovery::Reno { exit_growth: false }) };
    let mut lost_update = false;
    let mut pair = pair(&config, move |side, packet| {
        let update = side == Side::Server && tcp(packet).window >= 3000 && packet.is_pure_ack();
        if update && !lost_update {
            lost_update = true; // the first window update gets lost
            return Fate::Drop;
        }
        Fate::Deliver
    });
    pair.client.write(10_000);
    while pair.step(at_ms(10_000)) {} // nobody reads
    assert_eq!(pair.server.receiver.received(), 3000);
    assert_eq!(pair.client.sender.counters.timeouts, 0, "probes are not losses");
    let probes = pair.log.iter().filter(|l| l.packet.payload_len() == 1).count();
    assert!(probes >= 3, "{probes} probes");
    assert_eq!(pair.server.read(u64::MAX), 3000);
    pair.drive(at_ms(100_000));
    assert_eq!(pair.server.receiver.received(), 10_000);
}

/// Validation T4: a window-limited sender moves W octets per round trip.
#[test]
fn a_small_receive_window_limits_the_rate_exactly() {
    let config = Config { receive_buffer: 5000, ..classic(Recovery::Reno { exit_growth: false }) };
    let mut pair = pair(&config, |_, _| Fate::Deliver);
    pair.client.write(1 << 40);
    pair.drive(at_ms(2_250));
    let before = pair.server.receiver.received();
    pair.drive(at_ms(12_250));
    let received = pair.server.receiver.received() - before;
    record("T4", "octets in 50 RTT at W = 5 segments", 50 * 5000, received, "exact");
    assert_eq!(received, 50 * 5000);
}

/// Validation T11 (Cardwell): rounds to send N segments in slow start, without
/// loss and with an ACK per segment.
#[test]
fn slow_start_takes_the_closed_forms_rounds() {
    let mut exact = 0;
    for initial in 1..=10_u32 {
        for segments in [1_u64, 7, 50, 300, 1000] {
            let config = Config {
                initial_window: InitialWindow::Segments(initial),
                initial_ssthresh: None,
                ..classic(Recovery::Reno { exit_growth: false })
            };
            let mut pair = pair(&config, |_, _| Fate::Deliver);
            pair.client.write(segments * 1000);
            pair.drive(at_ms(60_000));
            let g = 2_f64;
            let expected = (segments as f64 * (g - 1.0) / initial as f64 + 1.0).log(g).ceil();
            let rounds = rounds(&pair).len();
            assert_eq!(rounds, expected as usize, "IW {initial}, {segments} segments");
            exact += 1;
        }
    }
    record("T11", "transfers with exactly the rounds of slow start", 50, exact, "exact");
}

/// RFC 8985 §7: the lost last segment, with the FIN on it, is probed as it was
/// sent; its arrival tells of those before it.
#[test]
fn a_lost_tail_with_its_fin_is_repaired_without_a_timeout() {
    for (lost, timestamps) in (1..=4).flat_map(|lost| [(lost, false), (lost, true)]) {
        let numbers: Vec<u32> = (41 - lost..=40).collect();
        let mut config = Config { sack: true, ..classic(Recovery::from_name("rack").unwrap()) };
        config.timestamps = timestamps;
        config.mss += if timestamps { 12 } else { 0 };
        // Data that is sent for the first time queues: a probe alone has a
        // shorter round trip, as only the handshake had. Its ACK still counts.
        let mut fates = drop_nth(&numbers);
        let mut count = 0;
        let mut pair = pair(&config, move |side, packet| {
            let data = side == Side::Client && packet.payload_len() > 0;
            count += data as u32;
            match fates(side, packet) {
                Fate::Deliver if data && count <= 40 => Fate::Delay(Span::from_millis(2)),
                fate => fate,
            }
        });
        pair.client.write(40_000);
        pair.client.close();
        pair.drive(at_ms(60_000));
        let end = pair.client.observe();
        assert_eq!((pair.server.receiver.received(), end.timeouts), (40_000, 0), "{lost} lost");
        assert_eq!(end.retransmitted_packets, lost as u64, "{lost} lost");
    }
}

/// RFC 6675 §4 rule 4: the lost tail of the data is rescued without a timeout
/// once something below it was lost and repaired.
#[test]
fn sack_rescues_a_lost_tail() {
    let mut pair =
        pair(&classic(Recovery::Sack { pipe: Pipe::Rfc6675, prr: false }), drop_nth(&[24, 31]));
    pair.client.write(31_000);
    pair.drive(at_ms(10_000));
    assert_eq!(pair.server.receiver.received(), 31_000);
    assert_eq!(pair.client.sender.counters.timeouts, 0);
}

/// Meanwhile new data leaves, and is SACKed or answered by duplicate ACKs: it
/// is outstanding, but not in the network any more: the timeout halves no more
/// than a window.
#[test]
fn a_retransmission_lost_again_is_left_to_the_timer() {
    for recovery in all_schemes() {
        let mut copies = 0;
        let mut first = None;
        let mut pair = pair(&classic(recovery.clone()), move |side, packet| {
            if side == Side::Server || packet.payload_len() == 0 {
                return Fate::Deliver;
            }
            let seq = tcp(packet).seq;
            let origin = *first.get_or_insert(seq);
            // Segment 24 is lost twice.
            if seq == origin.add(23_000) {
                copies += 1;
                if copies <= 2 {
                    return Fate::Drop;
                }
            }
            Fate::Deliver
        });
        pair.client.write(200_000);
        while pair.client.sender.counters.timeouts == 0 && pair.step(at_ms(60_000)) {}
        let ssthresh = pair.client.observe().ssthresh;
        assert!(ssthresh <= 6_000, "{recovery:?}: {ssthresh} of a window of 11 segments");
        pair.drive(at_ms(60_000));
        assert_eq!(pair.client.sender.counters.timeouts, 1, "{recovery:?}");
        assert_eq!(pair.server.receiver.received(), 200_000, "{recovery:?}");
    }
}

fn all_schemes() -> Vec<Recovery> {
    vec![
        Recovery::Tahoe,
        Recovery::Reno { exit_growth: false },
        Recovery::NewReno { impatient: false, exit_growth: false },
        Recovery::NewReno { impatient: true, exit_growth: true },
        Recovery::Sack { pipe: Pipe::Rfc6675, prr: false },
        Recovery::Sack { pipe: Pipe::Ns2, prr: false },
        Recovery::Sack { pipe: Pipe::Ns2Old, prr: false },
        Recovery::Fack { prr: false },
        Recovery::Decoupled { opens_late: false },
        Recovery::Decoupled { opens_late: true },
    ]
}
