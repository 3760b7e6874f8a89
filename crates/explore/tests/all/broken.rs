//! The search finds what it is made for: endpoints that are broken on purpose, each in one
//! way, with the shortest schedule that shows it.

use anabranch_endpoint::{
    ByteStream, Endpoint, Event, HalfClose, MessageOriented, Observation, Observe, Seed,
};
use anabranch_explore::{Bounds, Case, Explore, Fault, Finding, Plan, Sends, Setting, cases};
use anabranch_tcp::{Config, Connection, InitialWindow};
use anabranch_units::{Span, Time};
use anabranch_wire::{Addr, Packet};

/// What is wrong with an endpoint.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Defect {
    None,
    /// Its timers never fire.
    NoTimers,
    /// It forgets to tell that there is room to write.
    NoRoom,
    /// A packet that comes twice spoils what is read next.
    WrongOctets,
    /// A call before a timer has expired is a panic.
    Impatient,
}

#[derive(Debug)]
struct Broken {
    tcp: Connection,
    defect: Defect,
    /// The last packet heard, and whether any came twice in a row.
    last: Option<Packet>,
    is_spoilt: bool,
}

impl Endpoint for Broken {
    fn handle_input(&mut self, now: Time, packet: &Packet) {
        self.is_spoilt |= self.last.replace(packet.clone()).as_ref() == Some(packet);
        self.tcp.handle_input(now, packet);
    }
    fn handle_timeout(&mut self, now: Time) {
        let is_early = self.tcp.poll_timeout() > now;
        assert!(self.defect != Defect::Impatient || !is_early, "called too early");
        self.tcp.handle_timeout(now);
    }
    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        self.tcp.poll_transmit(now)
    }
    fn poll_event(&mut self) -> Option<Event> {
        let event = self.tcp.poll_event()?;
        if self.defect == Defect::NoRoom && event == Event::Writable {
            return self.poll_event();
        }
        Some(event)
    }
    fn poll_timeout(&self) -> Time {
        if self.defect == Defect::NoTimers { Time::NEVER } else { self.tcp.poll_timeout() }
    }
}

impl ByteStream for Broken {
    fn connect(&mut self, now: Time) {
        self.tcp.connect(now);
    }
    fn write(&mut self, len: u64) -> u64 {
        self.tcp.write(len)
    }
    fn write_octets(&mut self, octets: &[u8]) -> usize {
        self.tcp.write_octets(octets)
    }
    fn room(&self) -> u64 {
        self.tcp.room()
    }
    fn read(&mut self, max: u64) -> u64 {
        self.tcp.read(max)
    }
    fn read_octets(&mut self, buf: &mut [u8]) -> usize {
        let n = self.tcp.read_octets(buf);
        if self.defect == Defect::WrongOctets && n > 0 && self.is_spoilt {
            buf[0] ^= 1;
        }
        n
    }
    fn close(&mut self) {
        self.tcp.close();
    }
    fn abort(&mut self) {
        self.tcp.abort();
    }
}

impl HalfClose for Broken {}

impl MessageOriented for Broken {}

impl Observe for Broken {
    fn observe(&self) -> Observation {
        self.tcp.observe()
    }
}

/// The client sends four segments; its endpoint has the defect.
fn case(defect: Defect) -> Case<Broken> {
    let plans = [Plan::sends(Sends::Octets(900)), Plan::sends(Sends::Nothing)];
    let setting = Setting {
        plans,
        latency: [Span::from_millis(10); 2],
        paths: 1,
        strips: false,
        faults: vec![Fault::Lose, Fault::Copy, Fault::Behind(1), Fault::Early],
        patience: Span::from_secs(400),
        may_report: false,
    };
    let make = move || {
        let config = Config {
            mss: 256,
            initial_window: InitialWindow::Segments(2),
            send_buffer: 512,
            ..Config::default()
        };
        let (a, b) = ((Addr(0), 1), (Addr(10), 2));
        let seed = Seed::default();
        let client = Connection::client(config.clone(), a, b, seed.generator("client"));
        let server = Connection::server(config, b, a, seed.generator("server"));
        [(client, defect), (server, defect)].map(|(tcp, defect)| Broken {
            tcp,
            defect,
            last: None,
            is_spoilt: false,
        })
    };
    Case { name: format!("broken/{defect:?}"), setting, make: Box::new(make) }
}

