//! When data asks for a SACK at once: the I bit (RFC 7053 §4, §5.1).

use super::*;
use crate::config::{Concurrent, ImmediateSacks};

const NONE: ImmediateSacks = ImmediateSacks {
    window_full: false,
    shutdown_pending: false,
    reconfiguration: false,
    last: false,
    messages: false,
};

/// A SACK for every second packet, the others after 200 ms; data asks for one as `when` says.
fn config(when: Option<ImmediateSacks>) -> Config {
    Config { sack_frequency: 2, immediate_sacks: when, ..plain(Config::rfc9260()) }
}

/// An established pair whose receiver has acknowledged a first packet, which it does at once.
fn begun(config: &Config) -> Pair<Association, impl FnMut(Side, &Packet) -> Fate + use<>> {
    let mut pair = pair(config, 1, deliver);
    pair.drive(at_ms(500));
    pair.client.write(1);
    pair.drive(at_ms(1000));
    pair
}

fn message(stream: u16, len: u32) -> Message {
    Message::new(stream, Payload::virtual_of(len))
}

/// No preset sets it: RFC 2960 and RFC 4960 have no such bit, RFC 9260 §6.1 says MAY.
#[test]
fn no_preset_asks_by_itself() {
    for name in crate::PRESETS {
        let config = Config::preset(name).unwrap();
        assert_eq!(config.immediate_sacks, None, "{name}");
        let mut pair = begun(&config);
        pair.client.write(9 * 1452);
        pair.client.close();
        pair.drive(at_ms(9000));
        assert_eq!(pair.server.observe().bytes_received, 9 * 1452 + 1);
        assert!(trace(&pair, 0).iter().all(|line| !line.contains(" I,") && !line.ends_with(" I")));
    }
}

/// §7: the user of a message asks; the bit stands on its last chunk, and on that again when it is
/// sent again.
#[test]
fn the_user_of_a_message_asks_on_its_last_chunk() {
    for interleaving in [false, true] {
        let config = Config { interleaving, ..config(None) };
        let mut pair = begun(&config);
        pair.client.send(message(1, 700)).unwrap();
        pair.client.send(Message { immediate: true, ..message(2, 1600) }).unwrap();
        pair.client.send(message(3, 100)).unwrap();
        pair.drive(at_ms(1100));
        let expected = match interleaving {
            false => ["1000 > DATA 2", "1000 > DATA 3", "1000 > DATA 4 I, DATA 5"],
            true => [
                "1000 > I-DATA 2 1/0",
                "1000 > I-DATA 3 2/0",
                "1000 > I-DATA 4 2/0 I, I-DATA 5 3/0",
            ],
        };
        assert_eq!(trace(&pair, 1000)[..3], expected);
        // The third packet is the second one's successor: without the bit its SACK would wait.
        assert_eq!(trace(&pair, 1000)[3..], ["1050 < SACK 3", "1050 < SACK 5"]);
    }
}

/// The same, lost: what is sent again asks again.
#[test]
fn a_retransmission_asks_as_the_first_transmission_did() {
    let mut pair = pair(&config(None), 1, drop_nth(&[1]));
    pair.drive(at_ms(1000));
    pair.client.send(Message { immediate: true, ..message(1, 100) }).unwrap();
    pair.drive(at_ms(3000));
    assert_eq!(trace(&pair, 1000), ["1000 > DATA 1 I x", "2000 > DATA 1 I", "2050 < SACK 1"]);
}

/// §7: the user's flag as a default, for messages that share a packet too.
#[test]
fn each_message_may_ask() {
    let mut pair = begun(&config(Some(ImmediateSacks { messages: true, ..NONE })));
    pair.client.send(message(1, 100)).unwrap();
    pair.client.send(message(1, 2000)).unwrap();
    pair.drive(at_ms(1100));
    let sent = ["1000 > DATA 2 I", "1000 > DATA 3", "1000 > DATA 4 I"];
    assert_eq!(trace(&pair, 1000)[..3], sent);
    assert_eq!(trace(&pair, 1000)[3..], ["1050 < SACK 2", "1050 < SACK 4"]);
}

/// Nothing more waits: the last packet asks, and its SACK is not 200 ms late.
#[test]
fn the_last_packet_may_ask() {
    for (last, bit, ms) in [(false, "", 1250), (true, " I", 1050)] {
        let mut pair = begun(&config(Some(ImmediateSacks { last, ..NONE })));
        pair.client.write(3 * 1452);
        pair.drive(at_ms(1990));
        let sent = ["1000 > DATA 2", "1000 > DATA 3"].map(str::to_owned);
        let end = [format!("1000 > DATA 4{bit}"), "1050 < SACK 3".into(), format!("{ms} < SACK 4")];
        assert_eq!(trace(&pair, 1000), [&sent[..], &end].concat());
    }
}

/// §5.1: what fills the congestion window asks, where more waits. Three packets fill that of RFC
/// 9260 at first, 4404 octets, and the third would wait for 200 ms for its SACK.
#[test]
fn what_fills_the_congestion_window_asks() {
    let lines = |window_full| {
        let mut pair = begun(&config(Some(ImmediateSacks { window_full, ..NONE })));
        pair.client.write(9 * 1452);
        pair.drive(at_ms(1180));
        trace(&pair, 1000)
    };
    assert_eq!(
        lines(true),
        [
            "1000 > DATA 2",
            "1000 > DATA 3",
            "1000 > DATA 4 I",
            "1050 < SACK 3",
            "1050 < SACK 4",
            // The first SACK releases three, the second two: slow start adds a packet for each.
            "1100 > DATA 5",
            "1100 > DATA 6",
            "1100 > DATA 7 I",
            "1100 > DATA 8",
            "1100 > DATA 9 I",
            "1150 < SACK 6",
            "1150 < SACK 7",
            "1150 < SACK 9",
        ]
    );
    assert_eq!(
        lines(false)[3..],
        [
            "1050 < SACK 3",
            "1100 > DATA 5",
            "1100 > DATA 6",
            "1100 > DATA 7",
            "1150 < SACK 5",
            "1150 < SACK 7"
        ]
    );
}

