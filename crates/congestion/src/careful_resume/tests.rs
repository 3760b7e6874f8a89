use super::*;
use crate::ack_clocked::Common;
use crate::reno::{Reno, RenoOptions};
use crate::testkit::MSS;
use crate::{Acked, Algorithm, CongestionEvent, Controller};

/// A Reno window of ten segments that resumes from 300 segments and 100 ms, and what its sender
/// counts, in segments.
struct Flow {
    c: Reno,
    now: Time,
    sent: u64,
    acked: u64,
    in_flight: u64,
    rtt_ms: u64,
    app_limited: bool,
}

impl Flow {
    fn new(change: impl FnOnce(&mut CarefulResumeOptions)) -> Flow {
        let mut saved = CarefulResumeOptions {
            saved_cwnd: 300 * MSS,
            saved_rtt: Span::from_millis(100),
            max_jump: None,
            beta: 0.5,
        };
        change(&mut saved);
        let common = Common { careful_resume: Some(saved), ..Common::default() };
        let c = Reno::new(&RenoOptions { common }, 10 * MSS, u64::MAX);
        let now = Time::ZERO + Span::from_secs(1);
        Flow { c, now, sent: 0, acked: 0, in_flight: 0, rtt_ms: 100, app_limited: false }
    }

    fn view(&self) -> PathView {
        let rtt = Some(Span::from_millis(self.rtt_ms));
        PathView {
            in_flight: self.in_flight * MSS,
            mss: MSS,
            srtt: rtt,
            min_rtt: rtt,
            app_limited: self.app_limited,
            sent: self.sent * MSS,
            acked: self.acked * MSS,
        }
    }

    /// Sends so many segments.
    fn send(&mut self, segments: u64) {
        for _ in 0..segments {
            let view = self.view();
            self.c.on_sent(self.now, MSS, &view);
            self.sent += 1;
            self.in_flight += 1;
        }
    }

    /// Sends what the window allows.
    fn fill(&mut self) {
        while self.in_flight < self.window() {
            self.send(1);
        }
    }

    /// An ACK for each of so many segments, in order.
    fn ack(&mut self, segments: u64) {
        for _ in 0..segments {
            self.acked += 1;
            let before = PathView { in_flight: self.in_flight * MSS, ..self.view() };
            let acked = Acked { now: self.now, bytes: MSS, rtt: before.srtt };
            self.c.on_ack(&acked, &before);
            self.in_flight -= 1;
            self.told(1);
        }
    }

    /// An ACK that tells of so many segments that newly arrived.
    fn told(&mut self, segments: u64) {
        let view = self.view();
        let feedback =
            Feedback { now: self.now, ..crate::testkit::feedback(self.now, segments * MSS) };
        self.c.on_feedback(&feedback, &view);
    }

    fn signal(&mut self, cause: Cause) {
        let view = self.view();
        self.c.on_congestion(&CongestionEvent { now: self.now, cause }, &view);
    }

    fn window(&self) -> u64 {
        self.c.window() / MSS
    }

    fn resume(&self) -> String {
        format!("{:?}", self.c)
    }

    fn is_normal(&self) -> bool {
        self.resume().contains("phase: Normal")
    }
}

/// The first round: ten segments, each ACK of which lets two more leave.
fn reconnoitred(change: impl FnOnce(&mut CarefulResumeOptions)) -> Flow {
    let mut flow = Flow::new(change);
    flow.fill();
    for _ in 0..10 {
        flow.ack(1);
        flow.fill();
    }
    assert_eq!((flow.window(), flow.sent, flow.in_flight), (20, 30, 20));
    flow
}

/// The same, and the ACK with which the window jumps.
fn jumped() -> Flow {
    let mut flow = reconnoitred(|_| {});
    flow.ack(1);
    assert_eq!((flow.window(), flow.in_flight), (150, 19), "half of 300");
    flow
}

