//! RFC 3168 and the receiver of RFC 8257 as traces.

use super::solo::Solo;
use super::*;
use crate::config::EcnMode;

fn config(ecn: EcnMode) -> Config {
    Config { ecn, ..classic(Recovery::Sack { pipe: Pipe::Rfc6675, prr: false }) }
}

/// Connections that differ in their ECN mode; `marks` are the numbers of the
/// client's data packets that the network marks.
fn two(
    client: EcnMode,
    server: EcnMode,
    marks: &[u32],
) -> Pair<Connection, impl FnMut(Side, &Packet) -> Fate> {
    let (one, _) = ends(&config(client));
    let (_, other) = ends(&config(server));
    let marks = marks.to_vec();
    let mut n = 0;
    let mut pair = Pair::new(one, other, LATENCY, move |side, packet| {
        if side == Side::Server || packet.payload_len() == 0 {
            return Fate::Deliver;
        }
        n += 1;
        if marks.contains(&n) { Fate::Mark } else { Fate::Deliver }
    });
    pair.client.connect(Time::ZERO);
    pair
}

/// RFC 3168 §6.1.1: ECN-setup SYN and SYN-ACK; only data is ECN-capable.
#[test]
fn both_ends_must_agree() {
    use EcnMode::{Dctcp, Off, On, Passive};
    for (client, server, syn, syn_ack, data) in [
        (On, On, "SEW 0:0", "SE. 0:0 1", "P. 1:1000 1 Ect0"),
        (Dctcp, Dctcp, "SEW 0:0", "SE. 0:0 1", "P. 1:1000 1 Ect0"),
        (On, Passive, "SEW 0:0", "SE. 0:0 1", "P. 1:1000 1 Ect0"),
        (On, Off, "SEW 0:0", "S. 0:0 1", "P. 1:1000 1"),
        (Passive, On, "S 0:0", "S. 0:0 1", "P. 1:1000 1"),
        (Off, Off, "S 0:0", "S. 0:0 1", "P. 1:1000 1"),
    ] {
        let mut pair = two(client, server, &[]);
        pair.client.write(1000);
        pair.drive(at_ms(500));
        let expected = [format!("0 > {syn}"), format!("100 < {syn_ack}"), format!("200 > {data}")];
        assert_eq!(trace(&pair, 0)[..3], expected, "{client:?} {server:?}");
    }
}

/// §6.1.1.1: a SYN that gets no answer is repeated without ECN, and ECN is
/// then not used even if the first SYN did arrive.
#[test]
fn a_repeated_syn_does_without_ecn() {
    let (client, server) = ends(&config(EcnMode::On));
    let mut lost = false;
    let mut pair = Pair::new(client, server, LATENCY, move |side, _| {
        let first = side == Side::Server && !std::mem::replace(&mut lost, true);
        if first { Fate::Drop } else { Fate::Deliver }
    });
    pair.client.connect(Time::ZERO);
    pair.client.write(1000);
    pair.drive(at_ms(3_000));
    let lines = trace(&pair, 0);
    assert_eq!(lines[..3], ["0 > SEW 0:0", "100 < SE. 0:0 1", "1000 > S 0:0"]);
    assert!(lines.iter().all(|l| !l.ends_with("Ect0")), "{lines:?}");
    assert_eq!(pair.server.receiver.received(), 1000);
}

/// §6.1.1: who has sent a SYN that asks for ECN and hears a SYN-ACK that agrees processes CE, also
/// where its second SYN was without: that one keeps ECT from its own data.
#[test]
fn marks_are_echoed_though_a_later_syn_did_without_ecn() {
    let mut s = Solo::client(&config(EcnMode::On));
    s.end.connect(Time::ZERO);
    s.end.write(1000);
    assert_eq!(s.sent(), ["SEW 0:0"]);
    assert_eq!(s.until(1_000), ["1000 S 0:0"]);
    s.until(1_050);
    let mut to_the_first = s.segment("SE.", 0, 1, 0);
    to_the_first.options.mss = Some(1000);
    assert_eq!(s.deliver(to_the_first), ["P. 1:1000 1"]);
    s.ecn = Ecn::Ce;
    assert_eq!(s.arrives(".", 1, 1001, 1000), ["E. 1001:0 1001"]);
}

