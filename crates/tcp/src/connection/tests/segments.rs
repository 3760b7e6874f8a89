//! RFC 9293 §3.10.7, RFC 5961, RFC 7323 §5 and RFC 1337, a rule a test.

use super::solo::Solo;
use super::*;
use anabranch_wire::Timestamps;

fn config() -> Config {
    classic(Recovery::Sack { pipe: Pipe::Rfc6675, prr: false })
}

fn stamped(s: &Solo, seq: i64, len: u32, value: u32) -> TcpSegment {
    let mut segment = s.segment(".", seq, 1, len);
    let echo = s.end.ends.timestamp(Time::ZERO);
    segment.options.timestamps = Some(Timestamps { value, echo });
    segment
}

/// RFC 9293 §3.4.1: both addresses and both ports.
#[test]
fn a_segment_is_of_the_connection_between_its_addresses_and_ports() {
    let s = Solo::established(&config());
    let packet = Packet::new(Addr(1), Addr(0), Body::Tcp(s.segment(".", 1, 1, 10)));
    assert!(s.end.accepts(&packet));
    assert!(!s.end.accepts(&Packet { src: Addr(2), ..packet.clone() }));
    assert!(!s.end.accepts(&Packet { dst: Addr(2), ..packet.clone() }));
    for (src_port, dst_port) in [(2001, 1000), (2000, 1001)] {
        let segment = TcpSegment { src_port, dst_port, ..tcp(&packet).clone() };
        assert!(!s.end.accepts(&Packet { body: Body::Tcp(segment), ..packet.clone() }));
    }
}

/// RFC 5961 §3.2: a reset is believed at RCV.NXT alone.
#[test]
fn a_blind_reset_is_challenged() {
    let mut s = Solo::established(&config());
    assert_eq!(s.arrives("R", 2, 0, 0), [". 1:0 1"]); // in the window
    assert_eq!(s.arrives("R", 1 << 30, 0, 0), [""; 0]); // outside
    let edge = 1 + s.end.receiver.window() as i64;
    assert_eq!(s.arrives("R", edge - 1, 0, 0), [". 1:0 1"]);
    assert_eq!(s.arrives("R", edge, 0, 0), [""; 0]); // RCV.NXT + RCV.WND
    assert_eq!(s.arrives("R", -5000, 0, 0), [""; 0]); // before the peer's SYN
    assert_eq!(s.arrives("R", 0, 0, 10), [""; 0]); // begins before the window
    assert_eq!(s.end.state(), State::Established);
    s.arrives("R", 1, 0, 0);
    assert_eq!(s.events(), [Event::Closed(CloseReason::Reset)]);
}

/// RFC 5961 §4.2.
#[test]
fn a_blind_syn_is_challenged() {
    let mut s = Solo::established(&config());
    assert_eq!(s.arrives("S", 100, 0, 0), [". 1:0 1"]);
    assert_eq!(s.arrives("S", -5000, 0, 0), [". 1:0 1"]);
    assert_eq!(s.end.state(), State::Established);
}

/// RFC 5961 §5.2: data is good only with an ACK between SND.UNA - MAX.SND.WND
/// and SND.NXT.
#[test]
fn blind_data_is_challenged() {
    let mut s = Solo::established(&config());
    s.end.write(20_000);
    s.sent();
    s.arrives(".", 1, 3001, 0);
    assert_eq!(s.end.sender.peer_window.largest, 10_000);
    for (ack, received) in [(50_000, 0), (3001 - 10_001, 0), (3001 - 10_000, 10), (3001, 20)] {
        let answer = s.arrives(".", 1 + received.max(10) - 10, ack, 10);
        assert_eq!(s.end.receiver.received(), received as u64, "ACK {ack}: {answer:?}");
        if received == 0 {
            assert_eq!(answer.len(), 1, "ACK {ack}");
        }
    }
}

/// RFC 5961 §5: what acknowledges nothing that can be is dropped, its timestamp too; else all
/// that the peer sends would be old.
#[test]
fn a_forged_timestamp_needs_a_good_ack() {
    let mut s = Solo::established(&Config { timestamps: true, ..config() });
    let mut forged = stamped(&s, 1, 0, 1 << 30);
    forged.ack = Serial32(forged.ack.0.wrapping_add(1 << 20));
    s.deliver(forged);
    s.deliver(stamped(&s, 1, 100, 1001));
    assert_eq!(s.end.receiver.received(), 100);
}

