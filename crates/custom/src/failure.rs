//! An algorithm of the user's own that cannot go on ends its run: it unwinds
//! to whoever runs the simulation, who knows the date. No engine has to ask
//! after each hook, so that those without such algorithms pay nothing.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Why an algorithm of the user's own cannot go on.
pub struct Failure {
    /// Name of the algorithm.
    pub algorithm: String,
    /// Name of the place where it was at work, as in [`Place`](crate::Place).
    pub place: String,
    /// What went wrong, in one line.
    pub message: String,
    /// The file of its source, where that is known.
    pub file: Option<String>,
    /// Line in that file.
    pub line: Option<u32>,
    /// The invariant of window algorithms that it breaks, where that is known.
    pub broken: Option<&'static str>,
    /// Whoever tries algorithms must stop, too: a call took too long, or the user
    /// interrupted it.
    pub stops: bool,
    /// What the host of the algorithm wants back: an exception of Python.
    pub cause: Option<Box<dyn Any + Send>>,
}

impl Failure {
    /// A failure without a line of source.
    pub fn new(algorithm: &str, place: &str, message: impl Into<String>) -> Failure {
        Failure {
            algorithm: algorithm.into(),
            place: place.into(),
            message: message.into(),
            file: None,
            line: None,
            broken: None,
            stops: false,
            cause: None,
        }
    }

    /// Ends the run: unwinds to whoever runs the simulation.
    pub fn raise(self) -> ! {
        resume_unwind(Box::new(self))
    }
}

/// `FILE:LINE: MESSAGE (ALGORITHM of PLACE)`.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}:")?;
            if let Some(line) = self.line {
                write!(f, "{line}:")?;
            }
            write!(f, " ")?;
        }
        match self.place.as_str() {
            "" => write!(f, "{} ({})", self.message, self.algorithm),
            place => write!(f, "{} ({} of {place})", self.message, self.algorithm),
        }
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Failure({self})")
    }
}

/// Calls `run`; a [`Failure`] that is raised there is returned, every other
/// panic goes on.
///
/// ```
/// use anabranch_custom::{Failure, catching};
/// let failed = catching(|| Failure::new("mine", "flow f", "no window").raise());
/// assert_eq!(failed.map(|()| 0).unwrap_err().to_string(), "no window (mine of flow f)");
/// ```
///
/// # Errors
/// The failure. What `run` changed may be half changed: look, but go no further.
pub fn catching<R>(run: impl FnOnce() -> R) -> Result<R, Box<Failure>> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| match panic.downcast::<Failure>() {
        Ok(failure) => failure,
        Err(panic) => resume_unwind(panic),
    })
}
