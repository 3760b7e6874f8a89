//! Libraries that are loaded and run: the examples of this crate, which `cargo test` builds beside the tests.

use anabranch_congestion::{Algorithm, Cause, CongestionEvent, Controller, MakeWindow, PathView};
use anabranch_custom::{Custom, Found, OptionValue, Options};
use anabranch_scenario::{Library, RunError, RunOptions, Scenario, run};
use anabranch_units::Time;
use std::path::PathBuf;

/// What names mean here: libraries alone.
struct Libraries;

impl Library for Libraries {
    fn window(&self, name: &str, options: &Options) -> Result<Found<MakeWindow>, String> {
        anabranch_plugin::find(name, "", options)
    }
}

/// The path of an example.
fn library(name: &str) -> String {
    use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(|deps| deps.parent()).expect("target/PROFILE/deps");
    let file: PathBuf = profile.join("examples").join(format!("{DLL_PREFIX}{name}{DLL_SUFFIX}"));
    assert!(file.is_file(), "{} is built by `cargo test -p anabranch-plugin`", file.display());
    file.to_str().unwrap().to_owned()
}

/// The scenario with a window of each of its flows, bound.
fn scenario(text: &str, window: &str) -> Scenario {
    let text = text.replace("WINDOW", window);
    let mut scenario = Scenario::from_toml(&text, "scenario").unwrap();
    scenario.bind(&Libraries).unwrap_or_else(|error| panic!("{error}"));
    scenario
}

/// Hash of all packets, and the timeouts of the first flow.
fn trace(text: &str, window: &str) -> (u64, u64) {
    let options = RunOptions { trace_hash: true, ..RunOptions::default() };
    let result = run(&scenario(text, window), &options).unwrap();
    (result.run.trace_hash.expect("it was asked for"), result.flows[0].timeouts)
}

/// Losses of one packet in a hundred, or in twenty, which brings timeouts in a row.
fn lossy(loss: &str) -> String {
    r#"
    hosts = ["a", "b"]
    seed = 7
    links = [{ ends = ["a", "b"], rate = "10 Mbit/s", delay = "20 ms", impairments = [{ kind = "bernoulli", rate = LOSS }] }]
    flows = [{ name = "f", from = "a", to = "b", size = "3 MB", tcp = { window = WINDOW } }]
    "#
    .replace("LOSS", loss)
}

const SCTP: &str = r#"
    hosts = ["a", "b"]
    seed = 3
    links = [{ ends = ["a", "b"], rate = "10 Mbit/s", delay = "20 ms", queue = { limit = "20 packets" } }]
    flows = [{ name = "f", from = "a", to = "b", size = "3 MB", protocol = "sctp", sctp = { window = WINDOW } }]
    "#;

const MPTCP: &str = r#"
    duration = "10 s"
    seed = 2
    hosts = [{ name = "a", interfaces = ["x", "y"] }, { name = "b", interfaces = ["x", "y"] }]
    links = [
        { ends = ["a.x", "b.x"], rate = "5 Mbit/s", delay = "10 ms", queue = { limit = "30 packets" } },
        { ends = ["a.y", "b.y"], rate = "5 Mbit/s", delay = "40 ms", queue = { limit = "30 packets" } },
    ]
    flows = [{ name = "f", from = "a", to = "b", protocol = "mptcp", tcp = { window = WINDOW } }]
    "#;

#[test]
fn the_same_law_as_a_library_is_the_same_run() {
    let reno = format!("{:?}", library("reno"));
    for loss in ["0.001", "0.05"] {
        let (built_in, loaded) = (trace(&lossy(loss), "\"reno\""), trace(&lossy(loss), &reno));
        assert_eq!(built_in, loaded, "{loss}");
        assert_eq!(loaded.1 > 0, loss == "0.05", "timeouts: {}", loaded.1);
    }
    for text in [SCTP, MPTCP] {
        assert_eq!(trace(text, "\"reno\""), trace(text, &reno), "{text}");
        assert_ne!(trace(text, "\"cubic\""), trace(text, &reno), "{text}");
    }
}

#[test]
fn a_coupled_law_sees_the_other_paths() {
    let lia = format!("{:?}", library("lia"));
    assert_eq!(trace(MPTCP, "\"lia\""), trace(MPTCP, &lia));
    assert_ne!(trace(MPTCP, "\"reno\""), trace(MPTCP, &lia));
}

#[test]
fn a_law_hears_what_it_asks_for() {
    let window = format!("{:?}", library("listener"));
    let failed = run(&scenario(&lossy("0.01"), &window), &RunOptions::default());
    let Err(RunError::Algorithm { failure, .. }) = failed else { panic!("it ends by a panic") };
    let told = "in on_ack: panic: sent true, delivered true, rates true, lost true";
    assert_eq!(failure.message, told);
}

#[test]
fn the_resolved_scenario_names_the_content() {
    let window = format!("{:?}", library("reno"));
    let resolved = scenario(&lossy("0"), &window).resolved_toml();
    let again = Scenario::from_toml(&resolved, "resolved");
    assert!(again.unwrap().bind(&Libraries).is_ok());
    let digest = resolved.split("source = \"").nth(1).and_then(|rest| rest.get(..16)).unwrap();
    assert!(digest.chars().all(|digit| digit.is_ascii_hexdigit()), "{digest}");
    let other = resolved.replace(digest, "0123456789abcdef");
    let error = Scenario::from_toml(&other, "resolved").unwrap().bind(&Libraries).unwrap_err();
    assert!(error.allowed.contains("the source 0123456789abcdef of which"), "{error}");
}

