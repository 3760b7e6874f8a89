//! Loss recovery among the options of TCP: from and to TOML.

use super::custom;
use super::form::{Form, Kind, by};
use crate::InputError;
use crate::fields::Fields;
use crate::shape::{self, KindDefault, Shape};
use anabranch_tcp::recovery::{Pipe, Recovery, SCHEMES, SchemeInfo};
use anabranch_tcp::{Profile, UndoOptions};
use toml::Value;

const PIPES: [(&str, Pipe); 3] =
    [("rfc6675", Pipe::Rfc6675), ("ns2", Pipe::Ns2), ("ns2-old", Pipe::Ns2Old)];

/// The field `recovery`: a name, a table with `scheme` and its options, which is about `default` where
/// it does not say the scheme, or a scheme of the user's own.
pub(super) fn kind<'a>(
    profile: Profile,
    default: &'a Recovery,
) -> impl Kind<Value = Recovery> + 'a {
    let read = move |f: &Fields<'_>, _: &'static str| read_recovery(f, profile, default);
    by(shape, read, write).shown(|recovery| Some(recovery.name().into()))
}

fn shape() -> Shape {
    let known = |info: &SchemeInfo| Some((info.name, Recovery::from_name(info.name)?));
    let all: Vec<_> = SCHEMES.iter().filter_map(known).collect();
    let fields = |of: &Recovery| Form::described(|form| scheme(form, &mut of.clone())).fields;
    let kinds =
        SCHEMES.iter().zip(&all).map(|(info, (name, of))| (*name, info.summary, fields(of)));
    // Which scheme a table without a name is about, the profile says; its options are those of one.
    let named = shape::Kinds { key: "scheme", default: KindDefault::Any, all: kinds.collect() };
    let table = shape::Table { fields: Vec::new(), kinds: Some(named) };
    custom::or_own("scheme", Shape::Any(vec![Shape::words(&all), Shape::Table(table)]))
}

fn write(recovery: &Recovery) -> Value {
    if let Recovery::Custom(own) = recovery {
        return custom::write(own, "scheme");
    }
    let written = Form::written(|form| {
        form.name("scheme", recovery.name());
        scheme(form, &mut recovery.clone())
    });
    written.into()
}

/// The options of a scheme.
fn scheme(form: &mut Form<'_>, recovery: &mut Recovery) -> Result<(), InputError> {
    match recovery {
        Recovery::Reno { exit_growth } => form.says(
                                              "the ACK that ends recovery opens the window \
                                               too, as in ns-2",
                                          )
                                          .boolean("exit_growth", exit_growth),
        Recovery::NewReno { impatient, exit_growth } => {
            form.says(
                "the ACK that ends recovery opens the window too, as in ns-2",
            )
            .boolean("exit_growth", exit_growth)?;
            form.says(
                "restart the timer at the first partial ACK only (RFC 6582 §4)",
            )
            .boolean("impatient", impatient)
        }
        Recovery::Sack { pipe, prr } => {
            form.says(
                "or `\"ns2\"`, `\"ns2-old\"`: how the pipe is counted",
            )
            .choice("pipe", &PIPES, pipe)?;
            if form.reads().is_some() {
                // A profile's PRR does not outlast a pipe that it does not go with.
                *prr = *prr && *pipe == Pipe::Rfc6675;
            }
            form.says(
                "proportional rate reduction (RFC 9937); for `sack` with `pipe = \"rfc6675\"`",
            )
            .boolean("prr", prr)
        }
        Recovery::Fack { prr } => form.says(
                                      "proportional rate reduction (RFC 9937); for `sack` with \
                                       `pipe = \"rfc6675\"`",
                                  )
                                  .boolean("prr", prr),
        Recovery::Rack(o) => {
            form.says(
                "proportional rate reduction (RFC 9937); for `sack` with `pipe = \"rfc6675\"`",
            )
            .boolean("prr", &mut o.prr)?;
            form.says(
                "proportional rate reduction counts whole segments, from the window before the \
                 loss, as Linux does; else octets, from what was in flight (RFC 9937 §6)",
            )
            .boolean("prr_in_segments", &mut o.prr_in_segments)?;
            form.says("tail loss probes (RFC 8985 §7)").boolean("tlp", &mut o.tlp)?;
            form.says(
                "tail loss probes by Linux's rules: no round trip has to be measured between \
                 two probes; when the probe timer expires while a probe is on its way, the \
                 retransmission timeout counts from when the oldest segment was sent",
            )
            .boolean("linux_probes", &mut o.linux_probes)?;
            form.says(
                "added to a probe's timeout when one segment is outstanding",
            )
            .quantity("max_ack_delay", &mut o.max_ack_delay)?;
            form.says(
                "the loss of a segment sent since the last reduction, a retransmission's too, \
                 reduces the window again (RFC 5681 §4.3); Linux does not",
            )
            .boolean("reduce_again", &mut o.reduce_again)
        }
        Recovery::Decoupled { opens_late } => form.says(
                                                  "the ACK after the one that detects a loss \
                                                   is the first to move `moment_ack` to the \
                                                   forward ACK: the paper's pseudo-code to the \
                                                   letter, against its text \
                                                   ([recovery.md](algorithms/recovery.md#where-a-source-is-silent-or-unsafe))",
                                              )
                                              .boolean("opens_late", opens_late),
        Recovery::DecoupledRack(o) => {
            form.says(
                "the first retransmission leaves with the detection (RFC 5681 §3.2 step 3); \
                 otherwise when the halved window has room, as the paper has it",
            )
            .boolean("fast_retransmit", &mut o.fast_retransmit)?;
            form.says("tail loss probes (RFC 8985 §7)").boolean("tlp", &mut o.tlp)?;
            form.says(
                "added to a probe's timeout when one segment is outstanding",
            )
            .quantity("max_ack_delay", &mut o.max_ack_delay)?;
            form.says(
                "the loss of a segment sent since the last reduction, a retransmission's too, \
                 reduces the window again (RFC 5681 §4.3); Linux does not",
            )
            .boolean("reduce_again", &mut o.reduce_again)
        }
        Recovery::Tahoe | Recovery::Custom(_) => Ok(()),
    }
}

