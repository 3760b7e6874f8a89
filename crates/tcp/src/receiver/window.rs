//! The advertised window, without the silly-window syndrome (RFC 9293 §3.8.6.2.2), and how
//! it grows.

use super::Receiver;
use crate::config::Config;
use crate::right_sizing::View;
use anabranch_units::{Span, Time};

impl Receiver {
    /// The part of the window that the peer may still use (RCV.WND). It begins behind the peer's SYN,
    /// which takes no room.
    pub fn window(&self) -> u64 {
        self.edge.saturating_sub(self.nxt.max(1))
    }

    /// An ACK leaves: moves the advertised edge and returns the window to
    /// advertise. The edge moves only by a useful amount: one MSS or half the
    /// largest window (RFC 9293 §3.8.6.2.2).
    pub fn on_ack_sent(&mut self, mss: u64) -> u64 {
        self.unacknowledged = 0;
        self.ack_now = false;
        self.acknowledged = self.nxt;
        if let Some(timing) = &mut self.timing {
            timing.on_ack_sent();
        }
        if self.opens_by(mss) || self.is_worth_it(mss) {
            self.edge = self.farthest();
        }
        self.window()
    }

    /// The window that could be advertised is worth it, for who advertises all of it.
    fn is_worth_it(&self, mss: u64) -> bool {
        let free = self.farthest().saturating_sub(self.nxt);
        self.advertises_all && self.farthest() > self.edge && free >= mss.min(self.largest() / 4)
    }

    fn opens_by(&self, mss: u64) -> bool {
        self.farthest() >= self.edge + mss.min(self.largest() / 2)
    }

    /// The largest window that is advertised at present: the buffer, or what it has grown to.
    fn largest(&self) -> u64 {
        let all = self.capacity();
        self.growth.as_ref().map_or(all, |growth| all.min(growth.limit()))
    }

    /// The right edge that could be advertised.
    fn farthest(&self) -> u64 {
        // A FIN takes no room.
        let fin = (self.advertises_all && self.has_ended()) as u64;
        let all = self.read + self.capacity() + fin;
        self.growth.as_ref().map_or(all, |growth| all.min(self.nxt.saturating_add(growth.limit())))
    }

    /// Windows are advertised in whole units of so many octets (RFC 7323 §2.3). Of a window below two
    /// of them, what is left after a segment may be no whole one, and yet too much to move the edge
    /// for: the peer would find it closed for ever.
    pub fn advertise_in_units_of(&mut self, unit: u64) {
        if let Some(growth) = &mut self.growth {
            self.capacity = self.capacity.max(2 * unit as u32);
            growth.start_from(2 * unit);
        }
    }

    /// The buffer is made to hold whole segments of `mss` octets, where it holds more than one.
    pub fn hold_whole_segments(&mut self, mss: u64) {
        let whole = self.capacity().next_multiple_of(mss.max(1));
        if self.capacity() > mss && whole <= u32::MAX.into() {
            let all_advertised = self.edge == 1 + self.capacity();
            self.capacity = whole as u32;
            if all_advertised {
                self.edge = 1 + whole;
            }
        }
    }

    /// Returns the size of the receive buffer in octets.
    pub fn size(&self) -> u64 {
        self.capacity()
    }

    /// The window that is advertised grows with use.
    pub fn grows(&self) -> bool {
        self.growth.is_some()
    }

    /// Data came: the buffer grows, where it does. `srtt` is of the connection's own
    /// sender; own segments have `mss` octets.
    #[inline(never)]
    pub fn right_size(&mut self, now: Time, srtt: Option<Span>, mss: u64) {
        let (nxt, read, capacity) = (self.nxt, self.read, self.capacity());
        let view = View { now, srtt, nxt, read, capacity, mss };
        if let Some(growth) = &mut self.growth
            && let Some(capacity) = growth.sizing.as_mut().and_then(|sizing| sizing.on_data(&view))
        {
            growth.widen(capacity);
            self.capacity = capacity.min(u32::MAX.into()) as u32;
        }
    }

    /// A segment brought `len` octets, new ones among them; own segments have
    /// `mss` octets. Whether it makes the window grow that is advertised.
    #[inline(never)]
    pub fn grow_window(&mut self, len: u64, mss: u64) -> bool {
        let waiting = self.gaps.as_ref().map_or(0, |gaps| gaps.ranges.total());
        let free = self.capacity().saturating_sub(self.readable() + waiting);
        self.growth.as_mut().is_some_and(|growth| growth.on_data(len, mss, free))
    }

    /// Somebody else writes the windows, up to `most`; before the handshake. What
    /// grows here only tells which segments are acknowledged at once.
    pub fn share_window(&mut self, config: &Config, most: u64) {
        let initial = config.initial_receive_window.of(most);
        if let (Some(growth), Some(initial)) = (&mut self.growth, initial) {
            growth.share(initial, most);
            self.edge = 1 + self.capacity();
        }
    }

    pub(super) fn ask_for_update(&mut self, mss: u64) {
        let half = self.largest() / 2;
        let opened = self.window() < half && self.opens_by(half);
        let reopened = self.window() < mss && self.opens_by(mss);
        self.ack_now |= opened || reopened;
        if let Some(timing) = &self.timing {
            // Before the peer's SYN there is nothing.
            let unacknowledged = self.nxt.saturating_sub(self.acknowledged);
            self.ack_now |= timing.must_leave_after_read(unacknowledged, self.readable() == 0);
        }
    }
}
