//! A window that grows with the data that comes, as in Linux.

use super::solo::Solo;
use super::*;

/// Segments of 1000 octets each way, without timestamps; from 10,000 to 20,000
/// octets.
fn config() -> Config {
    Config {
        mss: 1000,
        timestamps: false,
        receive_buffer: 20_000,
        initial_receive_window: InitialReceiveWindow::Share(0.5),
        ..Config::default()
    }
}

/// The `n`-th segment from 0 comes and is read; the window of its ACK, if one
/// leaves at once.
fn comes(s: &mut Solo, n: i64) -> Option<u64> {
    s.now += Span::from_millis(1);
    let segment = s.segment(".", 1 + n * 1000, 1, 1000);
    let packet = Packet::new(s.end.ends.remote.0, s.end.ends.local.0, Body::Tcp(segment));
    s.end.handle_input(s.now, &packet);
    s.end.read(u64::MAX);
    let answer = s.end.poll_transmit(s.now)?;
    assert!(s.end.poll_transmit(s.now).is_none());
    Some(tcp(&answer).window as u64)
}

/// Five segments fill what is left to grow, 2000 octets each, and are
/// acknowledged; then every second is. When a segment comes it takes a place in
/// the buffer: the window ends one below it.
#[test]
fn segments_by_which_the_window_grows_are_acknowledged_at_once() {
    let mut s = Solo::established(&config());
    assert_eq!(s.end.receiver.window(), 10_000);
    let windows: Vec<_> = (0..9).map(|n| comes(&mut s, n)).collect();
    let grown = [12_000, 14_000, 16_000, 18_000, 19_000].map(Some);
    assert_eq!(windows[..5], grown);
    assert_eq!(windows[5..], [None, Some(19_000), None, Some(19_000)]);
}

/// Small segments move nothing, so that the window stays at one segment: its edge must follow what is
/// read by half of that window (RFC 9293 §3.8.6.2.2), which is all that there is to advertise.
#[test]
fn a_window_of_one_segment_goes_on_opening() {
    for initial in [1000, 999, 500, 100, 64] {
        let start = InitialReceiveWindow::Octets(initial);
        let config = Config { initial_receive_window: start, ..config() };
        let mut pair = pair(&config, |_, _| Fate::Deliver);
        pair.drive(at_ms(1000));
        for n in 1..=60 {
            pair.client.write(100);
            pair.drive(at_ms(1000 + n * 1000));
        }
        assert_eq!(pair.server.observe().bytes_received, 6000, "{initial}");
    }
}

/// Shifted by 7 and by 14, windows of less than 128 and 16,384 octets are zero (RFC 7323 §2.3).
#[test]
fn a_window_below_the_unit_of_its_scale_goes_on_opening() {
    let start = InitialReceiveWindow::Octets;
    for (buffer, most, initial) in [
        (6 << 20, None, start(64)),
        (6 << 20, None, start(130)),
        (16_000, Some(1 << 30), InitialReceiveWindow::Whole),
        (100, Some(1 << 20), InitialReceiveWindow::Whole),
    ] {
        let config = Config {
            mss: 64,
            receive_buffer: buffer,
            receive_buffer_max: most,
            initial_receive_window: initial,
            ..config()
        };
        let mut pair = pair(&config, |_, _| Fate::Deliver);
        pair.client.write(20_000);
        pair.drive(at_ms(100_000));
        assert_eq!(pair.server.observe().bytes_received, 20_000, "{buffer} {initial:?}");
    }
}

/// The quick ACKs of the start are left over for when the window has grown
/// (16 of Linux, here 4).
#[test]
fn quick_acks_come_on_top() {
    let adaptive = Config { adaptive_acks: true, quick_acks: 4, ..config() };
    let mut s = Solo::established(&adaptive);
    let at_once = (0..20).take_while(|n| comes(&mut s, *n).is_some()).count();
    assert_eq!(at_once, 5 + 4);
}

/// Where the application answers each segment, what makes the window grow waits
/// for the answer, too.
#[test]
fn answers_carry_them() {
    let mut s = Solo::established(&Config { adaptive_acks: true, quick_acks: 4, ..config() });
    assert!(comes(&mut s, 0).is_some());
    s.end.write(10);
    assert_eq!(s.sent(), ["P. 1:10 1001"]);
    assert_eq!(comes(&mut s, 1), None);
}

