//! The description of an experiment and its form in TOML.
//!
//! Each part has a `read` from a TOML table and a `write` back that spells
//! out every default, so that the resolved scenario says all that a run
//! depends on and reads back as the same [`Scenario`]. docs/scenario.md
//! documents the fields.

mod address_changes;
mod authentication;
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
mod link;
mod messages;
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
mod window;

pub use address_changes::{AddressChange, ChangeOfAddress};
pub use channel::{ChannelSpec, ExplicitRate};
pub use flow::{FlowSpec, Protocol};
pub use host::HostSpec;
pub use impairment::{Impairment, Mishap};
pub use ip::Ip;
pub use link::{Direction, LinkSpec};
pub use messages::{MessagePace, MessageSpec};
pub use observe::{Observe, What};
pub use sctp::SctpSpec;
pub use traffic::Workload;

use crate::fields::Fields;
use crate::quantity::Quantity;
use crate::{InputError, multihoming, overrides, pattern, topology, traces, validate};
use anabranch_sim::IcmpLimits;
use anabranch_units::Span;
use toml::{Table, Value};

/// An experiment: a network, its traffic and what to observe.
#[derive(Clone, PartialEq, Debug)]
pub struct Scenario {
    /// Title, for reports.
    pub name: String,
    /// When the run ends; `None` runs until every flow has ended.
    pub duration: Option<Span>,
    /// Seed, unless the run is given another.
    pub seed: u64,
    /// The Internet protocol.
    pub ip: Ip,
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

/// Largest file that is read: the biggest sensible scenario is far below.
pub const LARGEST_FILE: u64 = 16 << 20;

impl Scenario {
    /// Reads a scenario; `file` is named in errors.
    ///
    /// ```
    /// use anabranch_scenario::Scenario;
    /// let scenario = Scenario::from_toml(
    ///     r#"
    ///     hosts = ["a", "b"]
    ///     links = [{ ends = ["a", "b"], rate = "10 Mbit/s", delay = "5 ms" }]
    ///     flows = [{ name = "f", from = "a", to = "b", size = "1 MB" }]
    ///     "#,
    ///     "two-hosts.toml",
    /// )?;
    /// assert_eq!(scenario.links[0].name, "a-b");
    /// # Ok::<(), anabranch_scenario::InputError>(())
    /// ```
    pub fn from_toml(text: &str, file: &str) -> Result<Scenario, InputError> {
        Scenario::with_overrides::<&str>(text, file, &[])
    }

    /// Reads a scenario after changing fields by `key=value` (see
    /// [`overrides`]).
    pub fn with_overrides<S: AsRef<str>>(
        text: &str,
        file: &str,
        changes: &[S],
    ) -> Result<Scenario, InputError> {
        let mut table = parse(text, file)?;
        let of_topology = |change: &&S| change.as_ref().trim_start().starts_with("topology.");
        let (first, then): (Vec<_>, Vec<_>) = changes.iter().partition(of_topology);
        let resolve = |table: &mut Table| {
            for change in first {
                overrides::apply(table, change.as_ref())?;
            }
            topology::expand(table)?;
            for change in then {
                overrides::apply(table, change.as_ref())?;
            }
            // A file is read once, however many flows a pattern makes.
            traces::inline(table, file)?;
            pattern::expand(table)?;
            Scenario::read(table)
        };
        resolve(&mut table).map_err(|e| e.in_file(file))
    }

    /// The same scenario with the field at the dotted path `key` changed.
    pub fn set(&self, key: &str, value: &str) -> Result<Scenario, InputError> {
        let mut table = self.write();
        overrides::set(&mut table, key, value)?;
        Scenario::read(&table)
    }

    /// The scenario with every default spelt out; reads back as the same.
    pub fn resolved_toml(&self) -> String {
        self.write().to_string()
    }

