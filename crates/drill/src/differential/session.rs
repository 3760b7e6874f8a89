//! A session: what an application and a peer do, and when.

use super::draw::Drawn;
use anabranch_units::Span;
use std::fmt::Write;

/// How long the stack is watched after the last event.
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
    /// The peer's segment.
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
}

/// What happens when.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Event {
    /// Since the session began.
    pub at: Span,
    pub act: Act,
}

/// How the connection opens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Opening {
    /// The stack connects; otherwise it accepts.
    pub active: bool,
    /// The peer's largest segment.
    pub mss: u64,
    /// The peer permits SACK.
    pub sack: bool,
    /// The peer's window scale, if it has the option.
    pub scale: Option<u32>,
    /// The window that the peer offers at first, in octets.
    pub octets: u64,
}

impl Opening {
    /// When the connection is open.
    pub const LASTS: Span = Span::from_millis(40);

    /// The window field of the peer's segments behind the handshake.
    pub fn window(&self) -> u64 {
        self.octets >> self.scale.unwrap_or(0)
    }

    /// The options of the peer's SYN.
    fn options(&self) -> String {
        let mut options = format!("mss {}", self.mss);
        if self.sack {
            options += ",nop,nop,sackOK";
        }
        if let Some(scale) = self.scale {
            _ = write!(options, ",nop,wscale {scale}");
        }
        options
    }

    /// The handshake, in which expectations tell the script both sides' numbers.
    fn script(&self) -> String {
        let (options, octets, window) = (self.options(), self.octets, self.window());
        let socket = "--non_fatal=syscall\n0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n";
        let nonblocking = |fd| format!("fcntl({fd}, F_SETFL, O_RDWR|O_NONBLOCK) = 0\n");
        match self.active {
            true => format!(
                "{socket}0 {}\
                 0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)\n\
                 0 > S 0:0(0) <...>\n\
                 0.040 < S. 0:0(0) ack 1 win {octets} <{options}>\n\
                 0.040 > . 1:1(0) ack 1\n",
                nonblocking(3)
            ),
            false => format!(
                "{socket}0 bind(3, ..., ...) = 0\n0 listen(3, 1) = 0\n\
                 0 < S 0:0(0) win {octets} <{options}>\n\
                 0 > S. 0:0(0) ack 1 <...>\n\
                 0.040 < . 1:1(0) ack 1 win {window}\n\
                 0.040 accept(3, ..., ...) = 4\n0.040 {}",
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

    /// When nothing more is awaited.
    pub(crate) fn end(&self) -> Span {
        self.events.last().map_or(Opening::LASTS, |event| event.at) + TAIL
    }

    /// The same with its end at a date.
    pub(crate) fn script_until(&self, end: Span) -> String {
        let mut script = self.opening.script();
        for event in &self.events {
            let fd = self.opening.descriptor();
            _ = writeln!(script, "{} {}", seconds(event.at), event.act.text(fd));
        }
        _ = writeln!(script, "{} %{{ assert True }}%", seconds(end));
        script
    }
}

impl Act {
    fn text(&self, fd: u32) -> String {
        match self {
            Act::Write(n) => format!("write({fd}, ..., {n}) = {n}"),
            Act::Read(n) => format!("read({fd}, ..., {n}) = {n}"),
            Act::Shutdown => format!("shutdown({fd}, SHUT_WR) = 0"),
            Act::Close => format!("close({fd}) = 0"),
            Act::Segment(segment) => segment.text(),
        }
    }
}

impl Segment {
    fn text(&self) -> String {
        let Segment { flags, seq, len, ack, window, sack } = self;
        let mut text = format!("< {flags} {seq}:{}({len})", seq + len);
        if flags.contains('.') {
            _ = write!(text, " ack {ack}");
        }
        _ = write!(text, " win {window}");
        if !sack.is_empty() {
            let blocks: Vec<String> =
                sack.iter().map(|(from, to)| format!("{from}:{to}")).collect();
            _ = write!(text, " <nop,nop,sack {}>", blocks.join(" "));
        }
        text
    }
}

/// Seconds with three decimals.
fn seconds(span: Span) -> String {
    let millis = span.as_nanos() / 1_000_000;
    format!("{}.{:03}", millis / 1000, millis % 1000)
}
