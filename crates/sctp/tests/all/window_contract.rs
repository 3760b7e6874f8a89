//! Every hook of a window algorithm fires when and only when the comments of `Controller` say, over SCTP:
//! a recorder goes through the seam for algorithms of the user's own.

use anabranch_check::contract::{Call, Recorder, broken, causes, rates, sent, sums};
use anabranch_congestion::{Algorithm, Cause};
use anabranch_endpoint::{ByteStream, Observe, Seed};
use anabranch_sctp::{Association, Concurrent, Config, InitialWindow, UndoOptions, Window};
use anabranch_testkit::{Fate, Pair, Side};
use anabranch_units::{Span, Time};
use anabranch_wire::{Addr, Packet};

const LATENCY: Span = Span::from_millis(50);
/// A full packet's user data, and its chunk.
const DATA: u64 = 1452;
const CHUNK: u64 = 1468;

/// A time after the start.
fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// Settings with a recorder around `name`, which wants feedback: a window of ten packets at first,
/// a SACK for each.
fn config(recorder: &Recorder, name: &str) -> Config {
    let inner = Algorithm::from_name(name).expect("it is known");
    Config {
        window: Window::Algorithm(recorder.algorithm(inner, true)),
        initial_window: InitialWindow::Mtus(10),
        sack_frequency: 1,
        heartbeat_interval: None,
        confirm_paths: false,
        ..Config::rfc9260()
    }
}

/// Plays a transfer over so many paths of so many packets, written at these dates, and gives the calls
/// of each controller of the client that data left under, and the pair.
fn play<F: FnMut(Side, &Packet) -> Fate>(
    (config, recorder, paths): (&Config, &Recorder, usize),
    writes: &[(u64, u64)],
    rule: F,
) -> (Vec<Vec<Call>>, Pair<Association, F>) {
    config.validate().expect("settings that can be");
    let seed = Seed::default();
    let (c, s) = ([Addr(0), Addr(1)], [Addr(10), Addr(11)]);
    let (c, s) = ((&c[..paths], 1000), (&s[..paths], 2000));
    let client = Association::client(config.clone(), c, s, seed.generator("client"));
    let server = Association::server(config.clone(), s, c, seed.generator("server"));
    let mut pair = Pair::new(client, server, LATENCY, rule);
    pair.client.connect(Time::ZERO);
    for (ms, packets) in writes {
        pair.drive(at(*ms));
        pair.client.write(packets * DATA);
    }
    pair.drive(at(120_000));
    let total: u64 = writes.iter().map(|write| write.1).sum();
    assert_eq!(pair.server.observe().bytes_received, total * DATA);
    (recorder.lives(), pair)
}

/// The same over one path.
fn alone<F: FnMut(Side, &Packet) -> Fate>(
    config: &Config,
    recorder: &Recorder,
    writes: &[(u64, u64)],
    rule: F,
) -> (Vec<Call>, Pair<Association, F>) {
    let (mut lives, pair) = play((config, recorder, 1), writes, rule);
    assert_eq!(lives.len(), 1, "the client alone sends data");
    let life = lives.remove(0);
    assert_eq!(broken(&life, true, false), Vec::<String>::new());
    (life, pair)
}

/// The n-th packets with data (from 1) have this fate.
fn nth(list: &[u32], fate: Fate) -> impl FnMut(Side, &Packet) -> Fate + use<> {
    let (list, mut n) = (list.to_vec(), 0);
    move |side, packet| {
        if side == Side::Server || packet.payload_len() == 0 {
            return Fate::Deliver;
        }
        n += 1;
        if list.contains(&n) { fate } else { Fate::Deliver }
    }
}

fn deliver(_: Side, _: &Packet) -> Fate {
    Fate::Deliver
}

