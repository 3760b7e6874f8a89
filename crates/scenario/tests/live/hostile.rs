//! Attacks on a kernel's stack, and strangers at a port of ours.

use crate::support::machine;
use anabranch_scenario::Scenario;
use anabranch_scenario::live::{LiveOptions, live};

/// RFC 5461 §4.1: an error about an established connection is soft. The kernel tells the
/// socket's user of it, and the transfer goes on.
#[test]
fn forged_errors_do_not_end_a_kernels_connection() {
    if !machine() {
        return;
    }
    let text = r#"
        hosts = ["client", { name = "server", external = true }, "mallory"]
        routers = ["r"]
        duration = "1500 ms"
        links = [
            { ends = ["client", "r"], rate = "50 Mbit/s", delay = "1 ms" },
            { ends = ["mallory", "r"], rate = "50 Mbit/s", delay = "1 ms" },
            { ends = ["server", "r"], rate = "50 Mbit/s", delay = "1 ms" },
        ]
        [[flows]]
        name = "f"
        from = "client"
        to = "server"
        size = "0 B"
        reverse_size = "50 MB"
        [[attacks]]
        name = "icmp"
        kind = "icmp-unreachable"
        from = "mallory"
        to = "server"
        flow = "f"
        aim = "exact"
        per_second = 1000
        start = "200 ms"
        duration = "200 ms"
    "#;
    let scenario = Scenario::from_toml(text, "t").unwrap();
    let result = live(&scenario, &LiveOptions::default(), |_| {}).unwrap().result;
    assert!(result.attacks[0].result.packets > 100);
    let flow = &result.flows[0];
    assert_eq!((flow.closed, flow.wrong_octets), (None, 0));
    assert!(flow.reverse_bytes > 5_000_000, "{flow:?}");
}

/// A program's connection that no flow names is accepted by our stack, which reads and
/// answers it.
#[test]
fn a_programs_connection_is_accepted() {
    if !machine() {
        return;
    }
    let text = r#"
        hosts = [{ name = "client", external = true }, "server"]
        duration = "1500 ms"
        links = [{ ends = ["client", "server"], rate = "10 Mbit/s", delay = "1 ms" }]
        [[listen]]
        host = "server"
        port = 80
        respond = "20 kB"
    "#;
    let folder = std::env::temp_dir().join(format!("listen-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let read = "exec 3<>/dev/tcp/{server}/80; echo hello >&3; wc -c <&3";
    let command = format!("bash -c '{read}'");
    let programs = vec![("client".to_owned(), command)];
    let options = LiveOptions { programs, logs: folder.clone(), ..LiveOptions::default() };
    let scenario = Scenario::from_toml(text, "t").unwrap();
    let result = live(&scenario, &options, |_| {}).unwrap().result;
    let said = std::fs::read_to_string(folder.join("client.log")).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    assert_eq!(said.trim(), "20000");
    let port = &result.listeners[0].result;
    assert_eq!((port.accepted, port.bytes), (1, 6));
}

/// RFC 6191 §2: our side closes first and is in TIME-WAIT; the same addresses and ports may
/// connect again, and the one that waits takes no place among those that there may be. The port counts
/// those that were in TIME-WAIT until another came; a client that leaves other ports meets none.
#[test]
fn a_connection_in_time_wait_gives_way() {
    if !machine() {
        return;
    }
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        return eprintln!("skipped: there is no python3");
    }
    let text = r#"
        hosts = [{ name = "client", external = true }, "server"]
        duration = "4 s"
        links = [{ ends = ["client", "server"], rate = "10 Mbit/s", delay = "1 ms" }]
        [[listen]]
        host = "server"
        port = 80
        respond = "2 kB"
        connections = 1
    "#;
    let folder = std::env::temp_dir().join(format!("time-wait-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let program = r#"
import socket, time
for port in (5555, 5555, 5555, 5556):
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(("", port))
        s.connect(("{server}", 80))
        total = 0
        while piece := s.recv(4096):
            total += len(piece)
        print(total, flush=True)
    time.sleep(0.1)
"#;
    let command = format!("exec python3 -c '{program}'");
    let programs = vec![("client".to_owned(), command)];
    let options = LiveOptions { programs, logs: folder.clone(), ..LiveOptions::default() };
    let scenario = Scenario::from_toml(text, "t").unwrap();
    let result = live(&scenario, &options, |_| {}).unwrap().result;
    let said = std::fs::read_to_string(folder.join("client.log")).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    assert_eq!(said.lines().collect::<Vec<_>>(), ["2000"; 4], "{said}");
    let port = &result.listeners[0].result;
    assert_eq!((port.accepted, port.gave_way), (4, 2));
}

/// What the application of an accepted connection writes goes on after its first piece, which it
/// writes when the port hands the connection over.
#[test]
fn a_kernel_downloads_from_a_port_of_ours_piece_by_piece() {
    if !machine() {
        return;
    }
    let has_mptcp = std::fs::read_to_string("/proc/sys/net/mptcp/enabled");
    if !has_mptcp.is_ok_and(|text| text.trim() == "1") {
        return eprintln!("skipped: this kernel has no Multipath TCP");
    }
    let text = r#"
        hosts = ["server", { name = "client", external = true }]
        duration = "2 s"
        links = [{ ends = ["server", "client"], rate = "20 Mbit/s", delay = "5 ms", queue = { limit = "60 packets" } }]
        [[listen]]
        host = "server"
        port = 80
        protocol = "mptcp"
        [[flows]]
        name = "f"
        from = "client"
        to = "server"
        port = 80
        size = "0 B"
        reverse_size = "50 MB"
        protocol = "mptcp"
    "#;
    let scenario = Scenario::from_toml(text, "t").unwrap();
    let result = live(&scenario, &LiveOptions::default(), |_| {}).unwrap().result;
    let flow = &result.flows[0];
    assert!(flow.reverse_bytes > 1_000_000 && flow.wrong_octets == 0, "{flow:?}");
}
