//! Sets of defaults under a name: what a stack ships with.

use crate::config::{
    Config, Counting, EcnMode, InitialReceiveWindow, Nagle, UndoOptions, WindowProbe, WindowUse,
};
use crate::recovery::{RackOptions, Recovery};
use anabranch_congestion::cubic::CubicOptions;
use anabranch_congestion::{Algorithm, HyStartOptions, SlowStartExit, SsthreshFrom};
use anabranch_endpoint::RtoBounds;
use anabranch_units::Span;

impl Config {
    /// The profile of that name: `rfc` is [`Config::default`], `linux` is
    /// [`Config::linux`], `freebsd` is [`Config::freebsd`].
    pub fn profile(name: &str) -> Option<Config> {
        match name {
            "rfc" => Some(Config::default()),
            "linux" => Some(Config::linux()),
            "freebsd" => Some(Config::freebsd()),
            _ => None,
        }
    }

    /// The defaults of Linux 6.x, as its documentation of `net.ipv4.tcp_*` and
    /// its sources state them, as far as they are settings here.
    ///
    /// What differs all the same: the variation of round-trip times decays with
    /// each sample, not once a round trip.
    pub fn linux() -> Config {
        let mut cubic = CubicOptions::default();
        cubic.common.ssthresh_from = SsthreshFrom::Cwnd;
        cubic.common.slow_start_limit = u8::MAX; // no appropriate byte counting
        cubic.common.slow_start_exit = SlowStartExit::HyStart(HyStartOptions::default());
        Config {
            // tcp_rmem and tcp_wmem, the largest.
            receive_buffer: 6 << 20,
            // As of 6.12, where SO_RCVBUF is given and segments are of 1500 octets: see
            // docs/algorithms/ack-timing.md.
            initial_receive_window: InitialReceiveWindow::Share(0.8),
            send_buffer: 4 << 20,
            // TCP_RTO_MIN, TCP_RTO_MAX.
            rto: RtoBounds {
                min: Span::from_millis(200),
                min_variation: Span::from_millis(200),
                max: Span::from_secs(120),
                ..RtoBounds::default()
            },
            ecn: EcnMode::Passive, // tcp_ecn = 2
            nagle: Nagle::Minshall,
            quick_acks: 16, // TCP_MAX_QUICKACKS
            adaptive_acks: true,
            // tcp_dsack, tcp_recovery, tcp_early_retrans, tcp_frto
            dsack: true,
            recovery: Recovery::Rack(RackOptions { reduce_again: false, ..Default::default() }),
            max_dupack_threshold: Some(300), // tcp_max_reordering
            undo: UndoOptions { frto: true, eifel: true, dsack: true },
            require_timestamps: false,
            counting: Counting::Delivered,
            window_use: WindowUse::Outstanding,
            window_probe: WindowProbe::Empty,
            window: Algorithm::Cubic(cubic),
            challenge_acks: 0, // tcp_challenge_ack_limit, without limit since 6.x
            soft_errors_end_opening: true,
            syn_retries: 6,         // tcp_syn_retries
            syn_linear_timeouts: 4, // tcp_syn_linear_timeouts, since 6.5
            syn_ack_retries: 5,     // tcp_synack_retries
            max_retries: 15,        // tcp_retries2
            stalled_after: 3,       // tcp_retries1
            ..Config::default()
        }
    }

    /// The defaults of FreeBSD 14, as tcp(4) and its sources state them, as far
    /// as they are settings here.
    ///
    /// What differs all the same: the lower bound of the RTO is 30 ms plus a
    /// slop of 200 ms there, and buffers grow with use.
    pub fn freebsd() -> Config {
        Config {
            // net.inet.tcp.recvspace and recvbuf_max.
            receive_buffer: 2 << 20,
            send_buffer: 2 << 20,
            rto: RtoBounds {
                min: Span::from_millis(230),
                max: Span::from_secs(64),
                ..RtoBounds::default()
            },
            ecn: EcnMode::Passive, // net.inet.tcp.ecn.enable = 2
            nagle: Nagle::Rfc,
            dsack: true,
            // RFC 6675 with PRR since 14: net.inet.tcp.sack.revised, do_prr.
            recovery: Recovery::Sack { pipe: Default::default(), prr: true },
            challenge_acks: 0,
            syn_retries: 6,     // net.inet.tcp.keepinit = 75 s
            syn_ack_retries: 3, // net.inet.tcp.syncache.rexmtlimit
            max_retries: 12,    // net.inet.tcp.rexmit_maxretries
            min_path_mtu: 296,
            black_hole_detection: false,
            ..Config::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_valid_and_known_by_name() {
        for name in ["rfc", "linux", "freebsd"] {
            Config::profile(name).unwrap().validate().unwrap();
        }
        assert_eq!(Config::profile("rfc"), Some(Config::default()));
        assert_eq!(Config::profile("bsd"), None);
    }
}
