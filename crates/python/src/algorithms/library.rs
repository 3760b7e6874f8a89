//! The names of the user's own algorithms are Python's to look up
//! (`anabranch.algorithms.loading.find`), but for those of shared libraries, which have window algorithms alone.

use super::limit::{CallTooLong, limit_s, limited};
use super::{Class, destination, options_dict, recovery, regulator, scheduler, window};
use anabranch_congestion::MakeWindow;
use anabranch_custom::{Found, Options, is_library};
use anabranch_mptcp::scheduler::MakeScheduler;
use anabranch_network::MakeLaw;
use anabranch_scenario::Library;
use anabranch_sctp::policy::MakePolicy;
use anabranch_tcp::recovery::MakeDetector;
use pyo3::prelude::*;
use std::cell::Cell;
use std::sync::Arc;

/// Looks names up from the folder of a scenario, then from the working
/// directory.
pub(crate) struct PythonLibrary<'a> {
    /// The file of the scenario.
    file: &'a str,
    found: Cell<bool>,
}

impl PythonLibrary<'_> {
    /// For the scenario in this file.
    pub(crate) fn new(file: &str) -> PythonLibrary<'_> {
        PythonLibrary { file, found: Cell::new(false) }
    }

    /// Whether classes were found, so that a run with them keeps the interpreter.
    pub(crate) fn has_classes(&self) -> bool {
        self.found.get()
    }

    /// The class of that name, which must fit the seam, and the digest of its
    /// source.
    fn find(&self, seam: &str, name: &str, options: &Options) -> Result<(Class, String), String> {
        Python::attach(|py| {
            let found = || {
                let loading = py.import("anabranch.algorithms.loading")?;
                loading.call_method0("apply_limit")?;
                // A file runs when it is read.
                let find = || loading.call_method1("find", (seam, name, self.file));
                let found = limited(py, find)?;
                let options = options_dict(py, options)?;
                let class = found.getattr("kind")?;
                loading.call_method1("check_options", (&class, &options))?;
                let class = Class {
                    name: found.getattr("name")?.extract()?,
                    class: class.unbind(),
                    options: options.unbind(),
                    hooks: found.getattr("hooks")?.extract()?,
                    unlimited: found.getattr("unlimited")?.extract()?,
                };
                PyResult::Ok((class, found.getattr("source")?.extract::<String>()?))
            };
            found().map_err(|error| match error.is_instance_of::<CallTooLong>(py) {
                true => format!(
                    "a file that Python can import: it did not end within {} s, the limit of \
                     ANABRANCH_CALL_LIMIT",
                    limit_s()
                ),
                false => error.value(py).to_string(),
            })
        })
    }

    fn found<F: ?Sized>(
        &self,
        seam: &str,
        name: &str,
        options: &Options,
        maker: impl FnOnce(Arc<Class>) -> Arc<F>,
    ) -> Result<Found<F>, String> {
        let (class, source) = self.find(seam, name, options)?;
        self.found.set(true);
        Ok(Found { name: class.name.clone(), source, make: maker(Arc::new(class)) })
    }
}

impl Library for PythonLibrary<'_> {
    fn window(&self, name: &str, options: &Options) -> Result<Found<MakeWindow>, String> {
        if is_library(name) {
            return anabranch_plugin::find(name, self.file, options);
        }
        self.found("window", name, options, window::maker)
    }

    fn recovery(&self, name: &str, options: &Options) -> Result<Found<MakeDetector>, String> {
        self.found("recovery", name, options, recovery::maker)
    }

    fn scheduler(&self, name: &str, options: &Options) -> Result<Found<MakeScheduler>, String> {
        self.found("scheduler", name, options, scheduler::maker)
    }

    fn destination(&self, name: &str, options: &Options) -> Result<Found<MakePolicy>, String> {
        self.found("destination", name, options, destination::maker)
    }

    fn regulator(&self, name: &str, options: &Options) -> Result<Found<MakeLaw>, String> {
        self.found("regulator", name, options, regulator::maker)
    }
}
