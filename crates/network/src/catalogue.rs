//! What queues, transmitters and impairments say of themselves.

pub use anabranch_endpoint::ConfigError;

/// `Info` is a line of a catalogue of queues, transmitters or impairments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Info {
    /// `name` is the word by which scenarios choose it.
    pub name: &'static str,
    /// `summary` says in one line what it does.
    pub summary: &'static str,
    /// `reference` is the paper, RFC or program that defines it.
    pub reference: &'static str,
}