/// Nothing is read: no more is promised than there is room for, and what has been
/// promised stays.
#[test]
fn the_right_edge_never_passes_the_buffer() {
    let mut s = Solo::established(&config());
    let mut edges = vec![];
    for n in 0..20 {
        s.now += Span::from_millis(1);
        s.arrives(".", 1 + n * 1000, 1, 1000);
        edges.push(s.end.receiver.nxt + s.end.receiver.window());
    }
    assert!(edges.is_sorted());
    assert_eq!((edges[0], edges[19]), (13_001, 20_001));
    assert_eq!(s.end.receiver.window(), 0);
}

/// Above a gap it grows where SACK is in use, and duplicates do not count.
#[test]
fn what_is_out_of_order_counts_once() {
    for (sack, grown) in [(true, 14_000), (false, 10_000)] {
        let recovery = Recovery::Reno { exit_growth: false };
        let mut s = Solo::established(&Config { sack, recovery, ..config() });
        let windows = [2, 2, 3].map(|n| comes(&mut s, n).unwrap());
        assert_eq!(windows[2], grown, "{sack}");
        assert_eq!(windows[0], windows[1], "{sack}");
    }
}

/// Where another writes the windows, none of the whole is refused; the growth
/// still decides about ACKs.
#[test]
fn a_shared_window_only_times_acknowledgments() {
    let mut s = Solo::client(&Config { receive_buffer: 40_000, ..config() });
    s.end.scale_windows_for(20_000);
    s.end.connect(Time::ZERO);
    s.sent();
    let mut syn = s.segment("S.", 0, 1, 0);
    syn.options.mss = Some(1000);
    s.deliver(syn);
    assert_eq!(s.end.receiver.window(), 40_000);
    let at_once = (0..20).take_while(|n| comes(&mut s, *n).is_some()).count();
    assert_eq!(at_once, 5);
}

/// What a client without another limit sends each round: the window of its peer.
fn per_round(config: &Config, rounds: u64) -> Vec<u64> {
    let mut pair = pair(config, |_, _| Fate::Deliver);
    pair.client.write(1 << 40);
    let mut before = 0;
    let mut list = Vec::new();
    for round in 1..=rounds {
        // The handshake takes one; data comes half a round after it was sent.
        pair.drive(at_ms(200 * round + 190));
        let received = pair.server.receiver.received();
        list.push(received - before);
        before = received;
    }
    list
}

/// Validation T4 with a buffer that grows: W octets per round trip, and W doubles per
/// round trip up to the most that it may be, beyond what 16 bits hold.
#[test]
fn a_buffer_that_grows_doubles_per_round() {
    let open = InitialWindow::Segments(10_000);
    let fixed = Config {
        receive_buffer: 5000,
        initial_window: open,
        ..classic(Recovery::Reno { exit_growth: false })
    };
    let fixed = Config { initial_ssthresh: None, ..fixed };
    assert_eq!(per_round(&fixed, 4), [5000; 4]);
    let grows = Config { receive_buffer_max: Some(300_000), ..fixed };
    // 4 n + 16 after two rounds.
    let k = [5, 5, 36, 36, 160, 160, 300, 300].map(|n| n * 1000);
    assert_eq!(per_round(&grows, 8), k);
}

/// It is never what limits a sender in slow start, if it holds the first two rounds and two segments
/// for ACKs that leave before the application reads; one that does not grow is.
#[test]
fn slow_start_does_not_wait_for_a_buffer_that_grows() {
    let large = Config {
        receive_buffer: 10_000_000,
        initial_ssthresh: None,
        ..classic(Recovery::Reno { exit_growth: false })
    };
    let small = Config { receive_buffer: 8000, ..large.clone() };
    let grows = Config { receive_buffer_max: Some(10_000_000), ..small.clone() };
    let free = per_round(&large, 8);
    assert_eq!(free[..4], [3000, 6000, 12_000, 24_000]);
    assert_eq!(per_round(&grows, 8), free);
    assert_eq!(per_round(&small, 8)[7], 8000);
}

/// With a window that begins small, too, and one that reads nothing has what was there at first.
#[test]
fn the_window_grows_into_a_buffer_that_grows() {
    let most = Some(200_000);
    let mut s = Solo::established(&Config { receive_buffer_max: most, ..config() });
    let windows: Vec<_> = (0..400).filter_map(|n| comes(&mut s, n)).collect();
    assert!(windows.is_sorted() && *windows.last().unwrap() > 20_000, "{windows:?}");
    let mut s = Solo::established(&Config { receive_buffer_max: most, ..config() });
    for n in 0..30 {
        s.now += Span::from_millis(10);
        s.arrives(".", 1 + n * 1000, 1, 1000);
    }
    assert_eq!((s.end.receiver.received(), s.end.receiver.window()), (20_000, 0));
}
