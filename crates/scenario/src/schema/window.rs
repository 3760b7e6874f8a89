//! The window algorithm of a flow and its options. Each option is listed once;
//! the list serves for reading and for writing.

use super::custom;
use super::form::Form;
use crate::InputError;
use crate::fields::Fields;
use anabranch_congestion::ack_clocked::Common;
use anabranch_congestion::coupled::mcubic::{AfterTimeout, KBeta};
use anabranch_congestion::coupled::wvegas::Drain;
use anabranch_congestion::cubic::{Lookahead, RenoIncrease, RenoStep};
use anabranch_congestion::{
    ALGORITHMS, Algorithm, HyStartOptions, HyStartPlusPlusOptions, Pacing, SlowStartExit,
    SsthreshFrom,
};
use toml::Value;

const SSTHRESH_FROM: [(&str, SsthreshFrom); 3] = [
    ("in-flight", SsthreshFrom::InFlight),
    ("cwnd", SsthreshFrom::Cwnd),
    ("ns2", SsthreshFrom::Ns2),
];

/// The field `window`: a name, or a table with `algorithm` and its options.
/// A table without `algorithm` is about that of `default`. `with_defaults` sets
/// what options have that are not given.
pub(super) fn read(
    f: &Fields<'_>,
    default: Option<&Algorithm>,
    with_defaults: impl Fn(Algorithm) -> Algorithm,
) -> Result<Option<Algorithm>, InputError> {
    let names = || custom::names(ALGORITHMS.iter().map(|a| a.name));
    if let Some(own) = custom::read(f, "window", "algorithm")? {
        return Ok(Some(Algorithm::Custom(own)));
    }
    let from_name = |name: &str| Algorithm::from_name(name).map(&with_defaults);
    let Some(value) = f.get("window") else { return Ok(None) };
    let Some(table) = value.as_table() else {
        let algorithm = value.as_str().and_then(from_name);
        return algorithm.map(Some).ok_or_else(|| f.error("window", names()));
    };
    let w = Fields::new(f.path("window"), table);
    let algorithm = match w.text("algorithm")? {
        Some(name) => from_name(name),
        None => default.cloned(),
    };
    let mut algorithm = algorithm.ok_or_else(|| w.error("algorithm", names()))?;
    options(&mut Form::Read(&w), &mut algorithm)?;
    w.finish()?;
    Ok(Some(algorithm))
}

/// Writes the algorithm with all its options.
pub(super) fn write(algorithm: &Algorithm) -> Value {
    if let Algorithm::Custom(own) = algorithm {
        return custom::write(own, "algorithm");
    }
    let mut form = Form::Write(toml::Table::new());
    form.name("algorithm", algorithm.name());
    // Writing has no wrong input.
    let _ = options(&mut form, &mut algorithm.clone());
    form.into_value()
}

