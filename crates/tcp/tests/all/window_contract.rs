//! Every hook of a window algorithm fires when and only when the comments of `Controller` say, over TCP:
//! a recorder goes through the seam for algorithms of the user's own.

use anabranch_check::contract::{Call, Recorder, broken, causes, rates, sent, sums};
use anabranch_congestion::{Algorithm, Cause};
use anabranch_endpoint::{ByteStream, Observe, Seed};
use anabranch_tcp::recovery::Recovery;
use anabranch_tcp::{Config, Connection, EcnMode, InitialWindow, UndoOptions};
use anabranch_testkit::{Fate, Pair, Side};
use anabranch_units::{Span, Time};
use anabranch_wire::{Addr, Packet};

const LATENCY: Span = Span::from_millis(50);
const MSS: u64 = 1000;

/// A time after the start.
fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// Settings with a recorder around `name`, which wants feedback.
fn config(recorder: &Recorder, name: &str) -> Config {
    Config {
        mss: MSS as u32,
        timestamps: false,
        recovery: Recovery::from_name("sack").expect("it is known"),
        window: recorder.algorithm(Algorithm::from_name(name).expect("it is known"), true),
        initial_window: InitialWindow::Segments(10),
        receive_buffer: 1 << 24,
        ..Config::default()
    }
}

