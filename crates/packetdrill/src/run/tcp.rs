//! TCP: its segments, and the ICMP messages that quote them.

mod mapping;
mod multipath;
mod options;
mod packets;

use super::dialect::{Context, Dialect, Difference, Merged, Trouble};
use crate::report::millis;
use crate::script::{OptionsSpec, PacketBody, PacketSpec, TcpOptionSpec, TcpSpec, ToolOption};
use crate::stack::Stack;
use anabranch_units::{Span, Time};
use anabranch_wire::tcp::mptcp::MptcpOption;
use anabranch_wire::{AddressBook, Body, FlowKey, Packet, TcpFlags};
use mapping::{Mapping, cookie_word};
use multipath::Multipath;

/// TCP between a script and the wire.
pub(super) struct TcpDialect {
    /// The current subflow, or the only one, and the others.
    mapping: Mapping,
    others: Vec<Mapping>,
    multipath: Multipath,
    /// Segments are compared one by one (`--strict_segments`).
    strict_segments: bool,
    /// Length of a tick of the stack's timestamp clock, where it is checked.
    tick: Option<Span>,
}

impl TcpDialect {
    pub fn new() -> TcpDialect {
        TcpDialect {
            mapping: Mapping::new(),
            others: Vec::new(),
            multipath: Multipath::new(),
            strict_segments: false,
            tick: None,
        }
    }

    /// Cookies that the script names before the stack has given one.
    fn learn_cookies(&mut self, now: Time, spec: &TcpSpec, stack: &mut dyn Stack) {
        let OptionsSpec::List(list) = &spec.options else { return };
        for option in list {
            if let Some(word) = cookie_word(option)
                && !self.mapping.cookies.contains_key(word)
                && let Some(cookie) = stack.fast_open_cookie(now)
            {
                self.mapping.cookies.insert(word.to_owned(), cookie);
            }
        }
    }
}

/// What no stack here can be drilled with yet.
fn refuse_unsupported(spec: &PacketSpec) -> Result<(), Trouble> {
    match spec.outer.is_empty() {
        true => Ok(()),
        false => Err(Trouble::NotApplicable("packets within packets".into())),
    }
}

/// The segment opens a further subflow of a connection (MP_JOIN).
fn joins(packet: &Packet) -> bool {
    let Body::Tcp(segment) = &packet.body else { return false };
    let join = |option: &MptcpOption| matches!(option, MptcpOption::Join(_));
    let syn = segment.flags.contains(TcpFlags::SYN) && !segment.flags.contains(TcpFlags::ACK);
    syn && segment.options.mptcp().iter().any(join)
}

/// The packet of the script does.
fn opens_subflow(spec: &TcpSpec) -> bool {
    let OptionsSpec::List(list) = &spec.options else { return false };
    list.iter()
        .any(|option| matches!(option, TcpOptionSpec::Mptcp(mptcp) if is_join_syn(&mptcp.name)))
}

/// It asks for a connection of Multipath TCP, which is always another.
fn opens_multipath(spec: &TcpSpec) -> bool {
    let OptionsSpec::List(list) = &spec.options else { return false };
    list.iter()
        .any(|option| matches!(option, TcpOptionSpec::Mptcp(mptcp) if mptcp.name == "mpcapable"))
}

fn is_join_syn(name: &str) -> bool {
    matches!(name, "mp_join_syn" | "mp_join_syn_backup")
}

impl TcpDialect {
    /// Makes the subflow with these addresses the current one.
    fn select(&mut self, is_it: impl Fn(&Mapping) -> bool) {
        if !is_it(&self.mapping)
            && let Some(other) = self.others.iter_mut().find(|subflow| is_it(subflow))
        {
            std::mem::swap(&mut self.mapping, other);
        }
    }

    /// The subflow that a packet of the script comes on.
    fn select_inbound(&mut self, spec: &PacketSpec, tcp: &TcpSpec) {
        let named =
            spec.subflow.as_ref().map(|subflow| self.multipath.addresses_of(subflow, true, None));
        let (own, peer) = self.mapping.addresses();
        let (remote, local) = named.map_or((peer, own), |(src, dst)| (src.unwrap_or(peer), dst));
        if opens_subflow(tcp) && tcp.flags.bits.contains(TcpFlags::SYN) {
            let there = |subflow: &Mapping| subflow.addresses() == (local, remote);
            if !there(&self.mapping) && !self.others.iter().any(there) {
                let joining = self.mapping.joining(local, remote, tcp);
                self.others.push(std::mem::replace(&mut self.mapping, joining));
                return;
            }
        }
        if named.is_some() {
            match self.mapping.is_known() {
                true => self.select(|subflow| subflow.addresses() == (local, remote)),
                false => self.mapping.set_addresses(local, remote),
            }
        }
    }
}

impl Dialect for TcpDialect {
    fn protocol(&self) -> u8 {
        6
    }

