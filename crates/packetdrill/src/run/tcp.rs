//! TCP: its segments, and the ICMP messages that quote them.

mod mapping;
mod options;
mod packets;

use super::dialect::{Context, Dialect, Difference, Merged, Trouble};
use crate::report::millis;
use crate::script::{OptionsSpec, PacketBody, PacketSpec, TcpOptionSpec, TcpSpec, ToolOption};
use crate::stack::Stack;
use anabranch_units::{Span, Time};
use anabranch_wire::{Body, FlowKey, Packet};
use mapping::{Mapping, cookie_word};

/// TCP between a script and the wire.
pub(super) struct TcpDialect {
    mapping: Mapping,
    /// Segments are compared one by one (`--strict_segments`).
    strict_segments: bool,
    /// Length of a tick of the stack's timestamp clock, where it is checked.
    tick: Option<Span>,
}

impl TcpDialect {
    pub fn new() -> TcpDialect {
        TcpDialect { mapping: Mapping::new(), strict_segments: false, tick: None }
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
    let PacketBody::Tcp(tcp) = &spec.body else { return Ok(()) };
    let reason = match &tcp.options {
        OptionsSpec::List(list) if list.iter().any(|it| matches!(it, TcpOptionSpec::Mptcp(_))) => {
            "options of MPTCP"
        }
        _ if !spec.outer.is_empty() => "packets within packets",
        _ => return Ok(()),
    };
    Err(Trouble::NotApplicable(reason.into()))
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
            "udp_encapsulation"
                if option.value.as_deref().is_some_and(|it| it.starts_with("tcp")) =>
            {
                return Err(Trouble::NotApplicable("encapsulation in UDP".into()));
            }
            "tcp_ts_tick_usecs" => self.tick = micros.map(Span::from_micros),
            _ => {}
        }
        Ok(())
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
            self.mapping.on_inbound(tcp, spec.ports, context.listening);
        }
        Ok(packets::inbound(spec, &self.mapping)?)
    }

    fn is_opened_by(&self, packet: &Packet) -> bool {
        self.mapping.is_opened_by(packet)
    }

    fn is_under_test(&mut self, packet: &Packet) -> bool {
        match &packet.body {
            Body::Tcp(segment) => self.mapping.is_under_test(segment),
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
        Ok(packets::compare(spec, merged, &mut self.mapping)?.map(Difference::from))
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
