//! What the simulator asks of endpoints.

use anabranch_endpoint::{
    Demultiplex, Endpoint, Observe, Progress, Service, TemporalSharing, TimeWait,
};

/// An endpoint of a flow: driven as any [`Endpoint`], used by an application ([`Service`]), found
/// by its packets ([`Demultiplex`]), watched ([`Observe`], [`Progress`]), and one of several
/// connections between two hosts ([`TemporalSharing`], [`TimeWait`]). Parts of the simulator that
/// need less ask for less.
pub trait FlowEndpoint:
    Endpoint + Service + Demultiplex + Observe + Progress + TemporalSharing + TimeWait
{
}

impl<E> FlowEndpoint for E where
    E: Endpoint + Service + Demultiplex + Observe + Progress + TemporalSharing + TimeWait
{
}
