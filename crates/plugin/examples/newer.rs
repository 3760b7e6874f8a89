//! A library of an interface that does not exist yet.

/// The number of the interface, which is all of it that is read.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub static ANABRANCH_WINDOW: [u32; 64] = [999; 64];
