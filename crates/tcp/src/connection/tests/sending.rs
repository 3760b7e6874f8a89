//! When data waits and what marks it: Nagle, Minshall, corking, the silly
//! window, PSH, the urgent pointer, idle restart.

use super::solo::Solo;
use super::*;
use crate::config::{Nagle, WindowProbe, WindowUse};
use anabranch_wire::{SackBlock, Timestamps};

fn config() -> Config {
    Config { idle_restart: false, ..classic(Recovery::Sack { pipe: Pipe::Rfc6675, prr: false }) }
}

/// RFC 9293 §3.7.4: one small segment may be outstanding, the rest collects.
#[test]
fn nagle_collects_small_writes() {
    let mut s = Solo::established(&Config { nagle: Nagle::Rfc, ..config() });
    s.end.write(100);
    assert_eq!(s.sent(), ["P. 1:100 1"]);
    s.end.write(100);
    s.end.write(200);
    assert!(s.sent().is_empty());
    assert_eq!(s.arrives(".", 1, 101, 0), ["P. 101:300 1"]);
    // A full segment leaves at once, what is over waits.
    s.end.write(1500);
    assert_eq!(s.sent(), [". 401:1000 1"]);
    // MUST-17: the user can switch it off.
    s.end.set_no_delay(true);
    assert_eq!(s.sent(), ["P. 1401:500 1"]);
}

#[test]
fn nagle_does_not_hold_back_the_end_of_the_stream() {
    let mut s = Solo::established(&Config { nagle: Nagle::Rfc, ..config() });
    s.end.write(1500);
    assert_eq!(s.sent(), [". 1:1000 1"]);
    s.end.close();
    assert_eq!(s.sent(), ["FP. 1001:500 1"]);
}

/// Minshall: full segments outstanding hold nothing back, a short one does.
#[test]
fn minshall_waits_for_short_segments_only() {
    let mut s = Solo::established(&Config { nagle: Nagle::Minshall, ..config() });
    s.end.write(1500);
    assert_eq!(s.sent(), [". 1:1000 1", "P. 1001:500 1"]);
    s.end.write(100);
    assert!(s.sent().is_empty());
    assert!(s.arrives(".", 1, 1001, 0).is_empty()); // the short one is still out
    assert_eq!(s.arrives(".", 1, 1501, 0), ["P. 1501:100 1"]);
}

#[test]
fn a_cork_lets_full_segments_pass_and_gives_way_after_200_ms() {
    let mut s = Solo::established(&config());
    s.end.set_corked(true);
    s.end.write(1500);
    assert_eq!(s.sent(), [". 1:1000 1"]);
    assert_eq!(s.until(300), ["300 P. 1001:500 1"]);
    s.arrives(".", 1, 1501, 0);
    s.end.write(10);
    assert!(s.sent().is_empty());
    s.end.set_corked(false);
    assert_eq!(s.sent(), ["P. 1501:10 1"]);
    assert!(s.arrives(".", 1, 1511, 0).is_empty());
    assert_eq!(s.end.poll_timeout(), Time::NEVER, "nothing is left armed");
}

/// RFC 9293 §3.8.6.2.1: less than half the largest window waits for more of
/// it, at most for the override timeout of a second.
#[test]
fn a_silly_window_is_not_used_at_once() {
    let mut s = Solo::established(&config());
    s.end.write(5000);
    assert_eq!(s.sent().len(), 3); // the initial window
    let mut ack = s.segment(".", 1, 3001, 0);
    ack.window = 400;
    assert!(s.deliver(ack).is_empty(), "nothing is in flight, and still it waits");
    assert_eq!(s.until(1_200), ["1100 . 3001:400 1"]);
    // Half the largest window is not silly though less than a segment.
    let mut s = Solo::established(&config());
    s.end.sender.peer_window.largest = 800;
    s.end.write(5000);
    s.sent();
    let mut ack = s.segment(".", 1, 3001, 0);
    ack.window = 400;
    assert_eq!(s.deliver(ack), [". 3001:400 1"]);
}

