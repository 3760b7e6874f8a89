//! `udp = { ... }`: options of a flow over UDP.

use super::form::Form;
use crate::InputError;
use crate::fields::Fields;
use anabranch_udp::Config;
use anabranch_units::Span;
use anabranch_wire::UdpDatagram;
use toml::Table;

/// Largest code point (RFC 2474 §3).
const MOST_DSCP: u8 = 63;

fn options(form: &mut Form<'_>, config: &mut Config) -> Result<(), InputError> {
    form.integer("dscp", 0..=MOST_DSCP, &mut config.dscp)?;
    form.octets("send_buffer", &mut config.send_buffer)
}

pub(super) fn read(table: Option<&Fields<'_>>) -> Result<Config, InputError> {
    let mut config = Config::default();
    if let Some(f) = table {
        options(&mut Form::Read(f), &mut config)?;
        if config.send_buffer == 0 {
            return Err(f.error("send_buffer", "at least 1 B"));
        }
        f.finish()?;
    }
    Ok(config)
}

pub(super) fn write(config: &Config) -> Table {
    let mut form = Form::Write(Table::new());
    let mut config = config.clone();
    options(&mut form, &mut config).expect("writing does not fail");
    match form.into_value() {
        toml::Value::Table(table) => table,
        _ => unreachable!("a form writes a table"),
    }
}

/// Octets of data of a datagram, in the field `name`: at least `least`, which its number takes.
pub(super) fn data(
    t: &Fields<'_>,
    name: &'static str,
    default: u32,
    least: u32,
) -> Result<u32, InputError> {
    use anabranch_units::Bytes;
    let most = UdpDatagram::MOST_DATA;
    let given: Option<Bytes> = t.quantity(name)?;
    let octets = given.map_or(u64::from(default), |octets| octets.0);
    let octets = u32::try_from(octets).ok().filter(|n| (least..=most).contains(n));
    octets
        .ok_or_else(|| t.error(name, format!("from {least} B to {most} B, the data of a datagram")))
}

/// A time of at least a microsecond, in the field `name`.
pub(super) fn interval(
    t: &Fields<'_>,
    name: &'static str,
    default: Span,
) -> Result<Span, InputError> {
    let span = t.quantity(name)?.unwrap_or(default);
    match span >= Span::from_micros(1) {
        true => Ok(span),
        false => Err(t.error(name, "at least 1 us")),
    }
}
