//! Several paths: where data and retransmissions go, failures, failover and
//! failback (RFC 9260 §5.4, §6.4, §8; RFC 7829).

use super::*;
use anabranch_endpoint::RtoBounds;

/// What the client sent with data, from a date on.
fn data<F: FnMut(Side, &Packet) -> Fate>(pair: &Pair<Association, F>, from_ms: u64) -> Vec<String> {
    trace(pair, from_ms).into_iter().filter(|l| l.contains('>') && l.contains("DATA")).collect()
}

fn notifications(association: &mut Association) -> Vec<(usize, PathState)> {
    std::iter::from_fn(|| association.poll_notification())
        .map(|n| match n {
            Notification::Path { path, state } => (path, state),
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn new_data_takes_the_primary() {
    let mut pair = pair(&plain(Config::rfc9260()), 2, deliver);
    pair.drive(at_ms(1000));
    pair.client.write(2 * 1452);
    pair.drive(at_ms(2000));
    assert_eq!(data(&pair, 1000), ["1000 > DATA 1", "1000 > DATA 2"]);
    pair.client.set_primary(1);
    pair.client.write(1000);
    pair.drive(at_ms(3000));
    assert_eq!(data(&pair, 2000), ["2000 >' DATA 3"]);
    assert_eq!(trace(&pair, 2001), ["2050 <' SACK 3"], "to where the data came from (§6.4)");
}

/// Each policy, for a loss that SACKs tell of and for one that the timer
/// tells of.
#[test]
fn retransmissions_go_where_the_policy_says() {
    for (name, fast, timeout) in [
        ("all-same", "1100 > DATA 1", "4000 > DATA 1"),
        ("all-alternate", "1100 >' DATA 1", "4000 >' DATA 1"),
        ("fr-same-rto-alt", "1100 > DATA 1", "4000 >' DATA 1"),
    ] {
        let destination = crate::Destination::from_name(name).unwrap();
        let config = Config {
            destination,
            initial_window: crate::InitialWindow::Mtus(8),
            max_burst: None,
            ..plain(Config::rfc4960())
        };
        let mut by_sacks = pair(&config, 2, drop_nth(&[1]));
        by_sacks.drive(at_ms(1000));
        by_sacks.client.write(6 * 1452);
        by_sacks.drive(at_ms(3000));
        assert_eq!(data(&by_sacks, 1001), [fast], "{name}");
        let mut by_timer = pair(&config, 2, drop_nth(&[1]));
        by_timer.drive(at_ms(1000));
        by_timer.client.write(1000);
        by_timer.drive(at_ms(5000));
        assert_eq!(data(&by_timer, 1001), [timeout], "{name}");
    }
}

/// §6.4.1, C8 of the multihoming paper: windows and timers are per path.
#[test]
fn a_loss_on_one_path_leaves_the_other_alone() {
    let config = Config {
        destination: crate::Destination::AllAlternate,
        initial_window: crate::InitialWindow::Mtus(8),
        ..plain(Config::rfc4960())
    };
    let mut pair = pair(&config, 2, drop_nth(&[1]));
    pair.drive(at_ms(1000));
    pair.client.write(1000);
    pair.drive(at_ms(5000));
    let paths: Vec<_> = pair.client.observe_paths().collect();
    assert_eq!((paths[0].cwnd, paths[0].timeouts, paths[0].rto), (1500, 1, Span::from_secs(6)));
    assert_eq!((paths[1].cwnd, paths[1].timeouts, paths[1].rto), (12_000, 0, Span::from_secs(3)));
    assert_eq!(paths[1].srtt, None, "Karn: a retransmission gives no sample");
}

/// §8.2 and validation C4: with Path.Max.Retrans p and an RTO of 1 s, the
/// primary is given up 1 + 2 + ... + 2^p seconds after its last data left.
#[test]
fn failure_detection_takes_the_sum_of_the_timeouts() {
    for retrans in [0, 1, 2, 5] {
        let config = Config {
            path_max_retrans: retrans,
            association_max_retrans: 20,
            destination: crate::Destination::AllSame,
            ..plain(Config::rfc9260())
        };
        let mut failed = false;
        let mut pair = pair(&config, 2, move |side, packet| {
            failed |= side == Side::Client && packet.payload_len() > 0;
            if failed && packet.src.0.is_multiple_of(2) { Fate::Drop } else { Fate::Deliver }
        });
        pair.drive(at_ms(1000));
        pair.client.write(2 * 1452);
        let detected = (1000..200_000).find(|ms| {
            pair.drive(at_ms(*ms));
            !notifications(&mut pair.client).is_empty()
        });
        let expected = 1000 + 1000 * ((1 << (retrans + 1)) - 1);
        assert_eq!(detected, Some(expected), "Path.Max.Retrans {retrans}");
        pair.drive(at_ms(expected + 1000));
        assert_eq!(pair.client.observe().bytes_acked, 2 * 1452, "the alternate carries it");
    }
}

/// §8.2 and §2.3: what crossed the primary before it failed, and whose SACK was lost with it, is
/// acknowledged over the alternate when it has been found lost. It was not outstanding any more:
/// neither are the errors forgotten nor is the primary active again.
#[test]
fn acknowledgments_of_what_was_found_lost_revive_no_path() {
    for (retrans, name) in
        [(0, "all-same"), (2, "all-same"), (2, "all-alternate"), (2, "fr-same-rto-alt")]
    {
        let config = Config {
            path_max_retrans: retrans,
            destination: crate::Destination::from_name(name).unwrap(),
            initial_window: crate::InitialWindow::Mtus(8),
            ..plain(Config::rfc9260())
        };
        // The primary takes nine packets with data, and nothing back after the fifth.
        let mut crossed = 0;
        let mut pair = pair(&config, 2, move |side, packet| {
            let data = side == Side::Client && packet.payload_len() > 0;
            let is_primary = packet.src.0.is_multiple_of(2);
            crossed += (data && is_primary) as u32;
            let most = if side == Side::Client { 9 } else { 5 };
            if is_primary && crossed > most { Fate::Drop } else { Fate::Deliver }
        });
        pair.drive(at_ms(1000));
        pair.client.write(1 << 30);
        let mut seen = Vec::new();
        let detected = (1000..100_000).find(|ms| {
            pair.drive(at_ms(*ms));
            seen.extend(notifications(&mut pair.client));
            !seen.is_empty()
        });
        assert_eq!(seen, [(0, PathState::Inactive)]);
        // The sum of the timeouts; before each but the first the alternate is busy for a while.
        let sum = 1000 + 1000 * ((1 << (retrans + 1)) - 1);
        let detected = detected.expect("it is found");
        assert!((sum..sum + 600).contains(&detected), "{name}, {retrans}: {detected} ms, {sum}");
        pair.drive(at_ms(detected + 5000));
        assert_eq!(notifications(&mut pair.client), []);
        let after = data(&pair, detected);
        assert!(after.iter().all(|line| line.contains(">'")), "{name}, {retrans}: {after:?}");
    }
}

/// §8.3: heartbeats find that the primary works again, and data returns.
#[test]
fn failover_and_failback() {
    let config = Config {
        path_max_retrans: 1,
        heartbeat_interval: Some(Span::from_secs(5)),
        heartbeat_jitter: crate::Jitter::None,
        ..Config::rfc9260()
    };
    // The first path is down from 2 s to 20 s. The rule knows no date, but
    // the test does.
    let down = std::rc::Rc::new(std::cell::Cell::new(false));
    let rule = {
        let down = down.clone();
        move |_: Side, packet: &Packet| match down.get() && packet.src.0.is_multiple_of(2) {
            true => Fate::Drop,
            false => Fate::Deliver,
        }
    };
    let mut pair = pair(&config, 2, rule);
    pair.drive(at_ms(2000));
    notifications(&mut pair.client);
    down.set(true);
    pair.client.write(1452);
    pair.drive(at_ms(19_000));
    let seen = notifications(&mut pair.client);
    assert_eq!(seen, [(0, PathState::Inactive)]);
    pair.client.write(1452);
    pair.drive(at_ms(20_000));
    assert_eq!(data(&pair, 19_000), ["19000 >' DATA 2"]);
    down.set(false);
    pair.drive(at_ms(60_000));
    assert_eq!(notifications(&mut pair.client), [(0, PathState::Active)]);
    pair.client.write(1452);
    pair.drive(at_ms(61_000));
    assert_eq!(data(&pair, 60_000), ["60000 > DATA 3"]);
}

/// RFC 7829 §3: with PFMR 0 the first timeout moves new data away, and
/// heartbeats probe the path every RTO.
#[test]
fn a_potentially_failed_path_is_left_at_once() {
    let heartbeat_interval = Some(Span::from_secs(30));
    let config =
        Config { potentially_failed: Some(0), heartbeat_interval, ..plain(Config::rfc9260()) };
    let mut lost = false;
    let mut pair = pair(&config, 2, move |_, packet| match packet.payload_len() {
        0 => Fate::Deliver,
        _ if !std::mem::replace(&mut lost, true) => Fate::Drop,
        _ => Fate::Deliver,
    });
    pair.drive(at_ms(1000));
    pair.client.write(1000);
    pair.drive(at_ms(2010));
    assert_eq!(notifications(&mut pair.client), [(0, PathState::PotentiallyFailed)]);
    pair.client.write(1000);
    pair.drive(at_ms(2020));
    assert_eq!(data(&pair, 1001), ["2000 >' DATA 1", "2010 >' DATA 2"]);
    pair.drive(at_ms(3000));
    assert_eq!(notifications(&mut pair.client), [(0, PathState::Active)], "the probe was answered");
}

/// §5.4: addresses other than the primary are probed, and carry no data until
/// the answer is there.
#[test]
fn an_alternate_is_confirmed_by_a_heartbeat() {
    let config = Config { sack_frequency: 1, ..Config::rfc9260() };
    let mut pair = pair(&config, 2, deliver);
    pair.drive(at_ms(210));
    assert_eq!(pair.client.paths[1].state, PathState::Unconfirmed);
    assert!(trace(&pair, 200).contains(&"200 >' HEARTBEAT".to_string()), "{:?}", trace(&pair, 0));
    pair.drive(at_ms(1000));
    let paths: Vec<_> = pair.client.observe_paths().collect();
    assert_eq!(paths[1].state, PathState::Active);
    assert_eq!(paths[1].srtt, Some(Span::from_millis(100)), "and its RTO is known");
}

/// §8.3: RTO + HB.interval, with half the RTO of jitter to either side.
#[test]
fn idle_paths_are_probed_each_interval() {
    let config = Config { confirm_paths: false, ..Config::rfc9260() };
    let mut pair = pair(&config, 2, deliver);
    pair.drive(at_ms(200_000));
    let dates: Vec<u64> = pair
        .log
        .iter()
        .filter(|l| l.from == Side::Client && l.packet.src == CLIENT[1])
        .filter(|l| matches!(sctp(&l.packet).chunks.first(), Some(Chunk::Heartbeat(_))))
        .map(|l| l.sent.as_millis())
        .collect();
    assert!(dates.len() >= 6, "{dates:?}");
    for pair in dates.windows(2) {
        // The RTO is 1 s after the first answer.
        assert!((30_500..=31_500).contains(&(pair[1] - pair[0])), "{dates:?}");
    }
}

/// §8.3: the period of a path begins anew with data that can measure its round trip, with jitter as
/// between two heartbeats.
#[test]
fn a_path_that_carried_data_is_probed_a_period_after_it() {
    let config = Config { confirm_paths: false, ..Config::rfc9260() };
    let mut pair = pair(&config, 1, deliver);
    let mut waits = Vec::new();
    for n in 1..=6 {
        let wrote = n * 100_000;
        pair.drive(at_ms(wrote));
        pair.client.write(1000);
        pair.drive(at_ms(wrote + 99_999));
        let mut sent = pair.log.iter().filter(|l| l.from == Side::Client && l.sent >= at_ms(wrote));
        let is_probe = |packet| matches!(sctp(packet).chunks.first(), Some(Chunk::Heartbeat(_)));
        let probe = sent.find(|l| is_probe(&l.packet)).expect("the path is idle for 99 s");
        waits.push(probe.sent.as_millis() - wrote);
    }
    // The RTO is 1 s; a period that began before the data may be over during it.
    assert!(waits.iter().all(|wait| *wait <= 31_500), "{waits:?}");
    assert!(waits.iter().any(|wait| *wait >= 30_500), "{waits:?}");
    assert!(waits.iter().all(|wait| *wait != 31_000), "{waits:?}");
}

/// Caro et al.: a timeout on a path is followed by a heartbeat to it.
#[test]
fn a_heartbeat_after_a_timeout_refreshes_the_rto() {
    let config = Config { heartbeat_after_rto: true, ..plain(Config::rfc4960()) };
    let mut pair = pair(&config, 2, drop_nth(&[1]));
    pair.drive(at_ms(1000));
    pair.client.write(1000);
    pair.drive(at_ms(4020));
    assert_eq!(trace(&pair, 4000), ["4000 > HEARTBEAT", "4000 >' DATA 1"]);
    assert_eq!(pair.client.paths[0].rtt.rto(), Span::from_secs(6));
    pair.drive(at_ms(5000));
    // 100 ms + 4 · 50 ms, at least RTO.Min.
    assert_eq!(pair.client.paths[0].rtt.rto(), Span::from_secs(1));
}

/// Best path: alternates are measured while there is data, not before the
/// association is, and a fast retransmit takes the path that is not full.
#[test]
fn best_path_keeps_alternates_fresh() {
    let config = Config {
        destination: crate::Destination::BestPath,
        heartbeat_interval: Some(Span::from_secs(30)),
        ..plain(Config::rfc9260())
    };
    let mut pair = pair(&config, 2, |side, packet| match packet.src.0 % 2 {
        0 if side == Side::Client && packet.payload_len() > 0 => {
            Fate::Delay(Span::from_millis(400))
        }
        _ => Fate::Deliver,
    });
    pair.client.write(1000); // with the cookie
    pair.drive(at_ms(2000));
    let early = trace(&pair, 0).into_iter().filter(|l| l.contains("HEARTBEAT")).count();
    assert!(early <= 2 && pair.client.state() == State::Established, "{early}");
    let seconds = 10;
    for second in 2..2 + seconds {
        pair.client.write(4 * 1452);
        pair.drive(at_ms(second * 1000 + 900));
    }
    let alternate = pair.client.observe_paths().nth(1).unwrap();
    assert!((5..=13).contains(&alternate.heartbeats), "{alternate:?}");
    assert_eq!(alternate.srtt, Some(Span::from_millis(100)));
    pair.drive(at_ms(100_000));
    let idle = pair.client.observe_paths().nth(1).unwrap().heartbeats - alternate.heartbeats;
    assert!((1..=4).contains(&idle), "HB.interval while nothing is sent: {idle}");
}

/// Best path: new data of a failed primary goes to the better alternate.
#[test]
fn failover_takes_the_best_alternate() {
    let (c, s) = ([Addr(0), Addr(1), Addr(2)], [Addr(10), Addr(11), Addr(12)]);
    for (name, expected) in [("all-alternate", 1), ("best-path", 2)] {
        let config = Config {
            destination: crate::Destination::from_name(name).unwrap(),
            path_max_retrans: 0,
            confirm_paths: true,
            ..Config::rfc9260()
        };
        let seed = Seed::default();
        let client = Association::client(config.clone(), (&c, 1), (&s, 2), seed.generator("c"));
        let server = Association::server(config, (&s, 2), (&c, 1), seed.generator("s"));
        let down = std::rc::Rc::new(std::cell::Cell::new(false));
        let is_down = down.clone();
        let rule = move |_: Side, packet: &Packet| match packet.dst.0 {
            10 if is_down.get() => Fate::Drop,
            11 => Fate::Delay(Span::from_millis(300)),
            _ => Fate::Deliver,
        };
        let mut pair = Pair::new(client, server, LATENCY, rule);
        pair.client.connect(Time::ZERO);
        pair.drive(at_ms(2000));
        down.set(true);
        pair.client.write(1452);
        pair.drive(at_ms(3500));
        assert_eq!(pair.client.paths[0].state, PathState::Inactive);
        assert_eq!(pair.client.paths.data_path(), expected, "{name}");
    }
}

/// §8.1.
#[test]
fn too_many_errors_of_all_paths_end_the_association() {
    let config = Config { association_max_retrans: 3, ..plain(Config::rfc9260()) };
    let mut pair =
        pair(&config, 2, |_, p| if p.payload_len() > 0 { Fate::Drop } else { Fate::Deliver });
    pair.drive(at_ms(1000));
    pair.client.write(1000);
    let events = pair.drive(at_ms(100_000));
    assert_eq!(events.last().unwrap().2, Event::Closed(CloseReason::TimedOut));
    assert_eq!(data(&pair, 1000).len(), 4);
}

/// §8.3: idle is a path on which nothing leaves that can give an RTT sample. A
/// path that carries retransmissions alone is probed.
#[test]
fn a_path_with_retransmissions_alone_is_idle() {
    let config = Config {
        destination: crate::Destination::AllAlternate,
        confirm_paths: false,
        heartbeat_jitter: crate::Jitter::None,
        // One packet is in flight on the primary, which loses all of them: each write is a timeout.
        rto: RtoBounds { max: Span::from_secs(3), ..Config::rfc4960().rto },
        path_max_retrans: 1000,
        ..Config::rfc4960()
    };
    let mut n = 0;
    let mut pair = pair(&config, 2, move |side, packet| {
        n += (side == Side::Client && packet.payload_len() > 0) as u32;
        // Every second packet with data, which is each first transmission.
        match side == Side::Client && packet.payload_len() > 0 && n % 2 == 1 {
            true => Fate::Drop,
            false => Fate::Deliver,
        }
    });
    pair.drive(at_ms(1000));
    for second in 0..20 {
        pair.client.write(1000);
        pair.drive(at_ms(1000 + 5000 * (second + 1)));
    }
    let alternate = pair.client.observe_paths().nth(1).unwrap();
    assert!(alternate.packets >= 10, "retransmissions: {}", alternate.packets);
    assert!(alternate.heartbeats >= 2, "heartbeats: {}", alternate.heartbeats);
}

/// Sources beat places in the list: where a.x reaches b.y alone.
#[test]
fn packets_leave_from_the_source_of_their_destination() {
    let (client, server) = ends(&plain(Config::rfc9260()), 2);
    let pairs = [(CLIENT[0], SERVER[1]), (CLIENT[1], SERVER[0])];
    let client = client.with_sources(&pairs.map(|(own, peer)| (peer, own)));
    let mut pair = Pair::new(client, server.with_sources(&pairs), LATENCY, deliver);
    pair.client.connect(Time::ZERO);
    pair.client.write(1000);
    pair.drive(at_ms(1000));
    pair.client.set_primary(1);
    pair.client.write(1000);
    pair.drive(at_ms(2000));
    assert_eq!(pair.server.observe().bytes_received, 2000);
    let ways = |association: &Association| -> Vec<_> {
        association.observe_paths().map(|path| (path.local, path.remote)).collect()
    };
    assert_eq!(ways(&pair.client), [(CLIENT[1], SERVER[0]), (CLIENT[0], SERVER[1])]);
    assert_eq!(ways(&pair.server), [(SERVER[1], CLIENT[0]), (SERVER[0], CLIENT[1])]);
    for line in &pair.log {
        let (src, dst) = (line.packet.src, line.packet.dst);
        assert!(pairs.contains(&(src, dst)) || pairs.contains(&(dst, src)), "{src:?} {dst:?}");
    }
}

/// The next packet of an association: its source, its destination, its chunks.
fn reply(association: &mut Association, ms: u64) -> Option<(Addr, Addr, Vec<u8>)> {
    let packet = association.poll_transmit(at_ms(ms))?;
    let kinds = sctp(&packet).chunks.iter().map(Chunk::kind).collect();
    Some((packet.src, packet.dst, kinds))
}

/// §6.4: a peer whose first address sends to our second has its answers from our second. Our first
/// may be one whose link is down: that would be why the peer has left it.
#[test]
fn answers_leave_from_where_the_packet_came_to() {
    let mut pair = pair(&plain(Config::rfc9260()), 2, deliver);
    pair.drive(at_ms(1000));
    let (client, server) = (&mut pair.client, &mut pair.server);
    let mut cross = |server: &mut Association, ms| {
        let mut packet = server.poll_transmit(at_ms(ms)).unwrap();
        assert_eq!((packet.src, packet.dst), (SERVER[0], CLIENT[0]));
        packet.dst = CLIENT[1];
        client.handle_input(at_ms(ms), &packet);
        reply(client, ms)
    };
    let back = |kinds: &[u8]| Some((CLIENT[1], SERVER[0], kinds.to_vec()));
    server.write(100);
    assert_eq!(cross(server, 1000), back(&[3]), "SACK");
    server.probe(at_ms(1001), 0);
    assert_eq!(cross(server, 1001), back(&[5]), "HEARTBEAT ACK");
    server.control.waiting.push(Chunk::Unknown { kind: 0x7f, flags: 0, value: [].into() });
    assert_eq!(cross(server, 1002), back(&[9]), "ERROR");
    let cum = server.receiver.origin;
    server.control.waiting.push(Chunk::Shutdown(cum));
    assert_eq!(cross(server, 1003), back(&[8]), "SHUTDOWN ACK");
    // The timer's own goes where data would.
    pair.client.handle_timeout(at_ms(60_000));
    assert_eq!(reply(&mut pair.client, 60_000), Some((CLIENT[0], SERVER[0], vec![8])));
}

/// What came later than the last answer decides, on a SACK that waited as well.
#[test]
fn a_sack_that_waited_leaves_from_where_the_last_data_came_to() {
    let config = Config { sack_frequency: 2, ..plain(Config::rfc9260()) };
    let mut pair = pair(&config, 2, deliver);
    pair.drive(at_ms(1000));
    let (client, server) = (&mut pair.client, &mut pair.server);
    let mut sources = Vec::new();
    for (ms, to) in [(1000, 0), (1001, 0), (1002, 1), (1003, 0), (1004, 1)] {
        server.write(100);
        let mut packet = server.poll_transmit(at_ms(ms)).unwrap();
        packet.dst = CLIENT[to];
        client.handle_input(at_ms(ms), &packet);
        sources.push(client.poll_transmit(at_ms(ms)).map(|packet| packet.src));
    }
    // The first of an association at once.
    let (first, second) = (Some(CLIENT[0]), Some(CLIENT[1]));
    assert_eq!(sources, [first, None, second, None, second]);
}

/// §8.3: the count of an inactive path does not grow any more; heartbeats go on.
#[test]
fn the_errors_of_an_inactive_path_are_not_counted() {
    let interval = Some(Span::from_secs(1));
    let config = Config { heartbeat_interval: interval, ..plain(Config::rfc9260()) };
    let mut pair = pair(&config, 2, |_, packet| match packet.src.0 % 2 {
        1 => Fate::Drop,
        _ => Fate::Deliver,
    });
    pair.drive(at_ms(600_000));
    let alternate = pair.client.observe_paths().nth(1).unwrap();
    assert_eq!((alternate.state, alternate.errors), (PathState::Inactive, 6));
    assert!(alternate.heartbeats > 12, "{alternate:?}");
    assert_eq!(pair.client.state(), State::Established);
}

/// RFC 7829 §3.2: where heartbeats are off a path that has potentially failed is not probed either.
#[test]
fn no_path_is_probed_where_heartbeats_are_off() {
    let config = Config { potentially_failed: Some(0), ..plain(Config::rfc9260()) };
    let mut pair = pair(&config, 2, drop_nth(&[1]));
    pair.drive(at_ms(1000));
    pair.client.write(1000);
    pair.drive(at_ms(60_000));
    assert_eq!(notifications(&mut pair.client), [(0, PathState::PotentiallyFailed)]);
    assert_eq!(pair.client.observe_paths().map(|path| path.heartbeats).sum::<u64>(), 0);
}

/// RFC 7829 §3.2 rule 9: the SACK of what was sent to two paths shows of neither that it works.
#[test]
fn an_ambiguous_acknowledgment_revives_no_path() {
    for (potentially_failed, revived) in [(Some(0), false), (None, true)] {
        let config = Config {
            potentially_failed,
            path_max_retrans: 0,
            destination: crate::Destination::AllAlternate,
            ..plain(Config::rfc9260())
        };
        // The chunk is lost on both paths, and arrives when it is sent to the first again.
        let mut pair = pair(&config, 2, drop_nth(&[1, 2]));
        pair.drive(at_ms(1000));
        pair.client.write(1000);
        pair.drive(at_ms(30_000));
        assert_eq!(pair.client.observe().bytes_acked, 1000);
        let states: Vec<_> = pair.client.observe_paths().map(|path| path.state).collect();
        let works = states.contains(&PathState::Active);
        assert_eq!(works, revived, "{potentially_failed:?}: {states:?}");
    }
}

/// §8.3 D, §11.1.10: the user asks for a heartbeat, where the settings send none.
#[test]
fn the_user_asks_for_a_heartbeat() {
    let mut pair = pair(&plain(Config::rfc9260()), 2, deliver);
    pair.drive(at_ms(1000));
    assert!(pair.client.request_heartbeat(at_ms(1000), 1));
    assert!(!pair.client.request_heartbeat(at_ms(1000), 2), "there is no such path");
    pair.drive(at_ms(2000));
    assert_eq!(trace(&pair, 1000), ["1000 >' HEARTBEAT", "1050 <' HEARTBEAT ACK"]);
    assert_eq!(pair.client.paths[1].rtt.srtt(), Some(Span::from_millis(100)));
    pair.client.close();
    pair.drive(at_ms(3000));
    assert!(!pair.client.request_heartbeat(at_ms(3000), 1));
}