/// Plays a transfer of so many segments, written at these dates, and gives the calls of the client's
/// controller and the pair.
fn play<F: FnMut(Side, &Packet) -> Fate>(
    config: &Config,
    recorder: &Recorder,
    writes: &[(u64, u64)],
    rule: F,
) -> (Vec<Call>, Pair<Connection, F>) {
    let seed = Seed::default();
    let (a, b) = ((Addr(0), 1), (Addr(1), 2));
    let client = Connection::client(config.clone(), a, b, seed.generator("client"));
    let server = Connection::server(config.clone(), b, a, seed.generator("server"));
    let mut pair = Pair::new(client, server, LATENCY, rule);
    pair.client.connect(Time::ZERO);
    for (ms, segments) in writes {
        pair.drive(at(*ms));
        pair.client.write(segments * MSS);
    }
    pair.drive(at(120_000));
    let total: u64 = writes.iter().map(|write| write.1).sum();
    assert_eq!(pair.server.observe().bytes_received, total * MSS);
    let mut lives = recorder.lives();
    assert_eq!(lives.len(), 1, "the client alone sends data");
    let life = lives.remove(0);
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

fn assert_kept(life: &[Call]) {
    assert_eq!(broken(life, true, false), Vec::<String>::new());
}

#[test]
fn a_transfer_without_loss_is_told_from_end_to_end() {
    let recorder = Recorder::default();
    let (life, pair) =
        play(&config(&recorder, "reno"), &recorder, &[(500, 200)], nth(&[], Fate::Drop));
    assert_kept(&life);
    let sent = sent(&life);
    assert_eq!(sent.len() as u64, pair.client.observe().packets_sent, "each data segment");
    assert_eq!(sent.iter().map(|segment| segment.1).sum::<u64>(), 200 * MSS);
    assert_eq!(sums(&life), (200 * MSS, 200 * MSS, 0, 0));
    assert_eq!(causes(&life), []);
    let others = |call: &Call| matches!(call, Call::Undo | Call::Idle(_) | Call::Siblings(_));
    assert!(!life.iter().any(others));
    // Rates are measured over a round trip each, and end with all that was delivered.
    let rates = rates(&life);
    assert_eq!(rates.last().expect("there are some").total_delivered, 200 * MSS);
    assert!(rates.iter().all(|rate| rate.interval >= LATENCY * 2));
}

#[test]
fn feedback_comes_to_those_who_want_it_alone() {
    let recorder = Recorder::default();
    let reno = Algorithm::from_name("reno").expect("it is known");
    let config = Config { window: recorder.algorithm(reno, false), ..config(&recorder, "reno") };
    let (life, _) = play(&config, &recorder, &[(500, 100)], nth(&[20], Fate::Drop));
    assert_eq!(broken(&life, false, false), Vec::<String>::new());
    assert_eq!(causes(&life), [Cause::Loss]);
}

/// Three losses in one window are one signal; the flight before is the window.
#[test]
fn losses_of_one_window_are_one_signal() {
    let recorder = Recorder::default();
    let drops = nth(&[50, 52, 54], Fate::Drop);
    let (life, pair) = play(&config(&recorder, "reno"), &recorder, &[(500, 300)], drops);
    assert_kept(&life);
    assert_eq!(causes(&life), [Cause::Loss]);
    let (acked, delivered, lost, _) = sums(&life);
    assert_eq!((acked, delivered, lost), (300 * MSS, 300 * MSS, 3 * MSS));
    let (Some(first), Some(last)) = (
        life.iter().position(|call| matches!(call, Call::Feedback(f, _) if f.in_recovery)),
        life.iter().rposition(|call| matches!(call, Call::Feedback(f, _) if f.in_recovery)),
    ) else {
        panic!("no recovery")
    };
    // A recovery that freezes the window: no growth between.
    assert!(!life[first..last].iter().any(|call| matches!(call, Call::Ack(..))));
    assert_eq!(pair.client.observe().retransmitted_packets, 3);
}

#[test]
fn a_timeout_is_a_signal_of_its_own() {
    let recorder = Recorder::default();
    let drops = nth(&(1..=10).collect::<Vec<_>>(), Fate::Drop);
    let (life, _) = play(&config(&recorder, "reno"), &recorder, &[(500, 10)], drops);
    assert_kept(&life);
    assert_eq!(causes(&life), [Cause::Timeout]);
    let Some(Call::Congestion(_, path)) = life.iter().find(|call| call.cause().is_some()) else {
        panic!("no signal")
    };
    assert_eq!(path.in_flight, 10 * MSS, "before the timeout");
}

#[test]
fn marks_of_one_window_are_one_signal() {
    for ecn in [EcnMode::On, EcnMode::Dctcp, EcnMode::Accurate] {
        let recorder = Recorder::default();
        let config = Config { ecn, ..config(&recorder, "reno") };
        let (life, _) = play(&config, &recorder, &[(500, 300)], nth(&[60, 62, 64], Fate::Mark));
        assert_kept(&life);
        assert_eq!(causes(&life), [Cause::EcnMark], "{ecn:?}");
        assert!(sums(&life).3 >= 3 * MSS, "{ecn:?}: {:?}", sums(&life));
    }
}

#[test]
fn idleness_is_told_before_the_next_data() {
    let recorder = Recorder::default();
    let writes = [(500, 50), (600, 50), (20_000, 50)];
    let (life, _) = play(&config(&recorder, "reno"), &recorder, &writes, nth(&[], Fate::Drop));
    assert_kept(&life);
    let idle: Vec<usize> =
        (0..life.len()).filter(|at| matches!(life[*at], Call::Idle(_))).collect();
    assert_eq!(idle.len(), 1);
    let Call::Sent(now, _, path) = &life[idle[0] + 1] else { panic!("{:?}", life[idle[0] + 1]) };
    assert_eq!((*now, path.in_flight), (at(20_000), 0));
}

/// A packet that comes late is no loss: DSACK tells, and the reduction is undone.
#[test]
fn a_spurious_reduction_is_undone_once() {
    let recorder = Recorder::default();
    let undo = UndoOptions { dsack: true, ..UndoOptions::default() };
    let config = Config { undo, dsack: true, ..config(&recorder, "reno") };
    let late = nth(&[60], Fate::Delay(Span::from_millis(70)));
    let (life, _) = play(&config, &recorder, &[(500, 300)], late);
    assert_kept(&life);
    assert_eq!(causes(&life), [Cause::Loss]);
    assert_eq!(life.iter().filter(|call| matches!(call, Call::Undo)).count(), 1);
}

/// A trickle never fills the window; a bulk transfer does.
#[test]
fn what_limits_the_sender_is_told() {
    for (writes, limited) in
        [((0..50).map(|n| (500 + 20 * n, 1)).collect::<Vec<_>>(), true), (vec![(500, 400)], false)]
    {
        let recorder = Recorder::default();
        let (life, _) = play(&config(&recorder, "reno"), &recorder, &writes, nth(&[], Fate::Drop));
        assert_kept(&life);
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

/// BBR has a rate from the start: data leaves at it, not when ACKs come.
#[test]
fn data_leaves_at_the_rate_that_is_asked_for() {
    let recorder = Recorder::default();
    let (life, _) = play(&config(&recorder, "bbr"), &recorder, &[(500, 400)], nth(&[], Fate::Drop));
    assert_kept(&life);
    let dates: Vec<Time> = sent(&life).iter().map(|segment| segment.0).collect();
    let together = dates.chunk_by(|a, b| a == b).map(<[Time]>::len).max();
    assert_eq!(together, Some(2), "the burst of the pacer");
}
