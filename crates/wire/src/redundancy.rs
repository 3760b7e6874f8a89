//! What one pure ACK says of another of its flow: whether a queue may send the
//! newer one alone (RFC 3449 §5.2.1).
//!
//! An ACK is only said to carry what an older one does when nothing is lost by
//! it: control bits (with the ECN echoes of RFC 3168 and RFC 9768), DSCP and all
//! options but timestamps and SACK are alike; every SACK block of the older one
//! is acknowledged by the newer one or lies within a block of it; and the older
//! one reports no duplicate (D-SACK, RFC 2883). The window and the timestamps are
//! those of the newer one (RFC 9293 §3.10.7.4, RFC 7323 §4.3).
//!
//! TCP alone. SACK chunks of SCTP are never redundant here.

use crate::packet::{Body, Ecn, Packet};
use crate::tcp::{SackBlocks, TcpOptions, TcpSegment};

/// `AckRelation` says what a pure ACK is to an older one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AckRelation {
    /// It is of another flow, or lacks something that the older one says.
    Unrelated,
    /// It has the same acknowledgment number: a duplicate, or a change of the window.
    Repeats,
    /// It acknowledges more, and says all that the older one says.
    Supersedes,
}

impl Packet {
    /// Returns whether both are TCP and acknowledge the same octet; of one flow, pure ACKs that do
    /// are duplicates, or changes of the window.
    pub fn has_ack_number_of(&self, other: &Packet) -> bool {
        match (&self.body, &other.body) {
            (Body::Tcp(a), Body::Tcp(b)) => a.ack == b.ack,
            _ => false,
        }
    }

    /// Returns what this packet is to an `older` one.
    pub fn ack_relation(&self, older: &Packet) -> AckRelation {
        let (Body::Tcp(new), Body::Tcp(old)) = (&self.body, &older.body) else {
            return AckRelation::Unrelated;
        };
        let related = self.is_pure_ack()
            && older.is_pure_ack()
            && self.flow_key() == older.flow_key()
            && self.dscp == older.dscp
            && (older.ecn != Ecn::Ce || self.ecn == Ecn::Ce)
            && new.flags == old.flags
            && have_like_options(&new.options, &old.options)
            && !reports_duplicate(old)
            && covers_blocks(new, old);
        if !related || new.ack.is_before(old.ack) {
            AckRelation::Unrelated
        } else if new.ack == old.ack {
            AckRelation::Repeats
        } else {
            AckRelation::Supersedes
        }
    }
}

/// Returns whether all options but SACK blocks are alike, of timestamps that there are any. The DSS
/// of Multipath TCP is kept in the room of SACK blocks.
fn have_like_options(new: &TcpOptions, old: &TcpOptions) -> bool {
    let TcpOptions {
        mss,
        window_scale,
        sack_permitted,
        timestamps,
        acc_ecn,
        rare,
        sack: _,
        scale_first: _,
    } = new;
    *mss == old.mss
        && *window_scale == old.window_scale
        && *sack_permitted == old.sack_permitted
        && timestamps.is_some() == old.timestamps.is_some()
        && *acc_ecn == old.acc_ecn
        && *rare == old.rare
        && new.dss() == old.dss()
}

/// Returns whether the first block is a D-SACK (RFC 2883 §4): acknowledged already, or within the
/// second.
fn reports_duplicate(segment: &TcpSegment) -> bool {
    match segment.options.sack.as_slice() {
        [] => false,
        [first, rest @ ..] => {
            let inside = |outer: &crate::tcp::SackBlock| {
                !first.left.is_before(outer.left) && !outer.right.is_before(first.right)
            };
            first.left.is_before(segment.ack) || rest.first().is_some_and(inside)
        }
    }
}

