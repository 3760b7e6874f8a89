//! Traffic: who sends what to whom, with which transport.

use super::form::{Form, Text, integer, quantity};
use super::law;
use super::messages::MessageSpec;
use super::mptcp;
use super::sctp::{self, SctpSpec};
use super::tcp;
use super::traffic::{self, Workload};
use super::udp;
use crate::build::FIRST_PORT;
use crate::fields::Fields;
use crate::shape::Shape;
use crate::{InputError, pattern};
use anabranch_mptcp::PathManager;
use anabranch_sim::Sizes;
use anabranch_tcp::Config;
use anabranch_units::{Bytes, Span};
use toml::{Table, Value};

/// One flow, or `count` flows that differ in their start alone.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowSpec {
    /// The name; with `count > 1` the flows are called `NAME-0`, `NAME-1`, ….
    pub name: String,
    /// The host that opens the connection and sends `size` octets.
    pub from: String,
    /// The host that accepts the connection.
    pub to: String,
    /// The port at `to`, which all flows there that name it share; `None` for one
    /// of each flow's own.
    pub port: Option<u16>,
    /// Time at which the connection is opened, after the start of the run.
    pub start: Span,
    /// Octets that `from` sends; `None` for no end.
    pub size: Option<u64>,
    /// Draws the size of each flow, instead of `size`.
    pub sizes: Option<Sizes>,
    /// How the client writes what it sends.
    pub workload: Workload,
    /// Time after its start at which a flow stops sending.
    pub duration: Option<Span>,
    /// Octets that the other host sends at the same time; `None` for none.
    pub reverse_size: Option<u64>,
    /// Number of such flows, at least 1.
    pub count: u32,
    /// Starts are uniform over this span after `start`.
    pub start_spread: Span,
    /// Flows start one after the other, in a Poisson process of so many a
    /// second.
    pub arrivals: Option<f64>,
    /// Carry real octets and check them at the receiver.
    pub octets: bool,
    /// The transport and its options.
    pub protocol: Protocol,
}

/// The transport of a flow.
#[derive(Clone, PartialEq, Debug)]
pub enum Protocol {
    /// RFC 9293, both ends alike.
    Tcp(Box<Config>),
    /// RFC 9260, both ends alike.
    Sctp(Box<SctpSpec>),
    /// RFC 8684, both ends alike.
    Mptcp(Box<anabranch_mptcp::Config>),
    /// RFC 768, both ends alike.
    Udp(Box<anabranch_udp::Config>),
}

/// The transports by the names that they have in scenarios.
const NAMES: [(&str, &str); 4] =
    [("tcp", "tcp"), ("sctp", "sctp"), ("mptcp", "mptcp"), ("udp", "udp")];
/// Transports with connections, for which a port may listen.
const CONNECTED: &[(&str, &str)] = NAMES.split_at(3).0;

impl Protocol {
    /// The field `protocol` and the tables of its options.
    fn read(f: &Fields<'_>) -> Result<Protocol, InputError> {
        let name = f.choice("protocol", &NAMES)?.unwrap_or("tcp");
        let (tcp, sctp, mptcp) = (f.table("tcp")?, f.table("sctp")?, f.table("mptcp")?);
        let udp = f.table("udp")?;
        if tcp.is_some() && name == "sctp" {
            return Err(f.error("tcp", "none in a flow over SCTP, whose options are in `sctp`"));
        }
        if tcp.is_some() && name == "udp" {
            return Err(f.error("tcp", "none in a flow over UDP, whose options are in `udp`"));
        }
        if udp.is_some() && name != "udp" {
            return Err(f.error("udp", "none unless `protocol` is \"udp\""));
        }
        if sctp.is_some() && name != "sctp" {
            return Err(f.error("sctp", "none unless `protocol` is \"sctp\""));
        }
        if mptcp.is_some() && name != "mptcp" {
            return Err(f.error("mptcp", "none unless `protocol` is \"mptcp\""));
        }
        let of_tcp = || tcp.map_or(Ok(Config::default()), tcp::read);
        Ok(match name {
            "sctp" => Protocol::Sctp(Box::new(sctp::read(sctp.as_ref())?)),
            "mptcp" => Protocol::Mptcp(Box::new(mptcp::read(f, mptcp.as_ref(), of_tcp()?)?)),
            "udp" => Protocol::Udp(Box::new(udp::read(udp.as_ref())?)),
            _ => Protocol::Tcp(Box::new(of_tcp()?)),
        })
    }

