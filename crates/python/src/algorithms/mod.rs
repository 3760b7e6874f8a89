//! Algorithms in Python behind the seams of the core: one file a seam.
//!
//! A run that has some keeps the interpreter, so that a hook costs no more
//! than the call; the interpreter itself lets other threads in between. What
//! goes wrong in a hook ends that run as a [`Failure`].

mod destination;
mod events;
mod library;
mod limit;
mod object;
mod recovery;
mod regulator;
mod scheduler;
mod window;

pub(crate) use library::PythonLibrary;

use crate::AlgorithmError;
use anabranch_custom::{Failure, OptionValue, Options};
use anabranch_units::Time;
use limit::{CallTooLong, limited};
use pyo3::exceptions::{PyAttributeError, PyBaseException, PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};

/// Adds the classes of this module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<window::Window>()?;
    module.add_class::<events::Ack>()?;
    module.add_class::<events::Congestion>()?;
    module.add_class::<events::Sent>()?;
    module.add_class::<events::Report>()?;
    module.add_class::<events::Path>()?;
    module.add_class::<recovery::RecoveryAck>()?;
    module.add_class::<scheduler::Subflow>()?;
    module.add_class::<scheduler::DataStream>()?;
    module.add_class::<destination::Destination>()?;
    module.add_class::<regulator::ForwardLink>()?;
    module.add("CallTooLong", module.py().get_type::<CallTooLong>())?;
    module.add_function(wrap_pyfunction!(limit::limits_passed, module)?)?;
    module.add_function(wrap_pyfunction!(limit::set_call_limit, module)?)
}

pyo3::create_exception!(
    _core,
    WindowError,
    PyValueError,
    "A variable of a window algorithm was given what it cannot be."
);

/// A class of the user's and what its objects are made with; for all seams.
pub(crate) struct Class {
    name: String,
    class: Py<PyAny>,
    options: Py<PyDict>,
    /// The hooks that it defines itself.
    hooks: Vec<String>,
    /// Whether calls may take as long as they like.
    unlimited: bool,
}

impl Class {
    fn defines(&self, hook: &str) -> bool {
        self.hooks.iter().any(|item| item == hook)
    }

    /// Calls `call`, which calls one of its objects, under the limit for calls.
    #[inline]
    fn limited<R>(&self, py: Python<'_>, call: impl FnOnce() -> PyResult<R>) -> PyResult<R> {
        if self.unlimited { call() } else { limited(py, call) }
    }

    /// A new object, or what its `__init__` raises.
    fn make<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.class.bind(py).call((), Some(self.options.bind(py)))
    }

    /// Ends the run for an exception raised by a hook.
    fn raise(&self, py: Python<'_>, place: &str, hook: &str, error: PyErr) -> ! {
        let value = error.value(py);
        let kind = value.get_type();
        let kind = kind.name().map_or_else(|_| String::new(), |name| name.to_string());
        let too_long = error.is_instance_of::<CallTooLong>(py);
        let message = if too_long {
            let limit = limit::limit_s();
            format!("{hook} did not return within {limit} s, the limit of ANABRANCH_CALL_LIMIT")
        } else {
            // The text is the user's code, too.
            let text = self.limited(py, || value.str()?.extract::<String>());
            match text.as_deref() {
                Ok("") => format!("in {hook}: {kind}"),
                Ok(text) => {
                    let meant = self.limited(py, || attribute_meant(py, value)).ok().flatten();
                    let meant =
                        meant.map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
                    format!("in {hook}: {kind}: {}{meant}", shortened(text))
                }
                Err(_) => format!("in {hook}: {kind}, whose text cannot be had"),
            }
        };
        let at = self.place_of(py, &error);
        let broken = error.is_instance_of::<WindowError>(py).then_some("finite");
        let stops = too_long || is_interrupt(py, &error);
        Failure { stops, ..self.failure(py, place, message, at, Some(error), broken) }.raise()
    }

    /// Ends the run for a value that a hook left.
    /// `broken` is the invariant that it breaks.
    fn refuse(
        &self,
        py: Python<'_>,
        place: &str,
        hook: &str,
        problem: &str,
        broken: Option<&'static str>,
    ) -> ! {
        let code = || {
            let code = self.class.bind(py).getattr(hook)?.getattr("__code__")?;
            let file = code.getattr("co_filename")?.extract::<String>()?;
            PyResult::Ok((file, code.getattr("co_firstlineno")?.extract::<u32>()?))
        };
        let message = format!("after {hook}: {problem}");
        self.failure(py, place, message, code().ok(), None, broken).raise()
    }

    fn failure(
        &self,
        py: Python<'_>,
        place: &str,
        message: String,
        at: Option<(String, u32)>,
        error: Option<PyErr>,
        broken: Option<&'static str>,
    ) -> Failure {
        let cause =
            error.map(|error| Box::new(error.clone_ref(py)) as Box<dyn std::any::Any + Send>);
        let mut failure = Failure { cause, broken, ..Failure::new(&self.name, place, message) };
        if let Some((file, line)) = at {
            (failure.file, failure.line) = (Some(file), Some(line));
        }
        failure
    }

    /// The line that raised: the innermost in the file of the class, else the
    /// innermost.
    fn place_of(&self, py: Python<'_>, error: &PyErr) -> Option<(String, u32)> {
        let own = self.file(py);
        let mut next = error.traceback(py).map(Bound::into_any);
        let mut found: Option<(String, u32)> = None;
        while let Some(traceback) = next {
            let code = traceback.getattr("tb_frame").ok()?.getattr("f_code").ok()?;
            let file: String = code.getattr("co_filename").ok()?.extract().ok()?;
            let line = traceback.getattr("tb_lineno").ok()?.extract().ok()?;
            let stays = found.as_ref().is_some_and(|item| Some(&item.0) == own.as_ref());
            if !stays || Some(&file) == own.as_ref() {
                found = Some((file, line));
            }
            next = traceback.getattr("tb_next").ok().filter(|next| !next.is_none());
        }
        found
    }

    fn file(&self, py: Python<'_>) -> Option<String> {
        let module = self.class.bind(py).getattr("__module__").ok()?;
        let modules = py.import("sys").ok()?.getattr("modules").ok()?;
        modules.get_item(module).ok()?.getattr("__file__").ok()?.extract().ok()
    }
}

