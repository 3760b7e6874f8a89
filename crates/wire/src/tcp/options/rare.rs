//! Options that few segments carry. They stand in one box, so that the
//! segments without them stay small.

use crate::tcp::TcpOptions;

/// Options that few segments carry, in the order of the wire.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RareOptions {
    /// Options of other kinds, as octets (kind, length, value) in order.
    pub unknown: Box<[u8]>,
}

impl RareOptions {
    /// Length on the wire, unpadded.
    pub(crate) fn wire_len(&self) -> u32 {
        self.unknown.len() as u32
    }

    /// Nothing is there.
    pub fn is_empty(&self) -> bool {
        *self == RareOptions::default()
    }
}

impl TcpOptions {
    /// The rare options, made when there were none.
    pub fn rare_mut(&mut self) -> &mut RareOptions {
        self.rare.get_or_insert_default()
    }

    /// The octets of options of other kinds; empty when there are none.
    pub fn unknown(&self) -> &[u8] {
        self.rare.as_ref().map_or(&[], |rare| &rare.unknown)
    }
}
