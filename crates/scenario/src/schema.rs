//! The description of an experiment and its form in TOML.
//!
//! Each part has a `read` from a TOML table and a `write` back that spells
//! out every default, so that the resolved scenario says all that a run
//! depends on and reads back as the same [`Scenario`]. docs/scenario.md
//! documents the fields.

mod abr;
mod address_changes;
pub(crate) mod attack;
mod authentication;
mod call;
mod channel;
mod connection;
mod custom;
mod fast_open;
mod flow;
mod form;
pub(crate) mod host;
mod icmp;
mod impairment;
mod ip;
mod law;
pub(crate) mod link;
mod listen;
mod load;
mod manners;
mod messages;
mod middlebox;
mod mptcp;
mod observe;
mod pages;
mod queue;
mod recovery;
mod regulator;
mod sctp;
mod tcp;
mod traffic;
mod transmitter;
mod udp;
mod video;
mod window;

pub use abr::{LineSpec, SourceFields};
pub use address_changes::{AddressChange, ChangeOfAddress};
pub use attack::AttackSpec;
pub use call::{CallSpec, PingSpec};
pub use channel::{ChannelKind, ChannelSpec, ExplicitRate};
pub use flow::{FlowSpec, Protocol};
pub use host::HostSpec;
pub use impairment::{Effect, Impairment};
pub use ip::Ip;
pub use link::{Direction, LinkSpec};
pub use listen::ListenSpec;
pub use load::{PageLoad, PageObjects};
pub use messages::{MessagePace, MessageSpec};
pub use observe::{Observe, What};
pub use sctp::SctpSpec;
pub use traffic::Workload;
pub use video::Video;

use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use anabranch_sim::IcmpLimits;
use anabranch_units::Span;
use std::net::Ipv4Addr;
use toml::{Table, Value};

/// An experiment: a network, its traffic and what to observe.
#[derive(Clone, PartialEq, Debug)]
pub struct Scenario {
    /// Title, for reports.
    pub name: String,
    /// When the run ends; `None` runs until every flow has ended.
    pub duration: Option<Span>,
    /// When a run without a duration ends at the latest, although flows have not ended.
    pub time_limit: Span,
    /// Seed, unless the run is given another.
    pub seed: u64,
    /// The Internet protocol of interfaces that do not say theirs.
    pub ip: Ip,
    /// The first of its addresses of IPv4; the others follow.
    pub first_ipv4: Ipv4Addr,
    /// The hosts.
    pub hosts: Vec<HostSpec>,
    /// Names of the routers.
    pub routers: Vec<String>,
    /// Which of several shortest paths.
    pub routing: Routing,
    /// Nodes answer packets that they drop with ICMP errors, up to these limits.
    pub icmp: Option<IcmpLimits>,
    /// Capacities that links share.
    pub channels: Vec<ChannelSpec>,
    /// Links; each has two directions.
    pub links: Vec<LinkSpec>,
    /// Traffic.
    pub flows: Vec<FlowSpec>,
    /// Ports that listen to strangers.
    pub listeners: Vec<ListenSpec>,
    /// Attacks.
    pub attacks: Vec<AttackSpec>,
    /// Time series to record.
    pub observe: Vec<Observe>,
}

/// Which of several shortest paths a packet takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Routing {
    /// Over the link that stands first.
    #[default]
    First,
    /// By a hash of the flow.
    Ecmp,
}

const ROUTINGS: [(&str, Routing); 2] = [("first", Routing::First), ("ecmp", Routing::Ecmp)];

/// A day: longer than any experiment that is meant, and short enough for one that is not.
const TIME_LIMIT: Span = Span::from_secs(86_400);

impl Scenario {
    /// The scenario with every default spelt out; reads back as the same.
    pub fn resolved_toml(&self) -> String {
        self.write().to_string()
    }

