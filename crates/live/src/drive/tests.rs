use super::*;
use crate::sys::netlink::Netlink;
use crate::{HostSettings, InterfaceSettings, KernelSocket, Program, Stdio};
use anabranch_sim::{LinkConfig, SimulationBuilder};
use anabranch_units::Rate;

fn machine() -> bool {
    anabranch_testkit::needs::live(ExternalHost::probe())
}

/// Two hosts outside, without flows, and a link of 10 ms each way; `command` runs on the first.
fn world(command: &str) -> (Live<KernelSocket>, Stop) {
    let mut builder = SimulationBuilder::new();
    let book = AddressBook::new();
    let (mut hosts, mut ports) = (Vec::new(), Vec::new());
    let nodes = ["a", "b"].map(|name| {
        let node = builder.host(name);
        builder.outside(node);
        let ip = book.ip(builder.addr(node)).unwrap();
        let settings = HostSettings {
            name: name.into(),
            interfaces: vec![InterfaceSettings { node, device: "tun0".into(), ip, mtu: 1500 }],
            sysctls: vec![("ipv4/tcp_sack".into(), "0".into())],
            congestion_control: Some("reno".into()),
            initial_window: Some(3),
            min_rto: Some(300),
            quick_ack: true,
            receive_offload: false,
            destinations: Vec::new(),
            subflows: None,
        };
        let (host, of_host) = ExternalHost::new(&settings).unwrap();
        hosts.push(host);
        ports.extend(of_host);
        node
    });
    for (from, to, name) in [(nodes[0], nodes[1], "a-b"), (nodes[1], nodes[0], "b-a")] {
        let config = LinkConfig::new(Rate::mbit(100), Span::from_millis(10));
        builder.link(from, to, name, config, anabranch_endpoint::Seed::default().generator(name));
    }
    let simulation = builder.build().unwrap();
    let reactor = Reactor::new().unwrap();
    let namespace = hosts[0].namespace();
    let log = std::fs::File::options().write(true).open("/dev/null").unwrap();
    let program =
        Program::start(namespace, &reactor, "a", command, Stdio::Log(log), Duration::ZERO).unwrap();
    let stop = Stop::new(&reactor);
    let (programs, services) = (vec![program], Vec::new());
    (Live { simulation, hosts, ports, book, reactor, programs, services }, stop)
}

#[test]
fn who_is_not_root_hears_what_would_help() {
    let as_nobody = || {
        drop_privileges();
        ExternalHost::probe().unwrap_err().to_string()
    };
    let message = std::thread::spawn(as_nobody).join().unwrap();
    assert!(message.contains("run as root"), "{message}");
}

const WHEN_OVER: End = End::WhenOver { patience: Span::ZERO, rest: Span::ZERO };

/// A datagram to the peer: 10.0.0.2, whose kernel answers that nobody is there.
const DATAGRAM: &str = "echo hello > /dev/udp/10.0.0.2/9";

#[test]
fn what_a_program_sends_crosses_and_the_answer_comes_back() {
    if !machine() {
        return;
    }
    let (world, stop) = world(&format!("bash -c '{DATAGRAM}'; sleep 0.2"));
    let outcome = world.run(WHEN_OVER, &stop, |_| true, |_| true).unwrap();
    let [a, b] = [&outcome.ports[0], &outcome.ports[1]].map(Port::counters);
    assert_eq!((a.entered, b.left, b.entered, a.left), (1, 1, 1, 1));
    assert_eq!(outcome.programs[0].status, Some(0));
    assert_eq!(outcome.lateness.count(), 2);
    let of_ports: Vec<u64> = outcome.lateness_of_ports.iter().map(Lateness::count).collect();
    assert_eq!(of_ports, [1, 1]);
    assert!(outcome.unprivileged && !outcome.stopped);
}

#[test]
fn a_stopped_run_ends_its_programs() {
    if !machine() {
        return;
    }
    let (world, stop) = world("trap '' TERM; sleep 1000");
    let begun = Clock::start();
    let from_outside = stop.clone();
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        from_outside.stop();
    });
    let end = End::At(Time::ZERO + Span::from_secs(60));
    let outcome = world.run(end, &stop, |_| false, |_| false).unwrap();
    stopper.join().unwrap();
    assert!(outcome.stopped && begun.now() < Time::ZERO + Span::from_secs(10));
    assert_eq!(outcome.programs[0].status, None, "it did not end by itself");
}

#[test]
fn an_interface_that_disappears_is_an_error_with_its_name() {
    if !machine() {
        return;
    }
    let (world, stop) = world("sleep 1000");
    let namespace = world.hosts[1].namespace().clone();
    let remover = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        let remove = || {
            let mut netlink = Netlink::open()?;
            let device = netlink.index("tun0")?;
            netlink.remove(device)
        };
        namespace.inside(remove).unwrap();
    });
    let failed = world.run(End::At(Time::ZERO + Span::from_secs(10)), &stop, |_| false, |_| false);
    remover.join().unwrap();
    let message = failed.err().expect("the device has gone").to_string();
    assert!(message.starts_with("the interface tun0 of b has disappeared"), "{message}");
}

