//! Attacks: who attacks what, how, when and how much.

use super::form::{Choice, Form, Text, integer, quantity};
use crate::InputError;
use crate::fields::Fields;
use crate::shape::Shape;
use anabranch_attack::{ATTACKS, Aim, Kind, Target};
use anabranch_endpoint::Bounds;
use anabranch_units::Span;
use toml::Table;

/// An attack on a host, a port or a flow.
#[derive(Clone, PartialEq, Debug)]
pub struct AttackSpec {
    /// Name of the attack in results.
    pub name: String,
    /// The kind of attack, with its parameters.
    pub kind: Kind,
    /// The host that attacks; of an attack of a peer's, the end of `flow` that does.
    pub from: String,
    /// The host under attack; `None` where it follows from the flow.
    pub to: Option<String>,
    /// The port under attack; `None` where it follows from the flow.
    pub port: Option<u16>,
    /// The flow under attack; `None` for attacks on ports.
    pub flow: Option<String>,
    /// Packets that the attacker sends in a second.
    pub per_second: f64,
    /// Time at which the attack begins, after the start of the run.
    pub start: Span,
    /// Length of the attack; `None` until the end.
    pub duration: Option<Span>,
    /// The attacker's knowledge of the flow's numbers.
    pub aim: Aim,
    /// Addresses of nobody to send from; 0 for the attacker's own.
    pub addresses: u32,
    /// Octets of forged data, ACKs in place of one, octets ahead: how much, in the
    /// attack's own unit.
    pub size: u32,
}

const AIMS: [(&str, Aim); 4] = [
    ("exact", Aim::Exact),
    ("window", Aim::Window),
    ("sweep", Aim::Sweep),
    ("random", Aim::Random),
];

/// Packets in a second: one each 100 ns at most.
const PER_SECOND: Bounds<f64> = Bounds::above_up_to(0.0, 1e7);
/// Most addresses of an attacker.
pub(crate) const MOST_ADDRESSES: u32 = 65_536;

/// What `size` is where a scenario says nothing.
fn usual_size(kind: Kind) -> u32 {
    match kind {
        Kind::AckDivision | Kind::DupAckSpoofing => 10,
        Kind::OptimisticAck => 20 * 1460,
        Kind::LyingSack => 1460,
        Kind::OctetSegments => 1,
        _ => 100,
    }
}

impl AttackSpec {
    pub(super) fn read(f: &Fields<'_>) -> Result<AttackSpec, InputError> {
        let mut spec = AttackSpec::unset();
        Form::read_all(f, |form| AttackSpec::fields(form, &mut spec))?;
        Ok(spec)
    }

    pub(super) fn write(&self) -> Table {
        Form::written(|form| AttackSpec::fields(form, &mut self.clone()))
    }

    /// What an entry may hold.
    pub(super) fn shape() -> Shape {
        Shape::Table(Form::described(|form| AttackSpec::fields(form, &mut AttackSpec::unset())))
    }

    /// What stands in the place of one before it is read.
    fn unset() -> AttackSpec {
        AttackSpec {
            name: String::new(),
            kind: ATTACKS[0].kind,
            from: String::new(),
            to: None,
            port: None,
            flow: None,
            per_second: 1000.0,
            start: Span::ZERO,
            duration: None,
            aim: Aim::default(),
            addresses: 0,
            size: 0,
        }
    }

    fn fields(form: &mut Form<'_>, spec: &mut AttackSpec) -> Result<(), InputError> {
        let kinds: Vec<(&str, Kind)> =
            ATTACKS.iter().map(|attack| (attack.name, attack.kind)).collect();
        let names: Vec<&str> = kinds.iter().map(|kind| kind.0).collect();
        form.says("the name of its row in results");
        form.required("name", Text, "a name for the attack", &mut spec.name)?;
        form.says("see the table above");
        form.required("kind", Choice(&kinds), &names.join(", "), &mut spec.kind)?;
        form.says("the host that attacks");
        form.required("from", Text, "the host that attacks", &mut spec.from)?;
        let target = spec.kind.info().target;
        if let Some(f) = form.reads() {
            refuse_strays(f, target)?;
            spec.size = usual_size(spec.kind);
            spec.addresses = if target == Target::Port { 1000 } else { 0 };
        }
        let describes = matches!(form, Form::Describe(_));
        form.says("the host under attack").or_else("none against a peer, else required");
        form.optional("to", Text, &mut spec.to)?;
        form.says("the port under attack").or_else("none against a flow, else required");
        form.optional("port", integer(1..=u16::MAX), &mut spec.port)?;
        form.says("the flow under attack").or_else("none against a port, else required");
        form.optional("flow", Text, &mut spec.flow)?;
        let has_to = target == Target::Peer || spec.to.is_some();
        form.require(has_to, "to", "the host under attack")?;
        form.require(
            target != Target::Port || spec.port.is_some(),
            "port",
            "the port under attack",
        )?;
        form.require(
            target == Target::Port || spec.flow.is_some(),
            "flow",
            "the flow under attack",
        )?;
        form.says("when it begins").quantity("start", &mut spec.start)?;
        form.says("how long it takes").or_else("to the end");
        form.optional("duration", quantity(), &mut spec.duration)?;
        if target != Target::Peer || form.reads().is_some() {
            form.says("packets that it sends by itself, evenly spaced");
            form.number("per_second", PER_SECOND, &mut spec.per_second)?;
            form.says("addresses of nobody to send from; with 0 its own. What is sent to them goes towards the attacker's host. In a scenario of both families they are of IPv4");
            form.or_else("1000 against a port, else 0");
            form.integer("addresses", 0..=MOST_ADDRESSES, &mut spec.addresses)?;
        }
        if target == Target::Flow || describes || form.reads().is_some() {
            form.says("what is known of the flow's numbers: `\"exact\"`, what the victim expects next; `\"window\"`, a number in its window and the right ACK number; `\"sweep\"`, all numbers, a window apart; `\"random\"`. The verification tag of SCTP is known with `\"exact\"` alone");
            form.choice("aim", &AIMS, &mut spec.aim)?;
        }
        form.says("octets of forged data (100); parts or copies of an ACK (10); octets ahead (29200); octets of a SACK block (1460), of a segment (1)");
        form.or_else("by its kind").integer("size", 0..=1_000_000, &mut spec.size)
    }

    /// Time between two packets.
    pub(crate) fn every(&self) -> Span {
        Span::from_picos(((1e12 / self.per_second) as u64).max(1))
    }
}

fn refuse_strays(f: &Fields<'_>, target: Target) -> Result<(), InputError> {
    let refuse = |name: &'static str, allowed: &str| match f.get(name) {
        Some(_) => Err(f.error(name, allowed)),
        None => Ok(()),
    };
    if target == Target::Peer {
        for name in ["to", "port", "addresses", "aim", "per_second"] {
            refuse(name, "none in an attack of a peer's, which has the other end of `flow`")?;
        }
    }
    if target != Target::Port {
        return refuse("port", "none in an attack on a flow");
    }
    refuse("flow", "none in an attack on a port")?;
    refuse("aim", "none in an attack on a port")
}
