//! The stream that the user writes.

use anabranch_endpoint::Written;
use anabranch_wire::Payload;

/// A `Writing` holds what the user has written and knows whether more may come. How much it is says
/// the sender's `end`.
#[derive(Debug, Default)]
pub(super) struct Writing {
    /// `octets` are those to send that are not acknowledged, where they are real; the others are
    /// counted.
    octets: Option<Box<Written>>,
    /// `closed` says that the user has closed: a FIN follows the data.
    closed: bool,
    /// `blocked` says that a write was cut short: the user hears when there is room again.
    blocked: bool,
}

impl Writing {
    /// The user has closed: a FIN follows the data.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Ends the stream: nothing can be written any more.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Whether the stream holds real octets, not counted ones.
    pub fn is_real(&self) -> bool {
        self.octets.is_some()
    }

    /// Returns how many octets may be written now, where the buffer has `capacity`.
    pub fn room(&self, capacity: u64) -> u64 {
        capacity.saturating_sub(self.octets.as_ref().map_or(0, |store| store.len()))
    }

    /// Writes real octets as far as there is room, and returns how many were taken.
    pub fn write(&mut self, octets: &[u8], capacity: u64) -> usize {
        let taken = (octets.len() as u64).min(self.room(capacity)) as usize;
        self.store().append(&octets[..taken]);
        self.blocked = taken < octets.len();
        taken
    }

    /// Writes real octets that somebody else keeps too, whatever the buffer's size.
    pub fn push(&mut self, octets: Payload) {
        self.store().push(octets);
    }

    fn store(&mut self) -> &mut Written {
        self.octets.get_or_insert_with(|| Box::new(Written::starting_at(1)))
    }

    /// Returns the payload of `len` octets at the offset `start`.
    #[inline]
    pub fn payload(&mut self, start: u64, len: u32) -> Payload {
        match &mut self.octets {
            Some(octets) => octets.payload(start, len),
            None => Payload::virtual_of(len),
        }
    }

    /// Octets below `una` are acknowledged, and forgotten; true when a write that was cut short may go
    /// on.
    #[inline]
    pub fn on_acknowledged(&mut self, una: u64) -> bool {
        let Some(octets) = &mut self.octets else { return false };
        octets.drop_below(una);
        std::mem::take(&mut self.blocked)
    }
}
