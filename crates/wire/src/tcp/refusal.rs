//! What answers a segment for nobody (RFC 9293 §3.10.7.1), and the token by which
//! a SYN names the connection that it joins.

use super::mptcp::{Join, MptcpOption, ResetReason};
use super::{TcpFlags, TcpOptions, TcpSegment, Timestamps};
use crate::packet::{Body, Packet, Payload};
use anabranch_units::Serial32;

impl TcpSegment {
    /// Returns the MP_JOIN that the segment carries, if it has one.
    pub fn mp_join(&self) -> Option<&Join> {
        self.options.mptcp().iter().find_map(|option| match option {
            MptcpOption::Join(join) => Some(join),
            _ => None,
        })
    }

    /// Returns the token of a SYN that opens a further subflow of a connection over Multipath TCP
    /// (RFC 8684 §3.2); `None` of other segments.
    pub fn joined_token(&self) -> Option<u32> {
        let opens = self.flags.contains(TcpFlags::SYN) && !self.flags.contains(TcpFlags::ACK);
        match self.mp_join() {
            Some(Join::Syn { token, .. }) if opens => Some(*token),
            _ => None,
        }
    }
}

impl Packet {
    /// What answers a packet for nobody, where nobody listens: of SCTP as RFC 9260 §8.4 has it, of
    /// TCP a reset; `None` where nothing is said, as to a reset. One that answers timestamps carries them (RFC 7323
    /// §5.2), one that answers an MP_JOIN says so (RFC 8684 §3.2, §3.6): an
    /// MPTCP-specific error.
    pub fn refusal(&self) -> Option<Packet> {
        let segment = match &self.body {
            Body::Tcp(segment) => segment,
            Body::Sctp(sctp) => {
                let answer = Body::Sctp(Box::new(sctp.refusal()?));
                return Some(Packet::new(self.dst, self.src, answer));
            }
            _ => return None,
        };
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
        let echo = segment.options.timestamps.map(|ts| ts.value);
        let timestamps = echo.map(|echo| Timestamps { value: 0, echo });
        let mut options = TcpOptions { timestamps, ..TcpOptions::default() };
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
            let Body::Tcp(tcp) = packet.body else { panic!() };
            assert_eq!((packet.src, packet.dst), (Addr(2), Addr(1)));
            assert_eq!(
                (tcp.src_port, tcp.dst_port, tcp.options),
                (80, 1000, TcpOptions::default())
            );
            (tcp.seq.0, tcp.ack.0, tcp.flags)
        };
        assert_eq!(of(TcpFlags::ACK).map(fields), Some((9, 0, TcpFlags::RST)));
        let both = TcpFlags::RST.union(TcpFlags::ACK);
        assert_eq!(of(TcpFlags::SYN).map(fields), Some((0, 11, both)));
        assert_eq!(of(both), None);
    }

    /// RFC 7323 §5.2: TSecr is the timestamp of the segment, TSval zero.
    #[test]
    fn a_reset_echoes_the_timestamp_that_it_answers() {
        let timestamps = Some(Timestamps { value: 77, echo: 5 });
        let options = TcpOptions { timestamps, ..TcpOptions::default() };
        let refusal = segment(TcpFlags::ACK, options).refusal();
        let Some(Body::Tcp(reset)) = refusal.map(|packet| packet.body) else { panic!() };
        assert_eq!(reset.options.timestamps, Some(Timestamps { value: 0, echo: 77 }));
    }

    /// RFC 8684 §3.2: MP_TCPRST with reason 1.
    #[test]
    fn a_join_of_nobody_is_told_why() {
        let reset = segment(TcpFlags::SYN, joins(3)).refusal();
        let Some(Body::Tcp(tcp)) = reset.map(|reset| reset.body) else { panic!() };
        let reason = MptcpOption::TcpRst { transient: false, reason: 1 };
        assert_eq!(tcp.options.mptcp(), [reason]);
    }

    #[test]
    fn a_token_is_that_of_the_syn() {
        let token = |packet: Packet| {
            let Body::Tcp(tcp) = packet.body else { panic!() };
            tcp.joined_token()
        };
        assert_eq!(token(segment(TcpFlags::SYN, joins(3))), Some(3));
        assert_eq!(token(segment(TcpFlags::SYN.union(TcpFlags::ACK), joins(3))), None);
        assert_eq!(token(segment(TcpFlags::SYN, TcpOptions::default())), None);
    }
}
