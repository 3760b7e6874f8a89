//! Options that few segments carry. They stand in one box, so that the
//! segments without them stay small.

use super::mptcp::MptcpOption;
use crate::tcp::TcpOptions;
use crate::tcp::options::{FastOpenOption, RawOption};

/// Options that few segments carry, in the order of the wire.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RareOptions {
    /// Fast Open (RFC 7413 §4.1.1; SYN only).
    pub fast_open: Option<FastOpenOption>,
    /// Options of Multipath TCP but DSS, which is not rare.
    pub mptcp: Vec<MptcpOption>,
    /// Options of other kinds, as octets (kind, length, value) in order.
    pub unknown: Box<[u8]>,
}

impl RareOptions {
    /// Length on the wire, unpadded.
    pub(crate) fn wire_len(&self) -> u32 {
        let mptcp: u32 = self.mptcp.iter().map(MptcpOption::wire_len).sum();
        self.fast_open.map_or(0, |fast_open| fast_open.wire_len())
            + mptcp
            + self.unknown.len() as u32
    }

    /// Whether no option is there.
    pub fn is_empty(&self) -> bool {
        *self == RareOptions::default()
    }
}

impl TcpOptions {
    /// The rare options, made when there were none.
    pub fn rare_mut(&mut self) -> &mut RareOptions {
        self.rare.get_or_insert_default()
    }

    /// The Fast Open option, if there is one.
    pub fn fast_open(&self) -> Option<FastOpenOption> {
        self.rare.as_ref()?.fast_open
    }

    /// Options of Multipath TCP but DSS; empty when there are none.
    pub fn mptcp(&self) -> &[MptcpOption] {
        self.rare.as_ref().map_or(&[], |rare| &rare.mptcp)
    }

    /// Understands `option`, or leaves it.
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

    /// The octets of options of other kinds; empty when there are none.
    pub fn unknown(&self) -> &[u8] {
        self.rare.as_ref().map_or(&[], |rare| &rare.unknown)
    }
}
