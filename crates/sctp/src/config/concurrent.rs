//! The settings of concurrent multipath transfer are here.

/// In concurrent multipath transfer new data goes to all active paths (Iyengar, Amer and Stewart,
/// IEEE/ACM Transactions on Networking 14(5), 2006). A `Concurrent` says which of its three
/// remedies against the reordering that this causes are in force, and whether the buffer is split.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Concurrent {
    /// True: missing reports are counted within a path (split fast retransmit, §III-A).
    pub split_fast_retransmit: bool,
    /// True: a window grows when the earliest outstanding chunk of its path is acknowledged, not
    /// the earliest of all (congestion window update, §III-B).
    pub window_update: bool,
    /// True: the receiver delays SACKs in spite of gaps and says how many packets each answers; the
    /// sender counts as many missing reports (delayed acknowledgments, §III-C).
    pub delayed_ack: bool,
    /// True: a path has no more outstanding than its share of the peer's receive buffer (Adhari et
    /// al., "Evaluation of concurrent multipath transfer over dissimilar paths", 2011).
    pub buffer_split: bool,
}

impl Default for Concurrent {
    /// The default has the three remedies, and one buffer for all paths.
    fn default() -> Concurrent {
        Concurrent {
            split_fast_retransmit: true,
            window_update: true,
            delayed_ack: true,
            buffer_split: false,
        }
    }
}