/// With ECN, at 100 ms, and a window of one segment of 1000 octets.
fn one_segment_at_a_time(ecn_wait: bool) -> Solo {
    let window = Algorithm::from_name("cubic").unwrap();
    let initial_window = InitialWindow::Segments(1);
    let mut s = Solo::client(&Config { window, initial_window, ecn_wait, ..config(EcnMode::On) });
    s.end.connect(Time::ZERO);
    s.sent();
    s.until(100);
    let mut syn = s.segment("SE.", 0, 1, 0);
    syn.options.mss = Some(1000);
    syn.options.sack_permitted = true;
    s.deliver(syn);
    s
}

/// §6.1.2: with a window of one segment an echo restarts the retransmission timer, and new data
/// leaves when that expires, which is no timeout. RFC 9438 §4.6: while marks persist it backs off.
#[test]
fn an_echo_with_a_window_of_one_segment_holds_new_data_until_the_timer_expires() {
    for (ecn_wait, at_once) in [(true, &[][..]), (false, &["W. 1001:1000 1 Ect0"])] {
        let mut s = one_segment_at_a_time(ecn_wait);
        s.end.write(10_000);
        assert_eq!(s.sent(), [". 1:1000 1 Ect0"]);
        s.until(200);
        assert_eq!(s.arrives("E.", 1, 1001, 0), at_once);
        if ecn_wait {
            assert_eq!(s.until(1_199), [""; 0]);
            assert_eq!(s.until(1_200), ["1200 W. 1001:1000 1 Ect0"]);
            // Still marked: twice as long. Another echo of the same restarts the timer.
            s.until(1_300);
            assert_eq!(s.arrives("E.", 1, 2001, 0), [""; 0]);
            s.until(1_900);
            assert_eq!(s.arrives("E.", 1, 2001, 0), [""; 0]);
            assert_eq!(s.until(3_900), ["3900 W. 2001:1000 1 Ect0"]);
            s.until(4_000);
            assert_eq!(s.arrives("E.", 1, 3001, 0), [""; 0]);
            assert_eq!(s.until(8_000), ["8000 W. 3001:1000 1 Ect0"]);
            // Then no more.
            s.until(8_100);
            assert_eq!(s.arrives(".", 1, 4001, 0)[0], ". 4001:1000 1 Ect0");
        }
        assert_eq!(s.end.observe().timeouts, 0);
    }
}

/// §6.1.6: a probe of a closed window has neither ECT nor CWR, which waits for new data.
#[test]
fn a_window_probe_tells_of_no_reduction() {
    let mut s = one_segment_at_a_time(false);
    s.end.write(10_000);
    s.sent();
    s.until(200);
    let mut closed = s.segment("E.", 1, 1001, 0);
    closed.window = 0;
    assert_eq!(s.deliver(closed), [""; 0]);
    assert_eq!(s.until(1_200), ["1200 . 1001:1 1"]);
    s.until(1_300);
    assert_eq!(s.arrives(".", 1, 1002, 0)[0], "W. 1002:1000 1 Ect0");
}

/// §6.1.2: CWR tells of every reduction, also that for a loss which RACK's probe has repaired.
#[test]
fn cwr_tells_of_a_loss_that_a_probe_repaired() {
    let recovery = Recovery::from_name("rack").unwrap();
    let initial_window = InitialWindow::Segments(3);
    let mut s = Solo::client(&Config { recovery, initial_window, ..config(EcnMode::On) });
    s.end.connect(Time::ZERO);
    s.sent();
    s.until(100);
    let mut syn = s.segment("SE.", 0, 1, 0);
    syn.options.mss = Some(1000);
    syn.options.sack_permitted = true;
    s.deliver(syn);
    s.end.write(3000);
    s.sent();
    assert_eq!(s.until(300), ["300 P. 2001:1000 1"]);
    s.until(400);
    s.arrives(".", 1, 3001, 0);
    s.end.write(1000);
    assert_eq!(s.sent(), ["P. 3001:1000 1 Ect0"]);
    s.until(500);
    s.arrives(".", 1, 4001, 0); // beyond the probe: it repaired a loss
    s.end.write(1000);
    assert_eq!(s.sent(), ["PW. 4001:1000 1 Ect0"]);
}

