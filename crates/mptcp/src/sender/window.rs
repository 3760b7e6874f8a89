//! The peer's receive window, which all subflows share (RFC 8684 §3.3.5).

/// What the peer takes, in data offsets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DataWindow {
    /// Right edge: the peer takes no octet at or after this offset. It never moves back.
    edge: u64,
    /// The largest window that the peer has advertised, in octets.
    max: u64,
    /// A small segment may leave although the window is silly; until one does, or the edge moves.
    override_silly: bool,
}

impl DataWindow {
    /// Nothing has been advertised; the stream begins at `edge`.
    pub fn closed_at(edge: u64) -> DataWindow {
        DataWindow { edge, max: 0, override_silly: false }
    }

    /// A window of `window` octets came with a DATA_ACK of `ack`: the highest right edge counts.
    pub fn on_advertised(&mut self, ack: u64, window: u64) {
        self.edge = self.edge.max(ack.saturating_add(window));
        self.max = self.max.max(window);
    }

    /// The window ends at this data offset.
    pub fn edge(&self) -> u64 {
        self.edge
    }

    /// The peer takes so many octets from `nxt` on.
    pub fn left(&self, nxt: u64) -> u64 {
        self.edge.saturating_sub(nxt)
    }

    /// Returns how many of `wanted` octets from `nxt` on may leave as one segment now: none when
    /// that would be silly (RFC 9293 §3.8.6.2.1).
    pub fn room(&self, nxt: u64, wanted: u64) -> u64 {
        let left = self.left(nxt);
        if left >= wanted || self.is_worth(left) { left.min(wanted) } else { 0 }
    }

    /// A segment of `left` octets is not silly, or one may leave that is.
    pub fn is_worth(&self, left: u64) -> bool {
        self.override_silly || left >= self.max / 2
    }

    /// A silly segment may leave.
    pub fn is_overridden(&self) -> bool {
        self.override_silly
    }

    /// A silly segment may leave from now on (RFC 9293 §3.8.6.2.1: the override timeout).
    pub fn override_silly(&mut self) {
        self.override_silly = true;
    }

    /// A segment has left, or the window has opened: a silly segment must wait again.
    #[inline]
    pub fn avoid_silly(&mut self) {
        self.override_silly = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8684 §3.3.5: the highest right edge that was advertised counts.
    #[test]
    fn the_window_does_not_shrink_and_small_rests_wait() {
        let mut window = DataWindow::closed_at(1);
        assert_eq!((window.left(1), window.room(1, 1000)), (0, 0));
        window.on_advertised(1, 5000);
        window.on_advertised(1, 3000);
        assert_eq!((window.edge(), window.room(1, 1000)), (5001, 1000));
        assert_eq!(window.room(4501, 1000), 0, "silly");
        assert_eq!(window.room(4501, 100), 100, "the end of the data is not");
        window.override_silly();
        assert_eq!(window.room(4501, 1000), 500);
        window.avoid_silly();
        assert_eq!(window.room(4501, 1000), 0);
        assert_eq!(window.room(2001, 4000), 3000, "half of the largest window");
    }
}
