//! What HTB may be told.

use super::super::fq_codel::FqCoDelConfig;
use super::super::{QueueConfig, QueueLimit};
use crate::catalogue::ConfigError;
use anabranch_endpoint::{Bounds, DSCP};
use anabranch_units::{Bytes, Rate};
use anabranch_wire::{Addr, Packet};
use std::fmt::Display;

/// Levels of classes.
pub(super) const LEVELS: usize = 8;
/// Most classes of a queue.
const MOST_CLASSES: usize = 256;

/// Parameters of HTB.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct HtbConfig {
    /// The classes; a parent may stand before or behind its children.
    pub classes: Vec<HtbClass>,
    /// Name of the leaf of packets that no class names; `None` sends them at once.
    pub default: Option<String>,
}

/// A class.
#[derive(Clone, PartialEq, Debug)]
pub struct HtbClass {
    /// Name of the class.
    pub name: String,
    /// Name of the class that it borrows from; `None` for a root.
    pub parent: Option<String>,
    /// Rate that it has whatever the others do.
    pub rate: Rate,
    /// Rate beyond which it does not borrow; `None` is `rate`.
    pub ceil: Option<Rate>,
    /// Octets at once beyond `rate`; `None` is the link's MTU, at least 1600.
    pub burst: Option<Bytes>,
    /// Octets at once beyond `ceil`; `None` as of `burst`.
    pub cburst: Option<Bytes>,
    /// Priority, 0 to 7, of a leaf: the lowest borrows first.
    pub prio: u8,
    /// Octets of a turn of a leaf; `None` is a tenth of a second of `rate`, from 1000 to 200,000 octets
    /// (Linux with its default `r2q`, 10, of a rate in octets a second).
    pub quantum: Option<Bytes>,
    /// Queue of a leaf; `None` is drop-tail of 1000 packets.
    pub queue: Option<Box<QueueConfig>>,
    /// Packets of a leaf.
    pub matches: HtbMatch,
}

/// Which packets belong to a leaf: those that any of these names.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HtbMatch {
    /// Code points.
    pub dscp: Vec<u8>,
    /// Names of hosts, which packets come from or go to.
    pub hosts: Vec<String>,
    /// Names of flows.
    pub flows: Vec<String>,
    /// Addresses of `hosts`, which whoever builds the link enters.
    pub addresses: Vec<Addr>,
    /// Addresses with ports of the clients of `flows`, likewise.
    pub ends: Vec<(Addr, u16)>,
}

impl HtbMatch {
    /// Whether a packet belongs to the leaf.
    pub(super) fn has(&self, packet: &Packet) -> bool {
        if self.dscp.contains(&packet.dscp) {
            return true;
        }
        if self.addresses.iter().any(|host| *host == packet.src || *host == packet.dst) {
            return true;
        }
        if self.ends.is_empty() {
            return false;
        }
        let key = packet.flow_key();
        let ends = [(key.src, key.src_port), (key.dst, key.dst_port)];
        self.ends.iter().any(|end| ends.contains(end))
    }

    /// Whether nothing belongs to it.
    fn is_empty(&self) -> bool {
        self.dscp.is_empty() && self.hosts.is_empty() && self.flows.is_empty()
    }
}

/// What a bucket holds at least by default: tc's 1600 octets, or a packet of the MTU.
pub(super) fn least_burst(mtu: Bytes) -> Bytes {
    mtu.max(Bytes(1600))
}

impl HtbClass {
    /// What `prio` may be.
    pub const PRIO: Bounds<u8> = Bounds::of(0, 7);
    /// What `burst` and `cburst` may be.
    pub const BURST: Bounds<Bytes> = Bounds::at_least(Bytes(1));

    /// A class of this name and rate, of which nothing else is said.
    pub fn new(name: &str, rate: Rate) -> HtbClass {
        HtbClass {
            name: name.to_owned(),
            parent: None,
            rate,
            ceil: None,
            burst: None,
            cburst: None,
            prio: 0,
            quantum: None,
            queue: None,
            matches: HtbMatch::default(),
        }
    }