#[test]
fn a_transfer_without_loss_is_told_from_end_to_end() {
    let recorder = Recorder::default();
    let (life, pair) = alone(&config(&recorder, "reno"), &recorder, &[(500, 200)], deliver);
    let sent = sent(&life);
    assert_eq!(sent.len() as u64, pair.client.observe().packets_sent, "each chunk");
    assert_eq!(sent.iter().map(|chunk| chunk.1).sum::<u64>(), 200 * CHUNK);
    assert_eq!(sums(&life), (200 * CHUNK, 200 * CHUNK, 0, 0));
    assert_eq!(causes(&life), []);
    let others = |call: &Call| matches!(call, Call::Undo | Call::Idle(_) | Call::Siblings(_));
    assert!(!life.iter().any(others));
    let rates = rates(&life);
    assert_eq!(rates.last().expect("there are some").total_delivered, 200 * CHUNK);
    assert!(rates.iter().all(|rate| rate.interval >= LATENCY * 2));
}

/// Each SACK gives a round-trip sample where the algorithm wants feedback: that of the newest chunk.
#[test]
fn each_sack_gives_a_round_trip_time() {
    let recorder = Recorder::default();
    let config = Config { sack_frequency: 2, ..config(&recorder, "reno") };
    let (life, _) = alone(&config, &recorder, &[(500, 200)], deliver);
    let rtts: Vec<_> = life
        .iter()
        .filter_map(|call| match call {
            Call::Feedback(f, path) => Some((f.rtt, path.min_rtt)),
            _ => None,
        })
        .collect();
    let least = Some(LATENCY * 2);
    assert!(
        rtts.len() >= 100 && rtts.iter().all(|rtt| rtt.0 >= least && rtt.1 == least),
        "{rtts:?}"
    );
}

#[test]
fn feedback_comes_to_those_who_want_it_alone() {
    let recorder = Recorder::default();
    let reno = Algorithm::from_name("reno").expect("it is known");
    let window = Window::Algorithm(recorder.algorithm(reno, false));
    let config = Config { window, ..config(&recorder, "reno") };
    let (lives, _) = play((&config, &recorder, 1), &[(500, 100)], nth(&[20], Fate::Drop));
    assert_eq!(broken(&lives[0], false, false), Vec::<String>::new());
    assert_eq!(causes(&lives[0]), [Cause::Loss]);
}

/// Three losses in one window are one signal, with the flight before the SACK; chunks that are sent
/// again leave, too, and are told.
#[test]
fn losses_of_one_window_are_one_signal() {
    let recorder = Recorder::default();
    let drops = nth(&[50, 52, 54], Fate::Drop);
    let (life, pair) = alone(&config(&recorder, "reno"), &recorder, &[(500, 300)], drops);
    assert_eq!(causes(&life), [Cause::Loss]);
    let (acked, delivered, lost, _) = sums(&life);
    assert_eq!((acked, delivered, lost), (300 * CHUNK, 300 * CHUNK, 3 * CHUNK));
    assert_eq!((sent(&life).len(), pair.client.observe().retransmitted_packets), (303, 3));
    let signal = life.iter().position(|call| call.cause().is_some()).expect("one");
    let (Call::Congestion(_, before), Call::Feedback(f, after)) =
        (&life[signal], &life[signal + 1])
    else {
        panic!("{:?}", &life[signal..signal + 2])
    };
    assert!(before.in_flight >= after.in_flight + f.lost, "{before:?} {after:?}");
    assert!(f.in_recovery && f.lost > 0);
    let last = life.iter().rposition(|call| matches!(call, Call::Feedback(f, _) if f.in_recovery));
    let frozen = &life[signal..last.expect("that one at least")];
    assert!(!frozen.iter().any(|call| matches!(call, Call::Ack(..))), "no growth in a recovery");
}

#[test]
fn a_timeout_is_a_signal_of_its_own() {
    let recorder = Recorder::default();
    let drops = nth(&(1..=10).collect::<Vec<_>>(), Fate::Drop);
    let config = Config { max_burst: None, ..config(&recorder, "reno") };
    let (life, _) = alone(&config, &recorder, &[(500, 10)], drops);
    assert_eq!(causes(&life), [Cause::Timeout]);
    let Some(Call::Congestion(_, path)) = life.iter().find(|call| call.cause().is_some()) else {
        panic!("no signal")
    };
    assert_eq!(path.in_flight, 10 * CHUNK, "before the timeout");
}

