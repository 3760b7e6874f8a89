//! The window that the peer advertises (RFC 9293 §3.10.7.4, fifth check).

/// A `PeerWindow` is the send window: it says how far the peer lets this side send.
#[derive(Clone, Copy, Debug)]
pub struct PeerWindow {
    /// `edge` is the offset of the right edge of the peer's receive window (SND.UNA + SND.WND). It
    /// may move back, if the peer takes back what it has granted.
    pub edge: u64,
    /// `largest` is the largest window that the peer has advertised (MAX.SND.WND), in octets.
    pub largest: u64,
    /// `updated_by` are SND.WL1 and SND.WL2: where the segment that last updated the window began,
    /// and what it acknowledged, as offsets.
    pub updated_by: (u64, u64),
    /// `is_shared` says that the windows that the peer advertises are not this connection's alone,
    /// and do not move the edge.
    is_shared: bool,
    /// `own_edge` is the edge as the windows that came with this connection's own ACKs have it, which
    /// differs from `edge` where that is shared (RFC 8684 §3.3.5).
    own_edge: u64,
}

impl PeerWindow {
    /// `new` makes the window before the handshake: a SYN may leave, and nothing else.
    pub fn new() -> PeerWindow {
        PeerWindow { edge: 1, largest: 0, updated_by: (0, 0), is_shared: false, own_edge: 1 }
    }

    /// Makes the peer's windows those of a whole that this connection is a part of: it sends what
    /// it is given.
    pub fn share(&mut self) {
        (self.is_shared, self.edge) = (true, u64::MAX);
    }

    /// The peer's windows are those of a whole that this connection is a part of.
    pub fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// The offset of the right edge that this connection's own ACKs have given: the octets before it
    /// may be sent on it.
    pub fn own_edge(&self) -> u64 {
        self.own_edge
    }

    /// A window of `window` octets came with an ACK of `ack`, on a segment `by` (SND.WL1, SND.WL2).
    pub fn update(&mut self, ack: u64, window: u64, by: (u64, u64)) {
        self.own_edge = ack + window;
        if !self.is_shared {
            self.edge = self.own_edge;
        }
        self.largest = self.largest.max(window);
        self.updated_by = by;
    }

    /// A segment at `start` acknowledges up to `ack` and advertises `window` octets; `una` is what
    /// was acknowledged before. Only the latest segment updates the window. Deviation: what
    /// acknowledges more than any before is the latest, whatever its number. Else one forged segment
    /// far ahead in the receive window would be the last to be believed. Linux agrees.
    pub fn on_segment(&mut self, start: u64, ack: u64, window: u64, una: u64) {
        let (wl1, wl2) = self.updated_by;
        if ack > una || wl1 < start || wl1 == start && wl2 <= ack {
            self.update(ack, window, (start, ack));
        }
    }

    /// An ACK of `ack` may come late: SND.UNA, here `una`, has moved on by no more than a window since
    /// (RFC 5961 §5).
    pub fn is_recent(&self, ack: u64, una: u64) -> bool {
        ack + self.largest >= una
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_segment_does_not_update_the_window() {
        let mut window = PeerWindow::new();
        window.update(1, 1000, (0, 0));
        window.on_segment(500, 1, 2000, 1);
        assert_eq!((window.edge, window.largest), (2001, 2000));
        window.on_segment(400, 1, 9000, 1); // sent before
        assert_eq!(window.edge, 2001);
        window.on_segment(500, 1, 100, 1); // the window shrinks
        assert_eq!((window.edge, window.largest), (101, 2000));
        window.on_segment(400, 101, 1000, 1); // overtaken, but it acknowledges more
        assert_eq!(window.edge, 1101);
    }

    #[test]
    fn a_shared_window_is_not_moved_by_segments() {
        let mut window = PeerWindow::new();
        window.share();
        window.on_segment(1, 1, 1000, 1);
        assert_eq!((window.edge, window.largest), (u64::MAX, 1000));
        assert_eq!(window.own_edge(), 1001, "but its own is known");
    }
}