fn options(form: &mut Form<'_>, algorithm: &mut Algorithm) -> Result<(), InputError> {
    match algorithm {
        Algorithm::Reno(o) => common(form, &mut o.common),
        Algorithm::Cubic(o) => {
            form.boolean("fast_convergence", &mut o.fast_convergence)?;
            form.boolean("reno_friendly", &mut o.reno_friendly)?;
            let increases = [("whole", RenoIncrease::Whole), ("kept", RenoIncrease::Kept)];
            form.choice("reno_increase", &increases, &mut o.reno_increase)?;
            let steps = [("at-once", RenoStep::AtOnce), ("in-a-round", RenoStep::InARound)];
            form.choice("reno_step", &steps, &mut o.reno_step)?;
            form.integer("least_first_growth", 0..=100, &mut o.least_first_growth)?;
            let aheads = [("srtt", Lookahead::Smoothed), ("min-rtt", Lookahead::Smallest)];
            form.choice("lookahead", &aheads, &mut o.lookahead)?;
            form.boolean("whole_segments", &mut o.whole_segments)?;
            form.quantity("update_interval", &mut o.update_interval)?;
            form.boolean("count_limited_time", &mut o.count_limited_time)?;
            common(form, &mut o.common)
        }
        Algorithm::HighSpeed(o) => {
            form.integer("low_window", 1..=1_000_000, &mut o.low_window)?;
            form.probability("low_p", &mut o.low_p)?;
            form.integer("high_window", 2..=100_000_000, &mut o.high_window)?;
            form.probability("high_p", &mut o.high_p)?;
            form.probability("high_decrease", &mut o.high_decrease)?;
            if o.high_window <= o.low_window {
                return Err(form.error("high_window", "more than `low_window`"));
            }
            if o.high_p <= 0.0 || o.high_p >= o.low_p {
                return Err(form.error("high_p", "more than 0 and less than `low_p`"));
            }
            if o.high_decrease > 0.5 {
                return Err(form.error("high_decrease", "at most 0.5"));
            }
            common(form, &mut o.common)
        }
        Algorithm::Vegas(o) => {
            form.integer("alpha", 0..=1_000_000, &mut o.alpha)?;
            form.integer("beta", 0..=1_000_000, &mut o.beta)?;
            form.integer("gamma", 0..=1_000_000, &mut o.gamma)?;
            form.probability("loss_beta", &mut o.loss_beta)?;
            if o.beta < o.alpha {
                return Err(form.error("beta", "at least `alpha`"));
            }
            common(form, &mut o.common)
        }
        Algorithm::Bbr(o) => {
            form.quantity("rtprop_filter", &mut o.rtprop_filter)?;
            form.quantity("probe_rtt", &mut o.probe_rtt)?;
            form.boolean("ack_aggregation", &mut o.ack_aggregation)
        }
        Algorithm::Dctcp(o) => {
            form.probability("g", &mut o.g)?;
            form.probability("initial_alpha", &mut o.initial_alpha)?;
            common_but_abe(form, &mut o.common)
        }
        Algorithm::Lia(o) => common(form, &mut o.common),
        Algorithm::Olia(o) => common(form, &mut o.common),
        Algorithm::Balia(o) => common(form, &mut o.common),
        Algorithm::WVegas(o) => {
            form.integer("total_alpha", 2..=1_000_000, &mut o.total_alpha)?;
            form.integer("gamma", 0..=1_000_000, &mut o.gamma)?;
            let drains =
                [("holding", Drain::Holding), ("always", Drain::Always), ("never", Drain::Never)];
            form.choice("drain", &drains, &mut o.drain)?;
            common(form, &mut o.common)
        }
        Algorithm::MCubic(o) => {
            form.boolean("fast_convergence", &mut o.fast_convergence)?;
            form.integer("floor_tenths", 0..=1000, &mut o.floor_tenths)?;
            let betas = [("given-up", KBeta::GivenUp), ("left", KBeta::Left)];
            form.choice("k_beta", &betas, &mut o.k_beta)?;
            let ks = [("kept", AfterTimeout::Kept), ("zero", AfterTimeout::Zero)];
            form.choice("k_after_timeout", &ks, &mut o.after_timeout)?;
            common(form, &mut o.common)
        }
        Algorithm::MCubicShare(o) => {
            form.boolean("fast_convergence", &mut o.fast_convergence)?;
            form.integer("least_share", 0..=100, &mut o.least_share)?;
            common(form, &mut o.common)
        }
        Algorithm::Westwood(o) => {
            form.probability("filter", &mut o.filter)?;
            common(form, &mut o.common)
        }
        Algorithm::Custom(_) => Ok(()), // its options are its own
    }
}

/// The options of all algorithms that ACKs drive.
fn common(form: &mut Form<'_>, o: &mut Common) -> Result<(), InputError> {
    form.probability_or_none("ecn_beta", &mut o.ecn_beta)?;
    common_but_abe(form, o)
}

/// Without the answer to marks, of which DCTCP has its own.
fn common_but_abe(form: &mut Form<'_>, o: &mut Common) -> Result<(), InputError> {
    form.choice("ssthresh_from", &SSTHRESH_FROM, &mut o.ssthresh_from)?;
    form.integer("slow_start_limit", 1..=255, &mut o.slow_start_limit)?;
    slow_start_exit(form, &mut o.slow_start_exit)?;
    form.boolean("validation", &mut o.validation)?;
    pacing(form, &mut o.pacing)
}

/// A name, or a table with the name as `rule` and its constants.
fn slow_start_exit(form: &mut Form<'_>, exit: &mut SlowStartExit) -> Result<(), InputError> {
    let rules = [
        ("standard", SlowStartExit::Standard),
        ("limited", SlowStartExit::Limited { max_ssthresh: 100 }),
        ("hystart", SlowStartExit::HyStart(HyStartOptions::default())),
        ("hystart++", SlowStartExit::HyStartPlusPlus(HyStartPlusPlusOptions::default())),
    ];
    form.named_table("slow_start_exit", "rule", &rules, exit, |form, exit| match exit {
        SlowStartExit::Standard => Ok(()),
        SlowStartExit::Limited { max_ssthresh } => {
            form.integer("max_ssthresh", 1..=100_000_000, max_ssthresh)
        }
        SlowStartExit::HyStart(o) => {
            form.integer("low_window", 0..=1_000_000, &mut o.low_window)?;
            form.boolean("ack_train", &mut o.ack_train)?;
            form.boolean("delay", &mut o.delay)?;
            form.quantity("ack_delta", &mut o.ack_delta)
        }
        SlowStartExit::HyStartPlusPlus(o) => {
            form.quantity("min_rtt_thresh", &mut o.min_rtt_thresh)?;
            form.quantity("max_rtt_thresh", &mut o.max_rtt_thresh)?;
            form.integer("min_rtt_divisor", 1..=1000, &mut o.min_rtt_divisor)?;
            form.integer("n_rtt_sample", 1..=1000, &mut o.n_rtt_sample)?;
            form.integer("css_growth_divisor", 1..=1000, &mut o.css_growth_divisor)?;
            form.integer("css_rounds", 1..=1000, &mut o.css_rounds)?;
            form.integer("limit", 1..=1_000_000, &mut o.limit)
        }
    })
}