/// Without a loss (Appendix B.1): 131 segments are sent, paced; with the last the phase is over, growth
/// is that of slow start, and the ACK of the last ends Careful Resume.
#[test]
fn a_flow_without_a_loss_passes_all_phases() {
    let mut flow = jumped();
    let srtt = Some(Span::from_millis(100));
    // 150 segments of 8000 bits in 100 ms.
    assert_eq!(flow.c.pacing_rate(srtt).map(Rate::as_bps), Some(12_000_000));
    flow.send(130);
    assert!(flow.resume().contains("Unvalidated"), "one is left to send");
    flow.send(1);
    assert!(flow.resume().contains("Validating { last: 161000 }"), "{}", flow.resume());
    assert_eq!((flow.window(), flow.in_flight), (150, 150));
    assert_eq!(flow.c.pacing_rate(srtt), None);
    flow.ack(149);
    assert_eq!(flow.window(), 299, "slow start");
    assert!(!flow.is_normal() && flow.c.wants_feedback());
    flow.ack(1);
    assert!(flow.is_normal() && !flow.c.wants_feedback());
    assert_eq!((flow.window(), flow.c.ssthresh()), (300, u64::MAX));
}

/// ACKs of the unvalidated phase do not open the window (§3.3).
#[test]
fn the_window_stands_still_in_the_unvalidated_phase() {
    let mut flow = jumped();
    flow.send(50);
    flow.ack(10);
    assert_eq!(flow.window(), 150);
    flow.ack(9);
    assert!(flow.resume().contains("Unvalidated"));
}

/// §3.3: the ACK of the first unvalidated segment ends the phase. 60 were sent of 131: the window is
/// what is in flight, 59 beyond it.
#[test]
fn a_sender_with_less_to_send_gets_the_window_that_it_used() {
    let mut flow = jumped();
    flow.send(60);
    flow.ack(19);
    assert!(flow.resume().contains("Unvalidated"));
    flow.ack(1);
    assert_eq!((flow.window(), flow.in_flight), (59, 59));
    assert!(flow.resume().contains("Validating"));
}

/// The same after a round trip without any ACK.
#[test]
fn the_unvalidated_phase_lasts_a_round_trip_at_most() {
    let mut flow = jumped();
    flow.send(60);
    flow.now += Span::from_millis(100);
    flow.told(0);
    assert!(flow.resume().contains("Unvalidated"));
    flow.now += Span::from_nanos(1);
    flow.told(0);
    assert_eq!((flow.window(), flow.in_flight), (79, 79));
    assert!(flow.resume().contains("Validating"));
}

/// §3.3: nothing of the jump was used, so that the flight is no more than PipeSize: the window is that.
#[test]
fn a_sender_that_sends_nothing_is_back_at_its_pipe() {
    let mut flow = jumped();
    flow.send(1);
    flow.ack(20);
    assert!(flow.is_normal());
    assert_eq!(flow.window(), 20, "19 before the jump and the one after it");
}

/// Appendix B.4: the 35th unvalidated segment is lost. PipeSize is 19 and 34, the window half of that
/// and does not grow; 130 unvalidated segments and those sent while validating arrive at last, and half of
/// PipeSize is the threshold.
#[test]
fn a_loss_while_validating_is_a_safe_retreat() {
    let mut flow = jumped();
    flow.fill();
    flow.ack(19 + 34);
    flow.signal(Cause::Loss);
    assert_eq!(flow.window(), (19 + 34) / 2);
    assert!(flow.resume().contains("SafeRetreat { last: 161000 }"), "{}", flow.resume());
    // Selectively: the 96 that are left of the unvalidated.
    for _ in 0..96 {
        flow.in_flight -= 1;
        flow.told(1);
    }
    assert_eq!(flow.window(), 26);
    assert!(flow.resume().contains("SafeRetreat"));
    // What was sent again: the ACK covers all.
    flow.acked = 161;
    flow.told(1);
    assert!(flow.is_normal());
    assert_eq!(flow.window(), 26, "an ACK does not open it");
    assert_eq!(flow.c.ssthresh(), (19 + 131) / 2 * MSS);
    flow.c.on_undo();
    assert_eq!(flow.window(), 26, "a retreat is not taken back");
}

