//! What random scenarios found, made small: each keeps every promise now.

use anabranch_soak::{End, Verdict, judge};

fn judged(text: &str) -> Verdict {
    let verdict = judge(text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(verdict.failures, [], "{text}");
    verdict
}

fn ends(verdict: &Verdict) -> Vec<End> {
    verdict.flows.iter().map(|flow| flow.end).collect()
}

/// The first INIT is lost with its path, and the association comes over the other: it is the flow's
/// server's end all the same, and no stranger.
#[test]
fn a_server_is_found_over_another_path_than_the_first() {
    let verdict = judged(
        r#"
        hosts = [{ name = "a", interfaces = ["x", "y"] }, { name = "b", interfaces = ["x", "y"] }]
        [[links]]
        ends = ["a.x", "b.x"]
        rate = "1 Mbit/s"
        delay = "5 ms"
        impairments = [{ kind = "outage", intervals = [{ at = "0 s", for = "100 s" }] }]
        [[links]]
        ends = ["a.y", "b.y"]
        rate = "1 Mbit/s"
        delay = "5 ms"
        [[listen]]
        host = "b"
        port = 7
        protocol = "sctp"
        [[flows]]
        name = "f"
        from = "a"
        to = "b"
        port = 7
        protocol = "sctp"
        size = "20 kB"
        "#,
    );
    assert_eq!(ends(&verdict), [End::Completed]);
}

/// A stranger has the only place and never leaves: who waits behind it, with all data
/// acknowledged, does not stand still, but waits to be accepted.
#[test]
fn who_waits_to_be_accepted_does_not_stand_still() {
    let verdict = judged(
        r#"
        hosts = ["a", "b", "m"]
        routers = ["r"]
        duration = "10 s"
        links = [
            { ends = ["a", "r"], rate = "1 Mbit/s", delay = "5 ms" },
            { ends = ["m", "r"], rate = "1 Mbit/s", delay = "5 ms" },
            { ends = ["b", "r"], rate = "1 Mbit/s", delay = "5 ms" },
        ]
        [[listen]]
        host = "b"
        port = 80
        connections = 1
        respond = "100 B"
        [[attacks]]
        name = "x"
        kind = "connection-flood"
        from = "m"
        to = "b"
        port = 80
        per_second = 2
        addresses = 100
        duration = "1 s"
        [[flows]]
        name = "f"
        from = "a"
        to = "b"
        port = 80
        start = "2 s"
        size = "10 kB"
        "#,
    );
    assert_eq!(ends(&verdict), [End::Unfinished]);
}

/// What a port answers to a SYN has the key of the connection that comes of it, and waits for the
/// line as the host's own: nothing of it is taken from what the connection has waiting.
#[test]
fn answers_of_a_port_wait_for_the_line_as_the_hosts_own() {
    let verdict = judged(
        r#"
        hosts = [{ name = "a", backpressure = "0 B" }, "b"]
        links = [{ ends = ["a", "b"], rate = "200 bit/s", delay = "0 s" }]
        [[listen]]
        host = "a"
        port = 80
        protocol = "mptcp"
        mptcp = { passive_path_manager = "n-diffports" }
        [[flows]]
        name = "f"
        from = "b"
        to = "a"
        port = 80
        protocol = "mptcp"
        size = "3 kB"
        "#,
    );
    assert_eq!(ends(&verdict), [End::Completed]);
}

/// A receiver acknowledges what was lost, and both sides end in order without it: nobody is to
/// blame but who has lied.
#[test]
fn who_acknowledges_what_was_lost_ends_in_order_without_it() {
    judged(
        r#"
        duration = "10 s"
        hosts = ["a", "b"]
        links = [{ ends = ["a", "b"], rate = "25 Mbit/s", delay = "1 ms",
            impairments = [{ kind = "packets", flow = "f", numbers = [1], reverse_data = true }] }]
        [[attacks]]
        name = "x"
        kind = "optimistic-ack"
        from = "b"
        flow = "f"
        size = 0
        [[flows]]
        name = "f"
        from = "b"
        to = "a"
        protocol = "sctp"
        traffic = { kind = "messages", count = 1, size = "500 B", reverse = { count = 3, size = "500 B" } }
        "#,
    );
}

/// Boxes that write other octets excuse those who pass them, and nobody else.
#[test]
fn boxes_that_change_octets_excuse_who_passes_them() {
    let text = |box_at: usize| {
        let changed = "impairments = [{ kind = \"middlebox\", change_every = \"2 kB\" }]";
        let at = |link: usize| if link == box_at { changed } else { "" };
        format!(
            "hosts = [\"a\", \"b\", \"c\"]\nrouters = [\"r\"]\n\
             [[links]]\nends = [\"a\", \"r\"]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n{}\n\
             [[links]]\nends = [\"b\", \"r\"]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n{}\n\
             [[links]]\nends = [\"r\", \"c\"]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n{}\n\
             [[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"c\"\nsize = \"20 kB\"\noctets = true\n\
             [[flows]]\nname = \"g\"\nfrom = \"b\"\nto = \"c\"\nsize = \"20 kB\"\noctets = true\n",
            at(0),
            at(1),
            at(2)
        )
    };
    for (box_at, excused) in [(0, 1), (1, 1), (2, 2), (3, 0)] {
        assert_eq!(judged(&text(box_at)).excused, excused, "a box at link {box_at}");
    }
}

/// An attacker's packets leave past its host, with the keys of others, perhaps of an endpoint there
/// that counts what it has waiting.
#[test]
fn forged_packets_are_not_their_victims_own() {
    let verdict = judged(
        r#"
        duration = "50 ms"
        hosts = [{ name = "a", backpressure = "0 B" }, "b"]
        links = [{ ends = ["a", "b"], rate = "30 kbit/s", delay = "0 s" }]
        [[attacks]]
        name = "x"
        kind = "blind-fin"
        from = "a"
        to = "b"
        flow = "f"
        [[flows]]
        name = "f"
        from = "a"
        to = "b"
        "#,
    );
    assert_eq!(verdict.excused, 1);
}

/// An association that ends in order while it waits in the backlog has what it has acknowledged for
/// whoever accepts.
#[test]
fn what_waits_to_be_accepted_is_not_forgotten_at_its_end() {
    judged(
        r#"
        duration = "500 s"
        hosts = ["a", "b", "m2"]
        links = [
            { ends = ["a", "b"], rate = "200 bit/s", delay = "0 us" },
            { ends = ["m2", "a"], rate = "5 Mbit/s", delay = "0 us" },
        ]
        listen = [
            { host = "a", port = 24801, protocol = "sctp", connections = 10, respond = "1 B" },
        ]
        attacks = [
            { name = "x0", kind = "association-flood", from = "m2", to = "a", port = 24801, duration = "20 ms" },
        ]
        [[flows]]
        name = "f0"
        from = "b"
        to = "a"
        port = 24801
        protocol = "sctp"
        sctp = { preset = "rfc2960" }
        traffic = { kind = "messages", count = 1 }
        "#,
    );
}

/// Both sides have closed at once, and their ACKs repeat FINs that the other has had: each FIN brings the ACK that
/// ends it, however often packets are doubled.
#[test]
fn repeated_fins_do_not_answer_each_other_for_ever() {
    let verdict = judged(
        r#"
        duration = "20 s"
        hosts = [{ name = "a", interfaces = ["x", "y"] }, { name = "b", interfaces = ["x", "y"] }]
        [[links]]
        ends = ["a.x", "b.x"]
        rate = "100 Mbit/s"
        delay = "0 s"
        reverse = { delay = "200 us" }
        impairments = [{ kind = "duplicate", probability = 1.0 }]
        [[links]]
        ends = ["a.y", "b.y"]
        rate = "10 Mbit/s"
        delay = "0 s"
        [[flows]]
        name = "f"
        from = "b"
        to = "a"
        protocol = "mptcp"
        size = "0 B"
        tcp = { profile = "freebsd" }
        "#,
    );
    assert_eq!(ends(&verdict), [End::Completed]);
}

/// A connection that is TCP by now, with a receive buffer of a segment: the peer's FIN has come, and 500 bytes before it wait
/// in the subflow until the stream has room. They come before the end.
#[test]
fn the_end_of_a_fallback_waits_for_what_has_no_room_yet() {
    let verdict = judged(
        r#"
        routers = ["left", "right"]
        seed = 346767847289

        [[flows]]
        from = "s0"
        name = "f0"
        protocol = "mptcp"
        size = "2 kB"
        to = "c0"

        [flows.tcp]
        receive_buffer = "1500 B"

        [[flows]]
        from = "c0"
        name = "f2"
        size = "0 B"
        to = "s0"

        [[hosts]]
        name = "c0"

        [[hosts]]
        name = "s0"

        [[links]]
        delay = "0 us"
        ends = ["left", "right"]
        rate = "10 kbit/s"

        [[links.impairments]]
        kind = "middlebox"
        segments = "not-syn"
        strip = ["mptcp"]

        [[links]]
        delay = "0 us"
        ends = ["c0", "left"]
        name = "l1"
        rate = "5 kbit/s"

        [[links.reverse.impairments]]
        distance = 1
        kind = "reorder-distance"
        probability = 0.0

        [[links.reverse.impairments]]
        ber = 0.0000112
        kind = "bit-errors"

        [[links]]
        delay = "0 us"
        ends = ["s0", "right"]
        name = "l2"
        rate = "10 kbit/s"

        [[links.impairments]]
        kind = "duplicate"
        probability = 0.7

        [[links.impairments]]
        kind = "middlebox"
        rewrite_sequence = 1581175991

        [[links.reverse.impairments]]
        kind = "jitter"
        mean = "0 us"

        [[links.reverse.impairments]]
        ber = 0.00006269999999999999
        kind = "bit-errors"

        [[links.reverse.impairments]]
        kind = "middlebox"
        rewrite_sequence = 1581175991
        "#,
    );
    assert_eq!(ends(&verdict), [End::Completed, End::Completed]);
}

/// A packet whose destination has been corrupted to the number of the node at which a regulator stands.
#[test]
fn nothing_is_addressed_to_a_regulator() {
    judged(
        r#"
        hosts = [{ name = "a", processing = "1 us" }, "b"]
        routers = ["r0-0", "r0-1"]
        seed = 404604091369

        [[flows]]
        from = "a"
        name = "f0"
        protocol = "sctp"
        to = "b"

        [flows.sctp]
        mtu = "2 kB"

        [flows.traffic]
        count = 1
        kind = "pages"
        main = "1 B"
        object = "1 B"
        objects = 6

        [[links]]
        ends = ["a", "r0-0"]
        rate = "1 kbit/s"

        [[links.delays.steps]]
        at = "0 us"
        delay = "0 us"

        [[links]]
        delay = "0 us"
        ends = ["r0-0", "r0-1"]
        name = "l1"
        rate = "200 bit/s"

        [links.regulator]
        law = "threshold-linear"

        [[links.reverse.impairments]]
        ber = 0.0
        kind = "bit-errors"

        [[links.reverse.impairments]]
        bits = 5
        kind = "corrupt"
        probability = 0.1

        [[links]]
        ends = ["r0-1", "b"]

        [[links.delays.steps]]
        at = "0 us"
        delay = "0 us"

        [links.trace]
        millis = [1]
        "#,
    );
}

/// After a timeout F-RTO wants new data out of turn, and all that there is is less than a segment, behind an earlier
/// small one: it leaves all the same, since nothing else would.
#[test]
fn nagle_does_not_hold_what_frto_asks_for() {
    let verdict = judged(
        r#"
        hosts = ["a", { name = "b" }]

        [[flows]]
        from = "b"
        name = "f1"
        octets = true
        port = 4099
        to = "a"

        [flows.traffic]
        count = 3
        kind = "requests"
        request = "1 B"
        response = "1800 B"

        [[links]]
        delay = "0 us"
        ends = ["a", "b"]
        rate = "25 bit/s"

        [links.queue]
        kind = "dualpi2"

        [[listen]]
        host = "a"
        port = 4099

        [listen.tcp]
        black_hole_detection = true
        profile = "linux"
        send_buffer = "1463 B"

        [listen.tcp.recovery]
        scheme = "newreno"
        "#,
    );
    assert_eq!(ends(&verdict), [End::Completed]);
}

/// What an ACK in the window with a forged timestamp acknowledges is not sent again.
#[test]
fn acks_with_forged_timestamps_deceive() {
    let verdict = judged(
        r#"
        duration = "2 s"
        seed = 100000000000
        hosts = ["a", "b", "m4"]
        links = [
            { ends = ["a", "b"], rate = "20 kbit/s", delay = "0 us" },
            { ends = ["m4", "b"], rate = "20 kbit/s", delay = "0 us" },
        ]
        listen = [{ host = "a", port = 16901 }]
        attacks = [
            { name = "x2", kind = "blind-timestamp", from = "m4", to = "b", flow = "f0", per_second = 8 },
        ]
        [[flows]]
        name = "f0"
        from = "b"
        to = "a"
        port = 16901
        size = "92007 B"
        "#,
    );
    assert_eq!(verdict.excused, 1);
}

/// The peer has fallen back, which its FIN alone tells: it is the end of the peer's stream, and not of the subflow, which
/// carries the rest of the answer.
#[test]
fn a_fin_without_options_is_the_end_of_a_stream() {
    let verdict = judged(
        r#"
        routers = ["r0-0"]
        seed = 281177666235

        [[flows]]
        duration = "0 us"
        from = "a"
        name = "f0"
        to = "b"

        [[flows]]
        count = 2
        from = "b"
        name = "f1"
        protocol = "sctp"
        size = "0 B"
        to = "a"

        [[flows]]
        from = "a"
        name = "f2"
        protocol = "mptcp"
        to = "b"

        [flows.traffic]
        count = 1
        kind = "requests"
        request = "1 B"
        response = "2 kB"

        [[hosts]]
        interfaces = ["i0", "i1"]
        name = "a"

        [[hosts]]
        interfaces = ["i0", "i1"]
        name = "b"

        [[links]]
        delay = "0 us"
        ends = ["a.i0", "r0-0"]
        name = "l0"
        rate = "5 kbit/s"

        [[links.impairments]]
        extra = "0 us"
        kind = "reorder"
        probability = 0.0

        [[links.impairments]]
        kind = "gilbert-elliott"
        p = 0.3
        r = 0.9

        [[links.impairments]]
        ber = 0.0000644
        kind = "bit-errors"

        [[links.reverse.impairments]]
        kind = "middlebox"
        segments = "not-syn"
        strip = ["mptcp"]

        [[links]]
        delay = "0 us"
        ends = ["r0-0", "b.i0"]
        name = "l1"
        rate = "10 kbit/s"

        [[links.impairments]]
        kind = "jitter"
        mean = "0 us"

        [[links.impairments]]
        k = 0.9
        kind = "gilbert-elliott"
        p = 0.0
        r = 1.0

        [[links.reverse.impairments]]
        k = 0.8
        kind = "gilbert-elliott"
        p = 0.0
        r = 0.0

        [[links]]
        delay = "0 us"
        ends = ["a.i1", "b.i1"]
        rate = "1 bit/s"
        "#,
    );
    assert_eq!(ends(&verdict)[3], End::Completed);
}

/// ... also where the FIN overtakes the data before it.
#[test]
fn a_fin_without_options_may_overtake_data() {
    let verdict = judged(
        r#"
        seed = 638864625362

        [[flows]]
        from = "b"
        name = "f0"
        size = "0 B"
        to = "a"

        [[flows]]
        count = 3
        from = "a"
        name = "f1"
        port = 19782
        protocol = "mptcp"
        size = "200 B"
        to = "b"

        [[flows]]
        from = "a"
        name = "f2"
        protocol = "mptcp"
        reverse_size = "500 B"
        to = "b"

        [flows.sizes]
        law = "constant"
        mean = "1 B"

        [flows.tcp]
        initial_window = "rfc2581"
        mss = "128 B"

        [[hosts]]
        name = "a"

        [[hosts]]
        name = "b"

        [[links]]
        delay = "0 us"
        ends = ["a", "b"]
        name = "l1"
        rate = "2 Mbit/s"

        [[links.impairments]]
        every = 5
        kind = "periodic"

        [[links.impairments]]
        distance = 1
        kind = "reorder-distance"
        longest = "1 ms"
        probability = 0.5

        [[links.reverse.impairments]]
        kind = "bernoulli"
        rate = 0.3

        [[links.reverse.impairments]]
        kind = "middlebox"
        segments = "not-syn"
        strip = ["mptcp"]

        [[listen]]
        host = "b"
        port = 19782
        protocol = "mptcp"

        [listen.tcp]
        mss = "128 B"
        "#,
    );
    assert_eq!(*ends(&verdict).last().unwrap(), End::Completed);
}

/// 40049906: the receive buffer took 46 of the 72 messages of each packet, and timeouts repaired the rest:
/// 27,206 s.
#[test]
fn messages_of_one_byte_do_not_wait_for_timeouts() {
    let verdict = judged(
        r#"
        [[flows]]
        from = "b"
        name = "f0"
        port = 23137
        protocol = "sctp"
        to = "a"

        [flows.sctp]
        receive_buffer = "1500 B"

        [flows.traffic]
        count = 1
        kind = "requests"
        request = "1 B"
        response = "1 kB"

        [[hosts]]
        name = "a"

        [[hosts]]
        name = "b"

        [[links]]
        delay = "0 us"
        ends = ["a", "b"]
        rate = "20 kbit/s"

        [[listen]]
        host = "a"
        port = 23137
        protocol = "sctp"

        [listen.sctp]
        message_size = "1 B"
        "#,
    );
    assert_eq!(ends(&verdict), [End::Completed]);
    assert!(verdict.seconds < 100.0, "{}", verdict.seconds);
}

/// 60561023: a peer fell back while a second subflow held octets; they were taken for the stream's, which the
/// first carries alone from then on.
#[test]
fn octets_of_a_subflow_that_a_fallback_ended_are_not_the_streams() {
    judged(
        r#"
        duration = "3000000000 us"
        routers = ["r1-1"]
        seed = 598277382041

        [[attacks]]
        flow = "f1"
        from = "b"
        kind = "tiny-window"
        name = "x0"

        [[attacks]]
        duration = "30800 ms"
        from = "b"
        kind = "syn-flood"
        name = "x1"
        per_second = 5
        port = 1
        start = "2613008 us"
        to = "a"

        [[flows]]
        from = "a"
        name = "f0"
        protocol = "mptcp"
        reverse_size = "1 B"
        to = "b"

        [flows.mptcp]
        enabled = false

        [flows.tcp]
        mss = "1700 B"
        profile = "linux"

        [[flows]]
        count = 3
        from = "a"
        name = "f1"
        protocol = "mptcp"
        reverse_size = "52573 B"
        to = "b"

        [flows.arrivals]
        per_second = 44

        [flows.mptcp]
        checksum = true

        [[flows]]
        count = 3
        from = "b"
        name = "f2"
        port = 34133
        protocol = "mptcp"
        start = "70000 us"
        to = "a"

        [flows.arrivals]
        per_second = 5

        [flows.traffic]
        count = 3
        kind = "requests"
        request = "1 B"
        response = "1 B"

        [[hosts]]
        interfaces = ["i0", "i1", "i2"]
        name = "a"

        [[hosts]]
        interfaces = ["i0", "i1", "i2"]
        name = "b"

        [[links]]
        delay = "109608 us"
        ends = ["a.i0", "b.i0"]
        name = "l0"
        rate = "220000 bit/s"

        [[links.impairments]]
        kind = "jitter"
        mean = "500 us"

        [[links.impairments]]
        after = 69
        kind = "middlebox"
        segments = "not-syn"
        strip = ["timestamps"]

        [links.queue]
        by_size = true
        kind = "red"
        weight = 0.24

        [[links.reverse.impairments]]
        flow = "f0"
        kind = "packets"
        numbers = []

        [[links.reverse.impairments]]
        ber = 0.00009779999999999999
        kind = "bit-errors"

        [[links]]
        delay = "0 us"
        ends = ["a.i1", "r1-1"]
        rate = "2000000 bit/s"

        [[links.reverse.impairments]]
        ber = 0.00007489999999999999
        kind = "bit-errors"

        [[links]]
        delay = "38167 us"
        ends = ["r1-1", "b.i1"]
        name = "l3"
        rate = "200000 bit/s"

        [[links.impairments]]
        kind = "corrupt"
        probability = 0.1

        [links.reverse]
        rate = "3300000 bit/s"

        [[links.reverse.impairments]]
        correlation = 0.5
        deviation = "7000 us"
        kind = "jitter"
        law = "normal"
        mean = "0 us"

        [links.reverse.queue]
        kind = "fq-codel"
        limit = "1 packets"

        [[links]]
        delay = "0 us"
        ends = ["a.i2", "b.i2"]
        rate = "200000 bit/s"

        [[listen]]
        host = "a"
        port = 1
        protocol = "mptcp"

        [listen.mptcp]
        path_manager = "n-diffports"

        [listen.tcp.rto]
        initial = "200 us"
        "#,
    );
}

/// 70134580 and 200056306: on the only subflow data came a second time, whose mapping a middlebox had taken away. It is
/// not the next of the stream.
#[test]
fn a_repetition_without_its_mapping_is_not_read_as_new() {
    judged(
        r#"
        ip = 6
        routers = ["r0-0"]
        [[flows]]
        from = "b"
        name = "f0"
        to = "a"
        [flows.sizes]
        law = "pareto"
        max = "2 B"
        min = "1 B"
        shape = 1.0
        [[flows]]
        count = 2
        from = "b"
        name = "f1"
        octets = true
        protocol = "mptcp"
        size = "1 B"
        to = "a"
        [[flows]]
        count = 2
        from = "a"
        name = "f2"
        size = "0 B"
        to = "b"
        [[hosts]]
        interfaces = ["i0", "i2"]
        name = "a"
        [[hosts]]
        name = "b"
        [[links]]
        delay = "0 ms"
        ends = ["a.i0", "r0-0"]
        name = "l0"
        rate = "5 kbit/s"
        [[links.impairments]]
        kind = "duplicate"
        probability = 0.5
        [[links.reverse.impairments]]
        kind = "bernoulli"
        rate = 0.5
        [[links]]
        delay = "0 us"
        ends = ["r0-0", "b"]
        rate = "10 kbit/s"
        [[links.reverse.impairments]]
        after = 3
        kind = "middlebox"
        strip = ["mptcp"]
        "#,
    );
    judged(
        r#"
        [[flows]]
        from = "b"
        name = "f0"
        to = "a"
        [flows.traffic]
        count = 1
        kind = "pages"
        main = "1 B"
        [[flows]]
        count = 3
        from = "b"
        name = "f1"
        octets = true
        port = 32524
        protocol = "mptcp"
        size = "1 kB"
        to = "a"
        [[hosts]]
        interfaces = ["i0", "i1", "i2"]
        name = "a"
        [[hosts]]
        name = "b"
        [[links]]
        delay = "0 us"
        ends = ["a.i0", "b"]
        [[links.reverse.impairments]]
        after = 3
        kind = "middlebox"
        strip = ["mptcp"]
        [[links.reverse.impairments]]
        kind = "gilbert-elliott"
        p = 1.0
        r = 1.0
        [[links.schedule.steps]]
        at = "0 us"
        rate = "0 bit/s"
        [[links.schedule.steps]]
        at = "1 us"
        rate = "2 kbit/s"
        [[listen]]
        host = "a"
        port = 32524
        protocol = "mptcp"
        [listen.tcp]
        timestamps = false
        "#,
    );
}