/// ECNE is a mark, once for what was sent until then; what comes with it counts as marked until CWR has
/// reached the peer, and lets no window grow.
#[test]
fn marks_of_one_window_are_one_signal() {
    let recorder = Recorder::default();
    let config = Config { ecn: true, ..config(&recorder, "reno") };
    let (life, _) = alone(&config, &recorder, &[(500, 300)], nth(&[60, 62, 64], Fate::Mark));
    assert_eq!(causes(&life), [Cause::EcnMark]);
    let signal = life.iter().find(|call| call.cause().is_some());
    let Some(Call::Congestion(_, path)) = signal else { panic!("no signal") };
    // The report goes with each SACK for a round trip, in which a window is acknowledged.
    let marked = sums(&life).3;
    assert!(marked >= 3 * CHUNK && marked <= 2 * path.in_flight, "{marked}");
    for (at, call) in life.iter().enumerate() {
        if matches!(call, Call::Feedback(f, _) if f.marked > 0) {
            assert!(!matches!(life[at - 1], Call::Ack(..)), "{:?}", life[at - 1]);
        }
    }
}

/// A loss in the flight that a mark has reduced is answered with it (RFC 3168 §6.1.2).
#[test]
fn a_mark_and_a_loss_of_one_window_are_one_signal() {
    let recorder = Recorder::default();
    let config = Config { ecn: true, ..config(&recorder, "reno") };
    let mut n = 0;
    let rule = move |side, packet: &Packet| {
        n += (side == Side::Client && packet.payload_len() > 0) as u32;
        match (side, n) {
            (Side::Client, 60) => Fate::Mark,
            (Side::Client, 61) => Fate::Drop,
            _ => Fate::Deliver,
        }
    };
    let (life, pair) = alone(&config, &recorder, &[(500, 300)], rule);
    assert_eq!(causes(&life), [Cause::EcnMark]);
    assert_eq!(pair.client.observe().retransmitted_packets, 1);
}

#[test]
fn idleness_is_told_before_the_next_data() {
    let recorder = Recorder::default();
    let writes = [(500, 50), (600, 50), (20_000, 50)];
    let (life, _) = alone(&config(&recorder, "reno"), &recorder, &writes, deliver);
    let idle: Vec<usize> =
        (0..life.len()).filter(|at| matches!(life[*at], Call::Idle(_))).collect();
    assert_eq!(idle.len(), 1);
    let Call::Sent(now, _, path) = &life[idle[0] + 1] else { panic!("{:?}", life[idle[0] + 1]) };
    assert_eq!((*now, path.in_flight), (at(20_000), 0));
}

/// A trickle never fills the window; a bulk transfer does.
#[test]
fn what_limits_the_sender_is_told() {
    for (writes, limited) in
        [((0..50).map(|n| (500 + 20 * n, 1)).collect::<Vec<_>>(), true), (vec![(500, 400)], false)]
    {
        let recorder = Recorder::default();
        let (life, _) = alone(&config(&recorder, "reno"), &recorder, &writes, deliver);
        let acks: Vec<bool> = life
            .iter()
            .filter_map(|call| match call {
                Call::Ack(_, path) => Some(path.app_limited),
                _ => None,
            })
            .collect();
        // The last windows of a bulk transfer have nothing behind them.
        let some = &acks[..acks.len() / 3];
        assert!(!some.is_empty() && some.iter().all(|app| *app == limited), "{writes:?}: {acks:?}");
    }
}

