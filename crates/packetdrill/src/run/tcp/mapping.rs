//! What numbers of a script stand for on the wire.
//!
//! In SYNs a script writes whole numbers: the remote side's are taken as they
//! are, and the stack's initial number, learnt from its first SYN, stands for
//! the one that the script has there. In all other segments numbers count from
//! the initial ones, in acknowledgments and SACK blocks too.
//! Values of the stack's timestamp clock are learnt from each packet, so that
//! an echo in the script names one of them.

use crate::script::{Sequence, TcpOptionSpec, TcpSpec};
use crate::stack::{LOCAL, PORT, REMOTE};
use anabranch_units::Serial32;
use anabranch_wire::{Addr, Body, FlowKey, Packet, TcpFlags, TcpSegment};
use std::collections::BTreeMap;

/// Why a packet cannot be made as the script wants it.
pub(super) type Unusable = String;

/// Random numbers of both sides in the handshake of a subflow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Nonces {
    pub local: u32,
    pub remote: u32,
}

/// The first port of connections that come to the stack.
const FIRST_REMOTE_PORT: u16 = 32_768;

/// What Linux makes of the key that the suites' `defaults.sh` sets, for a client
/// at 192.0.2.1 and a server at 192.168.0.1: it stands for the stack's own
/// cookie.
const LINUX_COOKIE: [u8; 8] = [0x30, 0x21, 0xb9, 0xd8, 0x89, 0x01, 0x7e, 0xeb];

/// The word that stands for a cookie of the stack's.
pub(super) fn cookie_word(option: &TcpOptionSpec) -> Option<&str> {
    match option {
        TcpOptionSpec::FastOpen { cookie: Err(word), .. } => Some(word),
        TcpOptionSpec::FastOpen { cookie: Ok(cookie), .. } if *cookie == LINUX_COOKIE => {
            Some("TFO_COOKIE")
        }
        _ => None,
    }
}

/// The connection under test.
#[derive(Clone, Debug)]
pub(super) struct Mapping {
    local_addr: Addr,
    remote_addr: Addr,
    local_port: u16,
    remote_port: u16,
    /// There is a connection, or a packet made one be looked for.
    known: bool,
    /// The port of the next connection that comes.
    next_port: u16,
    /// The stack's initial number, on the wire and in the script.
    local: Option<(u32, u32)>,
    /// The remote side's initial number.
    remote: Option<u32>,
    /// Script and live values of the stack's clock, the latest last.
    stamps: Vec<(u32, u32)>,
    /// Cookies that the script names and nobody defined.
    pub cookies: BTreeMap<String, Vec<u8>>,
    /// Random numbers of the subflow's handshake.
    pub nonces: Nonces,
    /// Octets by which the header of IP is longer than that of IPv4.
    pub longer_header: u32,
    /// Echoes that are no known value are scaled (`--tcp_ts_ecr_scaled`).
    pub scaled: bool,
}

impl Mapping {
    pub fn new() -> Mapping {
        Mapping {
            local_addr: LOCAL,
            remote_addr: REMOTE,
            local_port: PORT,
            remote_port: 0,
            known: false,
            next_port: FIRST_REMOTE_PORT,
            local: None,
            remote: None,
            stamps: Vec::new(),
            cookies: BTreeMap::new(),
            nonces: Nonces::default(),
            longer_header: 0,
            scaled: false,
        }
    }

    /// The key of the packets that the stack sends.
    pub fn flow(&self) -> FlowKey {
        FlowKey {
            src: self.local_addr,
            dst: self.remote_addr,
            protocol: 6,
            src_port: self.local_port,
            dst_port: self.remote_port,
        }
    }

    fn begin(&mut self, local_port: u16, remote_port: u16) {
        (self.local_port, self.remote_port) = (local_port, remote_port);
        (self.known, self.local, self.remote) = (true, None, None);
        self.stamps.clear();
    }

    fn begin_inbound(&mut self, ports: Option<(u16, u16)>) {
        let remote = ports.map_or(self.next_port, |ports| ports.0);
        self.next_port = self.next_port.wrapping_add(1).max(FIRST_REMOTE_PORT);
        self.begin(ports.map_or(PORT, |ports| ports.1), remote);
    }

    /// A further subflow of the connection, which the stack opens with this
    /// packet.
    pub fn of_packet(packet: &Packet) -> Mapping {
        let flow = packet.flow_key();
        let mut mapping = Mapping::new();
        (mapping.local_addr, mapping.remote_addr) = (flow.src, flow.dst);
        mapping.begin(flow.src_port, flow.dst_port);
        mapping
    }

    /// A further subflow, which the script opens from `remote` to `local`.
    pub fn joining(&mut self, local: Addr, remote: Addr, spec: &TcpSpec) -> Mapping {
        let mut mapping = Mapping::new();
        (mapping.local_addr, mapping.remote_addr) = (local, remote);
        mapping.next_port = self.next_port;
        mapping.begin_inbound(None);
        mapping.local_port = self.local_port;
        self.next_port = mapping.next_port;
        mapping.remote = spec.sequence.start;
        mapping
    }

    /// The addresses of the stack and of the other side.
    pub fn addresses(&self) -> (Addr, Addr) {
        (self.local_addr, self.remote_addr)
    }

