//! Loss recovery among the options of TCP: from and to TOML.

use super::custom;
use super::form::{table_of, word};
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use anabranch_tcp::recovery::{DecoupledRackOptions, Pipe, RackOptions, Recovery, SCHEMES};
use anabranch_tcp::{Config, Profile, UndoOptions};
use toml::Value;

const PIPES: [(&str, Pipe); 3] =
    [("rfc6675", Pipe::Rfc6675), ("ns2", Pipe::Ns2), ("ns2-old", Pipe::Ns2Old)];

/// Reads the fields into `config`, which holds what absent ones mean; `profile`
/// sets what a scheme has that is named.
pub(super) fn read(
    f: &Fields<'_>,
    profile: Profile,
    config: &mut Config,
) -> Result<(), InputError> {
    config.dsack = f.boolean("dsack")?.unwrap_or(config.dsack);
    let most = f.integer("max_dupack_threshold", 1..=1000)?;
    config.max_dupack_threshold = most.or(config.max_dupack_threshold);
    if let Some(recovery) = read_recovery(f, profile, &config.recovery)? {
        config.recovery = recovery;
    }
    config.undo = read_undo(f, config.undo)?;
    Ok(())
}

/// The fields with their values.
pub(super) fn write(config: &Config) -> Vec<(&'static str, Value)> {
    let mut scheme = vec![("scheme", Value::from(config.recovery.name()))];
    match &config.recovery {
        Recovery::Reno { exit_growth } => scheme.push(("exit_growth", (*exit_growth).into())),
        Recovery::NewReno { impatient, exit_growth } => {
            scheme.push(("impatient", (*impatient).into()));
            scheme.push(("exit_growth", (*exit_growth).into()));
        }
        Recovery::Sack { pipe, prr } => {
            scheme.push(("pipe", word(&PIPES, pipe).into()));
            scheme.push(("prr", (*prr).into()));
        }
        Recovery::Fack { prr } => scheme.push(("prr", (*prr).into())),
        Recovery::Rack(o) => {
            let RackOptions {
                prr,
                tlp,
                max_ack_delay,
                reduce_again,
                prr_in_segments,
                linux_probes,
            } = o;
            scheme.push(("prr", (*prr).into()));
            scheme.push(("prr_in_segments", (*prr_in_segments).into()));
            scheme.push(("tlp", (*tlp).into()));
            scheme.push(("linux_probes", (*linux_probes).into()));
            scheme.push(("max_ack_delay", max_ack_delay.write().into()));
            scheme.push(("reduce_again", (*reduce_again).into()));
        }
        Recovery::Decoupled { opens_late } => scheme.push(("opens_late", (*opens_late).into())),
        Recovery::DecoupledRack(o) => {
            let DecoupledRackOptions { fast_retransmit, tlp, max_ack_delay, reduce_again } = o;
            scheme.push(("fast_retransmit", (*fast_retransmit).into()));
            scheme.push(("tlp", (*tlp).into()));
            scheme.push(("max_ack_delay", max_ack_delay.write().into()));
            scheme.push(("reduce_again", (*reduce_again).into()));
        }
        Recovery::Tahoe | Recovery::Custom(_) => {}
    }
    let scheme = match &config.recovery {
        Recovery::Custom(own) => custom::write(own, "scheme"),
        _ => table_of(scheme),
    };
    let UndoOptions { frto, eifel, dsack } = config.undo;
    let undo = [("frto", frto.into()), ("eifel", eifel.into()), ("dsack", dsack.into())];
    let mut fields =
        vec![("dsack", config.dsack.into()), ("recovery", scheme), ("undo", table_of(undo))];
    if let Some(most) = config.max_dupack_threshold {
        fields.push(("max_dupack_threshold", Value::Integer(most.into())));
    }
    fields
}

