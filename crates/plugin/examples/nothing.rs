//! A library without an algorithm.

/// Some function.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub extern "C" fn anabranch_nothing() {}
