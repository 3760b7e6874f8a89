//! What boxes between the hosts do to segments: options taken away, sequence
//! numbers counted otherwise, data changed.

use super::{TcpOptions, TcpSegment, options};
use crate::packet::Payload;

/// `OptionKind` is a kind of TCP options that a middlebox may take away.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OptionKind {
    /// Maximum segment size (RFC 9293 §3.2).
    Mss,
    /// Window scale (RFC 7323 §2).
    WindowScale,
    /// SACK permitted (RFC 2018 §2).
    SackPermitted,
    /// SACK blocks (RFC 2018 §3).
    Sack,
    /// Timestamps (RFC 7323 §3).
    Timestamps,
    /// Fast Open, of kind 34 or 254 (RFC 7413 §4.1.1).
    FastOpen,
    /// Accurate ECN (RFC 9768 §3.2.3).
    AccEcn,
    /// All options of Multipath TCP (RFC 8684).
    Mptcp,
}

impl OptionKind {
    /// `ALL` has all kinds by the names that scenarios have for them.
    pub const ALL: [(&'static str, OptionKind); 8] = [
        ("mss", OptionKind::Mss),
        ("window-scale", OptionKind::WindowScale),
        ("sack-permitted", OptionKind::SackPermitted),
        ("sack", OptionKind::Sack),
        ("timestamps", OptionKind::Timestamps),
        ("fast-open", OptionKind::FastOpen),
        ("accecn", OptionKind::AccEcn),
        ("mptcp", OptionKind::Mptcp),
    ];

    fn remove(self, options: &mut TcpOptions) {
        match self {
            OptionKind::Mss => options.mss = None,
            OptionKind::WindowScale => options.window_scale = None,
            OptionKind::SackPermitted => options.sack_permitted = false,
            OptionKind::Sack => options.truncate_sack(0),
            OptionKind::Timestamps => options.timestamps = None,
            OptionKind::AccEcn => options.acc_ecn = None,
            OptionKind::FastOpen => {
                if let Some(rare) = &mut options.rare {
                    rare.fast_open = None;
                }
            }
            OptionKind::Mptcp => {
                options.remove_dss();
                if let Some(rare) = &mut options.rare {
                    rare.mptcp.clear();
                }
            }
        }
    }
}

impl TcpSegment {
    /// Writes NOPs over the options of these kinds, so that the header keeps
    /// its length, as Linux's TCPOPTSTRIP does.
    pub fn blank_options(&mut self, kinds: &[OptionKind]) {
        let before = self.options.wire_len();
        kinds.iter().for_each(|kind| kind.remove(&mut self.options));
        let room = (before - self.options.wire_len()) as usize;
        if room > 0 {
            let mut unknown = self.options.unknown().to_vec();
            unknown.resize(unknown.len() + room, options::NOP);
            self.options.rare_mut().unknown = unknown.into();
        }
    }

    /// Adds to the sequence number, and to the acknowledgment number and, if
    /// `sack`, the SACK blocks.
    pub fn renumber(&mut self, seq: u32, ack: u32, sack: bool) {
        self.seq = self.seq.add(seq);
        if self.flags.contains(super::TcpFlags::ACK) {
            self.ack = self.ack.add(ack);
        }
        if sack {
            let len = self.options.sack.len as usize;
            for block in &mut self.options.sack.blocks[..len] {
                (block.left, block.right) = (block.left.add(ack), block.right.add(ack));
            }
        }
    }

    /// Flips a bit of the octets of data at these places, where data is real octets.
    pub fn change_octets(&mut self, places: impl Iterator<Item = usize>) {
        let Some(octets) = self.payload.octets() else { return };
        let mut octets = octets.to_vec();
        for at in places {
            if let Some(octet) = octets.get_mut(at) {
                *octet ^= 0x20; // the case of a letter
            }
        }
        self.payload = Payload::of_octets(octets);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::mptcp::{DataNumber, Dss, MptcpOption};
    use crate::tcp::{SackBlock, TcpFlags, Timestamps};
    use crate::{Addr, AddressBook, Body, Packet};
    use anabranch_units::Serial32;

    /// A segment with every kind of option that fits.
    fn segment() -> TcpSegment {
        let mut options = TcpOptions {
            timestamps: Some(Timestamps { value: 1, echo: 2 }),
            ..TcpOptions::default()
        };
        options.sack.push(SackBlock { left: Serial32(100), right: Serial32(200) });
        assert!(options.set_dss(&Dss { data_ack: Some(DataNumber::Short(7)), ..Dss::default() }));
        options.rare_mut().mptcp.push(MptcpOption::Prio { backup: true });
        TcpSegment {
            src_port: 1,
            dst_port: 2,
            seq: Serial32(u32::MAX),
            ack: Serial32(50),
            flags: TcpFlags::ACK,
            window: 3,
            urgent: 0,
            options,
            payload: Payload::of_octets(*b"abc"),
        }
    }

    /// On the wire there are NOPs, and the others stay as they were.
    #[test]
    fn blanked_options_leave_a_header_of_the_same_length() {
        for (name, kind) in OptionKind::ALL {
            let mut found = segment();
            found.blank_options(&[kind]);
            assert_eq!(found.wire_len(), segment().wire_len(), "{name}");
            let packet = Packet::new(Addr(1), Addr(2), Body::Tcp(found.clone()));
            let (book, mut octets) = (AddressBook::new(), Vec::new());
            packet.emit(&book, &mut octets).unwrap();
            let Ok(Packet { body: Body::Tcp(read), .. }) = Packet::parse(&octets, &book) else {
                panic!("{name}");
            };
            assert_eq!(read.options.timestamps.is_none(), kind == OptionKind::Timestamps);
            assert_eq!(read.options.sack.is_empty(), kind == OptionKind::Sack);
            let mptcp = read.options.dss().is_none() && read.options.mptcp().is_empty();
            assert_eq!(mptcp, kind == OptionKind::Mptcp, "{name}");
        }
        let mut found = segment();
        found.blank_options(&OptionKind::ALL.map(|item| item.1));
        assert_eq!(found.wire_len(), segment().wire_len());
        assert_eq!(found.options.unknown(), [options::NOP; 12 + 12 + 8 + 4]);
        let once = found.clone();
        found.blank_options(&OptionKind::ALL.map(|item| item.1));
        assert_eq!(found, once);
    }

    #[test]
    fn numbers_wrap_and_blocks_follow_the_acknowledgment() {
        let mut found = segment();
        found.renumber(2, 0_u32.wrapping_sub(60), true);
        assert_eq!((found.seq, found.ack), (Serial32(1), Serial32(u32::MAX - 9)));
        let [block] = found.options.sack.as_slice() else { panic!("one block") };
        assert_eq!((block.left, block.right), (Serial32(40), Serial32(140)));
        assert_eq!(found.options.dss(), segment().options.dss());
        found.renumber(0, 10, false);
        assert_eq!(found.options.sack.as_slice()[0].left, Serial32(40));
    }

    #[test]
    fn octets_within_the_data_change() {
        let mut segment = segment();
        segment.change_octets([1, 3].into_iter());
        assert_eq!(segment.payload.octets(), Some(&b"aBc"[..]));
        segment.payload = Payload::virtual_of(5);
        segment.change_octets([1].into_iter());
        assert_eq!(segment.payload, Payload::virtual_of(5));
    }
}
