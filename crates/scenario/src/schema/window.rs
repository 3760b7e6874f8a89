//! The window algorithm of a flow and its options. Each option is listed once, by the
//! algorithm; the list serves for reading and for writing.

use super::custom;
use super::form::{Form, Kind, Probability, by, quantity};
use super::law::{SOME_OCTETS, some_octets};
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use crate::shape::{self, KindDefault, Shape};
use anabranch_congestion::ack_clocked::Common;
use anabranch_congestion::{
    ALGORITHMS, Algorithm, AlgorithmInfo, CarefulResumeOptions, HyStartOptions,
    HyStartPlusPlusOptions, Pacing, SearchOptions, SlowStartExit, SsthreshFrom,
};
use anabranch_units::Span;
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
    let names = |word| custom::names(word, ALGORITHMS.iter().map(|a| a.name).chain(["FILE.so"]));
    if let Some(own) = custom::read(f, "window", "algorithm")? {
        return Ok(Some(Algorithm::Custom(own)));
    }
    let from_name = |name: &str| Algorithm::from_name(name).map(&with_defaults);
    let Some(value) = f.get("window") else { return Ok(None) };
    let Some(table) = value.as_table() else {
        let algorithm = value.as_str().and_then(from_name);
        return algorithm.map(Some).ok_or_else(|| f.error("window", names(Some(value))));
    };
    let w = Fields::new(f.path("window"), table);
    let algorithm = match w.text("algorithm")? {
        Some(name) => from_name(name),
        None => default.cloned(),
    };
    let mut algorithm = algorithm.ok_or_else(|| w.error("algorithm", names(w.get("algorithm"))))?;
    options(&mut Form::Read(&w), &mut algorithm)?;
    w.finish()?;
    Ok(Some(algorithm))
}

/// The field `window` as [`read`] and [`write`] have it; without its name a table is about `default`.
pub(super) fn kind<'a>(
    default: Option<&'a Algorithm>,
    with_defaults: impl Fn(Algorithm) -> Algorithm + 'a,
) -> impl Kind<Value = Algorithm> + 'a {
    let read = move |f: &Fields<'_>, _: &'static str| read(f, default, &with_defaults);
    by(shape, read, write).shown(|window| Some(window.name().into()))
}

/// A name, a table with the options of that algorithm, or an algorithm of the user's own.
pub(super) fn shape() -> Shape {
    let known = |info: &AlgorithmInfo| Some((info.name, Algorithm::from_name(info.name)?));
    let all: Vec<_> = ALGORITHMS.iter().filter_map(known).collect();
    let fields = |of: &Algorithm| Form::described(|form| options(form, &mut of.clone())).fields;
    let kinds =
        ALGORITHMS.iter().zip(&all).map(|(info, (name, of))| (*name, info.summary, fields(of)));
    // Which algorithm a table without a name is about, the profile says; its options are those of one.
    let named = shape::Kinds { key: "algorithm", default: KindDefault::Any, all: kinds.collect() };
    let table = shape::Table { fields: Vec::new(), kinds: Some(named) };
    custom::or_own("algorithm", Shape::Any(vec![Shape::words(&all), Shape::Table(table)]))
        .named("window")
}

/// Writes the algorithm with all its options.
pub(super) fn write(algorithm: &Algorithm) -> Value {
    if let Algorithm::Custom(own) = algorithm {
        return custom::write(own, "algorithm");
    }
    let written = Form::written(|form| {
        form.name("algorithm", algorithm.name());
        options(form, &mut algorithm.clone())
    });
    written.into()
}

fn options(form: &mut Form<'_>, algorithm: &mut Algorithm) -> Result<(), InputError> {
    algorithm.own_options(form)?;
    let answers_marks = algorithm.answers_marks();
    algorithm.common_mut().map_or(Ok(()), |o| common(form, o, answers_marks))
}

/// The options of all algorithms that ACKs drive; ABE is for those without an answer to marks of their
/// own.
fn common(form: &mut Form<'_>, o: &mut Common, answers_marks: bool) -> Result<(), InputError> {
    if !answers_marks {
        form.says(
            "part of the window that an ECN mark leaves (RFC 8511: 0.8 for Reno, 0.85 for \
             CUBIC)",
        )
        .or_else("as at a loss")
        .optional("ecn_beta", Probability, &mut o.ecn_beta)?;
    }
    form.says(
        "what a reduction takes a part of: the flight, or with `\"cwnd\"` the window; \
         `\"ns2\"`: the window, with a threshold in whole segments, two at least, a window \
         that a loss may leave below two, and a threshold that every timeout halves (RFC 5681 \
         §3.1 holds it while one segment is sent again)",
    )
    .choice("ssthresh_from", &SSTHRESH_FROM, &mut o.ssthresh_from)?;
    form.says(
        "segments that an ACK may add in slow start, 1 to 255 (RFC 3465); 255 is without limit",
    )
    .integer("slow_start_limit", 1..=255, &mut o.slow_start_limit)?;
    form.says(
        "growth is that of the whole window, and a reduction rounds down before and after (Linux); for CUBIC what is counted \
         towards growth, too",
    )
    .boolean("whole_segments", &mut o.whole_segments)?;
    slow_start_exit(form, &mut o.slow_start_exit)?;
    form.says("congestion-window validation (RFC 7661)")
        .boolean("validation", &mut o.validation)?;
    pacing(form, &mut o.pacing)?;
    careful_resume(form, &mut o.careful_resume)
}

