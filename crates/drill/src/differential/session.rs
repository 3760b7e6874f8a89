//! A session: what an application and a peer do, and when.

use super::draw::Drawn;
use anabranch_units::Span;
use std::fmt::Write;

/// What the clocks of timestamps say at the handshake, in milliseconds.
const STACKS_CLOCK: u64 = 100;
const PEERS_CLOCK: u64 = 1000;

/// Time for which the stack is watched after the last event.
const TAIL: Span = Span::from_millis(900);

/// Something that happens to a stack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Act {
    /// The application writes so many octets.
    Write(u64),
    /// The application reads at most so many octets.
    Read(u64),
    /// The application has nothing more to write.
    Shutdown,
    /// The application closes its socket.
    Close,
    /// The peer sends this segment.
    Segment(Segment),
}

/// A segment of the peer, in relative numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Segment {
    /// Flags as scripts have them.
    pub flags: &'static str,
    pub seq: u64,
    pub len: u64,
    pub ack: u64,
    /// The window field, before it is scaled.
    pub window: u64,
    /// Blocks of the SACK option; empty for none.
    pub sack: Vec<(u64, u64)>,
    /// Milliseconds from the handshake to when the stack sent what this echoes.
    pub echo: u64,
    /// A router has marked it (CE).
    pub marked: bool,
}

/// An act and the time at which it happens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Event {
    /// Time since the session began.
    pub at: Span,
    pub act: Act,
}

/// The handshake with which the connection opens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Opening {
    /// The stack connects; otherwise it accepts.
    pub active: bool,
    /// The peer's largest segment.
    pub mss: u64,
    /// The peer's SYN permits SACK.
    pub sack: bool,
    /// The peer's window scale, if it has the option.
    pub scale: Option<u32>,
    /// The window that the peer offers at first, in octets.
    pub octets: u64,
    /// The peer offers timestamps (RFC 7323).
    pub timestamps: bool,
    /// Both sides use ECN (RFC 3168).
    pub ecn: bool,
    /// The peer takes back what it has offered of its window (RFC 9293 §3.8.6).
    pub shrinks: bool,
}

impl Opening {
    /// Time after which the connection is open.
    pub const LASTS: Span = Span::from_millis(40);

    /// The window field of the peer's segments behind the handshake.
    pub fn window(&self) -> u64 {
        self.octets >> self.scale.unwrap_or(0)
    }

    /// The options of the peer's SYN, which it sends at `at`.
    fn options(&self, at: Span) -> String {
        let mut options = format!("mss {}", self.mss);
        if self.sack {
            options += ",nop,nop,sackOK";
        }
        if self.timestamps {
            _ = write!(options, ",{}", stamp(at, if self.active { Some(0) } else { None }));
        }
        if let Some(scale) = self.scale {
            _ = write!(options, ",nop,wscale {scale}");
        }
        options
    }

    /// The options of the stack's SYN: left open, but that the script's clock begins with its timestamp.
    fn expected(&self) -> String {
        if !self.timestamps {
            return "...".into();
        }
        let sack = if self.active || self.sack { "sackOK" } else { "nop,nop" };
        let echo = if self.active { 0 } else { PEERS_CLOCK };
        let scale = if self.active || self.scale.is_some() { ",nop,wscale 7" } else { "" };
        format!("mss 1460,{sack},TS val {STACKS_CLOCK} ecr {echo}{scale}")
    }

    /// The handshake, in which expectations tell the script both sides' numbers.
    fn script(&self) -> String {
        let (octets, window, expected) = (self.octets, self.window(), self.expected());
        let (syn, syn_ack) = if self.ecn { ("SEW", "SE.") } else { ("S", "S.") };
        let ecn = u32::from(self.ecn);
        let socket = format!(
            "--non_fatal=syscall\n--tcp_ts_ecr_scaled\n`sysctl -q net.ipv4.tcp_ecn={ecn}`\n\
             0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n"
        );
        let nonblocking = |fd| format!("fcntl({fd}, F_SETFL, O_RDWR|O_NONBLOCK) = 0\n");
        match self.active {
            true => format!(
                "{socket}0 {}\
                 0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)\n\
                 0 > {syn} 0:0(0) <{expected}>\n\
                 0.040 < {syn_ack} 0:0(0) ack 1 win {octets} <{}>\n\
                 0.040 > . 1:1(0) ack 1 <...>\n",
                nonblocking(3),
                self.options(Opening::LASTS)
            ),
            false => format!(
                "{socket}0 bind(3, ..., ...) = 0\n0 listen(3, 1) = 0\n\
                 0 < {syn} 0:0(0) win {octets} <{}>\n\
                 0 > {syn_ack} 0:0(0) ack 1 <{expected}>\n\
                 0.040 < . 1:1(0) ack 1 win {window}{}\n\
                 0.040 accept(3, ..., ...) = 4\n0.040 {}",
                self.options(Span::ZERO),
                match self.timestamps {
                    true => format!(" <nop,nop,{}>", stamp(Opening::LASTS, Some(0))),
                    false => String::new(),
                },
                nonblocking(4)
            ),
        }
    }

