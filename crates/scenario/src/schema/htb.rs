//! The classes of a queue of kind `htb`.

use super::form::{Form, Kind, Text, Texts, by, quantity};
use super::{dscp, queue};
use crate::InputError;
use crate::fields::Fields;
use crate::shape::Shape;
use anabranch_network::{HtbClass, HtbConfig};
use anabranch_units::Rate;
use toml::Value;

/// The fields of the kind.
pub(super) fn fields(form: &mut Form<'_>, c: &mut HtbConfig) -> Result<(), InputError> {
    form.says("classes, each with a rate of its own and what it may borrow");
    form.list("classes", &mut c.classes, unset, class)?;
    form.says("class of packets that no class names")
        .or_else("they are sent at once, before all others")
        .optional("default", Text, &mut c.default)
}

fn unset() -> HtbClass {
    HtbClass::new("", Rate::mbit(1))
}

fn class(form: &mut Form<'_>, c: &mut HtbClass) -> Result<(), InputError> {
    form.says("name of the class").required("name", Text, "a name", &mut c.name)?;
    form.says("class that it borrows from").optional("parent", Text, &mut c.parent)?;
    form.says("rate that it has whatever the others do").required(
        "rate",
        quantity(),
        "a rate, as \"1 Mbit/s\"",
        &mut c.rate,
    )?;
    form.says("rate up to which it borrows").or_else("`rate`").optional(
        "ceil",
        quantity(),
        &mut c.ceil,
    )?;
    form.says("what it may send at once beyond `rate`, and beyond `ceil`")
        .or_else("the link's `mtu`, at least 1600 B")
        .optional("burst", quantity(), &mut c.burst)?;
    form.says("what it may send at once beyond `rate`, and beyond `ceil`")
        .or_else("the link's `mtu`, at least 1600 B")
        .optional("cburst", quantity(), &mut c.cburst)?;
    form.says("of classes that borrow those with the lowest number go first").integer(
        "prio",
        HtbClass::PRIO,
        &mut c.prio,
    )?;
    form.says("octets that it borrows in its turn")
        .or_else("a tenth of a second of `rate`, from 1000 B to 200 kB")
        .optional("quantum", quantity(), &mut c.quantum)?;
    form.says("code points of its packets").set("dscp", code_points(), &mut c.matches.dscp)?;
    form.says("hosts, or interfaces, that its packets come from or go to").set(
        "hosts",
        Texts,
        &mut c.matches.hosts,
    )?;
    form.says("flows that its packets belong to, in both directions").set(
        "flows",
        Texts,
        &mut c.matches.flows,
    )?;
    let leaf = by(
        queue::leaf_shape,
        |f: &Fields<'_>, _: &'static str| Ok(queue::read_leaf(f)?.map(Box::new)),
        |queue: &Box<_>| queue::write(queue),
    );
    form.says("a queue of any kind but this one, without a rate of its own")
        .or_else("`droptail` of 1000 packets")
        .optional("queue", leaf, &mut c.queue)
}

fn code_points() -> impl Kind<Value = Vec<u8>> {
    let read = |f: &Fields<'_>, name: &'static str| {
        let Some(value) = f.get(name) else { return Ok(None) };
        let list: Option<Vec<u8>> =
            value.as_array().and_then(|list| list.iter().map(dscp::point).collect());
        let allowed = "a list of code points, as [46] or [\"ef\", \"cs5\"]";
        list.map(Some).ok_or_else(|| f.error(name, allowed))
    };
    let write = |points: &Vec<u8>| -> Value {
        Value::Array(points.iter().map(|point| i64::from(*point).into()).collect())
    };
    by(|| -> Shape { dscp::shape().list() }, read, write)
}