/// A name, or a table with the name as `rule` and its constants.
fn slow_start_exit(form: &mut Form<'_>, exit: &mut SlowStartExit) -> Result<(), InputError> {
    let rules = [
        ("standard", SlowStartExit::Standard),
        ("limited", SlowStartExit::Limited { max_ssthresh: 100 }),
        ("hystart", SlowStartExit::HyStart(HyStartOptions::default())),
        ("hystart++", SlowStartExit::HyStartPlusPlus(HyStartPlusPlusOptions::default())),
        ("search", SlowStartExit::Search(SearchOptions::default())),
    ];
    form.says(
        "`\"limited\"` or `{ rule = \"limited\", max_ssthresh = 100 }` in segments (RFC 3742); \
         `\"hystart\"` or `{ rule = \"hystart\", ... }` (Ha and Rhee 2011, Linux); \
         `\"hystart++\"` or `{ rule = \"hystart++\", ... }` (RFC 9406); \
         `\"search\"` or `{ rule = \"search\", ... }` (draft-chung-ccwg-search)",
    )
    .named_table("slow_start_exit", "rule", &rules, exit, |form, exit| match exit {
        SlowStartExit::Standard => Ok(()),
        SlowStartExit::Limited { max_ssthresh } => form
            .says("segments from which slow start is limited")
            .integer("max_ssthresh", 1..=100_000_000, max_ssthresh),
        SlowStartExit::HyStart(o) => {
            form.says("segments below which it decides nothing").integer(
                "low_window",
                0..=1_000_000,
                &mut o.low_window,
            )?;
            form.says("it watches trains of ACKs").boolean("ack_train", &mut o.ack_train)?;
            form.says("it watches the delay").boolean("delay", &mut o.delay)?;
            form.says("ACKs at most so far apart are a train")
                .quantity("ack_delta", &mut o.ack_delta)
        }
        SlowStartExit::HyStartPlusPlus(o) => {
            form.says("least growth of the round trip that ends slow start")
                .quantity("min_rtt_thresh", &mut o.min_rtt_thresh)?;
            form.says("largest growth that is asked for")
                .quantity("max_rtt_thresh", &mut o.max_rtt_thresh)?;
            form.says("part of the round trip that is asked for").integer(
                "min_rtt_divisor",
                1..=1000,
                &mut o.min_rtt_divisor,
            )?;
            form.says("samples of a round that decide").integer(
                "n_rtt_sample",
                1..=1000,
                &mut o.n_rtt_sample,
            )?;
            form.says("conservative slow start grows so much slower").integer(
                "css_growth_divisor",
                2..=1000,
                &mut o.css_growth_divisor,
            )?;
            form.says("rounds of conservative slow start").integer(
                "css_rounds",
                1..=1000,
                &mut o.css_rounds,
            )?;
            form.says("segments that an ACK may add at most; a paced flow has no limit").integer(
                "limit",
                1..=1_000_000,
                &mut o.limit,
            )
        }
        SlowStartExit::Search(o) => {
            form.says("initial round trips over which deliveries are compared, 1 to 100").number(
                "window",
                1.0..=100.0,
                &mut o.window,
            )?;
            form.says("part of what was sent that is missing when slow start ends")
                .probability("threshold", &mut o.threshold)?;
            form.says("a round trip of so many tenths of `window` is too long to compare")
                .integer("extra_bins", 1..=1000, &mut o.extra_bins)?;
            form.says("after so many tenths of `window` without an ACK it begins anew").integer(
                "missed_bins",
                1..=1000,
                &mut o.missed_bins,
            )?;
            form.says("what slow start sent too much is drained").boolean("drain", &mut o.drain)
        }
    })
}

/// `true`, `false`, or a table with the factors in percent.
fn pacing(form: &mut Form<'_>, pacing: &mut Option<Pacing>) -> Result<(), InputError> {
    form.says(
        "`true` or `{ slow_start = 200, avoidance = 120 }`, in percent of a window per round \
         trip: a pacing rate of its own, which HyStart++ then knows of",
    )
    .switch_or_table("pacing", pacing, |form, factors| {
        form.says("percent of a window per round trip in slow start").integer(
            "slow_start",
            1..=10_000,
            &mut factors.slow_start,
        )?;
        form.says("percent of a window per round trip in congestion avoidance").integer(
            "avoidance",
            1..=10_000,
            &mut factors.avoidance,
        )
    })
}