/// A name, or a table with `scheme` and its options; without `scheme` it is
/// about `default`.
fn read_recovery(
    f: &Fields<'_>,
    profile: Profile,
    default: &Recovery,
) -> Result<Option<Recovery>, InputError> {
    let names = || custom::names(SCHEMES.iter().map(|scheme| scheme.name));
    if let Some(own) = custom::read(f, "recovery", "scheme")? {
        return Ok(Some(Recovery::Custom(own)));
    }
    let from_name =
        |name: &str| Recovery::from_name(name).map(|recovery| profile.recovery(recovery));
    let Some(value) = f.get("recovery") else { return Ok(None) };
    let Some(table) = value.as_table() else {
        let scheme = value.as_str().and_then(from_name);
        return scheme.map(Some).ok_or_else(|| f.error("recovery", names()));
    };
    let r = Fields::new(f.path("recovery"), table);
    let scheme = match r.text("scheme")? {
        Some(name) => from_name(name),
        None => Some(default.clone()),
    };
    let mut scheme = scheme.ok_or_else(|| r.error("scheme", names()))?;
    match &mut scheme {
        Recovery::Reno { exit_growth } => {
            *exit_growth = r.boolean("exit_growth")?.unwrap_or(*exit_growth);
        }
        Recovery::NewReno { impatient, exit_growth } => {
            *exit_growth = r.boolean("exit_growth")?.unwrap_or(*exit_growth);
            *impatient = r.boolean("impatient")?.unwrap_or(*impatient);
        }
        Recovery::Sack { pipe, prr } => {
            *pipe = r.choice("pipe", &PIPES)?.unwrap_or(*pipe);
            // A profile's PRR does not outlast a pipe that it does not go with.
            *prr = r.boolean("prr")?.unwrap_or(*prr && *pipe == Pipe::Rfc6675);
        }
        Recovery::Fack { prr } => *prr = r.boolean("prr")?.unwrap_or(*prr),
        Recovery::Rack(o) => {
            o.prr = r.boolean("prr")?.unwrap_or(o.prr);
            o.prr_in_segments = r.boolean("prr_in_segments")?.unwrap_or(o.prr_in_segments);
            o.tlp = r.boolean("tlp")?.unwrap_or(o.tlp);
            o.linux_probes = r.boolean("linux_probes")?.unwrap_or(o.linux_probes);
            o.max_ack_delay = r.quantity("max_ack_delay")?.unwrap_or(o.max_ack_delay);
            o.reduce_again = r.boolean("reduce_again")?.unwrap_or(o.reduce_again);
        }
        Recovery::Decoupled { opens_late } => {
            *opens_late = r.boolean("opens_late")?.unwrap_or(*opens_late);
        }
        Recovery::DecoupledRack(o) => {
            o.fast_retransmit = r.boolean("fast_retransmit")?.unwrap_or(o.fast_retransmit);
            o.tlp = r.boolean("tlp")?.unwrap_or(o.tlp);
            o.max_ack_delay = r.quantity("max_ack_delay")?.unwrap_or(o.max_ack_delay);
            o.reduce_again = r.boolean("reduce_again")?.unwrap_or(o.reduce_again);
        }
        Recovery::Tahoe | Recovery::Custom(_) => {}
    }
    r.finish()?;
    Ok(Some(scheme))
}

