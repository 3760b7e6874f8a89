//! `struct tcp_info` by the names of its fields.

use crate::code::Names;
use crate::profile::Profile;
use anabranch_socket::TcpInfo;
use anabranch_tcp::{Repair, State};
use anabranch_units::Span;

/// The infinite threshold of Linux.
const INFINITE_SSTHRESH: u64 = 0x7fff_ffff;

/// The states by the names of FreeBSD's `sockstat`, in the order of their numbers there.
const STATES: [(&str, State); 11] = [
    ("CLOSED", State::Closed),
    ("LISTEN", State::Listen),
    ("SYN_SENT", State::SynSent),
    ("SYN_RCVD", State::SynReceived),
    ("ESTABLISHED", State::Established),
    ("CLOSE_WAIT", State::CloseWait),
    ("FIN_WAIT_1", State::FinWait1),
    ("CLOSING", State::Closing),
    ("LAST_ACK", State::LastAck),
    ("FIN_WAIT_2", State::FinWait2),
    ("TIME_WAIT", State::TimeWait),
];

/// The state of that name.
pub(super) fn state_of(name: &str) -> Option<State> {
    STATES.iter().find(|(other, _)| *other == name).map(|(_, state)| *state)
}

/// Writes the state into `names`, by the number that it has on the system.
pub(super) fn report_state(profile: Profile, state: Option<State>, names: &mut Names) {
    let Some(state) = state else { return };
    let number = match profile {
        Profile::FreeBsd => {
            STATES.iter().position(|(_, known)| *known == state).unwrap_or(0) as i64
        }
        Profile::Linux | Profile::Rfc => number_on_linux(state),
    };
    names.insert("tcpi_state".into(), number);
}

fn number_on_linux(state: State) -> i64 {
    match state {
        State::Established => 1,
        State::SynSent => 2,
        State::SynReceived => 3,
        State::FinWait1 => 4,
        State::FinWait2 => 5,
        // The socket is closed when TIME-WAIT begins.
        State::TimeWait | State::Closed => 7,
        State::CloseWait => 8,
        State::LastAck => 9,
        State::Listen => 10,
        State::Closing => 11,
    }
}

/// Writes the fields into `names`.
pub(super) fn report(profile: Profile, info: &TcpInfo, names: &mut Names) {
    let (connection, traffic) = (&info.connection, &info.traffic);
    report_state(profile, Some(connection.state), names);
    let micros = |span: Option<Span>| span.map_or(0, |span| span.as_nanos() / 1000);
    let whole = |octets: u64| octets / connection.mss.max(1);
    let ssthresh = if connection.ssthresh == u64::MAX {
        INFINITE_SSTHRESH
    } else {
        whole(connection.ssthresh)
    };
    let repair = match connection.repair {
        Repair::Open => 0,
        Repair::Disorder => 1,
        Repair::Reduced => 2,
        Repair::Recovery => 3,
        Repair::Loss => 4,
    };
    let options = [
        (connection.timestamps, 1),
        (connection.sack, 2),
        (connection.window_scale.is_some(), 4),
        (connection.ecn, 8),
        (connection.ecn && traffic.ecn_seen, 16),
        (connection.syn_data, 32),
    ];
    let options = options.iter().filter(|(on, _)| *on).map(|(_, bit)| bit).sum::<u64>();
    let (peer_shift, own_shift) = connection.window_scale.unwrap_or((0, 0));
    let fields = [
        ("tcpi_ca_state", repair),
        ("tcpi_retransmits", connection.retries as u64),
        ("tcpi_probes", connection.probes as u64),
        ("tcpi_backoff", connection.backoff as u64),
        ("tcpi_options", options),
        ("tcpi_snd_wscale", peer_shift as u64),
        ("tcpi_rcv_wscale", own_shift as u64),
        ("tcpi_rto", micros(Some(connection.rto))),
        ("tcpi_snd_mss", connection.mss),
        ("tcpi_unacked", connection.segments.unacked),
        ("tcpi_delivered", connection.segments.delivered),
        ("tcpi_sacked", connection.segments.sacked),
        ("tcpi_lost", connection.segments.lost),
        ("tcpi_retrans", connection.segments.resent),
        ("tcpi_last_data_sent", info.last_data_sent.as_millis()),
        ("tcpi_last_data_recv", info.last_data_received.as_millis()),
        ("tcpi_rtt", micros(connection.srtt)),
        ("tcpi_rttvar", micros(connection.rttvar)),
        ("tcpi_snd_ssthresh", ssthresh),
        ("tcpi_snd_cwnd", whole(connection.cwnd)),
        ("tcpi_advmss", connection.advertised_mss),
        ("tcpi_reordering", connection.reordering as u64),
        ("tcpi_reord_seen", connection.reorderings as u64),
        ("tcpi_total_retrans", connection.total_retransmitted_packets),
        ("tcpi_notsent_bytes", connection.unsent),
        ("tcpi_min_rtt", micros(connection.min_rtt)),
        ("tcpi_last_ack_recv", info.last_ack_received.as_millis()),
        ("tcpi_bytes_acked", info.acknowledged),
        ("tcpi_bytes_received", info.received),
        ("tcpi_segs_out", traffic.segments_out),
        ("tcpi_segs_in", traffic.segments_in),
        ("tcpi_data_segs_out", traffic.data_segments_out),
        ("tcpi_data_segs_in", traffic.data_segments_in),
        ("tcpi_bytes_sent", traffic.sent),
        ("tcpi_bytes_retrans", traffic.sent_again),
        ("tcpi_dsack_dups", traffic.duplicates_reported),
        ("tcpi_rcv_ooopack", traffic.out_of_order),
        ("tcpi_busy_time", micros(Some(info.limits.busy))),
        ("tcpi_rwnd_limited", micros(Some(info.limits.window))),
        ("tcpi_sndbuf_limited", micros(Some(info.limits.buffer))),
        ("tcpi_rcv_mss", connection.peer_mss),
        ("tcpi_rcv_wnd", connection.own_window),
        ("tcpi_snd_wnd", connection.peer_window),
        ("tcpi_pmtu", connection.path_mtu),
        ("tcpi_fackets", 0),
        ("tcpi_last_ack_sent", 0),
    ];
    names.extend(fields.map(|(name, value)| (name.to_owned(), value as i64)));
}
