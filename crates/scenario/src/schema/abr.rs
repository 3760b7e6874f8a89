//! ATM: lines between switches and end systems, which are channels of kind `abr`, and the parameters
//! of the virtual channels that links are over them.

use super::queue;
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use anabranch_network::abr::{
    AllocationConfig, EfciConfig, Encapsulation, EricaConfig, LineConfig, MaxMinConfig, VcConfig,
};
use anabranch_units::{Rate, Span};
use toml::{Table, Value};

/// A line of ATM.
#[derive(Clone, PartialEq, Debug)]
pub struct LineSpec {
    /// Switches, or hosts and routers as end systems.
    pub ends: [String; 2],
    /// Both directions, `ends[0]` to `ends[1]` first.
    pub config: LineConfig,
}

impl LineSpec {
    /// The fields of a channel besides its name and kind.
    pub(super) fn read(f: &Fields<'_>) -> Result<LineSpec, InputError> {
        let two = "two different ends such as [\"host\", \"switch\"]";
        let ends: [String; 2] = f
            .texts("ends")?
            .and_then(|ends| ends.try_into().ok())
            .filter(|[a, b]: &[String; 2]| a != b)
            .ok_or_else(|| f.error("ends", two))?;
        let capacity = f.quantity("capacity")?;
        let capacity: Rate = capacity.ok_or_else(|| f.error("capacity", Rate::ALLOWED))?;
        let reverse = f.quantity("reverse_capacity")?.unwrap_or(capacity);
        let delay = f.quantity("delay")?;
        let config = LineConfig {
            rates: [capacity, reverse],
            delay: delay.ok_or_else(|| f.error("delay", Span::ALLOWED))?,
            limit: f.integer("cells", 0..=u32::MAX)?,
            allocation: read_allocation(f)?,
        };
        f.finish()?;
        config.validate().map_err(|error| queue::in_field(f, error))?;
        Ok(LineSpec { ends, config })
    }

    pub(super) fn write(&self, table: &mut Table) {
        let mut put = |name: &str, value: Value| {
            table.insert(name.to_owned(), value);
        };
        let LineConfig { rates, delay, limit, allocation } = &self.config;
        let ends = self.ends.iter().map(|end| Value::from(end.as_str())).collect();
        put("ends", Value::Array(ends));
        put("capacity", rates[0].write().into());
        put("reverse_capacity", rates[1].write().into());
        put("delay", delay.write().into());
        if let Some(limit) = limit {
            put("cells", i64::from(*limit).into());
        }
        let (name, target, interval, threshold) = match allocation {
            AllocationConfig::Erica(erica) => ("erica", Some(erica.target), erica.interval, None),
            AllocationConfig::MaxMin(max_min) => {
                ("max-min", Some(max_min.target), max_min.interval, None)
            }
            AllocationConfig::Efci(efci) => ("efci", None, None, Some(efci.threshold)),
        };
        put("allocation", name.into());
        if let Some(target) = target {
            put("target", target.into());
        }
        if let Some(interval) = interval {
            put("interval", interval.write().into());
        }
        if let Some(threshold) = threshold {
            put("threshold", i64::from(threshold).into());
        }
    }
}

#[derive(Clone, Copy)]
enum Allocation {
    Erica,
    MaxMin,
    Efci,
}

fn read_allocation(f: &Fields<'_>) -> Result<AllocationConfig, InputError> {
    let choices =
        [("erica", Allocation::Erica), ("max-min", Allocation::MaxMin), ("efci", Allocation::Efci)];
    Ok(match f.choice("allocation", &choices)?.unwrap_or(Allocation::Erica) {
        Allocation::Erica => {
            let target = f.number("target")?.unwrap_or(EricaConfig::default().target);
            AllocationConfig::Erica(EricaConfig { target, interval: f.quantity("interval")? })
        }
        Allocation::MaxMin => {
            let target = f.number("target")?.unwrap_or(MaxMinConfig::default().target);
            AllocationConfig::MaxMin(MaxMinConfig { target, interval: f.quantity("interval")? })
        }
        Allocation::Efci => {
            let threshold = f.integer("threshold", 0..=u32::MAX)?;
            let threshold = threshold.unwrap_or(EfciConfig::default().threshold);
            AllocationConfig::Efci(EfciConfig { threshold })
        }
    })
}

