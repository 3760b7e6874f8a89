//! `udp = { ... }`: options of a flow over UDP.

use super::dscp;
use super::form::{Form, Kind, by, quantity_shape};
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use crate::shape::Shape;
use anabranch_udp::Config;
use anabranch_units::{Bytes, Span};
use anabranch_wire::UdpDatagram;
use toml::Table;

fn fields(form: &mut Form<'_>, config: &mut Config) -> Result<(), InputError> {
    form.says("code point of all packets, which `priority`, `drr`, `cake` and `htb` may look at, by number or by name as `\"ef\"`")
        .set("dscp", dscp::code_point(), &mut config.dscp)?;
    form.says("bounds what waits for a host's line, at least 1 B")
        .octets("send_buffer", &mut config.send_buffer)?;
    form.require(config.send_buffer > 0, "send_buffer", "at least 1 B")
}

pub(super) fn read(table: Option<&Fields<'_>>) -> Result<Config, InputError> {
    let mut config = Config::default();
    if let Some(f) = table {
        Form::read_all(f, |form| fields(form, &mut config))?;
    }
    Ok(config)
}

pub(super) fn write(config: &Config) -> Table {
    Form::written(|form| fields(form, &mut config.clone()))
}

/// What the table may hold.
pub(super) fn shape() -> Shape {
    Shape::Table(Form::described(|form| fields(form, &mut Config::default())))
}

/// Octets of data of a datagram: at least `least`, which its number takes.
pub(super) fn data(least: u32) -> impl Kind<Value = u32> {
    let read = move |t: &Fields<'_>, name: &'static str| {
        let most = UdpDatagram::MOST_DATA;
        let Some(given) = t.quantity::<Bytes>(name)? else { return Ok(None) };
        let octets = u32::try_from(given.0).ok().filter(|n| (least..=most).contains(n));
        let allowed = || format!("from {least} B to {most} B, the data of a datagram");
        octets.map(Some).ok_or_else(|| t.error(name, allowed()))
    };
    by(quantity_shape::<Bytes>, read, |octets: &u32| Bytes((*octets).into()).write().into())
}

/// A time of at least a microsecond.
pub(super) fn interval() -> impl Kind<Value = Span> {
    let read = |t: &Fields<'_>, name: &'static str| {
        let Some(span) = t.quantity::<Span>(name)? else { return Ok(None) };
        match span >= Span::from_micros(1) {
            true => Ok(Some(span)),
            false => Err(t.error(name, "at least 1 us")),
        }
    };
    by(quantity_shape::<Span>, read, |span: &Span| span.write().into())
}