    /// The connection runs between these addresses.
    pub fn set_addresses(&mut self, local: Addr, remote: Addr) {
        (self.local_addr, self.remote_addr) = (local, remote);
    }

    /// Whether the numbers of a connection are known.
    pub fn is_known(&self) -> bool {
        self.known
    }

    /// A segment of the script is about to come to the stack; `awaited`: a listener of the stack
    /// awaits a connection. One that names other ports is of another connection, too.
    pub fn on_inbound(&mut self, spec: &TcpSpec, ports: Option<(u16, u16)>, awaited: bool) {
        let others = TcpFlags::ACK.union(TcpFlags::RST);
        let opens = spec.flags.bits.contains(TcpFlags::SYN) && !spec.flags.bits.intersects(others);
        let elsewhere = ports.is_some_and(|ports| ports != (self.remote_port, self.local_port));
        if !self.known || opens && (awaited || elsewhere) {
            self.begin_inbound(ports);
        }
        if spec.flags.bits.contains(TcpFlags::SYN) {
            self.remote.get_or_insert(spec.sequence.start.unwrap_or(0));
        }
    }

    /// The packet is the SYN of a connection that the stack opens anew.
    pub fn is_opened_by(&self, packet: &Packet) -> bool {
        let Body::Tcp(segment) = &packet.body else { return false };
        let same = segment.src_port == self.local_port && segment.dst_port == self.remote_port;
        let syn = segment.flags.contains(TcpFlags::SYN) && !segment.flags.contains(TcpFlags::ACK);
        syn && !(self.known && same)
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
        if self.local.is_none() && segment.flags.contains(TcpFlags::SYN) {
            self.local = Some((segment.seq.0, spec.sequence.start.unwrap_or(0)));
        }
    }

    /// What is to be added to one of the script's numbers of the stack.
    fn local_offset(&self, syn: bool) -> u32 {
        let (live, script) = self.local.unwrap_or((0, 0));
        if syn { live.wrapping_sub(script) } else { live }
    }

    /// What is to be added to one of the script's numbers of the remote side.
    fn remote_offset(&self, syn: bool) -> u32 {
        if syn { 0 } else { self.remote.unwrap_or(0) }
    }

    /// A number of the stack's as the script has it; `syn`: in a SYN.
    pub fn to_script(&self, live: Serial32, syn: bool) -> u32 {
        live.0.wrapping_sub(self.local_offset(syn))
    }

    /// A number of the stack's as it is on the wire.
    pub fn to_live(&self, script: u32, syn: bool) -> Serial32 {
        Serial32(script.wrapping_add(self.local_offset(syn)))
    }

    /// A number of the remote side's as the script has it.
    pub fn remote_to_script(&self, live: Serial32, syn: bool) -> u32 {
        live.0.wrapping_sub(self.remote_offset(syn))
    }

    /// A number of the remote side's as it is on the wire.
    pub fn remote_to_live(&self, script: u32, syn: bool) -> Serial32 {
        Serial32(script.wrapping_add(self.remote_offset(syn)))
    }

    /// The stack's sequence number that a quote of its packet names.
    pub fn quoted(&self, sequence: &Sequence) -> Serial32 {
        self.to_live(sequence.start.unwrap_or(0), false)
    }

    /// An edge of a SACK block: one that comes speaks of the stack's numbers.
    pub fn shown_sack(&self, live: u32, inbound: bool) -> u32 {
        match inbound {
            true => self.to_script(Serial32(live), false),
            false => self.remote_to_script(Serial32(live), false),
        }
    }

    /// An option that is expected, in the numbers of the wire.
    pub fn outbound_option(&self, option: &TcpOptionSpec) -> TcpOptionSpec {
        match option {
            TcpOptionSpec::Sack(blocks) => {
                let live = |script: u32| self.remote_to_live(script, false).0;
                TcpOptionSpec::Sack(blocks.iter().map(|(a, b)| (live(*a), live(*b))).collect())
            }
            option => self.with_cookie(option),
        }
    }

    /// An option that comes, in the stack's numbers.
    pub fn inbound_option(&self, option: &TcpOptionSpec) -> Result<TcpOptionSpec, Unusable> {
        Ok(match option {
            TcpOptionSpec::Sack(blocks) => {
                let live = |script: u32| self.to_live(script, false).0;
                TcpOptionSpec::Sack(blocks.iter().map(|(a, b)| (live(*a), live(*b))).collect())
            }
            TcpOptionSpec::Timestamps { value, echo: Some(echo), absolute: false } => {
                let echo = Some(self.live_stamp(*echo)?);
                TcpOptionSpec::Timestamps { value: *value, echo, absolute: false }
            }
            option => self.with_cookie(option),
        })
    }

    /// An option with the cookie that its word stands for, where it is known.
    pub fn with_cookie(&self, option: &TcpOptionSpec) -> TcpOptionSpec {
        let (TcpOptionSpec::FastOpen { experimental, .. }, Some(word)) =
            (option, cookie_word(option))
        else {
            return option.clone();
        };
        let cookie = self.cookies.get(word).cloned().ok_or_else(|| word.to_owned());
        TcpOptionSpec::FastOpen { experimental: *experimental, cookie }
    }

    fn live_stamp(&self, script: u32) -> Result<u32, Unusable> {
        // An echo before the stack has told its clock is none.
        if script == 0 || self.stamps.is_empty() && self.local.is_none() {
            return Ok(script);
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
