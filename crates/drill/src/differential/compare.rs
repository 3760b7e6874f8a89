//! Two runs of one session, packet by packet.

use anabranch_packetdrill::report::{Report, Traced};
use anabranch_units::{Serial32, Span, Time};
use anabranch_wire::{Body, TcpFlags, TcpSegment};
use std::fmt;

/// The time by which a packet may leave earlier or later: two ticks of 4 ms that Linux adds to a
/// probe's timer, one to which it rounds, and what waiting costs.
const TOLERANCE: Span = Span::from_millis(14);
/// Timers of Linux from 64 ticks on are rounded up to eight ticks, from 512 on to 64.
/// A timer that follows another adds to what that was late.
const COARSE: [(Span, Span); 3] = [
    (Span::from_millis(240), Span::from_millis(46)),
    (Span::from_millis(1000), Span::from_millis(80)),
    (Span::from_millis(2000), Span::from_millis(270)),
];

/// Flags that are compared.
const KEPT: [TcpFlags; 6] =
    [TcpFlags::SYN, TcpFlags::FIN, TcpFlags::RST, TcpFlags::ECE, TcpFlags::CWR, TcpFlags::ACK];

/// A packet of a run in relative numbers, without what stacks are free to choose.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Line {
    /// Time at which it came or left.
    pub time: Time,
    /// Whether it came to the stack.
    pub inbound: bool,
    flags: TcpFlags,
    seq: u64,
    len: u64,
    /// The acknowledgment; 0 without one.
    pub ack: u64,
    /// The window of the segment is closed.
    closed: bool,
    sack: Vec<(u64, u64)>,
}

impl Line {
    /// The sequence number behind it.
    pub fn end(&self) -> u64 {
        self.seq + self.len + u64::from(self.flags.contains(TcpFlags::FIN))
    }

    /// The octet that ends at `to` is in it.
    pub fn reaches(&self, to: u64) -> bool {
        self.seq < to && to <= self.end()
    }

    /// It says that the window was reduced for ECN.
    pub fn reduces(&self) -> bool {
        self.flags.contains(TcpFlags::CWR) && !self.flags.contains(TcpFlags::SYN)
    }

    /// It is the stack's, and no reset.
    pub fn is_of_stack(&self) -> bool {
        !self.inbound && !self.flags.contains(TcpFlags::RST)
    }

    /// All but the time is the same. The number of an ACK without text says nothing: RFC 9293 has SND.NXT, Linux
    /// the edge of a window that has shrunk.
    fn is_like(&self, other: &Line) -> bool {
        let more = TcpFlags::SYN.union(TcpFlags::FIN).union(TcpFlags::RST);
        let text = |line: &Line| line.len > 0 || line.flags.intersects(more);
        let seq = if text(self) || text(other) { self.seq } else { other.seq };
        Line { time: other.time, seq, ..self.clone() } == *other
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.time.as_nanos() as f64 / 1e6;
        let (side, seq, end, len) =
            (if self.inbound { '<' } else { '>' }, self.seq, self.seq + self.len, self.len);
        write!(f, "{millis:9.3} ms {side} ")?;
        let letters = [
            (TcpFlags::SYN, 'S'),
            (TcpFlags::FIN, 'F'),
            (TcpFlags::RST, 'R'),
            (TcpFlags::ECE, 'E'),
            (TcpFlags::CWR, 'W'),
            (TcpFlags::ACK, '.'),
        ];
        for (_, letter) in letters.iter().filter(|(flag, _)| self.flags.contains(*flag)) {
            write!(f, "{letter}")?;
        }
        write!(f, " {seq}:{end}({len})")?;
        if self.flags.contains(TcpFlags::ACK) {
            write!(f, " ack {}", self.ack)?;
        }
        for (from, to) in &self.sack {
            write!(f, " sack {from}:{to}")?;
        }
        if self.closed { write!(f, " closed") } else { Ok(()) }
    }
}

/// The segments of a run, in relative numbers: a side's last SYN has 0.
pub(crate) fn lines(report: &Report) -> Vec<Line> {
    let mut origins = Origins::default();
    let segments = report.trace.iter().filter_map(|traced| match &traced.packet.body {
        Body::Tcp(segment) => Some((traced, segment)),
        _ => None,
    });
    segments.map(|(traced, segment)| origins.line(traced, segment)).collect()
}

/// The initial numbers of the peer and of the stack.
#[derive(Default)]
struct Origins {
    peer: Option<Serial32>,
    stack: Option<Serial32>,
}

