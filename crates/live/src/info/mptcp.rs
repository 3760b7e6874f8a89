//! `struct mptcp_info` of linux/mptcp.h, as the kernel fills it.

use super::TcpInfo;

/// What the kernel tells of a Multipath TCP connection; what it does not know is
/// zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MptcpInfo(pub(crate) [u8; MptcpInfo::SIZE]);

/// Fields by name, with their offset and their number of octets.
const FIELDS: [(&str, usize, usize); 18] = [
    ("subflows", 0, 1),
    ("add_addr_signal", 1, 1),
    ("add_addr_accepted", 2, 1),
    ("subflows_max", 3, 1),
    ("add_addr_signal_max", 4, 1),
    ("add_addr_accepted_max", 5, 1),
    ("flags", 8, 4),
    ("token", 12, 4),
    ("write_seq", 16, 8),
    ("snd_una", 24, 8),
    ("rcv_nxt", 32, 8),
    ("csum_enabled", 42, 1),
    ("retransmits", 44, 4),
    ("bytes_retrans", 48, 8),
    ("bytes_sent", 56, 8),
    ("bytes_received", 64, 8),
    ("bytes_acked", 72, 8),
    ("subflows_total", 80, 1),
];

impl Default for MptcpInfo {
    fn default() -> MptcpInfo {
        MptcpInfo([0; MptcpInfo::SIZE])
    }
}

impl MptcpInfo {
    pub(crate) const SIZE: usize = 128;

    /// All fields, by the kernel's names without their prefix.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        FIELDS.iter().map(|(name, at, len)| (*name, TcpInfo::number(&self.0, *at, *len)))
    }

    /// A field by its name, zero where there is none.
    pub(crate) fn get(&self, name: &str) -> u64 {
        self.fields().find(|(field, _)| *field == name).map_or(0, |(_, value)| value)
    }
}