/// §3.3: congestion in the unvalidated phase, and what `beta` is for.
#[test]
fn a_mark_in_the_unvalidated_phase_is_a_safe_retreat() {
    let mut flow = reconnoitred(|saved| saved.beta = 1.0);
    flow.ack(1);
    flow.send(60);
    flow.ack(5);
    flow.signal(Cause::EcnMark);
    assert_eq!(flow.c.window(), 19 * MSS / 2, "the five were in flight before the jump");
    flow.ack(14);
    flow.ack(59);
    assert_eq!(flow.c.window(), 19 * MSS / 2);
    flow.ack(1);
    assert!(flow.is_normal());
    assert_eq!(flow.c.ssthresh(), (19 + 60) * MSS);
}

/// §3.6: a timeout ends it; the window is a segment, the threshold half of the flight.
#[test]
fn a_timeout_ends_it_in_each_phase() {
    for mut flow in [reconnoitred(|_| {}), jumped()] {
        flow.signal(Cause::Timeout);
        assert!(flow.is_normal());
        assert_eq!(flow.window(), 1);
        assert_eq!(flow.c.ssthresh(), flow.in_flight * MSS / 2);
    }
    let mut flow = jumped();
    flow.fill();
    flow.signal(Cause::Loss);
    flow.signal(Cause::Timeout);
    assert!(flow.is_normal());
}

/// §3.2: a signal in reconnaissance is answered as ever, and nothing is resumed.
#[test]
fn a_loss_in_reconnaissance_ends_it() {
    let mut flow = Flow::new(|_| {});
    flow.fill();
    flow.ack(5);
    flow.fill();
    flow.signal(Cause::Loss);
    assert_eq!(flow.c.window(), 15 * MSS / 2);
    assert!(flow.is_normal());
}

/// §4.2.1: half of the saved round-trip time is too short, more than ten times is too long.
#[test]
fn another_round_trip_time_is_another_path() {
    for (rtt_ms, is_path) in [(50, false), (51, true), (100, true), (1000, true), (1001, false)] {
        let mut flow = Flow::new(|_| {});
        flow.rtt_ms = rtt_ms;
        flow.fill();
        flow.ack(10);
        assert_eq!(flow.is_normal(), !is_path, "{rtt_ms} ms");
        flow.fill();
        flow.ack(1);
        assert_eq!(flow.window() == 150, is_path, "{rtt_ms} ms");
    }
    // A shorter one while the window is not validated.
    let mut flow = jumped();
    flow.send(10);
    flow.rtt_ms = 50;
    flow.ack(1);
    assert!(flow.resume().contains("SafeRetreat"));
    assert_eq!(flow.c.window(), 19 * MSS / 2);
}

/// §4.3.2: max_jump; and a jump that is none is not taken.
#[test]
fn the_jump_has_a_bound() {
    for (max_jump, window) in [(100, 100), (1000, 150), (21, 21), (20, 21)] {
        let mut flow = reconnoitred(|saved| saved.max_jump = Some(max_jump * MSS));
        flow.ack(1);
        assert_eq!(flow.window(), window, "{max_jump}");
        assert_eq!(flow.is_normal(), max_jump <= 21, "{max_jump}");
    }
}

/// §4.2: a sender without data stays in reconnaissance until it has more.
#[test]
fn a_sender_without_data_waits() {
    let mut flow = Flow::new(|_| {});
    flow.fill();
    flow.app_limited = true;
    flow.ack(10);
    assert!(flow.resume().contains("Reconnaissance"));
    flow.app_limited = false;
    flow.fill();
    flow.ack(2);
    assert_eq!(flow.window(), 150);
}

/// Idleness ends it: what was saved is old.
#[test]
fn idleness_ends_it() {
    let mut flow = reconnoitred(|_| {});
    flow.c.on_idle(10 * MSS);
    assert!(flow.is_normal());
    assert_eq!(flow.window(), 10);
}

/// Every law that ACKs drive has it.
#[test]
fn it_is_an_option_of_all_algorithms_that_acks_drive() {
    let saved = CarefulResumeOptions {
        saved_cwnd: 300 * MSS,
        saved_rtt: Span::from_millis(100),
        max_jump: None,
        beta: 0.5,
    };
    let mut cubic = Algorithm::default();
    cubic.common_mut().unwrap().careful_resume = Some(saved);
    assert!(cubic.build(10 * MSS, u64::MAX).wants_feedback());
}
