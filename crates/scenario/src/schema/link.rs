//! Links: two directions, each with a rate, a delay, a queue and impairments.

use super::abr::{self, SourceFields};
use super::channel::{self, ChannelKind, ChannelSpec, ExplicitRate, GivenRate};
use super::form::{Form, Kind, Text, by, quantity, quantity_shape};
use super::impairment::{self, Impairment};
use super::{queue, regulator, transmitter};
use crate::InputError;
use crate::error::ABSENT;
use crate::fields::Fields;
use crate::quantity::Quantity;
use crate::shape::Shape;
use anabranch_network::abr::VcConfig;
use anabranch_network::{
    DelaySchedule, LinkConfig, QueueConfig, RegulatorConfig, TransmitterConfig,
};
use anabranch_units::{Bytes, Rate, Span};
use toml::Table;

/// A link between two nodes.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkSpec {
    /// Name of the link, and of its direction `ends[0] -> ends[1]`.
    pub name: String,
    /// Name of the direction `ends[1] -> ends[0]`.
    pub reverse_name: String,
    /// Names of the two nodes that it joins.
    pub ends: [String; 2],
    /// The direction `ends[0] -> ends[1]`.
    pub forward: Direction,
    /// The direction `ends[1] -> ends[0]`.
    pub reverse: Direction,
}

/// One direction of a link.
#[derive(Clone, PartialEq, Debug)]
pub struct Direction {
    /// Rate of the line, or the most that is granted.
    pub rate: Rate,
    /// The channel that grants the rate, at most `rate`.
    pub explicit: Option<ExplicitRate>,
    /// The source of a virtual channel of ATM, where the line is one, and the lines that it passes:
    /// the channel of each, and 0 or 1 for its direction.
    pub cells: Option<(VcConfig, Vec<(usize, usize)>)>,
    /// What sends at other rates than this one alone.
    pub transmitter: TransmitterConfig,
    /// Propagation delay, where `delays` says nothing else.
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

/// What a table says of a direction: of the reverse one, where it differs.
#[derive(Clone, Default)]
struct Given {
    name: Option<String>,
    rate: Option<GivenRate>,
    delay: Option<Span>,
    mtu: Option<Bytes>,
    queue: Option<QueueConfig>,
    transmitter: Option<TransmitterConfig>,
    delays: Option<DelaySchedule>,
    regulator: Option<Option<RegulatorConfig>>,
    impairments: Vec<Impairment>,
}

/// A direction's rate, what sends it where that is more than a rate, and who
/// grants it.
type Rates = (Option<Rate>, Option<TransmitterConfig>, Option<ExplicitRate>);

/// What the defaults of a table are told as.
struct Defaults {
    name: &'static str,
    rate: Option<&'static str>,
    other: Option<&'static str>,
}

const FORWARD: Defaults = Defaults { name: "`a-r`; dots become `-`", rate: None, other: None };
const REVERSE: Defaults = Defaults {
    name: "`r-a`, or `NAME-reverse` for a named link",
    rate: Some("as forward"),
    other: Some("as forward"),
};

impl Given {
    /// The fields of a direction.
    fn fields(form: &mut Form<'_>, given: &mut Given, told: &Defaults) -> Result<(), InputError> {
        form.says("name of the direction, and of the link").or_else(told.name);
        form.optional("name", Text, &mut given.name)?;
        form.says("transmission rate; packets count with their IP header, without framing. `{ explicit = \"CHANNEL\", peak = \"4 Mbit/s\" }`: what a [channel](#channels) grants, at most `peak` (the channel's capacity). `{ explicit = [\"LINE\", \"LINE\"] }`: a virtual channel over [lines of ATM](#lines-of-atm)");
        form.or_else(told.rate.unwrap_or("required, unless a schedule or a trace tells it"));
        form.optional("rate", channel::rate(), &mut given.rate)?;
        form.says("propagation delay")
            .or_else(told.rate.unwrap_or("required, unless `delays` tells it"));
        form.optional("delay", quantity(), &mut given.delay)?;
        form.says("largest packet; larger ones are dropped and counted, unless IP may cut them ([SCTP](sctp.md#path-mtus))");
        form.or_else(told.other.unwrap_or("`\"1500 B\"`")).optional(
            "mtu",
            mtu(),
            &mut given.mtu,
        )?;
        let queue =
            by(queue::shape, |f: &Fields<'_>, _: &'static str| queue::read(f), queue::write);
        form.says("see [queues](#queues)");
        form.or_else(told.other.unwrap_or("`{ kind = \"droptail\", limit = \"100 packets\" }`"));
        form.optional("queue", queue, &mut given.queue)?;
        transmitter::fields(form, &mut given.transmitter)?;
        form.says("how the delay changes");
        transmitter::delays(form, &mut given.delays)?;
        form.says("holds ACKs that come back, by the state of this direction, see [regulators](#regulators); of this direction only");
        form.optional("regulator", regulator::kind(), &mut given.regulator)?;
        form.says("list of [impairments](#impairments), in the order in which packets meet them; of this direction only");
        impairment::list(form, &mut given.impairments)
    }