    /// What the table says, part by part; whether the parts fit is for its caller to see.
    pub(crate) fn read(table: &Table) -> Result<Scenario, InputError> {
        let f = Fields::new("", table);
        let ip = Ip::read(&f)?.unwrap_or_default();
        let hosts = HostSpec::read_all(&f, ip)?;
        let fitted = ip::fitted(table, &hosts);
        let f = Fields::new("", fitted.as_ref().unwrap_or(table));
        f.know(&["ip", "hosts"]);
        let scenario = Scenario {
            name: f.text("name")?.unwrap_or("").to_owned(),
            duration: f.quantity("duration")?,
            time_limit: f.quantity("time_limit")?.unwrap_or(TIME_LIMIT),
            seed: f.integer::<i64>("seed", 0..=i64::MAX)?.unwrap_or(1) as u64,
            ip,
            first_ipv4: ip::read_first(&f)?,
            hosts,
            routers: f.texts("routers")?.unwrap_or_default(),
            routing: f.choice("routing", &ROUTINGS)?.unwrap_or_default(),
            icmp: icmp::read(&f)?,
            channels: f
                .tables("channels")?
                .iter()
                .map(ChannelSpec::read)
                .collect::<Result<_, _>>()?,
            links: f.tables("links")?.iter().map(LinkSpec::read).collect::<Result<_, _>>()?,
            flows: f.tables("flows")?.iter().map(FlowSpec::read).collect::<Result<_, _>>()?,
            listeners: f
                .tables("listen")?
                .iter()
                .map(ListenSpec::read)
                .collect::<Result<_, _>>()?,
            attacks: f.tables("attacks")?.iter().map(AttackSpec::read).collect::<Result<_, _>>()?,
            observe: f.tables("observe")?.iter().map(Observe::read).collect::<Result<_, _>>()?,
        };
        f.finish()?;
        ip::check_first(&f, &scenario)?;
        Ok(scenario)
    }

    pub(crate) fn write(&self) -> Table {
        let mut table = Table::new();
        let names = |list: &[String]| list.iter().map(|n| Value::from(n.as_str())).collect();
        let list =
            |tables: Vec<Table>| Value::Array(tables.into_iter().map(Value::Table).collect());
        table.insert("name".into(), self.name.as_str().into());
        if let Some(duration) = self.duration {
            table.insert("duration".into(), duration.write().into());
        }
        table.insert("time_limit".into(), self.time_limit.write().into());
        table.insert("seed".into(), Value::Integer(self.seed as i64));
        table.insert("ip".into(), self.ip.write());
        if self.first_ipv4 != ip::FIRST {
            table.insert("first_ipv4".into(), self.first_ipv4.to_string().into());
        }
        let hosts = self.hosts.iter().map(|host| host.write(self.ip)).collect();
        table.insert("hosts".into(), Value::Array(hosts));
        table.insert("routers".into(), Value::Array(names(&self.routers)));
        let routing = ROUTINGS.iter().find(|(_, routing)| *routing == self.routing);
        table.insert("routing".into(), routing.map_or("", |(name, _)| name).into());
        table.insert("icmp".into(), icmp::write(self.icmp));
        if !self.channels.is_empty() {
            let channels = self.channels.iter().map(ChannelSpec::write).collect();
            table.insert("channels".into(), list(channels));
        }
        table.insert("links".into(), list(self.links.iter().map(LinkSpec::write).collect()));
        table.insert("flows".into(), list(self.flows.iter().map(FlowSpec::write).collect()));
        if !self.listeners.is_empty() {
            let listeners = self.listeners.iter().map(ListenSpec::write).collect();
            table.insert("listen".into(), list(listeners));
        }
        if !self.attacks.is_empty() {
            let attacks = self.attacks.iter().map(AttackSpec::write).collect();
            table.insert("attacks".into(), list(attacks));
        }
        if !self.observe.is_empty() {
            table.insert("observe".into(), list(self.observe.iter().map(Observe::write).collect()));
        }
        table
    }
}

#[cfg(test)]
mod tests;
