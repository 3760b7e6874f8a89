//! `struct tcp_info` by the names of its fields.

use crate::code::Names;
use anabranch_socket::TcpInfo;
use anabranch_tcp::{Repair, State};
use anabranch_units::Span;

/// The infinite threshold of Linux.
const INFINITE_SSTHRESH: u64 = 0x7fff_ffff;

/// Writes the fields into `names`. Counts of segments are octets divided by
/// the segment size, rounded up.
pub(super) fn report(info: &TcpInfo, names: &mut Names) {
    let it = &info.connection;
    let micros = |span: Option<Span>| span.map_or(0, |span| span.as_nanos() / 1000);
    let segments = |octets: u64| octets.div_ceil(it.mss.max(1));
    let whole = |octets: u64| octets / it.mss.max(1);
    let ssthresh = if it.ssthresh == u64::MAX { INFINITE_SSTHRESH } else { whole(it.ssthresh) };
    let state = match it.state {
        State::Established => 1,
        State::SynSent => 2,
        State::SynReceived => 3,
        State::FinWait1 => 4,
        State::FinWait2 => 5,
        State::TimeWait => 6,
        State::Closed => 7,
        State::CloseWait => 8,
        State::LastAck => 9,
        State::Listen => 10,
        State::Closing => 11,
    };
    let repair = match it.repair {
        Repair::Open => 0,
        Repair::Disorder => 1,
        Repair::Reduced => 2,
        Repair::Recovery => 3,
        Repair::Loss => 4,
    };
    let options = [
        (it.timestamps, 1),
        (it.sack, 2),
        (it.window_scale.is_some(), 4),
        (it.ecn, 8),
        (it.syn_data, 32),
    ];
    let options = options.iter().filter(|(on, _)| *on).map(|(_, bit)| bit).sum::<u64>();
    let (peer_shift, own_shift) = it.window_scale.unwrap_or((0, 0));
    // The SYN counts as one, with what it carried.
    let syn = (it.state.is_synchronized() && !it.syn_data) as u64;
    let fields = [
        ("tcpi_state", state),
        ("tcpi_ca_state", repair),
        ("tcpi_retransmits", it.retries as u64),
        ("tcpi_probes", it.probes as u64),
        ("tcpi_backoff", it.backoff as u64),
        ("tcpi_options", options),
        ("tcpi_snd_wscale", peer_shift as u64),
        ("tcpi_rcv_wscale", own_shift as u64),
        ("tcpi_rto", micros(Some(it.rto))),
        ("tcpi_snd_mss", it.mss),
        ("tcpi_unacked", segments(it.unacked)),
        ("tcpi_delivered", syn + segments(it.acked) + segments(it.sacked)),
        ("tcpi_sacked", segments(it.sacked)),
        ("tcpi_lost", segments(it.lost)),
        ("tcpi_retrans", segments(it.retransmitted)),
        ("tcpi_last_data_sent", info.last_data_sent.as_millis()),
        ("tcpi_last_data_recv", info.last_data_received.as_millis()),
        ("tcpi_rtt", micros(it.srtt)),
        ("tcpi_rttvar", micros(it.rttvar)),
        ("tcpi_snd_ssthresh", ssthresh),
        ("tcpi_snd_cwnd", whole(it.cwnd)),
        ("tcpi_advmss", it.advertised_mss),
        ("tcpi_reordering", it.reordering as u64),
        ("tcpi_reord_seen", it.reorderings as u64),
        ("tcpi_total_retrans", it.total_retransmitted_packets),
        ("tcpi_notsent_bytes", it.unsent),
        ("tcpi_min_rtt", micros(it.min_rtt)),
    ];
    names.extend(fields.map(|(name, value)| (name.to_owned(), value as i64)));
}
