//! Congestion controllers in Python, coupled ones too.
//!
//! An object is made with the first data that its side sends, so that the side
//! that only receives has none. Its variables live in the native base class:
//! the core reads them without asking the interpreter.

use super::events::{Ack, Congestion, Report, Sent};
use super::{Class, WindowError};
use anabranch_congestion::{
    Acked, CongestionEvent, Controller, Feedback, MakeWindow, PathView, Shared, Sibling,
};
use anabranch_custom::Place;
use anabranch_units::{Rate, Span, Time};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::Arc;

/// Most octets that a window may have.
const LARGEST: f64 = (1_u64 << 40) as f64;

/// The variables of a window algorithm.
#[pyclass(subclass, module = "anabranch._core")]
pub(crate) struct Window {
    cwnd: f64,
    ssthresh: f64,
    pacing_bps: Option<f64>,
    shared: f64,
    mss: u64,
    seed: u64,
    place: String,
}

#[pymethods]
impl Window {
    #[new]
    #[pyo3(signature = (*_arguments, **_options))]
    fn new(_arguments: &Bound<'_, PyTuple>, _options: Option<&Bound<'_, PyDict>>) -> Window {
        Window {
            cwnd: 0.0,
            ssthresh: f64::INFINITY,
            pacing_bps: None,
            shared: 0.0,
            mss: 0,
            seed: 0,
            place: String::new(),
        }
    }

    /// Congestion window in octets.
    #[getter]
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    #[setter]
    fn set_cwnd(&mut self, octets: f64) -> PyResult<()> {
        if !(0.0..=LARGEST).contains(&octets) {
            let allowed = "a number of octets from one segment to 2**40";
            return Err(WindowError::new_err(format!("cwnd = {octets}: allowed: {allowed}")));
        }
        self.cwnd = octets;
        Ok(())
    }

    /// Slow-start threshold in octets; infinite at first.
    #[getter]
    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    #[setter]
    fn set_ssthresh(&mut self, octets: f64) -> PyResult<()> {
        if octets.is_nan() || octets < 0.0 {
            let allowed = "a number of octets, or infinity";
            return Err(WindowError::new_err(format!("ssthresh = {octets}: allowed: {allowed}")));
        }
        self.ssthresh = octets;
        Ok(())
    }

    /// Rate to pace at, in bit/s; `None` when sending is driven by ACKs alone.
    #[getter]
    fn pacing_bps(&self) -> Option<f64> {
        self.pacing_bps
    }

    #[setter]
    fn set_pacing_bps(&mut self, rate: Option<f64>) -> PyResult<()> {
        if rate.is_some_and(|rate| !(1.0..=1e15).contains(&rate)) {
            let allowed = "None, or a rate from 1 to 1e15 bit/s";
            return Err(WindowError::new_err(format!("pacing_bps = {rate:?}: allowed: {allowed}")));
        }
        self.pacing_bps = rate;
        Ok(())
    }

    /// What the connection's other paths should know of this one.
    #[getter]
    fn shared(&self) -> f64 {
        self.shared
    }

    #[setter]
    fn set_shared(&mut self, value: f64) {
        self.shared = value;
    }

    /// Largest segment payload in octets; 0 before `on_start`.
    #[getter]
    fn mss(&self) -> u64 {
        self.mss
    }

    /// A seed for a generator of its own: `random.Random(self.seed)` in `on_start`.
    #[getter]
    fn seed(&self) -> u64 {
        self.seed
    }

    /// The flow and the side that it governs.
    #[getter]
    fn place(&self) -> &str {
        &self.place
    }
}

impl Window {
    /// Returns window and threshold, as reductions and their undoing have them.
    fn variables(&self) -> anabranch_congestion::Window {
        anabranch_congestion::Window { cwnd: self.cwnd, ssthresh: self.ssthresh }
    }
}