/// BBR has a rate from the start: data leaves at it, not when SACKs come, and the sender's timer says
/// when.
#[test]
fn data_leaves_at_the_rate_that_is_asked_for() {
    let recorder = Recorder::default();
    let (life, pair) = alone(&config(&recorder, "bbr"), &recorder, &[(500, 400)], deliver);
    let sent = sent(&life);
    let together = sent.chunk_by(|a, b| a.0 == b.0).map(<[_]>::len).max();
    assert_eq!(together, Some(2), "the burst of the pacer");
    assert!(pair.client.observe().pacing_rate.is_some());
}

/// Two paths at once: each hears of its own chunks alone, and of the other before each SACK that tells
/// something of it.
#[test]
fn coupled_algorithms_hear_of_their_siblings() {
    let recorder = Recorder::default();
    let concurrent = Some(Concurrent::default());
    let config = Config { concurrent, ..config(&recorder, "lia") };
    let (lives, _) = play((&config, &recorder, 2), &[(500, 400)], nth(&[100, 131], Fate::Drop));
    assert_eq!(lives.len(), 2, "both paths carry data");
    let mut delivered = 0;
    for life in &lives {
        assert_eq!(broken(life, true, true), Vec::<String>::new());
        delivered += sums(life).1;
        for (at, call) in life.iter().enumerate() {
            if let Call::Siblings(siblings) = call {
                assert_eq!(siblings.len(), 1);
                assert!(siblings[0].mss == CHUNK && siblings[0].window >= CHUNK);
                assert!(
                    !matches!(life[at + 1], Call::Sent(..) | Call::Siblings(_)),
                    "an acknowledgment follows: {:?}",
                    life[at + 1]
                );
            }
        }
        let count = |of: fn(&Call) -> bool| life.iter().filter(|call| of(call)).count();
        let feedback = count(|call| matches!(call, Call::Feedback(..)));
        assert_eq!(count(|call| matches!(call, Call::Siblings(_))), feedback);
    }
    assert_eq!(delivered, 400 * CHUNK, "each chunk on one path");
    // Without concurrent transfer there are none.
    let recorder = Recorder::default();
    let config = Config { concurrent: None, ..self::config(&recorder, "lia") };
    let (lives, _) = play((&config, &recorder, 2), &[(500, 400)], deliver);
    assert!(!lives.iter().flatten().any(|call| matches!(call, Call::Siblings(_))));
}

/// A chunk that is sent again on another path moves there: what the path has sent and settled balance,
/// so that rounds go on.
#[test]
fn chunks_that_move_to_another_path_are_counted_there() {
    let recorder = Recorder::default();
    let config = Config {
        destination: anabranch_sctp::Destination::AllAlternate,
        ..config(&recorder, "reno")
    };
    let drops = nth(&[60, 61, 62], Fate::Drop);
    let (lives, pair) = play((&config, &recorder, 2), &[(500, 300)], drops);
    assert_eq!(lives.len(), 2);
    assert_eq!(pair.client.observe().retransmitted_packets, 3);
    for life in &lives {
        assert_eq!(broken(life, true, false), Vec::<String>::new());
        let Some((_, last)) = life.iter().rev().find_map(Call::scene) else { panic!("calls") };
        assert_eq!(last.sent, last.acked, "nothing is outstanding at the end");
    }
    assert_eq!(causes(&lives[1]), [], "nothing was lost there");
}

/// A packet that comes late is no loss: the report of the duplicate tells, and the reduction is undone.
#[test]
fn a_spurious_reduction_is_undone_once() {
    let recorder = Recorder::default();
    let undo = UndoOptions { duplicates: true, timestamps: false };
    let config = Config { undo, ..config(&recorder, "reno") };
    let late = nth(&[60], Fate::Delay(Span::from_millis(70)));
    let (life, pair) = alone(&config, &recorder, &[(500, 300)], late);
    assert_eq!(causes(&life), [Cause::Loss]);
    assert_eq!(life.iter().filter(|call| matches!(call, Call::Undo)).count(), 1);
    assert_eq!(pair.client.observe().retransmitted_packets, 1);
}
