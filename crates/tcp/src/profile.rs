//! Sets of defaults under a name: what a stack ships with.

use crate::config::{
    Config, Counting, DelayedAck, EcnMode, InitialReceiveWindow, InitialWindow, Nagle,
    ResetTimestamps, RtoRestart, RttSamples, UndoOptions, WindowProbe, WindowUse,
};
use crate::manners::Manners;
use crate::recovery::{Pipe, RackOptions, Recovery};
use anabranch_congestion::cubic::{Lookahead, RenoIncrease, RenoStep};
use anabranch_congestion::{Algorithm, HyStartOptions, SlowStartExit, SsthreshFrom};
use anabranch_endpoint::RtoBounds;
use anabranch_units::Span;

/// A stack whose defaults a configuration begins with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Profile {
    /// What the RFCs say: [`Config::default`], algorithms with their defaults.
    #[default]
    Rfc,
    /// Linux's defaults: [`Config::linux`].
    Linux,
    /// FreeBSD's defaults: [`Config::freebsd`].
    FreeBsd,
    /// ns-2's defaults: [`Config::ns2`].
    Ns2,
}

impl Profile {
    /// All of them, by the names that scenarios have.
    pub const ALL: [(&str, Profile); 4] = [
        ("rfc", Profile::Rfc),
        ("linux", Profile::Linux),
        ("freebsd", Profile::FreeBsd),
        ("ns2", Profile::Ns2),
    ];

    /// The defaults of the stack.
    pub fn config(self) -> Config {
        match self {
            Profile::Rfc => Config::default(),
            Profile::Linux => Config::linux(),
            Profile::FreeBsd => Config::freebsd(),
            Profile::Ns2 => Config::ns2(),
        }
    }

    /// The window algorithm with what the stack sets of it. Linux: its modules
    /// (`net/ipv4/tcp_*.c`) reduce the window, not the flight, grow by all that
    /// is acknowledged in slow start, have windows of whole segments, and halve at a loss in Vegas. ns-2:
    /// `TcpAgent::slowdown`.
    pub fn window(self, mut algorithm: Algorithm) -> Algorithm {
        if self == Profile::Ns2
            && let Some(common) = algorithm.common_mut()
        {
            common.ssthresh_from = SsthreshFrom::Ns2;
        }
        if self != Profile::Linux {
            return algorithm;
        }
        if let Some(common) = algorithm.common_mut() {
            common.ssthresh_from = SsthreshFrom::Cwnd;
            common.slow_start_limit = u8::MAX; // no appropriate byte counting
            common.whole_segments = true; // snd_cwnd
        }
        match &mut algorithm {
            Algorithm::Cubic(cubic) => {
                cubic.common.slow_start_exit = SlowStartExit::HyStart(HyStartOptions::default());
                cubic.reno_increase = RenoIncrease::Kept;
                cubic.reno_step = RenoStep::InARound;
                cubic.least_first_growth = 5;
                cubic.lookahead = Lookahead::Smallest;
                cubic.update_interval = Span::from_micros(31_250); // HZ / 32
                cubic.count_limited_time = true;
            }
            Algorithm::Vegas(vegas) => vegas.loss_beta = 0.5,
            Algorithm::Bbr(bbr) => bbr.ack_aggregation = true,
            _ => {}
        }
        algorithm
    }

    /// The recovery scheme with what the stack sets of it: Linux reduces in
    /// proportion in all of them and once in a recovery, and has rules of its own for probes, FreeBSD in proportion
    /// by RFC 6675; ns-2 lets the ACK that ends a recovery open the window, and
    /// counts a pipe of its own.
    pub fn recovery(self, mut scheme: Recovery) -> Recovery {
        match (self, &mut scheme) {
            (Profile::Linux, Recovery::Rack(rack)) => {
                (rack.reduce_again, rack.linux_probes) = (false, true);
            }
            (
                Profile::Linux,
                Recovery::Sack { pipe: Pipe::Rfc6675, prr } | Recovery::Fack { prr },
            )
            | (Profile::FreeBsd, Recovery::Sack { pipe: Pipe::Rfc6675, prr }) => *prr = true,
            (
                Profile::Ns2,
                Recovery::Reno { exit_growth } | Recovery::NewReno { exit_growth, .. },
            ) => *exit_growth = true,
            (Profile::Ns2, Recovery::Sack { pipe, .. }) => *pipe = Pipe::Ns2,
            _ => {}
        }
        scheme
    }
}

