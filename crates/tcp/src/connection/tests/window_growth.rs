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
    let packet = Packet::new(s.end.remote.0, s.end.local.0, Body::Tcp(segment));
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
        let recovery = Recovery::Reno;
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