/// What makes controllers of a class.
pub(super) fn maker(class: Arc<Class>) -> Arc<MakeWindow> {
    Arc::new(move |place, initial_window, initial_ssthresh| {
        Box::new(Control {
            hears_sent: class.defines("on_sent"),
            hears_reports: class.defines("on_report"),
            coupled: class.defines("coupled"),
            class: class.clone(),
            place: place.clone(),
            object: None,
            cwnd: initial_window,
            ssthresh: initial_ssthresh,
            pacing: None,
            shared: 0.0,
            before: None,
            backed_off: false,
            repairing: false,
            siblings: Vec::new(),
        })
    })
}

/// A controller and its object.
struct Control {
    class: Arc<Class>,
    place: Place,
    object: Option<Object>,
    cwnd: u64,
    ssthresh: u64,
    pacing: Option<Rate>,
    shared: f64,
    /// Window and threshold before the last reduction, to undo it.
    before: Option<anabranch_congestion::Window>,
    /// A timeout, and no ACK since.
    backed_off: bool,
    /// A timeout, and slow start since.
    repairing: bool,
    siblings: Vec<Sibling>,
    hears_sent: bool,
    hears_reports: bool,
    coupled: bool,
}

/// An object, and its bound hooks.
struct Object {
    window: Py<Window>,
    on_ack: Py<PyAny>,
    mss: u64,
}

impl Control {
    /// Calls `hook` of the object with what `argument` makes, and takes over
    /// what it left.
    fn call<'py, A: pyo3::call::PyCallArgs<'py>>(
        &mut self,
        py: Python<'py>,
        hook: &'static str,
        argument: impl FnOnce(&mut Control) -> PyResult<A>,
    ) {
        let result = argument(self).and_then(|argument| {
            self.class.limited(py, || match (&self.object, hook) {
                (Some(object), "on_ack") => object.on_ack.bind(py).call1(argument),
                (Some(object), _) => object.window.bind(py).getattr(hook)?.call1(argument),
                (None, _) => Ok(py.None().into_bound(py)),
            })
        });
        match result {
            Ok(_) => self.take(py, hook),
            Err(error) => self.class.raise(py, &self.place.name, hook, error),
        }
    }

    /// Reads what a hook left.
    #[inline]
    fn take(&mut self, py: Python<'_>, hook: &str) {
        let Some(object) = &self.object else { return };
        let left = object.window.bind(py).borrow();
        if left.cwnd < object.mss as f64 {
            let problem =
                format!("cwnd is {}, less than a segment of {} octets", left.cwnd, object.mss);
            drop(left);
            self.class.refuse(py, &self.place.name, hook, &problem, Some("one-segment"));
        }
        self.cwnd = left.cwnd as u64;
        self.ssthresh = left.ssthresh as u64; // saturates
        self.pacing = left.pacing_bps.and_then(|rate| Rate::from_bps(rate as u64));
        self.shared = left.shared;
    }

    /// Makes the object, before the first hook.
    #[cold]
    fn start(&mut self, py: Python<'_>, mss: u64) {
        let made = || {
            let window = self.class.limited(py, || self.class.make(py))?.cast_into::<Window>()?;
            {
                let mut window = window.borrow_mut();
                if window.cwnd == 0.0 {
                    window.cwnd = self.cwnd as f64;
                }
                if window.ssthresh.is_infinite() && self.ssthresh != u64::MAX {
                    window.ssthresh = self.ssthresh as f64;
                }
                window.mss = mss;
                window.seed = self.place.seed;
                window.place = self.place.name.clone();
            }
            let on_ack = window.getattr("on_ack")?.unbind();
            PyResult::Ok(Object { window: window.unbind(), on_ack, mss })
        };
        match made() {
            Ok(object) => self.object = Some(object),
            Err(error) => self.class.raise(py, &self.place.name, "__init__", error),
        }
        self.call(py, "on_start", |_| Ok(()));
    }

