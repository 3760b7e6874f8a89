//! What the tests of controllers share: events with one field to vary, and a
//! loss-free, queue-free path that turns a window into ACKs.

pub(crate) mod bottleneck;

use crate::{Acked, Cause, CongestionEvent, Controller, Feedback, PathView};
use anabranch_units::{Span, Time};

/// Octets per segment in tests.
pub(crate) const MSS: u64 = 1000;

/// A path with `segments` in flight and a round trip of 100 ms.
pub(crate) fn path(segments: u64) -> PathView {
    let rtt = Some(Span::from_millis(100));
    PathView {
        in_flight: segments * MSS,
        mss: MSS,
        srtt: rtt,
        min_rtt: rtt,
        app_limited: false,
        sent: 0,
        acked: 0,
    }
}

/// An ACK for `bytes` octets at time 0, without a round-trip sample.
pub(crate) fn ack(bytes: u64) -> Acked {
    Acked { now: Time::ZERO, bytes, rtt: None }
}

/// A signal of congestion at time 0.
pub(crate) fn event(cause: Cause) -> CongestionEvent {
    CongestionEvent { now: Time::ZERO, cause }
}

/// What an ACK at `now` told that newly delivered `bytes`, in order.
pub(crate) fn feedback(now: Time, bytes: u64) -> Feedback {
    Feedback {
        now,
        acked: bytes,
        delivered: bytes,
        lost: 0,
        marked: 0,
        rtt: Some(Span::from_millis(100)),
        rate: None,
        in_recovery: false,
    }
}

/// One flow that is always limited by its window: each segment is
/// acknowledged by an ACK of its own, evenly spaced in the round trip.
pub(crate) struct Path {
    pub(crate) now: Time,
    rtt: Span,
    /// Segments acknowledged so far.
    pub(crate) segments: u64,
}

impl Path {
    pub(crate) fn new(rtt: Span) -> Path {
        Path { now: Time::ZERO, rtt, segments: 0 }
    }

    fn view(&self, window: u64) -> PathView {
        PathView {
            in_flight: window,
            mss: MSS,
            srtt: Some(self.rtt),
            min_rtt: Some(self.rtt),
            app_limited: false,
            sent: self.segments * MSS + window,
            acked: self.segments * MSS,
        }
    }

    /// The next segment arrives and its ACK returns, spaced for the window of
    /// this moment.
    pub(crate) fn ack(&mut self, c: &mut impl Controller) {
        self.ack_of(c, c.window());
    }

    fn ack_of(&mut self, c: &mut impl Controller, window: u64) {
        let spacing = self.rtt.as_picos() as u128 * MSS as u128 / window as u128;
        self.now += Span::from_picos(spacing as u64);
        let sent = self.view(window).sent;
        self.segments += 1;
        let view = PathView { sent, ..self.view(window) };
        c.on_ack(&Acked { now: self.now, bytes: MSS, rtt: Some(self.rtt) }, &view);
        if c.wants_feedback() {
            c.on_feedback(&Feedback { rtt: Some(self.rtt), ..feedback(self.now, MSS) }, &view);
        }
    }

    /// The ACKs of one round trip: for the whole segments of a window.
    pub(crate) fn round(&mut self, c: &mut impl Controller) {
        let window = c.window() / MSS * MSS;
        for _ in 0..window / MSS {
            self.ack_of(c, window);
        }
    }

    /// A signal with a full window in flight.
    pub(crate) fn signal(&mut self, c: &mut impl Controller, cause: Cause) {
        let view = self.view(c.window());
        c.on_congestion(&CongestionEvent { now: self.now, cause }, &view);
    }

    /// Average window in segments over `epochs` losses, one every
    /// `1 / p` segments.
    pub(crate) fn periodic_loss(&mut self, c: &mut impl Controller, p: f64, epochs: u32) -> f64 {
        let (start, segments) = (self.now, self.segments);
        for _ in 0..epochs {
            for _ in 0..(1.0 / p).round() as u64 {
                self.ack(c);
            }
            self.signal(c, Cause::Loss);
        }
        let rounds = (self.now - start).as_secs_f64() / self.rtt.as_secs_f64();
        (self.segments - segments) as f64 / rounds
    }
}