/// What a link says of the source of its virtual channel; the rest is TM 4.0's.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct SourceFields {
    minimum: Option<Rate>,
    initial: Option<Rate>,
    increase: Option<f64>,
    decrease: Option<f64>,
    cells_per_rm: Option<u32>,
    rm_time: Option<Span>,
    decrease_time: Option<Span>,
    missing_rm: Option<u32>,
    cutoff_decrease: Option<f64>,
    encapsulation: Option<Encapsulation>,
}

const ENCAPSULATIONS: [(&str, Encapsulation); 2] =
    [("vc-mux", Encapsulation::VcMultiplexed), ("llc-snap", Encapsulation::LlcSnap)];

impl SourceFields {
    pub(super) fn read(f: &Fields<'_>) -> Result<SourceFields, InputError> {
        Ok(SourceFields {
            minimum: f.quantity("minimum")?,
            initial: f.quantity("initial")?,
            increase: f.probability("increase")?,
            decrease: f.probability("decrease")?,
            cells_per_rm: f.integer("cells_per_rm", 2..=256)?,
            rm_time: f.quantity("rm_time")?,
            decrease_time: f.quantity("decrease_time")?,
            missing_rm: f.integer("missing_rm", 1..=u32::MAX)?,
            cutoff_decrease: f.probability("cutoff_decrease")?,
            encapsulation: f.choice("encapsulation", &ENCAPSULATIONS)?,
        })
    }

    pub(super) fn write(&self, table: &mut Table) {
        let mut put = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                table.insert(name.to_owned(), value);
            }
        };
        put("minimum", self.minimum.map(|minimum| minimum.write().into()));
        put("initial", self.initial.map(|initial| initial.write().into()));
        put("increase", self.increase.map(Value::from));
        put("decrease", self.decrease.map(Value::from));
        put("cells_per_rm", self.cells_per_rm.map(|cells_per_rm| i64::from(cells_per_rm).into()));
        put("rm_time", self.rm_time.map(|rm_time| rm_time.write().into()));
        put("decrease_time", self.decrease_time.map(|decrease_time| decrease_time.write().into()));
        put("missing_rm", self.missing_rm.map(|missing_rm| i64::from(missing_rm).into()));
        put("cutoff_decrease", self.cutoff_decrease.map(Value::from));
        let named = |encapsulation: Encapsulation| {
            ENCAPSULATIONS.iter().find(|entry| entry.1 == encapsulation)
        };
        let encapsulation = self.encapsulation.and_then(named);
        put("encapsulation", encapsulation.map(|entry| entry.0.into()));
    }

    /// The parameters with this peak rate, and every default spelt out here.
    pub(super) fn complete(&mut self, peak: Rate) -> VcConfig {
        let usual = VcConfig::new(peak);
        let cells_per_rm = *self.cells_per_rm.get_or_insert(usual.cells_per_rm);
        VcConfig {
            peak,
            minimum: self.minimum,
            initial: self.initial,
            increase: *self.increase.get_or_insert(usual.increase),
            decrease: *self.decrease.get_or_insert(usual.decrease),
            cells_per_rm,
            rm_time: *self.rm_time.get_or_insert(usual.rm_time),
            decrease_time: *self.decrease_time.get_or_insert(usual.decrease_time),
            missing_rm: *self.missing_rm.get_or_insert(VcConfig::usual_missing_rm(cells_per_rm)),
            cutoff_decrease: *self.cutoff_decrease.get_or_insert(usual.cutoff_decrease),
            encapsulation: *self.encapsulation.get_or_insert(usual.encapsulation),
        }
    }
}

/// The directions in which a way passes lines with these ends, from the first end of a link to the
/// other; or the number of the line that does not go on, of whose end (that of all, the link's).
pub(super) fn directions<'a>(
    ends: &'a [String; 2],
    lines: &[&'a [String; 2]],
) -> Result<Vec<usize>, (usize, &'a str)> {
    let mut at = ends[0].as_str();
    let mut found = Vec::with_capacity(lines.len());
    for (number, line) in lines.iter().enumerate() {
        let direction = line.iter().position(|end| end == at).ok_or((number, at))?;
        found.push(direction);
        at = &line[1 - direction];
    }
    if at == ends[1] { Ok(found) } else { Err((lines.len(), at)) }
}
