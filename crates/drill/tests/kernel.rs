//! Scripts against the kernel of this machine. They need what live runs need.
#![cfg(target_os = "linux")]

use anabranch_drill::{KernelStack, kernel};
use anabranch_packetdrill::report::{Report, Verdict};
use anabranch_packetdrill::runner::Drill;
use anabranch_packetdrill::stack::{Configured, IpVersion, LOCAL, Network, Stack};
use anabranch_packetdrill::{Profile, Settings};
use anabranch_testkit::needs;
use anabranch_units::Time;
use anabranch_wire::{Addr, Body, Packet, Payload};

fn can() -> bool {
    needs::live(KernelStack::probe())
}

fn run_over(version: IpVersion, text: &str) -> Report {
    let mut drill = Drill::new(Profile::Linux);
    drill.against = kernel().unwrap();
    drill.settings = Settings { trace: true, ..Settings::default() };
    drill.settings.network = Network::over(version);
    drill.text("script", text)
}

fn run(text: &str) -> Report {
    run_over(IpVersion::V4, text)
}

/// In real time another program may be in the way.
const ATTEMPTS: usize = 3;

fn passes(text: &str) {
    let mut report = run(text);
    for _ in 1..ATTEMPTS {
        if !report.passed() {
            report = run(text);
        }
    }
    assert!(report.passed(), "{report}");
}

/// What is wrong with the script, by its report.
fn fails(text: &str) -> String {
    let report = run(text);
    assert!(matches!(report.verdict, Verdict::Failed(_)), "{report}");
    report.to_string()
}

const ACCEPTED: &str = "
     0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
    +0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0
    +0 bind(3, ..., ...) = 0
    +0 listen(3, 1) = 0
    +0 < S 0:0(0) win 32792 <mss 1000,nop,nop,sackOK,nop,wscale 7>
    +0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK,nop,wscale 7>
   +.1 < . 1:1(0) ack 1 win 257
    +0 accept(3, ..., ...) = 4
";

fn accepted(rest: &str) -> String {
    ACCEPTED.to_owned() + rest
}

#[test]
fn a_transfer_is_the_kernels() {
    if !can() {
        return;
    }
    passes(&accepted(
        "
    +0 write(4, ..., 1000) = 1000
    +0 > P. 1:1001(1000) ack 1
   +.1 < . 1:1(0) ack 1001 win 257
    +0 %{ assert tcpi_state == TCP_ESTABLISHED
assert tcpi_snd_cwnd == 10
assert tcpi_delivered == 2
assert tcpi_snd_wscale == 7 }%
   +.1 < P. 1:501(500) ack 1001 win 257
    +0 > . 1001:1001(0) ack 501
    +0 ioctl(4, SIOCINQ, [500]) = 0
    +0 read(4, ..., 2000) = 500
    +0 close(4) = 0
    +0 > F. 1001:1001(0) ack 501
",
    ));
}

#[test]
fn what_differs_is_said() {
    if !can() {
        return;
    }
    let said = fails(&accepted("+0 write(4, ..., 1000) = 1000\n+0 > P. 1:1001(1000) ack 2"));
    assert!(said.contains("the acknowledgment is 1, not 2"), "{said}");
    let said = fails(&accepted("+0 write(4, ..., 9) = 9\n+.1 > P. 1:10(9) ack 1"));
    assert!(said.contains("the packet left at"), "{said}");
    let said = fails(&accepted("+0 write(9, ..., 9) = 9"));
    assert!(said.contains("-1 EBADF"), "{said}");
}

/// The timer runs in real time, and its packet is awaited.
#[test]
fn a_tail_loss_probe_leaves_when_the_kernel_sends_it() {
    if !can() {
        return;
    }
    passes(&accepted(
        "
    +0 write(4, ..., 1000) = 1000
    +0 > P. 1:1001(1000) ack 1
 +.19~+.33 > P. 1:1001(1000) ack 1
",
    ));
}

#[test]
fn calls_that_block_return_when_the_script_lets_them() {
    if !can() {
        return;
    }
    passes(
        "
      0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
     +0 bind(3, ..., ...) = 0
     +0 listen(3, 1) = 0
+0...0.2 accept(3, ..., ...) = 4
    +.1 < S 0:0(0) win 32792 <mss 1000>
     +0 > S. 0:0(0) ack 1 <mss 1460>
    +.1 < . 1:1(0) ack 1 win 257
+.1...0.2 read(4, ..., 100) = 100
    +.1 < P. 1:101(100) ack 1 win 257
     +0 > . 1:1(0) ack 101
",
    );
}

/// The thread that waits ends with the script.
#[test]
fn a_call_that_never_returns_holds_nobody() {
    if !can() {
        return;
    }
    let said = fails(&accepted(
        "
+0...0.1 read(4, ..., 100) = 100
+.2 write(4, ..., 10) = 10
",
    ));
    assert!(said.contains("read()") || said.contains("does not return"), "{said}");
}

#[test]
fn sysctls_are_those_of_the_namespace_alone() {
    if !can() {
        return;
    }
    let file = "/proc/sys/net/ipv4/tcp_timestamps";
    let before = std::fs::read_to_string(file).unwrap();
    passes(
        "
`sysctl -q net.ipv4.tcp_timestamps=0; sysctl -q net.ipv4.tcp_ecn=1`
 0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0
+0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)
+0 > SEW 0:0(0) <mss 1460,nop,nop,sackOK,nop,wscale 7>
",
    );
    assert_eq!(std::fs::read_to_string(file).unwrap(), before);
    let report = run("`echo 1 > /proc/sys/kernel/pid_max`\n0 socket(..., SOCK_STREAM, 6) = 3");
    assert!(matches!(report.verdict, Verdict::NotApplicable(_)), "{report}");
}