/// What was saved of an earlier flow, where this one begins with it.
fn careful_resume(
    form: &mut Form<'_>,
    saved: &mut Option<CarefulResumeOptions>,
) -> Result<(), InputError> {
    let none =
        || CarefulResumeOptions { saved_cwnd: 0, saved_rtt: Span::ZERO, max_jump: None, beta: 0.5 };
    form.says(
        "a flow begins with half of the window of an earlier one: `{ saved_cwnd = \"1 MB\", saved_rtt = \
         \"600 ms\" }` (Careful Resume, RFC 9959)",
    )
    .optional_table("careful_resume", saved, none, |form, o| {
        form.says("octets that the earlier flow had in flight").required(
            "saved_cwnd",
            some_octets(),
            SOME_OCTETS,
            &mut o.saved_cwnd,
        )?;
        form.says("smallest round-trip time of the earlier flow").required(
            "saved_rtt",
            quantity(),
            Span::ALLOWED,
            &mut o.saved_rtt,
        )?;
        form.require(o.saved_rtt > Span::ZERO, "saved_rtt", "more than 0 s")?;
        form.says("octets that the window may jump to")
            .or_else("half of `saved_cwnd`")
            .optional("max_jump", some_octets(), &mut o.max_jump)?;
        form.says("part of what has arrived that is the threshold after congestion, 0.5 to 1")
            .number("beta", 0.5..=1.0, &mut o.beta)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_congestion::OptionForm;
    use anabranch_congestion::bbr::BbrOptions;
    use anabranch_congestion::cubic::CubicOptions;
    use anabranch_tcp::{Config, Profile};
    use std::fmt::Display;
    use std::ops::RangeInclusive;

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
        let slow = cubic_but(|item| item.fast_convergence = false);
        for table in
            ["{ algorithm = \"cubic\", fast_convergence = false }", "{ fast_convergence = false }"]
        {
            assert_eq!(beside_linux(table), slow);
        }
        let standard = cubic_but(|item| item.common.slow_start_exit = SlowStartExit::Standard);
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

    /// Changes the option number `left`, counted from 0, to another value that is allowed.
    struct Nudge {
        left: i64,
    }

    impl Nudge {
        fn change<T>(&mut self, value: &mut T, other: T) -> Result<(), ()> {
            self.left -= 1;
            if self.left == -1 {
                *value = other;
            }
            Ok(())
        }
    }

    impl OptionForm for Nudge {
        type Error = ();

        fn boolean(&mut self, _: &'static str, value: &mut bool) -> Result<(), ()> {
            let other = !*value;
            self.change(value, other)
        }

        fn integer<N>(
            &mut self,
            _: &'static str,
            range: RangeInclusive<N>,
            value: &mut N,
        ) -> Result<(), ()>
        where
            N: TryFrom<i64> + Into<i64> + PartialOrd + Display + Copy,
        {
            let up = *value < *range.end();
            let other = N::try_from((*value).into() + if up { 1 } else { -1 }).map_err(drop)?;
            self.change(value, other)
        }

        fn number(
            &mut self,
            _: &'static str,
            range: RangeInclusive<f64>,
            value: &mut f64,
        ) -> Result<(), ()> {
            // A hundredth, so that what options must be together still holds.
            let up = *value * 1.01;
            let other = if range.contains(&up) { up } else { *value * 0.99 };
            self.change(value, other)
        }

        fn probability(&mut self, name: &'static str, value: &mut f64) -> Result<(), ()> {
            self.number(name, 0.0..=*value, value)
        }

        fn span(&mut self, _: &'static str, value: &mut Span) -> Result<(), ()> {
            let other = *value + Span::from_millis(1);
            self.change(value, other)
        }

        fn choice<T: Clone + PartialEq>(
            &mut self,
            _: &'static str,
            choices: &[(&'static str, T)],
            value: &mut T,
        ) -> Result<(), ()> {
            let other = choices.iter().find(|(_, choice)| choice != value).ok_or(())?;
            self.change(value, other.1.clone())
        }

        fn require(&mut self, _: bool, _: &'static str, _: &'static str) -> Result<(), ()> {
            Ok(())
        }
    }

    /// Each option of each algorithm, changed alone, is read as it was written.
    #[test]
    fn every_own_option_is_written_and_read() {
        for info in ALGORITHMS {
            let default = Algorithm::from_name(info.name).unwrap();
            let mut options = Nudge { left: -1 };
            default.clone().own_options(&mut options).unwrap();
            for left in 0..-1 - options.left {
                let mut changed = default.clone();
                changed.own_options(&mut Nudge { left }).unwrap();
                assert_ne!(changed, default, "{} {left}", info.name);
                let written = format!("window = {}", write(&changed));
                let read = read_text(&written).unwrap_or_else(|e| panic!("{written}: {e}"));
                assert_eq!(read.window, changed, "{written}");
            }
        }
    }
}