#[test]
fn a_law_that_fails_ends_its_run_by_name_hook_and_place() {
    let expected = [
        (2, "in on_loss: panic: a loss of "),
        (3, "after on_loss: cwnd = NaN: allowed: a number of octets from one segment to 2**40"),
        (4, "after on_loss: cwnd = -1: allowed"),
        (5, "after on_loss: cwnd = 1000000000000000000000000000000: allowed"),
        (6, "after on_loss: cwnd is 724, less than a segment of 1448 octets"),
        (7, "after on_loss: ssthresh = NaN: allowed: a number of octets, or infinity"),
        (8, "after on_loss: pacing_bps = 0.5: allowed"),
        (9, "in on_loss: panic: a panic without a text"),
    ];
    let faulty = library("faulty");
    for (how, message) in expected {
        let window = format!("{{ algorithm = {faulty:?}, how = {how} }}");
        let failed = run(&scenario(&lossy("0.01"), &window), &RunOptions::default());
        let Err(RunError::Algorithm { at: Some(at), failure }) = failed else {
            panic!("{how}: it did not fail")
        };
        assert!(failure.message.starts_with(message), "{failure}");
        assert_eq!(
            (failure.algorithm.as_str(), failure.place.as_str()),
            (&*faulty, "flow f, client")
        );
        assert!(at > Time::ZERO);
        if how == 2 {
            assert!(failure.file.as_deref().unwrap().ends_with("faulty.rs"), "{failure}");
            assert!(failure.line.is_some());
        }
    }
}

#[test]
fn what_cannot_be_loaded_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("libtext.so");
    std::fs::write(&text, "no library").unwrap();
    let own = |how: f64| Options::from([("how".into(), OptionValue::Number(how))]);
    let cases = [
        (
            "nowhere/libmine.so".into(),
            own(0.0),
            "a file that is there: there is no nowhere/libmine.so",
        ),
        (text.to_str().unwrap().to_owned(), own(0.0), "a shared library for this machine: "),
        (
            library("nothing"),
            own(0.0),
            "a library with `export_window!`: it has no ANABRANCH_WINDOW",
        ),
        (library("newer"), own(0.0), "a library of interface 1, not 999: build it"),
        (library("reno"), own(0.0), "options that the algorithm takes (no options)"),
        (library("faulty"), own(12.0), "`how` from 0 to 9"),
        (library("faulty"), own(1.0), "faulty.rs:"),
    ];
    for (name, options, allowed) in cases {
        let Err(said) = anabranch_plugin::find(&name, "", &options) else { panic!("{name}") };
        assert!(said.contains(allowed), "{name}: {said}");
        assert!(!said.contains("anabranch-") || said.contains("anabranch-algorithm"), "{said}");
        assert!(!said.contains('\n'), "{said}");
    }
    let Err(said) = anabranch_plugin::find(&library("faulty"), "", &own(1.0)) else { panic!() };
    assert!(said.contains("in new: panic: ") && said.contains("this law cannot be made"), "{said}");
}

#[test]
fn what_a_law_needs_can_be_asked() {
    assert_eq!(anabranch_plugin::needs(&library("faulty")), Ok("ecn = \"on\""));
    assert_eq!(anabranch_plugin::needs(&library("reno")), Ok(""));
    assert!(anabranch_plugin::needs("nowhere.so").is_err());
}

#[test]
fn a_library_that_was_built_anew_is_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("liblaw.so");
    let scenario_file = folder.path().join("scenario.toml");
    let find = |options: Options| {
        // Relative to the folder of the scenario.
        anabranch_plugin::find("liblaw.so", scenario_file.to_str().unwrap(), &options)
    };
    std::fs::copy(library("reno"), &path).unwrap();
    let first = find(Options::new()).unwrap();
    // Written over in place, while the first is loaded and may run.
    std::fs::write(&path, std::fs::read(library("faulty")).unwrap()).unwrap();
    let how = Options::from([("how".into(), OptionValue::Integer(0))]);
    let second = find(how).unwrap();
    assert_ne!(first.source, second.source);
    assert_eq!(first.name, second.name);
    let mut custom: Custom<MakeWindow> = Custom::new("liblaw.so", None, Options::new());
    custom.bind(first).unwrap();
    let mut window = Algorithm::Custom(Box::new(custom)).build(14_600, u64::MAX);
    let path = PathView {
        in_flight: 14_600,
        mss: 1460,
        srtt: None,
        min_rtt: None,
        app_limited: false,
        sent: 14_600,
        acked: 0,
    };
    let event = CongestionEvent { now: Time::ZERO, cause: Cause::Loss };
    window.on_congestion(&event, &path);
    assert_eq!(window.window(), 7300, "the first is still Reno");
}

#[test]
fn reno_keeps_what_every_window_must() {
    let mut custom: Custom<MakeWindow> = Custom::new("libreno.so", None, Options::new());
    custom.bind(anabranch_plugin::find(&library("reno"), "", &Options::new()).unwrap()).unwrap();
    let algorithm = Algorithm::Custom(Box::new(custom));
    let build = |initial, ssthresh| algorithm.build(initial, ssthresh);
    let broken = anabranch_check::check(&build, &anabranch_check::Effort::default());
    assert!(broken.is_empty(), "{broken:#?}");
}
