//! Links: two directions, each with a rate, a delay, a queue and impairments.

use super::abr::{self, SourceFields};
use super::channel::{self, ChannelKind, ChannelSpec, ExplicitRate};
use super::impairment::{self, Impairment};
use super::{queue, regulator, transmitter};
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use anabranch_network::abr::VcConfig;
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
    /// The source of a virtual channel of ATM, where the line is one, and the lines that it passes:
    /// the channel of each, and 0 or 1 for its direction.
    pub cells: Option<(VcConfig, Vec<(usize, usize)>)>,
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
        let (rate, transmitter, mut explicit) = read_rate(f)?;
        let delays = transmitter::read_delays(f)?;
        let mut delay =
            f.quantity("delay")?.or_else(|| delays.as_ref().map(|delay| delay.steps[0].1));
        if let (None, Some(explicit)) = (delay, &mut explicit) {
            explicit.delay_left_out = true;
            delay = Some(Span::ZERO);
        }
        let forward = Direction {
            rate: rate.ok_or_else(|| f.error("rate", Rate::ALLOWED))?,
            explicit,
            cells: None,
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
                let first = own.as_ref().map(|item| item.steps[0].1);
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
        if let Some(found) = &self.regulator {
            found.validate(&config).map_err(|error| regulator::error(f, error))?;
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
        if let Some(found) = &self.regulator {
            put("regulator", regulator::write(found));
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

/// Finds the channels of explicit directions, which give the rate to those without a peak, and the
/// way of virtual channels over lines of ATM.
pub(crate) fn resolve(links: &mut [LinkSpec], channels: &[ChannelSpec]) -> Result<(), InputError> {
    for (i, link) in links.iter_mut().enumerate() {
        let field = |j: usize, name: &str| format!("links[{i}].{}{name}", ["", "reverse."][j]);
        let mut ways = [None, None];
        for (j, way) in [&mut link.forward, &mut link.reverse].into_iter().enumerate() {
            let Some(explicit) = &mut way.explicit else { continue };
            let mut found = Vec::with_capacity(explicit.channels.len());
            for name in &explicit.channels {
                let number =
                    channels.iter().position(|channel| channel.name == *name).ok_or_else(|| {
                        let names: Vec<_> =
                            channels.iter().map(|channel| channel.name.as_str()).take(12).collect();
                        let allowed = match names.is_empty() {
                            true => "the name of a [[channels]] entry; there is none".to_owned(),
                            false => format!("the name of a channel: {}", names.join(", ")),
                        };
                        InputError::field(field(j, "rate.explicit"), name, allowed)
                    })?;
                found.push(number);
            }
            if let ChannelKind::Told { forward, reverse } = &channels[found[0]].kind {
                let capacity = [forward, reverse][j].capacity;
                resolve_told(way, capacity, |name| field(j, name))?;
            } else {
                ways[j] = Some(found);
            }
        }
        let path = match ways {
            [None, None] => continue,
            [Some(there), Some(back)] if there == back => there,
            _ => {
                let allowed = "the same lines of ATM in both directions, from ends[0] to ends[1]";
                let name = link.name.as_str();
                return Err(InputError::field(field(1, "rate.explicit"), name, allowed));
            }
        };
        let mut lines = Vec::with_capacity(path.len());
        for number in &path {
            let ChannelKind::Abr(line) = &channels[*number].kind else {
                let allowed = "lines of ATM, channels of kind \"abr\", alone";
                let name = channels[*number].name.as_str();
                return Err(InputError::field(field(0, "rate.explicit"), name, allowed));
            };
            lines.push(line);
        }
        let ends: Vec<_> = lines.iter().map(|line| &line.ends).collect();
        let directions = abr::directions(&link.ends, &ends).map_err(|(n, at)| {
            let [from, to] = &link.ends;
            let (line, what) = match path.get(n) {
                Some(number) => (channels[*number].name.as_str(), "a line that begins there"),
                None => ("(end)", "another line, or that the way ends there"),
            };
            let allowed = format!("lines on a way from {from} to {to}: it is at {at}, {what}");
            InputError::field(field(0, "rate.explicit"), line, allowed)
        })?;
        for (j, way) in [&mut link.forward, &mut link.reverse].into_iter().enumerate() {
            let mut passed: Vec<_> = path.iter().copied().zip(directions.iter().copied()).collect();
            if j == 1 {
                passed = passed.into_iter().rev().map(|(line, way)| (line, 1 - way)).collect();
            }
            let first = if j == 0 { lines[0] } else { lines[lines.len() - 1] };
            resolve_cells(way, first.config.rates[passed[0].1], passed, |name| field(j, name))?;
        }
    }
    Ok(())
}

/// A direction with a rate that is told.
fn resolve_told(
    way: &mut Direction,
    capacity: Rate,
    field: impl Fn(&str) -> String,
) -> Result<(), InputError> {
    let Some(explicit) = &way.explicit else { return Ok(()) };
    let refuse = |name: &str, value: &str, allowed: &str| {
        Err(InputError::field(field(name), value, allowed))
    };
    if explicit.channels.len() > 1 {
        return refuse(
            "rate.explicit",
            &explicit.channels[0],
            "one channel, unless of kind \"abr\"",
        );
    }
    if explicit.source != SourceFields::default() {
        let allowed = "explicit and peak; the other fields belong to channels of kind \"abr\"";
        return refuse("rate", &explicit.channels[0], allowed);
    }
    if explicit.delay_left_out {
        return refuse("delay", "(absent)", Span::ALLOWED);
    }
    way.rate = explicit.peak.unwrap_or(capacity);
    Ok(())
}

/// A direction whose line is a virtual channel over lines of ATM, the first of this rate.
fn resolve_cells(
    way: &mut Direction,
    first: Rate,
    passed: Vec<(usize, usize)>,
    field: impl Fn(&str) -> String,
) -> Result<(), InputError> {
    let Some(explicit) = &mut way.explicit else { return Ok(()) };
    if way.delay != Span::ZERO || way.delays.is_some() {
        let allowed = "no delay; lines of ATM have theirs";
        return Err(InputError::field(field("delay"), way.delay, allowed));
    }
    explicit.delay_left_out = false;
    let peak = explicit.peak.unwrap_or(first);
    if peak > first {
        let allowed = format!("at most the first line's {first}");
        return Err(InputError::field(field("rate.peak"), peak, allowed));
    }
    let source = explicit.source.complete(peak);
    source.validate(way.mtu).map_err(|error| {
        let name = if error.field == "mtu" { "mtu" } else { &format!("rate.{}", error.field) };
        InputError::field(field(name), error.value, error.allowed)
    })?;
    way.rate = source.net_peak();
    way.transmitter = TransmitterConfig::Cells;
    way.cells = Some((source, passed));
    Ok(())
}

#[cfg(test)]
mod tests;
