//! The field `queue` of a link's direction.

use super::form::{Form, Kind, by, integer, quantity, quantity_shape};
use super::{dscp, htb};
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::{Amount, Packets, Quantity};
use crate::shape::Shape;
use anabranch_endpoint::DSCP;
use anabranch_network::{
    AckFilterConfig, BlueConfig, CakeAckFilter, CakeConfig, CakeFraming, CakeIsolation, CakeTins,
    ChokeConfig, CoDelConfig, CoDelLaw, CobaltConfig, CobaltLaw, DelayEstimate, DrrConfig, DrrKey,
    DualPi2Config, FqCoDelConfig, FqPieConfig, HtbConfig, Info, Pi2Config, PieConfig,
    PriorityConfig, PriorityKey, QUEUES, QueueConfig, QueueLimit, RedConfig, Scalable, SfqConfig,
    ThresholdConfig,
};
use anabranch_units::{Bytes, Span};
use toml::Value;

const UNLIMITED: &str = "unlimited";
const AUTO: &str = "auto";
const ESTIMATES: [(&str, DelayEstimate); 2] =
    [("timestamps", DelayEstimate::Timestamps), ("rate", DelayEstimate::Rate)];
const SCALABLE: [(&str, Scalable); 3] =
    [("none", Scalable::None), ("ect1", Scalable::Ect1), ("ect", Scalable::Ect)];
const BANDS: [(&str, PriorityKey); 2] =
    [("dscp", PriorityKey::Dscp), ("pure-ack", PriorityKey::PureAck)];
const KEYS: [(&str, DrrKey); 2] = [("flow", DrrKey::Flow), ("dscp", DrrKey::Dscp)];

const TINS: [(&str, CakeTins); 5] = [
    ("besteffort", CakeTins::BestEffort),
    ("diffserv3", CakeTins::Diffserv3),
    ("diffserv4", CakeTins::Diffserv4),
    ("diffserv8", CakeTins::Diffserv8),
    ("precedence", CakeTins::Precedence),
];
const ISOLATION: [(&str, CakeIsolation); 8] = [
    ("flowblind", CakeIsolation::Flowblind),
    ("srchost", CakeIsolation::SrcHost),
    ("dsthost", CakeIsolation::DstHost),
    ("hosts", CakeIsolation::Hosts),
    ("flows", CakeIsolation::Flows),
    ("dual-srchost", CakeIsolation::DualSrcHost),
    ("dual-dsthost", CakeIsolation::DualDstHost),
    ("triple-isolate", CakeIsolation::TripleIsolate),
];
const FRAMING: [(&str, CakeFraming); 3] =
    [("none", CakeFraming::None), ("atm", CakeFraming::Atm), ("ptm", CakeFraming::Ptm)];
const ACK_FILTERS: [(&str, CakeAckFilter); 3] = [
    ("off", CakeAckFilter::Off),
    ("conservative", CakeAckFilter::Conservative),
    ("aggressive", CakeAckFilter::Aggressive),
];

/// What the field `queue` may hold.
pub(super) fn shape() -> Shape {
    Shape::Table(Form::described(|form| fields(form, &mut QueueConfig::default()))).named("queue")
}

/// The field `queue`, where there is one.
pub(super) fn read(f: &Fields<'_>) -> Result<Option<QueueConfig>, InputError> {
    read_as(f, fields)
}

/// The field `queue` of a class, where there is one.
pub(super) fn read_leaf(f: &Fields<'_>) -> Result<Option<QueueConfig>, InputError> {
    read_as(f, leaf_fields)
}

/// What the field `queue` of a class may hold.
pub(super) fn leaf_shape() -> Shape {
    Shape::Table(Form::described(|form| leaf_fields(form, &mut QueueConfig::default())))
        .named("leaf_queue")
}

