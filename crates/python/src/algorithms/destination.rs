//! Path policies of SCTP in Python.

use super::Class;
use super::events::seconds;
use super::object::{Object, view};
use anabranch_sctp::policy::{Candidate, MakePolicy, Policy, Reason};
use anabranch_units::Time;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::Arc;

view! {
    /// What a path policy sees of a path. Octets, unless a name says otherwise.
    Destination {
        /// Its place in the list.
        index: usize,
        /// Confirmed, and neither inactive nor potentially failed.
        active: bool,
        /// May carry data at all if no path is active.
        confirmed: bool,
        /// Congestion window.
        cwnd: u64,
        /// Slow-start threshold.
        ssthresh: u64,
        /// Outstanding.
        in_flight: u64,
        /// Estimated share of chunks that are lost.
        loss: f64,
        /// Smoothed round-trip time in seconds, once there was a sample.
        srtt_s: Option<f64>,
        /// Retransmission timeout in force in seconds, back-off included.
        rto_s: f64,
        /// Errors in a row.
        errors: u32,
        /// Potentially failed: carries data where no path is active.
        potentially_failed: bool,
        /// Least round-trip time in seconds, once there was a sample.
        min_rtt_s: Option<f64>,
        /// Octets a second that the path takes, once a queue has been seen there.
        capacity: Option<f64>,
        /// Date in seconds of when the peer last acknowledged what was sent there.
        heard_s: Option<f64>,
        /// Date in seconds of the last retransmission that went there.
        resent_s: Option<f64>,
    }
}

/// What makes policies of a class.
pub(super) fn maker(class: Arc<Class>) -> Arc<MakePolicy> {
    Arc::new(move |place| Box::new(Own { object: Object::new(&class, place) }))
}

#[derive(Debug)]
struct Own {
    object: Object,
}

impl Own {
    /// The paths as Python sees them.
    fn shown<'py>(py: Python<'py>, paths: &[Candidate]) -> PyResult<Bound<'py, PyTuple>> {
        let date = |date: Option<Time>| date.map(|it| it.as_secs_f64());
        let path = |(index, it): (usize, &Candidate)| Destination {
            index,
            active: it.active,
            confirmed: it.confirmed,
            cwnd: it.cwnd,
            ssthresh: it.ssthresh,
            in_flight: it.flight,
            loss: it.loss,
            srtt_s: seconds(it.srtt),
            rto_s: it.rto.as_secs_f64(),
            errors: it.errors,
            potentially_failed: it.potentially_failed,
            min_rtt_s: seconds(it.min_rtt),
            capacity: it.capacity,
            heard_s: date(it.heard),
            resent_s: date(it.resent),
        };
        PyTuple::new(py, paths.iter().enumerate().map(path))
    }

    /// The index that `hook` returned; ends the run where it is none.
    fn index(&self, py: Python<'_>, hook: &str, chosen: &Bound<'_, PyAny>, count: usize) -> usize {
        match chosen.extract().ok().filter(|index: &usize| *index < count) {
            Some(index) => index,
            None => {
                let allowed = format!("the index of a path, 0 to {}", count - 1);
                self.object.refuse(py, hook, chosen, &allowed)
            }
        }
    }
}

impl Policy for Own {
    fn choose(&mut self, reason: Reason, last: usize, paths: &[Candidate]) -> usize {
        Python::attach(|py| {
            let reason = match reason {
                Reason::FastRetransmit => "fast-retransmit",
                Reason::Timeout => "timeout",
            };
            let all = Own::shown(py, paths);
            let chosen = self.object.call(py, "choose", all.map(|it| (reason, last, it)));
            self.index(py, "choose", &chosen, paths.len())
        })
    }

    fn failover(&mut self, primary: usize, paths: &[Candidate]) -> Option<usize> {
        if !self.object.class.defines("failover") {
            return None;
        }
        Python::attach(|py| {
            let all = Own::shown(py, paths);
            let chosen = self.object.call(py, "failover", all.map(|it| (primary, it)));
            (!chosen.is_none()).then(|| self.index(py, "failover", &chosen, paths.len()))
        })
    }
}
