//! The loop: reads the clock, lets the simulation do what is due, hands packets
//! to ports and takes packets from them, and sleeps until the next event.

use crate::clock::Clock;
use crate::error::Doing;
use crate::lateness::{Departures, Lateness};
use crate::port::Port;
use crate::program::{Program, ProgramReport};
use crate::reactor::{Reactor, Token};
use crate::sys::priority::{Scheduling, drop_privileges, make_precise};
use crate::{ExternalHost, LiveError};
use anabranch_sim::{FlowEndpoint, Simulation};
use anabranch_units::{Span, Time};
use anabranch_wire::AddressBook;
use anabranch_wire::offload::Packets;
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// An endpoint whose state changes from outside.
pub trait Ready {
    /// Epoll told of its descriptor.
    fn ready(&mut self, now: Time);
}

/// The rule by which a run ends, unless it is stopped before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The run ends at this date.
    At(Time),
    /// The run ends when its flows are over and the programs that it waits for have ended.
    WhenOver {
        /// It goes on for so long at most for connections to end.
        patience: Span,
        /// Time for which it goes on after that in any case, for what is still in the network.
        rest: Span,
    },
}

/// Stops a run from another thread.
#[derive(Clone, Debug)]
pub struct Stop {
    flag: Arc<AtomicBool>,
    reactor: Reactor,
}

impl Stop {
    /// Makes a handle that stops the run of this reactor.
    pub fn new(reactor: &Reactor) -> Stop {
        Stop { flag: Arc::new(AtomicBool::new(false)), reactor: reactor.clone() }
    }

    /// Stops the run soon; may be called from any thread.
    pub fn stop(&self) {
        self.flag.store(true, Ordering::Relaxed);
        self.reactor.ring();
    }

    fn is_set(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }
}

/// A world that is ready to run.
pub struct Live<E> {
    /// The network and all endpoints.
    pub simulation: Simulation<E>,
    /// The hosts outside; their namespaces last as long as this.
    pub hosts: Vec<ExternalHost>,
    /// The ports of all hosts outside.
    pub ports: Vec<Port>,
    /// What stands on the wire for a node.
    pub book: AddressBook,
    /// The reactor at which sockets and programs report.
    pub reactor: Reactor,
    /// Programs that run until they end.
    pub programs: Vec<Program>,
    /// Programs that run as long as the world does.
    pub services: Vec<Program>,
}

/// What a run leaves behind.
pub struct Outcome<E> {
    /// The simulation as it stood at the end.
    pub simulation: Simulation<E>,
    /// The ports, with their counters.
    pub ports: Vec<Port>,
    /// How late packets left for hosts outside.
    pub lateness: Lateness,
    /// The same of each port, in the order of `ports`.
    pub lateness_of_ports: Vec<Lateness>,
    /// The longest time that the loop was away beyond its sleep: others had the
    /// processor, or the process was suspended.
    pub longest_absence: Span,
    /// Date zero by `CLOCK_MONOTONIC`, so that programs' dates can be compared.
    pub started: Duration,
    /// Processor time of the loop.
    pub cpu: Duration,
    /// How the loop was scheduled.
    pub scheduling: Scheduling,
    /// The loop ran without root's rights.
    pub unprivileged: bool,
    /// Somebody stopped the run before its end.
    pub stopped: bool,
    /// Reports of the programs, and then of the services.
    pub programs: Vec<ProgramReport>,
}

/// Packets that are taken from a port before others have their turn, and the rest
/// of what the last was read with.
const BATCH: usize = 32;
/// Octets that applications write in a turn, before packets have theirs. Where a receiver runs dry
/// between pieces, its waking is the sender's to pay.
const TURN: u64 = 256 << 10;
/// Each of them at least: an initial window of TCP, so that a piece is no longer than the burst of
/// departures that waits for it.
const PIECE: u64 = 16 << 10;
/// Time between two looks at whether all is over.
const LOOK: Span = Span::from_millis(5);