    /// Octets of a turn.
    pub(super) fn quantum(&self) -> Bytes {
        let by_rate = Bytes((self.rate.as_bps() / 8 / 10).clamp(1000, 200_000));
        self.quantum.unwrap_or(by_rate)
    }

    /// Returns the queue in which a leaf's packets wait; 1000 packets of drop-tail where none was given.
    pub(super) fn queue(&self) -> QueueConfig {
        let usual = || QueueConfig::DropTail { limit: QueueLimit::Packets(1000) };
        self.queue.as_deref().cloned().unwrap_or_else(usual)
    }

    fn error(&self, value: impl Display, allowed: &str) -> ConfigError {
        ConfigError::new("classes", format!("{}: {value}", self.name), allowed)
    }

    fn within<T>(&self, name: &str, bounds: Bounds<T>, value: T) -> Result<(), ConfigError>
    where
        T: Copy + PartialOrd + Display,
    {
        let error =
            |error: ConfigError| self.error(format!("{name} {}", error.value), &error.allowed);
        bounds.check("classes", value).map_err(error)
    }

    fn validate(&self, is_leaf: bool) -> Result<(), ConfigError> {
        if self.name.is_empty() {
            return Err(self.error("no name", "a name for each class"));
        }
        if let Some(ceil) = self.ceil.filter(|ceil| *ceil < self.rate) {
            return Err(self.error(format!("ceil {ceil}"), "a ceil of at least the class's rate"));
        }
        self.within("prio", Self::PRIO, self.prio)?;
        for (name, burst) in [("burst", self.burst), ("cburst", self.cburst)] {
            if let Some(burst) = burst {
                self.within(name, Self::BURST, burst)?;
            }
        }
        if let Some(quantum) = self.quantum {
            self.within("quantum", FqCoDelConfig::QUANTUM, quantum)?;
        }
        self.matches.dscp.iter().try_for_each(|dscp| self.within("dscp", DSCP, *dscp))?;
        if !is_leaf && self.queue.is_some() {
            return Err(self.error("queue", "queues of classes without children"));
        }
        if !is_leaf && !self.matches.is_empty() {
            return Err(self.error("dscp, hosts or flows", "packets of classes without children"));
        }
        let Some(queue) = &self.queue else { return Ok(()) };
        if matches!(**queue, QueueConfig::Htb(_)) || queue.shapes() {
            return Err(self.error("queue", "a queue without classes and a rate of its own"));
        }
        queue
            .validate()
            .map_err(|error| self.error(format!("{} {}", error.field, error.value), &error.allowed))
    }
}

impl HtbConfig {
    fn parent(&self, class: &HtbClass) -> Option<&HtbClass> {
        let parent = class.parent.as_ref()?;
        self.classes.iter().find(|other| other.name == *parent)
    }

    /// Classes above a class; [`LEVELS`] where they are as many or more.
    pub(super) fn depth(&self, class: usize) -> usize {
        let above = std::iter::successors(self.parent(&self.classes[class]), |at| self.parent(at));
        above.take(LEVELS).count()
    }

    /// Returns an error that names the first class that makes no sense.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if self.classes.len() > MOST_CLASSES {
            let allowed = format!("at most {MOST_CLASSES} classes");
            return Err(ConfigError::new("classes", self.classes.len(), allowed));
        }
        let has_children =
            |name: &str| self.classes.iter().any(|class| class.parent.as_deref() == Some(name));
        for (number, class) in self.classes.iter().enumerate() {
            if self.classes[..number].iter().any(|other| other.name == class.name) {
                return Err(class.error("the name twice", "a name of its own for each class"));
            }
            if let Some(parent) = &class.parent
                && self.parent(class).is_none()
            {
                return Err(class.error(format!("parent {parent}"), "the name of a class"));
            }
            if self.depth(number) >= LEVELS - 1 {
                let allowed = format!("at most {} levels, and no class above itself", LEVELS - 1);
                return Err(class.error("its parents", &allowed));
            }
            class.validate(!has_children(&class.name))?;
        }
        let Some(default) = &self.default else { return Ok(()) };
        if has_children(default) || !self.classes.iter().any(|class| class.name == *default) {
            let allowed = "the name of a class without children";
            return Err(ConfigError::new("default", default, allowed));
        }
        Ok(())
    }
}
