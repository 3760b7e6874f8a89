//! Calls: codecs, the playout buffer of the receiver, and the quality that they leave.

mod call;
mod codec;
mod emodel;

pub use call::{Call, CallQuality};
pub use codec::{CODECS, Codec};
pub use emodel::{EModel, Impairments, mos};
