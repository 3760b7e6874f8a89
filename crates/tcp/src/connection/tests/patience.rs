//! How long a connection waits: SYNs, keep-alives, user timeout, R1.

use super::solo::{PEER, Solo};
use super::*;
use crate::config::KeepAlive;

fn config() -> Config {
    classic(Recovery::Sack { pipe: Pipe::Rfc6675, prr: false })
}

/// RFC 9293 §3.8.3 (MUST-23): SYNs are repeated for three minutes at least.
#[test]
fn an_unanswered_syn_is_repeated_for_three_minutes() {
    let mut s = Solo::client(&config());
    s.end.connect(Time::ZERO);
    assert_eq!(s.sent(), ["S 0:0"]);
    let dates: Vec<String> =
        s.until(600_000).iter().map(|l| l.split(' ').next().unwrap().to_owned()).collect();
    assert_eq!(dates, ["1000", "3000", "7000", "15000", "31000", "63000", "123000"]);
    assert_eq!(s.events(), [Event::Stalled, Event::Closed(CloseReason::TimedOut)]);
}

/// As Linux does since 6.5: the first timeouts of a SYN do not double, and do not count
/// towards the limit. With its defaults the last SYN leaves after 67 s, and the attempt ends
/// after 131 s.
#[test]
fn the_first_timeouts_of_a_syn_may_be_linear() {
    let config = Config { syn_linear_timeouts: 4, syn_retries: 6, ..config() };
    let config = Config { rto: Config::linux().rto, ..config };
    let mut s = Solo::client(&config);
    s.end.connect(Time::ZERO);
    s.sent();
    let dates = |lines: Vec<String>| -> Vec<String> {
        lines.iter().map(|l| l.split(' ').next().unwrap().to_owned()).collect()
    };
    let linear = ["1000", "2000", "3000", "4000", "5000", "7000", "11000", "19000", "35000"];
    assert_eq!(dates(s.until(66_000)), linear);
    assert_eq!(dates(s.until(130_000)), ["67000"]);
    assert_eq!(s.events(), [Event::Stalled]);
    assert_eq!(dates(s.until(132_000)), [""; 0]);
    assert_eq!(s.events(), [Event::Closed(CloseReason::TimedOut)]);
}

#[test]
fn syn_acks_have_a_limit_of_their_own() {
    let mut s = Solo::server(&Config { syn_ack_retries: 1, ..config() });
    assert_eq!(s.arrives("S", 0, 0, 0), ["S. 0:0 1"]);
    assert_eq!(s.until(60_000), ["1000 S. 0:0 1", "3000 R. 1:0 1"]);
    assert_eq!(s.events(), [Event::Closed(CloseReason::TimedOut)]);
}

/// RFC 6298 §5.7 and RFC 5681 §3.1: after a lost SYN the timeout is 3 s and
/// the window one segment; RFC 6928 §2 keeps its window after one loss.
#[test]
fn a_lost_syn_makes_the_start_careful() {
    for (initial_window, losses, sent) in [
        (InitialWindow::Rfc3390, 0, 4),
        (InitialWindow::Rfc3390, 1, 1),
        (InitialWindow::Rfc6928, 1, 10),
        (InitialWindow::Rfc6928, 2, 1),
        (InitialWindow::Segments(3), 2, 3),
    ] {
        let mut s = Solo::client(&Config { initial_window, ..config() });
        s.end.connect(Time::ZERO);
        s.end.write(1 << 20);
        s.sent();
        s.until([100, 1_100, 3_100][losses]);
        let mut syn = s.segment("S.", 0, 1, 0);
        syn.options.mss = Some(1000);
        syn.window = 0xffff;
        assert_eq!(s.deliver(syn).len(), sent, "{initial_window:?} after {losses} losses");
        if losses > 0 {
            assert_eq!(s.end.sender.rtt.rto(), Span::from_secs(3));
        }
    }
}

fn kept_alive() -> Solo {
    let (idle, interval) = (Span::from_secs(10), Span::from_secs(2));
    let keep_alive = Some(KeepAlive { idle, interval, probes: 2 });
    Solo::established(&Config { keep_alive, ..config() })
}

/// RFC 9293 §3.8.4: silence, then probes one octet back without data, then a
/// reset.
#[test]
fn a_dead_peer_is_found_out() {
    let mut s = kept_alive();
    assert_eq!(s.until(60_000), ["10100 . 0:0 1", "12100 . 0:0 1", "14100 R. 1:0 1"]);
    assert_eq!(s.events(), [Event::Closed(CloseReason::TimedOut)]);
}