/// A forged segment in the window, whose number the peer will not reach for long: the
/// window that it tells is forgotten when the peer acknowledges more.
#[test]
fn a_forged_window_does_not_outlast_the_peers_acks() {
    let mut s = Solo::established(&config());
    s.end.write(100_000);
    s.sent();
    let mut forged = s.segment(".", 9000, 1, 10);
    forged.window = 0;
    s.deliver(forged);
    let edge = |s: &Solo| s.end.sender.peer_window.edge;
    s.arrives(".", 1, 2001, 0);
    assert_eq!(edge(&s), 12_001);
    s.arrives(".", 1, 3001, 0);
    assert_eq!(edge(&s), 13_001);
}

/// A FIN above a gap is the end of the stream as far as anybody knows. Data beyond it shows
/// that one of the two is forged: what is the peer's comes again.
#[test]
fn a_forged_fin_above_a_gap_does_not_cut_the_stream() {
    let mut s = Solo::established(&config());
    s.arrives("F.", 2501, 1, 0);
    for at in [0, 1, 2, 2, 3, 4] {
        s.arrives(".", 1 + 1000 * at, 1, 1000);
    }
    assert_eq!((s.end.receiver.received(), s.end.state()), (5000, State::Established));
    s.arrives("F.", 5001, 1, 0);
    assert_eq!(s.end.state(), State::CloseWait);
}

/// RFC 5961 §7: ten in five seconds.
#[test]
fn challenges_are_limited() {
    let mut s = Solo::established(&config());
    s.until(10_000);
    let answers: usize = (0..50).map(|_| s.arrives("R", 2, 0, 0).len()).sum();
    assert_eq!(answers, 10);
    s.until(14_999);
    assert_eq!(s.arrives("S", 2, 0, 0).len(), 0);
    s.until(15_000);
    assert_eq!(s.arrives("S", 2, 0, 0).len(), 1);
    let mut s = Solo::established(&Config { challenge_acks: 0, ..config() });
    assert_eq!((0..50).map(|_| s.arrives("R", 2, 0, 0).len()).sum::<usize>(), 50);
}

/// RFC 5961 §7: so are the answers to SYNs outside of the window (§4.2), and to all that who knows
/// neither number can send without text. What has text the peer may have sent again.
#[test]
fn answers_to_what_is_outside_of_the_window_are_limited() {
    let answers = |flags: &str, seq: i64, len: u32| {
        let mut s = Solo::established(&config());
        s.arrives(".", 1, 1, 1000);
        (0..50).map(|_| s.arrives(flags, seq, 1, len).len()).sum::<usize>()
    };
    for (flags, seq, len, answered) in [
        ("S", 1 << 30, 0, 10),
        (".", 1 << 30, 0, 10),
        (".", 1, 0, 10),
        ("S", -5000, 0, 10),
        (".", -5000, 0, 10),
        (".", -5000, 100, 10),
        (".", 1, 1000, 50),
        ("F.", 1, 0, 50),
    ] {
        assert_eq!(answers(flags, seq, len), answered, "{flags} {seq}:{len}");
    }
}

/// RFC 5961 §7: and those to old timestamps (RFC 7323 §5.3, R1).
#[test]
fn answers_to_old_timestamps_are_limited() {
    for (len, answered) in [(0, 10), (100, 50)] {
        let mut s = Solo::established(&Config { timestamps: true, ..config() });
        let old = stamped(&s, 1, len, 1);
        let answers: usize = (0..50).map(|_| s.deliver(old.clone()).len()).sum();
        assert_eq!(answers, answered, "{len} octets");
    }
}

/// §3.10.7.1: nothing is there.
#[test]
fn a_closed_connection_answers_with_resets() {
    let mut s = Solo::client(&config());
    assert_eq!(s.arrives("S", 0, 0, 0), ["R. 0:0 1"]);
    assert_eq!(s.arrives(".", 700, 77, 100), ["R 77:0"]);
    assert_eq!(s.arrives("R", 0, 0, 0), [""; 0]);
    assert_eq!(s.end.state(), State::Closed);
}

