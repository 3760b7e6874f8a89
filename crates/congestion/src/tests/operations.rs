//! Random sequences of hooks on every controller.

use crate::ack_clocked::Common;
use crate::reno::RenoOptions;
use crate::{
    ALGORITHMS, Acked, Algorithm, Cause, CongestionEvent, Controller, PathView, SsthreshFrom,
    cubic::CubicOptions,
};
use anabranch_units::{Span, Time};
use proptest::prelude::*;

const MSS: u64 = 1460;

#[derive(Clone, Debug)]
enum Operation {
    Sent { bytes: u64 },
    Acked { bytes: u64, app_limited: bool },
    Congestion(Cause),
    Undo,
    Idle { segments: u64 },
}

/// What happens, how long after the operation before, and with how much of
/// the window in flight (per mille; more than all of it after a reduction).
type Step = (Operation, u64, u64);

fn step() -> impl Strategy<Value = Step> {
    let operation = prop_oneof![
        2 => (1..=MSS).prop_map(|bytes| Operation::Sent { bytes }),
        12 => (prop_oneof![Just(MSS), Just(2 * MSS), 1..200 * MSS], prop::bool::weighted(0.2))
            .prop_map(|(bytes, app_limited)| Operation::Acked { bytes, app_limited }),
        2 => prop_oneof![Just(Cause::Loss), Just(Cause::Timeout), Just(Cause::EcnMark)]
            .prop_map(Operation::Congestion),
        1 => Just(Operation::Undo),
        1 => (1..20_u64).prop_map(|segments| Operation::Idle { segments }),
    ];
    let elapsed_us = prop_oneof![10 => 0..200_000_u64, 1 => 0..1_000_000_000_u64];
    (operation, elapsed_us, prop_oneof![Just(0_u64), 0..2000_u64])
}

/// Each registered algorithm, and those with options other than the defaults.
fn algorithms() -> Vec<Algorithm> {
    let mut all: Vec<_> =
        ALGORITHMS.iter().filter_map(|info| Algorithm::from_name(info.name)).collect();
    let ssthresh_from = SsthreshFrom::Cwnd;
    all.push(Algorithm::Reno(RenoOptions {
        common: Common { ssthresh_from, slow_start_limit: 0, ..Common::default() },
    }));
    all.push(Algorithm::Cubic(CubicOptions {
        common: Common { ssthresh_from, ..Common::default() },
        fast_convergence: false,
        reno_friendly: false,
    }));
    all
}

proptest! {
    #[test]
    fn every_controller_keeps_its_bounds(
        steps in prop::collection::vec(step(), 1..300),
        initial in 1..20_u64,
        ssthresh in prop_oneof![Just(u64::MAX), 1..100 * MSS],
        srtt_us in prop::option::of(0..10_000_000_u64),
    ) {
        for algorithm in algorithms() {
            let mut c = algorithm.build(initial * MSS, ssthresh);
            let mut now = Time::ZERO;
            let mut highest = c.window();
            for (operation, elapsed_us, in_flight) in &steps {
                now += Span::from_micros(*elapsed_us);
                let before = c.window();
                let srtt = srtt_us.map(Span::from_micros);
                let mut path = PathView {
                    in_flight: before * in_flight / 1000,
                    mss: MSS,
                    srtt,
                    min_rtt: srtt,
                    app_limited: false,
                    sent: 0,
                    acked: 0,
                };
                match *operation {
                    Operation::Sent { bytes } => {
                        c.on_sent(now, bytes, &path);
                        prop_assert_eq!(c.window(), before);
                    }
                    Operation::Acked { bytes, app_limited } => {
                        path.app_limited = app_limited;
                        c.on_ack(&Acked { now, bytes, rtt: srtt }, &path);
                        prop_assert!(c.window() >= before, "an ACK shrank the window");
                        let most = if app_limited { 0 } else { bytes.max(MSS) };
                        prop_assert!(c.window() <= before + most + 1, "grew too fast");
                    }
                    Operation::Congestion(cause) => {
                        c.on_congestion(&CongestionEvent { now, cause }, &path);
                        prop_assert!(c.window() <= before, "{:?} opened the window", cause);
                        prop_assert!(c.ssthresh() >= 2 * MSS);
                        if cause == Cause::Timeout {
                            prop_assert_eq!(c.window(), MSS);
                        }
                    }
                    Operation::Undo => {
                        c.on_undo();
                        prop_assert!(c.window() >= before && c.window() <= highest);
                    }
                    Operation::Idle { segments } => {
                        c.on_idle(segments * MSS);
                        prop_assert_eq!(c.window(), before.min(segments * MSS));
                    }
                }
                highest = highest.max(c.window());
                prop_assert!(c.window() >= MSS, "less than a segment");
                prop_assert!(c.pacing_rate().is_none_or(|rate| rate.as_bps() > 0));
            }
        }
    }
}
