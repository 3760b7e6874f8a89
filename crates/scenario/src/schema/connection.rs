//! Tables of the options of TCP that concern the connection itself: from and
//! to TOML.

use super::tcp::{table_of, word};
use crate::InputError;
use crate::fields::Fields;
use anabranch_tcp::{Config, EcnMode, Pacing, PacingMode};
use toml::Value;

const ECN_MODES: [(&str, EcnMode); 4] = [
    ("off", EcnMode::Off),
    ("passive", EcnMode::Passive),
    ("on", EcnMode::On),
    ("dctcp", EcnMode::Dctcp),
];
const PACING_MODES: [(&str, PacingMode); 3] =
    [("off", PacingMode::Off), ("auto", PacingMode::Auto), ("on", PacingMode::On)];

/// Reads the fields into `config`, which holds what absent ones mean.
pub(super) fn read(f: &Fields<'_>, config: &mut Config) -> Result<(), InputError> {
    config.ecn = f.choice("ecn", &ECN_MODES)?.unwrap_or(config.ecn);
    config.ecn_control = f.boolean("ecn_control")?.unwrap_or(config.ecn_control);
    config.pacing = read_pacing(f, config.pacing)?;
    Ok(())
}

/// The fields with their values.
pub(super) fn write(config: &Config) -> Vec<(&'static str, Value)> {
    let pacing = [
        ("mode", word(&PACING_MODES, &config.pacing.mode).into()),
        ("burst", Value::Integer(config.pacing.burst.into())),
        ("slow_start_gain", config.pacing.slow_start_gain.into()),
        ("avoidance_gain", config.pacing.avoidance_gain.into()),
    ];
    vec![
        ("ecn", word(&ECN_MODES, &config.ecn).into()),
        ("ecn_control", config.ecn_control.into()),
        ("pacing", table_of(pacing)),
    ]
}

/// `pacing = "on"`, or a table.
fn read_pacing(f: &Fields<'_>, default: Pacing) -> Result<Pacing, InputError> {
    let Some(value) = f.get("pacing") else { return Ok(default) };
    if value.is_str() {
        let mode = f.choice("pacing", &PACING_MODES)?;
        return Ok(Pacing { mode: mode.unwrap_or(default.mode), ..default });
    }
    let Some(p) = f.table("pacing")? else { return Ok(default) };
    let pacing = Pacing {
        mode: p.choice("mode", &PACING_MODES)?.unwrap_or(default.mode),
        burst: p.integer("burst", 1..=1000)?.unwrap_or(default.burst),
        slow_start_gain: p.number("slow_start_gain")?.unwrap_or(default.slow_start_gain),
        avoidance_gain: p.number("avoidance_gain")?.unwrap_or(default.avoidance_gain),
    };
    p.finish()?;
    Ok(pacing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Config, InputError> {
        let table = text.parse().expect("the test's TOML");
        super::super::tcp::read(Fields::new("flows[0].tcp", &table))
    }

    /// Each option away from its default: read as meant, and read back from
    /// what is written.
    #[test]
    fn options_are_read_and_written() {
        let default = Config::default();
        let pacing = Pacing { mode: PacingMode::On, burst: 10, ..default.pacing };
        let cases: Vec<(&str, Config)> = vec![
            ("ecn = \"dctcp\"", Config { ecn: EcnMode::Dctcp, ..default.clone() }),
            ("ecn_control = true", Config { ecn_control: true, ..default.clone() }),
            ("pacing = { mode = \"on\", burst = 10 }", Config { pacing, ..default.clone() }),
            (
                "pacing = \"off\"",
                Config { pacing: Pacing { mode: PacingMode::Off, ..Pacing::default() }, ..default },
            ),
        ];
        for (text, expected) in cases {
            let config = read_text(text).unwrap();
            assert_eq!(config, expected, "{text}");
            let written = super::super::tcp::write(&config).to_string();
            assert_eq!(read_text(&written).unwrap(), expected, "{written}");
        }
    }

    #[test]
    fn errors_name_the_field_and_what_is_allowed() {
        for (text, field, allowed) in [
            ("ecn = \"yes\"", "ecn", "off, passive, on, dctcp"),
            ("pacing = 2", "pacing", "a table"),
            ("pacing = { burst = 0 }", "pacing.burst", "a whole number from 1 to 1000"),
            ("pacing = { avoidance_gain = 0.0 }", "pacing.avoidance_gain", "0.1 to 100"),
        ] {
            let error = read_text(text).unwrap_err();
            assert_eq!(error.field, format!("flows[0].tcp.{field}"));
            assert_eq!(error.allowed, allowed);
        }
    }
}
