//! What the commands of a script ask for. Nothing is executed: the commands
//! that the public suites use are understood as settings.
//!
//! | command | becomes |
//! |---|---|
//! | `sysctl [-q] [-w] [-e] [-i] NAME=VALUE` | `NAME`, `VALUE` |
//! | `set_sysctls.py /proc/sys/A/B=VALUE ...` | `A.B`, `VALUE` |
//! | `echo VALUE > /proc/sys/A/B` (or `/sys/module/...`) | `A.B`, `VALUE` |
//! | `defaults.sh` | each of [`DEFAULTS`] |
//! | `tc qdisc add dev X root pfifo limit 0` | `link`, `down` |
//! | `tc qdisc ... fq` | `qdisc`, `fq` |
//! | `ip route change ... advmss N mtu [lock] N initcwnd N` | `route.advmss`... |
//! | `test $(nstat ... .kernel.NAME) -eq N` | `counter.NAME`, `N` |
//! | `sockstat ... \| grep -c STATE \| grep N` | `counter.sockets.all.STATE`, `N` |
//! | `tcpdrop -s STATE` | `tcpdrop`, `STATE` |
//! | `ip mptcp ...`, `client.sh`, `server.sh`, `multi-ep.sh` | `mptcp`, the words |
//! | `sysctl_restore_*.sh`, `ethtool`, `nstat`, `test`, `sleep`, `true` | nothing |

/// Prefix of the name of a counter that a command compares with a number.
pub const COUNTER: &str = "counter.";

/// A setting: its name and value.
pub type Setting = (String, String);

/// What the `defaults.sh` of the suites sets, by the documentation that comes
/// with them.
pub const DEFAULTS: [(&str, &str); 23] = [
    ("net.ipv4.tcp_rmem", "4096 540000 15728640"),
    ("net.ipv4.tcp_wmem", "4096 262144 4194304"),
    ("net.ipv4.tcp_timestamps", "1"),
    ("net.ipv4.tcp_syn_retries", "5"),
    ("net.ipv4.tcp_synack_retries", "5"),
    ("net.ipv4.tcp_frto", "2"),
    ("net.ipv4.tcp_sack", "1"),
    ("net.ipv4.tcp_dsack", "1"),
    ("net.ipv4.tcp_reordering", "3"),
    ("net.ipv4.tcp_congestion_control", "cubic"),
    ("net.ipv4.tcp_slow_start_after_idle", "0"),
    ("net.ipv4.tcp_early_retrans", "4"),
    ("net.ipv4.tcp_recovery", "1"),
    ("net.ipv4.tcp_tso_win_divisor", "3"),
    ("net.ipv4.tcp_ecn", "0"),
    ("net.ipv4.tcp_pacing_ss_ratio", "200"),
    ("net.ipv4.tcp_pacing_ca_ratio", "120"),
    ("net.ipv4.tcp_notsent_lowat", "4294967295"),
    ("net.ipv4.tcp_fastopen", "0x70403"),
    ("net.ipv4.tcp_fastopen_key", "a1a1a1a1-b2b2b2b2-c3c3c3c3-d4d4d4d4"),
    ("net.ipv4.tcp_syncookies", "1"),
    ("net.ipv4.tcp_mtu_probing", "0"),
    ("net.ipv4.tcp_no_metrics_save", "1"),
];

/// The settings that `text` makes, in order.
///
/// # Errors
/// The first command that is not understood.
pub fn settings(text: &str) -> Result<Vec<Setting>, String> {
    let text = text.replace("\\\n", " ");
    let mut settings = Vec::new();
    for line in text.lines() {
        let line = line.split(" #").next().unwrap_or_default();
        for command in line.split([';', '&']).map(str::trim).filter(|command| !command.is_empty()) {
            understand(command, &mut settings)?;
        }
    }
    Ok(settings)
}

fn understand(command: &str, settings: &mut Vec<Setting>) -> Result<(), String> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let Some((first, rest)) = words.split_first() else { return Ok(()) };
    let program = first.rsplit('/').next().unwrap_or(first);
    match program {
        "defaults.sh" => {
            settings.extend(DEFAULTS.map(|(name, value)| (name.to_owned(), value.to_owned())));
        }
        "sysctl" => {
            // Values may have spaces: `name="1 2 3"`.
            let start = rest.iter().position(|word| !word.starts_with('-'));
            let text = start.map_or(String::new(), |start| rest[start..].join(" "));
            settings.extend(assignment(&text));
        }
        "set_sysctls.py" => settings.extend(rest.iter().filter_map(|word| assignment(word))),
        "echo" => {
            if let Some((value, file)) = command.split_once('>') {
                let value = value.trim().trim_start_matches("echo").trim();
                settings.push((dotted(file.trim()), value.trim_matches('"').to_owned()));
            }
        }
        "tc" => traffic_control(rest, settings),
        "ip" if rest.contains(&"mptcp") => settings.push(("mptcp".into(), rest.join(" "))),
        "ip" => route(rest, settings),
        "client.sh" | "server.sh" | "multi-ep.sh" => {
            settings.push(("mptcp".into(), words.join(" ")));
        }
        "test" | "[" if command.contains("nstat") => settings.extend(counter(command)),
        "sockstat" => settings.extend(socket_states(command)),
        "tcpdrop" => {
            let state = rest.iter().skip_while(|word| **word != "-s").nth(1);
            settings.extend(state.map(|state| ("tcpdrop".to_owned(), (*state).to_owned())));
        }
        "ethtool" | "nstat" | "test" | "sleep" | "true" | "[" | "rm" | "ifconfig" | "grep" => {}
        _ if program.starts_with("sysctl_restore") => {}
        _ => return Err(command.to_owned()),
    }
    Ok(())
}