    fn option(&mut self, option: &ToolOption) -> Result<(), Trouble> {
        let micros = option.value.as_deref().and_then(|value| value.parse().ok());
        match option.name.as_str() {
            "strict_segments" => self.strict_segments = true,
            "tcp_ts_ecr_scaled" => self.mapping.scaled = true,
            "ip_version" if option.value.as_deref() == Some("ipv6") => {
                self.mapping.longer_header = Packet::IPV6_LONGER;
            }
            "tcp_ts_tick_usecs" => {
                self.tick = micros.map(|us| Span::from_micros(1).saturating_mul(us))
            }
            _ => {}
        }
        Ok(())
    }

    fn learn_addresses(&mut self, book: &AddressBook) {
        self.multipath.learn_addresses(book);
    }

    fn inbound(
        &mut self,
        context: Context,
        spec: &PacketSpec,
        stack: &mut dyn Stack,
    ) -> Result<Packet, Trouble> {
        refuse_unsupported(spec)?;
        if let PacketBody::Tcp(tcp) = &spec.body {
            self.learn_cookies(context.now, tcp, stack);
            self.select_inbound(spec, tcp);
            if !opens_subflow(tcp) {
                let awaited = context.awaits_connection || opens_multipath(tcp);
                self.mapping.on_inbound(tcp, spec.ports, awaited);
            }
        }
        Ok(packets::inbound(spec, &mut self.mapping, &mut self.multipath)?)
    }

    fn is_opened_by(&self, packet: &Packet) -> bool {
        let others = self.others.iter();
        !joins(packet)
            && std::iter::once(&self.mapping)
                .chain(others)
                .all(|subflow| subflow.is_opened_by(packet))
    }

    fn is_under_test(&mut self, packet: &Packet) -> bool {
        match &packet.body {
            Body::Tcp(segment) => {
                let key = packet.flow_key();
                let known = |subflow: &Mapping| subflow.is_known() && subflow.flow() == key;
                self.select(known);
                if joins(packet) && !known(&self.mapping) {
                    let subflow = Mapping::of_packet(packet);
                    self.others.push(std::mem::replace(&mut self.mapping, subflow));
                    return true;
                }
                self.mapping.is_under_test(segment)
            }
            _ => true,
        }
    }

    fn wants_more(&self, spec: &PacketSpec, merged: &Merged) -> bool {
        let wanted = match &spec.body {
            PacketBody::Tcp(tcp) => tcp.sequence.len,
            _ => 0,
        };
        !self.strict_segments && merged.packet.payload_len() < wanted
    }

    fn add(&self, merged: &mut Merged, next: &Packet) -> bool {
        packets::join(merged, next)
    }

    fn compare(
        &mut self,
        _context: Context,
        spec: &PacketSpec,
        merged: &Merged,
    ) -> Result<Option<Difference>, Trouble> {
        refuse_unsupported(spec)?;
        if let (PacketBody::Tcp(tcp), Body::Tcp(segment)) = (&spec.body, &merged.packet.body) {
            self.mapping.learn(tcp, segment);
        }
        if let Some(subflow) = &spec.subflow {
            let live = (merged.packet.src, merged.packet.dst);
            let (src, dst) = self.multipath.addresses_of(subflow, false, Some(live));
            if src.is_some_and(|src| src != live.0) || dst != live.1 {
                return Ok(Some(Difference::from("the packet is of another subflow".to_owned())));
            }
        }
        let (mapping, multipath) = (&mut self.mapping, &mut self.multipath);
        Ok(packets::compare(spec, merged, mapping, multipath)?.map(Difference::from))
    }

    /// Pairs the clock's values; with `--tcp_ts_tick_usecs` it must run as the
    /// script says.
    fn on_match(
        &mut self,
        context: Context,
        spec: &PacketSpec,
        packet: &Packet,
    ) -> Option<Difference> {
        let (PacketBody::Tcp(tcp), Body::Tcp(segment)) = (&spec.body, &packet.body) else {
            return None;
        };
        let (OptionsSpec::List(list), Some(live)) = (&tcp.options, segment.options.timestamps)
        else {
            return None;
        };
        for option in list {
            let TcpOptionSpec::Timestamps { value: Some(script), .. } = option else { continue };
            if let (Some(tick), Some((script_0, live_0))) = (self.tick, self.mapping.first_stamp())
            {
                let expected = tick.saturating_mul(script.wrapping_sub(script_0) as u64);
                let actual = Span::from_millis(live.value.wrapping_sub(live_0) as u64);
                if expected.abs_diff(actual) > context.slack {
                    return Some(Difference {
                        what: "the timestamp clock differs".into(),
                        expected: Some(millis(expected)),
                        actual: Some(millis(actual)),
                    });
                }
            }
            self.mapping.remember_stamp(*script, live.value);
        }
        None
    }

    fn show(&self, packet: &Packet, inbound: bool) -> String {
        packets::show(packet, &self.mapping, inbound)
    }

    fn flow(&self) -> FlowKey {
        self.mapping.flow()
    }
}
