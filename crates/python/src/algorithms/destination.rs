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
        /// Place of the path in the list.
        index: usize,
        /// Confirmed, and neither inactive nor potentially failed.
        active: bool,
        /// May carry data at all if no path is active.
        confirmed: bool,
        /// Congestion window of the path.
        cwnd: u64,
        /// Slow-start threshold of the path.
        ssthresh: u64,
        /// Outstanding octets, chunk headers included.
        in_flight: u64,
        /// Estimated share of chunks that are lost.
        loss: f64,
        /// Smoothed round-trip time in seconds, once there was a sample.
        srtt_s: Option<f64>,
        /// Retransmission timeout in force in seconds, back-off included.
        rto_s: f64,
        /// Errors in a row, which an answer clears.
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
    Arc::new(move |place| Box::new(PythonPolicy { object: Object::new(&class, place) }))
}

#[derive(Debug)]
struct PythonPolicy {
    object: Object,
}

impl PythonPolicy {
    /// The paths as Python sees them.
    fn shown<'py>(py: Python<'py>, paths: &[Candidate]) -> PyResult<Bound<'py, PyTuple>> {
        let date = |date: Option<Time>| date.map(|date| date.as_secs_f64());
        let path = |(index, candidate): (usize, &Candidate)| Destination {
            index,
            active: candidate.active,
            confirmed: candidate.confirmed,
            cwnd: candidate.cwnd,
            ssthresh: candidate.ssthresh,
            in_flight: candidate.flight,
            loss: candidate.loss,
            srtt_s: seconds(candidate.srtt),
            rto_s: candidate.rto.as_secs_f64(),
            errors: candidate.errors,
            potentially_failed: candidate.potentially_failed,
            min_rtt_s: seconds(candidate.min_rtt),
            capacity: candidate.capacity,
            heard_s: date(candidate.heard),
            resent_s: date(candidate.resent),
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

impl Policy for PythonPolicy {
    fn choose(&mut self, reason: Reason, last: usize, paths: &[Candidate]) -> usize {
        Python::attach(|py| {
            let reason = match reason {
                Reason::FastRetransmit => "fast-retransmit",
                Reason::Timeout => "timeout",
            };
            let all = PythonPolicy::shown(py, paths);
            let chosen = self.object.call(py, "choose", all.map(|item| (reason, last, item)));
            self.index(py, "choose", &chosen, paths.len())
        })
    }

    fn failover(&mut self, primary: usize, paths: &[Candidate]) -> Option<usize> {
        if !self.object.class.defines("failover") {
            return None;
        }
        Python::attach(|py| {
            let all = PythonPolicy::shown(py, paths);
            let chosen = self.object.call(py, "failover", all.map(|item| (primary, item)));
            (!chosen.is_none()).then(|| self.index(py, "failover", &chosen, paths.len()))
        })
    }
}