/// `true`, `false`, or a table with the factors in percent.
fn pacing(form: &mut Form<'_>, pacing: &mut Option<Pacing>) -> Result<(), InputError> {
    form.switch_or_table("pacing", pacing, |form, factors| {
        form.integer("slow_start", 1..=10_000, &mut factors.slow_start)?;
        form.integer("avoidance", 1..=10_000, &mut factors.avoidance)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_congestion::bbr::BbrOptions;
    use anabranch_congestion::cubic::CubicOptions;
    use anabranch_tcp::{Config, Profile};

    fn read_text(text: &str) -> Result<Config, InputError> {
        let table = text.parse().expect("the test's TOML");
        super::super::tcp::read(Fields::new("flows[0].tcp", &table))
    }

    fn beside_linux(window: &str) -> Algorithm {
        let text = format!("profile = \"linux\"\nwindow = {window}");
        read_text(&text).unwrap_or_else(|e| panic!("{window}: {e}")).window
    }

    /// CUBIC of Linux but for what `change` does.
    fn cubic_but(change: impl FnOnce(&mut CubicOptions)) -> Algorithm {
        let Algorithm::Cubic(mut cubic) = Config::linux().window else { panic!("Linux has CUBIC") };
        change(&mut cubic);
        Algorithm::Cubic(cubic)
    }

    /// Naming the algorithm that the profile has changes nothing, and an option
    /// changes itself alone; `algorithm` may then be left out.
    #[test]
    fn the_algorithm_of_a_profile_keeps_its_options() {
        assert_eq!(beside_linux("\"cubic\""), Config::linux().window);
        assert_eq!(beside_linux("{ algorithm = \"cubic\" }"), Config::linux().window);
        assert_eq!(beside_linux("{}"), Config::linux().window);
        let slow = cubic_but(|it| it.fast_convergence = false);
        for table in
            ["{ algorithm = \"cubic\", fast_convergence = false }", "{ fast_convergence = false }"]
        {
            assert_eq!(beside_linux(table), slow);
        }
        let standard = cubic_but(|it| it.common.slow_start_exit = SlowStartExit::Standard);
        assert_eq!(beside_linux("{ slow_start_exit = \"standard\" }"), standard);
        let rfc = "{ reno_increase = \"whole\", reno_step = \"at-once\", least_first_growth = 0, \
                   lookahead = \"srtt\", whole_segments = false, update_interval = \"0 s\", \
                   count_limited_time = false, \
                   slow_start_limit = 2, ssthresh_from = \"in-flight\", slow_start_exit = \"standard\" }";
        assert_eq!(beside_linux(rfc), Algorithm::default());
    }

    /// Another algorithm has what that stack sets of it.
    #[test]
    fn other_algorithms_are_those_of_the_profile_too() {
        let bbr = BbrOptions { ack_aggregation: true, ..BbrOptions::default() };
        assert_eq!(beside_linux("\"bbr\""), Algorithm::Bbr(bbr));
        let Algorithm::Reno(reno) = beside_linux("{ algorithm = \"reno\", slow_start_limit = 3 }")
        else {
            panic!("reno was named")
        };
        assert_eq!(reno.common.ssthresh_from, SsthreshFrom::Cwnd);
        assert_eq!(reno.common.slow_start_limit, 3);
    }

    /// Without a profile, or with that of the RFCs, a name is the algorithm of
    /// the RFCs; what is written needs no profile.
    #[test]
    fn the_resolved_form_says_what_a_profile_set() {
        for profile in ["", "profile = \"rfc\"\n", "profile = \"freebsd\"\n"] {
            let config = read_text(&format!("{profile}window = \"reno\"")).unwrap();
            assert_eq!(Some(config.window), Algorithm::from_name("reno"), "{profile}");
        }
        for info in ALGORITHMS {
            let algorithm = Profile::Linux.window(Algorithm::from_name(info.name).unwrap());
            let written = format!("window = {}", write(&algorithm));
            assert_eq!(read_text(&written).unwrap().window, algorithm, "{written}");
        }
        let written = write(&beside_linux("\"cubic\"")).to_string();
        let set = [
            "least_first_growth = 5",
            "reno_increase = \"kept\"",
            "reno_step = \"in-a-round\"",
            "lookahead = \"min-rtt\"",
            "whole_segments = true",
            "update_interval = \"31250 us\"",
            "count_limited_time = true",
        ];
        for option in set.into_iter().chain(["rule = \"hystart\""]) {
            assert!(written.contains(option), "{option} in {written}");
        }
    }

    #[test]
    fn an_unknown_name_is_refused_beside_a_profile() {
        for (window, field) in [
            ("\"cubix\"", "window"),
            ("{ algorithm = \"cubix\" }", "window.algorithm"),
            ("{ gamma = 2 }", "window.gamma"),
        ] {
            let error = read_text(&format!("profile = \"linux\"\nwindow = {window}")).unwrap_err();
            assert_eq!(error.field, format!("flows[0].tcp.{field}"));
        }
    }
}