impl Config {
    /// The defaults of Linux 6.x, as its documentation of `net.ipv4.tcp_*` and
    /// its sources state them, as far as they are settings here.
    pub fn linux() -> Config {
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
            rto_restart: RtoRestart::FirstResent,
            rtt_samples: RttSamples::EveryAck,
            ecn: EcnMode::Passive, // tcp_ecn = 2
            ecn_wait: false,       // tcp_ca_event has none; ssthresh is two segments at least
            nagle: Nagle::Minshall,
            quick_acks: 16, // TCP_MAX_QUICKACKS
            adaptive_acks: true,
            // tcp_dsack, tcp_recovery, tcp_early_retrans, tcp_frto
            dsack: true,
            recovery: Profile::Linux.recovery(Recovery::Rack(RackOptions::default())),
            max_dupack_threshold: Some(300), // tcp_max_reordering
            undo: UndoOptions { frto: true, eifel: true, dsack: true },
            require_timestamps: false,
            reset_timestamps: ResetTimestamps::Aborts,
            echo_old_segments: false,
            counting: Counting::Delivered,
            window_use: WindowUse::Outstanding,
            window_probe: WindowProbe::Empty,
            window: Profile::Linux.window(Algorithm::default()),
            challenge_acks: 0, // tcp_challenge_ack_limit, without limit since 6.x
            soft_errors_end_opening: true,
            syn_retries: 6,         // tcp_syn_retries
            syn_linear_timeouts: 4, // tcp_syn_linear_timeouts, since 6.5
            syn_ack_retries: 5,     // tcp_synack_retries
            max_retries: 15,        // tcp_retries2
            stalled_after: 3,       // tcp_retries1
            manners: Manners::linux(),
            ..Config::default()
        }
    }

    /// The defaults of FreeBSD 14, as tcp(4) and its sources state them, as far
    /// as they are settings here.
    ///
    /// What differs all the same: buffers grow with use there.
    pub fn freebsd() -> Config {
        Config {
            // net.inet.tcp.recvspace and recvbuf_max.
            receive_buffer: 2 << 20,
            send_buffer: 2 << 20,
            // net.inet.tcp.rexmit_min, rexmit_slop; TCPTV_REXMTMAX.
            rto: RtoBounds {
                min: Span::from_millis(30),
                slop: Span::from_millis(200),
                max: Span::from_secs(64),
                ..RtoBounds::default()
            },
            ecn: EcnMode::Passive, // net.inet.tcp.ecn.enable = 2
            ecn_wait: false,
            nagle: Nagle::Rfc,
            dsack: true,
            // RFC 6675 with PRR since 14: net.inet.tcp.sack.revised, do_prr.
            recovery: Recovery::Sack { pipe: Pipe::Rfc6675, prr: true },
            ecn_syn_retries: 1, // net.inet.tcp.ecn.maxretries
            challenge_acks: 0,
            syn_retries: 12,                            // TCP_MAXRXTSHIFT
            opening_timeout: Some(Span::from_secs(75)), // net.inet.tcp.keepinit
            syn_ack_retries: 3,                         // net.inet.tcp.syncache.rexmtlimit
            max_retries: 12,                            // net.inet.tcp.rexmit_maxretries
            // tcp_respond leaves them out.
            reset_timestamps: ResetTimestamps::None,
            min_path_mtu: 296,
            black_hole_detection: false,
            manners: Manners::freebsd(),
            ..Config::default()
        }
    }

    /// The defaults of the one-way agents of ns-2.35 (`Agent/TCP/Reno`, `Agent/TCP/Sack1`) with
    /// plain sinks, which acknowledge every segment. Its clock of 10 ms is not there.
    pub fn ns2() -> Config {
        Config {
            initial_window: InitialWindow::Segments(2), // windowInit_
            timestamps: false,
            delayed_ack: DelayedAck { count: 1, delay: Span::ZERO },
            // rtxcur_init_, minrto_ (1 s until October 2004), maxrto_.
            rto: RtoBounds {
                initial: Span::from_secs(3),
                min: Span::from_millis(200),
                max: Span::from_secs(60),
                ..RtoBounds::default()
            },
            counting: Counting::Acks,
            go_back_n: true,
            recovery: Profile::Ns2.recovery(Recovery::Reno { exit_growth: false }),
            window: Profile::Ns2.window(Algorithm::Reno(Default::default())),
            ..Config::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_congestion::ALGORITHMS;

    #[test]
    fn profiles_are_valid() {
        for (name, profile) in Profile::ALL {
            profile.config().validate().unwrap_or_else(|e| panic!("{name}: {e}"));
        }
        assert_eq!(Profile::default().config(), Config::default());
    }

    /// The stack's own algorithm, when it is named, is the one that the stack
    /// begins with.
    #[test]
    fn what_a_profile_begins_with_has_its_options() {
        for (name, profile) in Profile::ALL {
            let config = profile.config();
            let window = Algorithm::from_name(config.window.name()).unwrap();
            assert_eq!(profile.window(window), config.window, "{name}");
            let recovery = Recovery::from_name(config.recovery.name()).unwrap();
            assert_eq!(profile.recovery(recovery), config.recovery, "{name}");
        }
    }

    /// `tcp_cubic.c` and `tcp_recalc_ssthresh` of all modules: the window, not
    /// the flight; no limit for an ACK. HyStart is CUBIC's alone.
    #[test]
    fn algorithms_of_linux_reduce_the_window_and_know_no_byte_counting() {
        for info in ALGORITHMS {
            let mut algorithm = Profile::Linux.window(Algorithm::from_name(info.name).unwrap());
            let is_cubic = matches!(algorithm, Algorithm::Cubic(_));
            let Some(common) = algorithm.common_mut() else { continue };
            assert_eq!(common.ssthresh_from, SsthreshFrom::Cwnd, "{}", info.name);
            assert_eq!(common.slow_start_limit, 255, "{}", info.name);
            assert!(common.whole_segments, "{}", info.name);
            let has_hystart = matches!(common.slow_start_exit, SlowStartExit::HyStart(_));
            assert_eq!(has_hystart, is_cubic, "{}", info.name);
        }
    }
}
