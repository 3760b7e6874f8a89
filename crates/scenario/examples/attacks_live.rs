//! The attacks on real packets: at our stack and at the kernel's, whose sockets or a
//! server's program stand behind a TUN device. Writes the last section of
//! docs/reliability-attacks.md to standard output; needs Linux and root.
//!
//!     cargo run --release -p anabranch-scenario --example attacks_live -- tests/data [ATTACK]
//!
//! The folder has the programs of the kernel's side. Attacks are named by transport and name, as in
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

    const HEAD: &str = "
## On real packets

    make live-attacks

The same network for 8 s of real time; the client is a kernel's, the attacker sends raw packets through the emulated
network. *Ours*: our stack with the profile `linux` as the server, which
listens to strangers. *Kernel*: Linux {release}, with its defaults: sockets of
the flows, and for the floods a program that listens with a backlog of 128. Goodput of the long download, and how many
of 8 short ones were whole. *Memory*: of ours, the most that the port and the connections of strangers took; of the
kernel, the most that the sockets of the whole machine, the clients' too, took beyond what they did at the
start: buffers, sockets, half-open connections and those in TIME-WAIT. What a flood of connections leaves of the kernel's long download is the program's doing, which
has a thread for each.
";

    /// Who is attacked.
    #[derive(Clone, Copy, PartialEq)]
    enum Victim {
        Ours,
        Kernel,
    }

    const TABLE: &str = "
| attack | rate | ours: long, Mbit/s | short | s each | attacker | memory, kB | kernel: long, Mbit/s | short | s each | attacker | memory, kB |
|---|---|---|---|---|---|---|---|---|---|---|---|
";

    /// Name, kind, what it is against and further fields.
    type Attack = (&'static str, &'static str, Against, &'static str);

    /// What is tried over Multipath TCP, on a path of one subflow.
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

    /// What is tried over TCP.
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
        let mut page = HEAD.replace("{release}", release.trim());
        let only = std::env::args().nth(2);
        let chosen = |name: &str| only.as_deref().is_none_or(|only| name.contains(only));
        let all: [(&str, &str, &[Attack]); 2] =
            [("tcp", "TCP", &OVER_TCP), ("mptcp", "Multipath TCP", &OVER_MPTCP)];
        for (protocol, title, attacks) in all {
            page += &format!("\n### {title}\n{TABLE}");
            let attacks = attacks.iter();
            for attack in attacks.filter(|attack| chosen(&format!("{protocol}/{}", attack.0))) {
                let (name, _, _, fields) = attack;
                let rate = fields.lines().find_map(|line| line.strip_prefix("per_second = "));
                page += &format!("| {name} | {} |", rate.unwrap_or_default());
                for victim in [Victim::Ours, Victim::Kernel] {
                    page += &play(*attack, protocol, victim, programs)?;
                }
                page.push('\n');
            }
        }
        Ok(page)
    }

    /// The cells of an attack on one of the two.
    fn play(
        (name, kind, against, fields): Attack,
        protocol: &str,
        victim: Victim,
        programs: &str,
    ) -> Result<String, String> {
        let by_program = victim == Victim::Kernel && against == Against::Port;
        let ours = victim == Victim::Ours;
        let host = match victim {
            Victim::Ours => "\"server\"",
            Victim::Kernel => "{ name = \"server\", external = true }",
        };
        let port = |port: u16| match (ours, by_program) {
            (true, _) => "port = 80\n".to_owned(),
            (_, true) => format!("port = {port}\n"),
            _ => String::new(),
        };
        let mut text = format!(
            "hosts = [{host}, {{ name = \"client\", external = true }}, \"mallory\"]\n\
             routers = [\"r\", \"s\"]\nduration = \"8 s\"\n\
             links = [{{ ends = [\"server\", \"r\"], rate = \"100 Mbit/s\", delay = \"1 ms\" }},\n\
             {{ ends = [\"r\", \"s\"], rate = \"20 Mbit/s\", delay = \"10 ms\", \
             queue = {{ limit = \"60 packets\" }} }},\n\
             {{ ends = [\"s\", \"client\"], rate = \"100 Mbit/s\", delay = \"2 ms\" }},\n\
             {{ ends = [\"s\", \"mallory\"], rate = \"100 Mbit/s\", delay = \"2 ms\" }}]\n"
        );
        if ours {
            text += &format!(
                "[[listen]]\nhost = \"server\"\nport = 80\nconnections = 2000\n\
                 protocol = \"{protocol}\"\ntcp = {{ profile = \"linux\" }}\n"
            );
        }
        let download = |name: &str, from: &str, port: String, size: &str, rest: &str| {
            format!(
                "[[flows]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"server\"\n{port}\
                 size = \"0 B\"\nreverse_size = \"{size}\"\n{rest}\nprotocol = \"{protocol}\"\n\
                 tcp = {{ window = {{ algorithm = \"cubic\" }} }}\n"
            )
        };
        text += &download("long", "client", port(81), "50 MB", "start = \"2 s\"");
        // A kernel's sockets each have a port of their own: an entry for each.
        for i in 0..8 {
            let start = format!("start = \"{} ms\"", 3500 + 400 * i);
            text += &download(&format!("short-{i}"), "client", port(80), "20 kB", &start);
        }
        if against == Against::Peer {
            text += &download("greedy", "mallory", port(81), "50 MB", "start = \"2 s\"");
        }
        text += &match against {
            Against::Nothing => String::new(),
            _ => format!(
                "[[attacks]]\nname = \"{name}\"\nkind = \"{kind}\"\nfrom = \"mallory\"\n\
                 start = \"3 s\"\n{fields}\n{}\n",
                match against {
                    Against::Port => "to = \"server\"\nport = 80",
                    Against::Flow => "to = \"server\"\nflow = \"long\"",
                    _ => "flow = \"greedy\"",
                }
            ),
        };
        let scenario = Scenario::from_toml(&text, name).map_err(|e| format!("{e}\n{text}"))?;
        let watch = format!("python3 {programs}/kernel_memory.py");
        let program = match (ours, by_program) {
            (true, _) => None,
            (_, true) => {
                Some(format!("{watch} & exec python3 {programs}/attack_server.py {protocol}"))
            }
            (_, false) => Some(format!("exec {watch}")),
        };
        let programs = program.into_iter().map(|program| ("server".to_owned(), program)).collect();
        let logs = std::env::temp_dir().join(format!("attacks-live-{}", std::process::id()));
        std::fs::create_dir_all(&logs).map_err(|e| format!("{}: {e}", logs.display()))?;
        let options = LiveOptions { programs, logs: logs.clone(), ..LiveOptions::default() };
        let result = live(&scenario, &options, |_| {}).map_err(|e| format!("{name}: {e}"));
        let said = std::fs::read_to_string(logs.join("server.log")).unwrap_or_default();
        std::fs::remove_dir_all(&logs).map_err(|e| format!("{}: {e}", logs.display()))?;
        let result = result?.result;
        let memory = match ours {
            true => result.listeners.first().map(|port| port.result.peak_memory / 1000),
            false => {
                said.lines().filter_map(|line| line.strip_prefix("kernel kB ")?.parse().ok()).max()
            }
        };
        Ok(cells(&result, memory))
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