/// MUST-24: for each connection, at any time. What was silent before does not count where nobody
/// looked; with a shorter idle time the silence so far does.
#[test]
fn keep_alives_are_switched_on_and_off_on_a_connection() {
    let mut s = Solo::established(&config());
    let set = |s: &mut Solo, idle: Option<u64>| {
        let keep_alive = idle.map(|idle| {
            let (idle, interval) = (Span::from_secs(idle), Span::from_secs(2));
            KeepAlive { idle, interval, probes: 2 }
        });
        s.end.reconfigure(|config| config.keep_alive = keep_alive);
    };
    s.until(20_000);
    set(&mut s, Some(10));
    assert_eq!(s.until(30_500), ["30000 . 0:0 1"]);
    s.arrives(".", 1, 1, 0);
    set(&mut s, Some(5));
    assert_eq!(s.until(36_000), ["35500 . 0:0 1"]);
    set(&mut s, None);
    assert_eq!(s.until(100_000), [""; 0]);
    assert_eq!(s.end.state(), State::Established);
}

#[test]
fn a_peer_that_answers_is_left_alone() {
    let mut s = kept_alive();
    assert_eq!(s.until(12_500), ["10100 . 0:0 1", "12100 . 0:0 1"]);
    s.arrives(".", 1, 1, 0);
    assert_eq!(s.until(22_000), [""; 0]);
    assert_eq!(s.until(23_000), ["22500 . 0:0 1"]);
    // MUST-26 and the rest: not while data is outstanding.
    s.end.write(100);
    s.sent();
    assert!(s.until(40_000).iter().all(|l| l.contains("1:100")));
}

/// §3.8.4: the answer to a keep-alive is an ACK, whatever it carries.
#[test]
fn a_keep_alive_is_answered() {
    let mut s = Solo::established(&config());
    assert_eq!(s.arrives(".", 0, 1, 0), [". 1:0 1"]);
    assert_eq!(s.arrives(".", 0, 1, 1), [". 1:0 1"]);
    assert_eq!(s.end.receiver.irs, PEER);
}

/// §3.10.7.4: the peer looks at no ACK of a segment outside of its window, so one that
/// is owed does not ride on a keep-alive.
#[test]
fn a_keep_alive_carries_no_acknowledgment_that_is_owed() {
    let delayed_ack = DelayedAck { count: 2, delay: Span::from_millis(100) };
    let mut s = Solo::established(&Config { delayed_ack, ..config() });
    assert_eq!(s.arrives(".", 1, 1, 1000), [""; 0], "it waits");
    s.end.ask_peer_for_ack();
    assert_eq!(s.sent(), [". 1:0 1001", ". 0:0 1001"]);
}

/// RFC 5482: data that goes unacknowledged ends the connection, an idle
/// connection or a closed window that is confirmed does not.
#[test]
fn the_user_timeout_is_about_unacknowledged_data() {
    let config = Config { user_timeout: Some(Span::from_secs(5)), ..config() };
    let mut s = Solo::established(&config);
    s.until(60_000);
    s.end.write(2000);
    assert_eq!(s.sent().len(), 2);
    s.until(64_000);
    s.arrives(".", 1, 1001, 0);
    assert!(s.until(68_999).iter().all(|l| !l.contains('R')));
    assert_eq!(s.until(69_000), ["69000 R. 2001:0 1"]);
    assert_eq!(s.events().last(), Some(&Event::Closed(CloseReason::TimedOut)));

    let mut s = Solo::established(&config);
    s.end.write(1000);
    s.sent();
    let mut shut = s.segment(".", 1, 1001, 0);
    shut.window = 0;
    s.deliver(shut.clone());
    s.end.write(1000);
    for seconds in 1..60 {
        s.until(seconds * 1000);
        s.deliver(shut.clone());
    }
    assert_eq!(s.end.state(), State::Established);
}

/// The SYN counts as data that must be acknowledged.
#[test]
fn the_user_timeout_covers_the_handshake() {
    let mut s = Solo::client(&Config { user_timeout: Some(Span::from_millis(2_500)), ..config() });
    s.end.connect(Time::ZERO);
    s.sent();
    assert_eq!(s.until(60_000), ["1000 S 0:0"]);
    assert_eq!(s.events(), [Event::Closed(CloseReason::TimedOut)]);
}

/// §3.8.3 (a) and (b): R1 tells the user, R2 gives up.
#[test]
fn the_user_hears_of_trouble_before_the_end() {
    let mut s = Solo::established(&Config { max_retries: 4, stalled_after: 2, ..config() });
    s.end.write(100);
    s.sent();
    s.until(4_000);
    assert_eq!(s.events(), [Event::Stalled]);
    s.until(600_000);
    assert_eq!(s.events(), [Event::Closed(CloseReason::TimedOut)]);
}

