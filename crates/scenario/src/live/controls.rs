//! Window algorithms that external senders name and their kernel lacks: ours, loaded for the run.

use crate::InputError;
use crate::run_error::RunError;
use anabranch_congestion::Algorithm;
use anabranch_kernel::{ALGORITHMS, Algorithm as Object, Counts};
use anabranch_live::{Couplings, KernelControl, control};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The algorithms that a run has loaded. They leave the kernel when this is dropped.
#[derive(Debug)]
pub(super) struct Controls {
    kernels: Vec<String>,
    /// The loaded algorithms, by the names that scenarios have for them.
    loaded: BTreeMap<&'static str, KernelControl>,
}

/// What an algorithm of ours counted in the kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ControlRow {
    /// Name of the algorithm in scenarios.
    pub window: String,
    /// Name under which the kernel knew it.
    pub name: String,
    /// Totals that it counted in the kernel.
    pub counts: Counts,
}

impl Controls {
    pub fn new() -> Controls {
        Controls { kernels: control::available(), loaded: BTreeMap::new() }
    }

    /// What the kernel calls a sender's algorithm, which is loaded if need be; `field` and `host` are for messages.
    ///
    /// # Errors
    /// Neither the kernel nor we have it, or it cannot be loaded.
    pub fn offer(
        &mut self,
        window: &Algorithm,
        field: &str,
        host: &str,
    ) -> Result<String, RunError> {
        let name = window.name();
        if self.kernels.iter().any(|kernel| kernel == name) {
            return Ok(name.to_owned());
        }
        let Some(object) = Object::from_name(name) else {
            let ours = ALGORITHMS.iter().map(|algorithm| algorithm.name);
            let known: Vec<_> = self.kernels.iter().map(String::as_str).chain(ours).collect();
            let allowed = format!(
                "a congestion control of this kernel, or one of ours that can be loaded into it, for the \
                 external sender {host}: {}",
                known.join(", ")
            );
            return Err(InputError::field(format!("{field}.algorithm"), name, allowed).into());
        };
        if !has_default_law(window) {
            let allowed = format!(
                "the algorithm's own options at their defaults, as the kernel's form of `{name}` has them, for \
                 the external sender {host}"
            );
            return Err(InputError::field(field, name, allowed).into());
        }
        if let Some(control) = self.loaded.get(name) {
            return Ok(control.name().to_owned());
        }
        let control = KernelControl::load_for_run(object)?;
        let name = control.name().to_owned();
        self.loaded.insert(object.name, control);
        Ok(name)
    }

    /// What the kernel calls an algorithm that was offered.
    pub fn name<'a>(&'a self, window: &'a str) -> &'a str {
        self.loaded.get(window).map_or(window, KernelControl::name)
    }

    /// What couples the subflows that have an algorithm of ours; `None` where none is loaded, or it is not coupled.
    pub fn couplings(&self, window: &str) -> Option<Arc<Couplings>> {
        self.loaded.get(window).and_then(KernelControl::couplings)
    }

    /// What those of ours counted.
    pub fn rows(&self) -> Vec<ControlRow> {
        let row = |(window, control): (&&str, &KernelControl)| {
            let counts = control.counts().unwrap_or_default();
            ControlRow { window: (*window).to_owned(), name: control.name().to_owned(), counts }
        };
        self.loaded.iter().map(row).collect()
    }
}

/// Options that all algorithms share are the kernel's own business; the law's must be the defaults.
fn has_default_law(window: &Algorithm) -> bool {
    let Some(mut default) = Algorithm::from_name(window.name()) else { return false };
    let mut window = window.clone();
    if let (Some(theirs), Some(ours)) = (window.common_mut(), default.common_mut()) {
        ours.clone_from(theirs);
    }
    window == default
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_congestion::coupled::mcubic::MCubicOptions;

    #[test]
    fn options_of_the_law_have_to_be_the_defaults() {
        let mut window = Algorithm::from_name("lia").unwrap();
        window.common_mut().unwrap().slow_start_limit = 7;
        assert!(has_default_law(&window));
        let other = MCubicOptions { floor_tenths: 20, ..MCubicOptions::default() };
        assert!(!has_default_law(&Algorithm::MCubic(other)));
    }
}
