//! The options of Multipath TCP beside those of its subflows, which are TCP's:
//! [`anabranch_mptcp::Config`] from and to TOML.

use super::custom;
use super::form::Form;
use crate::InputError;
use crate::fields::Fields;
use crate::shape::Shape;
use anabranch_mptcp::path_manager::PATH_MANAGERS;
use anabranch_mptcp::scheduler::SCHEDULERS;
use anabranch_mptcp::{Config, PathManager, SchedulerKind};
use toml::Table;

/// Reads the tables `mptcp` and `tcp` of a flow; `subflow` is what the latter
/// says.
pub(super) fn read(
    flow: &Fields<'_>,
    f: Option<&Fields<'_>>,
    subflow: anabranch_tcp::Config,
) -> Result<Config, InputError> {
    let mut config = Config { subflow, ..Config::default() };
    if let Some(f) = f {
        options(&mut Form::Read(f), &mut config)?;
        f.finish()?;
    }
    config.validate().map_err(|e| {
        let field = match e.field.strip_prefix("subflow.") {
            Some(field) => format!("tcp.{field}"),
            None => format!("mptcp.{}", e.field),
        };
        InputError::field(flow.path(&field), e.value, e.allowed)
    })?;
    if config.subflow.fast_open.is_some() {
        // Applications of scenarios write after they connect.
        let allowed = "none over Multipath TCP".to_owned();
        return Err(InputError::field(flow.path("tcp.fast_open"), "given".to_owned(), allowed));
    }
    Ok(config)
}

/// Writes all options but the subflows'.
pub(super) fn write(config: &Config) -> Table {
    Form::written(|form| options(form, &mut config.clone()))
}

/// What the table may hold.
pub(super) fn shape() -> Shape {
    Shape::Table(Form::described(|form| options(form, &mut Config::default())))
}

fn options(form: &mut Form<'_>, c: &mut Config) -> Result<(), InputError> {
    form.says("ask for Multipath TCP, and answer; else TCP").boolean("enabled", &mut c.enabled)?;
    form.says("`mss` of subflows over IPv6, 128 B to `tcp.mss`; else the same")
        .or_else("see [both families](#both-families)")
        .octets_or_none("ipv6_mss", &mut c.ipv6_mss)?;
    scheduler(form, &mut c.scheduler)?;
    form.says(
        "or `\"single\"`, `\"pairs\"`, `\"signal\"`, `\"backup\"`, `\"n-diffports\"`; a table \
         for `{ kind = \"n-diffports\", ports = 2 }`, whose flows have that many ports each at \
         `from`",
    );
    path_manager(form, "path_manager", &mut c.path_manager)?;
    form.says(
        "the same names: which subflows the host `to` opens itself, from ports of its own; \
         what both sides join is opened once, twice where their SYNs cross. Where it needs \
         further addresses of `from`, that announces them. In results such subflows count from \
         1 (`f.a.y-b.y.1`)",
    );
    path_manager(form, "passive_path_manager", &mut c.passive_path_manager)?;
    form.says("at a time, 1 to 32").integer(
        "max_subflows",
        Config::MAX_SUBFLOWS,
        &mut c.max_subflows,
    )?;
    form.says("of the data (RFC 8684 §3.3)").boolean("checksum", &mut c.checksum)?;
    form.says(
        "data sequence numbers of 64 bits in place of 32; what the peer numbers so is \
         acknowledged so",
    )
    .boolean("long_numbers", &mut c.long_numbers)?;
    form.says("what a slow subflow holds back is sent again, and its window halved")
        .boolean("opportunistic_retransmission", &mut c.opportunistic_retransmission)?;
    form.says("what a slow subflow holds back is sent again, and its window halved")
        .boolean("penalisation", &mut c.penalisation)?;
    form.says("SYNs with MP_CAPABLE before one without; 0: all").integer(
        "capable_syns",
        Config::CAPABLE_SYNS,
        &mut c.capable_syns,
    )?;
    form.says("how long after its end a subflow is opened again, doubling; or `false`")
        .quantity_or_off("reopen", &mut c.reopen)?;
    form.says("life without any subflow").quantity("linger", &mut c.linger)
}

