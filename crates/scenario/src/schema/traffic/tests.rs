//! Workloads in scenarios: what is read, refused, written, and what runs.

use crate::{RunOptions, RunResult, Scenario, run};

fn text(flow: &str) -> String {
    format!(
        "hosts = [\"a\", \"b\"]\n[[links]]\nends = [\"a\", \"b\"]\nrate = \"100 Mbit/s\"\n\
         delay = \"5 ms\"\nqueue = {{ limit = \"1000 packets\" }}\n\
         [[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\n{flow}\n"
    )
}

fn read(flow: &str) -> Result<Scenario, String> {
    Scenario::from_toml(&text(flow), "t.toml").map_err(|e| e.to_string())
}

/// Runs a flow, from its resolved form too, which must do the same.
fn result(flow: &str) -> RunResult {
    let s = read(flow).unwrap_or_else(|e| panic!("{flow}: {e}"));
    let again = Scenario::from_toml(&s.resolved_toml(), "resolved").unwrap();
    assert_eq!(again, s, "{flow}");
    let options = RunOptions { check: true, trace_hash: true, ..RunOptions::default() };
    let (first, second) = (run(&s, &options).unwrap(), run(&again, &options).unwrap());
    assert_eq!(first.run.trace_hash, second.run.trace_hash, "{flow}");
    first
}

#[test]
fn a_constant_rate_takes_the_time_that_it_says() {
    // 1 MB at 4 Mbit/s: two seconds less the last chunk, and half a round trip.
    let flow = "size = \"1 MB\"\noctets = true\ntraffic = { kind = \"constant\", rate = \"4 Mbit/s\", chunk = \"500 B\" }";
    let row = &result(flow).flows[0];
    assert_eq!((row.bytes, row.wrong_octets), (1_000_000, 0));
    let finish = row.finish_s.unwrap();
    assert!((1.999..2.02).contains(&finish), "{finish}");
    // Without a size, until the flow stops.
    let flow = "duration = \"3 s\"\ntraffic = { kind = \"constant\", rate = \"4 Mbit/s\" }";
    let row = &result(flow).flows[0];
    assert!((row.bytes as f64 / 1.5e6 - 1.0).abs() < 0.01, "{}", row.bytes);
}

#[test]
fn an_on_off_source_sends_its_share_of_the_time() {
    let flow = "duration = \"400 s\"\ntraffic = { kind = \"on-off\", rate = \"1 Mbit/s\", \
        on = { mean = \"200 ms\", law = \"exponential\" }, off = { mean = \"600 ms\", law = \"exponential\" } }";
    // A quarter of 1 Mbit/s; 500 cycles, so a standard error of some 5 %.
    let row = &result(flow).flows[0];
    let share = row.bytes as f64 * 8.0 / 400e6;
    assert!((share - 0.25).abs() < 0.04, "{share}");
}

#[test]
fn requests_are_answered_and_timed() {
    let flow = "traffic = { kind = \"requests\", request = \"200 B\", response = \"2000 B\", count = 50, think = \"20 ms\" }\n\
        octets = true\n[[observe]]\nwhat = \"responses\"";
    let result = result(flow);
    let row = &result.flows[0];
    assert_eq!((row.bytes, row.reverse_bytes, row.wrong_octets), (10_000, 100_000, 0));
    let series = &result.series[0];
    assert_eq!((series.name.as_str(), series.value.len()), ("f.responses", 50));
    // The first waits for the handshake as well: two round trips. Nagle has
    // nothing to hold back, since each request is acknowledged by a response.
    assert!((0.020..0.0215).contains(&series.value[0]), "{}", series.value[0]);
    for taken in &series.value[1..] {
        assert!((0.010..0.0115).contains(taken), "{taken}");
    }
}

