//! An object of a class of the user's, for the seams that call it seldom: made
//! with the first call, asked by the name of a hook.

use super::Class;
use anabranch_custom::Place;
use pyo3::prelude::*;
use std::fmt;
use std::sync::Arc;

pub(super) struct Object {
    pub class: Arc<Class>,
    place: Place,
    made: Option<Py<PyAny>>,
}

impl Object {
    pub fn new(class: &Arc<Class>, place: &Place) -> Object {
        Object { class: class.clone(), place: place.clone(), made: None }
    }

    fn made<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyAny> {
        if self.made.is_none() {
            let made = || {
                let limited = self.class.limited(py, || self.class.make(py))?;
                limited.setattr("seed", self.place.seed)?;
                limited.setattr("place", &self.place.name)?;
                self.class.limited(py, || limited.call_method0("on_start"))?;
                PyResult::Ok(limited)
            };
            match made() {
                Ok(made) => self.made = Some(made.unbind()),
                Err(error) => self.class.raise(py, &self.place.name, "on_start", error),
            }
        }
        self.made.as_ref().expect("made above").bind(py).clone()
    }

    /// Calls `hook` and returns what it returns.
    pub fn call<'py, A: pyo3::call::PyCallArgs<'py>>(
        &mut self,
        py: Python<'py>,
        hook: &str,
        argument: PyResult<A>,
    ) -> Bound<'py, PyAny> {
        let made = self.made(py);
        let result = argument
            .and_then(|argument| self.class.limited(py, || made.getattr(hook)?.call1(argument)));
        result.unwrap_or_else(|error| self.class.raise(py, &self.place.name, hook, error))
    }

    /// Ends the run for what `hook` returned.
    pub fn refuse(
        &self,
        py: Python<'_>,
        hook: &str,
        returned: &Bound<'_, PyAny>,
        allowed: &str,
    ) -> ! {
        let shown = returned.repr().map_or_else(|_| "?".into(), |text| text.to_string());
        let problem = format!("it returned {shown}: allowed: {allowed}");
        self.class.refuse(py, &self.place.name, hook, &problem, None)
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.class.name, self.place.name)
    }
}

/// A class of plain values with getters.
macro_rules! view {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $kind:ty),* $(,)? }) => {
        $(#[$doc])*
        #[pyclass(frozen, module = "anabranch.algorithms")]
        pub(crate) struct $name {
            $($(#[$field_doc])* #[pyo3(get)] pub(super) $field: $kind,)*
        }
    };
}
pub(super) use view;