/// A name, a table with the name as `kind` and its constants, or a scheduler of the user's own.
fn scheduler(form: &mut Form<'_>, scheduler: &mut SchedulerKind) -> Result<(), InputError> {
    match (&mut *form, &*scheduler) {
        (Form::Read(f), _) => {
            if let Some(own) = custom::read(f, "scheduler", "kind")? {
                *scheduler = SchedulerKind::Custom(own);
                return Ok(());
            }
        }
        (Form::Write(table), SchedulerKind::Custom(own)) => {
            table.insert("scheduler".into(), custom::write(own, "kind"));
            return Ok(());
        }
        _ => {}
    }
    let all: Vec<_> = SCHEDULERS
        .iter()
        .filter_map(|info| Some((info.name, SchedulerKind::from_name(info.name)?)))
        .collect();
    form.or_own("kind");
    form.says(
        "or `\"linux\"`, `\"round-robin\"`, `\"redundant\"`, `\"blest\"`, `\"ecf\"`, \
         `\"otias\"`, `\"sttf\"`; a table for `{ kind = \"blest\", delta = 0.01 }`, `{ kind = \"ecf\", beta = 0.25 }`, or [your \
         own](your-algorithm.md): `{ kind = \"my.py:Mine\", ... }`",
    )
    .named_table("scheduler", "kind", &all, scheduler, |form, item| match item {
        SchedulerKind::Blest(options) => form
            .says("step by which the margin of its estimate grows after a round in which it blocked, and shrinks after another")
            .probability("delta", &mut options.delta),
        SchedulerKind::Ecf(options) => form
            .says("part by which the fast subflow must be later before a sender that waits stops waiting")
            .probability("beta", &mut options.beta),
        _ => Ok(()),
    })
}

