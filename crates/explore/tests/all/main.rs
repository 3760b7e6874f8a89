//! What the search finds and does not find.
//!
//! One program for all of them: each that is linked has all that these crates depend on in it.

mod broken;
mod every_option;