    #[inline]
    fn started(&mut self, py: Python<'_>, mss: u64) {
        match &mut self.object {
            None => self.start(py, mss),
            Some(object) if object.mss != mss => {
                object.mss = mss;
                object.window.bind(py).borrow_mut().mss = mss;
            }
            Some(_) => {}
        }
    }

    fn variables(&self, py: Python<'_>) -> Option<anabranch_congestion::Window> {
        let window = self.object.as_ref()?.window.bind(py).borrow();
        Some(window.variables())
    }
}

impl Controller for Control {
    fn on_sent(&mut self, now: Time, bytes: u64, path: &PathView) {
        if self.object.is_some() && !self.hears_sent {
            return;
        }
        Python::attach(|py| {
            self.started(py, path.mss);
            if self.hears_sent {
                self.call(py, "on_sent", |_| Ok((Sent { now, path: *path, bytes },)));
            }
        });
    }

    fn on_ack(&mut self, acked: &Acked, path: &PathView) {
        self.backed_off = false;
        Python::attach(|py| {
            self.started(py, path.mss);
            self.repairing &= path.app_limited || self.cwnd < self.ssthresh;
            self.call(py, "on_ack", |this| {
                let (siblings, after_timeout) = (this.siblings.as_slice().into(), this.repairing);
                Ok((Ack { now: acked.now, path: *path, event: *acked, after_timeout, siblings },))
            });
        });
    }

    fn wants_feedback(&self) -> bool {
        self.hears_reports
    }

    fn on_feedback(&mut self, feedback: &Feedback, path: &PathView) {
        if !self.hears_reports {
            return;
        }
        Python::attach(|py| {
            self.started(py, path.mss);
            self.call(py, "on_report", |_| {
                Ok((Report { now: feedback.now, path: *path, event: *feedback },))
            });
        });
    }

    fn on_congestion(&mut self, event: &CongestionEvent, path: &PathView) {
        use anabranch_congestion::Cause;
        Python::attach(|py| {
            self.started(py, path.mss);
            let timeout = event.cause == Cause::Timeout;
            // Timeouts in a row are one reduction.
            let repeated = timeout && self.backed_off;
            if !repeated {
                self.before = self.variables(py);
            }
            self.backed_off |= timeout;
            self.repairing |= timeout;
            let hook = match event.cause {
                Cause::Loss => "on_loss",
                Cause::Timeout => "on_timeout",
                Cause::EcnMark => "on_mark",
            };
            self.call(py, hook, |_| {
                Ok((Congestion { now: event.now, path: *path, event: *event, repeated },))
            });
        });
    }

    fn on_undo(&mut self) {
        let Some(before) = self.before.take() else { return };
        Python::attach(|py| {
            if self.class.defines("on_undo") {
                self.call(py, "on_undo", |_| Ok((before.cwnd, before.ssthresh)));
            } else if let Some(object) = &self.object {
                let mut window = object.window.bind(py).borrow_mut();
                let mut variables = window.variables();
                if !variables.undo(before) {
                    return;
                }
                (window.cwnd, window.ssthresh) = (variables.cwnd, variables.ssthresh);
                drop(window);
                self.take(py, "on_undo");
            }
            (self.backed_off, self.repairing) = (false, false);
        });
    }

    fn on_idle(&mut self, initial: u64) {
        self.before = None;
        Python::attach(|py| self.call(py, "on_idle", |_| Ok((initial as f64,))));
    }

    fn is_coupled(&self) -> bool {
        self.coupled
    }

    fn on_siblings(&mut self, siblings: &[Sibling]) {
        self.siblings.clear();
        self.siblings.extend_from_slice(siblings);
    }

    fn shared(&self) -> Shared {
        Shared { own: self.shared, ..Shared::default() }
    }

    fn on_penalty(&mut self, _mss: u64) {
        self.before = None;
        Python::attach(|py| self.call(py, "on_penalty", |_| Ok(())));
    }

    fn window(&self) -> u64 {
        self.cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    fn pacing_rate(&self, _srtt: Option<Span>) -> Option<Rate> {
        self.pacing
    }
}
