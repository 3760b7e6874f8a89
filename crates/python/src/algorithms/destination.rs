//! Path policies of SCTP in Python.

use super::Class;
use super::events::seconds;
use super::object::{Object, view};
use anabranch_sctp::policy::{Candidate, MakePolicy, Policy, Reason};
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

impl Policy for Own {
    fn choose(&mut self, reason: Reason, last: usize, paths: &[Candidate]) -> usize {
        Python::attach(|py| {
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
            };
            let reason = match reason {
                Reason::FastRetransmit => "fast-retransmit",
                Reason::Timeout => "timeout",
            };
            let all = PyTuple::new(py, paths.iter().enumerate().map(path));
            let chosen = self.object.call(py, "choose", all.map(|it| (reason, last, it)));
            match chosen.extract().ok().filter(|index: &usize| *index < paths.len()) {
                Some(index) => index,
                None => {
                    let allowed = format!("the index of a path, 0 to {}", paths.len() - 1);
                    self.object.refuse(py, "choose", &chosen, &allowed)
                }
            }
        })
    }
}
