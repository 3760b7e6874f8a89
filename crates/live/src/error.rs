//! Why a live run cannot be: what is missing, and what would help.

use std::fmt;
use std::io;

/// A failure to set up or to hold the live world.
#[derive(Debug)]
pub enum LiveError {
    /// The machine lacks something, or does not let us have it.
    Missing {
        /// What was tried, in words.
        what: &'static str,
        /// The kernel's error.
        error: io::Error,
        /// What would help.
        remedy: String,
    },
    /// A system call failed that usually does not.
    System {
        /// The call that failed, with names.
        what: String,
        /// The kernel's error.
        error: io::Error,
    },
    /// A window algorithm that does not get into the kernel, and why.
    Control(String),
    /// An interface has disappeared while it was in use.
    InterfaceGone {
        /// The host and its device.
        name: String,
        /// The kernel's error.
        error: io::Error,
    },
    /// A program could not be started.
    Program {
        /// Command of the program.
        command: String,
        /// The reason for which it did not start.
        error: io::Error,
    },
}

impl fmt::Display for LiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LiveError::Missing { what, error, remedy } => write!(f, "{what}: {error}; {remedy}"),
            LiveError::Control(why) => f.write_str(why),
            LiveError::System { what, error } => write!(f, "{what}: {error}"),
            LiveError::InterfaceGone { name, error } => {
                write!(f, "the interface {name} has disappeared: {error}")
            }
            LiveError::Program { command, error } => write!(f, "{command}: {error}"),
        }
    }
}

impl std::error::Error for LiveError {}

/// Names what a failing call was for.
pub(crate) trait Doing<T> {
    fn doing(self, what: impl Into<String>) -> Result<T, LiveError>;
}

impl<T, E: Into<io::Error>> Doing<T> for Result<T, E> {
    fn doing(self, what: impl Into<String>) -> Result<T, LiveError> {
        self.map_err(|error| LiveError::System { what: what.into(), error: error.into() })
    }
}