/// RFC 7323 §5.2: a reset in answer echoes the timestamp of what it answers and has none of its own;
/// one by which the user aborts is stamped as all that left before. Linux stamps the latter alone.
#[test]
fn resets_are_stamped() {
    use crate::config::ResetTimestamps::{Aborts, All, None as Never};
    let stamps = |s: &mut Solo| {
        let reset = s.end.poll_transmit(s.now).expect("a reset");
        assert!(tcp(&reset).flags.contains(TcpFlags::RST));
        tcp(&reset).options.timestamps
    };
    let answer = Timestamps { value: 0, echo: 1234 };
    for (reset_timestamps, answers, aborts) in
        [(All, Some(answer), true), (Aborts, None, true), (Never, None, false)]
    {
        let config = Config { timestamps: true, reset_timestamps, ..config() };
        let mut s = Solo::established(&config);
        s.deliver(stamped(&s, 1, 10, 1001));
        s.end.abort();
        let own = Timestamps { value: s.end.ends.timestamp(s.now), echo: 1001 };
        assert_eq!(stamps(&mut s), Some(own).filter(|_| aborts));
        // The connection is closed, and answers as a host without one would.
        let late = stamped(&s, 11, 10, 1234);
        let packet = Packet::new(Addr(1), Addr(0), Body::Tcp(late));
        s.end.handle_input(s.now, &packet);
        assert_eq!(stamps(&mut s), answers);
        let refusal = config.refusal(&packet).expect("a reset");
        assert_eq!(tcp(&refusal).options.timestamps, answers);
    }
}

/// RFC 7323 §2.2: who scales says so with a shift of 0, too; on a SYN-ACK if the SYN did.
#[test]
fn a_syn_ack_takes_up_the_offer_of_a_window_scale_of_zero() {
    let small = Config { receive_buffer: 10_000, ..config() };
    for (offered, config) in [(Some(0), &small), (None, &small), (Some(3), &config())] {
        let mut s = Solo::server(config);
        let mut syn = s.segment("S", 0, 0, 0);
        syn.options.window_scale = offered;
        s.end.handle_input(s.now, &Packet::new(Addr(0), Addr(1), Body::Tcp(syn)));
        let answer = s.end.poll_transmit(s.now).expect("a SYN-ACK");
        let own = crate::config::window_shift(config.receive_buffer);
        assert_eq!(tcp(&answer).options.window_scale, offered.map(|_| own));
    }
}

/// RFC 7323 §5.4 and §7.1: the clock ticks in milliseconds, from where only the connection knows.
#[test]
fn each_connection_has_a_timestamp_clock_of_its_own() {
    let stamp = |seed, port, ms| {
        let seed = Seed { seed, replication: 0 };
        let (a, b) = ((Addr(0), port), (Addr(1), 2000));
        let c = Connection::client(config(), a, b, seed.generator("client"));
        c.ends.timestamp(at_ms(ms))
    };
    assert_eq!(stamp(1, 1000, 5), stamp(1, 1000, 5));
    assert_eq!(stamp(1, 1000, 70).wrapping_sub(stamp(1, 1000, 5)), 65);
    assert_ne!(stamp(1, 1000, 5), stamp(2, 1000, 5));
    assert_ne!(stamp(1, 1000, 5), stamp(1, 1001, 5));
}

/// §3.10.7.4: a reset, or a SYN in the window, returns a passive opener to
/// LISTEN, and the next SYN connects.
#[test]
fn a_passive_opener_listens_again() {
    for (flags, seq) in [("R", 1), ("S", 5)] {
        let mut s = Solo::server(&config());
        s.arrives("S", 0, 0, 0);
        assert_eq!(s.end.state(), State::SynReceived);
        assert_eq!(s.arrives(flags, seq, 0, 0), [""; 0]);
        assert_eq!((s.end.state(), s.end.poll_timeout()), (State::Listen, Time::NEVER));
        s.until(50);
        assert_eq!(s.arrives("S", 0, 0, 0), ["S. 0:0 1"]);
        s.arrives(".", 1, 1, 0);
        assert_eq!(s.end.state(), State::Established);
    }
}

