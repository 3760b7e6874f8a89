//! What hooks of window algorithms in Python are told. Octets, unless a name
//! says otherwise; times are converted when they are asked for.

use anabranch_congestion::{Acked, Cause, CongestionEvent, Feedback, PathView, Sibling};
use anabranch_units::{Span, Time};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

pub(super) fn seconds(span: Option<Span>) -> Option<f64> {
    span.map(Span::as_secs_f64)
}

/// A class with the getters of the path, and its own.
macro_rules! event {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $kind:ty),* $(,)? } $($own:item)*) => {
        $(#[$doc])*
        #[pyclass(frozen, module = "anabranch.algorithms")]
        pub(crate) struct $name {
            pub(super) now: Time,
            pub(super) path: PathView,
            $(pub(super) $field: $kind,)*
        }

        #[pymethods]
        impl $name {
            /// Simulated time in seconds.
            #[getter]
            fn time_s(&self) -> f64 {
                self.now.as_secs_f64()
            }
            /// Octets estimated to be in the network, before the event.
            #[getter]
            fn in_flight(&self) -> u64 {
                self.path.in_flight
            }
            /// Largest segment payload.
            #[getter]
            fn mss(&self) -> u64 {
                self.path.mss
            }
            /// Smoothed round-trip time in seconds, once measured.
            #[getter]
            fn srtt_s(&self) -> Option<f64> {
                seconds(self.path.srtt)
            }
            /// Smallest round-trip time seen, in seconds.
            #[getter]
            fn min_rtt_s(&self) -> Option<f64> {
                seconds(self.path.min_rtt)
            }
            /// The application, not the window, limits sending: the window must not grow.
            #[getter]
            fn app_limited(&self) -> bool {
                self.path.app_limited
            }
            /// Octets sent so far, each counted once.
            #[getter]
            fn total_sent(&self) -> u64 {
                self.path.sent
            }
            /// Octets acknowledged so far, in order.
            #[getter]
            fn total_acked(&self) -> u64 {
                self.path.acked
            }
            $($own)*
        }
    };
}

event! {
    /// New data was acknowledged while the window may grow.
    Ack { event: Acked, after_timeout: bool, siblings: Box<[Sibling]> }

    /// Octets newly acknowledged, as the flow counts them.
    #[getter]
    fn acked(&self) -> u64 {
        self.event.bytes
    }
    /// The round-trip sample of this ACK in seconds, if it has one.
    #[getter]
    fn rtt_s(&self) -> Option<f64> {
        seconds(self.event.rtt)
    }
    /// What a timeout found lost is being sent again: one segment an ACK (RFC 3465 §2.3).
    #[getter]
    fn after_timeout(&self) -> bool {
        self.after_timeout
    }
    /// The connection's other paths; empty where there is one path, or the class is not coupled.
    #[getter]
    fn siblings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.siblings.iter().map(|sibling| Path { sibling: *sibling }))
    }
}

event! {
    /// A signal of congestion with its cause.
    Congestion { event: CongestionEvent, repeated: bool }

    /// `loss`, `timeout` or `mark`.
    #[getter]
    fn cause(&self) -> &'static str {
        match self.event.cause {
            Cause::Loss => "loss",
            Cause::Timeout => "timeout",
            Cause::EcnMark => "mark",
        }
    }
    /// A timeout without an ACK since the last: it is no new signal (RFC 5681 §3.1).
    #[getter]
    fn repeated(&self) -> bool {
        self.repeated
    }
}

event! {
    /// Data has left the sender.
    Sent { bytes: u64 }

    /// Octets of the segment.
    #[getter]
    fn bytes(&self) -> u64 {
        self.bytes
    }
}

event! {
    /// All that an acknowledgment told, whether the window may grow with it or not.
    Report { event: Feedback }

    /// Octets newly acknowledged, in order.
    #[getter]
    fn acked(&self) -> u64 {
        self.event.acked
    }
    /// Octets newly known to have arrived, in order or selectively.
    #[getter]
    fn delivered(&self) -> u64 {
        self.event.delivered
    }
    /// Octets newly believed lost.
    #[getter]
    fn lost(&self) -> u64 {
        self.event.lost
    }
    /// Octets newly reported to have met congestion (ECN).
    #[getter]
    fn marked(&self) -> u64 {
        self.event.marked
    }
    /// The round-trip sample of this acknowledgment in seconds, if it has one.
    #[getter]
    fn rtt_s(&self) -> Option<f64> {
        seconds(self.event.rtt)
    }
    /// A loss is being repaired.
    #[getter]
    fn in_recovery(&self) -> bool {
        self.event.in_recovery
    }
    /// The delivery-rate sample in octets per second, if there is one.
    #[getter]
    fn rate(&self) -> Option<f64> {
        let rate = self.event.rate?;
        let seconds = rate.interval.as_secs_f64();
        (seconds > 0.0).then(|| rate.delivered as f64 / seconds)
    }
    /// The application limited that sample.
    #[getter]
    fn rate_app_limited(&self) -> bool {
        self.event.rate.is_some_and(|rate| rate.app_limited)
    }
}

/// Another path of the same connection.
#[pyclass(frozen, module = "anabranch.algorithms")]
pub(crate) struct Path {
    sibling: Sibling,
}

#[pymethods]
impl Path {
    /// Congestion window in octets.
    #[getter]
    fn cwnd(&self) -> u64 {
        self.sibling.window
    }
    /// Whether the path's window is below its threshold.
    #[getter]
    fn in_slow_start(&self) -> bool {
        self.sibling.slow_start
    }
    /// Largest segment payload.
    #[getter]
    fn mss(&self) -> u64 {
        self.sibling.mss
    }
    /// Smoothed round-trip time in seconds, once measured.
    #[getter]
    fn srtt_s(&self) -> Option<f64> {
        seconds(self.sibling.srtt)
    }
    /// Smallest round-trip time seen, in seconds.
    #[getter]
    fn min_rtt_s(&self) -> Option<f64> {
        seconds(self.sibling.min_rtt)
    }
    /// State that its algorithm shares (`shared`).
    #[getter]
    fn shared(&self) -> f64 {
        self.sibling.state.own
    }
}