/// Reads, writes or describes a field that names a path manager.
fn path_manager(
    form: &mut Form<'_>,
    field: &'static str,
    manager: &mut PathManager,
) -> Result<(), InputError> {
    let all: Vec<_> = PATH_MANAGERS
        .iter()
        .filter_map(|info| Some((info.name, PathManager::from_name(info.name)?)))
        .collect();
    form.named_table(field, "kind", &all, manager, |form, item| match item {
        PathManager::NDiffports(ports) => form
            .says("subflows, each with a port of its own")
            .integer("ports", PathManager::PORTS, ports),
        _ => Ok(()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_mptcp::scheduler::{BlestOptions, EcfOptions};
    use anabranch_units::Span;

    fn read_text(text: &str) -> Result<Config, InputError> {
        let flow: Table = "".parse().expect("an empty table");
        let table: Table = text.parse().expect("the test's TOML");
        let subflow = anabranch_tcp::Config::default();
        let fields = Fields::new("flows[0].mptcp", &table);
        super::read(&Fields::new("flows[0]", &flow), Some(&fields), subflow)
    }

    /// Each option away from its default: read as meant, and read back from
    /// what is written.
    #[test]
    fn options_are_read_and_written() {
        let d = Config::default();
        let blest = SchedulerKind::Blest(BlestOptions { delta: 0.05 });
        let ecf = SchedulerKind::Ecf(EcfOptions { beta: 0.5 });
        let cases: Vec<(&str, Config)> = vec![
            ("", d.clone()),
            ("enabled = false", Config { enabled: false, ..d.clone() }),
            ("ipv6_mss = \"1440 B\"", Config { ipv6_mss: Some(1440), ..d.clone() }),
            (
                "scheduler = \"round-robin\"",
                Config { scheduler: SchedulerKind::RoundRobin, ..d.clone() },
            ),
            (
                "scheduler = \"redundant\"",
                Config { scheduler: SchedulerKind::Redundant, ..d.clone() },
            ),
            (
                "scheduler = { kind = \"blest\", delta = 0.05 }",
                Config { scheduler: blest, ..d.clone() },
            ),
            ("scheduler = { kind = \"ecf\", beta = 0.5 }", Config { scheduler: ecf, ..d.clone() }),
            ("path_manager = \"pairs\"", Config { path_manager: PathManager::Pairs, ..d.clone() }),
            (
                "path_manager = \"n-diffports\"",
                Config { path_manager: PathManager::NDiffports(2), ..d.clone() },
            ),
            (
                "path_manager = { kind = \"n-diffports\", ports = 5 }",
                Config { path_manager: PathManager::NDiffports(5), ..d.clone() },
            ),
            (
                "passive_path_manager = \"full-mesh\"",
                Config { passive_path_manager: PathManager::FullMesh, ..d.clone() },
            ),
            (
                "passive_path_manager = { kind = \"n-diffports\", ports = 5 }",
                Config { passive_path_manager: PathManager::NDiffports(5), ..d.clone() },
            ),
            ("max_subflows = 3", Config { max_subflows: 3, ..d.clone() }),
            ("checksum = true", Config { checksum: true, ..d.clone() }),
            ("long_numbers = true", Config { long_numbers: true, ..d.clone() }),
            (
                "opportunistic_retransmission = false",
                Config { opportunistic_retransmission: false, ..d.clone() },
            ),
            ("penalisation = false", Config { penalisation: false, ..d.clone() }),
            ("capable_syns = 0", Config { capable_syns: 0, ..d.clone() }),
            ("reopen = false", Config { reopen: None, ..d.clone() }),
            ("reopen = \"3 s\"", Config { reopen: Some(Span::from_secs(3)), ..d.clone() }),
            ("linger = \"5 s\"", Config { linger: Span::from_secs(5), ..d }),
        ];
        for (text, expected) in cases {
            let config = read_text(text).unwrap();
            assert_eq!(config, expected, "{text}");
            let written = super::write(&config).to_string();
            assert_eq!(read_text(&written).unwrap(), expected, "{written}");
        }
    }

    #[test]
    fn errors_name_the_field_and_what_is_allowed() {
        for (text, field, allowed) in [
            ("enabled = 1", "enabled", "true or false"),
            (
                "scheduler = \"fastest\"",
                "scheduler",
                "min-rtt, linux, round-robin, redundant, blest, ecf, otias, sttf",
            ),
            (
                "scheduler = { kind = \"ecf\", beta = 2 }",
                "scheduler.beta",
                "a probability, from 0 to 1",
            ),
            ("scheduler = { beta = 0.5 }", "scheduler.kind", "min-rtt, linux, round-robin"),
            ("scheduler = { kind = \"min-rtt\", beta = 0.5 }", "scheduler.beta", "no field"),
            ("path_manager = \"mesh\"", "path_manager", "single, full-mesh, pairs, n-diffports"),
            (
                "path_manager = { kind = \"n-diffports\", ports = 33 }",
                "path_manager.ports",
                "a whole number from 1 to 32",
            ),
            ("passive_path_manager = 2", "passive_path_manager", "single, full-mesh"),
            (
                "passive_path_manager = { kind = \"n-diffports\", ports = 33 }",
                "passive_path_manager.ports",
                "a whole number from 1 to 32",
            ),
            (
                "ipv6_mss = \"1461 B\"",
                "ipv6_mss",
                "128 B to 1460 B (the mss of subflows over IPv4)",
            ),
            ("ipv6_mss = \"100 B\"", "ipv6_mss", "128 B to 1460 B (the mss of subflows over IPv4)"),
            ("max_subflows = 0", "max_subflows", "a whole number from 1 to 32"),
            ("capable_syns = -1", "capable_syns", "a whole number from 0 to 100"),
            ("reopen = true", "reopen", "false, or a time"),
            ("reopen = \"0 s\"", "reopen", "more than 0 s"),
            ("linger = 3", "linger", "a time"),
            ("window = \"lia\"", "window", "no field of this name"),
        ] {
            let error = read_text(text).unwrap_err();
            assert_eq!(error.field, format!("flows[0].mptcp.{field}"), "{text}");
            assert!(error.allowed.starts_with(allowed), "{text}: {}", error.allowed);
        }
    }
}
