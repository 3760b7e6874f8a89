//! What hosts remember of each other between connections, for one run: it
//! begins with nothing.

use anabranch_endpoint::{Demultiplex, PeerMemory, TemporalSharing};
use anabranch_wire::Addr;
use std::collections::BTreeMap;

/// A memory for each address of a host and of a peer, where there is one.
#[derive(Debug, Default)]
pub(crate) struct Memories(BTreeMap<(Addr, Addr), PeerMemory>);

impl Memories {
    /// `endpoint` is about to connect.
    pub(crate) fn recall<E: Demultiplex + TemporalSharing>(&self, endpoint: &mut E) {
        if self.0.is_empty() {
            return;
        }
        let key = endpoint.flow_key();
        if let Some(memory) = self.0.get(&(key.src, key.dst)) {
            endpoint.recall(memory);
        }
    }

    /// `endpoint` has learnt something.
    #[cold]
    pub(crate) fn keep<E: Demultiplex + TemporalSharing>(&mut self, endpoint: &mut E) {
        let key = endpoint.flow_key();
        endpoint.remember(self.0.entry((key.src, key.dst)).or_default());
    }
}