/// `test $(nstat -zjs | jq '.kernel.NAME') -eq N`: the counter, and what it must
/// be.
fn counter(command: &str) -> Option<Setting> {
    let (_, rest) = command.split_once(".kernel.")?;
    let name: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric()).collect();
    let (_, value) = rest.rsplit_once(" -eq ")?;
    Some((format!("{COUNTER}{name}"), value.trim_end_matches(']').trim().to_owned()))
}

/// `sockstat ... | grep -c STATE | grep N`: how many connections are in the state; where the lines
/// are searched for the tool's own name, those of sockets alone.
fn socket_states(command: &str) -> Option<Setting> {
    let mut commands = command.split('|').map(str::trim);
    let state = commands.find_map(|command| command.strip_prefix("grep -c "))?;
    let count = commands.next()?.strip_prefix("grep ")?;
    let whose = if command.contains("grep packetdril") { "own" } else { "all" };
    Some((format!("{COUNTER}sockets.{whose}.{}", state.trim()), count.trim().to_owned()))
}

fn assignment(text: &str) -> Option<Setting> {
    let (name, value) = text.split_once('=')?;
    let value = value.trim().trim_matches(['"', '\'']);
    Some((dotted(name.trim()), value.to_owned()))
}

/// The name of a sysctl with dots, of a path under `/proc/sys`.
fn dotted(name: &str) -> String {
    let name = name.trim_start_matches("/proc/sys/").trim_start_matches('/');
    name.replace('/', ".")
}

fn traffic_control(words: &[&str], settings: &mut Vec<Setting>) {
    let text = words.join(" ");
    if text.contains("limit 0") {
        settings.push(("link".into(), "down".into()));
    } else if words.contains(&"del") || words.contains(&"delete") || words.contains(&"pfifo") {
        settings.push(("link".into(), "up".into()));
    } else if words.contains(&"fq") {
        settings.push(("qdisc".into(), "fq".into()));
    }
}

fn route(words: &[&str], settings: &mut Vec<Setting>) {
    let mut words = words.iter().filter(|word| **word != "lock");
    while let Some(word) = words.next() {
        if matches!(*word, "advmss" | "mtu" | "initcwnd" | "initrwnd" | "rto_min" | "quickack")
            && let Some(value) = words.next()
        {
            settings.push((format!("route.{word}"), (*value).to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, String)> {
        settings(text).unwrap_or_else(|command| panic!("{command}"))
    }

    fn pair(name: &str, value: &str) -> Setting {
        (name.into(), value.into())
    }

    #[test]
    fn sysctls_are_settings_however_they_are_written() {
        let expected = [pair("net.ipv4.tcp_ecn", "1")];
        for text in [
            "sysctl -q net.ipv4.tcp_ecn=1  # fully enabled",
            "sysctl -e -q net/ipv4/tcp_ecn=1",
            "../common/set_sysctls.py /proc/sys/net/ipv4/tcp_ecn=1",
            "echo 1 > /proc/sys/net/ipv4/tcp_ecn",
            "sysctl -w net.ipv4.tcp_ecn=\"1\"",
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
        let two =
            read("set_sysctls.py /proc/sys/a=1 \\\n  /proc/sys/b=2\n/tmp/sysctl_restore_7.sh");
        assert_eq!(two, [pair("a", "1"), pair("b", "2")]);
        assert_eq!(
            read("sysctl net.ipv4.tcp_rmem=\"1 2 3\""),
            [pair("net.ipv4.tcp_rmem", "1 2 3")]
        );
    }

    #[test]
    fn defaults_queues_and_routes() {
        assert_eq!(read("../common/defaults.sh").len(), DEFAULTS.len());
        let down = read(
            "tc qdisc delete dev tun0 root 2>/dev/null ; tc qdisc add dev tun0 root pfifo limit 0",
        );
        assert_eq!(down.last(), Some(&pair("link", "down")));
        let route =
            read("ip route change 192.0.2.1 via 192.168.0.2 dev tun0 advmss 600 mtu lock 640");
        assert_eq!(route, [pair("route.advmss", "600"), pair("route.mtu", "640")]);
        assert_eq!(read("nstat | grep X > /dev/null"), []);
    }

    #[test]
    fn states_of_sockets_are_counted_and_dropped() {
        let all = read("sockstat -4 -P tcp -p 8080 -s | grep -c SYN_RCVD | grep 2");
        assert_eq!(all, [pair("counter.sockets.all.SYN_RCVD", "2")]);
        let own = read("sockstat -6 -P tcp -s | grep packetdril | grep -c CLOSED | grep 1");
        assert_eq!(own, [pair("counter.sockets.own.CLOSED", "1")]);
        assert_eq!(read("tcpdrop -s TIME_WAIT"), [pair("tcpdrop", "TIME_WAIT")]);
    }

    #[test]
    fn what_is_not_understood_is_said() {
        assert_eq!(settings("sysctl a=1\nreboot now"), Err("reboot now".into()));
    }
}