#[test]
fn pages_are_loaded_and_timed() {
    // Handshake, main object and the objects together: three round trips of 10 ms,
    // all within the initial window; 15 kB at 100 Mbit/s take 1.2 ms.
    let page = |more: &str| {
        format!(
            "traffic = {{ kind = \"pages\", main = \"5 kB\", objects = 5, object = \"2 kB\", \
             count = 3, think = \"50 ms\"{more} }}\noctets = true\n[[observe]]\nwhat = \"responses\""
        )
    };
    let together = result(&page(""));
    let row = &together.flows[0];
    assert_eq!((row.bytes, row.reverse_bytes, row.wrong_octets), (7200, 45_000, 0));
    let times = |run_result: &RunResult| run_result.series[0].value.clone();
    let [first, second, third] = times(&together)[..] else { panic!("{:?}", times(&together)) };
    assert!((0.030..0.033).contains(&first), "{first}");
    assert!((0.020..0.023).contains(&second) && (0.020..0.023).contains(&third), "{second}");
    // One after the other: a round trip each.
    let apart = times(&result(&page(", pipelined = false")));
    assert!((0.060..0.063).contains(&apart[1]), "{apart:?}");
}

#[test]
fn pages_take_laws_of_sizes_and_of_objects() {
    let flow = "duration = \"20 s\"\ntraffic = { kind = \"pages\", request = { law = \"exponential\", mean = \"400 B\" }, \
        main = { law = \"lognormal\", mean = \"20 kB\", sigma = 1.2 }, \
        objects = { law = \"pareto\", mean = 6, shape = 1.5 }, \
        object = { law = \"pareto\", min = \"1 kB\", max = \"1 MB\", shape = 1.2 }, \
        think = { mean = \"200 ms\", law = \"exponential\" } }\n[[observe]]\nwhat = \"responses\"";
    let result = result(flow);
    // A page every 200 ms and what it takes, without an end until the flow stops.
    let pages = result.series[0].value.len();
    assert!((40..100).contains(&pages), "{pages}");
    assert!(result.flows[0].reverse_bytes > 1_000_000);
}

#[test]
fn poisson_arrivals_and_drawn_sizes_follow_their_laws() {
    let flow = "count = 4000\nsizes = { law = \"exponential\", mean = \"5 kB\" }\narrivals = { per_second = 200 }";
    let result = result(flow);
    let starts: Vec<f64> = result.flows.iter().map(|row| row.start_s).collect();
    assert!(starts.is_sorted());
    // 4000 exponential gaps of 5 ms: 20 s, standard error 0.32 s.
    assert!((starts[3999] - 20.0).abs() < 1.2, "{}", starts[3999]);
    let short = starts.windows(2).filter(|w| w[1] - w[0] < 0.005).count() as f64 / 3999.0;
    assert!((short - 0.632).abs() < 0.025, "{short}"); // 1 - 1/e
    let mean = result.flows.iter().map(|row| row.bytes).sum::<u64>() as f64 / 4000.0;
    assert!((mean / 5000.0 - 1.0).abs() < 0.06, "{mean}");
    assert!(result.flows.iter().all(|row| row.finish_s.is_some()));
}

#[test]
fn every_law_of_sizes_is_read_and_written() {
    for sizes in [
        "law = \"constant\", mean = \"10 kB\"",
        "law = \"pareto\", mean = \"10 kB\", shape = 1.5",
        "law = \"pareto\", min = \"1 kB\", max = \"1 MB\", shape = 1.1",
        "law = \"lognormal\", mean = \"10 kB\", sigma = 1.5",
        "law = \"empirical\", cdf = [[\"1 kB\", 0.5], [\"20 kB\", 1.0]]",
    ] {
        let result = result(&format!("sizes = {{ {sizes} }}\ncount = 5\nstart_spread = \"1 s\""));
        assert!(result.flows.iter().all(|row| row.finish_s.is_some()), "{sizes}");
    }
}