    fn read(table: &Table) -> Result<Scenario, InputError> {
        let ip = Ip::read(&Fields::new("", table))?;
        let fitted = (ip == Ip::V6).then(|| ip::fitted(table));
        let f = Fields::new("", fitted.as_ref().unwrap_or(table));
        let mut scenario = Scenario {
            name: f.text("name")?.unwrap_or("").to_owned(),
            duration: f.quantity("duration")?,
            seed: f.integer::<i64>("seed", 0..=i64::MAX)?.unwrap_or(1) as u64,
            ip: Ip::read(&f)?,
            hosts: HostSpec::read_all(&f)?,
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
            observe: f.tables("observe")?.iter().map(Observe::read).collect::<Result<_, _>>()?,
        };
        f.finish()?;
        multihoming::complete(&mut scenario);
        link::resolve(&mut scenario.links, &scenario.channels)?;
        validate::check(&scenario)?;
        Ok(scenario)
    }

    fn write(&self) -> Table {
        let mut table = Table::new();
        let names = |list: &[String]| list.iter().map(|n| Value::from(n.as_str())).collect();
        let list =
            |tables: Vec<Table>| Value::Array(tables.into_iter().map(Value::Table).collect());
        table.insert("name".into(), self.name.as_str().into());
        if let Some(duration) = self.duration {
            table.insert("duration".into(), duration.write().into());
        }
        table.insert("seed".into(), Value::Integer(self.seed as i64));
        table.insert("ip".into(), self.ip.write());
        let hosts = self.hosts.iter().map(HostSpec::write).collect();
        table.insert("hosts".into(), Value::Array(hosts));
        table.insert("routers".into(), Value::Array(names(&self.routers)));
        let routing = ROUTINGS.iter().find(|(_, it)| *it == self.routing);
        table.insert("routing".into(), routing.map_or("", |(name, _)| name).into());
        table.insert("icmp".into(), icmp::write(self.icmp));
        if !self.channels.is_empty() {
            let channels = self.channels.iter().map(ChannelSpec::write).collect();
            table.insert("channels".into(), list(channels));
        }
        table.insert("links".into(), list(self.links.iter().map(LinkSpec::write).collect()));
        table.insert("flows".into(), list(self.flows.iter().map(FlowSpec::write).collect()));
        if !self.observe.is_empty() {
            table.insert("observe".into(), list(self.observe.iter().map(Observe::write).collect()));
        }
        table
    }
}

/// Reads the text of the scenario in the file at `path`: refuses what is too
/// large before reading it, and what is not UTF-8.
pub fn load(path: &std::path::Path) -> Result<String, InputError> {
    let file = path.display().to_string();
    let failed = |problem: std::io::Error| InputError::whole_file(&file, problem.to_string());
    let metadata = std::fs::metadata(path).map_err(failed)?;
    if !metadata.is_file() {
        return Err(InputError::whole_file(&file, "is not a regular file"));
    }
    if metadata.len() > LARGEST_FILE {
        let problem = format!(
            "is {} octets long; a scenario has at most {} MiB",
            metadata.len(),
            LARGEST_FILE >> 20
        );
        return Err(InputError::whole_file(&file, problem));
    }
    let octets = std::fs::read(path).map_err(failed)?;
    String::from_utf8(octets).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        InputError::whole_file(&file, format!("is not UTF-8 text (octet {at} is not valid)"))
    })
}

fn parse(text: &str, file: &str) -> Result<Table, InputError> {
    if text.len() as u64 > LARGEST_FILE {
        let problem = format!("is {} octets long; a scenario has at most 16 MiB", text.len());
        return Err(InputError::whole_file(file, problem));
    }
    if text.trim().is_empty() {
        return Err(InputError::whole_file(
            file,
            "is empty; a scenario has at least `hosts`, `links` and `flows`",
        ));
    }
    text.parse::<Table>().map_err(|error| {
        let place = error.span().map_or(String::new(), |span| {
            let before = text.get(..span.start).unwrap_or(text);
            let line = before.matches('\n').count() + 1;
            let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
            format!("line {line}, column {column}: ")
        });
        let message = error.message().lines().collect::<Vec<_>>().join("; ");
        InputError::whole_file(file, format!("{place}not valid TOML: {message}"))
    })
}

#[cfg(test)]
mod tests;