    /// The descriptor of the connection.
    fn descriptor(&self) -> u32 {
        if self.active { 3 } else { 4 }
    }
}

/// What the stack under test does in a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// It receives data, and sends none.
    Receiver,
    /// It sends data, and receives some.
    Sender,
}

/// A session with its number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Session {
    pub(crate) number: u64,
    pub(crate) opening: Opening,
    pub(crate) events: Vec<Event>,
}

impl Session {
    /// The session with this number; the same for all times, as long as the generator and our stack are.
    pub fn draw(number: u64) -> Session {
        Drawn::new(number).session()
    }

    /// Odd sessions are those of receivers.
    pub fn role(&self) -> Role {
        if self.number % 2 == 1 { Role::Receiver } else { Role::Sender }
    }

    /// What a report calls it.
    pub fn name(&self) -> String {
        format!("session {}", self.number)
    }

    /// The session as a script, which ends when nothing more is awaited.
    pub fn script(&self) -> String {
        self.script_until(self.end())
    }

    /// Returns the time after which nothing more is awaited.
    pub(crate) fn end(&self) -> Span {
        self.events.last().map_or(Opening::LASTS, |event| event.at) + TAIL
    }

    /// Writes the session as a script that ends at a date.
    pub(crate) fn script_until(&self, end: Span) -> String {
        let mut script = self.opening.script();
        for event in &self.events {
            let fd = self.opening.descriptor();
            let text = event.act.text(fd, event.at, &self.opening);
            _ = writeln!(script, "{} {text}", seconds(event.at));
        }
        // Nothing is asked here: the script's last line is a date, up to which both stacks run.
        _ = writeln!(script, "{} %{{ assert True }}%", seconds(end));
        script
    }
}

impl Act {
    fn text(&self, fd: u32, at: Span, opening: &Opening) -> String {
        match self {
            Act::Write(n) => format!("write({fd}, ..., {n}) = {n}"),
            Act::Read(n) => format!("read({fd}, ..., {n}) = {n}"),
            Act::Shutdown => format!("shutdown({fd}, SHUT_WR) = 0"),
            Act::Close => format!("close({fd}) = 0"),
            Act::Segment(segment) => segment.text(at, opening),
        }
    }
}

impl Segment {
    fn text(&self, at: Span, opening: &Opening) -> String {
        let Segment { flags, seq, len, ack, window, sack, echo, marked } = self;
        let field = if *marked { "[ce] " } else { "" };
        let mut text = format!("< {field}{flags} {seq}:{}({len})", seq + len);
        if flags.contains('.') {
            _ = write!(text, " ack {ack}");
        }
        _ = write!(text, " win {window}");
        let mut options = Vec::new();
        if opening.timestamps {
            options.push(format!("nop,nop,{}", stamp(at, Some(*echo))));
        }
        if !sack.is_empty() {
            let blocks: Vec<String> =
                sack.iter().map(|(from, to)| format!("{from}:{to}")).collect();
            options.push(format!("nop,nop,sack {}", blocks.join(" ")));
        }
        if !options.is_empty() {
            _ = write!(text, " <{}>", options.join(","));
        }
        text
    }
}

/// The timestamps of a segment of the peer that leaves at `at`, with what the stack sent so many
/// milliseconds after the handshake, if it has sent anything.
fn stamp(at: Span, echo: Option<u64>) -> String {
    let value = PEERS_CLOCK + at.as_millis();
    format!("TS val {value} ecr {}", echo.map_or(0, |echo| STACKS_CLOCK + echo))
}

/// Seconds with three decimals.
fn seconds(span: Span) -> String {
    let millis = span.as_nanos() / 1_000_000;
    format!("{}.{:03}", millis / 1000, millis % 1000)
}
