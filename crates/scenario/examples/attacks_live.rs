//! The attacks on real packets: at our stack, at the kernel's, whose sockets or a
//! server's program stand behind a TUN device, and at usrsctp. Writes the last section of
//! docs/reliability-attacks.md to standard output; needs Linux and root.
//!
//!     cargo run --release -p anabranch-scenario --example attacks_live -- tests/data [ATTACK]
//!
//! The folder has the programs of the other side; that of SCTP is compiled, with Debian's libusrsctp-dev. Attacks are named by transport and name, as in
//! `mptcp/join-flood`; a part of that selects some.

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    let programs = std::env::args().nth(1).unwrap_or_else(|| "tests/data".into());
    match on_linux::page(&programs) {
        Ok(page) => {
            print!("{page}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("attacks_live: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!("attacks_live: only Linux has the devices");
    ExitCode::FAILURE
}

#[cfg(target_os = "linux")]
mod on_linux {
    use anabranch_scenario::live::{LiveOptions, live};
    use anabranch_scenario::{RunResult, Scenario};
    use std::path::Path;
    use std::process::Command;

    const HEAD: &str = "
## On real packets

    make live-attacks

The same network for 8 s of real time; the client is a kernel's, the attacker sends raw packets through the emulated
network. *Ours*: our stack with the profile `linux` as the server, which
listens to strangers. *Kernel*: Linux {release}, with its defaults: sockets of
the flows, and for the floods a program that listens with a backlog of 128. Goodput of the long download, and how many
of 8 short ones were whole. *Memory*: of ours, the most that the port and the connections of strangers took; of the
kernel, the most that the sockets of the whole machine, the clients' too and those of whatever else runs, took beyond what they did at the
start: buffers, sockets, half-open connections and those in TIME-WAIT. What a flood of connections leaves of the kernel's long download is the program's doing, which
has a thread for each.

Over SCTP the other stack is usrsctp, which sends and receives by raw sockets, behind a program with a thread for each
association, and *memory* is by how much its process grew. The client is ours there, for kernels rarely have SCTP.
";

    /// The stack that is attacked.
    #[derive(Clone, Copy, PartialEq)]
    enum Victim {
        Ours,
        /// The kernel; over SCTP usrsctp.
        Other,
    }

    /// The port of the first flow in a scenario, where an external host listens over SCTP; those of
    /// others follow.
    const FIRST_PORT: u16 = 49_152;
    /// Number of short flows beside the long one.
    const SHORTS: u16 = 8;
    const LONG_OCTETS: &str = "50 MB";
    const SHORT_OCTETS: &str = "20 kB";

    const TABLE: &str = "
| attack | rate | ours: long, Mbit/s | short | s each | attacker | memory, kB | {other}: long, Mbit/s | short | s each | attacker | memory, kB |
|---|---|---|---|---|---|---|---|---|---|---|---|
";

    /// Name, kind, what it is against and further fields.
    type Attack = (&'static str, &'static str, Against, &'static str);

    /// Attacks that are tried over Multipath TCP, on a path of one subflow.
    const OVER_MPTCP: [Attack; 9] = [
        ("none", "", Against::Nothing, ""),
        ("syn-flood", "syn-flood", Against::Port, "per_second = 2000"),
        ("join-flood", "join-flood", Against::Port, "per_second = 2000"),
        ("add-addr", "add-addr-flood", Against::Flow, "per_second = 1000"),
        ("reset-window", "blind-reset", Against::Flow, "per_second = 2000\naim = \"window\""),
        ("syn-window", "blind-syn", Against::Flow, "per_second = 2000\naim = \"window\""),
        ("optimistic-ack", "optimistic-ack", Against::Peer, ""),
        ("dupack-spoofing", "dupack-spoofing", Against::Peer, ""),
        ("zero-window", "zero-window", Against::Peer, ""),
    ];

    /// Attacks that are tried over SCTP.
    const OVER_SCTP: [Attack; 17] = [
        ("none", "", Against::Nothing, ""),
        ("init-flood", "init-flood", Against::Port, "per_second = 2000"),
        ("cookie-echo-flood", "cookie-echo-flood", Against::Port, "per_second = 2000"),
        ("association-flood", "association-flood", Against::Port, "per_second = 200"),
        ("parameter-bomb", "parameter-bomb", Against::Port, "per_second = 500"),
        ("abort-random", "blind-abort", Against::Flow, "per_second = 2000\naim = \"random\""),
        ("abort-exact", "blind-abort", Against::Flow, "per_second = 200\naim = \"exact\""),
        ("data-random", "blind-data", Against::Flow, "per_second = 2000\naim = \"random\""),
        ("ack-random", "blind-ack", Against::Flow, "per_second = 2000\naim = \"random\""),
        ("ack-exact", "blind-ack", Against::Flow, "per_second = 200\naim = \"exact\""),
        ("asconf", "asconf-flood", Against::Flow, "per_second = 1000"),
        (
            "unreachable-exact",
            "icmp-unreachable",
            Against::Flow,
            "per_second = 500\naim = \"exact\"",
        ),
        ("too-big-exact", "icmp-too-big", Against::Flow, "per_second = 500\naim = \"exact\""),
        ("optimistic-ack", "optimistic-ack", Against::Peer, ""),
        ("dupack-spoofing", "dupack-spoofing", Against::Peer, ""),
        ("lying-sack", "lying-sack", Against::Peer, ""),
        ("zero-window", "zero-window", Against::Peer, ""),
    ];

    /// Attacks that are tried over TCP.
    const OVER_TCP: [Attack; 17] = [
        ("none", "", Against::Nothing, ""),
        ("syn-flood", "syn-flood", Against::Port, "per_second = 2000"),
        ("connection-flood", "connection-flood", Against::Port, "per_second = 200"),
        ("option-bomb", "option-bomb", Against::Port, "per_second = 2000"),
        ("reset-window", "blind-reset", Against::Flow, "per_second = 2000\naim = \"window\""),
        ("reset-sweep", "blind-reset", Against::Flow, "per_second = 2000\naim = \"sweep\""),
        ("reset-exact", "blind-reset", Against::Flow, "per_second = 200\naim = \"exact\""),
        ("syn-window", "blind-syn", Against::Flow, "per_second = 2000\naim = \"window\""),
        ("data-window", "blind-data", Against::Flow, "per_second = 2000\naim = \"window\""),
        ("fin-window", "blind-fin", Against::Flow, "per_second = 2000\naim = \"window\""),
        ("overlap", "overlap", Against::Flow, "per_second = 200\nsize = 1000"),
        (
            "unreachable-exact",
            "icmp-unreachable",
            Against::Flow,
            "per_second = 500\naim = \"exact\"",
        ),
        ("too-big-exact", "icmp-too-big", Against::Flow, "per_second = 500\naim = \"exact\""),
        ("ack-division", "ack-division", Against::Peer, ""),
        ("optimistic-ack", "optimistic-ack", Against::Peer, ""),
        ("dupack-spoofing", "dupack-spoofing", Against::Peer, ""),
        ("zero-window", "zero-window", Against::Peer, ""),
    ];

    #[derive(Clone, Copy, PartialEq)]
    enum Against {
        Nothing,
        Port,
        Flow,
        Peer,
    }

    pub fn page(programs: &str) -> Result<String, String> {
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let mut page =
            HEAD.replace("{release}", release.split('-').next().unwrap_or_default().trim());
        let only = std::env::args().nth(2);
        let chosen = |name: &str| only.as_deref().is_none_or(|only| name.contains(only));
        let all: [(&str, &str, &[Attack]); 3] = [
            ("tcp", "TCP", &OVER_TCP),
            ("mptcp", "Multipath TCP", &OVER_MPTCP),
            ("sctp", "SCTP", &OVER_SCTP),
        ];
        for (protocol, title, attacks) in all {
            let other = if protocol == "sctp" { "usrsctp" } else { "kernel" };
            page += &format!("\n### {title}\n{}", TABLE.replace("{other}", other));
            let attacks = attacks.iter();
            for attack in attacks.filter(|attack| chosen(&format!("{protocol}/{}", attack.0))) {
                let (name, _, _, fields) = attack;
                let rate = fields.lines().find_map(|line| line.strip_prefix("per_second = "));
                page += &format!("| {name} | {} |", rate.unwrap_or_default());
                for victim in [Victim::Ours, Victim::Other] {
                    page += &play(*attack, protocol, victim, programs)?;
                }
                page.push('\n');
            }
        }
        Ok(page)
    }

    /// The cells of an attack on one of the two.
    fn play(
        attack: Attack,
        protocol: &str,
        victim: Victim,
        programs: &str,
    ) -> Result<String, String> {
        let text = scenario(attack, protocol, victim);
        let name = attack.0;
        let scenario = Scenario::from_toml(&text, name).map_err(|e| format!("{e}\n{text}"))?;
        let logs = std::env::temp_dir().join(format!("attacks-live-{}", std::process::id()));
        std::fs::create_dir_all(&logs).map_err(|e| format!("{}: {e}", logs.display()))?;
        let programs = match victim {
            Victim::Ours => Vec::new(),
            Victim::Other if protocol == "sctp" => {
                vec![("server".to_owned(), usrsctp(programs, &logs)?)]
            }
            Victim::Other => beside_the_kernel(programs, protocol, attack.2),
        };
        let options = LiveOptions { programs, logs: logs.clone(), ..LiveOptions::default() };
        let result = live(&scenario, &options, |_| {}).map_err(|e| format!("{name}: {e}"));
        let said = |host: &str| {
            std::fs::read_to_string(logs.join(format!("{host}.log"))).unwrap_or_default()
        };
        let said = said("server") + &said("idle");
        std::fs::remove_dir_all(&logs).map_err(|e| format!("{}: {e}", logs.display()))?;
        let result = result?.result;
        let told = |line: &str| line.strip_prefix("memory kB ")?.parse().ok();
        let memory = match victim {
            Victim::Ours => result.listeners.first().map(|port| port.result.peak_memory / 1000),
            Victim::Other => said.lines().filter_map(told).max(),
        };
        Ok(cells(&result, memory))
    }

    /// The network, the flows and the attack.
    fn scenario((name, kind, against, fields): Attack, protocol: &str, victim: Victim) -> String {
        let (ours, sctp) = (victim == Victim::Ours, protocol == "sctp");
        let host = |name: &str, is_ours: bool| match is_ours {
            true => format!("\"{name}\""),
            false => format!("{{ name = \"{name}\", external = true }}"),
        };
        // The ports of kernels' sockets are free where no program listens; those of SCTP follow from
        // the place of the flow.
        let attacked = if sctp && !ours { FIRST_PORT + 1 } else { 80 };
        let port = |port: u16| match (ours, sctp) {
            (true, _) => "port = 80\n".to_owned(),
            (_, false) if against == Against::Port => format!("port = {port}\n"),
            _ => String::new(),
        };
        let mut text = format!(
            "hosts = [{}, {}, \"mallory\", {}]\n\
             routers = [\"r\", \"s\"]\nduration = \"8 s\"\n\
             links = [{{ ends = [\"server\", \"r\"], rate = \"100 Mbit/s\", delay = \"1 ms\" }},\n\
             {{ ends = [\"idle\", \"r\"], rate = \"100 Mbit/s\", delay = \"1 ms\" }},\n\
             {{ ends = [\"r\", \"s\"], rate = \"20 Mbit/s\", delay = \"10 ms\", \
             queue = {{ limit = \"60 packets\" }} }},\n\
             {{ ends = [\"s\", \"client\"], rate = \"100 Mbit/s\", delay = \"2 ms\" }},\n\
             {{ ends = [\"s\", \"mallory\"], rate = \"100 Mbit/s\", delay = \"2 ms\" }}]\n",
            host("server", ours),
            host("client", sctp),
            // Of the other hosts all may be ours: what has no host of the machine's is no live run. What
            // the kernel's memory is told by runs here.
            host("idle", false),
        );
        if ours {
            let profile = if sctp { "" } else { "tcp = { profile = \"linux\" }\n" };
            text += &format!(
                "[[listen]]\nhost = \"server\"\nport = 80\nconnections = 2000\n\
                 protocol = \"{protocol}\"\n{profile}"
            );
        }
        let window = if sctp { "" } else { "tcp = { window = { algorithm = \"cubic\" } }\n" };
        let download = |name: &str, from: &str, port: String, size: &str, rest: &str| {
            format!(
                "[[flows]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"server\"\n{port}\
                 size = \"0 B\"\nreverse_size = \"{size}\"\n{rest}\nprotocol = \"{protocol}\"\n\
                 {window}"
            )
        };
        text += &download("long", "client", port(81), LONG_OCTETS, "start = \"2 s\"");
        // A kernel's sockets each have a port of their own: an entry for each.
        for i in 0..SHORTS {
            let start = format!("start = \"{} ms\"", 3500 + 400 * i);
            text += &download(&format!("short-{i}"), "client", port(80), SHORT_OCTETS, &start);
        }
        if against == Against::Peer {
            text += &download("greedy", "mallory", port(81), LONG_OCTETS, "start = \"2 s\"");
        }
        let target = match against {
            Against::Nothing => return text,
            Against::Port => format!("to = \"server\"\nport = {attacked}"),
            Against::Flow => "to = \"server\"\nflow = \"long\"".to_owned(),
            Against::Peer => "flow = \"greedy\"".to_owned(),
        };
        text + &format!(
            "[[attacks]]\nname = \"{name}\"\nkind = \"{kind}\"\nfrom = \"mallory\"\n\
             start = \"3 s\"\n{fields}\n{target}\n"
        )
    }

    /// What runs beside the kernel's sockets: what tells of memory, and a server where a port is
    /// attacked. A host with a program has no sockets but the program's.
    fn beside_the_kernel(
        programs: &str,
        protocol: &str,
        against: Against,
    ) -> Vec<(String, String)> {
        let watch = ("idle".to_owned(), format!("exec python3 {programs}/kernel_memory.py"));
        let server = format!("exec python3 {programs}/attack_server.py {protocol}");
        let server = (against == Against::Port).then(|| ("server".to_owned(), server));
        server.into_iter().chain([watch]).collect()
    }

    /// The server on usrsctp, compiled into the folder, with a port for each flow.
    fn usrsctp(programs: &str, folder: &Path) -> Result<String, String> {
        let program = folder.join("usrsctp_server");
        let done = Command::new("cc")
            .args(["-O2", "-o"])
            .arg(&program)
            .arg(format!("{programs}/usrsctp_server.c"))
            .args(["-lusrsctp", "-lpthread"])
            .output()
            .map_err(|e| format!("cc: {e} (Debian: gcc, libc6-dev, libusrsctp-dev)"))?;
        if !done.status.success() {
            return Err(String::from_utf8_lossy(&done.stderr).into_owned());
        }
        let (long, short) = (50_000_000, 20_000);
        let mut command = format!("exec {} {FIRST_PORT} {long}", program.display());
        for i in 1..=SHORTS {
            command += &format!(" {} {short}", FIRST_PORT + i);
        }
        // The attacker's own download.
        Ok(command + &format!(" {} {long}", FIRST_PORT + SHORTS + 1))
    }

    fn cells(result: &RunResult, memory: Option<u64>) -> String {
        let row = |name: &str| result.flows.iter().find(|flow| flow.flow == name);
        let goodput = |name: &str| {
            let flow = row(name)?;
            let wrong = if flow.wrong_octets > 0 && flow.bytes > 0 { ", wrong octets" } else { "" };
            let ended = flow.closed.map_or_else(String::new, |how| format!(", closed ({how})"));
            Some(format!("{:.1}{ended}{wrong}", flow.goodput_bps / 1e6))
        };
        let shorts = result.flows.iter().filter(|flow| flow.flow.starts_with("short"));
        let times: Vec<f64> =
            shorts.filter_map(|short| Some(short.finish_s? - short.start_s)).collect();
        let mean = match times.len() {
            0 => "none".to_owned(),
            n => format!("{:.2}", times.iter().sum::<f64>() / n as f64),
        };
        format!(
            " {} | {} | {mean} | {} | {} |",
            goodput("long").unwrap_or_default(),
            times.len(),
            goodput("greedy").unwrap_or_default(),
            memory.map_or_else(String::new, |kilobytes| kilobytes.to_string()),
        )
    }
}
