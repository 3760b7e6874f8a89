//! What stands before the IP header in a capture (the registry of link types of
//! draft-ietf-opsawg-pcaplinktype).

/// `LinkType` is a link type by its number in the registry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkType(pub u16);

const ETHERTYPES: [[u8; 2]; 2] = [[0x08, 0x00], [0x86, 0xdd]];
/// `VLANS` has the EtherTypes of tags, of IEEE 802.1Q and 802.1ad.
const VLANS: [[u8; 2]; 2] = [[0x81, 0x00], [0x88, 0xa8]];

impl LinkType {
    /// Returns the IP packet of a frame; nothing where there is none, or where the link type is not
    /// known.
    pub fn ip(self, frame: &[u8]) -> &[u8] {
        let after = |at: usize| frame.get(at..).unwrap_or(&[]);
        let typed = |kind: usize, at: usize| match frame.get(kind..kind + 2) {
            Some(frame) if ETHERTYPES.iter().any(|known| known == frame) => after(at),
            _ => &[],
        };
        match self.0 {
            // RAW by its number and by those of some systems, IPV4, IPV6.
            101 | 12 | 14 | 228 | 229 => frame,
            // NULL and LOOP: the number of a family.
            0 | 108 => after(4),
            1 => {
                let mut kind = 12;
                while frame
                    .get(kind..kind + 2)
                    .is_some_and(|frame| VLANS.iter().any(|tag| tag == frame))
                {
                    kind += 4;
                }
                typed(kind, kind + 2)
            }
            // LINUX_SLL and LINUX_SLL2: what tcpdump writes of `-i any`.
            113 => typed(14, 16),
            276 => typed(0, 20),
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packet_is_found_behind_each_header() {
        let ip = [0x45, 0, 0, 20];
        let frame = |before: &[u8]| [before, &ip].concat();
        let ethernet = [&[0; 12][..], &[8, 0]].concat();
        let tagged = [&[0; 12][..], &[0x81, 0, 0, 7, 0x88, 0xa8, 0, 9, 0x86, 0xdd]].concat();
        let cooked = [&[0; 14][..], &[8, 0]].concat();
        let cooked2 = [&[8, 0][..], &[0; 18]].concat();
        for (number, before) in [
            (101, &[][..]),
            (228, &[]),
            (0, &[2, 0, 0, 0]),
            (1, &ethernet),
            (1, &tagged),
            (113, &cooked),
            (276, &cooked2),
        ] {
            assert_eq!(LinkType(number).ip(&frame(before)), ip, "{number} {before:?}");
        }
    }

    #[test]
    fn what_is_no_ip_or_too_short_is_nothing() {
        let arp = [&[0; 12][..], &[8, 6, 1, 2, 3]].concat();
        for (number, frame) in [(1, &arp[..]), (1, &[0; 13]), (113, &[]), (147, &[0x45])] {
            assert!(LinkType(number).ip(frame).is_empty(), "{number}");
        }
    }
}
