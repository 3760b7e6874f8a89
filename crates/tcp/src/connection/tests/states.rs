//! The whole table of states and events as a text file that can be held
//! against RFC 9293 §3.10. `UPDATE_SNAPSHOTS=1 cargo test -p anabranch-tcp`
//! writes it anew; a difference is a change of behaviour to be judged.

use super::solo::Solo;
use super::*;
use std::fmt::Write;
use std::path::Path;

const FILE: &str = "src/connection/tests/states.txt";

const HEAD: &str = "\
State x event -> next state | what is sent | what the user hears.

Offsets count from the SYNs: `flags seq:length ack`. Flags: S SYN, F FIN, R RST,
P PSH, . ACK. U is SND.UNA, N is SND.NXT, R is RCV.NXT; the window of either side
is open. In every state from ESTABLISHED to CLOSING, and in LAST-ACK, 1000 octets
are unacknowledged, but for FIN-WAIT-2 and TIME-WAIT. With Fast Open (RFC 7413) the
peer's SYN carried 100 octets, or ours does; they are not in N.
";

/// What a row is called, and a connection in its state.
type Row = (&'static str, fn() -> Solo);

fn states() -> Vec<Row> {
    fn config() -> Config {
        classic(Recovery::Sack { pipe: Pipe::Rfc6675, prr: false })
    }
    fn syn_sent() -> Solo {
        let mut s = Solo::client(&config());
        s.end.connect(Time::ZERO);
        s.sent();
        s
    }
    fn established() -> Solo {
        let mut s = Solo::established(&config());
        s.end.write(1000);
        s.sent();
        s
    }
    fn fin_wait_1() -> Solo {
        let mut s = established();
        s.end.close();
        s.sent();
        s
    }
    fn close_wait() -> Solo {
        let mut s = established();
        s.arrives("F.", 1, 1, 0);
        s
    }
    fn fin_wait_2() -> Solo {
        let mut s = fin_wait_1();
        s.arrives(".", 1, 1002, 0);
        s
    }
    vec![
        ("CLOSED", || Solo::client(&config())),
        ("LISTEN", || Solo::server(&config())),
        ("SYN-SENT", syn_sent),
        ("SYN-RECEIVED, passive OPEN", || {
            let mut s = Solo::server(&config());
            s.arrives("S", 0, 0, 0);
            s
        }),
        ("SYN-SENT, data with a Fast Open cookie", || {
            let mut s = super::fast_open::client(&config());
            s.end.write(100);
            s.end.connect(Time::ZERO);
            s.sent();
            s
        }),
        ("SYN-RECEIVED, data with a Fast Open cookie, 1000 octets sent", || {
            let mut s = super::fast_open::server(&config());
            s.deliver(super::fast_open::syn(&s, 100));
            s.end.write(1000);
            s.sent();
            s
        }),
        ("SYN-RECEIVED, simultaneous OPEN", || {
            let mut s = syn_sent();
            s.arrives("S", 0, 0, 0);
            s
        }),
        ("ESTABLISHED", established),
        ("FIN-WAIT-1", fin_wait_1),
        ("FIN-WAIT-2", fin_wait_2),
        ("CLOSE-WAIT", close_wait),
        ("CLOSING", || {
            let mut s = fin_wait_1();
            s.arrives("F.", 1, 1, 0);
            s
        }),
        ("LAST-ACK", || {
            let mut s = close_wait();
            s.end.close();
            s.sent();
            s
        }),
        ("TIME-WAIT", || {
            let mut s = fin_wait_2();
            s.arrives("F.", 1, 1002, 0);
            s
        }),
    ]
}

/// A segment relative to R and to U or N: flags, offset from R, which of ours
/// it acknowledges, length.
#[derive(Clone, Copy)]
enum Acks {
    None,
    Una(i64),
    Max(i64),
}

type Segment = (&'static str, &'static str, i64, Acks, u32);

const SEGMENTS: [Segment; 21] = [
    ("SYN at R", "S", 0, Acks::None, 0),
    ("SYN below the window", "S", -5000, Acks::None, 0),
    ("SYN, ACK of N, at R", "S.", 0, Acks::Max(0), 0),
    ("SYN, ACK beyond N, at R", "S.", 0, Acks::Max(100), 0),
    ("ACK of U", ".", 0, Acks::Una(0), 0),
    ("ACK of N", ".", 0, Acks::Max(0), 0),
    ("ACK beyond N", ".", 0, Acks::Max(100), 0),
    ("ACK below U - MAX.SND.WND", ".", 0, Acks::Una(-20_000), 0),
    ("no ACK, no control", "", 0, Acks::None, 0),
    ("RST at R", "R", 0, Acks::None, 0),
    ("RST in the window", "R", 10, Acks::None, 0),
    ("RST outside the window", "R", 1 << 30, Acks::None, 0),
    ("RST, ACK of N, at R", "R.", 0, Acks::Max(0), 0),
    ("RST, ACK beyond N, at R", "R.", 0, Acks::Max(100), 0),
    ("data at R, ACK of U", ".", 0, Acks::Una(0), 100),
    ("data after a hole, ACK of U", ".", 100, Acks::Una(0), 100),
    ("data outside the window", ".", 1 << 30, Acks::Una(0), 100),
    ("data at R, ACK beyond N", ".", 0, Acks::Max(100), 100),
    ("FIN at R, ACK of U", "F.", 0, Acks::Una(0), 0),
    ("FIN at R, ACK of N", "F.", 0, Acks::Max(0), 0),
    ("FIN after a hole", "F.", 100, Acks::Una(0), 0),
];

type Command = (&'static str, fn(&mut Solo));

const COMMANDS: [Command; 5] = [
    ("OPEN", |s| s.end.connect(s.now)),
    ("SEND 100", |s| {
        s.end.write(100);
    }),
    ("RECEIVE", |s| {
        s.end.read(100);
    }),
    ("CLOSE", |s| s.end.close()),
    ("ABORT", |s| s.end.abort()),
];

fn arrive(s: &mut Solo, (_, flags, offset, acks, len): Segment) -> Vec<String> {
    let r = s.end.receiver.nxt as i64;
    let ack = match acks {
        Acks::None => 0,
        Acks::Una(by) => s.end.sender.una as i64 + by,
        Acks::Max(by) => s.end.sender.max as i64 + by,
    };
    s.arrives(flags, r + offset, ack, len)
}

/// The next thing that a connection does by itself: its name and what it sent.
fn time_out(s: &mut Solo) -> Option<(&'static str, Vec<String>)> {
    let at = s.end.poll_timeout();
    let timers = [
        (s.end.retransmission.timer, "retransmission timeout"),
        (s.end.persist.timer, "time to probe the window"),
        (s.end.receiver.delayed_ack, "delayed ACK"),
    ];
    let called = match timers.into_iter().find(|(timer, _)| timer.expired(at)) {
        Some((_, called)) => called,
        None if at != Time::NEVER && s.end.phase.deadline() == at => "TIME-WAIT timeout",
        None => return None,
    };
    s.now = at;
    s.end.handle_timeout(at);
    Some((called, s.sent()))
}

fn table() -> String {
    let mut text = HEAD.to_owned();
    for (row, state) in states() {
        let s = state();
        let (sender, r) = (&s.end.sender, s.end.receiver.nxt);
        writeln!(text, "\n{row} (U {}, N {}, R {r})", sender.una, sender.max).unwrap();
        let mut line = |event: &str, s: &mut Solo, sent: Vec<String>| {
            let heard: Vec<_> = s.events().iter().map(|e| format!("{e:?}")).collect();
            let next = s.end.state().to_string();
            let (sent, heard) = (sent.join(", "), heard.join(", "));
            let columns = format!("  {event:<28} -> {next:<12} | {sent:<22} | {heard}");
            writeln!(text, "{}", columns.trim_end_matches([' ', '|'])).unwrap();
        };
        for segment in SEGMENTS {
            let mut s = state();
            s.events();
            let sent = arrive(&mut s, segment);
            line(segment.0, &mut s, sent);
        }
        for (event, command) in COMMANDS {
            let mut s = state();
            s.events();
            command(&mut s);
            let sent = s.sent();
            line(event, &mut s, sent);
        }
        let mut s = state();
        s.events();
        if let Some((event, sent)) = time_out(&mut s) {
            line(event, &mut s, sent);
        }
    }
    text
}

#[test]
fn every_state_meets_every_event_as_written() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    let now = table();
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    for (number, (kept, now)) in kept.lines().zip(now.lines()).enumerate() {
        assert_eq!(kept, now, "{FILE}, line {}", number + 1);
    }
    assert_eq!(kept.lines().count(), now.lines().count());
}