#[test]
fn errors_name_file_field_value_and_what_is_allowed() {
    for (flow, expected) in [
        (
            "traffic = { kind = \"voice\" }",
            "t.toml: field `flows[0].traffic.kind`: value `voice`: allowed: bulk, constant, on-off, requests",
        ),
        ("traffic = { kind = \"constant\" }", "field `flows[0].traffic.rate` is required: a rate"),
        (
            "traffic = { kind = \"constant\", rate = \"1 Mbit/s\", chunk = \"0 B\" }",
            "field `flows[0].traffic.chunk`: value `0 B`",
        ),
        (
            "traffic = { kind = \"on-off\", rate = \"1 Mbit/s\", on = \"0 s\", off = \"1 s\" }",
            "field `flows[0].traffic.on`: value `0 s`: allowed: at least 1 us",
        ),
        (
            "traffic = { kind = \"on-off\", rate = \"1 Mbit/s\", on = { mean = \"1 s\", law = \"pareto\", shape = 1 }, off = \"1 s\" }",
            "field `flows[0].traffic.on.shape`: value `1`: allowed: a number above 1",
        ),
        (
            "size = \"1 MB\"\ntraffic = { kind = \"requests\", request = \"1 B\", response = \"1 B\" }",
            "field `flows[0].size`: value `1 MB`: allowed: none with this `traffic`",
        ),
        (
            "traffic = { kind = \"requests\", request = \"1 B\", response = \"1 B\" }",
            "field `flows[0].size` is required: a size such as",
        ),
        (
            "traffic = { kind = \"pages\", count = 1 }",
            "field `flows[0].traffic.main` is required: a size such as",
        ),
        (
            "traffic = { kind = \"pages\", count = 1, main = \"1 kB\", objects = 3 }",
            "field `flows[0].traffic.object` is required: a size such as",
        ),
        (
            "traffic = { kind = \"pages\", count = 1, main = \"1 kB\", objects = { mean = 3, law = \"zipf\" }, object = \"1 kB\" }",
            "field `flows[0].traffic.objects.law`: value `zipf`: allowed: exponential, pareto, lognormal",
        ),
        (
            "traffic = { kind = \"pages\", count = 1, main = \"1 kB\", objects = { mean = 3, law = \"pareto\", shape = 1 }, object = \"1 kB\" }",
            "field `flows[0].traffic.objects.shape`: value `1`: allowed: a number above 1",
        ),
        (
            "size = \"1 B\"\ntraffic = { kind = \"pages\", main = \"1 kB\" }",
            "field `flows[0].size`: value `1 B`: allowed: none with this `traffic`",
        ),
        (
            "size = \"1 B\"\nsizes = { law = \"constant\", mean = \"1 B\" }",
            "field `flows[0].sizes`",
        ),
        (
            "sizes = { law = \"zipf\" }",
            "field `flows[0].sizes.law`: value `zipf`: allowed: constant, exponential, pareto, lognormal, empirical",
        ),
        (
            "sizes = { law = \"pareto\", mean = \"1 kB\", shape = 0.9 }",
            "field `flows[0].sizes.shape`: value `0.9`: allowed: a number above 1",
        ),
        ("sizes = { law = \"empirical\", cdf = [[\"1 kB\", 0.5]] }", "field `flows[0].sizes.cdf`"),
        (
            "size = \"1 B\"\narrivals = { per_second = 0 }",
            "field `flows[0].arrivals.per_second`: value `0`: allowed: a number above 0, at most",
        ),
        (
            "size = \"1 B\"\nstart_spread = \"1 s\"\narrivals = { per_second = 5 }",
            "field `flows[0].arrivals`",
        ),
        (
            "udp = { dscp = 64 }\nprotocol = \"udp\"",
            "field `flows[0].udp.dscp`: value `64`: allowed: a whole number from 0 to 63",
        ),
        (
            "udp = { send_buffer = \"0 B\" }\nprotocol = \"udp\"",
            "field `flows[0].udp.send_buffer`: value `0 B`: allowed: at least 1 B",
        ),
        ("udp = {}", "field `flows[0].udp`: value `{}`: allowed: none unless `protocol` is"),
        (
            "traffic = { kind = \"voip\", packet = \"25 ms\" }",
            "field `flows[0].traffic.packet`: value `25 ms`: allowed: 1 to 100 frames of g711-plc",
        ),
        (
            "traffic = { kind = \"voip\", codec = \"opus\" }",
            "field `flows[0].traffic.codec`: value `opus`: allowed: g711, g711-plc, g729a",
        ),
        (
            "traffic = { kind = \"ping\", interval = \"1 ns\" }",
            "field `flows[0].traffic.interval`: value `1 ns`: allowed: at least 1 us",
        ),
        (
            "traffic = { kind = \"ping\", size = \"3 B\" }",
            "field `flows[0].traffic.size`: value `3 B`: allowed: from 4 B to ",
        ),
        (
            "traffic = { kind = \"video\", ladder = [\"2 Mbit/s\", \"1 Mbit/s\"] }",
            "field `flows[0].traffic.ladder`",
        ),
        (
            "traffic = { kind = \"video\", segment = \"4 s\", buffer = \"2 s\" }",
            "field `flows[0].traffic.buffer`: value `2 s`: allowed: at least a segment, 4 s",
        ),
        (
            "traffic = { kind = \"video\", window = 3 }",
            "field `flows[0].traffic.window`: value `3`: allowed: none unless `selection` is \"rate-based\"",
        ),
        (
            "traffic = { kind = \"video\", reservoir = \"200 s\", cushion = \"100 s\" }",
            "field `flows[0].traffic.cushion`: value `100 s`: allowed: more than 0 s, with the reservoir",
        ),
        (
            "traffic = { kind = \"page-load\" }",
            "field `flows[0].traffic.objects` is required: a list of objects, or",
        ),
        (
            "traffic = { kind = \"page-load\", objects = 3, main = \"1 kB\", size = \"1 kB\", depth = 4 }",
            "field `flows[0].traffic.depth`: value `4`: allowed: a whole number from 1 to 3",
        ),
        (
            "traffic = { kind = \"page-load\", objects = [{ size = \"1 kB\" }], depth = 1 }",
            "field `flows[0].traffic.depth`",
        ),
        (
            "traffic = { kind = \"page-load\", objects = [{ size = \"1 kB\", name = \"a\" }, { size = \"1 kB\", after = [\"b\"] }] }",
            "field `flows[0].traffic.objects[1].after`: value `[\"b\"]`: allowed: names of objects before it: a",
        ),
        (
            "size = \"1 B\"\n[[listen]]\nhost = \"b\"\nport = 80\nprotocol = \"udp\"",
            "field `listen[0].protocol`: value `udp`: allowed: tcp, sctp, mptcp: nobody listens",
        ),
    ] {
        let said = read(flow).unwrap_err();
        assert!(said.contains(expected), "{flow}\n  said     {said}\n  expected {expected}");
    }
}

