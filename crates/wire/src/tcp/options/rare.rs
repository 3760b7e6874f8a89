//! Options that few segments carry. They stand in one box, so that the
//! segments without them stay small.

use super::mptcp::MptcpOption;
use crate::tcp::TcpOptions;
use crate::tcp::options::{FastOpenOption, RawOption};

/// `RareOptions` are the options that few segments carry, in the order of the wire.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RareOptions {
    /// `fast_open` has a cookie or asks for one (RFC 7413 §4.1.1; SYN only).
    pub fast_open: Option<FastOpenOption>,
    /// `mptcp` has the options of Multipath TCP but DSS, which is not rare.
    pub mptcp: Vec<MptcpOption>,
    /// `unknown` has the options of other kinds, as octets (kind, length, value) in order.
    pub unknown: Box<[u8]>,
}

impl RareOptions {
    /// Returns the length on the wire, in octets without padding.
    pub(crate) fn wire_len(&self) -> u32 {
        let mptcp: u32 = self.mptcp.iter().map(MptcpOption::wire_len).sum();
        self.fast_open.map_or(0, |fast_open| fast_open.wire_len())
            + mptcp
            + self.unknown.len() as u32
    }

    /// Returns whether no option is there.
    pub fn is_empty(&self) -> bool {
        *self == RareOptions::default()
    }
}

impl TcpOptions {
    /// Returns the rare options to change them; makes them where there were none.
    pub fn rare_mut(&mut self) -> &mut RareOptions {
        self.rare.get_or_insert_default()
    }

    /// Returns the Fast Open option, if the segment has one.
    pub fn fast_open(&self) -> Option<FastOpenOption> {
        self.rare.as_ref()?.fast_open
    }

    /// Returns the options of Multipath TCP but DSS; empty when there are none.
    pub fn mptcp(&self) -> &[MptcpOption] {
        self.rare.as_ref().map_or(&[], |rare| &rare.mptcp)
    }

    /// Understands `option` and takes it in; false, and nothing is changed, for all but a first
    /// Fast Open.
    pub(super) fn take_rare(&mut self, option: &RawOption<'_>) -> bool {
        let fast_open = FastOpenOption::parse(option).filter(|_| self.fast_open().is_none());
        if fast_open.is_some() {
            self.rare_mut().fast_open = fast_open;
        }
        fast_open.is_some()
    }

    /// Appends the rare options but for the unknown.
    pub(super) fn emit_rare(&self, out: &mut Vec<u8>) {
        if let Some(fast_open) = self.fast_open() {
            fast_open.emit(out);
        }
        self.mptcp().iter().for_each(|option| option.emit(out));
    }

    /// Returns the octets of options of other kinds; empty when there are none.
    pub fn unknown(&self) -> &[u8] {
        self.rare.as_ref().map_or(&[], |rare| &rare.unknown)
    }
}