/// §3.8.6: the peer takes back part of its window. Nothing new leaves; what
/// is outstanding beyond it stays so, and is sent again when it opens.
#[test]
fn a_shrinking_window_is_survived() {
    let mut s = Solo::established(&config());
    s.end.write(3000);
    assert_eq!(s.sent().len(), 3);
    let mut ack = s.segment(".", 1, 1001, 0);
    ack.window = 0;
    assert!(s.deliver(ack).is_empty());
    // The timer goes back; the window being shut, one octet probes it.
    let probes = s.until(6_000);
    assert!(!probes.is_empty() && probes.iter().all(|p| p.contains(" 1001:1 1")), "{probes:?}");
    assert_eq!(s.arrives(".", 1, 1001, 0), [". 1001:1000 1"]);
    assert_eq!(s.arrives(".", 1, 3001, 0), [""; 0]);
}

/// §3.9.1.2 MUST-61: PSH on the last segment of what is queued, and only there.
#[test]
fn push_marks_the_end_of_what_is_queued() {
    let mut s = Solo::established(&config());
    s.end.write(2500);
    assert_eq!(s.sent(), [". 1:1000 1", ". 1001:1000 1", "P. 2001:500 1"]);
}

/// `__tcp_transmit_skb`: the segments that leave together are packets of two at this rate, with PSH on
/// the second, and a third by itself has none; half a window at most is a packet.
#[test]
fn offloaded_segments_that_leave_together_end_with_psh() {
    let config = Config { segmentation_offload: true, ..config() };
    let mut s = Solo::established(&config);
    s.end.write(20_000);
    assert_eq!(s.sent(), [". 1:1000 1", ". 1001:1000 1", ". 2001:1000 1"]);
    s.now = at_ms(100);
    let three = [". 3001:1000 1", "P. 4001:1000 1", ". 5001:1000 1"];
    assert_eq!(s.arrives(".", 1, 2001, 0), three);
    assert_eq!(s.arrives(".", 1, 3001, 0), [". 6001:1000 1", "P. 7001:1000 1"]);
}

/// §3.8.5 and RFC 6093 §3.1: the pointer names the octet after the urgent
/// data; the mark reaches a peer whose window is closed.
#[test]
fn the_urgent_pointer_names_the_octet_after() {
    let mut s = Solo::established(&config());
    let mut shut = s.segment(".", 1, 1, 0);
    shut.window = 0;
    s.deliver(shut);
    s.end.write(1500);
    s.end.mark_urgent();
    let ack = s.end.poll_transmit(s.now).unwrap();
    assert_eq!((tcp(&ack).flags.contains(TcpFlags::URG), tcp(&ack).urgent), (true, 1500));
    s.deliver(s.segment(".", 1, 1, 0)); // opens; both segments left
    s.end.write(100);
    let last = s.end.poll_transmit(s.now).unwrap();
    assert!(!tcp(&last).flags.contains(TcpFlags::URG), "beyond the mark");
}

#[test]
fn the_reader_hears_of_an_urgent_mark() {
    let mut s = Solo::established(&config());
    let mut data = s.segment("U.", 1, 1, 500);
    data.urgent = 700;
    s.deliver(data.clone());
    assert_eq!(s.events(), [Event::Readable, Event::Urgent]);
    assert_eq!(s.end.urgent_ahead(), 700);
    s.end.read(500);
    assert_eq!(s.end.urgent_ahead(), 200);
    data.seq = data.seq.add(500); // the same pointer again, from further on
    data.urgent = 200;
    s.deliver(data);
    assert_eq!(s.events(), [Event::Readable], "heard of once");
    s.end.read(500);
    assert_eq!(s.end.urgent_ahead(), 0);
}

/// RFC 5681 §4.1.
#[test]
fn an_idle_connection_restarts_from_the_initial_window() {
    for (idle_restart, first) in [(true, 3), (false, 6)] {
        let config = Config { idle_restart, ..config() };
        let mut pair = pair(&config, |_, _| Fate::Deliver);
        pair.client.write(9000);
        pair.drive(at_ms(10_000));
        pair.client.write(9000);
        pair.drive(at_ms(10_050));
        let rounds = rounds(&pair);
        assert_eq!(rounds.last().unwrap().1.len(), first, "{rounds:?}");
    }
}

