//! Random sequences of hooks on every controller.

use crate::ack_clocked::Common;
use crate::cubic::{CubicOptions, Lookahead, RenoIncrease, RenoStep};
use crate::{
    ALGORITHMS, Acked, Algorithm, AlgorithmInfo, CarefulResumeOptions, Cause, CongestionEvent,
    Controller, Feedback, HyStartOptions, HyStartPlusPlusOptions, Pacing, PathView, RateSample,
    SearchOptions, Shared, Sibling, SlowStartExit, SsthreshFrom,
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
    Feedback { delivered: u64, lost: u64, marked: u64, in_recovery: bool },
    Siblings(Vec<(u64, u64)>),
    Penalty,
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
        4 => (0..20 * MSS, 0..4 * MSS, 0..4 * MSS, prop::bool::ANY).prop_map(
            |(delivered, lost, marked, in_recovery)| {
                Operation::Feedback { delivered, lost, marked, in_recovery }
            }
        ),
        1 => (1..20_u64).prop_map(|segments| Operation::Idle { segments }),
        3 => prop::collection::vec((1..1000_u64, 0..2_000_000_u64), 0..4)
            .prop_map(Operation::Siblings),
        1 => Just(Operation::Penalty),
    ];
    let elapsed_us = prop_oneof![10 => 0..200_000_u64, 1 => 0..1_000_000_000_u64];
    (operation, elapsed_us, prop_oneof![Just(0_u64), 0..2000_u64])
}

/// What a controller may do that most do not, each for its own reason.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    /// Nothing: driven by ACKs, as RFC 5681 describes.
    Plain,
    /// RFC 7661 keeps a window over idleness and lowers it after five minutes,
    /// whatever happens then, and at the end of a recovery.
    Validated,
    /// Vegas moves the window by round-trip times, down too.
    Steered,
    /// Careful Resume sets the window by what is in flight and has arrived.
    Resumed,
    /// BBR follows a model of the path: its window moves with feedback, not
    /// with ACKs, and is not bound to loss or idleness.
    Model,
}

fn kind_of(algorithm: &Algorithm) -> Kind {
    match algorithm {
        Algorithm::Vegas(_)
        | Algorithm::WVegas(_)
        | Algorithm::Olia(_)
        | Algorithm::Prague(_)
        | Algorithm::Copa(_)
        | Algorithm::Cdg(_)
        | Algorithm::Lp(_)
        | Algorithm::Nv(_)
        | Algorithm::LedbatPlusPlus(_)
        | Algorithm::Ledbat(_)
        | Algorithm::Yeah(_) => Kind::Steered,
        Algorithm::Bbr(_)
        | Algorithm::Bbr3(_)
        | Algorithm::CoupledBbr(_)
        | Algorithm::Vivace(_) => Kind::Model,
        _ => Kind::Plain,
    }
}

/// Each registered algorithm, and those with options other than the defaults.
fn algorithms() -> Vec<(Algorithm, Kind)> {
    let mut all: Vec<_> = ALGORITHMS
        .iter()
        .filter_map(|info| Algorithm::from_name(info.name))
        .map(|algorithm| (algorithm.clone(), kind_of(&algorithm)))
        .collect();
    let from_window = Common {
        ssthresh_from: SsthreshFrom::Cwnd,
        slow_start_limit: 0,
        whole_segments: true,
        slow_start_exit: SlowStartExit::Limited { max_ssthresh: 20 },
        ..Common::default()
    };
    let everything = Common {
        slow_start_exit: SlowStartExit::HyStartPlusPlus(HyStartPlusPlusOptions::default()),
        ecn_beta: Some(0.85),
        validation: true,
        pacing: Some(Pacing::default()),
        ..Common::default()
    };
    all.extend(with_common(&from_window).map(|a| (a.clone(), kind_of(&a))));
    let hystart = Common {
        slow_start_exit: SlowStartExit::HyStart(HyStartOptions::default()),
        ..Common::default()
    };
    all.extend(with_common(&hystart).map(|a| (a.clone(), kind_of(&a))));
    // It drains what slow start sent too much.
    let search = Common {
        slow_start_exit: SlowStartExit::Search(SearchOptions::default()),
        ..Common::default()
    };
    let steered = |a: Algorithm| match kind_of(&a) {
        Kind::Plain => (a, Kind::Steered),
        kind => (a, kind),
    };
    all.extend(with_common(&search).map(steered));
    let resumed = Common {
        careful_resume: Some(CarefulResumeOptions {
            saved_cwnd: 100 * MSS,
            saved_rtt: Span::from_millis(100),
            max_jump: None,
            beta: 0.7,
        }),
        ..Common::default()
    };
    all.extend(with_common(&resumed).map(|a| (a, Kind::Resumed)));
    all.extend(with_common(&everything).map(|a| (a, Kind::Validated)));
    all
}

/// Every algorithm that ACKs drive, with these options.
fn with_common(common: &Common) -> impl Iterator<Item = Algorithm> + use<> {
    let common = || common.clone();
    [
        Algorithm::Cubic(CubicOptions {
            fast_convergence: false,
            reno_friendly: false,
            least_first_growth: 5,
            common: common(),
            ..CubicOptions::default()
        }),
        Algorithm::Cubic(CubicOptions {
            reno_increase: RenoIncrease::Kept,
            reno_step: RenoStep::InARound,
            lookahead: Lookahead::Smallest,
            update_interval: Span::from_micros(31_250),
            count_limited_time: true,
            common: Common { whole_segments: true, ..common() },
            ..CubicOptions::default()
        }),
    ]
    .into_iter()
    .chain(all_with(&common()))
}

