//! Random scenarios, what must hold of every run, and the reduction of one that
//! fails.
//!
//! [`scenario`] makes the scenario of a number: a network, its troubles and its
//! flows, over all that the schema has. [`judge`] runs one and gives what broke
//! a promise: a panic, a transfer that stands still with nothing ahead, octets
//! that are lost or wrong, two runs that differ, packets that a link lost count
//! of, time that does not advance, memory that grows. [`shrink`] makes the
//! scenario of a failure small. All three work on TOML, so that whatever fails
//! here can be given to `anabranch run`, and whatever a user reports can be
//! given to [`judge`] and [`shrink`].
//!
//! Where to start reading: [`Failure`], then [`judge`].

mod draw;
mod drive;
mod expect;
mod failure;
mod generate;
mod judge;
mod memory;
mod shrink;
mod summary;

pub use failure::{Failure, Promise};
pub use generate::scenario;
pub use judge::{End, FlowEnd, Verdict, judge};
pub use shrink::shrink;
pub use summary::Summary;
