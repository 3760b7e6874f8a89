//! Whether subflows have room for data: asked once, and again when something has
//! happened to them.

use super::Connection;
use anabranch_units::Time;

impl Connection {
    /// Whether a subflow that repairs has room. What it must repair first leaves before
    /// anything new is given to another for want of room.
    #[cold]
    pub(super) fn has_room_in_repair(&mut self, now: Time, i: usize) -> bool {
        let (usable, bit) = (self.subflows.usable(), self.subflows[i].bit());
        self.look_for_room(now, usable & bit, usable == bit);
        self.readiness.roomy(usable & bit) != 0
    }

    /// Asks subflows of which it is not known whether they have room; `alone`: there are no
    /// others that carry data.
    pub(super) fn look_for_room(&mut self, now: Time, among: u64, alone: bool) {
        let mut unknown = self.readiness.unknown(among);
        while unknown != 0 {
            let id = unknown.trailing_zeros();
            unknown &= !(1 << id);
            let Some(i) = self.subflows.position(id) else { continue };
            // Nothing new is put at risk on a subflow that has fallen silent, but for want of
            // another: its tail loss probe is what it sent last.
            let tcp = &mut self.subflows[i].tcp;
            let takes_more = tcp.takes_more(now) && (alone || !tcp.is_probe_due());
            let has_room = takes_more && self.is_within_window(i);
            self.readiness.set_room(id, has_room);
        }
    }

    /// What a subflow has outstanding, copies of what others carry too, fits the
    /// peer's buffer: beyond it the peer's TCP would not take it.
    pub(super) fn is_within_window(&self, i: usize) -> bool {
        let tcp = &self.subflows[i].tcp;
        let (una, end) = tcp.outstanding();
        self.sender.fits_window(end - una, tcp.mss())
    }
}
