//! These settings are those of a path's congestion window.

use anabranch_congestion::Algorithm;

/// An `InitialWindow` is the rule for the initial congestion window of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InitialWindow {
    /// It is two MTUs (RFC 2960 §7.2.1).
    Rfc2960,
    /// It is min(4 MTU, max(2 MTU, 4380 octets)) (RFC 4960 §7.2.1).
    Rfc4960,
    /// It is the same formula with the largest DATA chunk of a packet in place of the MTU, and with
    /// 4404 octets, or 4344 with the header of IPv6 (RFC 9260 §7.2.1).
    Rfc9260,
    /// It is this many MTUs, within [`InitialWindow::MTUS`].
    Mtus(u32),
}

/// A `WindowUnit` is what a path's window is counted in: by how much it grows, what a timeout
/// leaves, and the unit of [`Config::ssthresh_floor`](crate::Config::ssthresh_floor) and of
/// Max.Burst.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowUnit {
    /// The unit is the path MTU (RFC 2960, RFC 4960 §7.2).
    Mtu,
    /// The unit is the largest DATA chunk of a packet (PMDCS, RFC 9260 §7.2; ns-2).
    Chunk,
}

/// A `PartialAcked` says when acknowledged octets count for growth in congestion avoidance
/// (partial_bytes_acked).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PartialAcked {
    /// They always count (RFC 4960 §7.2.2).
    All,
    /// They always count, and so do chunks that a SACK reports as duplicates while they are known,
    /// but no more than a window of them stays while the window is not used up; the window grows
    /// once a round trip at most, however much one SACK acknowledges (RFC 9260 §7.2.2, RFC 8540
    /// §3.12).
    Capped,
}

/// A `Window` says what the congestion window of a path follows.
#[derive(Clone, PartialEq, Debug)]
pub enum Window {
    /// It follows RFC 9260 §7.2, with the switches of [`Config`](crate::Config).
    Standard,
    /// It follows an algorithm that is shared with TCP.
    Algorithm(Algorithm),
}