/// The name of the attribute that was probably meant where one was not found, if any is near.
fn attribute_meant(py: Python<'_>, error: &Bound<'_, PyBaseException>) -> PyResult<Option<String>> {
    if !error.is_instance_of::<PyAttributeError>() {
        return Ok(None);
    }
    let (wanted, owner) = (error.getattr("name")?, error.getattr("obj")?);
    let nearest = py.import("anabranch.nearest")?.getattr("nearest")?;
    nearest.call1((wanted, owner.dir()?))?.extract()
}

/// The first of a text that may be of any length.
fn shortened(text: &str) -> String {
    const MOST: usize = 300;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// The user interrupted the call: only the main thread hears the keyboard.
/// In another thread the algorithm raised it.
fn is_interrupt(py: Python<'_>, error: &PyErr) -> bool {
    let in_main = || {
        let threading = py.import("threading")?;
        let main = threading.call_method0("main_thread")?;
        PyResult::Ok(threading.call_method0("current_thread")?.is(&main))
    };
    error.is_instance_of::<PyKeyboardInterrupt>(py) && in_main().unwrap_or(false)
}

/// The exception for a run that a failure ended. An interrupt from the keyboard
/// goes on as it is.
pub(crate) fn error(py: Python<'_>, at: Option<Time>, failure: Failure) -> PyErr {
    let cause = failure.cause.as_ref().and_then(|cause| cause.downcast_ref::<PyErr>());
    let cause = cause.map(|cause| cause.clone_ref(py));
    if let Some(cause) = cause.as_ref().filter(|cause| is_interrupt(py, cause)) {
        return cause.clone_ref(py);
    }
    let facts = || {
        let dict = PyDict::new(py);
        dict.set_item("algorithm", &failure.algorithm)?;
        dict.set_item("place", &failure.place)?;
        dict.set_item("file", &failure.file)?;
        dict.set_item("line", failure.line)?;
        dict.set_item("time_s", at.map(Time::as_secs_f64))?;
        PyResult::Ok(dict.unbind())
    };
    let text = match at {
        Some(at) => format!("{failure} at {:.9} s", at.as_secs_f64()),
        None => failure.to_string(),
    };
    let error = match facts() {
        Ok(facts) => AlgorithmError::new_err((text, facts)),
        Err(error) => return error,
    };
    error.set_cause(py, cause);
    error
}

/// Options given as a dictionary.
pub(crate) fn parse_options(options: Option<&Bound<'_, PyDict>>) -> PyResult<Options> {
    let mut all = Options::new();
    for (name, value) in options.into_iter().flatten() {
        let value = if let Ok(cast) = value.cast::<PyBool>() {
            OptionValue::Boolean(cast.is_true())
        } else if let Ok(extract) = value.extract() {
            OptionValue::Integer(extract)
        } else if let Ok(extract) = value.extract() {
            OptionValue::Number(extract)
        } else {
            OptionValue::Text(value.extract()?)
        };
        all.insert(name.extract()?, value);
    }
    Ok(all)
}

fn options_dict<'py>(py: Python<'py>, options: &Options) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in options {
        match value {
            OptionValue::Boolean(boolean) => dict.set_item(name, boolean)?,
            OptionValue::Integer(integer) => dict.set_item(name, integer)?,
            OptionValue::Number(number) => dict.set_item(name, number)?,
            OptionValue::Text(text) => dict.set_item(name, text)?,
        }
    }
    Ok(dict)
}
