//! Laws that hold ACKs, in Python.

use super::Class;
use super::object::{Object, view};
use anabranch_network::{DelayLaw, Forward, MakeLaw};
use anabranch_units::{Span, Time};
use pyo3::prelude::*;
use std::sync::Arc;

view! {
    /// What a law sees of the forward link.
    ForwardLink {
        /// Simulated time in seconds.
        time_s: f64,
        /// Time that the ACK at the head has been held, in seconds.
        held_s: f64,
        /// Packets that wait in the queue.
        packets: u64,
        /// Octets of the packets that wait.
        octets: u64,
        /// Octets that came to the link so far.
        octets_received: u64,
        /// The rate of the link in bit/s, where it has one.
        rate_bps: Option<u64>,
    }
}

/// What makes laws of a class.
pub(super) fn maker(class: Arc<Class>) -> Arc<MakeLaw> {
    Arc::new(move |place| Box::new(PythonLaw { object: Object::new(&class, place) }))
}

#[derive(Debug)]
struct PythonLaw {
    object: Object,
}

impl DelayLaw for PythonLaw {
    fn delay(&mut self, forward: &Forward) -> Span {
        Python::attach(|py| {
            let view = ForwardLink {
                time_s: forward.now.as_secs_f64(),
                held_s: forward.now.saturating_since(forward.since).as_secs_f64(),
                packets: forward.packets,
                octets: forward.octets,
                octets_received: forward.octets_received,
                rate_bps: forward.rate.map(|rate| rate.as_bps()),
            };
            let delay = self.object.call(py, "delay", Ok((view,)));
            let span = delay.extract::<f64>().ok().filter(|seconds| *seconds >= 0.0);
            match span.and_then(Span::from_secs_f64) {
                Some(span) => span,
                None => {
                    let allowed = "a number of seconds, 0 or more";
                    self.object.refuse(py, "delay", &delay, allowed)
                }
            }
        })
    }

    fn on_release(&mut self, now: Time) {
        if self.object.class.defines("on_release") {
            Python::attach(|py| {
                self.object.call(py, "on_release", Ok((now.as_secs_f64(),)));
            });
        }
    }
}
