//! How flows share: flows of one round-trip time evenly, flows of different
//! ones by a power of their ratio (validation Q6).

use anabranch_scenario::{RunOptions, Scenario, run};
use anabranch_testkit::marks::record;

/// Goodputs and mean round-trip times of `flows` (name, one-way delay of its
/// access link in ms) over a bottleneck of 20 Mbit/s and 5 ms with RED, which
/// desynchronises them.
fn shares(window: &str, flows: &[(&str, u32)], seed: u64) -> (Vec<f64>, Vec<f64>) {
    let names = |end: &str| {
        let quoted: Vec<_> = flows.iter().map(|(name, _)| format!("\"{name}-{end}\"")).collect();
        quoted.join(", ")
    };
    let mut text = format!(
        "duration = \"200 s\"\nhosts = [{}, {}]\nrouters = [\"l\", \"r\"]\n\
         [[links]]\nends = [\"l\", \"r\"]\nrate = \"20 Mbit/s\"\ndelay = \"5 ms\"\n\
         queue = {{ kind = \"red\", limit = \"200 packets\" }}\n",
        names("a"),
        names("b")
    );
    for (name, delay) in flows {
        text += &format!(
            "[[links]]\nends = [\"{name}-a\", \"l\"]\nrate = \"1 Gbit/s\"\ndelay = \"{delay} ms\"\n\
             [[links]]\nends = [\"r\", \"{name}-b\"]\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n\
             [[flows]]\nname = \"{name}\"\nfrom = \"{name}-a\"\nto = \"{name}-b\"\n\
             start_spread = \"1 s\"\ntcp = {{ window = \"{window}\" }}\n"
        );
    }
    text += "[[observe]]\nwhat = \"srtt\"\ninterval = \"100 ms\"\n";
    let scenario = Scenario::from_toml(&text, "fairness").unwrap();
    let options = RunOptions { seed: Some(seed), ..RunOptions::default() };
    let result = run(&scenario, &options).unwrap();
    let round_trips = result.flows.iter().map(|flow| {
        let name = format!("{}.srtt", flow.flow);
        let series = result.series.iter().find(|series| series.name == name).unwrap();
        series.value.iter().sum::<f64>() / series.value.len() as f64
    });
    (result.flows.iter().map(|flow| flow.goodput_bps).collect(), round_trips.collect())
}

fn jain(x: &[f64]) -> f64 {
    let sum: f64 = x.iter().sum();
    sum * sum / (x.len() as f64 * x.iter().map(|x| x * x).sum::<f64>())
}

#[test]
fn jains_index_is_one_over_n_for_one_of_n_and_one_for_all() {
    assert_eq!((jain(&[1.0, 0.0, 0.0, 0.0]), jain(&[3.0, 3.0])), (0.25, 1.0));
}

#[test]
fn flows_of_one_round_trip_time_share_evenly() {
    for window in ["reno", "cubic"] {
        let flows: Vec<_> = ["p", "q", "s", "t"].map(|name| (name, 20)).into();
        let index = jain(&shares(window, &flows, 1).0);
        let quantity = format!("Jain's index, four {window} flows, RED, 200 s");
        record("Q6", &quantity, 1, format!("{index:.4}"), "0.02");
        assert!(index > 0.98, "{window}: {index}");
    }
}

#[test]
fn the_ratio_of_goodputs_is_a_power_of_the_ratio_of_round_trips() {
    // Propagation of 32 and 112 ms, and the queue, which brings the round trips closer: Reno's
    // exponent is 1 where losses are as likely for both (rates as 1 / RTT), 2 where both lose at
    // once.
    for (window, least, most) in [("reno", 1.0, 2.0), ("cubic", 0.0, 1.1)] {
        let exponents: Vec<f64> = (1..=4)
            .map(|seed| {
                let (x, rtt) = shares(window, &[("near", 10), ("far", 50)], seed);
                (x[0] / x[1]).ln() / (rtt[1] / rtt[0]).ln()
            })
            .collect();
        let mean = exponents.iter().sum::<f64>() / exponents.len() as f64;
        let quantity = format!("exponent of the RTT ratio, two {window} flows, RED");
        record("Q6", &quantity, format!("{least} to {most}"), format!("{mean:.2}"), "within");
        assert!((least..=most).contains(&mean), "{window}: {exponents:?}");
    }
}
