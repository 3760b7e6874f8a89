//! `struct tcp_info` of linux/tcp.h, as the kernel fills it.

mod mptcp;

pub use mptcp::MptcpInfo;

use anabranch_endpoint::Observation;
use anabranch_units::{Rate, Span};

/// What the kernel tells of a TCP connection; what it does not know is zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TcpInfo(pub(crate) [u8; TcpInfo::SIZE]);

/// Fields by name, with their offset and their number of octets.
const FIELDS: [(&str, usize, usize); 55] = [
    ("state", 0, 1),
    ("ca_state", 1, 1),
    ("retransmits", 2, 1),
    ("probes", 3, 1),
    ("backoff", 4, 1),
    ("options", 5, 1),
    ("rto_us", 8, 4),
    ("ato_us", 12, 4),
    ("snd_mss", 16, 4),
    ("rcv_mss", 20, 4),
    ("unacked", 24, 4),
    ("sacked", 28, 4),
    ("lost", 32, 4),
    ("retrans", 36, 4),
    ("last_data_sent_ms", 44, 4),
    ("last_data_recv_ms", 52, 4),
    ("last_ack_recv_ms", 56, 4),
    ("pmtu", 60, 4),
    ("rcv_ssthresh", 64, 4),
    ("rtt_us", 68, 4),
    ("rttvar_us", 72, 4),
    ("snd_ssthresh", 76, 4),
    ("snd_cwnd", 80, 4),
    ("advmss", 84, 4),
    ("reordering", 88, 4),
    ("rcv_rtt_us", 92, 4),
    ("rcv_space", 96, 4),
    ("total_retrans", 100, 4),
    ("pacing_rate", 104, 8),
    ("max_pacing_rate", 112, 8),
    ("bytes_acked", 120, 8),
    ("bytes_received", 128, 8),
    ("segs_out", 136, 4),
    ("segs_in", 140, 4),
    ("notsent_bytes", 144, 4),
    ("min_rtt_us", 148, 4),
    ("data_segs_in", 152, 4),
    ("data_segs_out", 156, 4),
    ("delivery_rate", 160, 8),
    ("busy_time_us", 168, 8),
    ("rwnd_limited_us", 176, 8),
    ("sndbuf_limited_us", 184, 8),
    ("delivered", 192, 4),
    ("delivered_ce", 196, 4),
    ("bytes_sent", 200, 8),
    ("bytes_retrans", 208, 8),
    ("dsack_dups", 216, 4),
    ("reord_seen", 220, 4),
    ("rcv_ooopack", 224, 4),
    ("snd_wnd", 228, 4),
    ("rcv_wnd", 232, 4),
    ("rehash", 236, 4),
    ("total_rto", 240, 2),
    ("total_rto_recoveries", 242, 2),
    ("total_rto_time_ms", 244, 4),
];

impl TcpInfo {
    /// Octets that are read: more than today's kernels have.
    pub(crate) const SIZE: usize = 256;

    /// A little or big number of the structure, by the machine's order.
    pub(crate) fn number(octets: &[u8], at: usize, len: usize) -> u64 {
        let mut word = [0; 8];
        let to = if cfg!(target_endian = "little") { 0..len } else { 8 - len..8 };
        if let Some(field) = octets.get(at..at + len) {
            word[to].copy_from_slice(field);
        }
        u64::from_ne_bytes(word)
    }

    /// All fields, by the kernel's names without their prefix; times with
    /// their unit.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        FIELDS.iter().map(|(name, at, len)| (*name, TcpInfo::number(&self.0, *at, *len)))
    }

    /// Fields that share an octet with others, by the kernel's names.
    pub fn bit_fields(&self) -> [(&'static str, u64); 4] {
        // Those of a machine with the low bits first.
        let bits =
            |at: usize, shift: u32, len: u32| u64::from(self.0[at] >> shift & ((1 << len) - 1));
        [
            ("snd_wscale", bits(6, 0, 4)),
            ("rcv_wscale", bits(6, 4, 4)),
            ("delivery_rate_app_limited", bits(7, 0, 1)),
            ("fastopen_client_fail", bits(7, 1, 2)),
        ]
    }

    /// A field by its name; 0 where there is none.
    pub(crate) fn get(&self, name: &str) -> u64 {
        self.fields().find(|(field, _)| *field == name).map_or(0, |(_, value)| value)
    }

    /// The connection is established, and neither side has ended it.
    pub(crate) fn is_established(&self) -> bool {
        self.0[0] == 1
    }

    /// Returns the connection as observers see it.
    pub(crate) fn observation(&self) -> Observation {
        const RECOVERY: u8 = 3; // TCP_CA_Recovery; loss is 4
        let word = |at| TcpInfo::number(&self.0, at, 4);
        let long = |at| TcpInfo::number(&self.0, at, 8);
        let mss = word(16);
        let [unacked, sacked, lost, again] = [24, 28, 32, 36].map(word);
        let (ssthresh, pacing) = (word(76), long(104));
        let micros = |at| Span::from_micros(word(at));
        let has_rtt = word(68) > 0;
        Observation {
            cwnd: word(80) * mss,
            ssthresh: if ssthresh >= 0x7fff_ffff { u64::MAX } else { ssthresh * mss },
            in_flight: (unacked + again).saturating_sub(sacked + lost) * mss,
            srtt: has_rtt.then(|| micros(68)),
            rto: micros(8),
            // Octets a second; all ones when it does not pace.
            pacing_rate: pacing.checked_mul(8).and_then(Rate::from_bps),
            in_recovery: self.0[1] >= RECOVERY,
            bytes_acked: long(120),
            bytes_received: long(128),
            packets_sent: word(156),
            retransmitted_packets: word(100),
            timeouts: TcpInfo::number(&self.0, 240, 2),
            spurious_retransmissions: word(216),
            ..Observation::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stand_side_by_side() {
        for pair in FIELDS.windows(2) {
            let [(_, at, len), (name, next, width)] = [pair[0], pair[1]];
            assert!(at + len <= next && next.is_multiple_of(width), "{name}");
        }
        assert_eq!(FIELDS[54].1 + FIELDS[54].2, 248, "struct tcp_info of Linux 6.7");
    }

    #[test]
    fn numbers_are_those_of_the_kernel() {
        let mut octets = [0; TcpInfo::SIZE];
        octets[16..20].copy_from_slice(&1448_u32.to_ne_bytes());
        octets[80..84].copy_from_slice(&10_u32.to_ne_bytes());
        octets[120..128].copy_from_slice(&(1_u64 << 40).to_ne_bytes());
        octets[240..242].copy_from_slice(&3_u16.to_ne_bytes());
        let info = TcpInfo(octets);
        assert_eq!((info.get("snd_cwnd"), info.get("total_rto")), (10, 3));
        let seen = info.observation();
        assert_eq!((seen.cwnd, seen.bytes_acked, seen.timeouts), (14_480, 1 << 40, 3));
        assert_eq!(TcpInfo::number(&octets, 255, 4), 0, "beyond the end");
    }
}
