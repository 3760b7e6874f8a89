use super::*;
use crate::ack_clocked::Common;
use crate::reno::{Reno, RenoOptions};
use crate::testkit::{MSS, feedback, path};
use crate::{Acked, Cause, CongestionEvent, Controller};

/// Rounds of 100 ms in which the application sends `used` segments.
struct Flow {
    c: Reno,
    now: Time,
    acked: u64,
}

impl Flow {
    fn new(segments: u64) -> Flow {
        let common = Common { validation: true, ..Common::default() };
        let c = Reno::new(&RenoOptions { common }, segments * MSS, MSS);
        Flow { c, now: Time::ZERO, acked: 0 }
    }

    fn view(&self, used: u64, limited: bool) -> PathView {
        let app_limited = limited;
        PathView { sent: self.acked + used * MSS, acked: self.acked, app_limited, ..path(used) }
    }

    fn round(&mut self, used: u64) {
        self.now += Span::from_millis(100);
        for _ in 0..used {
            let sent = self.acked + used * MSS;
            self.acked += MSS;
            let view = PathView { sent, ..self.view(used, used < self.c.window() / MSS) };
            self.c.on_ack(&Acked { now: self.now, bytes: MSS, rtt: None }, &view);
        }
    }

    fn rounds(&mut self, n: u32, used: u64) {
        (0..n).for_each(|_| self.round(used));
    }

    fn feedback(&mut self, lost: u64, in_recovery: bool) {
        let feedback = Feedback { lost: lost * MSS, in_recovery, ..feedback(self.now, 0) };
        let view = self.view(1, false);
        self.c.on_feedback(&feedback, &view);
    }

    fn loss(&mut self, in_flight: u64) {
        let view = self.view(in_flight, true);
        let event = CongestionEvent { now: self.now, cause: Cause::Loss };
        self.c.on_congestion(&event, &view);
    }
}

#[test]
fn a_window_that_is_half_used_grows_and_one_used_less_is_kept() {
    // RFC 7661 §4.3, §4.4.
    let mut flow = Flow::new(40);
    flow.rounds(40, 30);
    let grown = flow.c.window();
    assert!(grown > 41 * MSS, "{grown}");
    let mut flow = Flow::new(40);
    flow.rounds(4, 10);
    let window = flow.c.window();
    flow.rounds(100, 10);
    assert_eq!(flow.c.window(), window);
}

#[test]
fn without_a_measurement_nothing_is_inhibited() {
    // §4.2: pipeACK is undefined at first.
    let mut flow = Flow::new(40);
    flow.round(10);
    assert!(flow.c.window() > 40 * MSS);
}

#[test]
fn a_loss_in_the_non_validated_phase_falls_to_half_of_what_was_used() {
    // §4.4.1: cwnd = max(pipeACK, LossFlightSize) / 2, then minus R / 2.
    let mut flow = Flow::new(40);
    flow.rounds(20, 10);
    flow.loss(8);
    assert_eq!(flow.c.window(), 5 * MSS, "pipeACK");
    flow.feedback(2, true);
    assert_eq!(flow.c.window(), 5 * MSS);
    flow.feedback(0, false);
    assert_eq!((flow.c.window(), flow.c.ssthresh()), (4 * MSS, 4 * MSS));
    flow.feedback(0, true);
    flow.feedback(0, false);
    assert_eq!(flow.c.window(), 4 * MSS, "once");

    let mut flow = Flow::new(40);
    flow.rounds(20, 10);
    flow.loss(30);
    assert_eq!(flow.c.window(), 15 * MSS, "LossFlightSize: a burst");
}

#[test]
fn an_undo_takes_back_what_the_end_of_the_recovery_would_take() {
    let mut flow = Flow::new(40);
    flow.rounds(20, 10);
    let window = flow.c.window();
    flow.loss(8);
    flow.feedback(2, true);
    flow.c.on_undo();
    flow.feedback(0, false);
    assert_eq!(flow.c.window(), window);
}

#[test]
fn a_loss_in_the_validated_phase_is_reno_s() {
    let mut flow = Flow::new(40);
    flow.rounds(20, 40);
    let window = flow.c.window() / MSS;
    flow.loss(window);
    flow.feedback(4, true);
    flow.feedback(0, false);
    assert_eq!(flow.c.window(), window * MSS / 2);
}

#[test]
fn what_was_used_is_remembered_for_a_second() {
    // §4.2: the sampling period is max(3 RTT, 1 s).
    let mut flow = Flow::new(40);
    flow.rounds(20, 40);
    let window = flow.c.window();
    flow.rounds(6, 10);
    let after = flow.c.window();
    assert!(after > window, "0.6 s later a burst still counts");
    flow.rounds(10, 10);
    let kept = flow.c.window();
    flow.rounds(10, 10);
    assert_eq!(flow.c.window(), kept);
}

#[test]
fn idleness_keeps_the_window_for_five_minutes() {
    // §4.4.3: then ssthresh = max(ssthresh, 3 cwnd / 4), cwnd = max(cwnd / 2, IW).
    let mut flow = Flow::new(10);
    flow.rounds(200, 1000);
    let window = flow.c.window();
    flow.c.on_idle(10 * MSS);
    let view = flow.view(0, true);
    flow.now += Span::from_secs(299);
    flow.c.on_sent(flow.now, MSS, &view);
    assert_eq!(flow.c.window(), window);
    flow.now += Span::from_secs(2);
    flow.c.on_sent(flow.now, MSS, &view);
    assert_eq!(flow.c.window(), window / 2);
    assert!(flow.c.ssthresh().abs_diff(window * 3 / 4) <= 1);
}