/// Every registered algorithm but CUBIC, and those with siblings, that has such options, with these.
fn all_with(common: &Common) -> Vec<Algorithm> {
    let with = |info: &AlgorithmInfo| {
        let mut algorithm = Algorithm::from_name(info.name)?;
        *algorithm.common_mut()? = common.clone();
        let other =
            matches!(algorithm, Algorithm::Cubic(_)) || algorithm.build(MSS, u64::MAX).is_coupled();
        (!other).then_some(algorithm)
    };
    ALGORITHMS.iter().filter_map(with).collect()
}

/// A sibling with a window in segments and a round-trip time in microseconds.
fn sibling((segments, rtt_us): (u64, u64)) -> Sibling {
    let srtt = Some(Span::from_micros(rtt_us));
    Sibling {
        window: segments * MSS,
        slow_start: segments % 2 == 0,
        mss: MSS,
        srtt,
        min_rtt: srtt,
        state: Shared {
            between_losses: (segments * segments) as f64,
            k: rtt_us as f64 / 1e5,
            rate: segments as f64,
            own: 0.0,
        },
    }
}

proptest! {
    #[test]
    fn every_controller_keeps_its_bounds(
        steps in prop::collection::vec(step(), 1..300),
        initial in 1..20_u64,
        ssthresh in prop_oneof![Just(u64::MAX), 1..100 * MSS],
        srtt_us in prop::option::of(0..10_000_000_u64),
    ) {
        for (algorithm, kind) in algorithms() {
            let mut c = algorithm.build(initial * MSS, ssthresh);
            let mut now = Time::ZERO;
            let mut highest = c.window();
            let mut acked = 0;
            let plain = kind == Kind::Plain;
            let restarts = matches!(kind, Kind::Plain | Kind::Steered | Kind::Resumed);
            for (operation, elapsed_us, in_flight) in &steps {
                now += Span::from_micros(*elapsed_us);
                let before = c.window();
                let srtt = srtt_us.map(Span::from_micros);
                let in_flight = before * in_flight / 1000;
                let mut path = PathView {
                    in_flight,
                    mss: MSS,
                    srtt,
                    min_rtt: srtt,
                    app_limited: false,
                    sent: acked + in_flight,
                    acked,
                };
                match *operation {
                    Operation::Sent { bytes } => {
                        c.on_sent(now, bytes, &path);
                        prop_assert!(c.window() <= before);
                        prop_assert!(c.window() == before || matches!(kind, Kind::Validated | Kind::Resumed));
                    }
                    Operation::Acked { bytes, app_limited } => {
                        acked += bytes;
                        path.acked = acked;
                        path.sent = path.sent.max(acked);
                        path.app_limited = app_limited;
                        c.on_ack(&Acked { now, bytes, rtt: srtt }, &path);
                        prop_assert!(c.window() >= before || !plain, "an ACK shrank the window");
                        // A round of HighSpeed TCP adds a(w) segments, 70 and more.
                        let most = if app_limited && kind != Kind::Validated { 0 } else { bytes.max(100 * MSS) };
                        prop_assert!(c.window() <= before + most + 1, "{} grew too fast", algorithm.name());
                    }
                    Operation::Siblings(ref siblings) => {
                        let siblings: Vec<_> = siblings.iter().map(|item| sibling(*item)).collect();
                        c.on_siblings(&siblings);
                        prop_assert_eq!(c.window(), before);
                    }
                    Operation::Penalty => {
                        c.on_penalty(MSS);
                        prop_assert!(c.window() <= before);
                    }
                    Operation::Congestion(cause) => {
                        c.on_congestion(&CongestionEvent { now, cause }, &path);
                        prop_assert!(c.window() <= before, "{:?} opened the window", cause);
                        prop_assert!(c.ssthresh() >= 2 * MSS);
                        if cause == Cause::Timeout {
                            prop_assert_eq!(c.window(), MSS);
                        }
                    }
                    Operation::Feedback { delivered, lost, marked, in_recovery } => {
                        let rate = srtt.map(|interval| RateSample {
                            delivered,
                            interval,
                            prior_delivered: acked.saturating_sub(delivered),
                            total_delivered: acked,
                            app_limited: in_recovery,
tx_in_flight: in_flight + delivered,
lost,
                        });
                        let feedback = Feedback {
                            now,
                            acked: delivered,
                            delivered,
                            lost,
                            marked,
                            rtt: srtt,
                            rate,
                            in_recovery,
                        };
                        c.on_feedback(&feedback, &path);
                        let follows = matches!(kind, Kind::Validated | Kind::Model | Kind::Resumed);
                        prop_assert!(c.window() == before || follows);
                    }
                    Operation::Undo => {
                        c.on_undo();
                        prop_assert!(c.window() >= before && c.window() <= highest);
                    }
                    Operation::Idle { segments } => {
                        c.on_idle(segments * MSS);
                        let restart = if restarts { before.min(segments * MSS) } else { before };
                        prop_assert_eq!(c.window(), restart);
                    }
                }
                highest = highest.max(c.window());
                prop_assert!(c.window() >= MSS, "less than a segment");
                prop_assert!(c.pacing_rate(srtt).is_none_or(|rate| rate.as_bps() > 0));
            }
        }
    }
}