/// §3.10.7.4: a reset before what the peer has is not heard. One after a timeout is numbered
/// behind all that was ever sent, whatever of it is about to be sent again.
#[test]
fn the_end_after_a_timeout_is_behind_all_that_was_sent() {
    let mut s = Solo::established(&Config { max_retries: 1, ..config() });
    s.end.write(3000);
    assert_eq!(s.sent().len(), 3);
    let last = s.until(60_000).pop().unwrap();
    assert!(last.contains("R. 3001:0"), "{last}");
}

/// RFC 9293 §3.8.6.1 (MUST-37): a closed window is probed for as long as the peer answers. Without
/// an answer the connection ends as with data (§3.8.3, R2), whatever the probes are made of.
#[test]
fn probes_without_answers_are_given_up() {
    use crate::config::WindowProbe::{Empty, Octet};
    for (window_probe, is_heard) in [(Octet, true), (Octet, false), (Empty, true), (Empty, false)] {
        let mut s = Solo::established(&Config { window_probe, max_retries: 4, ..config() });
        s.end.write(2000);
        s.sent();
        let closed = |s: &Solo| TcpSegment { window: 0, ..s.segment(".", 1, 2001, 0) };
        s.deliver(closed(&s));
        s.end.write(1000);
        let mut probes = s.sent().len();
        for second in 1..=100 {
            let sent = s.until(1000 * second);
            let is_over = sent.iter().any(|line| line.contains("R."));
            probes += sent.len() - usize::from(is_over);
            if is_heard && !sent.is_empty() {
                s.deliver(closed(&s));
            }
        }
        match is_heard {
            true => assert!(probes > 4 && s.events().is_empty(), "{window_probe:?} {probes}"),
            false => {
                assert_eq!(s.events().last(), Some(&Event::Closed(CloseReason::TimedOut)));
                assert_eq!(probes, 4, "{window_probe:?}");
            }
        }
    }
}

/// What the interface does not take is tried again every half second, and says
/// nothing of the network; the user timeout runs from the first try.
#[test]
fn a_full_interface_is_no_congestion() {
    let user_timeout = Some(Span::from_millis(1500));
    let mut s = Solo::established(&Config { user_timeout, ..config() });
    let rto = s.end.observe().rto.as_millis();
    s.end.set_device_full(true);
    s.end.write(1000);
    assert_eq!(s.sent(), [""; 0]);
    assert_eq!(s.until(100 + rto + 1499), [""; 0]);
    let seen = s.end.observe();
    assert_eq!((seen.timeouts, seen.packets_sent, s.end.info().probes), (0, 0, 3));
    s.until(100 + rto + 1500);
    assert_eq!(s.events(), [Event::Closed(CloseReason::TimedOut)]);
}

#[test]
fn an_interface_that_takes_packets_again_gets_them() {
    let mut s = Solo::established(&config());
    let cwnd = s.end.observe().cwnd;
    s.end.write(1000);
    assert_eq!(s.sent(), ["P. 1:1000 1"]);
    s.end.set_device_full(true);
    s.end.write(1000);
    assert_eq!(s.sent(), [""; 0]);
    s.until(5_000); // the first segment's timeout passes, and is none
    s.end.set_device_full(false);
    assert_eq!(s.end.observe().timeouts, 0);
    assert_eq!(s.sent(), ["P. 1001:1000 1"]);
    assert_eq!(s.arrives(".", 1, 2001, 0), [""; 0]);
    assert!(s.end.observe().cwnd >= cwnd);
}

/// An answer that echoes a timestamp of before the connection, or of the
/// future, is no answer to its SYN.
#[test]
fn a_syn_ack_must_echo_the_own_clock() {
    let config = Config { timestamps: true, ..config() };
    // Of the date of the echo, in milliseconds.
    for (at, opened) in [
        (Some(1000), true),
        (Some(1050), true),
        (Some(999), false),
        (Some(1099), false),
        (None, true),
    ] {
        let mut s = Solo::client(&config);
        s.now = at_ms(1000);
        s.end.connect(s.now);
        s.sent();
        s.now = at_ms(1050);
        let mut syn = s.segment("S.", 0, 1, 0);
        let echo = at.map_or(0, |ms| s.end.ends.timestamp(at_ms(ms)));
        syn.options.timestamps = Some(anabranch_wire::Timestamps { value: 7, echo });
        let answer = s.deliver(syn);
        assert_eq!(s.end.state() == State::Established, opened, "{at:?}: {answer:?}");
        assert_eq!(answer == ["R 1:0"], !opened, "{answer:?}");
    }
}