/// Three servers, of which one is far: its answer decides when each round ends,
/// and all requests of a round leave at once.
#[test]
fn requests_with_a_barrier_go_out_together() {
    let text = "hosts = [\"c\", \"s1\", \"s2\", \"s3\"]\nrouters = [\"r\"]\n\
        links = [\n\
        { ends = [\"c\", \"r\"], rate = \"1 Gbit/s\", delay = \"1 ms\" },\n\
        { ends = [\"r\", \"s1\"], rate = \"1 Gbit/s\", delay = \"1 ms\" },\n\
        { ends = [\"r\", \"s2\"], rate = \"1 Gbit/s\", delay = \"1 ms\" },\n\
        { ends = [\"r\", \"s3\"], rate = \"1 Gbit/s\", delay = \"20 ms\" },\n\
        ]\n\
        [[flows]]\nname = \"q\"\npattern = \"scatter\"\nfrom = \"c\"\nreceivers = [\"s*\"]\noctets = true\n\
        traffic = { kind = \"requests\", request = \"100 B\", response = \"1 kB\", count = 5, \
        think = \"7 ms\", barrier = \"job\" }\n\
        [[observe]]\nwhat = \"rounds\"\n[[observe]]\nwhat = \"responses\"\n";
    let s = Scenario::from_toml(text, "t.toml").unwrap();
    assert_eq!(Scenario::from_toml(&s.resolved_toml(), "resolved").as_ref(), Ok(&s));
    let options = RunOptions { check: true, ..RunOptions::default() };
    let result = run(&s, &options).unwrap();
    assert!(result.flows.iter().all(|row| row.finish_s.is_some() && row.reverse_bytes == 5000));
    let series = |name: &str| result.series.iter().find(|series| series.name == name).expect(name);
    let rounds = series("job.rounds");
    assert_eq!(rounds.value.len(), 5);
    // The first waits for the far handshake: two round trips of 42 ms.
    assert!((0.084..0.085).contains(&rounds.value[0]), "{rounds:?}");
    assert!(rounds.value[1..].iter().all(|taken| (0.042..0.043).contains(taken)), "{rounds:?}");
    for n in 1..5 {
        // The time to think lies between, and near servers answered long ago.
        let began = rounds.time_s[n] - rounds.value[n];
        assert!((began - rounds.time_s[n - 1] - 0.007).abs() < 1e-9, "{rounds:?}");
        for (flow, taken) in [("q-0", 0.004), ("q-1", 0.004), ("q-2", 0.042)] {
            let series = series(&format!("{flow}.responses"));
            assert!(
                (series.time_s[n] - series.value[n] - began).abs() < 1e-9,
                "{flow} in round {n}"
            );
            assert!((series.value[n] - taken).abs() < 1e-3, "{flow} in round {n}: {series:?}");
        }
    }
}