    /// The direction, from one that it is like but for what is given.
    fn over(self, f: &Fields<'_>, like: Option<&Direction>) -> Result<Direction, InputError> {
        let (has_delays, first) =
            (self.delays.is_some(), self.delays.as_ref().map(|d| d.steps[0].1));
        let (rate, transmitter, mut explicit) = rates(f, self.rate, self.transmitter)?;
        let mut delay = self.delay.or(first);
        let Some(like) = like else {
            if let (None, Some(explicit)) = (delay, &mut explicit) {
                explicit.delay_left_out = true;
                delay = Some(Span::ZERO);
            }
            return Ok(Direction {
                rate: rate.ok_or_else(|| f.error("rate", Rate::ALLOWED))?,
                explicit,
                cells: None,
                transmitter: transmitter.unwrap_or_default(),
                delay: delay.ok_or_else(|| f.error("delay", Span::ALLOWED))?,
                delays: self.delays,
                mtu: self.mtu.unwrap_or(MTU),
                queue: self.queue.unwrap_or_default(),
                regulator: self.regulator.flatten(),
                impairments: self.impairments,
            });
        };
        // What is given replaces what the other direction has of its kind.
        let mut back = like.clone();
        if rate.is_some() || transmitter.is_some() {
            back.explicit = explicit;
            back.transmitter = transmitter.unwrap_or_default();
            back.rate = rate.unwrap_or(back.rate);
        }
        if delay.is_some() || has_delays {
            back.delay = delay.unwrap_or(back.delay);
            back.delays = self.delays;
        }
        back.mtu = self.mtu.unwrap_or(back.mtu);
        back.queue = self.queue.unwrap_or(back.queue);
        back.regulator = self.regulator.flatten();
        back.impairments = self.impairments;
        Ok(back)
    }
}

/// What a table says of a link.
#[derive(Clone, Default)]
struct GivenLink {
    ends: [String; 2],
    forward: Given,
    reverse: Option<Given>,
}

const TWO: &str = "two different nodes such as [\"a\", \"b\"]";

impl GivenLink {
    fn fields(form: &mut Form<'_>, given: &mut GivenLink) -> Result<(), InputError> {
        form.says("the two nodes, as `[\"a\", \"r\"]`");
        form.required("ends", abr::ends(TWO), TWO, &mut given.ends)?;
        Given::fields(form, &mut given.forward, &FORWARD)?;
        form.says("table of the same fields for the direction `ends[1]` to `ends[0]`");
        form.or_else("as forward, without regulator and impairments");
        form.optional_table("reverse", &mut given.reverse, Given::default, |form, given| {
            Given::fields(form, given, &REVERSE)
        })
    }
}

/// What an entry may hold; `named` tells whether `ends` and `name` are among it.
pub(crate) fn shape(named: bool) -> Shape {
    let mut table = Form::described(|form| GivenLink::fields(form, &mut GivenLink::default()));
    table.fields.retain(|field| named || !["ends", "name"].contains(&field.name));
    Shape::Table(table).named(if named { "link" } else { "topology-links" })
}

impl LinkSpec {
    pub(super) fn read(f: &Fields<'_>) -> Result<LinkSpec, InputError> {
        let mut given = GivenLink::default();
        Form::read_all(f, |form| GivenLink::fields(form, &mut given))?;
        let GivenLink { ends, forward, reverse } = given;
        let name = forward.name.clone();
        let forward = forward.over(f, None)?;
        let mut back = Direction { regulator: None, impairments: Vec::new(), ..forward.clone() };
        let mut reverse_name = None;
        forward.check(f)?;
        match (reverse, f.table("reverse")?) {
            (Some(given), Some(r)) => {
                reverse_name = given.name.clone();
                back = given.over(&r, Some(&back))?;
                back.check(&r)?;
            }
            _ => back.check(f)?,
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
        let mut given = GivenLink {
            ends: self.ends.clone(),
            forward: self.forward.given(&self.name),
            reverse: Some(self.reverse.given(&self.reverse_name)),
        };
        Form::written(|form| GivenLink::fields(form, &mut given))
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
        config.validate().map_err(|error| match &*error.field {
            "burst" | "peak" => {
                let path = f.path(&format!("token_bucket.{}", error.field));
                InputError::field(path, error.value, error.allowed)
            }
            _ => f.refuse(error),
        })
    }

    /// All that a table would say of it.
    fn given(&self, name: &str) -> Given {
        let rate = match &self.explicit {
            Some(explicit) => GivenRate::Explicit(explicit.clone()),
            None => GivenRate::Fixed(self.rate),
        };
        Given {
            name: Some(name.to_owned()),
            rate: Some(rate),
            delay: Some(self.delay),
            mtu: Some(self.mtu),
            queue: Some(self.queue.clone()),
            transmitter: Some(self.transmitter.clone()),
            delays: self.delays.clone(),
            regulator: self.regulator.clone().map(Some),
            impairments: self.impairments.clone(),
        }
    }
}

fn rates(
    f: &Fields<'_>,
    rate: Option<GivenRate>,
    transmitter: Option<TransmitterConfig>,
) -> Result<Rates, InputError> {
    let rate = match rate {
        Some(GivenRate::Explicit(explicit)) => {
            if transmitter.is_some() {
                let allowed = "a rate, where there is a schedule, a trace or a token bucket";
                return Err(f.error("rate", allowed));
            }
            // Without a peak the channel's capacity takes this place.
            let rate = explicit.peak.unwrap_or(Rate::gbit(1));
            return Ok((Some(rate), Some(TransmitterConfig::Explicit), Some(explicit)));
        }
        Some(GivenRate::Fixed(rate)) => Some(rate),
        None => None,
    };
    let usual = transmitter.as_ref().and_then(transmitter::usual_rate);
    Ok((rate.or(usual), transmitter, None))
}

fn mtu() -> impl Kind<Value = Bytes> {
    let read = |f: &Fields<'_>, name: &'static str| {
        let Some(mtu) = f.quantity(name)? else { return Ok(None) };
        f.within(name, LinkConfig::MTU, mtu)?;
        Ok(Some(mtu))
    };
    by(quantity_shape::<Bytes>, read, |mtu: &Bytes| mtu.write().into())
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
        return refuse("delay", ABSENT, Span::ALLOWED);
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
