//! Regulators at work in their routers.
//!
//! The reverse link of a regulator ends at a *station*: a node number beyond
//! those of the nodes, which no packet is addressed to and which is no router.
//! What arrives there is for the regulator first; so other links pay nothing
//! for it. As sources of events regulators follow the links.

use anabranch_network::{LinkId, NodeId, Regulator};
use std::collections::BTreeMap;

/// Regulators by number, and where each stands.
#[derive(Default)]
pub(crate) struct Regulators {
    pub list: Vec<Regulator>,
    /// The forward link of each, and the router that it leaves.
    pub places: Vec<(LinkId, NodeId)>,
    /// The number of the regulator of each forward link that has one.
    pub of_link: BTreeMap<LinkId, usize>,
}
