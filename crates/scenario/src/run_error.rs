//! Why a run failed.

use crate::InputError;
use anabranch_custom::Failure;
use anabranch_sim::BuildError;
use anabranch_units::Time;
use std::fmt;
use std::path::PathBuf;

/// The reason for which a run failed.
#[derive(Debug)]
pub enum RunError {
    /// The scenario cannot be built.
    Input(InputError),
    /// A file could not be written.
    Output {
        /// The file that could not be written.
        path: PathBuf,
        /// What the operating system said.
        error: std::io::Error,
    },
    /// An algorithm of the user's own cannot go on.
    Algorithm {
        /// Time in the run; `None` in live runs.
        at: Option<Time>,
        /// What the algorithm did or said.
        failure: Box<Failure>,
    },
    /// Whoever watched it stopped it.
    Interrupted,
    /// The machine does not hold a live run.
    #[cfg(target_os = "linux")]
    Live(anabranch_live::LiveError),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Input(error) => error.fmt(f),
            RunError::Output { path, error } => write!(f, "{}: {error}", path.display()),
            RunError::Algorithm { at: None, failure } => failure.fmt(f),
            RunError::Algorithm { at: Some(at), failure } => {
                write!(f, "{failure} at {:.9} s", at.as_secs_f64())
            }
            RunError::Interrupted => f.write_str("interrupted"),
            #[cfg(target_os = "linux")]
            RunError::Live(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RunError {}

impl From<InputError> for RunError {
    fn from(error: InputError) -> RunError {
        RunError::Input(error)
    }
}

#[cfg(target_os = "linux")]
impl From<anabranch_live::LiveError> for RunError {
    fn from(error: anabranch_live::LiveError) -> RunError {
        RunError::Live(error)
    }
}

impl From<BuildError> for RunError {
    fn from(error: BuildError) -> RunError {
        // Reading has checked what a build can refuse; this is for scenarios
        // made by hand.
        RunError::Input(InputError::whole_file("scenario", error.to_string()))
    }
}
