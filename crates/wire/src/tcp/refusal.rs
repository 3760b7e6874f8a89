//! What answers a segment for nobody (RFC 9293 §3.10.7.1), and the token by which
//! a SYN names the connection that it joins.

use super::mptcp::{Join, MptcpOption, ResetReason};
use super::{TcpFlags, TcpOptions, TcpSegment};
use crate::packet::{Body, Packet, Payload};
use anabranch_units::Serial32;

impl TcpSegment {
    /// The MP_JOIN that it carries.
    pub fn mp_join(&self) -> Option<&Join> {
        self.options.mptcp().iter().find_map(|option| match option {
            MptcpOption::Join(join) => Some(join),
            _ => None,
        })
    }

    /// A SYN that opens a further subflow of a connection over Multipath TCP: the
    /// connection's token (RFC 8684 §3.2).
    pub fn joined_token(&self) -> Option<u32> {
        let opens = self.flags.contains(TcpFlags::SYN) && !self.flags.contains(TcpFlags::ACK);
        match self.mp_join() {
            Some(Join::Syn { token, .. }) if opens => Some(*token),
            _ => None,
        }
    }
}

impl Packet {
    /// The reset that answers a TCP segment for nobody; `None` for a reset, and
    /// for what is no segment. One that answers an MP_JOIN says so (RFC 8684
    /// §3.2, §3.6): an MPTCP-specific error.
    pub fn refusal(&self) -> Option<Packet> {
        let Body::Tcp(segment) = &self.body else { return None };
        if segment.flags.contains(TcpFlags::RST) {
            return None;
        }
        let acks = segment.flags.contains(TcpFlags::ACK);
        let (seq, ack, flags) = match acks {
            true => (segment.ack, Serial32(0), TcpFlags::RST),
            false => {
                let ack = segment.seq.add(segment.seq_len());
                (Serial32(0), ack, TcpFlags::RST.union(TcpFlags::ACK))
            }
        };
        let mut options = TcpOptions::default();
        if segment.mp_join().is_some() {
            let reason = ResetReason::Mptcp as u8;
            options.rare_mut().mptcp.push(MptcpOption::TcpRst { transient: false, reason });
        }
        let reset = TcpSegment {
            src_port: segment.dst_port,
            dst_port: segment.src_port,
            seq,
            ack,
            flags,
            window: 0,
            urgent: 0,
            options,
            payload: Payload::EMPTY,
        };
        Some(Packet::new(self.dst, self.src, Body::Tcp(reset)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Addr;

    fn segment(flags: TcpFlags, options: TcpOptions) -> Packet {
        let segment = TcpSegment {
            src_port: 1000,
            dst_port: 80,
            seq: Serial32(7),
            ack: Serial32(9),
            flags,
            window: 100,
            urgent: 0,
            options,
            payload: Payload::virtual_of(3),
        };
        Packet::new(Addr(1), Addr(2), Body::Tcp(segment))
    }

    fn joins(token: u32) -> TcpOptions {
        let mut options = TcpOptions::default();
        let join = Join::Syn { backup: false, address: 1, token, nonce: 5 };
        options.rare_mut().mptcp.push(MptcpOption::Join(join));
        options
    }

    /// RFC 9293 §3.10.7.1: <SEQ=SEG.ACK><CTL=RST>, or without ACK
    /// <SEQ=0><ACK=SEG.SEQ+SEG.LEN><CTL=RST,ACK>; none answers a reset.
    #[test]
    fn resets_have_the_numbers_of_the_rfc() {
        let of = |flags| segment(flags, TcpOptions::default()).refusal();
        let fields = |packet: Packet| {
            let Body::Tcp(it) = packet.body else { panic!() };
            assert_eq!((packet.src, packet.dst), (Addr(2), Addr(1)));
            assert_eq!((it.src_port, it.dst_port, it.options), (80, 1000, TcpOptions::default()));
            (it.seq.0, it.ack.0, it.flags)
        };
        assert_eq!(of(TcpFlags::ACK).map(fields), Some((9, 0, TcpFlags::RST)));
        let both = TcpFlags::RST.union(TcpFlags::ACK);
        assert_eq!(of(TcpFlags::SYN).map(fields), Some((0, 11, both)));
        assert_eq!(of(both), None);
    }

    /// RFC 8684 §3.2: MP_TCPRST with reason 1.
    #[test]
    fn a_join_of_nobody_is_told_why() {
        let reset = segment(TcpFlags::SYN, joins(3)).refusal();
        let Some(Body::Tcp(it)) = reset.map(|it| it.body) else { panic!() };
        let reason = MptcpOption::TcpRst { transient: false, reason: 1 };
        assert_eq!(it.options.mptcp(), [reason]);
    }

    #[test]
    fn a_token_is_that_of_the_syn() {
        let token = |packet: Packet| {
            let Body::Tcp(it) = packet.body else { panic!() };
            it.joined_token()
        };
        assert_eq!(token(segment(TcpFlags::SYN, joins(3))), Some(3));
        assert_eq!(token(segment(TcpFlags::SYN.union(TcpFlags::ACK), joins(3))), None);
        assert_eq!(token(segment(TcpFlags::SYN, TcpOptions::default())), None);
    }
}
