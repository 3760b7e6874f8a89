//! Attacks: who attacks what, how, when and how much.

use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use anabranch_attack::{ATTACKS, Aim, Kind, Target};
use anabranch_units::Span;
use toml::{Table, Value};

/// An attack.
#[derive(Clone, PartialEq, Debug)]
pub struct AttackSpec {
    /// Its name.
    pub name: String,
    /// Which.
    pub kind: Kind,
    /// The host that attacks; of an attack of a peer's, the end of `flow` that does.
    pub from: String,
    /// The host under attack.
    pub to: Option<String>,
    /// The port under attack.
    pub port: Option<u16>,
    /// The flow under attack.
    pub flow: Option<String>,
    /// Packets in a second.
    pub per_second: f64,
    /// When it begins.
    pub start: Span,
    /// How long it takes; `None` until the end.
    pub duration: Option<Span>,
    /// What is known of the flow's numbers.
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

/// Most packets in a second: one each 100 ns.
const MOST_PER_SECOND: f64 = 1e7;
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
        let kinds: Vec<(&str, Kind)> =
            ATTACKS.iter().map(|attack| (attack.name, attack.kind)).collect();
        let names: Vec<&str> = kinds.iter().map(|kind| kind.0).collect();
        let kind = f.choice("kind", &kinds)?;
        let kind = kind.ok_or_else(|| f.error("kind", names.join(", ")))?;
        let target = kind.info().target;
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
            refuse("port", "none in an attack on a flow")?;
        } else {
            refuse("flow", "none in an attack on a port")?;
            refuse("aim", "none in an attack on a port")?;
        }
        let per_second = f.number("per_second")?.unwrap_or(1000.0);
        if !(per_second > 0.0 && per_second <= MOST_PER_SECOND) {
            return Err(f.error("per_second", "a number above 0, at most 1e7"));
        }
        let text = |name| f.text(name).map(|text| text.map(str::to_owned));
        let spec = AttackSpec {
            name: f.required_text("name", "a name for the attack")?.to_owned(),
            kind,
            from: f.required_text("from", "the host that attacks")?.to_owned(),
            to: text("to")?,
            port: f.integer("port", 1..=u16::MAX)?,
            flow: text("flow")?,
            per_second,
            start: f.quantity("start")?.unwrap_or(Span::ZERO),
            duration: f.quantity("duration")?,
            aim: f.choice("aim", &AIMS)?.unwrap_or_default(),
            addresses: f.integer("addresses", 0..=MOST_ADDRESSES)?.unwrap_or(match target {
                Target::Port => 1000,
                _ => 0,
            }),
            size: f.integer("size", 0..=1_000_000)?.unwrap_or(usual_size(kind)),
        };
        let needed = |name: &'static str, there: bool, what: &str| match there {
            true => Ok(()),
            false => Err(f.error(name, what)),
        };
        needed("to", target == Target::Peer || spec.to.is_some(), "the host under attack")?;
        needed("port", target != Target::Port || spec.port.is_some(), "the port under attack")?;
        needed("flow", target == Target::Port || spec.flow.is_some(), "the flow under attack")?;
        f.finish()?;
        Ok(spec)
    }

    /// Time between two packets.
    pub(crate) fn every(&self) -> Span {
        Span::from_picos(((1e12 / self.per_second) as u64).max(1))
    }

    pub(super) fn write(&self) -> Table {
        let mut table = Table::new();
        let mut put = |name: &str, value: Value| {
            table.insert(name.to_owned(), value);
        };
        let target = self.kind.info().target;
        put("name", self.name.as_str().into());
        put("kind", self.kind.info().name.into());
        put("from", self.from.as_str().into());
        let texts = [("to", &self.to), ("flow", &self.flow)];
        for (name, text) in texts {
            if let Some(text) = text {
                put(name, text.as_str().into());
            }
        }
        if let Some(port) = self.port {
            put("port", i64::from(port).into());
        }
        put("start", self.start.write().into());
        if let Some(duration) = self.duration {
            put("duration", duration.write().into());
        }
        if target != Target::Peer {
            put("per_second", self.per_second.into());
            put("addresses", i64::from(self.addresses).into());
        }
        if target == Target::Flow {
            let word = AIMS.iter().find(|(_, aim)| *aim == self.aim);
            put("aim", word.map_or("", |(word, _)| word).into());
        }
        put("size", i64::from(self.size).into());
        table
    }
}
