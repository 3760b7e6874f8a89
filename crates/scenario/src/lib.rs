//! One description of an experiment, its building and its result.

pub mod error;
pub mod fields;
pub mod overrides;
pub mod quantity;

pub use error::InputError;