impl Origins {
    fn line(&mut self, traced: &Traced, segment: &TcpSegment) -> Line {
        let (sender, receiver) = match traced.inbound {
            true => (&mut self.peer, &mut self.stack),
            false => (&mut self.stack, &mut self.peer),
        };
        let has = |flag| segment.flags.contains(flag);
        // The SYN of a client that connects again begins anew; one inside a connection does not, and has a
        // number of that.
        if has(TcpFlags::SYN) && (!traced.inbound || sender.is_none()) {
            *sender = Some(segment.seq);
        }
        let (sender, receiver) = (sender.unwrap_or_default(), receiver.unwrap_or_default());
        // A number before the first is of a connection before.
        let relative = |number: Serial32, to: Serial32| number.distance_from(to).max(0) as u64;
        let kept = KEPT.into_iter().filter(|flag| has(*flag));
        let sack = segment.options.sack.as_slice().iter();
        // What a reset carries besides says nothing; that of no connection has the number 0.
        let reset = has(TcpFlags::RST);
        let without = reset && segment.seq == Serial32(0);
        Line {
            time: traced.time,
            inbound: traced.inbound,
            flags: kept.fold(TcpFlags::default(), TcpFlags::union),
            seq: if without { 0 } else { relative(segment.seq, sender) },
            len: segment.payload.len() as u64,
            ack: if has(TcpFlags::ACK) { relative(segment.ack, receiver) } else { 0 },
            closed: segment.window == 0 && !reset,
            sack: sack
                .filter(|_| !reset)
                .map(|block| (relative(block.left, receiver), relative(block.right, receiver)))
                .collect(),
        }
    }
}

/// The place at which two runs of a session part.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The last packets that both have, and where they part.
    pub before: Vec<String>,
    /// What our stack did; `None` if nothing more.
    pub ours: Option<String>,
    /// What the other stack did; `None` if nothing more.
    pub theirs: Option<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.before.iter().try_for_each(|line| writeln!(f, "         {line}"))?;
        let text = |line: &Option<String>| line.clone().unwrap_or_else(|| "nothing".into());
        writeln!(f, "  ours   {}", text(&self.ours))?;
        writeln!(f, "  theirs {}", text(&self.theirs))
    }
}

/// The first packet of the stacks in which two runs differ that end at `end`.
pub(crate) fn compare(ours: &Report, theirs: &Report, end: Span) -> Option<Difference> {
    let (ours, theirs) = (lines(ours), lines(theirs));
    let sent = |lines: &[Line]| lines.iter().filter(|line| !line.inbound).cloned().collect();
    let (sent_ours, sent_theirs): (Vec<Line>, Vec<Line>) = (sent(&ours), sent(&theirs));
    let longer = sent_ours.len().max(sent_theirs.len());
    let at = (0..longer).find(|at| match (sent_ours.get(*at), sent_theirs.get(*at)) {
        (Some(a), Some(b)) => !(a.is_like(b) && is_as_late(a, b, &ours)),
        _ => true,
    })?;
    let (a, b) = (sent_ours.get(at), sent_theirs.get(at));
    if let (Some(last), None) | (None, Some(last)) = (a, b)
        && Time::ZERO + end < last.time + grain(last, &ours)
    {
        // The other's timer would have expired after the end.
        return None;
    }
    let date = a.or(b).map_or(Time::NEVER, |line| line.time);
    let before = ours.iter().take_while(|line| line.time <= date && Some(*line) != a);
    let mut before: Vec<String> = before.map(ToString::to_string).collect();
    before.drain(..before.len().saturating_sub(12));
    let text = |line: Option<&Line>| line.map(ToString::to_string);
    Some(Difference { before, ours: text(a), theirs: text(b) })
}

/// They left at about the same time.
fn is_as_late(a: &Line, b: &Line, ours: &[Line]) -> bool {
    let apart = a.time.saturating_since(b.time).max(b.time.saturating_since(a.time));
    apart <= grain(a, ours)
}

/// How much earlier or later a packet of ours may leave elsewhere: an answer comes at once; what a timer sends has
/// that timer's grain, which may have begun to run with the first packet.
fn grain(line: &Line, ours: &[Line]) -> Span {
    let answers = ours.iter().any(|other| other.inbound && other.time == line.time);
    let age = line.time.saturating_since(Time::ZERO);
    let coarse = COARSE.iter().rev().find(|(from, _)| !answers && age >= *from);
    coarse.map_or(TOLERANCE, |(_, to)| *to)
}