/// More than its device holds: the kernel drops what we do not fetch, says how
/// much that was, and the run goes on.
#[test]
fn what_a_full_device_loses_is_counted() {
    if !machine() {
        return;
    }
    const SENT: u64 = 25_000;
    let (world, stop) = world("sleep 0.3");
    let flood = || {
        let socket = std::net::UdpSocket::bind("10.0.0.1:0").doing("a socket")?;
        for _ in 0..SENT {
            socket.send_to(b"more", "10.0.0.2:9").doing("a datagram")?;
        }
        Ok(())
    };
    world.hosts[0].namespace().inside(flood).unwrap();
    let outcome = world.run(WHEN_OVER, &stop, |_| true, |_| true).unwrap();
    let [a, b] = [&outcome.ports[0], &outcome.ports[1]].map(Port::counters);
    assert_eq!((a.entered, a.overrun, b.overrun), (20_000, SENT - 20_000, 0));
    assert!(outcome.lateness.count() > 0 && !outcome.stopped);
}

/// A device that is down loses what it is given; one that comes up again takes it.
#[test]
fn a_device_that_is_down_refuses_and_the_run_goes_on() {
    if !machine() {
        return;
    }
    let (world, stop) = world(&format!("bash -c 'while :; do {DATAGRAM}; sleep 0.01; done'"));
    let namespace = world.hosts[1].namespace().clone();
    let switcher = std::thread::spawn(move || {
        let switch = || {
            let mut netlink = Netlink::open()?;
            let device = netlink.index("tun0")?;
            std::thread::sleep(Duration::from_millis(200));
            netlink.down(device)?;
            std::thread::sleep(Duration::from_millis(200));
            netlink.up(device, 0, 0)
        };
        namespace.inside(switch).unwrap();
    });
    let end = End::At(Time::ZERO + Span::from_millis(700));
    let outcome = world.run(end, &stop, |_| false, |_| false).unwrap();
    switcher.join().unwrap();
    let [a, b] = [&outcome.ports[0], &outcome.ports[1]].map(Port::counters);
    assert!(b.refused > 3 && b.left > 3 && b.left + b.refused <= a.entered, "{a:?} {b:?}");
    assert_eq!(outcome.ports[1].first_refused(), Some("the device is down"));
}

/// Ten seconds during which we were not there, as after SIGSTOP: what should
/// have left leaves at once and is known to be late, and then all is as before.
#[test]
fn a_leap_of_the_clock_is_made_up_for_and_told() {
    if !machine() {
        return;
    }
    let (world, stop) = world(&format!("bash -c 'while :; do {DATAGRAM}; sleep 0.002; done'"));
    let (at, by) = (Time::ZERO + Span::from_millis(300), Span::from_secs(10));
    let end = End::At(at + by + Span::from_millis(200));
    let begun = Clock::start();
    let run = || world.run_here(end, &stop, || Clock::start_leaping(at, by), |_| false, |_| false);
    let outcome = std::thread::scope(|scope| scope.spawn(run).join()).unwrap().unwrap();
    assert!(begun.now() < Time::ZERO + Span::from_secs(5), "it does not wait for what has passed");
    let [a, b] = [&outcome.ports[0], &outcome.ports[1]].map(Port::counters);
    let under_way = a.entered - b.left;
    assert!(a.entered > 20 && under_way < a.entered / 2, "{a:?} {b:?}");
    let (late, away) = (outcome.lateness.max(), outcome.longest_absence);
    let least = by - Span::from_millis(30);
    assert!(late > least && away > least && away < by + Span::from_secs(1), "{late} {away}");
    assert!(outcome.lateness.quantile(0.5) < Span::from_secs(1));
}

/// How programs end, by themselves or otherwise, is told.
#[test]
fn a_crash_is_told_by_its_signal_and_what_never_ran_by_its_reason() {
    if !machine() {
        return;
    }
    for (command, status, failure) in [
        ("exit 3", Some(3), None),
        ("kill -SEGV $$", Some(128 + 11), None),
        ("sleep 100 & kill -KILL $$", Some(128 + 9), None),
        ("/no/such/program", Some(127), None),
        ("true \0", None, Some("true \0: nul byte found in provided data")),
    ] {
        let (world, stop) = world(command);
        let outcome = world.run(WHEN_OVER, &stop, |_| true, |_| true).unwrap();
        let report = &outcome.programs[0];
        assert_eq!((report.status, report.failure.as_deref()), (status, failure), "{command}");
    }
}

/// Command lines of all processes.
fn processes() -> Vec<String> {
    let list = std::fs::read_dir("/proc").unwrap().flatten();
    let text = list.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    text.map(|line| String::from_utf8_lossy(&line).replace('\0', " ")).collect()
}

#[test]
fn a_panic_ends_the_programs_and_goes_on() {
    if !machine() {
        return;
    }
    let marker = format!("panic-of-{}", std::process::id());
    let (world, stop) = world(&format!("sleep 1000; : {marker}"));
    let is_there = || processes().iter().any(|line| line.contains(&marker));
    while !is_there() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let run = || world.run(WHEN_OVER, &stop, |_| panic!("on purpose"), |_| true);
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
    assert_eq!(panic.err().unwrap().downcast_ref(), Some(&"on purpose"));
    assert!(!is_there());
}
