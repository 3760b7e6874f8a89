//! This side sets the I bit here, by which it asks for a SACK at once (RFC 9260 §6.1, RFC 7053
//! §5.1).
//!
//! The receiver answers the packet, so that its last chunk asks, or the chunks that end messages
//! whose users do. A chunk that is sent again asks as it did the first time, as captures of usrsctp
//! and FreeBSD's scripts have it; and where it is all that the window lets out.

use super::Sender;
use crate::config::Config;
use crate::paths::path::Path;
use anabranch_wire::sctp::{Chunk, Chunks, DataFlags};

/// Sets the bit on a new chunk that ends its message, where the settings have the user's wish for
/// all messages.
#[inline]
pub(super) fn ask_with_message(config: &Config, flags: &mut DataFlags) {
    let wanted = config.immediate_sacks.is_some_and(|when| when.messages);
    if wanted && flags.contains(DataFlags::END) {
        *flags = flags.union(DataFlags::IMMEDIATE);
    }
}

impl Sender {
    /// Sets the bit where the settings ask for it, as a packet to a path that ends in new data is
    /// complete; it takes at most `payload` octets of user data. `waits` says that the end of the
    /// association, or a change of its streams, waits for SACKs.
    pub fn ask_with_new(
        &mut self,
        chunks: &mut Chunks,
        to: &Path,
        payload: u32,
        waits: bool,
        config: &Config,
    ) {
        let Some(when) = config.immediate_sacks else { return };
        let gains = waits
            || when.last && !self.has_more()
            || when.window_full && self.is_held_up(to, payload, config);
        if gains && let Some(newest) = self.flight.chunks.back_mut() {
            newest.fragment.flags = newest.fragment.flags.union(DataFlags::IMMEDIATE);
            mark(chunks);
        }
    }

    /// Does the same for data that is sent again.
    pub fn ask_with_lost(&self, chunks: &mut Chunks, to: &Path, payload: u32, config: &Config) {
        if config.immediate_sacks.is_some_and(|when| when.window_full)
            && self.is_held_up(to, payload, config)
        {
            mark(chunks);
        }
    }

    /// Returns whether something waits, and may not leave on the path before a SACK comes.
    fn is_held_up(&self, to: &Path, payload: u32, config: &Config) -> bool {
        let window = match self.flight.lost {
            0 => to.window.limit(),
            _ => to.window.cwnd(),
        };
        let beyond = |len| !self.fits_window(len);
        let room =
            || self.flight.lost > 0 || !self.next_len(payload, payload, config).is_some_and(beyond);
        self.has_more()
            && (self.repair.awaits_sack() || to.is_held() || to.flight >= window || !room())
    }
}

/// Sets the bit of the last chunk with data.
fn mark(chunks: &mut Chunks) {
    if let Some(flags) = chunks.iter_mut().filter_map(flags_of).last() {
        *flags = flags.union(DataFlags::IMMEDIATE);
    }
}

fn flags_of(chunk: &mut Chunk) -> Option<&mut DataFlags> {
    match chunk {
        Chunk::Data(data) => Some(&mut data.flags),
        Chunk::IData(data) => Some(&mut data.flags),
        _ => None,
    }
}