fn read_undo(f: &Fields<'_>, default: UndoOptions) -> Result<UndoOptions, InputError> {
    let Some(u) = f.table("undo")? else { return Ok(default) };
    let undo = UndoOptions {
        frto: u.boolean("frto")?.unwrap_or(default.frto),
        eifel: u.boolean("eifel")?.unwrap_or(default.eifel),
        dsack: u.boolean("dsack")?.unwrap_or(default.dsack),
    };
    u.finish()?;
    Ok(undo)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_units::Span;

    fn read_text(text: &str) -> Result<Config, InputError> {
        let table = text.parse().expect("the test's TOML");
        super::super::tcp::read(Fields::new("flows[0].tcp", &table))
    }

    /// Each option away from its default: read as meant, and read back from
    /// what is written.
    #[test]
    fn options_are_read_and_written() {
        let default = Config::default();
        let with = |recovery| Config { recovery, ..Config::default() };
        let rack = RackOptions::default();
        let max_ack_delay = Span::from_millis(25);
        let undo = |frto, eifel, dsack| Config {
            undo: UndoOptions { frto, eifel, dsack },
            ..Config::default()
        };
        for (text, expected) in [
            ("dsack = true", Config { dsack: true, ..default.clone() }),
            (
                "max_dupack_threshold = 300",
                Config { max_dupack_threshold: Some(300), ..default.clone() },
            ),
            ("undo = { frto = true }", undo(true, false, false)),
            ("undo = { eifel = true, dsack = true }", undo(false, true, true)),
            (
                "recovery = { scheme = \"sack\", prr = true }",
                with(Recovery::Sack { pipe: Pipe::Rfc6675, prr: true }),
            ),
            ("recovery = { scheme = \"fack\", prr = true }", with(Recovery::Fack { prr: true })),
            (
                "recovery = { scheme = \"decoupled\", opens_late = true }",
                with(Recovery::Decoupled { opens_late: true }),
            ),
            (
                "recovery = \"decoupled-rack\"",
                with(Recovery::DecoupledRack(DecoupledRackOptions::default())),
            ),
            (
                "recovery = { scheme = \"decoupled-rack\", fast_retransmit = false, tlp = false, \
                 max_ack_delay = \"25 ms\", reduce_again = false }",
                with(Recovery::DecoupledRack(DecoupledRackOptions {
                    fast_retransmit: false,
                    tlp: false,
                    max_ack_delay,
                    reduce_again: false,
                })),
            ),
            ("recovery = \"rack\"", with(Recovery::Rack(rack))),
            (
                "recovery = { scheme = \"rack\", prr = false, reduce_again = false }",
                with(Recovery::Rack(RackOptions { prr: false, reduce_again: false, ..rack })),
            ),
            (
                "recovery = { scheme = \"rack\", tlp = false, max_ack_delay = \"25 ms\" }",
                with(Recovery::Rack(RackOptions { tlp: false, max_ack_delay, ..rack })),
            ),
        ] {
            let config = read_text(text).unwrap();
            assert_eq!(config, expected, "{text}");
            let written = super::super::tcp::write(&config).to_string();
            assert_eq!(read_text(&written).unwrap(), expected, "{written}");
        }
    }

    /// A scheme that is named has what the profile's stack sets of it; a table
    /// changes what it names alone.
    #[test]
    fn a_scheme_has_the_options_of_the_profile() {
        let linux = RackOptions { reduce_again: false, linux_probes: true, ..Default::default() };
        let sack = |pipe, prr| Recovery::Sack { pipe, prr };
        for (text, expected) in [
            ("profile = \"linux\"\nrecovery = \"rack\"", Recovery::Rack(linux)),
            (
                "profile = \"linux\"\nrecovery = { tlp = false }",
                Recovery::Rack(RackOptions { tlp: false, ..linux }),
            ),
            (
                "profile = \"linux\"\nrecovery = { scheme = \"rack\", reduce_again = true }",
                Recovery::Rack(RackOptions { reduce_again: true, ..linux }),
            ),
            ("profile = \"linux\"\nrecovery = \"sack\"", sack(Pipe::Rfc6675, true)),
            ("profile = \"linux\"\nrecovery = \"fack\"", Recovery::Fack { prr: true }),
            (
                "profile = \"linux\"\nrecovery = { scheme = \"sack\", pipe = \"ns2\" }",
                sack(Pipe::Ns2, false),
            ),
            ("profile = \"freebsd\"\nrecovery = \"sack\"", sack(Pipe::Rfc6675, true)),
            ("recovery = \"rack\"", Recovery::Rack(RackOptions::default())),
            ("recovery = \"sack\"", sack(Pipe::Rfc6675, false)),
        ] {
            assert_eq!(read_text(text).unwrap().recovery, expected, "{text}");
        }
    }

    #[test]
    fn errors_name_the_field_and_what_is_allowed() {
        for (text, field, allowed) in [
            ("max_dupack_threshold = 2", "max_dupack_threshold", "dupack_threshold to 1000"),
            ("undo = \"eifel\"", "undo", "a table"),
            (
                "recovery = { scheme = \"sack\", pipe = \"ns2\", prr = true }",
                "recovery.prr",
                "false, or pipe = \"rfc6675\"",
            ),
            (
                "recovery = { scheme = \"rack\" }\nsack = false",
                "recovery",
                "with sack = false: reno, newreno",
            ),
        ] {
            let error = read_text(text).unwrap_err();
            assert_eq!(error.field, format!("flows[0].tcp.{field}"));
            assert_eq!(error.allowed, allowed);
        }
    }
}