/// §6.1.2 and §6.1.3: every ACK from the mark on echoes it, the window shrinks
/// once, and the echo ends with CWR.
#[test]
fn a_mark_halves_the_window_once() {
    let mut pair = two(EcnMode::On, EcnMode::On, &[24, 26, 30]);
    pair.client.write(1 << 30);
    pair.drive(at_ms(1_190));
    let end = pair.client.observe();
    assert_eq!(end.ssthresh, 5_500); // half of eleven segments
    assert!((5_500..6_500).contains(&end.cwnd), "{end:?}");
    assert_eq!((end.retransmitted_packets, end.timeouts, end.fast_retransmits), (0, 0, 0));
    assert_eq!((end.ecn_reductions, pair.server.observe().ecn_reductions), (1, 0));
    let lines = trace(&pair, 0);
    let first = |what: &str| lines.iter().position(|l| l.contains(what)).unwrap();
    let (echo, cwr) = (first(" E. "), first("W. "));
    assert!(lines[echo..cwr].iter().filter(|l| l.contains('<')).all(|l| l.contains(" E. ")));
    assert_eq!(lines.iter().filter(|l| l.contains("W. ")).count(), 1);
    pair.drive(at_ms(1_400));
    let lines = trace(&pair, 1_290);
    assert!(lines.iter().all(|l| !l.contains(" E. ")), "{lines:?}");
}

/// §6.1.2: marks and losses of one window of data count once; CWR tells of a
/// reduction by loss too; what is sent again is not ECN-capable (§6.1.5).
#[test]
fn a_mark_and_a_loss_in_one_window_reduce_once() {
    let mut n = 0;
    let (client, server) = ends(&config(EcnMode::On));
    let mut pair = Pair::new(client, server, LATENCY, move |side, packet| {
        n += (side == Side::Client && packet.payload_len() > 0) as u32;
        match (side, n) {
            (Side::Client, 24) => Fate::Mark,
            (Side::Client, 26) => Fate::Drop,
            _ => Fate::Deliver,
        }
    });
    pair.client.connect(Time::ZERO);
    pair.client.write(1 << 30);
    pair.drive(at_ms(1_250));
    let end = pair.client.observe();
    assert_eq!((end.ssthresh, end.fast_retransmits, end.retransmitted_packets), (5_500, 1, 1));
    let again: Vec<_> =
        trace(&pair, 0).into_iter().filter(|l| l.contains(" 25001:1000 ")).collect();
    assert_eq!(again.len(), 2);
    assert!(again[0].ends_with("Ect0") && !again[1].ends_with("Ect0"), "{again:?}");
}

#[test]
fn cwr_tells_of_a_loss() {
    let (client, server) = ends(&config(EcnMode::On));
    let mut pair = Pair::new(client, server, LATENCY, drop_nth(&[24]));
    pair.client.connect(Time::ZERO);
    pair.client.write(1 << 30);
    pair.drive(at_ms(1_250));
    let cwr: Vec<_> = trace(&pair, 0).into_iter().filter(|l| l.contains('W')).collect();
    assert_eq!(cwr.len(), 2, "the SYN and one segment: {cwr:?}");
    assert!(cwr[1].ends_with("Ect0"), "on new data: {cwr:?}");
}

/// RFC 8257 §3.2, figure 1: with an ACK for every second segment, a change of
/// the mark acknowledges at once what came before it.
#[test]
fn dctcp_echoes_exactly_what_was_marked() {
    let config = Config {
        initial_window: InitialWindow::Segments(8),
        delayed_ack: DelayedAck { count: 2, delay: Span::from_millis(40) },
        ..config(EcnMode::Dctcp)
    };
    let mut n = 0;
    let mut pair = pair(&config, move |side, packet| {
        n += (side == Side::Client && packet.payload_len() > 0) as u32;
        if side == Side::Client && (4..=6).contains(&n) { Fate::Mark } else { Fate::Deliver }
    });
    pair.client.write(8000);
    pair.drive(at_ms(390));
    let acks: Vec<_> = trace(&pair, 300);
    assert_eq!(
        acks,
        [
            "300 < . 1:0 2001",
            "300 < . 1:0 3001", // before the mark
            "300 < E. 1:0 5001",
            "300 < E. 1:0 6001", // the last marked
            "300 < . 1:0 8001",
        ]
    );
}

/// RFC 8311 §4.3 lets experiments mark control packets too.
#[test]
fn control_packets_are_ecn_capable_on_request() {
    let config = Config { ecn_control: true, ..config(EcnMode::On) };
    let mut pair = pair(&config, drop_nth(&[1]));
    pair.client.write(4000);
    pair.client.close();
    pair.drive(at_ms(1_000));
    assert!(trace(&pair, 0).iter().all(|l| l.ends_with("Ect0")));
}
