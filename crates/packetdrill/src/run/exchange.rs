//! Packets: those that the script injects, and those that it expects.

use super::dialect::{Context, Difference, Merged, Trouble, protocol_of};
use super::timing::Window;
use super::{Run, Runner, Sent, Stop};
use crate::report::seconds;
use crate::script::{Event, PacketBody, PacketSpec};
use anabranch_units::Span;
use anabranch_wire::TcpFlags;

/// Time for which a packet, or in real time a call, is awaited after it is due.
pub(super) const PATIENCE: Span = Span::from_secs(2);

/// The packet asks for a connection.
fn opens(spec: &PacketSpec) -> bool {
    let others = TcpFlags::ACK.union(TcpFlags::RST);
    match &spec.body {
        PacketBody::Tcp(tcp) => {
            tcp.flags.bits.contains(TcpFlags::SYN) && !tcp.flags.bits.intersects(others)
        }
        _ => false,
    }
}

impl Runner<'_> {
    fn context(&self) -> Context {
        let awaits_connection = self.awaits_connection;
        let (slack, has_ip) = (self.tolerance.least, self.stack.has_ip());
        Context { now: self.now, awaits_connection, slack, has_ip }
    }

    /// Chooses the dialect that a packet of the script is of; a message of ICMP that quotes nothing
    /// known is of the one under test.
    fn dialect_of(&mut self, spec: &PacketSpec) -> Run {
        let Some(protocol) = protocol_of(spec) else { return Ok(()) };
        match self.dialects.iter().position(|dialect| dialect.protocol() == protocol) {
            Some(at) => self.current = at,
            None => {
                let reason = format!("packets of the protocol {protocol}");
                return Err(Stop::NotApplicable(reason));
            }
        }
        Ok(())
    }

    fn trouble<T>(&self, event: &Event, trouble: Trouble) -> Run<T> {
        match trouble {
            Trouble::NotApplicable(reason) => Err(Stop::NotApplicable(reason)),
            Trouble::Failed(reason) => self.fail(event, reason, "", ""),
        }
    }

    pub(super) fn inject(&mut self, event: &Event, spec: &PacketSpec) -> Run {
        self.dialect_of(spec)?;
        let context = self.context();
        let packet = match self.dialects[self.current].inbound(context, spec, self.stack) {
            Ok(packet) => packet,
            Err(trouble) => return self.trouble(event, trouble),
        };
        self.awaits_connection &= !opens(spec);
        self.note(true, &packet);
        self.stack.handle_input(self.now, &packet);
        if let Some(reason) = self.stack.lack() {
            return Err(Stop::NotApplicable(reason));
        }
        if let Some(reason) = self.stack.refusal() {
            return self.fail(event, reason, "", "");
        }
        self.look_at_clock();
        self.settle();
        Ok(())
    }

    /// The next packet of the connection under test is as written.
    pub(super) fn expect(&mut self, event: &Event, spec: &PacketSpec, window: &Window) -> Run {
        self.dialect_of(spec)?;
        let Some(Sent { time, packet, udp }) = self.await_packet(window) else {
            return self.fail(event, "no packet left", window.to_string(), "");
        };
        let mut merged = Merged { packet, segments: 1, udp };
        while let Some(next) = self.peek_packet(spec, &merged, window) {
            merged = next;
            self.outbox.pop_front();
        }
        let context = self.context();
        let dialect = &mut self.dialects[self.current];
        let compared = dialect.compare(context, spec, &merged);
        let difference = match compared {
            Err(trouble) => return self.trouble(event, trouble),
            Ok(Some(difference)) => Some(difference),
            Ok(None) if !window.holds(time) => {
                let what = format!("the packet left at {} s, due {window}", seconds(time));
                Some(Difference::from(what))
            }
            Ok(None) => dialect.on_match(context, spec, &merged.packet),
        };
        let Some(Difference { what, expected, actual }) = difference else { return Ok(()) };
        let shown = self.dialects[self.current].show(&merged.packet, false);
        let expected = expected.unwrap_or_else(|| event.text.clone());
        self.fail(event, what, expected, actual.unwrap_or(shown))
    }

    /// Waits for a packet of the connection under test.
    fn await_packet(&mut self, window: &Window) -> Option<Sent> {
        self.settle();
        let limit = match window.any {
            true => self.now.saturating_add(self.longest()),
            false => window.latest().saturating_add(PATIENCE).max(self.now),
        };
        loop {
            let dialect = &mut self.dialects[self.current];
            let opens = |sent: &Sent| dialect.is_opened_by(&sent.packet);
            if let Some(at) = self.outbox.iter().position(opens) {
                self.outbox.drain(..at);
            }
            while let Some(sent) = self.outbox.pop_front() {
                if dialect.is_under_test(&sent.packet) {
                    return Some(sent);
                }
            }
            if !self.wait(limit) {
                self.now = self.now.max(limit);
                return None;
            }
        }
    }

    /// What there is with the packet that follows within the time allowed, if
    /// both may stand for one of the script; it is left where it is.
    fn peek_packet(
        &mut self,
        spec: &PacketSpec,
        merged: &Merged,
        window: &Window,
    ) -> Option<Merged> {
        let wants = |runner: &Self| runner.dialects[runner.current].wants_more(spec, merged);
        if !wants(self) {
            return None;
        }
        while self.outbox.is_empty() && self.wait(window.latest()) {}
        let next = self.outbox.front().filter(|packet| packet.time <= window.latest())?;
        let mut merged = merged.clone();
        let alike = next.udp == merged.udp;
        (alike && self.dialects[self.current].add(&mut merged, &next.packet)).then_some(merged)
    }
}
