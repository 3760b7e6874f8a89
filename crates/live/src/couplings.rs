//! What couples the subflows of connections whose window algorithm is ours: the entries of its map `connections`,
//! which its programs write at every acknowledgment and we read when somebody looks.

use crate::sys::bpf;
use anabranch_kernel::{ENTRY, Entry, Unit, entries};
use std::os::fd::{AsFd, OwnedFd};

/// The connections of one algorithm in the kernel.
#[derive(Debug)]
pub struct Couplings {
    connections: OwnedFd,
    unit: Unit,
}

/// A connection among them, by the key that it was found under last.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    key: Option<u64>,
}

impl Couplings {
    pub(crate) fn new(connections: OwnedFd, unit: Unit) -> Couplings {
        Couplings { connections, unit }
    }

    /// The subflows of the connection with this token, as `MPTCP_INFO` has it: ports of both ends, this side's first,
    /// and what couples each to the others. None where the kernel has no such connection.
    pub(crate) fn of(&self, token: u32, place: &mut Place) -> Vec<([u16; 2], f64)> {
        let known = place.key.and_then(|key| self.entry(key, token));
        let found = known.or_else(|| {
            let (key, entry) = self.find(token)?;
            place.key = Some(key);
            Some(entry)
        });
        let all = found.unwrap_or_default();
        all.iter()
            .map(|entry| ([entry.local, entry.remote], self.unit.value(entry, &all)))
            .collect()
    }

    fn entry(&self, key: u64, token: u32) -> Option<Vec<Entry>> {
        let octets = bpf::read::<ENTRY>(self.connections.as_fd(), key).ok()??;
        let found = entries(&octets);
        found.iter().any(|entry| entry.token == token).then_some(found)
    }

    /// Connections come and go meanwhile: a walk that begins anew ends after as many as there may be.
    fn find(&self, token: u32) -> Option<(u64, Vec<Entry>)> {
        const MOST: usize = 4096;
        let mut key = None;
        for _ in 0..MOST {
            let next = bpf::next_key(self.connections.as_fd(), key).ok()??;
            if let Some(entry) = self.entry(next, token) {
                return Some((next, entry));
            }
            key = Some(next);
        }
        None
    }
}