/// Who has made all its requests, or has gone, is not waited for.
#[test]
fn a_barrier_does_not_wait_for_those_who_left() {
    let text = "hosts = [\"a\", \"b\"]\nduration = \"100 s\"\n\
        [[links]]\nends = [\"a\", \"b\"]\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\n\
        [[links]]\nname = \"dead\"\nends = [\"a\", \"x\"]\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\n\
        impairments = [{ kind = \"bernoulli\", rate = 1.0 }]\n\
        [[flows]]\nname = \"long\"\nfrom = \"a\"\nto = \"b\"\n\
        traffic = { kind = \"requests\", request = \"100 B\", response = \"1 kB\", count = 5, barrier = \"j\" }\n\
        [[flows]]\nname = \"short\"\nfrom = \"a\"\nto = \"b\"\n\
        traffic = { kind = \"requests\", request = \"100 B\", response = \"1 kB\", count = 2, barrier = \"j\" }\n\
        [[flows]]\nname = \"none\"\nfrom = \"a\"\nto = \"x\"\ntcp = { syn_retries = 1 }\n\
        traffic = { kind = \"requests\", request = \"100 B\", response = \"1 kB\", count = 9, barrier = \"j\" }\n\
        [[observe]]\nwhat = \"responses\"\n";
    let text = text.replace("[\"a\", \"b\"]\nduration", "[\"a\", \"b\", \"x\"]\nduration");
    let s = Scenario::from_toml(&text, "t.toml").unwrap_or_else(|e| panic!("{e}"));
    let result = run(&s, &RunOptions::default()).unwrap();
    let answered = |flow: &str| {
        let name = format!("{flow}.responses");
        result
            .series
            .iter()
            .find(|series| series.name == name)
            .map_or(0, |series| series.value.len())
    };
    assert_eq!((answered("long"), answered("short"), answered("none")), (5, 2, 0));
    // The second round began when the SYN to nobody was given up: 1 s and 2 s.
    let long = result.series.iter().find(|series| series.name == "long.responses").unwrap();
    assert!(long.time_s[0] < 0.1 && (3.0..3.1).contains(&long.time_s[1]), "{long:?}");
}
