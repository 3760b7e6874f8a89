//! Draws sessions, with our stack as the one that the peer reacts to.

use super::compare::{Line, lines};
use super::run_script;
use super::session::{Act, Event, Opening, Role, Segment, Session};
use anabranch_endpoint::{Generator, Seed};
use anabranch_packetdrill::runner::Against;
use anabranch_units::Span;

/// Milliseconds between events. None is near a timer of TCP, so that a stack which is a little early or late
/// does the same.
const GAPS: [u64; 10] = [0, 0, 2, 7, 13, 23, 60, 90, 140, 310];
/// Number of events of a session.
const EVENTS: u64 = 24;
/// The peer holds at most so many segments back at a time.
const HOLES: usize = 3;

/// What the peer may do, and how often it is drawn.
const CHOICES: [(Choice, u64); 18] = [
    (Choice::Write, 26),
    (Choice::Read, 8),
    (Choice::AcknowledgeAll, 22),
    (Choice::AcknowledgeSome, 12),
    (Choice::Sack, 14),
    (Choice::OldAck, 3),
    (Choice::Window, 4),
    (Choice::Data, 14),
    (Choice::Hole, 6),
    (Choice::Fill, 9),
    (Choice::Again, 5),
    (Choice::Overlap, 4),
    (Choice::Fin, 2),
    (Choice::Reset, 1),
    (Choice::Syn, 1),
    (Choice::Shutdown, 2),
    (Choice::Close, 1),
    (Choice::Congested, 8),
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Choice {
    Write,
    Read,
    AcknowledgeAll,
    AcknowledgeSome,
    Sack,
    OldAck,
    Window,
    Data,
    Hole,
    Fill,
    Again,
    Overlap,
    Fin,
    Reset,
    Syn,
    Shutdown,
    Close,
    /// An ACK tells of a mark, where ECN is used.
    Congested,
}

impl Choice {
    /// It does not make the stack under test send data.
    fn is_of_receivers(self) -> bool {
        use Choice::*;
        matches!(
            self,
            Read | Data | Hole | Fill | Again | Overlap | Fin | Reset | Syn | Shutdown | Close
        )
    }
}

/// What our stack had sent at a date, in relative numbers.
#[derive(Clone, Debug)]
struct Progress {
    /// The end of what it has sent.
    sent: u64,
    /// Start and end of each of its segments with text or FIN.
    segments: Vec<(u64, u64)>,
    /// Number up to which it acknowledges.
    acknowledges: u64,
    /// Number of times that it has said that it reduced its window.
    reduced: usize,
    /// Segments that it has sent, in order.
    sent_lines: Vec<Line>,
}

impl Progress {
    /// Milliseconds from the handshake to when the stack last sent the octet before `to`.
    fn sent_at(&self, to: u64) -> u64 {
        let newest = self.sent_lines.iter().rev().find(|line| line.reaches(to));
        newest.map_or(0, |line| line.time.as_millis())
    }
}

/// A session in the making, with the peer's state.
pub(crate) struct Drawn {
    draw: Generator,
    session: Session,
    now: Span,
    /// The next octet of the peer.
    next: u64,
    /// Segments that the peer has left out: first octet and length.
    holes: Vec<(u64, u64)>,
    /// What the peer has acknowledged, and selectively above that.
    acked: u64,
    sacked: Vec<(u64, u64)>,
    /// The octets that the peer would offer, and the edge of the window that it has offered: that never goes back.
    offered: u64,
    edge: u64,
    written: u64,
    /// What the peer's timestamps echo, in milliseconds from the handshake.
    echo: u64,
    /// The peer tells of a mark until the stack has reduced its window more often than this.
    congested: Option<usize>,
    /// Draws for what only some sessions have, so that the others stay as they are.
    extras: Generator,
    /// The application, or the peer, has ended its stream.
    ended: bool,
    peer_ended: bool,
}

impl Drawn {
    pub fn new(number: u64) -> Drawn {
        let mut draw = Seed { seed: number, replication: 0 }.generator("session");
        let scale = draw.chance(0.7).then(|| draw.below(9) as u32);
        let mss = pick(&mut draw, &[512, 1024, 1280]);
        // A window of whole segments: who has a rest of a window to fill is free to.
        let octets = mss * pick(&mut draw, &[4, 12, 24, 48]);
        let mut extras = Seed { seed: number, replication: 0 }.generator("extensions");
        let (timestamps, ecn) = (extras.chance(0.4), extras.chance(0.3));
        let opening = Opening {
            timestamps,
            ecn,
            shrinks: extras.chance(0.2),
            active: draw.chance(0.4),
            mss,
            sack: draw.chance(0.7),
            scale,
            octets: octets.min(61_440),
        };
        Drawn {
            draw,
            session: Session { number, opening, events: Vec::new() },
            now: Opening::LASTS,
            next: 1,
            holes: Vec::new(),
            acked: 1,
            sacked: Vec::new(),
            offered: opening.octets,
            edge: 1 + opening.octets,
            written: 0,
            echo: 0,
            congested: None,
            extras,
            ended: false,
            peer_ended: false,
        }
    }

    pub fn session(mut self) -> Session {
        let events = 6 + self.draw.below(EVENTS - 5);
        for _ in 0..events {
            self.now += Span::from_millis(pick(&mut self.draw, &GAPS));
            let progress = self.progress();
            if let Some(act) = self.act(progress) {
                let last = matches!(&act, Act::Segment(segment) if segment.flags.contains('R'));
                self.session.events.push(Event { at: self.now, act });
                if last {
                    break;
                }
            }
        }
        self.session
    }

    /// What our stack has done by now.
    fn progress(&self) -> Progress {
        let script = self.session.script_until(self.now);
        let report = run_script(&self.session.name(), &script, Against::ours());
        let sent_lines: Vec<Line> = lines(&report).into_iter().filter(Line::is_of_stack).collect();
        let reduced = sent_lines.iter().filter(|line| line.reduces()).count();
        let mut progress = Progress {
            sent: 1,
            segments: Vec::new(),
            acknowledges: 1,
            reduced,
            sent_lines: Vec::new(),
        };
        for line in &sent_lines {
            if line.end() > progress.sent {
                progress.segments.push((progress.sent, line.end()));
                progress.sent = line.end();
            }
            progress.acknowledges = progress.acknowledges.max(line.ack);
        }
        Progress { sent_lines, ..progress }
    }

    fn act(&mut self, progress: Progress) -> Option<Act> {
        let receives = self.session.role() == Role::Receiver;
        let ecn = self.session.opening.ecn;
        let choices = CHOICES.iter().filter(|(choice, _)| {
            (!receives || choice.is_of_receivers()) && (ecn || *choice != Choice::Congested)
        });
        self.congested = self.congested.filter(|reduced| progress.reduced <= *reduced);
        let total: u64 = choices.clone().map(|(_, weight)| weight).sum();
        let mut at = self.draw.below(total);
        let choice = choices.clone().find(|(_, weight)| {
            let here = at < *weight;
            at = at.saturating_sub(*weight);
            here
        })?;
        let mss = self.session.opening.mss;
        let len = pick(&mut self.draw, &[1, 100, mss, mss]);
        match choice.0 {
            Choice::Write => self.write(mss),
            Choice::Read => Some(Act::Read(pick(&mut self.draw, &[1, 1000, 100_000]))),
            Choice::AcknowledgeAll => self.acknowledge(progress.sent, &progress),
            Choice::AcknowledgeSome => {
                let ends = progress.segments.iter().map(|(_, end)| *end);
                let ends: Vec<u64> = ends.filter(|end| *end > self.acked).collect();
                (!ends.is_empty())
                    .then(|| pick(&mut self.draw, &ends))
                    .and_then(|to| self.acknowledge(to, &progress))
            }
            Choice::Sack => self.sack(&progress),
            Choice::OldAck => {
                let back = self.draw.below(3 * mss);
                Some(self.bare(self.acked.saturating_sub(back).max(1)))
            }
            Choice::Window => {
                let first = self.session.opening.octets;
                self.offered = pick(&mut self.draw, &[0, first / 2, first, 61_440]);
                if self.session.opening.shrinks {
                    self.edge = self.acked + self.offered;
                }
                Some(self.bare(self.acked))
            }
            Choice::Data => self.data(len),
            Choice::Hole => {
                if self.holes.len() >= HOLES || self.peer_ended {
                    return None;
                }
                self.holes.push((self.next, len));
                self.next += len;
                self.data(mss)
            }
            Choice::Fill => {
                let n = self.holes.len() as u64;
                let (seq, len) = (n > 0).then(|| self.holes.remove(self.draw.below(n) as usize))?;
                Some(self.segment("P.", seq, len))
            }
            Choice::Again => {
                let back = (self.next - 1).min(len);
                (back > 0).then(|| self.segment("P.", self.next - back, back))
            }
            Choice::Overlap => {
                // A stack may answer one that is partly old at once or later.
                if self.peer_ended || self.holes.is_empty() {
                    return None;
                }
                let back = 1 + self.draw.below((self.next - 1).min(mss));
                let seq = self.next - back;
                self.next += len;
                Some(self.segment("P.", seq, back + len))
            }
            Choice::Fin => {
                let ends = !self.peer_ended && self.holes.is_empty();
                let fin = ends.then(|| self.segment("F.", self.next, 0))?;
                (self.peer_ended, self.next) = (true, self.next + 1);
                Some(fin)
            }
            Choice::Reset => {
                let beyond = pick(&mut self.draw, &[0, 0, 1, 1000, 10_000_000]);
                Some(self.segment("R.", progress.acknowledges + beyond, 0))
            }
            Choice::Syn => Some(self.segment("S", self.next, 0)),
            Choice::Shutdown => {
                (!std::mem::replace(&mut self.ended, true)).then_some(Act::Shutdown)
            }
            Choice::Close => {
                let first = !std::mem::replace(&mut self.ended, true);
                (first && self.draw.chance(0.5)).then_some(Act::Close)
            }
            Choice::Congested => {
                // Something must have come that a router marked.
                if progress.sent > self.acked {
                    self.congested = Some(progress.reduced);
                }
                self.acknowledge(progress.sent, &progress)
            }
        }
    }

    /// The application writes, unless it has ended, or much waits already.
    fn write(&mut self, mss: u64) -> Option<Act> {
        if self.ended || self.written + 1 > self.acked + 20 * mss {
            return None;
        }
        let n = pick(&mut self.draw, &[1, 100, mss, 2 * mss, 5 * mss, 10 * mss + 1]);
        self.written += n;
        Some(Act::Write(n))
    }

    /// The next octets of the peer. Where ECN is used, new data may be marked on its way, or say that the peer
    /// has reduced its window (RFC 3168 §6.1.2, §6.1.5).
    fn data(&mut self, len: u64) -> Option<Act> {
        if self.peer_ended {
            return None;
        }
        let mut act = self.segment("P.", self.next, len);
        if let Act::Segment(segment) = &mut act
            && self.session.opening.ecn
        {
            segment.marked = self.extras.chance(0.15);
            segment.flags = if self.extras.chance(0.2) { "PW." } else { segment.flags };
        }
        self.next += len;
        Some(act)
    }

    fn acknowledge(&mut self, to: u64, progress: &Progress) -> Option<Act> {
        if to <= self.acked {
            return None;
        }
        // A receiver acknowledges what it has: a block that is reached moves the edge.
        let reached = self.sacked.iter().filter(|(from, _)| *from <= to);
        self.acked = reached.map(|(_, end)| *end).max().unwrap_or(to).max(to);
        let acked = self.acked;
        self.echo = progress.sent_at(acked);
        self.sacked.retain(|(from, _)| *from > acked);
        Some(self.bare(acked))
    }

    /// One more segment above the first that is missing has come: a duplicate ACK, with a block where that is
    /// allowed.
    fn sack(&mut self, progress: &Progress) -> Option<Act> {
        let has = |segment: &(u64, u64)| {
            self.sacked.iter().any(|(from, to)| *from <= segment.0 && segment.1 <= *to)
        };
        let above = progress.segments.iter().filter(|segment| segment.0 > self.acked);
        let missing: Vec<(u64, u64)> = above.filter(|segment| !has(segment)).copied().collect();
        let (mut from, mut to) =
            *missing.get(self.draw.below(missing.len().max(1) as u64) as usize)?;
        // Blocks that touch are one; the newest stands first (RFC 2018 section 4).
        self.sacked.retain(|block| {
            let touches = block.1 == from || block.0 == to;
            if touches {
                (from, to) = (from.min(block.0), to.max(block.1));
            }
            !touches
        });
        self.sacked.insert(0, (from, to));
        self.sacked.truncate(3);
        Some(self.bare(self.acked))
    }

    /// The window field of a segment that acknowledges `ack`.
    fn window(&mut self, ack: u64) -> u64 {
        self.edge = self.edge.max(self.acked + self.offered);
        let scale = self.session.opening.scale.unwrap_or(0);
        (self.edge.saturating_sub(ack) >> scale).min(65_535)
    }

    fn bare(&mut self, ack: u64) -> Act {
        let sack = if self.session.opening.sack { self.sacked.clone() } else { Vec::new() };
        let flags = if self.congested.is_some() { "E." } else { "." };
        let (seq, window, echo) = (self.next, self.window(ack), self.echo);
        Act::Segment(Segment { flags, seq, len: 0, ack, window, sack, echo, marked: false })
    }

    fn segment(&mut self, flags: &'static str, seq: u64, len: u64) -> Act {
        let (ack, sack, echo) = (self.acked, Vec::new(), self.echo);
        let window = self.window(ack);
        Act::Segment(Segment { flags, seq, len, ack, window, sack, echo, marked: false })
    }
}

fn pick(draw: &mut Generator, of: &[u64]) -> u64 {
    of[draw.below(of.len() as u64) as usize]
}
