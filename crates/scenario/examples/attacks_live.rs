//! The attacks on real packets: at our stack and at the kernel's, whose sockets or a
//! server's program stand behind a TUN device. Writes the last section of
//! docs/reliability-attacks.md to standard output; needs Linux and root.
//!
//!     cargo run --release -p anabranch-scenario --example attacks_live -- \
//!         tests/data/attack_server.py [ATTACK]

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    let server = std::env::args().nth(1).unwrap_or_else(|| "tests/data/attack_server.py".into());
    match on_linux::page(&server) {
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
of 8 short ones were whole. What a flood of connections leaves of the kernel's long download is the program's doing, which
has a thread for each.

| attack | rate | ours: long, Mbit/s | short | s each | attacker | kernel: long, Mbit/s | short | s each | attacker |
|---|---|---|---|---|---|---|---|---|---|
";

    /// Who is attacked.
    #[derive(Clone, Copy, PartialEq)]
    enum Victim {
        Ours,
        Kernel,
    }

    /// What is tried: name, kind, what it is against and further fields.
    const ATTACKS: [(&str, &str, Against, &str); 17] = [
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

    pub fn page(server: &str) -> Result<String, String> {
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let mut page = HEAD.replace("{release}", release.trim());
        let only = std::env::args().nth(2);
        let chosen = |name: &str| only.as_deref().is_none_or(|it| name.contains(it));
        for attack in ATTACKS.into_iter().filter(|it| chosen(it.0)) {
            let (name, _, _, fields) = attack;
            let rate = fields.lines().find_map(|line| line.strip_prefix("per_second = "));
            page += &format!("| {name} | {} |", rate.unwrap_or_default());
            for victim in [Victim::Ours, Victim::Kernel] {
                page += &cells(&play(attack, victim, server)?);
            }
            page.push('\n');
        }
        Ok(page)
    }

    fn play(
        (name, kind, against, fields): (&str, &str, Against, &str),
        victim: Victim,
        server: &str,
    ) -> Result<RunResult, String> {
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
            text += "[[listen]]\nhost = \"server\"\nport = 80\nconnections = 2000\n\
                     tcp = { profile = \"linux\" }\n";
        }
        let download = |name: &str, from: &str, port: String, size: &str, rest: &str| {
            format!(
                "[[flows]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"server\"\n{port}\
                 size = \"0 B\"\nreverse_size = \"{size}\"\n{rest}\n\
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
        let programs = match by_program {
            true => vec![("server".to_owned(), format!("exec python3 {server}"))],
            false => Vec::new(),
        };
        let logs = std::env::temp_dir();
        let options = LiveOptions { programs, logs, ..LiveOptions::default() };
        let result = live(&scenario, &options, |_| {}).map_err(|e| format!("{name}: {e}"))?;
        Ok(result.result)
    }

    fn cells(result: &RunResult) -> String {
        let row = |name: &str| result.flows.iter().find(|it| it.flow == name);
        let goodput = |name: &str| {
            let flow = row(name)?;
            let wrong = if flow.wrong_octets > 0 && flow.bytes > 0 { ", wrong octets" } else { "" };
            let ended = flow.closed.map_or_else(String::new, |how| format!(", closed ({how})"));
            Some(format!("{:.1}{ended}{wrong}", flow.goodput_bps / 1e6))
        };
        let shorts = result.flows.iter().filter(|it| it.flow.starts_with("short"));
        let times: Vec<f64> = shorts.filter_map(|it| Some(it.finish_s? - it.start_s)).collect();
        let mean = match times.len() {
            0 => "none".to_owned(),
            n => format!("{:.2}", times.iter().sum::<f64>() / n as f64),
        };
        format!(
            " {} | {} | {mean} | {} |",
            goodput("long").unwrap_or_default(),
            times.len(),
            goodput("greedy").unwrap_or_default()
        )
    }
}
