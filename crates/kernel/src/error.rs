//! Why an object does not fit a kernel.

use std::fmt;

/// Why an object does not fit a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ImageError {
    /// The object or the kernel's BTF is not what it should be.
    Malformed {
        /// The file that is meant: the object or the kernel's BTF.
        file: &'static str,
        /// What is wrong with it.
        what: String,
    },
    /// The kernel lacks a type that the algorithm needs.
    NoType {
        /// Name of the type: `struct tcp_sock`...
        name: String,
    },
    /// A type of the kernel lacks a field, or has it in another size.
    NoField {
        /// Name of the field: `tcp_sock.snd_cwnd`...
        name: String,
    },
    /// A name for the kernel has another length or other characters than it takes.
    Name {
        /// The name that was given.
        name: String,
    },
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ImageError::Malformed { file, what } => write!(f, "{file} is malformed: {what}"),
            ImageError::NoType { name } => {
                write!(
                    f,
                    "this kernel has no {name}: it was built without what the algorithm needs"
                )
            }
            ImageError::NoField { name } => {
                write!(f, "{name} is not in this kernel as the algorithm needs it")
            }
            ImageError::Name { name } => write!(
                f,
                "the name `{name}` is no name of a congestion control: allowed are 1 to 15 letters, \
                 digits, `_` and `.`"
            ),
        }
    }
}

impl std::error::Error for ImageError {}

pub(crate) fn malformed(file: &'static str, what: impl Into<String>) -> ImageError {
    ImageError::Malformed { file, what: what.into() }
}
