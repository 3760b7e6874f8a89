//! The seam between the runner and protocols: what the packets of a script
//! stand for on the wire. A protocol is one [`Dialect`], and one line of
//! the runner's `dialects`.

use crate::script::{IcmpQuote, PacketBody, PacketSpec, ToolOption};
use crate::stack::Stack;
use anabranch_units::{Span, Time};
use anabranch_wire::{AddressBook, FlowKey, Packet};

/// Why a packet can be neither made nor compared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Trouble {
    /// The script or the stack is wrong.
    Failed(String),
    /// The script needs what is not here.
    NotApplicable(String),
}

impl From<String> for Trouble {
    fn from(reason: String) -> Trouble {
        Trouble::Failed(reason)
    }
}

/// What the runner knows when a packet comes or leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context {
    /// The present time of the run.
    pub now: Time,
    /// A socket was set to listen, and no packet of the script has opened a connection since: the
    /// next that does is of a connection of its own. Later ones are for the connection that there is.
    pub awaits_connection: bool,
    /// The deviation of times that is always allowed.
    pub slack: Span,
    /// There is IP below the stack.
    pub has_ip: bool,
}

/// Packets that left and stand for one of the script.
#[derive(Clone, Debug)]
pub(super) struct Merged {
    /// The packet that they amount to; the only one, where nothing was merged.
    pub packet: Packet,
    /// Number of segments that were merged.
    pub segments: u32,
    /// Ports of UDP, source and destination, where it left in a datagram.
    pub udp: Option<(u16, u16)>,
}

/// A packet that left is not what the script expects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Difference {
    /// The difference, in words.
    pub what: String,
    /// What the script has, where that is not the text of the event.
    pub expected: Option<String>,
    /// What there is instead, where that is not the packet.
    pub actual: Option<String>,
}

impl From<String> for Difference {
    fn from(what: String) -> Difference {
        Difference { what, expected: None, actual: None }
    }
}

/// The packets of one protocol between a script and the wire. It learns what
/// numbers of the script stand for from the packets that pass.
pub(super) trait Dialect {
    /// The number of the protocol (IANA): 6 for TCP, 132 for SCTP.
    fn protocol(&self) -> u8;

    /// An option of the tool at the start of a script.
    fn option(&mut self, _option: &ToolOption) -> Result<(), Trouble> {
        Ok(())
    }

    /// What stands for addresses on the wire.
    fn learn_addresses(&mut self, _book: &AddressBook) {}

    /// The packet that `spec` stands for, which comes to the stack now. The
    /// stack may be asked for what only it knows, such as a cookie.
    fn inbound(
        &mut self,
        context: Context,
        spec: &PacketSpec,
        stack: &mut dyn Stack,
    ) -> Result<Packet, Trouble>;

    /// The packet opens a connection, which is then the one under test: what
    /// others sent before goes unnoticed.
    fn is_opened_by(&self, packet: &Packet) -> bool;

    /// A packet leaves the stack; false when it is of a connection that is not
    /// under test.
    fn is_under_test(&mut self, packet: &Packet) -> bool;

    /// Several packets may stand for `spec`, and those so far are not enough.
    fn wants_more(&self, _spec: &PacketSpec, _merged: &Merged) -> bool {
        false
    }

    /// Adds a packet that followed; false when it does not belong to the others.
    fn add(&self, _merged: &mut Merged, _next: &Packet) -> bool {
        false
    }

    /// Compares what left with what the script expects, and learns from it.
    fn compare(
        &mut self,
        context: Context,
        spec: &PacketSpec,
        merged: &Merged,
    ) -> Result<Option<Difference>, Trouble>;

    /// The packet was as expected in all things, its time too.
    fn on_match(
        &mut self,
        _context: Context,
        _spec: &PacketSpec,
        _packet: &Packet,
    ) -> Option<Difference> {
        None
    }

    /// The packet as a script would write it; `inbound`: it came to the stack.
    fn show(&self, packet: &Packet, inbound: bool) -> String;

    /// The key of the packets that the stack sends on the connection under test.
    fn flow(&self) -> FlowKey;
}

/// The number of the protocol that a packet of a script is of, or speaks of;
/// `None` where it does not say.
pub(super) fn protocol_of(spec: &PacketSpec) -> Option<u8> {
    match &spec.body {
        PacketBody::Tcp(_) => Some(6),
        PacketBody::Udp(_) => Some(17),
        PacketBody::Sctp(_) => Some(132),
        PacketBody::Icmp(icmp) => match icmp.quote {
            Some(IcmpQuote::Tcp(_)) => Some(6),
            Some(IcmpQuote::Udp(_)) => Some(17),
            Some(IcmpQuote::Sctp(_)) => Some(132),
            Some(IcmpQuote::Raw(_)) | None => None,
        },
    }
}
