//! Schedulers of Multipath TCP in Python.

use super::Class;
use super::object::{Object, view};
use anabranch_mptcp::scheduler::{Candidate, Choice, MakeScheduler, Scheduler, Stream};
use anabranch_units::Time;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::Arc;

view! {
    /// What a scheduler sees of a subflow. Octets, unless a name says otherwise.
    Subflow {
        /// Number of the subflow, stable while it lives.
        id: u32,
        /// A segment of new data would leave at once.
        has_room: bool,
        /// Smoothed round-trip time in seconds.
        srtt_s: f64,
        /// Mean deviation of the round-trip time, in seconds.
        rttvar_s: f64,
        /// Congestion window of the subflow.
        cwnd: u64,
        /// Octets of the subflow in the network.
        in_flight: u64,
        /// Payload of a full segment.
        mss: u64,
        /// The data offset after the last that it was given.
        sent_to: u64,
    }
}

view! {
    /// What a scheduler sees of the stream, in data offsets and octets.
    DataStream {
        /// Simulated time in seconds.
        time_s: f64,
        /// Oldest offset that is not acknowledged.
        una: u64,
        /// Next offset that no subflow has.
        nxt: u64,
        /// Octets that wait to be given to a subflow.
        unsent: u64,
        /// Octets of them that the receiver's window lets leave.
        window_left: u64,
    }
}

/// What makes schedulers of a class.
pub(super) fn maker(class: Arc<Class>) -> Arc<MakeScheduler> {
    Arc::new(move |place| Box::new(PythonScheduler { object: Object::new(&class, place) }))
}

#[derive(Debug)]
struct PythonScheduler {
    object: Object,
}

const ALLOWED: &str = "None, the id of a subflow with room, or a pair of such an id and the \
                       offset from which on to send a copy, below stream.nxt";

impl Scheduler for PythonScheduler {
    fn choose(&mut self, candidates: &[Candidate], stream: &Stream) -> Choice {
        Python::attach(|py| {
            let subflow = |candidate: &Candidate| Subflow {
                id: candidate.id,
                has_room: candidate.has_room,
                srtt_s: candidate.srtt.as_secs_f64(),
                rttvar_s: candidate.rttvar.as_secs_f64(),
                cwnd: candidate.cwnd,
                in_flight: candidate.in_flight,
                mss: candidate.mss,
                sent_to: candidate.sent_to,
            };
            let view = DataStream {
                time_s: stream.now.as_secs_f64(),
                una: stream.una,
                nxt: stream.nxt,
                unsent: stream.unsent,
                window_left: stream.window_left,
            };
            let subflows = PyTuple::new(py, candidates.iter().map(subflow));
            let chosen = self.object.call(py, "choose", subflows.map(|subflow| (subflow, view)));
            let has_room = |id: u32| {
                candidates.iter().any(|candidate| candidate.id == id && candidate.has_room)
            };
            if chosen.is_none() {
                Choice::Wait
            } else if let Some(id) = chosen.extract().ok().filter(|id| has_room(*id)) {
                Choice::New(id)
            } else if let Some((id, from)) = chosen
                .extract::<(u32, u64)>()
                .ok()
                .filter(|(id, from)| has_room(*id) && *from < stream.nxt)
            {
                Choice::Copy { id, from }
            } else {
                self.object.refuse(py, "choose", &chosen, ALLOWED)
            }
        })
    }

    fn on_window_blocked(&mut self, now: Time) {
        if self.object.class.defines("on_window_blocked") {
            Python::attach(|py| {
                self.object.call(py, "on_window_blocked", Ok((now.as_secs_f64(),)));
            });
        }
    }

    fn copies(&self) -> bool {
        self.object.class.defines("copies")
    }
}