/// §3.5.1, figure 9 (old duplicate SYN): its SYN-ACK is reset, the true one
/// connects.
#[test]
fn an_old_duplicate_syn_is_refused() {
    let mut s = Solo::client(&config());
    s.end.connect(Time::ZERO);
    s.sent();
    assert_eq!(s.arrives("S.", 0, 91, 0), ["R 91:0"]);
    assert_eq!(s.end.state(), State::SynSent);
    assert_eq!(s.arrives("R", 0, 0, 0), [""; 0], "a reset without ACK is not for us");
    assert_eq!(s.arrives("S.", 0, 1, 0), [". 1:0 1"]);
    assert_eq!(s.end.state(), State::Established);
}

/// §3.10.7.3: text and FIN on the SYN-ACK are processed with it.
#[test]
fn a_syn_ack_may_carry_data() {
    let mut s = Solo::client(&config());
    s.end.connect(Time::ZERO);
    s.sent();
    assert_eq!(s.arrives("FS.", 0, 1, 300), [". 1:0 302"]);
    assert_eq!(s.end.state(), State::CloseWait);
    assert_eq!(s.end.receiver.received(), 300);
}

/// §3.10.7.4, first: with the window closed, the ACK on data that does not fit
/// is good.
#[test]
fn a_closed_window_still_takes_acks() {
    let mut s = Solo::established(&Config { receive_buffer: 1000, ..config() });
    s.arrives(".", 1, 1, 1000); // nobody reads
    assert_eq!(s.end.receiver.window(), 0);
    s.end.write(500);
    s.sent();
    assert_eq!(s.arrives(".", 1001, 501, 100), [". 501:0 1001"]);
    assert_eq!(s.end.sender.una, 501);
    assert_eq!(s.end.receiver.received(), 1000);
}

/// §3.4 (MUST-66): so are the urgent mark of what does not fit, and a reset.
#[test]
fn a_closed_window_still_takes_urgent_marks_and_resets() {
    let mut s = Solo::established(&Config { receive_buffer: 1000, ..config() });
    s.arrives(".", 1, 1, 1000);
    s.events();
    let mut urgent = s.segment("U.", 1001, 1, 1);
    urgent.urgent = 500;
    assert_eq!(s.deliver(urgent), [". 1:0 1001"]);
    assert_eq!((s.events(), s.end.urgent_ahead()), (vec![Event::Urgent], 1500));
    s.arrives("R", 1001, 0, 0);
    assert_eq!(s.events(), [Event::Closed(CloseReason::Reset)]);
}

/// A connection in TIME-WAIT, since 100 ms; the peer's FIN was at offset 1.
fn time_wait(config: &Config) -> Solo {
    let mut s = Solo::established(config);
    s.end.close();
    s.sent();
    assert_eq!(s.arrives("F.", 1, 2, 0), [". 2:0 2"]);
    assert_eq!(s.end.state(), State::TimeWait);
    s
}

/// §3.10.7.4, eighth: a FIN that comes again is acknowledged and restarts
/// 2 MSL.
#[test]
fn a_repeated_fin_restarts_time_wait() {
    let mut s = time_wait(&config());
    s.until(50_000);
    assert_eq!(s.arrives("F.", 1, 2, 0), [". 2:0 2"]);
    s.until(109_999);
    assert_eq!(s.end.state(), State::TimeWait);
    s.until(110_000);
    assert_eq!(s.end.state(), State::Closed);
    assert_eq!(s.events().last(), Some(&Event::Closed(CloseReason::Normal)));
}

/// RFC 1337: a reset ends TIME-WAIT by RFC 9293, unless told otherwise.
#[test]
fn time_wait_can_be_protected_from_resets() {
    for (protect_time_wait, state) in [(false, State::Closed), (true, State::TimeWait)] {
        let mut s = time_wait(&Config { protect_time_wait, ..config() });
        s.arrives("R", 2, 0, 0);
        assert_eq!(s.end.state(), state);
    }
}

/// §3.10.7.4, second: when both users are done a reset is no error; with data
/// unacknowledged it is.
#[test]
fn a_reset_in_last_ack_is_an_error_only_if_data_is_out() {
    for (data, reason) in [(0, CloseReason::Normal), (100, CloseReason::Reset)] {
        let mut s = Solo::established(&config());
        s.arrives("F.", 1, 1, 0);
        s.end.write(data);
        s.end.close();
        s.sent();
        assert_eq!(s.end.state(), State::LastAck);
        s.arrives("R", 2, 0, 0);
        assert_eq!(s.events().last(), Some(&Event::Closed(reason)));
    }
}