#[test]
fn scripts_run_over_ipv6_and_over_mapped_addresses() {
    if !can() {
        return;
    }
    for version in [IpVersion::V6, IpVersion::Mapped] {
        let text = accepted("+0 write(4, ..., 9) = 9\n+0 > P. 1:10(9) ack 1");
        let report = run_over(version, &text);
        assert!(report.passed(), "{version:?}: {report}");
        let ip = report.addresses.ip(report.trace[0].packet.src).unwrap();
        assert_eq!(ip.is_ipv6(), version == IpVersion::V6);
    }
}

#[test]
fn an_icmp_error_reaches_the_socket() {
    if !can() {
        return;
    }
    passes(
        "
 0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0
+0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)
+0 > S 0:0(0) <mss 1460,sackOK,TS val 100 ecr 0,nop,wscale 7>
+.1 < icmp unreachable host_unreachable [0:0(0)]
+0 getsockopt(3, SOL_SOCKET, SO_ERROR, [EHOSTUNREACH], [4]) = 0
",
    );
}

#[test]
fn pipes_and_files_of_zeros_are_sent() {
    if !can() {
        return;
    }
    passes(&accepted(
        "
+0 open(\"zeros\", O_RDONLY) = 5
+0 sendfile(4, 5, [0], 500) = 500
+0 > P. 1:501(500) ack 1
+.1 < . 1:1(0) ack 501 win 257
+0 pipe([6, 7]) = 0
+0 write(7, ..., 300) = 300
+0 splice(6, NULL, 4, NULL, 300, 0) = 300
+0 > P. 501:801(300) ack 1
+0 epoll_create(1) = 8
+0 epoll_ctl(8, EPOLL_CTL_ADD, 4, {events=EPOLLIN|EPOLLOUT, fd=4}) = 0
+0 epoll_wait(8, {events=EPOLLOUT, fd=4}, 1, 0) = 1
+0 poll([{fd=4, events=POLLIN|POLLOUT, revents=POLLOUT}], 1, 0) = 1
",
    ));
}

const CONNECTS: &str = "
 0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0
+0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)
";

#[test]
fn metrics_of_the_route_are_the_namespaces() {
    if !can() {
        return;
    }
    let route = "`ip route change 192.0.2.1 via 192.168.0.2 dev tun0 advmss 600`";
    passes(&format!(
        "{route}{CONNECTS}+0 > S 0:0(0) <mss 600,sackOK,TS val 100 ecr 0,nop,wscale 7>"
    ));
}

/// What the kernel could not send, its timer sends.
#[test]
fn a_queue_without_room_takes_nothing() {
    if !can() {
        return;
    }
    passes(&accepted(
        "
    +0 `tc qdisc add dev tun0 root pfifo limit 0`
    +0 write(4, ..., 100) = 100
   +.2 %{ assert tcpi_unacked == 0 }%
    +0 `tc qdisc del dev tun0 root`
 +.01~+.5 > P. 1:101(100) ack 1
",
    ));
}

#[test]
fn counters_are_the_namespaces() {
    if !can() {
        return;
    }
    let counted = |n: u32| {
        let test = format!("+0 `test $(nstat -zjs | jq '.kernel.TcpActiveOpens') -eq {n}`");
        format!("{CONNECTS}+0 > S 0:0(0) <mss 1460,sackOK,TS val 100 ecr 0,nop,wscale 7>\n{test}")
    };
    passes(&counted(1));
    let said = fails(&counted(2));
    assert!(said.contains("the counter TcpActiveOpens differs"), "{said}");
}

/// An endpoint of the path manager is announced once the connection is multipath.
#[test]
fn an_address_of_the_path_manager_is_announced() {
    if !can() {
        return;
    }
    passes(
        "
`ip mptcp limits set add_addr_accepted 0 subflows 8; ip mptcp endpoint add 198.51.100.2 id 1 signal`
     0 socket(..., SOCK_STREAM, IPPROTO_MPTCP) = 3
    +0 bind(3, ..., ...) = 0
    +0 listen(3, 1) = 0
    +0 < S 0:0(0) win 32792 <mss 1000,sackOK,nop,wscale 7,mpcapable v1 flags[flag_h] nokey>
    +0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK,nop,wscale 7,mpcapable v1 flags[flag_h] key[skey]>
  +.01 < . 1:1(0) ack 1 win 257 <mpcapable v1 flags[flag_h] key[ckey=7, skey]>
    +0 accept(3, ..., ...) = 4
  +.01 < P. 1:51(50) ack 1 win 257 <nop,nop,dss dack8=1 dsn8=1 ssn=1 dll=50 nocs>
    *  > . 1:1(0) ack 1 <add_address address_id=1 addr[saddr1=inet_addr(\"198.51.100.2\")] hmac=auto>
",
    );
}

#[test]
fn a_packet_without_octets_is_refused_by_its_reason() {
    if !can() {
        return;
    }
    let mut stack = KernelStack::new();
    assert_eq!(stack.set_up(&Network::default()), Configured::Done);
    let nobody = Addr(7777);
    let body = Body::Other { protocol: 17, payload: Payload::virtual_of(8) };
    stack.handle_input(Time::ZERO, &Packet::new(nobody, LOCAL, body));
    assert!(stack.refusal().is_some_and(|reason| reason.contains("does not take the packet")));
    assert_eq!(stack.refusal(), None);
}