/// Linux's quick ACKs: the first segments are acknowledged one by one.
#[test]
fn the_first_segments_are_acknowledged_at_once() {
    let delayed_ack = DelayedAck { count: 2, delay: Span::from_millis(40) };
    let mut s = Solo::established(&Config { quick_acks: 2, delayed_ack, ..config() });
    assert_eq!(s.arrives(".", 1, 1, 1000), [". 1:0 1001"]);
    assert_eq!(s.arrives(".", 1001, 1, 1000), [". 1:0 2001"]);
    assert_eq!(s.arrives(".", 2001, 1, 1000), [""; 0]);
    assert_eq!(s.arrives(".", 3001, 1, 1000), [". 1:0 4001"]);
}

/// RFC 9293 §3.9.1.2: once the user marks pushes, they and nothing else set
/// PSH; a FIN alone has none.
#[test]
fn pushes_that_are_marked_set_psh() {
    let mut s = Solo::established(&config());
    s.end.hold_pushes();
    s.end.write(1500);
    assert_eq!(s.sent(), [". 1:1000 1", ". 1001:500 1"]);
    s.end.write(500);
    s.end.push();
    s.end.write(700);
    assert_eq!(s.arrives(".", 1, 1501, 0), ["P. 1501:1000 1", ". 2501:200 1"]);
    s.arrives(".", 1, 2701, 0);
    s.end.close();
    assert_eq!(s.sent(), ["F. 2701:0 1"]);
}

/// As `MSG_EOR` asks: what follows the end of a record begins a segment, also when it leaves
/// again.
#[test]
fn no_segment_crosses_a_cut_nor_waits_before_it() {
    let mut s = Solo::established(&Config { nagle: Nagle::Rfc, ..config() });
    s.end.write(1300);
    s.end.cut();
    s.end.write(100);
    s.end.cut();
    s.end.write(900);
    s.end.push();
    assert_eq!(s.sent(), [". 1:1000 1", ". 1001:300 1", ". 1301:100 1"]);
    assert_eq!(s.until(2000).last().map(String::as_str), Some("1100 . 1:1000 1"));
    assert_eq!(s.arrives(".", 1, 1001, 0), [". 1001:300 1", ". 1301:100 1"]);
}

/// `MSG_MORE`: until the next ACK, 200 ms, or the word that no more comes.
#[test]
fn more_that_is_coming_holds_back_a_short_segment() {
    let mut s = Solo::established(&config());
    s.end.set_more_coming(true);
    s.end.write(100);
    assert!(s.sent().is_empty());
    s.end.write(100);
    s.end.set_more_coming(false);
    assert_eq!(s.sent(), ["P. 1:200 1"]);
    s.end.set_more_coming(true);
    s.end.write(50);
    assert!(s.sent().is_empty());
    assert_eq!(s.arrives(".", 1, 201, 0), ["P. 201:50 1"]);
    s.end.set_more_coming(true);
    s.end.write(50);
    assert!(s.sent().is_empty());
    let from = s.now.as_millis();
    assert_eq!(s.until(from + 300), [format!("{} P. 251:50 1", from + 200)]);
}

/// As Linux probes a closed window: below it, without data.
#[test]
fn an_empty_probe_repeats_an_acknowledged_number() {
    let mut s = Solo::established(&Config { window_probe: WindowProbe::Empty, ..config() });
    s.end.write(500);
    s.sent();
    let mut shut = s.segment(".", 1, 501, 0);
    shut.window = 0;
    s.deliver(shut);
    s.end.write(300);
    assert!(s.sent().is_empty());
    let probes = s.until(s.now.as_millis() + 4000);
    assert!(probes.len() >= 2 && probes.iter().all(|p| p.ends_with(". 500:0 1")), "{probes:?}");
    assert_eq!(s.arrives(".", 1, 501, 0), ["P. 501:300 1"]);
}

/// As Linux lets a window grow: what was outstanding, doubled in slow start.
#[test]
fn a_window_that_was_used_in_part_grows_in_part() {
    let mut s = Solo::established(&Config {
        window_use: WindowUse::Outstanding,
        initial_window: InitialWindow::Segments(10),
        initial_ssthresh: None,
        counting: Counting::Delivered,
        window: Algorithm::from_name("reno").unwrap(),
        ..config()
    });
    s.end.write(6000);
    s.sent();
    s.arrives(".", 1, 2001, 0);
    assert_eq!(s.end.observe().cwnd, 12_000);
    s.arrives(".", 1, 4001, 0);
    s.arrives(".", 1, 6001, 0);
    assert_eq!(s.end.observe().cwnd, 12_000);
}