/// Half-close: after CLOSE data still arrives and is read.
#[test]
fn data_is_read_after_close() {
    let mut s = Solo::established(&config());
    s.end.close();
    assert_eq!(s.sent(), ["FP. 1:0 1"]);
    s.arrives(".", 1, 2, 0);
    assert_eq!(s.arrives(".", 1, 2, 1000), [". 2:0 1001"]);
    assert_eq!((s.end.state(), s.end.read(u64::MAX)), (State::FinWait2, 1000));
    assert_eq!(s.end.write(10), 0);
    s.arrives("F.", 1001, 2, 0);
    assert_eq!(s.end.state(), State::TimeWait);
}

/// RFC 7323 §5.3: an older timestamp is not acceptable.
#[test]
fn an_older_timestamp_is_refused() {
    for (paws, received) in [(true, 1000), (false, 2000)] {
        let mut s = Solo::established(&Config { timestamps: true, paws, ..config() });
        s.deliver(stamped(&s, 1, 1000, 1050));
        assert_eq!(s.deliver(stamped(&s, 1001, 1000, 1049)).len(), 1);
        assert_eq!(s.end.receiver.received(), received);
    }
}

/// §5.5: after 24 days without an update the remembered one is not valid.
#[test]
fn a_remembered_timestamp_gets_too_old() {
    for (days, received) in [(23, 0), (25, 1000)] {
        let mut s = Solo::established(&Config { timestamps: true, ..config() });
        s.until(100 + days * 86_400_000);
        s.deliver(stamped(&s, 1, 1000, 999));
        assert_eq!(s.end.receiver.received(), received, "{days} days");
    }
}

/// §4.3: with delayed ACKs the earliest unacknowledged segment's timestamp is
/// echoed; one that leaves a hole is not remembered, one that fills it is.
#[test]
fn the_echo_is_that_of_the_segment_that_advances_the_window() {
    let delayed_ack = DelayedAck { count: 2, delay: Span::from_millis(40) };
    let mut s = Solo::established(&Config { timestamps: true, delayed_ack, ..config() });
    let echo = |s: &mut Solo, seq, value| {
        let segment = stamped(s, seq, 1000, value);
        let packet = Packet::new(s.end.ends.remote.0, s.end.ends.local.0, Body::Tcp(segment));
        s.end.handle_input(s.now, &packet);
        let sent = s.end.poll_transmit(s.now)?;
        Some(tcp(&sent).options.timestamps.unwrap().echo)
    };
    assert_eq!(echo(&mut s, 1, 1010), None);
    assert_eq!(echo(&mut s, 1001, 1020), Some(1010)); // (A) the delayed one's
    assert_eq!(echo(&mut s, 3001, 1040), Some(1010)); // (B) a hole
    assert_eq!(echo(&mut s, 2001, 1030), Some(1030)); // (C) filled
}

/// §4.3, rule 2: what comes again, since the ACK was lost, tells when it was sent again. With
/// Linux's order it must reach the last ACK.
#[test]
fn the_echo_of_a_segment_that_came_again_is_its_own() {
    for (echo_old_segments, older) in [(true, 1050), (false, 1040)] {
        let mut s = Solo::established(&Config { timestamps: true, echo_old_segments, ..config() });
        let mut echo = |seq, value| {
            let segment = stamped(&s, seq, 1000, value);
            let packet = Packet::new(s.end.ends.remote.0, s.end.ends.local.0, Body::Tcp(segment));
            s.end.handle_input(s.now, &packet);
            let sent = s.end.poll_transmit(s.now).expect("each is acknowledged");
            tcp(&sent).options.timestamps.unwrap().echo
        };
        let echoes = [(1, 1010), (1001, 1020), (1001, 1040), (1, 1050)].map(|(s, v)| echo(s, v));
        assert_eq!(echoes, [1010, 1020, 1040, older]);
    }
}