fn covers_blocks(new: &TcpSegment, old: &TcpSegment) -> bool {
    let blocks: &SackBlocks = &new.options.sack;
    old.options.sack.as_slice().iter().all(|block| {
        !new.ack.is_before(block.right)
            || blocks.as_slice().iter().any(|outer| {
                !block.left.is_before(outer.left) && !outer.right.is_before(block.right)
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Addr, Payload};
    use crate::tcp::options::mptcp::{DataNumber, Dss};
    use crate::tcp::{SackBlock, TcpFlags, Timestamps};
    use AckRelation::{Repeats, Supersedes, Unrelated};
    use anabranch_units::Serial32;

    fn ack(number: u32, change: impl FnOnce(&mut TcpSegment)) -> Packet {
        let mut segment = TcpSegment {
            src_port: 80,
            dst_port: 5000,
            seq: Serial32(7),
            ack: Serial32(number),
            flags: TcpFlags::ACK,
            window: 1000,
            urgent: 0,
            options: TcpOptions::default(),
            payload: Payload::EMPTY,
        };
        change(&mut segment);
        Packet::new(Addr(1), Addr(2), Body::Tcp(segment))
    }

    fn sack(segment: &mut TcpSegment, blocks: &[(u32, u32)]) {
        for (left, right) in blocks {
            let block = SackBlock { left: Serial32(*left), right: Serial32(*right) };
            assert!(segment.options.sack.push(block));
        }
    }

    fn plain(_: &mut TcpSegment) {}

    #[test]
    fn later_numbers_supersede_across_the_wrap() {
        for (new, old, expected) in [
            (2000, 1000, Supersedes),
            (1000, 2000, Unrelated),
            (1000, 1000, Repeats),
            (500, u32::MAX - 500, Supersedes),
        ] {
            assert_eq!(ack(new, plain).ack_relation(&ack(old, plain)), expected, "{new} {old}");
        }
        let stamped = |number, value| {
            ack(number, |s| s.options.timestamps = Some(Timestamps { value, echo: 1 }))
        };
        assert_eq!(stamped(2, 9).ack_relation(&stamped(1, 8)), Supersedes);
        assert_eq!(stamped(2, 9).ack_relation(&ack(1, plain)), Unrelated);
        assert_eq!(ack(2, |s| s.window = 0).ack_relation(&ack(1, plain)), Supersedes);
    }

    #[test]
    fn what_is_no_pure_ack_or_of_another_flow_is_not_compared() {
        let old = ack(1000, plain);
        let data = ack(2000, |s| s.payload = Payload::virtual_of(1));
        let fin = ack(2000, |s| s.flags = TcpFlags::ACK.union(TcpFlags::FIN));
        let other = ack(2000, |s| s.src_port = 81);
        for new in [data, fin, other] {
            assert_eq!(new.ack_relation(&old), Unrelated);
        }
    }

    #[test]
    fn echoes_of_congestion_are_news() {
        let ece = TcpFlags::ACK.union(TcpFlags::ECE);
        let (with, without) = (ack(2000, |s| s.flags = ece), ack(2000, plain));
        assert_eq!(with.ack_relation(&ack(1000, plain)), Unrelated);
        assert_eq!(without.ack_relation(&ack(1000, |s| s.flags = ece)), Unrelated);
        assert_eq!(with.ack_relation(&ack(1000, |s| s.flags = ece)), Supersedes);
        let marked = Packet { ecn: Ecn::Ce, ..ack(1000, plain) };
        assert_eq!(without.ack_relation(&marked), Unrelated);
    }

    #[test]
    fn sack_blocks_must_be_told_again() {
        let old = |blocks: &[(u32, u32)]| ack(1000, |s| sack(s, blocks));
        let new = |number, blocks: &[(u32, u32)]| ack(number, |s| sack(s, blocks));
        let two = old(&[(4000, 5000), (2000, 3000)]);
        // All acknowledged; one acknowledged and one told again, grown.
        assert_eq!(new(5000, &[]).ack_relation(&two), Supersedes);
        assert_eq!(new(3000, &[(4000, 6000)]).ack_relation(&two), Supersedes);
        assert_eq!(new(1000, &[(4000, 6000), (2000, 3000)]).ack_relation(&two), Repeats);
        // One is missing, or only in part there.
        assert_eq!(new(3000, &[]).ack_relation(&two), Unrelated);
        assert_eq!(new(3000, &[(4500, 6000)]).ack_relation(&two), Unrelated);
    }

    #[test]
    fn acknowledgments_of_multipath_data_are_news() {
        let mptcp = |number, data| {
            ack(number, |s| {
                let data_ack = Some(DataNumber::Long(data));
                assert!(s.options.set_dss(&Dss { data_ack, ..Dss::default() }));
            })
        };
        assert_eq!(mptcp(2000, 9000).ack_relation(&mptcp(1000, 8000)), Unrelated);
        assert_eq!(mptcp(2000, 8000).ack_relation(&mptcp(1000, 8000)), Supersedes);
        assert_eq!(ack(2000, plain).ack_relation(&mptcp(1000, 8000)), Unrelated);
    }

    #[test]
    fn reports_of_duplicates_are_never_redundant() {
        let below = ack(1000, |s| sack(s, &[(500, 900)]));
        let within = ack(1000, |s| sack(s, &[(2500, 2600), (2000, 3000)]));
        for old in [below, within] {
            let new = ack(9000, plain);
            assert_eq!(new.ack_relation(&old), Unrelated);
        }
    }
}
