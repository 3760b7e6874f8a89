//! What numbers of a script stand for on the wire.
//!
//! A script counts from its own initial numbers. The remote side's are taken
//! as they are written; the stack's own are learnt from its first SYN, and the
//! difference is applied to sequence numbers, acknowledgments and SACK blocks.
//! Values of the stack's timestamp clock are learnt from each packet, so that
//! an echo in the script names one of them.

use super::options::Unusable;
use crate::script::{Sequence, TcpOptionSpec, TcpSpec};
use crate::stack::{LOCAL, PORT, REMOTE};
use anabranch_units::Serial32;
use anabranch_wire::{FlowKey, TcpFlags, TcpSegment};

/// The first port of connections that come to the stack.
const FIRST_REMOTE_PORT: u16 = 32_768;

/// The connection under test.
#[derive(Clone, Debug)]
pub(super) struct Mapping {
    local_port: u16,
    remote_port: u16,
    /// There is a connection, or a packet made one be looked for.
    known: bool,
    /// The port of the next connection that comes.
    next_port: u16,
    /// Live minus script, of the stack's sequence numbers.
    offset: u32,
    learnt: bool,
    /// The remote SYN of a handshake that is not finished.
    remote_syn: Option<u32>,
    /// Script and live values of the stack's clock, the latest last.
    stamps: Vec<(u32, u32)>,
    /// Echoes that are no known value are scaled (`--tcp_ts_ecr_scaled`).
    pub scaled: bool,
}

impl Mapping {
    pub fn new() -> Mapping {
        Mapping {
            local_port: PORT,
            remote_port: 0,
            known: false,
            next_port: FIRST_REMOTE_PORT,
            offset: 0,
            learnt: false,
            remote_syn: None,
            stamps: Vec::new(),
            scaled: false,
        }
    }

    /// The key of the packets that the stack sends.
    pub fn flow(&self) -> FlowKey {
        FlowKey {
            src: LOCAL,
            dst: REMOTE,
            protocol: 6,
            src_port: self.local_port,
            dst_port: self.remote_port,
        }
    }

    fn begin(&mut self, local_port: u16, remote_port: u16) {
        (self.local_port, self.remote_port) = (local_port, remote_port);
        (self.known, self.learnt, self.offset) = (true, false, 0);
        self.remote_syn = None;
        self.stamps.clear();
    }

    fn begin_inbound(&mut self, ports: Option<(u16, u16)>) {
        let remote = ports.map_or(self.next_port, |ports| ports.0);
        self.next_port = self.next_port.wrapping_add(1).max(FIRST_REMOTE_PORT);
        self.begin(ports.map_or(PORT, |ports| ports.1), remote);
    }

    /// A segment of the script is about to come to the stack; `listening`: the
    /// stack has a listener.
    pub fn on_inbound(&mut self, spec: &TcpSpec, ports: Option<(u16, u16)>, listening: bool) {
        let others = TcpFlags::ACK.union(TcpFlags::RST);
        let opens = spec.flags.bits.contains(TcpFlags::SYN) && !spec.flags.bits.intersects(others);
        let seq = spec.sequence.start.unwrap_or(0);
        let repeated = self.remote_syn == Some(seq);
        if !self.known || opens && listening && !repeated {
            self.begin_inbound(ports);
        }
        self.remote_syn = match opens {
            true => Some(seq),
            // Until the script has answered the SYN-ACK.
            false => self.remote_syn.filter(|_| !spec.flags.bits.intersects(others)),
        };
    }

    /// A segment leaves the stack; false when it is of another connection.
    pub fn is_under_test(&mut self, segment: &TcpSegment) -> bool {
        let opens = segment.flags.contains(TcpFlags::SYN);
        let same = segment.src_port == self.local_port && segment.dst_port == self.remote_port;
        if self.known && same {
            return true;
        }
        let active = opens && !segment.flags.contains(TcpFlags::ACK);
        if active {
            self.begin(segment.src_port, segment.dst_port);
        }
        active || !self.known
    }

    /// Learns the stack's initial number from its SYN.
    pub fn learn(&mut self, spec: &TcpSpec, segment: &TcpSegment) {
        if !self.learnt && segment.flags.contains(TcpFlags::SYN) {
            self.learnt = true;
            self.offset = segment.seq.0.wrapping_sub(spec.sequence.start.unwrap_or(0));
        }
    }

    /// A number of the stack's as the script has it.
    pub fn to_script(&self, live: Serial32) -> u32 {
        live.0.wrapping_sub(self.offset)
    }

    /// A number of the stack's as it is on the wire.
    pub fn to_live(&self, script: u32) -> Serial32 {
        Serial32(script.wrapping_add(self.offset))
    }

    /// The stack's sequence number that a quote of its packet names.
    pub fn quoted(&self, sequence: &Sequence) -> Serial32 {
        self.to_live(sequence.start.unwrap_or(0))
    }

    /// SACK blocks that come speak of the stack's numbers.
    pub fn shown_sack(&self, live: u32, inbound: bool) -> u32 {
        if inbound { self.to_script(Serial32(live)) } else { live }
    }

    /// An option that comes, in the stack's numbers.
    pub fn inbound_option(&self, option: &TcpOptionSpec) -> Result<TcpOptionSpec, Unusable> {
        Ok(match option {
            TcpOptionSpec::Sack(blocks) => {
                let live = |script: u32| self.to_live(script).0;
                TcpOptionSpec::Sack(blocks.iter().map(|(a, b)| (live(*a), live(*b))).collect())
            }
            TcpOptionSpec::Timestamps { value, echo: Some(echo), absolute: false } => {
                let echo = Some(self.live_stamp(*echo)?);
                TcpOptionSpec::Timestamps { value: *value, echo, absolute: false }
            }
            option => option.clone(),
        })
    }

    /// An option that is expected; its numbers are the remote side's.
    pub fn outbound_option(&self, option: &TcpOptionSpec) -> TcpOptionSpec {
        option.clone()
    }

    fn live_stamp(&self, script: u32) -> Result<u32, Unusable> {
        if script == 0 {
            return Ok(0);
        }
        if let Some((_, live)) = self.stamps.iter().rev().find(|(known, _)| *known == script) {
            return Ok(*live);
        }
        let (Some(first), true) = (self.stamps.first(), self.scaled) else {
            return Err(format!("the echo {script} is no timestamp that the script expected"));
        };
        Ok(first.1.wrapping_add(script.wrapping_sub(first.0)))
    }

    /// The value of the stack's clock that stands for one of the script.
    pub fn remember_stamp(&mut self, script: u32, live: u32) {
        self.stamps.push((script, live));
    }

    /// The first pair of values.
    pub fn first_stamp(&self) -> Option<(u32, u32)> {
        self.stamps.first().copied()
    }

    /// The ports of the stack and of the other side.
    pub fn ports(&self) -> (u16, u16) {
        (self.local_port, self.remote_port)
    }
}
