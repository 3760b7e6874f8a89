//! Links: two directions, each with a rate, a delay, a queue and impairments.

use super::impairment::{self, Impairment};
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::{Amount, Packets, Quantity};
use anabranch_network::{LinkConfig, QUEUES, QueueConfig, QueueLimit};
use anabranch_units::{Bytes, Rate, Span};
use toml::{Table, Value};

/// A link between two nodes.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkSpec {
    /// Name of the link, and of its direction `ends[0] -> ends[1]`.
    pub name: String,
    /// Name of the direction `ends[1] -> ends[0]`.
    pub reverse_name: String,
    /// The two nodes.
    pub ends: [String; 2],
    /// The direction `ends[0] -> ends[1]`.
    pub forward: Direction,
    /// The direction `ends[1] -> ends[0]`.
    pub reverse: Direction,
}

/// One direction of a link.
#[derive(Clone, PartialEq, Debug)]
pub struct Direction {
    /// Transmission rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Span,
    /// Largest packet, IP header included.
    pub mtu: Bytes,
    /// The queue in front of the transmitter.
    pub queue: QueueConfig,
    /// What goes wrong, in the order in which packets meet it.
    pub impairments: Vec<Impairment>,
}

const MTU: Bytes = Bytes(1500);
/// RFC 791 §3.2: every link carries 68 octets.
const LEAST_MTU: Bytes = Bytes(68);

impl LinkSpec {
    pub(super) fn read(f: &Fields<'_>) -> Result<LinkSpec, InputError> {
        let two = "two different nodes such as [\"a\", \"b\"]";
        let ends: [String; 2] = f
            .texts("ends")?
            .and_then(|ends| ends.try_into().ok())
            .filter(|[a, b]: &[String; 2]| a != b)
            .ok_or_else(|| f.error("ends", two))?;
        let rate = f.quantity("rate")?.ok_or_else(|| f.error("rate", Rate::ALLOWED))?;
        let delay = f.quantity("delay")?.ok_or_else(|| f.error("delay", Span::ALLOWED))?;
        let forward = Direction {
            rate,
            delay,
            mtu: read_mtu(f)?.unwrap_or(MTU),
            queue: read_queue(f)?.unwrap_or_default(),
            impairments: impairment::read_all(f)?,
        };
        let name = f.text("name")?.map(str::to_owned);
        let reverse = f.table("reverse")?;
        f.finish()?;

        let mut back = Direction { impairments: Vec::new(), ..forward.clone() };
        let mut reverse_name = None;
        if let Some(r) = reverse {
            back.rate = r.quantity("rate")?.unwrap_or(back.rate);
            back.delay = r.quantity("delay")?.unwrap_or(back.delay);
            back.mtu = read_mtu(&r)?.unwrap_or(back.mtu);
            back.queue = read_queue(&r)?.unwrap_or(back.queue);
            back.impairments = impairment::read_all(&r)?;
            reverse_name = r.text("name")?.map(str::to_owned);
            r.finish()?;
        }
        let [a, b] = &ends;
        let reverse_name = reverse_name.unwrap_or_else(|| match &name {
            Some(name) => format!("{name}-reverse"),
            None => format!("{b}-{a}"),
        });
        let name = name.unwrap_or_else(|| format!("{a}-{b}"));
        Ok(LinkSpec { name, reverse_name, ends, forward, reverse: back })
    }

    pub(super) fn write(&self) -> Table {
        let mut table = Table::new();
        table.insert("name".into(), self.name.as_str().into());
        let ends = self.ends.iter().map(|end| Value::from(end.as_str())).collect();
        table.insert("ends".into(), Value::Array(ends));
        self.forward.write(&mut table);
        let mut reverse = Table::new();
        reverse.insert("name".into(), self.reverse_name.as_str().into());
        self.reverse.write(&mut reverse);
        table.insert("reverse".into(), Value::Table(reverse));
        table
    }
}

impl Direction {
    fn write(&self, table: &mut Table) {
        let QueueConfig::DropTail { limit } = &self.queue;
        let limit = match limit {
            QueueLimit::Packets(n) => Packets(u32::try_from(*n).unwrap_or(u32::MAX)).write(),
            QueueLimit::Octets(n) => n.write(),
            QueueLimit::Unlimited => UNLIMITED.to_owned(),
        };
        let mut queue = Table::new();
        queue.insert("kind".into(), DROP_TAIL.into());
        queue.insert("limit".into(), limit.into());
        let mut put = |name: &str, value: Value| {
            table.insert(name.to_owned(), value);
        };
        put("rate", self.rate.write().into());
        put("delay", self.delay.write().into());
        put("mtu", self.mtu.write().into());
        put("queue", Value::Table(queue));
        put("impairments", Value::Array(self.impairments.iter().map(Impairment::write).collect()));
    }
}

fn read_mtu(f: &Fields<'_>) -> Result<Option<Bytes>, InputError> {
    let mtu: Option<Bytes> = f.quantity("mtu")?;
    let fits = |mtu: &Bytes| (LEAST_MTU..=Bytes(LinkConfig::MAX_MTU)).contains(mtu);
    if mtu.as_ref().is_some_and(|mtu| !fits(mtu)) {
        let allowed = format!("{LEAST_MTU} to {}", Bytes(LinkConfig::MAX_MTU));
        return Err(f.error("mtu", allowed));
    }
    Ok(mtu)
}

const DROP_TAIL: &str = "droptail";
const UNLIMITED: &str = "unlimited";

fn read_queue(f: &Fields<'_>) -> Result<Option<QueueConfig>, InputError> {
    let Some(q) = f.table("queue")? else { return Ok(None) };
    let kinds: Vec<_> = QUEUES.iter().map(|info| info.name).collect();
    if q.text("kind")?.unwrap_or(DROP_TAIL) != DROP_TAIL {
        return Err(q.error("kind", kinds.join(", ")));
    }
    let limit = match q.text("limit")? {
        None => {
            let QueueConfig::DropTail { limit } = QueueConfig::default();
            limit
        }
        Some(UNLIMITED) => QueueLimit::Unlimited,
        Some(text) => match Amount::parse(text) {
            Some(Amount::Packets(n)) => QueueLimit::Packets(n.into()),
            Some(Amount::Octets(n)) => QueueLimit::Octets(Bytes(n)),
            None => return Err(q.error("limit", format!("{}, or \"unlimited\"", Amount::ALLOWED))),
        },
    };
    q.finish()?;
    Ok(Some(QueueConfig::DropTail { limit }))
}