impl<E: FlowEndpoint + Ready + Send> Live<E> {
    /// Runs the world from date zero, now. `flows_are_over` and `is_quiet` look
    /// at the flows: everything has arrived; nothing is under way any more.
    ///
    /// # Errors
    /// An interface that disappears, and the kernel's refusals.
    pub fn run(
        self,
        end: End,
        stop: &Stop,
        flows_are_over: impl Fn(&Simulation<E>) -> bool + Send,
        is_quiet: impl Fn(&Simulation<E>) -> bool + Send,
    ) -> Result<Outcome<E>, LiveError> {
        // A thread of its own: its priority and its rights are nobody else's.
        let run = || self.run_here(end, stop, Clock::start, flows_are_over, is_quiet);
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("live".into()).spawn_scoped(scope, run);
            match thread.doing("a thread")?.join() {
                Ok(outcome) => outcome,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }

    fn run_here(
        self,
        end: End,
        stop: &Stop,
        start: impl FnOnce() -> Clock,
        flows_are_over: impl Fn(&Simulation<E>) -> bool,
        is_quiet: impl Fn(&Simulation<E>) -> bool,
    ) -> Result<Outcome<E>, LiveError> {
        let Live { simulation, hosts, ports, book, reactor, programs, services } = self;
        for (number, port) in (0..).zip(&ports) {
            let added = reactor.add_reader(port.fd(), Token::Port(number));
            added.map_err(|error| gone(port, error))?;
        }
        let scheduling = make_precise();
        let unprivileged = drop_privileges();
        let mut of_node = Vec::new();
        for (number, port) in ports.iter().enumerate() {
            let node = port.node().0 as usize;
            of_node.resize(of_node.len().max(node + 1), usize::MAX);
            of_node[node] = number;
        }
        let (clock, cpu) = (start(), processor_time());
        let (started, departures) = (clock.started(), Departures::new(ports.len()));
        let (expected, longest_absence) = (Time::ZERO, Span::ZERO);
        let mut running = Loop {
            simulation,
            ports,
            gathering: Vec::new(),
            book,
            of_node,
            clock,
            expected,
            longest_absence,
            departures,
        };
        let mut ready = Vec::new();
        running.simulation.write_in_pieces(TURN, PIECE);
        let (mut next_look, mut closing, mut quiet_since) = (Time::ZERO, None, None);
        let mut stopped = false;
        loop {
            let now = running.advance()?;
            stopped |= stop.is_set();
            if stopped {
                break;
            }
            if now >= next_look {
                next_look = now + LOOK;
                match end {
                    End::At(date) if now >= date => break,
                    End::At(_) => {}
                    End::WhenOver { patience, rest } => {
                        let programs = || programs.iter().all(Program::is_over);
                        if flows_are_over(&running.simulation) && programs() {
                            let last: &mut Time = closing.get_or_insert(now + patience + rest);
                            if is_quiet(&running.simulation) {
                                *last = (*last).min(*quiet_since.get_or_insert(now) + rest);
                            }
                            if now >= *last {
                                break;
                            }
                        }
                    }
                }
            }
            running.simulation.write_on();
            let mut due = running.simulation.next_event().min(next_look);
            if running.simulation.has_rest() {
                due = now;
            }
            if let End::At(date) = end {
                due = due.min(date);
            }
            let sleep = due.saturating_since(running.look());
            running.expected = due;
            reactor.wait(&mut ready, Some(sleep)).map_err(|error| LiveError::System {
                what: "waiting for packets".into(),
                error: error.into(),
            })?;
            running.look();
            for token in ready.drain(..) {
                match token {
                    Token::Port(number) => running.take(number as usize)?,
                    Token::Endpoint(flow, side) => {
                        let now = running.advance()?;
                        running
                            .simulation
                            .with_endpoint(flow, side, |endpoint| endpoint.ready(now));
                    }
                    Token::Alarm => reactor.silence(),
                }
            }
        }
        let programs = programs.into_iter().chain(services).map(Program::finish).collect();
        drop(hosts);
        let Loop { simulation, mut ports, departures, longest_absence, .. } = running;
        ports.iter_mut().for_each(Port::ask_kernel);
        Ok(Outcome {
            simulation,
            ports,
            lateness: departures.all(),
            lateness_of_ports: departures.of_port,
            longest_absence,
            started,
            cpu: processor_time().saturating_sub(cpu),
            scheduling,
            unprivileged,
            stopped,
            programs,
        })
    }
}

/// Processor time of this thread.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

fn gone(port: &Port, error: Errno) -> LiveError {
    LiveError::InterfaceGone { name: port.name().to_owned(), error: error.into() }
}

struct Loop<E> {
    simulation: Simulation<E>,
    ports: Vec<Port>,
    /// Ports that have taken segments together and not handed them over; some twice.
    gathering: Vec<usize>,
    book: AddressBook,
    /// The port of each node, by the node's number.
    of_node: Vec<usize>,
    clock: Clock,
    /// The next look at the clock is due by then: the last one, or the end of a sleep.
    expected: Time,
    longest_absence: Span,
    departures: Departures,
}

impl<E: FlowEndpoint> Loop<E> {
    /// The time. What has passed since it was expected to be looked at, the loop
    /// was away.
    fn look(&mut self) -> Time {
        let now = self.clock.now();
        self.longest_absence = self.longest_absence.max(now.saturating_since(self.expected));
        self.expected = now;
        now
    }

    /// Does what is due, and hands out what has left.
    fn advance(&mut self) -> Result<Time, LiveError> {
        self.advance_amid(false)
    }

    /// Advances as the loop does; `more`: others may have brought more that is answered together
    /// with this.
    fn advance_amid(&mut self, more: bool) -> Result<Time, LiveError> {
        let now = self.look();
        self.simulation.run_until(now);
        if !more {
            self.simulation.answer();
        }
        let Loop { clock, departures, ports, gathering, .. } = self;
        for departure in self.simulation.departures() {
            let number = self.of_node[departure.node.0 as usize];
            let port = &mut ports[number];
            let mut left = |at| departures.left(number, at, clock);
            let written = port.write(departure.packet, departure.at, &self.book, &mut left);
            written.map_err(|error| gone(port, error))?;
            if port.is_gathering() && gathering.last() != Some(&number) {
                gathering.push(number);
            }
        }
        for number in gathering.drain(..) {
            let port = &mut ports[number];
            let mut left = |at| departures.left(number, at, clock);
            port.flush(&mut left).map_err(|error| gone(port, error))?;
        }
        departures.read(clock);
        Ok(now)
    }

    /// Takes packets from a port. What leaves because of them leaves together: a peer whose
    /// processor sleeps between packets that come one by one is woken for each, and waking it takes
    /// the loop longer than writing ten.
    fn take(&mut self, number: usize) -> Result<(), LiveError> {
        let mut taken = 0;
        while taken < BATCH {
            let read = self.ports[number].read();
            let Some(len) = read.map_err(|error| gone(&self.ports[number], error))? else { break };
            // It comes now, after what has happened until now.
            let now = self.look();
            self.simulation.run_until(now);
            let port = &mut self.ports[number];
            let node = port.node();
            let packets = port.packets(len, &self.book);
            taken += packets.as_ref().map_or(1, Packets::len);
            for packet in packets.into_iter().flatten() {
                self.simulation.enter(node, packet);
            }
        }
        self.advance_amid(true)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