/// Max.Burst stops it: a receiver that waits for eight packets would let four of a burst wait for
/// its timer (docs/sctp.md).
#[test]
fn the_end_of_a_burst_asks() {
    let when = Some(ImmediateSacks { window_full: true, ..NONE });
    let rare = Config {
        sack_frequency: 8,
        initial_window: crate::InitialWindow::Mtus(20),
        ..config(when)
    };
    let mut pair = begun(&rare);
    pair.client.write(20 * 1452);
    pair.drive(at_ms(1080));
    let lines = trace(&pair, 1000);
    assert_eq!(
        lines[..5],
        ["1000 > DATA 2", "1000 > DATA 3", "1000 > DATA 4", "1000 > DATA 5 I", "1050 < SACK 5"]
    );
}

/// §5.1: what fills the receive window asks.
#[test]
fn what_fills_the_receive_window_asks() {
    let when = Some(ImmediateSacks { window_full: true, ..NONE });
    let small = Config {
        receive_buffer: 3000,
        initial_window: crate::InitialWindow::Mtus(20),
        max_burst: None,
        ..config(when)
    };
    let mut pair = begun(&small);
    pair.client.write(3 * 1452);
    pair.drive(at_ms(1090));
    assert_eq!(trace(&pair, 1000), ["1000 > DATA 2", "1000 > DATA 3 I", "1050 < SACK 3"]);
}

/// After T3-rtx one packet leaves, and the rest waits for its SACK (RFC 9260 §6.3.3 E3): it fills
/// what the window has come down to.
#[test]
fn the_one_packet_after_a_timeout_asks() {
    let when = Some(ImmediateSacks { window_full: true, ..NONE });
    let mut pair = pair(&config(when), 1, drop_nth(&[2, 3, 4]));
    pair.drive(at_ms(500));
    pair.client.write(1);
    pair.drive(at_ms(1000));
    pair.client.write(3 * 1452);
    pair.drive(at_ms(2500));
    assert_eq!(
        trace(&pair, 1001),
        ["2000 > DATA 2 I", "2050 < SACK 2", "2100 > DATA 3", "2100 > DATA 4", "2150 < SACK 4"]
    );
}

/// §5.1: SHUTDOWN-PENDING; the SHUTDOWN follows a round trip after the last data.
#[test]
fn what_the_end_waits_for_asks() {
    for (shutdown_pending, bit, acked) in [(false, "", 1250), (true, " I", 1050)] {
        let mut pair = begun(&config(Some(ImmediateSacks { shutdown_pending, ..NONE })));
        pair.client.write(100);
        pair.client.close();
        pair.drive(at_ms(3000));
        let expected = [
            format!("1000 > DATA 2{bit}"),
            format!("{acked} < SACK 2"),
            format!("{} > SHUTDOWN 0", acked + 50),
        ];
        assert_eq!(trace(&pair, 1000)[..3], expected);
    }
}

/// What was sent before the end and is sent again asks no more than it did then, as FreeBSD has it;
/// what was sent in SHUTDOWN-PENDING asks again.
#[test]
fn what_is_sent_again_before_the_end_asks_as_it_did() {
    let when = Some(ImmediateSacks { shutdown_pending: true, ..NONE });
    for (closes_first, bit) in [(true, " I"), (false, "")] {
        let mut pair = pair(&config(when), 1, drop_nth(&[1]));
        pair.drive(at_ms(1000));
        pair.client.write(100);
        if closes_first {
            pair.client.close();
        }
        pair.drive(at_ms(1010));
        pair.client.close();
        pair.drive(at_ms(2010));
        assert_eq!(
            trace(&pair, 1000),
            [format!("1000 > DATA 1{bit} x"), format!("2000 > DATA 1{bit}")]
        );
    }
}

/// §4.2: a reset of all numbers waits until nothing is outstanding (RFC 6525 §5.1.4).
#[test]
fn what_a_change_of_streams_waits_for_asks() {
    for (reconfiguration, bit, acked) in [(false, "", 1250), (true, " I", 1050)] {
        let when = Some(ImmediateSacks { reconfiguration, ..NONE });
        let mut pair = begun(&Config { reconfiguration: true, ..config(when) });
        pair.client.send(message(1, 100)).unwrap();
        pair.client.reset_association().unwrap();
        pair.drive(at_ms(acked + 90));
        let expected = [
            format!("1000 > DATA 2{bit}"),
            format!("{acked} < SACK 2"),
            format!("{} > RE-CONFIG", acked + 50),
        ];
        assert_eq!(trace(&pair, 1000)[..3], expected);
    }
}

/// Of concurrent transfer each path asks for itself.
#[test]
fn each_path_of_a_concurrent_transfer_asks() {
    let when = Some(ImmediateSacks { window_full: true, ..NONE });
    let concurrent = Some(Concurrent::default());
    let mut pair = pair(&Config { concurrent, ..config(when) }, 2, deliver);
    pair.drive(at_ms(1000));
    pair.client.write(30 * 1452);
    pair.drive(at_ms(1010));
    let asks: Vec<String> = trace(&pair, 1000).into_iter().filter(|l| l.ends_with('I')).collect();
    assert_eq!(asks, ["1000 > DATA 5 I", "1000 >' DATA 6 I"]);
}