/// A name, or a table with `scheme` and its options; without `scheme` it is
/// about `default`.
fn read_recovery(
    f: &Fields<'_>,
    profile: Profile,
    default: &Recovery,
) -> Result<Option<Recovery>, InputError> {
    let names = |word| custom::names(word, SCHEMES.iter().map(|scheme| scheme.name));
    if let Some(own) = custom::read(f, "recovery", "scheme")? {
        return Ok(Some(Recovery::Custom(own)));
    }
    let from_name =
        |name: &str| Recovery::from_name(name).map(|recovery| profile.recovery(recovery));
    let Some(value) = f.get("recovery") else { return Ok(None) };
    let Some(table) = value.as_table() else {
        let scheme = value.as_str().and_then(from_name);
        return scheme.map(Some).ok_or_else(|| f.error("recovery", names(Some(value))));
    };
    let r = Fields::new(f.path("recovery"), table);
    let recovery = match r.text("scheme")? {
        Some(name) => from_name(name),
        None => Some(default.clone()),
    };
    let mut recovery = recovery.ok_or_else(|| r.error("scheme", names(r.get("scheme"))))?;
    Form::read_all(&r, |form| scheme(form, &mut recovery))?;
    Ok(Some(recovery))
}

/// Reads, writes or describes the field `undo`.
pub(super) fn undo(form: &mut Form<'_>, undo: &mut UndoOptions) -> Result<(), InputError> {
    form.says(
        "what finds out and undoes spurious reductions of the window: F-RTO (RFC 5682), Eifel \
         detection (RFC 3522, needs `timestamps`), reports of duplicates (RFC 3708, needs \
         `dsack`)",
    )
    .table("undo", |form| {
        form.says("F-RTO (RFC 5682)").boolean("frto", &mut undo.frto)?;
        form.says("Eifel detection (RFC 3522, needs `timestamps`)")
            .boolean("eifel", &mut undo.eifel)?;
        form.says("reports of duplicates (RFC 3708, needs `dsack`)")
            .boolean("dsack", &mut undo.dsack)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_tcp::Config;
    use anabranch_tcp::recovery::{DecoupledRackOptions, RackOptions};
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
            (
                "max_dupack_threshold = 2",
                "max_dupack_threshold",
                "3 to 1000 (dupack_threshold at least)",
            ),
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
