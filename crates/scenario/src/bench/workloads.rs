//! The workloads as scenarios.

/// One bulk flow: three links of 1 Gbit/s, 1 ms, 10 ms and 1 ms.
pub(super) fn long_flow() -> String {
    let link = |a, b, delay| {
        format!(
            "[[links]]\nends = [\"{a}\", \"{b}\"]\nrate = \"1 Gbit/s\"\ndelay = \"{delay} ms\"\n\
             queue = {{ limit = \"1000 packets\" }}\n"
        )
    };
    let links = link("a", "r", 1) + &link("r", "s", 10) + &link("s", "b", 1);
    format!(
        "name = \"long-flow\"\nduration = \"30 s\"\nhosts = [\"a\", \"b\"]\nrouters = [\"r\", \"s\"]\n\
         {links}[[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\ntcp = {{ receive_buffer = \"64 MiB\" }}\n"
    )
}

/// The scenario of [`long_flow`] over SCTP, with the same window algorithm and receive buffer.
pub(super) fn sctp_bulk() -> String {
    let options =
        "protocol = \"sctp\"\nsctp = { window = \"cubic\", receive_buffer = \"64 MiB\" }\n";
    long_flow().replace("tcp = { receive_buffer = \"64 MiB\" }\n", options)
}

/// One association over two disjoint paths of 1 Gbit/s and 12 ms each; 0.01 %
/// of the packets are lost on the first, and each retransmission takes the
/// second.
pub(super) fn sctp_multihomed() -> String {
    let path = |name: &str, rest: &str| {
        format!(
            "[[links]]\nends = [\"a.{name}\", \"r{name}\"]\nrate = \"1 Gbit/s\"\ndelay = \"6 ms\"\n\
             queue = {{ limit = \"1000 packets\" }}\n{rest}\
             [[links]]\nends = [\"r{name}\", \"b.{name}\"]\nrate = \"1 Gbit/s\"\n\
             delay = \"6 ms\"\nqueue = {{ limit = \"1000 packets\" }}\n"
        )
    };
    let loss = "impairments = [{ kind = \"bernoulli\", rate = 0.0001 }]\n";
    format!(
        "name = \"sctp-multihomed\"\nduration = \"30 s\"\nrouters = [\"rx\", \"ry\"]\n\
         hosts = [{{ name = \"a\", interfaces = [\"x\", \"y\"] }}, \
         {{ name = \"b\", interfaces = [\"x\", \"y\"] }}]\n{}{}\
         [[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\nprotocol = \"sctp\"\n\
         sctp = {{ window = \"cubic\", receive_buffer = \"64 MiB\", \
         destination = \"all-alternate\" }}\n",
        path("x", loss),
        path("y", "")
    )
}

/// Disjoint paths of two links of `rate` and 6 ms each between two hosts: a flow
/// of its own over each, or one of Multipath TCP over all.
/// The windows leave slow start before they lose half of what they have sent, so
/// that what is measured is sending and not repair.
pub(super) fn disjoint_paths(paths: u32, rate: &str, multipath: bool) -> String {
    let window = "window = { algorithm = \"cubic\", slow_start_exit = \"hystart\" }";
    let (mut links, mut flows) = (String::new(), String::new());
    for i in 0..paths {
        for (a, b) in [(format!("a.{i}"), format!("r{i}")), (format!("r{i}"), format!("b.{i}"))] {
            links += &format!(
                "[[links]]\nends = [\"{a}\", \"{b}\"]\nrate = \"{rate}\"\ndelay = \"6 ms\"\n\
                 queue = {{ limit = \"1000 packets\" }}\n"
            );
        }
        if !multipath {
            flows += &format!(
                "[[flows]]\nname = \"f{i}\"\nfrom = \"a.{i}\"\nto = \"b.{i}\"\n\
                 tcp = {{ receive_buffer = \"64 MiB\", {window} }}\n"
            );
        }
    }
    if multipath {
        let buffer = 64 * paths;
        flows = format!(
            "[[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\nprotocol = \"mptcp\"\n\
             tcp = {{ receive_buffer = \"{buffer} MiB\", {window} }}\n\
             mptcp = {{ path_manager = \"pairs\" }}\n"
        );
    }
    let list = |name: fn(u32) -> String| (0..paths).map(name).collect::<Vec<_>>().join(", ");
    let (interfaces, routers) = (list(|i| format!("\"{i}\"")), list(|i| format!("\"r{i}\"")));
    format!(
        "name = \"paths\"\nduration = \"30 s\"\nrouters = [{routers}]\n\
         hosts = [{{ name = \"a\", interfaces = [{interfaces}] }}, \
         {{ name = \"b\", interfaces = [{interfaces}] }}]\n{links}{flows}"
    )
}