    /// Writes the field `protocol` and the table of the transport's options.
    fn write(&self, put: &mut dyn FnMut(&'static str, Value)) {
        put("protocol", self.name().into());
        match self {
            Protocol::Tcp(config) => put("tcp", Value::Table(tcp::write(config))),
            Protocol::Sctp(spec) => put("sctp", Value::Table(sctp::write(spec))),
            Protocol::Mptcp(config) => {
                put("tcp", Value::Table(tcp::write(&config.subflow)));
                put("mptcp", Value::Table(mptcp::write(config)));
            }
            Protocol::Udp(config) => put("udp", Value::Table(udp::write(config))),
        }
    }

    /// The field and the tables.
    pub(super) fn fields(form: &mut Form<'_>, protocol: &mut Protocol) -> Result<(), InputError> {
        Protocol::some(form, &NAMES, protocol)?;
        form.says("options of UDP: see [datagrams](traffic.md#datagrams)");
        form.or_else("all defaults").elsewhere("udp", udp::shape);
        Ok(())
    }

    /// Reads, writes or describes the transport of a port that listens.
    pub(super) fn of_listener(
        form: &mut Form<'_>,
        protocol: &mut Protocol,
    ) -> Result<(), InputError> {
        Protocol::some(form, CONNECTED, protocol)?;
        let has_connections = !matches!(protocol, Protocol::Udp(_));
        form.require(has_connections, "protocol", "tcp, sctp, mptcp: nobody listens for datagrams")
    }

    /// Reads and writes any of them, and describes those of `names` but for the table of UDP.
    fn some(
        form: &mut Form<'_>,
        names: &[(&str, &str)],
        protocol: &mut Protocol,
    ) -> Result<(), InputError> {
        match form {
            Form::Read(f) => *protocol = Protocol::read(f)?,
            Form::Write(table) => {
                protocol.write(&mut |name, value| drop(table.insert(name.to_owned(), value)));
            }
            Form::Describe(_) => {
                form.says("the transport").choice("protocol", names, &mut "tcp")?;
                form.says(
                    "options of TCP, and of the subflows of Multipath TCP: see [`tcp`](#flowstcp)",
                );
                form.or_else("all defaults").elsewhere("tcp", || tcp::shape().named("tcp"));
                form.says("options of SCTP: see [`sctp`](#flowssctp)");
                form.or_else("all defaults").elsewhere("sctp", || sctp::shape().named("sctp"));
                form.says("options of Multipath TCP: see [`mptcp`](#flowsmptcp)");
                form.or_else("all defaults").elsewhere("mptcp", || mptcp::shape().named("mptcp"));
            }
        }
        Ok(())
    }

    /// The name in scenarios and tables.
    pub fn name(&self) -> &'static str {
        match self {
            Protocol::Tcp(_) => "tcp",
            Protocol::Sctp(_) => "sctp",
            Protocol::Mptcp(_) => "mptcp",
            Protocol::Udp(_) => "udp",
        }
    }
}

const PORT: &str = "where the flow goes to at `to`, 1 to 49151: flows over TCP and MPTCP that name the \
    same one there share it, as connections to a server do. Packets find their connection by \
    addresses and ports, the SYN of a further subflow by its token (RFC 8684 §3.2); what is for none \
    is answered with a reset, dropped and counted as such. Flows that name none have ports from \
    49152 on, each its own. A dissector may take our octets for those of the protocol that is \
    registered for the port. In a live run none is shared where a kernel's sockets listen";

/// The largest `port`: beyond it are those of flows that name none.
const LAST_PORT: u16 = FIRST_PORT - 1;

/// Most flows that one entry makes.
const MOST_FLOWS: u32 = 50_000;