/// A repeated SYN gets the SYN-ACK again.
#[test]
fn a_repeated_syn_is_answered_as_the_first() {
    let mut s = Solo::server(&config());
    let syn = s.segment("S", 0, 0, 0);
    let (first, again) = (s.deliver(syn.clone()), s.deliver(syn));
    assert_eq!(first, again);
    assert!(first[0].starts_with("S."), "{first:?}");
}

/// What one ACK tells has no order: what it acknowledges was not overtaken by
/// what it SACKs, nor one of its blocks by another.
#[test]
fn blocks_of_one_ack_are_no_reordering() {
    let config = Config { timestamps: false, ..Config::linux() };
    let mut s = Solo::established(&config);
    s.end.write(9000);
    s.sent();
    let mut ack = s.segment(".", 1, 1001, 0);
    let at = |offset: u32| Serial32(s.end.iss.0.wrapping_add(offset));
    for (left, right) in [(6001, 9001), (3001, 4001)] {
        ack.options.sack.push(SackBlock { left: at(left), right: at(right) });
    }
    assert_eq!(
        s.deliver(ack),
        [". 1001:1000 1", ". 2001:1000 1", ". 4001:1000 1", ". 5001:1000 1"]
    );
    assert_eq!(s.end.info().reordering, 3);
}

/// RFC 9293 §3.7.1: what reports the peer's losses is taken off the payload, or
/// the packet would be too large for the path.
#[test]
fn sack_blocks_make_segments_shorter() {
    for (timestamps, room, most) in [(false, [12, 20, 28, 36], 4), (true, [12, 20, 28, 28], 3)] {
        let mut s = Solo::established(&Config { timestamps, ..config() });
        let full = s.end.sender.mss;
        s.end.write(40_000);
        s.sent();
        for (n, room) in (1..).zip(room) {
            // The peer's data arrives with holes, and opens the window.
            let mut segment = s.segment(".", 2000 * n, 1 + s.end.sender.max as i64 - 1, 1000);
            if timestamps {
                let echo = s.end.ends.timestamp(s.now);
                segment.options.timestamps = Some(Timestamps { value: 1000, echo });
            }
            let packet = Packet::new(s.end.ends.remote.0, s.end.ends.local.0, Body::Tcp(segment));
            s.end.handle_input(s.now, &packet);
            let data = std::iter::from_fn(|| s.end.poll_transmit(s.now));
            let data: Vec<_> = data.filter(|packet| packet.payload_len() > 0).collect();
            assert!(!data.is_empty());
            for packet in data {
                let Body::Tcp(segment) = &packet.body else { unreachable!() };
                let blocks = segment.options.sack.as_slice().len();
                assert_eq!(blocks, most.min(n as usize));
                assert_eq!(packet.payload_len() as u64, full - room);
                assert!(packet.wire_len().0 <= 1000 + 40);
            }
        }
    }
}

/// RFC 9293 §3.7.1 (MUST-15): a peer that announces no size takes 536 octets over IPv4, 1220 over
/// IPv6.
#[test]
fn a_peer_that_announces_no_size_gets_small_segments() {
    for (default_mss, sent) in [(Config::DEFAULT_MSS, 536), (Config::DEFAULT_MSS_V6, 1220)] {
        let mut s = Solo::client(&Config { default_mss, mss: 1460, ..config() });
        s.end.connect(Time::ZERO);
        s.sent();
        s.arrives("S.", 0, 1, 0);
        s.end.write(10_000);
        assert_eq!(s.sent()[0], format!(". 1:{sent} 1"));
    }
}

/// A user may ask for data before there is a peer.
#[test]
fn reading_before_the_handshake_gives_nothing() {
    for config in [Config::default(), Config::linux()] {
        let mut s = Solo::client(&config);
        assert_eq!(s.end.read(100), 0);
        assert!(s.sent().is_empty());
    }
}