fn read_as(
    f: &Fields<'_>,
    fields: fn(&mut Form<'_>, &mut QueueConfig) -> Result<(), InputError>,
) -> Result<Option<QueueConfig>, InputError> {
    let Some(q) = f.table("queue")? else { return Ok(None) };
    let mut queue = QueueConfig::default();
    Form::read_all(&q, |form| fields(form, &mut queue))?;
    queue.validate().map_err(|error| q.refuse(error))?;
    Ok(Some(queue))
}

/// The table that [`read`] reads as the same.
pub(super) fn write(queue: &QueueConfig) -> Value {
    Form::written(|form| fields(form, &mut queue.clone())).into()
}

fn usual(name: &str) -> Option<QueueConfig> {
    Some(match name {
        "droptail" => QueueConfig::DropTail { limit: QueueLimit::Packets(100) },
        "threshold" => QueueConfig::Threshold(ThresholdConfig::default()),
        "red" => QueueConfig::Red(RedConfig::default()),
        "choke" => QueueConfig::Choke(ChokeConfig::default()),
        "blue" => QueueConfig::Blue(BlueConfig::default()),
        "pie" => QueueConfig::Pie(PieConfig::default()),
        "pi2" => QueueConfig::Pi2(Pi2Config::default()),
        "codel" => QueueConfig::CoDel(CoDelConfig::default()),
        "cobalt" => QueueConfig::Cobalt(CobaltConfig::default()),
        "fq-codel" => QueueConfig::FqCoDel(FqCoDelConfig::default()),
        "fq-pie" => QueueConfig::FqPie(FqPieConfig::default()),
        "dualpi2" => QueueConfig::DualPi2(DualPi2Config::default()),
        "priority" => QueueConfig::Priority(PriorityConfig::default()),
        "drr" => QueueConfig::Drr(DrrConfig::default()),
        "sfq" => QueueConfig::Sfq(SfqConfig::default()),
        "cake" => QueueConfig::Cake(CakeConfig::default()),
        "htb" => QueueConfig::Htb(HtbConfig::default()),
        "ack-filter" => QueueConfig::AckFilter(AckFilterConfig::default()),
        _ => return None,
    })
}

/// The kinds in the order of their catalogue, each with what it has by default.
fn fields(form: &mut Form<'_>, queue: &mut QueueConfig) -> Result<(), InputError> {
    kinds(form, queue, true)
}

/// The kinds that leaves of classes may be of.
fn leaf_fields(form: &mut Form<'_>, queue: &mut QueueConfig) -> Result<(), InputError> {
    kinds(form, queue, false)
}

fn kinds(form: &mut Form<'_>, queue: &mut QueueConfig, classes: bool) -> Result<(), InputError> {
    let kind = |info: &Info| Some((info.name, info.summary, usual(info.name)?));
    let is_kind = |found: &(&str, &str, QueueConfig)| classes || found.0 != "htb";
    let all: Vec<_> = QUEUES.iter().filter_map(kind).filter(is_kind).collect();
    form.kinds("kind", Some("droptail"), &all, queue, |form, queue| match queue {
        QueueConfig::DropTail { limit } => waiting(form, limit),
        QueueConfig::Threshold(c) => {
            waiting(form, &mut c.limit)?;
            form.says("ECN-capable packets that find as much waiting are marked").set(
                "mark",
                amount(),
                &mut c.mark,
            )
        }
        QueueConfig::Red(c) => red(form, c),
        QueueConfig::Choke(c) => choke(form, c),
        QueueConfig::Blue(c) => blue(form, c),
        QueueConfig::Pie(c) => pie(form, c),
        QueueConfig::Pi2(c) => pi2(form, c),
        QueueConfig::CoDel(c) => {
            waiting(form, &mut c.limit)?;
            law(form, &mut c.law)
        }
        QueueConfig::Cobalt(c) => {
            waiting(form, &mut c.limit)?;
            cobalt_law(form, &mut c.law)
        }
        QueueConfig::FqCoDel(c) => {
            flow_queues(form, &mut c.limit, &mut c.queues, &mut c.quantum)?;
            form.says("packets that an overflow drops at most").integer(
                "drop_batch",
                FqCoDelConfig::DROP_BATCH,
                &mut c.drop_batch,
            )?;
            law(form, &mut c.law)
        }
        QueueConfig::FqPie(c) => {
            flow_queues(form, &mut c.limit, &mut c.queues, &mut c.quantum)?;
            pie_law(form, &mut c.law)
        }
        QueueConfig::DualPi2(c) => dualpi2(form, c),
        QueueConfig::Priority(c) => priority(form, c),
        QueueConfig::Drr(c) => drr(form, c),
        QueueConfig::Sfq(c) => sfq(form, c),
        QueueConfig::Cake(c) => cake(form, c),
        QueueConfig::Htb(c) => htb::fields(form, c),
        QueueConfig::AckFilter(c) => {
            waiting(form, &mut c.limit)?;
            form.says("of ACKs that say the same one is left, else two")
                .boolean("aggressive", &mut c.aggressive)
        }
    })
}

/// The flow queues of FQ-CoDel, FQ-PIE and SFQ.
fn flow_queues(
    form: &mut Form<'_>,
    limit: &mut u64,
    queues: &mut u32,
    quantum: &mut Bytes,
) -> Result<(), InputError> {
    form.says("packets that may wait").set("limit", packets(), limit)?;
    form.says("flows are hashed into so many queues").integer(
        "queues",
        FqCoDelConfig::QUEUES,
        queues,
    )?;
    form.says("octets that a queue sends in its turn").quantity("quantum", quantum)
}

/// The field `limit` of most kinds.
fn waiting(form: &mut Form<'_>, limit: &mut QueueLimit) -> Result<(), InputError> {
    form.says("what may wait, in packets, in octets or `\"unlimited\"`; the packet being transmitted does not count")
        .set("limit", amount(), limit)
}

/// An amount of packets or octets, or `"unlimited"`.
pub(super) fn amount() -> impl Kind<Value = QueueLimit> {
    let read = |q: &Fields<'_>, name: &'static str| {
        let unit = format!("{}, or \"unlimited\"; with its unit, in quotes", Amount::ALLOWED);
        Ok(match q.text(name).map_err(|_| q.error(name, unit))? {
            None => None,
            Some(UNLIMITED) => Some(QueueLimit::Unlimited),
            Some(text) => match Amount::parse(text) {
                Some(Amount::Packets(n)) => Some(QueueLimit::Packets(n.into())),
                Some(Amount::Octets(n)) => Some(QueueLimit::Octets(Bytes(n))),
                None => return Err(q.error(name, format!("{}, or \"unlimited\"", Amount::ALLOWED))),
            },
        })
    };
    let write = |limit: &QueueLimit| -> Value {
        match *limit {
            QueueLimit::Packets(n) => write_packets(n),
            QueueLimit::Octets(n) => n.write().into(),
            QueueLimit::Unlimited => UNLIMITED.into(),
        }
    };
    let shape = || Shape::Any(vec![quantity_shape::<Amount>(), Shape::word(UNLIMITED)]);
    by(shape, read, write)
}

fn write_packets(n: u64) -> Value {
    Packets(u32::try_from(n).unwrap_or(u32::MAX)).write().into()
}

/// Reads and writes a number of packets.
fn packets() -> impl Kind<Value = u64> {
    let read = |q: &Fields<'_>, name: &'static str| {
        let packets: Option<Packets> = q.quantity(name)?;
        Ok(packets.map(|n| n.0.into()))
    };
    by(quantity_shape::<Packets>, read, |n: &u64| write_packets(*n))
}

/// A threshold of RED and whether it is in octets; `None` for "auto".
type Threshold = Option<(f64, bool)>;

fn threshold() -> impl Kind<Value = Threshold> {
    let read = |q: &Fields<'_>, name: &'static str| {
        Ok(match q.text(name)? {
            None => None,
            Some(AUTO) => Some(None),
            Some(text) => match Amount::parse(text) {
                Some(Amount::Packets(n)) => Some(Some((n.into(), false))),
                Some(Amount::Octets(n)) => Some(Some((n as f64, true))),
                None => return Err(q.error(name, format!("{}, or \"auto\"", Amount::ALLOWED))),
            },
        })
    };
    let write = |threshold: &Threshold| -> Value {
        match *threshold {
            None => AUTO.into(),
            Some((n, true)) => Bytes(n as u64).write().into(),
            Some((n, false)) => Packets(n as u32).write().into(),
        }
    };
    by(|| Shape::Any(vec![quantity_shape::<Amount>(), Shape::word(AUTO)]), read, write)
}

/// A probability, or `None` for "auto".
fn weight() -> impl Kind<Value = Option<f64>> {
    let read = |q: &Fields<'_>, name: &'static str| match q.get(name).and_then(Value::as_str) {
        Some(AUTO) => Ok(Some(None)),
        _ => Ok(q.probability(name)?.map(Some)),
    };
    let write = |weight: &Option<f64>| weight.map_or_else(|| AUTO.into(), Value::from);
    by(|| Shape::Any(vec![Shape::share(), Shape::word(AUTO)]), read, write)
}

fn red(form: &mut Form<'_>, c: &mut RedConfig) -> Result<(), InputError> {
    waiting(form, &mut c.limit)?;
    form.says(
        "`min`, `max` and `weight` are set by rate and target delay, and `max_p` follows the load",
    )
    .boolean("adaptive", &mut c.adaptive)?;
    if form.reads().is_some() && c.adaptive {
        (c.min, c.max, c.weight) = (None, None, None);
    }
    // A maximum that is not given goes with a minimum that is.
    if form.reads().is_some_and(|q| q.get("min").is_some()) {
        c.max = None;
    }
    let mut min = c.min.map(|n| (n, c.octets));
    let mut max = c.max.map(|n| (n, c.octets));
    form.says("average queue from which packets are marked or dropped, in packets or octets; `\"auto\"`: by rate and target delay")
        .set("min", threshold(), &mut min)?;
    form.says(
        "average queue from which all are, in the unit of `min`; three times a `min` that is given",
    )
    .set("max", threshold(), &mut max)?;
    if let (Some((_, a)), Some((_, b))) = (min, max) {
        form.require(a == b, "max", "an amount in the unit of `min`")?;
    }
    c.octets = min.is_some_and(|min| min.1);
    (c.min, c.max) = (min.map(|min| min.0), max.map(|max| max.0));
    form.says("probability at `max`").probability("max_p", &mut c.max_p)?;
    form.says("weight of a packet's queue in the average, or `\"auto\"`").set(
        "weight",
        weight(),
        &mut c.weight,
    )?;
    form.says("from `max` to twice of it the probability grows to 1, else it is 1 there")
        .boolean("gentle", &mut c.gentle)?;
    form.says("1/p packets pass after a drop before the next, as in ns-2")
        .boolean("wait", &mut c.wait)?;
    form.says("the probability is larger for larger packets").boolean("by_size", &mut c.by_size)?;
    form.says("size of a packet for averages over idle times and `by_size`")
        .quantity("mean_packet", &mut c.mean_packet)?;
    ecn(form, &mut c.ecn)?;
    form.says("time between two changes of `max_p`, with `adaptive`")
        .quantity("interval", &mut c.interval)?;
    form.says("queueing delay to keep, where thresholds are `\"auto\"`")
        .quantity("target_delay", &mut c.target_delay)
}

fn ecn(form: &mut Form<'_>, ecn: &mut bool) -> Result<(), InputError> {
    form.says("ECN-capable packets are marked instead of dropped").boolean("ecn", ecn)
}

fn choke(form: &mut Form<'_>, c: &mut ChokeConfig) -> Result<(), InputError> {
    waiting(form, &mut c.limit)?;
    form.says(
        "average queue from which packets are compared with one that waits, and dropped at random",
    )
    .set("min", packets(), &mut c.min)?;
    form.says("average queue from which all are dropped").set("max", packets(), &mut c.max)?;
    form.says("probability at `max`").probability("max_p", &mut c.max_p)?;
    form.says("weight of a packet's queue in the average").probability("weight", &mut c.weight)?;
    form.says("size of a packet for averages over idle times")
        .quantity("mean_packet", &mut c.mean_packet)?;
    form.says("packets that are drawn to be compared").integer(
        "candidates",
        ChokeConfig::CANDIDATES,
        &mut c.candidates,
    )?;
    form.says("ECN-capable packets are marked instead of dropped at random")
        .boolean("ecn", &mut c.ecn)
}

fn blue(form: &mut Form<'_>, c: &mut BlueConfig) -> Result<(), InputError> {
    waiting(form, &mut c.limit)?;
    steps(form, &mut c.increment, &mut c.decrement)?;
    form.says("shortest time between two changes of the probability")
        .quantity("freeze_time", &mut c.freeze_time)?;
    form.says("a packet that finds as much waiting raises the probability as an overflow does")
        .set("threshold", amount(), &mut c.threshold)?;
    ecn(form, &mut c.ecn)
}

/// The steps of BLUE, in COBALT too.
fn steps(form: &mut Form<'_>, increment: &mut f64, decrement: &mut f64) -> Result<(), InputError> {
    form.says("what an overflow adds to the probability").probability("increment", increment)?;
    form.says("what an empty queue takes from the probability").probability("decrement", decrement)
}

fn pie(form: &mut Form<'_>, c: &mut PieConfig) -> Result<(), InputError> {
    waiting(form, &mut c.limit)?;
    pie_law(form, c)?;
    form.says("share of `limit` at which PIE turns on").probability("activate", &mut c.activate)
}

/// What PIE and each queue of FQ-PIE have.
fn pie_law(form: &mut Form<'_>, c: &mut PieConfig) -> Result<(), InputError> {
    target(form, &mut c.target, &mut c.update)?;
    const GAINS: &str = "gain of the distance from the target and of the change, in 1/s";
    form.says(GAINS).number("alpha", PieConfig::GAIN, &mut c.alpha)?;
    form.says(GAINS).number("beta", PieConfig::GAIN, &mut c.beta)?;
    form.says("after a quiet time nothing is dropped for so long")
        .quantity("burst", &mut c.burst)?;
    form.says("while no more than two such packets wait nothing is dropped")
        .quantity("mean_packet", &mut c.mean_packet)?;
    form.says("the queueing delay is measured by timestamps, or with `\"rate\"` estimated from the departure rate")
        .choice("delay", &ESTIMATES, &mut c.delay)?;
    ecn(form, &mut c.ecn)?;
    form.says("with `ecn`, drop probability from which packets are dropped all the same")
        .probability("ecn_threshold", &mut c.ecn_threshold)?;
    form.says("drops at more even spaces (RFC 8033 §5.4)")
        .boolean("derandomize", &mut c.derandomize)?;
    form.says("increases are limited to 0.02 from a probability of 0.1 on (RFC 8033 §5.5)")
        .boolean("cap", &mut c.cap)
}

fn pi2(form: &mut Form<'_>, c: &mut Pi2Config) -> Result<(), InputError> {
    waiting(form, &mut c.limit)?;
    target(form, &mut c.target, &mut c.update)?;
    squared_gains(form, &mut c.alpha, &mut c.beta)?;
    form.says("while less than two such packets wait nothing is dropped or marked")
        .quantity("mean_packet", &mut c.mean_packet)?;
    ecn(form, &mut c.ecn)?;
    form.says("with `ecn`, packets marked with `coupling` times the base probability, not its square: ECT(1) and CE, all ECN-capable ones, or none")
        .choice("scalable", &SCALABLE, &mut c.scalable)?;
    form.says("coupling factor k: how much more likely scalable packets are marked than the base probability says")
        .number("coupling", Pi2Config::COUPLING, &mut c.coupling)
}

fn target(form: &mut Form<'_>, target: &mut Span, update: &mut Span) -> Result<(), InputError> {
    form.says("queueing delay to keep").quantity("target", target)?;
    form.says("time between two computations of the probability").quantity("update", update)
}

/// The gains of PI2, which DualPI2 has as well: what they give is squared.
fn squared_gains(form: &mut Form<'_>, alpha: &mut f64, beta: &mut f64) -> Result<(), InputError> {
    const GAINS: &str = "gain of the distance from the target and of the change, in Hz";
    form.says(GAINS).number("alpha", Pi2Config::GAIN, alpha)?;
    form.says(GAINS).number("beta", Pi2Config::GAIN, beta)
}

fn law(form: &mut Form<'_>, law: &mut CoDelLaw) -> Result<(), InputError> {
    standing(form, &mut law.target, &mut law.interval)?;
    form.says("while no more than this waits nothing is dropped")
        .or_else("the link's `mtu`")
        .optional("max_packet", quantity(), &mut law.max_packet)?;
    ecn(form, &mut law.ecn)?;
    ce_threshold(form, &mut law.ce_threshold)
}

/// The target and the interval of CoDel, which COBALT has as well.
fn standing(form: &mut Form<'_>, target: &mut Span, interval: &mut Span) -> Result<(), InputError> {
    form.says("queueing delay that may stand").quantity("target", target)?;
    form.says("time for which it must be above the target before a packet is dropped")
        .quantity("interval", interval)
}

fn ce_threshold(form: &mut Form<'_>, threshold: &mut Option<Span>) -> Result<(), InputError> {
    form.says("what has waited for longer is marked, as in Linux")
        .quantity_or_off("ce_threshold", threshold)
}

fn cobalt_law(form: &mut Form<'_>, law: &mut CobaltLaw) -> Result<(), InputError> {
    standing(form, &mut law.target, &mut law.interval)?;
    steps(form, &mut law.increment, &mut law.decrement)?;
    form.says("packets that have waited for longer raise the probability as overflows do")
        .quantity_or_off("blue_threshold", &mut law.blue_threshold)?;
    ecn(form, &mut law.ecn)?;
    ce_threshold(form, &mut law.ce_threshold)
}

fn dualpi2(form: &mut Form<'_>, c: &mut DualPi2Config) -> Result<(), InputError> {
    waiting(form, &mut c.limit)?;
    target(form, &mut c.target, &mut c.update)?;
    squared_gains(form, &mut c.alpha, &mut c.beta)?;
    form.says("coupling factor k: how much more likely low-latency packets are marked than the base probability says")
        .number("coupling", DualPi2Config::COUPLING, &mut c.coupling)?;
    form.says("waiting time of low-latency packets from which they are marked, and how much longer a wait marks all")
        .quantity("ramp_start", &mut c.ramp_start)?;
    form.says("waiting time of low-latency packets from which they are marked, and how much longer a wait marks all")
        .quantity("ramp", &mut c.ramp)?;
    form.says("share of the line that classic traffic has at least")
        .probability("classic_share", &mut c.classic_share)
}

fn priority(form: &mut Form<'_>, c: &mut PriorityConfig) -> Result<(), InputError> {
    form.says("what may wait in each band").set("limit", amount(), &mut c.limit)?;
    form.says("bands by code point, or with `\"pure-ack\"` packets that only acknowledge before all others")
        .choice("key", &BANDS, &mut c.key)?;
    form.says("code points of each band but the last, for `\"dscp\"`");
    let mut bands = (c.key == PriorityKey::Dscp).then(|| std::mem::take(&mut c.bands));
    if c.key == PriorityKey::PureAck
        && let Some(q) = form.reads()
    {
        let allowed = "no bands of code points with key = \"pure-ack\"";
        form.require(q.get("bands").is_none(), "bands", allowed)?;
    }
    form.optional("bands", code_points(), &mut bands)?;
    c.bands = bands.unwrap_or_default();
    Ok(())
}

fn code_points() -> impl Kind<Value = Vec<Vec<u8>>> {
    let read = |q: &Fields<'_>, name: &'static str| {
        let Some(value) = q.get(name) else { return Ok(None) };
        let band =
            |value: &Value| value.as_array()?.iter().map(dscp::point).collect::<Option<Vec<u8>>>();
        let bands: Option<Vec<_>> =
            value.as_array().and_then(|list| list.iter().map(band).collect());
        let allowed = "lists of code points from 0 to 63, as [[46], [10, 12]] or [[\"ef\"], [\"af11\", \"af12\"]]";
        bands.map(Some).ok_or_else(|| q.error(name, allowed))
    };
    let write = |bands: &Vec<Vec<u8>>| {
        let band = |band: &Vec<u8>| band.iter().map(|dscp| i64::from(*dscp)).collect::<Vec<_>>();
        Value::Array(bands.iter().map(|item| Value::from(band(item))).collect())
    };
    by(|| dscp::shape().list().list(), read, write)
}

fn drr(form: &mut Form<'_>, c: &mut DrrConfig) -> Result<(), InputError> {
    waiting(form, &mut c.limit)?;
    form.says("queues by flow, or by code point").choice("key", &KEYS, &mut c.key)?;
    form.says("with `\"flow\"`, flows are hashed into so many queues").integer(
        "queues",
        FqCoDelConfig::QUEUES,
        &mut c.queues,
    )?;
    form.says("octets that a queue sends in its turn").quantity("quantum", &mut c.quantum)?;
    // Only what decides is written.
    if matches!(form, Form::Write(_)) && c.key != DrrKey::Dscp {
        return Ok(());
    }
    form.says("with `\"dscp\"`, pairs of a code point and by how much its quantum is larger, from 1 to 1000, as `[[46, 4]]`")
        .set("weights", weights(), &mut c.weights)
}

fn sfq(form: &mut Form<'_>, c: &mut SfqConfig) -> Result<(), InputError> {
    flow_queues(form, &mut c.limit, &mut c.queues, &mut c.quantum)?;
    form.says("packets that may wait in one queue").set("depth", packets(), &mut c.depth)?;
    form.says("time between two changes of the hash").quantity_or_off("perturb", &mut c.perturb)?;
    form.says("the oldest packet of a queue is dropped rather than the newest")
        .boolean("head_drop", &mut c.head_drop)
}

fn cake(form: &mut Form<'_>, c: &mut CakeConfig) -> Result<(), InputError> {
    form.says("rate of the shaper, with overhead and framing")
        .or_else("that of the line")
        .optional("rate", quantity(), &mut c.rate)?;
    form.says("the shaper's rate follows the traffic that arrives, from `rate` on")
        .boolean("autorate", &mut c.autorate)?;
    form.says("classes by code point, each with its share of the rate").choice(
        "tins",
        &TINS,
        &mut c.tins,
    )?;
    form.says("what has a queue of its own, and to whom queues are fair: with `\"triple-isolate\"` and `\"dual-...\"` to flows, and to the hosts that they come from or go to")
        .choice("isolation", &ISOLATION, &mut c.isolation)?;
    form.says("round-trip time of most paths: interval of COBALT, whose target is a twentieth")
        .quantity("rtt", &mut c.rtt)?;
    form.says("octets that the line adds to a packet, from -64 to 256").integer(
        "overhead",
        CakeConfig::OVERHEAD,
        &mut c.overhead,
    )?;
    form.says("least octets of a packet with its overhead, up to 256 B")
        .quantity("mpu", &mut c.mpu)?;
    form.says("packets are counted in cells of ATM, or in codewords of PTM").choice(
        "framing",
        &FRAMING,
        &mut c.framing,
    )?;
    form.says("ACKs that a later one of their flow makes redundant are dropped: all but two, or all but one")
        .choice("ack_filter", &ACK_FILTERS, &mut c.ack_filter)?;
    form.says("packets that are dropped count for the shaper: the line to shape is before it")
        .boolean("ingress", &mut c.ingress)?;
    form.says("code points are set to 0 as packets leave").boolean("wash", &mut c.wash)?;
    form.says("what may wait in all tins together, in packets, in octets or `\"unlimited\"`")
        .or_else("4 `rate` `rtt`, at least 4 MiB")
        .optional("limit", amount(), &mut c.limit)
}

/// Weights of code points, `[[46, 4], [10, 2]]`; the others have 1.
fn weights() -> impl Kind<Value = [u16; 64]> {
    let read = |q: &Fields<'_>, name: &'static str| {
        let Some(value) = q.get(name) else { return Ok(None) };
        let pair = |value: &Value| {
            let [dscp, weight] = value.as_array()?.as_slice() else { return None };
            let dscp = usize::from(dscp::point(dscp)?);
            let weight = u16::try_from(weight.as_integer()?).ok();
            Some((dscp, weight.filter(|weight| DrrConfig::WEIGHT.contains(*weight))?))
        };
        let list = value.as_array();
        let pairs: Option<Vec<_>> = list.and_then(|list| list.iter().map(pair).collect());
        let (points, each) = (DSCP, DrrConfig::WEIGHT);
        let allowed =
            || format!("code points from {points} with weights from {each}, as [[46, 4], [10, 2]]");
        let mut weights = [1; 64];
        for (dscp, weight) in pairs.ok_or_else(|| q.error(name, allowed()))? {
            weights[dscp] = weight;
        }
        Ok(Some(weights))
    };
    let write = |weights: &[u16; 64]| {
        let given = weights.iter().enumerate().filter(|(_, weight)| **weight != 1);
        let pair =
            |(dscp, weight): (usize, &u16)| Value::from(vec![dscp as i64, i64::from(*weight)]);
        Value::Array(given.map(pair).collect())
    };
    by(|| Shape::Tuple(vec![dscp::shape(), integer(DrrConfig::WEIGHT).shape()]).list(), read, write)
}