/// 100 bulk flows, each with hosts and access links of its own, over one
/// bottleneck whose queue holds about the bandwidth-delay product: 1 Gbit/s
/// times 2 (1 + 20 + 1) ms are 3667 packets of 1500 B; 20 ms and the access
/// links of one side each way leave 3333 for the bottleneck itself.
pub(super) fn dumbbell(window: &str) -> String {
    dumbbell_with(window, "")
}

/// The scenario of [`dumbbell`] with further fields of the bottleneck.
pub(super) fn dumbbell_with(window: &str, bottleneck: &str) -> String {
    let mut hosts = Vec::new();
    let (mut links, mut flows) = (String::new(), String::new());
    for i in 0..100 {
        for (end, router) in [("c", "left"), ("s", "right")] {
            hosts.push(format!("\"{end}{i}\""));
            links += &format!(
                "[[links]]\nends = [\"{end}{i}\", \"{router}\"]\nrate = \"1 Gbit/s\"\n\
                 delay = \"1 ms\"\nqueue = {{ limit = \"1000 packets\" }}\n"
            );
        }
        flows += &format!(
            "[[flows]]\nname = \"f{i}\"\nfrom = \"c{i}\"\nto = \"s{i}\"\nstart_spread = \"1 s\"\n\
             tcp = {{ recovery = \"sack\", window = \"{window}\" }}\n"
        );
    }
    format!(
        "name = \"dumbbell-100\"\nduration = \"20 s\"\nhosts = [{}]\nrouters = [\"left\", \"right\"]\n\
         [[links]]\nends = [\"left\", \"right\"]\nrate = \"1 Gbit/s\"\ndelay = \"20 ms\"\n\
         queue = {{ limit = \"3333 packets\" }}\n{bottleneck}{links}{flows}",
        hosts.join(", ")
    )
}

/// 4 MB over 10 Mbit/s 10 ms, 2 Mbit/s 15 ms, 10 Mbit/s 10 ms, with 2 % of
/// the packets lost on the way of the data.
pub(super) fn lossy_transfer() -> String {
    let queue = "queue = { limit = \"100 packets\" }";
    format!(
        "name = \"replications\"\nhosts = [\"a\", \"b\"]\nrouters = [\"r\", \"s\"]\n\
         [[links]]\nends = [\"a\", \"r\"]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n{queue}\n\
         [[links]]\nends = [\"r\", \"s\"]\nrate = \"2 Mbit/s\"\ndelay = \"15 ms\"\n{queue}\n\
         impairments = [{{ kind = \"bernoulli\", rate = 0.02 }}]\n\
         [[links]]\nends = [\"s\", \"b\"]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n{queue}\n\
         [[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\nsize = \"4 MB\"\n\
         tcp = {{ recovery = \"sack\", window = \"reno\" }}\n"
    )
}

/// A fat-tree of switches with 8 ports and 128 hosts, 10 Gbit/s and 1 us a
/// hop, queues of 100 packets; each host sends without end to one other.
pub(super) fn fat_tree() -> String {
    "name = \"fat-tree\"\nduration = \"20 ms\"\n\
     [topology]\nkind = \"fat-tree\"\nk = 8\n\
     link = { rate = \"10 Gbit/s\", delay = \"1 us\", queue = { limit = \"100 packets\" } }\n\
     [[flows]]\nname = \"f\"\npattern = \"permutation\"\namong = [\"h*\"]\n\
     tcp = { recovery = \"sack\", window = \"reno\" }\n"
        .to_owned()
}