/// Who knows neither number does not choose which timestamps are old (§5.3): the peer's own segments
/// would be dropped.
#[test]
fn a_forged_old_segment_leaves_the_echo_as_it_is() {
    let config = Config { timestamps: true, receive_buffer: 4000, ..config() };
    let mut s = Solo::established(&config);
    for n in 0..8 {
        s.deliver(stamped(&s, 1 + n * 1000, 1000, 1010));
        s.end.read(u64::MAX);
    }
    // Longer ago than a buffer; an ACK of what was not sent, and one of long ago; none at all.
    let forged = [
        ("old", 1001, Some(1)),
        ("ack", 7001, Some(5)),
        ("ack", 7001, Some(-3_000_000)),
        ("none", 7001, None),
    ];
    for (what, seq, ack) in forged {
        let mut segment = stamped(&s, seq, 1000, 2_000_000);
        match ack {
            Some(ack) => segment.ack = s.end.iss.add(ack as u32),
            None => segment.flags = TcpFlags::PSH,
        }
        s.deliver(segment);
        assert_eq!(s.end.agreed.timestamps.unwrap().value, 1010, "{what}");
    }
    s.deliver(stamped(&s, 7001, 1000, 1900));
    assert_eq!(s.end.agreed.timestamps.unwrap().value, 1900, "sent again");
}

/// Two segments a round, whose ACKs are lost: only what is sent again is answered. The timeouts
/// are no round trips (§4.3, C), and do not grow.
#[test]
fn the_timeout_after_which_a_segment_came_again_is_no_sample() {
    let (mut sent, mut again) = (0, true);
    let rule = move |side, packet: &Packet| {
        if packet.payload_len() > 0 {
            let seq = tcp(packet).seq.0;
            again = seq <= sent;
            sent = sent.max(seq);
        }
        if side == Side::Server && !again { Fate::Drop } else { Fate::Deliver }
    };
    let mut pair = pair(&Config { timestamps: true, ..config() }, rule);
    pair.drive(at_ms(1000));
    for n in 1..=20 {
        pair.client.write(2 * 988);
        pair.drive(at_ms(1000 + n * 3000));
        let end = pair.client.observe();
        assert_eq!((end.bytes_acked, end.timeouts), (n * 1976, n));
        assert_eq!(end.srtt, Some(Span::from_millis(200)));
    }
}

/// §3.2: where both agreed on timestamps, a segment without is dropped; a
/// reset needs none.
#[test]
fn a_segment_without_the_agreed_timestamps_is_dropped() {
    let mut s = Solo::established(&Config { timestamps: true, ..config() });
    assert_eq!(s.arrives(".", 1, 1, 1000), [""; 0]);
    assert_eq!(s.end.receiver.received(), 0);
    s.arrives("R", 1, 0, 0);
    assert_eq!(s.end.state(), State::Closed);
}

/// RFC 9293 §3.4.1 and RFC 6528: the clock moves the number, the run's seed
/// chooses it.
#[test]
fn initial_sequence_numbers_follow_the_clock() {
    let iss = |seed, ms| {
        let seed = Seed { seed, replication: 0 };
        let (a, b) = ((Addr(0), 1000), (Addr(1), 2000));
        let mut c = Connection::client(config(), a, b, seed.generator("client"));
        c.connect(at_ms(ms));
        c.iss
    };
    assert_eq!(iss(1, 0), iss(1, 0));
    assert_ne!(iss(1, 0), iss(2, 0));
    assert_eq!(iss(1, 8).distance_from(iss(1, 0)), 2000);
}

/// RFC 9293 §3.4.1 (SHLD-1): the secret is the host's, so that a second connection between the same
/// addresses and ports goes on where the clock of the first stands.
#[test]
fn connections_of_a_host_share_the_clock_of_their_ports() {
    let begin = |seed, key, ms| {
        let seed = Seed { seed, replication: 0 };
        let (a, b) = ((Addr(0), 1000), (Addr(1), 2000));
        let mut c = Connection::client(config(), a, b, seed.generator("client"));
        c.set_number_key(key);
        c.connect(at_ms(ms));
        (c.iss, c.ends.timestamp(at_ms(ms)))
    };
    let (first, second) = (begin(1, [3, 4], 0), begin(2, [3, 4], 8));
    assert_eq!(second.0.distance_from(first.0), 2000);
    assert_eq!(second.1.wrapping_sub(first.1), 8);
    assert_ne!(begin(1, [3, 5], 0).0, first.0);
}
