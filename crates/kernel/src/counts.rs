//! What an algorithm in the kernel counts (`struct counts` of bpf/kernel.h).

/// Totals of an algorithm since it was loaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Sockets that began with it.
    pub flows: u64,
    /// Of `flows`, subflows that share a connection's entry.
    pub coupled: u64,
    /// Sockets for which there was no memory; their windows are plain Reno's.
    pub no_storage: u64,
    /// Subflows of connections for which there was no room; their windows are uncoupled.
    pub no_connection: u64,
    /// Subflows beyond the eighth of a connection; their windows are uncoupled.
    pub no_slot: u64,
}

impl Counts {
    /// Octets of them in the map `counts`, whose one key is 0.
    pub const LEN: usize = 40;

    /// Reads the totals from the value of the map.
    pub fn from_octets(octets: &[u8; Counts::LEN]) -> Counts {
        let (words, _) = octets.as_chunks::<8>();
        let [flows, coupled, no_storage, no_connection, no_slot] =
            [0, 1, 2, 3, 4].map(|i| u64::from_ne_bytes(words[i]));
        Counts { flows, coupled, no_storage, no_connection, no_slot }
    }

    /// Returns how many sockets and subflows found no room.
    pub fn unfitting(&self) -> u64 {
        self.no_storage + self.no_connection + self.no_slot
    }
}
