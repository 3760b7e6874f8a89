//! ATM: lines between switches and end systems, which are channels of kind `abr`, and the parameters
//! of the virtual channels that links are over them.

use super::channel::capacity_back;
use super::form::{Choice, Form, Kind, Probability, by, integer, quantity};
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use crate::shape::Shape;
use anabranch_network::abr::{
    AllocationConfig, EfciConfig, Encapsulation, EricaConfig, LineConfig, MaxMinConfig, VcConfig,
};
use anabranch_units::{Rate, Span};
use std::mem::discriminant;
use toml::Value;

/// A line of ATM between two nodes.
#[derive(Clone, PartialEq, Debug)]
pub struct LineSpec {
    /// Switches, or hosts and routers as end systems.
    pub ends: [String; 2],
    /// Both directions, `ends[0]` to `ends[1]` first.
    pub config: LineConfig,
}

impl LineSpec {
    /// What stands in the place of one before it is read.
    pub(super) fn unset() -> LineSpec {
        let config = LineConfig {
            rates: [Rate::gbit(1); 2],
            delay: Span::ZERO,
            limit: None,
            allocation: AllocationConfig::Erica(EricaConfig::default()),
        };
        LineSpec { ends: Default::default(), config }
    }

    /// The fields of a channel besides its name and kind.
    pub(super) fn fields(form: &mut Form<'_>, line: &mut LineSpec) -> Result<(), InputError> {
        let two = "two different ends such as [\"host\", \"switch\"]";
        form.says("what it joins").required("ends", ends(two), two, &mut line.ends)?;
        let LineConfig { rates, delay, limit, allocation } = &mut line.config;
        form.says("rate from `ends[0]` to `ends[1]`, of cells with their headers");
        form.required("capacity", quantity(), Rate::ALLOWED, &mut rates[0])?;
        let mut back = capacity_back(form, rates[1]);
        form.says("rate the other way").or_else("`capacity`");
        form.optional("reverse_capacity", quantity(), &mut back)?;
        rates[1] = back.unwrap_or(rates[0]);
        form.says("propagation each way").required("delay", quantity(), Span::ALLOWED, delay)?;
        form.says("cells that may wait in each of its two queues").or_else("no limit");
        form.optional("cells", integer(0..=u32::MAX), limit)?;
        allocations(form, allocation)?;
        let Some(f) = form.reads() else { return Ok(()) };
        line.config.validate().map_err(|error| f.refuse(error))
    }
}

/// Reads and writes two different nodes.
pub(super) fn ends(allowed: &'static str) -> impl Kind<Value = [String; 2]> {
    let read = move |f: &Fields<'_>, name: &'static str| {
        let Some(ends) = f.texts(name)? else { return Ok(None) };
        let ends = ends.try_into().ok().filter(|[a, b]: &[String; 2]| a != b);
        ends.map(Some).ok_or_else(|| f.error(name, allowed))
    };
    let write =
        |ends: &[String; 2]| Value::Array(ends.iter().map(|end| end.as_str().into()).collect());
    by(|| Shape::Tuple(vec![Shape::Text, Shape::Text]), read, write)
}

/// Reads, writes or describes how ports allocate; the fields of another law than that which is
/// chosen are none.
fn allocations(form: &mut Form<'_>, chosen: &mut AllocationConfig) -> Result<(), InputError> {
    let all = [
        ("erica", AllocationConfig::Erica(EricaConfig::default())),
        ("max-min", AllocationConfig::MaxMin(MaxMinConfig::default())),
        ("efci", AllocationConfig::Efci(EfciConfig::default())),
    ];
    let mut name = all
        .iter()
        .find(|(_, law)| discriminant(law) == discriminant(chosen))
        .map_or("erica", |(name, _)| *name);
    let names = all.each_ref().map(|(name, _)| (*name, *name));
    form.says("how the ports allocate rates").choice("allocation", &names, &mut name)?;
    if form.reads().is_some() {
        *chosen = all.iter().find(|law| law.0 == name).map_or(all[0].1, |law| law.1);
    }
    let describes = matches!(form, Form::Describe(_));
    if let AllocationConfig::Erica(EricaConfig { target, interval, .. })
    | AllocationConfig::MaxMin(MaxMinConfig { target, interval, .. }) = chosen
    {
        form.says("of the first two: part of the line that is given away").number(
            "target",
            AllocationConfig::TARGET,
            target,
        )?;
        form.says(
            "of the first two: time over which load is measured, or between two computations",
        )
        .or_else("100 cell times, at least 1 ms")
        .optional("interval", quantity(), interval)?;
    }
    let mut usual = EfciConfig::default();
    let efci = match chosen {
        AllocationConfig::Efci(efci) => Some(efci),
        _ => describes.then_some(&mut usual),
    };
    let Some(EfciConfig { threshold }) = efci else { return Ok(()) };
    form.says("of `\"efci\"`: cells that may wait before data cells are marked").integer(
        "threshold",
        0..=u32::MAX,
        threshold,
    )
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
    /// The parameters of a source, which lines of ATM alone have.
    pub(super) fn fields(form: &mut Form<'_>, s: &mut SourceFields) -> Result<(), InputError> {
        let tm = "that of [TM 4.0](abr.md#what-is-simulated)";
        form.says("over lines of ATM: cell rate that is always granted (MCR)").or_else(tm);
        form.optional("minimum", quantity(), &mut s.minimum)?;
        form.says("over lines of ATM: cell rate at first and after idle times (ICR)").or_else(tm);
        form.optional("initial", quantity(), &mut s.initial)?;
        form.says(
            "over lines of ATM: part of the peak by which the rate grows with an RM cell (RIF)",
        )
        .or_else(tm);
        form.optional("increase", Probability, &mut s.increase)?;
        form.says("over lines of ATM: part by which it falls with one (RDF)").or_else(tm);
        form.optional("decrease", Probability, &mut s.decrease)?;
        form.says("over lines of ATM: cells for each RM cell (Nrm)").or_else(tm);
        form.optional("cells_per_rm", integer(VcConfig::CELLS_PER_RM), &mut s.cells_per_rm)?;
        form.says("over lines of ATM: longest time between RM cells (Trm)").or_else(tm);
        form.optional("rm_time", quantity(), &mut s.rm_time)?;
        form.says("over lines of ATM: time without sending after which the rate falls to `initial` (ADTF)").or_else(tm);
        form.optional("decrease_time", quantity(), &mut s.decrease_time)?;
        form.says("over lines of ATM: RM cells without an answer before the rate falls (CRM)")
            .or_else(tm);
        form.optional("missing_rm", integer(VcConfig::MISSING_RM), &mut s.missing_rm)?;
        form.says("over lines of ATM: part by which it falls then (CDF)").or_else(tm);
        form.optional("cutoff_decrease", Probability, &mut s.cutoff_decrease)?;
        form.says("over lines of ATM: how packets stand in AAL5 frames").or_else(tm);
        form.optional("encapsulation", Choice(&ENCAPSULATIONS), &mut s.encapsulation)
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