impl FlowSpec {
    /// The names of the flows that this entry makes.
    pub fn names(&self) -> impl Iterator<Item = String> + '_ {
        (0..self.count).map(|i| match self.count {
            1 => self.name.clone(),
            _ => format!("{}-{i}", self.name),
        })
    }

    /// What stands in the place of one before it is read.
    fn unset() -> FlowSpec {
        FlowSpec {
            name: String::new(),
            from: String::new(),
            to: String::new(),
            port: None,
            start: Span::ZERO,
            size: None,
            sizes: None,
            workload: Workload::Bulk,
            duration: None,
            reverse_size: None,
            count: 1,
            start_spread: Span::ZERO,
            arrivals: None,
            octets: false,
            protocol: Protocol::Tcp(Box::default()),
        }
    }

    pub(super) fn read(f: &Fields<'_>) -> Result<FlowSpec, InputError> {
        let mut flow = FlowSpec::unset();
        Form::read_all(f, |form| FlowSpec::fields(form, &mut flow))?;
        flow.check(f)?;
        Ok(flow)
    }

    pub(super) fn write(&self) -> Table {
        Form::written(|form| FlowSpec::fields(form, &mut self.clone()))
    }

    /// What an entry may hold.
    pub(super) fn shape() -> Shape {
        Shape::Table(Form::described(|form| FlowSpec::fields(form, &mut FlowSpec::unset())))
    }

    fn fields(form: &mut Form<'_>, flow: &mut FlowSpec) -> Result<(), InputError> {
        form.says("with `count` above 1 the flows are `NAME-0`, `NAME-1`, ...");
        form.required("name", Text, "a name for the flow", &mut flow.name)?;
        // Which of them a pattern needs, it says itself.
        form.says("the host that opens the connection and sends").or_else("required");
        form.required("from", Text, "the host that opens the connection", &mut flow.from)?;
        form.says("the other host").or_else("required");
        form.required("to", Text, "the host that the connection goes to", &mut flow.to)?;
        pattern::describe(form);
        form.says(PORT).or_else("one of its own");
        form.optional("port", integer(1..=LAST_PORT), &mut flow.port)?;
        form.says("when the connection is opened").quantity("start", &mut flow.start)?;
        form.says("octets that `from` sends").or_else("no end");
        form.octets_or_none("size", &mut flow.size)?;
        form.says("draws the size of each flow, see [workloads](#workloads)");
        form.optional("sizes", law::sizes(), &mut flow.sizes)?;
        Workload::field(form, &mut flow.workload)?;
        form.says("time after the start at which a flow without `size` is cut off; one with a `size` goes on to its end");
        form.optional("duration", quantity(), &mut flow.duration)?;
        form.says("octets that `to` sends at the same time");
        form.octets_or_none("reverse_size", &mut flow.reverse_size)?;
        form.says("that many flows").integer("count", 1..=MOST_FLOWS, &mut flow.count)?;
        form.says("starts are uniform over this time after `start`");
        form.quantity("start_spread", &mut flow.start_spread)?;
        traffic::arrivals(form, &mut flow.arrivals)?;
        form.says("carry real octets and compare them at the receiver");
        form.boolean("octets", &mut flow.octets)?;
        Protocol::fields(form, &mut flow.protocol)
    }

    /// Checks what concerns more than one field.
    fn check(&self, f: &Fields<'_>) -> Result<(), InputError> {
        if self.size.is_some() && self.sizes.is_some() {
            return Err(f.error("sizes", "either `size` or `sizes`"));
        }
        if self.arrivals.is_some() && self.start_spread > Span::ZERO {
            return Err(f.error("arrivals", "either `start_spread` or `arrivals`"));
        }
        let more = self.server_ports() - 1;
        if self.port.is_some_and(|port| port > LAST_PORT - more) {
            let allowed = format!("at most {}: its subflows have ports after it", LAST_PORT - more);
            return Err(f.error("port", allowed));
        }
        let has_size = self.size.is_some() || self.sizes.is_some();
        if self.workload != Workload::Bulk && self.reverse_size.is_some() {
            return Err(f.error("reverse_size", "none with this `traffic`"));
        }
        self.check_datagrams(f)?;
        if self.workload.asks() && has_size {
            let field = if self.size.is_some() { "size" } else { "sizes" };
            let allowed = "none with this `traffic`, which has the sizes itself";
            return Err(f.error(field, allowed));
        }
        self.check_messages(f)
    }

    /// Checks that datagrams go over UDP, and streams do not.
    fn check_datagrams(&self, f: &Fields<'_>) -> Result<(), InputError> {
        let is_udp = matches!(self.protocol, Protocol::Udp(_));
        let kind = self.workload.kind();
        let wrong = |allowed: &str| {
            let field = f.path("traffic.kind");
            Err(InputError::field(field, kind, allowed))
        };
        if !is_udp {
            return match self.workload {
                Workload::Voip(_) | Workload::Ping(_) => {
                    wrong("one of the others; datagrams go over UDP alone: `protocol = \"udp\"`")
                }
                _ => Ok(()),
            };
        }
        if !self.workload.has_datagrams() {
            return wrong("constant, on-off, ping, voip over UDP, which has no streams");
        }
        if self.reverse_size.is_some() {
            return Err(f.error("reverse_size", "none over UDP"));
        }
        Ok(())
    }

    /// Data octets of each datagram of a flow over UDP.
    pub fn datagram(&self) -> u32 {
        match &self.workload {
            Workload::Constant { chunk, .. } | Workload::OnOff { chunk, .. } => *chunk,
            Workload::Ping(ping) => ping.size,
            Workload::Voip(call) => call.data(),
            _ => 0,
        }
    }

    /// Checks what a message may be in this flow.
    fn check_messages(&self, f: &Fields<'_>) -> Result<(), InputError> {
        let Workload::Messages(messages) = &self.workload else { return Ok(()) };
        let wrong = |field: &str, value: String, allowed: String| {
            Err(InputError::field(f.path(&format!("traffic.{field}")), value, allowed))
        };
        let Protocol::Sctp(sctp) = &self.protocol else {
            let allowed = "one of the others; messages go over SCTP alone";
            return wrong("kind", "messages".into(), allowed.into());
        };
        for (at, direction) in messages.directions() {
            Self::check_direction(sctp, direction, |field, value, allowed| {
                wrong(&format!("{at}{field}"), value, allowed)
            })?;
        }
        if messages.has_end() && (self.size.is_some() || self.sizes.is_some()) {
            let field = if self.size.is_some() { "size" } else { "sizes" };
            return Err(f.error(field, "none beside `count` or `at` of the messages"));
        }
        Ok(())
    }

    /// Checks the messages of one direction; `wrong` makes the error.
    fn check_direction(
        sctp: &SctpSpec,
        messages: &MessageSpec,
        wrong: impl Fn(&str, String, String) -> Result<(), InputError>,
    ) -> Result<(), InputError> {
        let (c, streams) = (&sctp.config, messages.streams);
        let most = c.outbound_streams.min(c.inbound_streams);
        if streams > most {
            let allowed = format!("at most {most}, of which `sctp` has the limits");
            return wrong("streams", streams.to_string(), allowed);
        }
        if !c.partial_reliability {
            for (field, given) in [
                ("lifetime", messages.lifetime.is_some()),
                ("retransmissions", messages.retransmissions.is_some()),
            ] {
                if given {
                    let allowed = "none without `partial_reliability` in `sctp`";
                    return wrong(field, "given".into(), allowed.into());
                }
            }
        }
        let most = sctp.largest_message();
        if let Sizes::Constant { mean } = &messages.size
            && *mean > most.into()
        {
            let allowed = format!("at most {}, what both buffers hold", Bytes(most.into()));
            return wrong("size", Bytes(*mean).to_string(), allowed);
        }
        Ok(())
    }

    /// Ports in a row that each of its flows has at the host `from`.
    pub fn client_ports(&self) -> u16 {
        match &self.protocol {
            Protocol::Mptcp(config) => config.path_manager.ports().into(),
            Protocol::Tcp(_) | Protocol::Sctp(_) | Protocol::Udp(_) => 1,
        }
    }

    /// Returns how many ports in a row each of its flows has at the host `to`.
    pub fn server_ports(&self) -> u16 {
        match &self.protocol {
            Protocol::Mptcp(config) if config.passive_path_manager != PathManager::Single => {
                1 + u16::from(config.passive_path_manager.ports())
            }
            _ => 1,
        }
    }

    /// Whether both hosts send data.
    pub fn is_two_way(&self) -> bool {
        match &self.workload {
            Workload::Messages(messages) => messages.reverse.is_some(),
            Workload::Voip(call) => call.both_ways,
            Workload::Ping(_) => true,
            _ => self.reverse_size.is_some() && self.size != Some(0),
        }
    }

    /// The barrier of its requests.
    pub fn barrier(&self) -> Option<&str> {
        match &self.workload {
            Workload::Requests { barrier, .. } => barrier.as_deref(),
            _ => None,
        }
    }

    /// It is known how much the flow carries.
    pub fn has_end(&self) -> bool {
        let has_size = self.size.is_some() || self.sizes.is_some();
        if matches!(self.protocol, Protocol::Udp(_)) {
            // Nobody knows how much arrives.
            return false;
        }
        match &self.workload {
            Workload::Video(_) | Workload::Voip(_) | Workload::Ping(_) => false,
            Workload::PageLoad(load) => load.count.is_some(),
            Workload::Requests { count, .. } => count.is_some(),
            Workload::Pages(pages) => pages.count.is_some(),
            Workload::Messages(messages) => {
                let mut back = messages.reverse.iter();
                (has_size || messages.has_end()) && back.all(|back| back.has_end())
            }
            _ => has_size,
        }
    }
}
