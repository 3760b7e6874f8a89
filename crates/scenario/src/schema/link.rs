//! Links: two directions, each with a rate, a delay, a queue and impairments.

use super::channel::{self, ChannelSpec, ExplicitRate};
use super::impairment::{self, Impairment};
use super::{queue, regulator, transmitter};
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use anabranch_network::{
    DelaySchedule, LinkConfig, QueueConfig, RegulatorConfig, TransmitterConfig,
};
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
    /// Who grants the rate, at most `rate`.
    pub explicit: Option<ExplicitRate>,
    /// What sends at other rates than this one alone.
    pub transmitter: TransmitterConfig,
    /// Propagation delay.
    pub delay: Span,
    /// Propagation delays that change with time, instead of `delay`.
    pub delays: Option<DelaySchedule>,
    /// Largest packet, IP header included.
    pub mtu: Bytes,
    /// The queue in front of the transmitter.
    pub queue: QueueConfig,
    /// Holds ACKs that come back, in the router that sends over this direction.
    pub regulator: Option<RegulatorConfig>,
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
        let (rate, transmitter, explicit) = read_rate(f)?;
        let delays = transmitter::read_delays(f)?;
        let delay = f.quantity("delay")?.or_else(|| delays.as_ref().map(|it| it.steps[0].1));
        let forward = Direction {
            rate: rate.ok_or_else(|| f.error("rate", Rate::ALLOWED))?,
            explicit,
            transmitter: transmitter.unwrap_or_default(),
            delay: delay.ok_or_else(|| f.error("delay", Span::ALLOWED))?,
            delays,
            mtu: read_mtu(f)?.unwrap_or(MTU),
            queue: queue::read(f)?.unwrap_or_default(),
            regulator: regulator::read(f)?,
            impairments: impairment::read_all(f)?,
        };
        let name = f.text("name")?.map(str::to_owned);
        let reverse = f.table("reverse")?;
        f.finish()?;

        let mut back = Direction { regulator: None, impairments: Vec::new(), ..forward.clone() };
        let mut reverse_name = None;
        if let Some(r) = &reverse {
            // What is given replaces what the other direction has of its kind.
            let (rate, own, explicit) = read_rate(r)?;
            if rate.is_some() || own.is_some() {
                back.explicit = explicit;
                back.transmitter = own.unwrap_or_default();
                back.rate = rate.unwrap_or(back.rate);
            }
            let (delay, own) = (r.quantity("delay")?, transmitter::read_delays(r)?);
            if delay.is_some() || own.is_some() {
                let first = own.as_ref().map(|it| it.steps[0].1);
                back.delay = delay.or(first).unwrap_or(back.delay);
                back.delays = own;
            }
            back.mtu = read_mtu(r)?.unwrap_or(back.mtu);
            back.queue = queue::read(r)?.unwrap_or(back.queue);
            back.regulator = regulator::read(r)?;
            back.impairments = impairment::read_all(r)?;
            reverse_name = r.text("name")?.map(str::to_owned);
            r.finish()?;
        }
        forward.check(f)?;
        match &reverse {
            Some(r) => back.check(r)?,
            None => back.check(f)?,
        }
        // Names of links have no dots, by which the command line finds fields.
        let [a, b] = &ends.each_ref().map(|end| end.replace('.', "-"));
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
    /// Checks what concerns more than one field.
    fn check(&self, f: &Fields<'_>) -> Result<(), InputError> {
        let config = LinkConfig {
            mtu: self.mtu,
            transmitter: self.transmitter.clone(),
            delays: self.delays.clone(),
            queue: self.queue.clone(),
            ..LinkConfig::new(Rate::gbit(1), Span::ZERO)
        };
        if let Some(it) = &self.regulator {
            it.validate(&config).map_err(|error| regulator::error(f, error))?;
        }
        config.validate().map_err(|error| match error.field {
            "burst" | "peak" => {
                let path = f.path(&format!("token_bucket.{}", error.field));
                InputError::field(path, error.value, error.allowed)
            }
            _ => queue::in_field(f, error),
        })
    }

    fn write(&self, table: &mut Table) {
        let mut put = |name: &str, value: Value| {
            table.insert(name.to_owned(), value);
        };
        put(
            "rate",
            match &self.explicit {
                Some(explicit) => explicit.write(),
                None => self.rate.write().into(),
            },
        );
        put("delay", self.delay.write().into());
        put("mtu", self.mtu.write().into());
        put("queue", queue::write(&self.queue));
        for (name, value) in transmitter::write(&self.transmitter, self.delays.as_ref()) {
            put(name, value);
        }
        if let Some(it) = &self.regulator {
            put("regulator", regulator::write(it));
        }
        put("impairments", Value::Array(self.impairments.iter().map(Impairment::write).collect()));
    }
}

/// A direction's rate, what sends it where that is more than a rate, and who
/// grants it.
type Rates = (Option<Rate>, Option<TransmitterConfig>, Option<ExplicitRate>);

fn read_rate(f: &Fields<'_>) -> Result<Rates, InputError> {
    let transmitter = transmitter::read(f)?;
    let (rate, explicit) = channel::read_rate(f)?;
    if let Some(explicit) = explicit {
        if transmitter.is_some() {
            let allowed = "a rate, where there is a schedule, a trace or a token bucket";
            return Err(f.error("rate", allowed));
        }
        // Without a peak the channel's capacity takes this place.
        let rate = explicit.peak.unwrap_or(Rate::gbit(1));
        return Ok((Some(rate), Some(TransmitterConfig::Explicit), Some(explicit)));
    }
    let usual = transmitter.as_ref().and_then(transmitter::usual_rate);
    Ok((rate.or(usual), transmitter, None))
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

/// Gives explicit directions without a peak the capacity of their channel.
pub(crate) fn resolve(links: &mut [LinkSpec], channels: &[ChannelSpec]) -> Result<(), InputError> {
    for (i, link) in links.iter_mut().enumerate() {
        for (j, way) in [&mut link.forward, &mut link.reverse].into_iter().enumerate() {
            let Some(ExplicitRate { channel: name, peak }) = &way.explicit else { continue };
            let channel = channels.iter().find(|it| it.name == *name).ok_or_else(|| {
                let field = format!("links[{i}].{}rate.explicit", ["", "reverse."][j]);
                let names: Vec<_> = channels.iter().map(|it| it.name.as_str()).take(12).collect();
                let allowed = match names.is_empty() {
                    true => "the name of a [[channels]] entry; there is none".to_owned(),
                    false => format!("the name of a channel: {}", names.join(", ")),
                };
                InputError::field(field, name, allowed)
            })?;
            let capacity = [channel.forward, channel.reverse][j].capacity;
            way.rate = peak.unwrap_or(capacity);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
