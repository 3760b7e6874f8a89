//! SYN cookies (RFC 4987 §3.6 and appendix A): what a listener must remember
//! of a SYN, in the sequence number of its answer.
//!
//! ```text
//!  31      28   27   26  24 23                                0
//! +----------+------+------+-----------------------------------+
//! | t mod 16 | sack | mss  | F(addresses, ports, peer's ISN, t) |
//! +----------+------+------+-----------------------------------+
//! ```
//!
//! `t` counts periods of 64 s, `sack` says that the peer speaks SACK, `mss` is an
//! index into a table, `F` is SipHash-2-4 under the listener's key. Window scale
//! and timestamps are not remembered, and so are not used on such a connection.

use crate::connection::isn::sip_hash;
use anabranch_endpoint::Generator;
use anabranch_units::{Serial32, Span, Time};
use anabranch_wire::Addr;

/// Segment sizes that a cookie can tell.
const SIZES: [u16; 8] = [64, 512, 536, 1024, 1220, 1440, 1460, 8960];

/// Length of a count; a cookie is good for the count in which it was made and the next.
const PERIOD: Span = Span::from_secs(64);

/// What a cookie tells of the SYN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Told {
    /// The MSS that the peer announced, or the next smaller one of a table.
    pub mss: u16,
    /// The peer's SYN permitted SACK.
    pub sack: bool,
}

/// Makes the SYN cookies of a listening port, and knows them again.
#[derive(Clone, Copy, Debug)]
pub struct Cookies {
    pub(super) key: [u64; 2],
    /// Address and port of the listener.
    pub(super) local: (Addr, u16),
}

impl Cookies {
    /// Cookies of a port, under a secret key that is drawn.
    pub fn new(local: (Addr, u16), generator: &mut Generator) -> Cookies {
        Cookies { key: [generator.next_u64(), generator.next_u64()], local }
    }

    /// The cookie for a SYN from `remote` with the number `peer`.
    pub fn make(&self, now: Time, remote: (Addr, u16), peer: Serial32, told: Told) -> Serial32 {
        let count = count(now);
        let index = SIZES.iter().rposition(|size| *size <= told.mss).unwrap_or(0) as u32;
        let index = index | (told.sack as u32) << 3;
        let hash = self.hash(count, remote, peer, index);
        Serial32((count as u32 & 15) << 28 | index << 24 | hash)
    }

    /// What a cookie tells, if it is one of ours of late.
    pub fn check(
        &self,
        now: Time,
        remote: (Addr, u16),
        peer: Serial32,
        cookie: Serial32,
    ) -> Option<Told> {
        let (index, hash) = (cookie.0 >> 24 & 15, cookie.0 & 0xff_ffff);
        let recent = [Some(count(now)), count(now).checked_sub(1)];
        let mut counts = recent.into_iter().flatten();
        counts
            .any(|n| n as u32 & 15 == cookie.0 >> 28 && self.hash(n, remote, peer, index) == hash)
            .then(|| Told { mss: SIZES[index as usize & 7], sack: index >> 3 == 1 })
    }

    fn hash(&self, count: u64, remote: (Addr, u16), peer: Serial32, index: u32) -> u32 {
        let mut message = Vec::with_capacity(28);
        for word in [self.local.0.0, remote.0.0, peer.0, index] {
            message.extend_from_slice(&word.to_le_bytes());
        }
        message.extend_from_slice(&self.local.1.to_le_bytes());
        message.extend_from_slice(&remote.1.to_le_bytes());
        message.extend_from_slice(&count.to_le_bytes());
        sip_hash(self.key, &message) as u32 & 0xff_ffff
    }
}

fn count(now: Time) -> u64 {
    now.as_picos() / PERIOD.as_picos()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLD: Told = Told { mss: 1460, sack: true };

    #[test]
    fn a_cookie_is_good_for_two_periods_and_one_peer() {
        let cookies = Cookies { key: [1, 2], local: (Addr(1), 80) };
        let (peer, isn) = ((Addr(0), 1000), Serial32(7));
        let at = |s| Time::ZERO + Span::from_secs(s);
        let cookie = cookies.make(at(100), peer, isn, TOLD);
        assert_eq!(cookies.check(at(100), peer, isn, cookie), Some(TOLD));
        assert_eq!(cookies.check(at(191), peer, isn, cookie), Some(TOLD));
        assert_eq!(cookies.check(at(192), peer, isn, cookie), None);
        assert_eq!(cookies.check(at(100), (Addr(0), 1001), isn, cookie), None);
        assert_eq!(cookies.check(at(100), peer, Serial32(8), cookie), None);
        assert_eq!(cookies.check(at(100), peer, isn, cookie.add(1 << 24)), None);
        let other = Cookies { key: [1, 3], ..cookies };
        assert_eq!(other.check(at(100), peer, isn, cookie), None);
    }

    #[test]
    fn the_segment_size_is_rounded_down_to_one_that_can_be_told() {
        let cookies = Cookies { key: [1, 2], local: (Addr(1), 80) };
        let (peer, isn) = ((Addr(0), 1000), Serial32(7));
        for (mss, told) in [(64, 64), (535, 512), (1400, 1220), (1460, 1460), (65_000, 8960)] {
            for sack in [false, true] {
                let cookie = cookies.make(Time::ZERO, peer, isn, Told { mss, sack });
                let told = Some(Told { mss: told, sack });
                assert_eq!(cookies.check(Time::ZERO, peer, isn, cookie), told);
            }
        }
    }
}