/// The first finding; it is found again when it is replayed from its text.
fn find(defect: Defect) -> Finding {
    let case = case(defect);
    let report = case.explore(Bounds { faults: 2, states: 100_000, findings: 1 });
    let finding = report.findings.first().expect("it is found").clone();
    let replay = case.replay(&finding.schedule.to_string().parse().unwrap());
    assert!(replay.is_whole, "{finding:?}");
    assert_eq!(replay.verdict, anabranch_explore::Verdict::Wrong(finding.what.clone()));
    finding
}

#[test]
fn a_sound_endpoint_has_no_findings() {
    let bounds = Bounds { faults: 2, states: 100_000, findings: 1 };
    let report = case(Defect::None).explore(bounds);
    report.assert_no_findings();
    assert_eq!(report.complete(), Some(2), "{report}");
}

/// Without a fault there is no use for timers until TIME-WAIT has to end.
#[test]
fn timers_that_never_fire_are_a_stall() {
    let finding = find(Defect::NoTimers);
    assert_eq!(finding.schedule.faults(), []);
    assert!(finding.what.starts_with("nothing happens any more after"), "{}", finding.what);
}

#[test]
fn an_event_that_never_comes_is_a_stall() {
    let finding = find(Defect::NoRoom);
    assert_eq!(finding.schedule.faults(), []);
    let expected = "the client has written 512 of 900 octets";
    assert!(finding.what.contains(expected), "{}", finding.what);
}

/// It takes one fault, which the schedule names, and nothing else.
#[test]
fn octets_that_differ_are_found_with_one_fault() {
    let finding = find(Defect::WrongOctets);
    let [(_, Fault::Copy)] = finding.schedule.faults() else { panic!("{finding:?}") };
    assert!(finding.what.starts_with("the server: read at octet"), "{}", finding.what);
}

#[test]
fn a_panic_is_a_finding() {
    let finding = find(Defect::Impatient);
    let [(_, Fault::Early)] = finding.schedule.faults() else { panic!("{finding:?}") };
    assert_eq!(finding.what, "panic: called too early");
}

/// Two orders of independent events lead to one state, where a run is given up.
#[test]
fn states_are_merged() {
    let all = cases::tcp::few();
    let case = all.iter().find(|item| item.name().contains("plain")).expect("a plain case");
    let report = case.explore(Bounds { faults: 2, states: 1_000_000, findings: 1 });
    let runs: u64 = report.levels.iter().map(|level| level.runs).sum();
    assert_eq!(report.delivered + report.reported + report.merged, runs);
    assert!(report.merged * 20 > runs, "{report:?}");
}

/// A trace reads like that of tcpdump, with what went wrong beside the packet.
#[test]
fn a_replay_is_a_packet_trace() {
    let replay = case(Defect::None).replay(&"3:lose".parse().unwrap());
    let lines: Vec<&str> = replay.trace.lines().collect();
    // The clock of the timestamps begins anywhere.
    let (before, stamp) = lines[0].split_once("TS val ").expect("timestamps");
    let expected = "   0   0.010000 client > server: Flags [S], seq 0, win 65535, \
                    options [mss 256,wscale 7,sackOK,";
    assert_eq!(before, expected);
    assert!(stamp.ends_with(" ecr 0], length 0 (after 10 ms)"), "{stamp}");
    let lost: Vec<&&str> = lines.iter().filter(|line| line.contains("<== lose")).collect();
    let [line] = lost[..] else { panic!("{}", replay.trace) };
    assert!(line.contains("3   0.030000 client > server: Flags [.], seq 245:489, ack 1"), "{line}");
    assert!(lines.contains(&"       0.020000 client: Connected"), "{}", replay.trace);
}
