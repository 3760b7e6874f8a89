//! The impairment `middlebox`, from and to TOML.

use super::form::{Form, Kind, by, integer, word};
use crate::InputError;
use crate::fields::Fields;
use crate::shape::Shape;
use anabranch_network::{MiddleboxConfig, Segments};
use anabranch_wire::tcp::OptionKind;
use toml::Value;

const SEGMENTS: [(&str, Segments); 3] =
    [("all", Segments::All), ("syn", Segments::Syn), ("not-syn", Segments::NotSyn)];

/// The fields beside `kind`.
pub(super) fn fields(form: &mut Form<'_>, c: &mut MiddleboxConfig) -> Result<(), InputError> {
    form.says("options over which NOPs are written").set("strip", options(), &mut c.strip)?;
    form.says("from which segments: all, those with SYN, or those without").choice(
        "segments",
        &SEGMENTS,
        &mut c.segments,
    )?;
    form.says("segments of each flow (addresses and ports) in this direction that come first and keep options and data")
        .set("after", integer(MiddleboxConfig::AFTER), &mut c.after)?;
    form.says("a key: sequence numbers of a flow are shifted by a hash of it; give it in both directions of a link")
        .optional("rewrite_sequence", integer(0..=u32::MAX), &mut c.rewrite_sequence)?;
    form.says("SACK blocks are shifted with the numbers; `false` is a box that does not know them")
        .boolean("rewrite_sack", &mut c.rewrite_sack)?;
    form.says("each octet at a multiple of so many in the flow's sequence space is changed, also when it is sent again; flows without `octets = true` carry nothing that could be")
        .octets_or_none("change_every", &mut c.change_every)
}

/// A list of TCP options by name.
fn options() -> impl Kind<Value = Vec<OptionKind>> {
    let read = |f: &Fields<'_>, name: &'static str| {
        let Some(value) = f.get(name) else { return Ok(None) };
        let named = |value: &Value| {
            let name = value.as_str()?;
            OptionKind::ALL.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
        };
        let list: Option<_> = value.as_array().and_then(|list| list.iter().map(named).collect());
        list.map(Some).ok_or_else(|| {
            let names = OptionKind::ALL.map(|(name, _)| name).join(", ");
            f.error(name, format!("a list of options: {names}"))
        })
    };
    let write = |kinds: &Vec<OptionKind>| {
        Value::Array(kinds.iter().map(|kind| word(&OptionKind::ALL, kind).into()).collect())
    };
    by(|| Shape::words(&OptionKind::ALL).list(), read, write)
}

#[cfg(test)]
mod tests {
    use crate::Scenario;

    /// The scenario with this impairment, resolved and read again.
    fn read(fields: &str, flow: &str) -> Result<String, String> {
        let text = format!(
            "hosts = [\"a\", \"b\"]\n[[links]]\nends = [\"a\", \"b\"]\nrate = \"1 Mbit/s\"\n\
             delay = \"1 ms\"\nimpairments = [{{ kind = \"middlebox\", {fields} }}]\n\
             [[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\nsize = \"1 MB\"\n{flow}\n"
        );
        let scenario = Scenario::from_toml(&text, "t").map_err(|e| e.to_string())?;
        let resolved = scenario.resolved_toml();
        assert_eq!(Scenario::from_toml(&resolved, "t").as_ref(), Ok(&scenario), "{resolved}");
        Ok(resolved)
    }

    #[test]
    fn fields_are_read_and_written() {
        for (fields, expected) in [
            ("strip = [\"mptcp\", \"sack\"]", "strip = [\n    \"mptcp\",\n    \"sack\",\n]"),
            ("strip = [\"mss\"], segments = \"not-syn\"", "segments = \"not-syn\""),
            ("strip = [\"mss\"], after = 7", "after = 7"),
            ("rewrite_sequence = 3", "rewrite_sequence = 3"),
            ("rewrite_sequence = 3, rewrite_sack = false", "rewrite_sack = false"),
            ("change_every = \"100 kB\"", "change_every = \"100 kB\""),
        ] {
            let resolved = read(fields, "").unwrap();
            let flat = |text: &str| text.split_whitespace().collect::<String>().replace(",]", "]");
            assert!(flat(&resolved).contains(&flat(expected)), "{fields}: {resolved}");
        }
    }

    #[test]
    fn errors_name_the_field_and_what_is_allowed() {
        for (fields, field, allowed) in [
            ("after = 3", "strip", "options, unless `rewrite_sequence` or `change_every` is given"),
            ("strip = \"mptcp\"", "strip", "a list of options: mss, window-scale"),
            ("strip = [\"tcp\"]", "strip", "a list of options: mss, window-scale"),
            ("strip = [\"mss\"], segments = \"ack\"", "segments", "all, syn, not-syn"),
            ("strip = [\"mss\"], after = -1", "after", "a whole number from 0"),
            ("rewrite_sequence = \"x\"", "rewrite_sequence", "a whole number from 0"),
            ("change_every = \"0 B\"", "change_every", "at least 1 B"),
            ("change_every = \"1 B\", at_every = 1", "at_every", "no field of this name"),
        ] {
            let error = read(fields, "").unwrap_err();
            assert!(error.contains(&format!("links[0].impairments[0].{field}`")), "{error}");
            assert!(error.contains(allowed), "{fields}: {error}");
        }
    }

    /// Counted octets are the pattern at their sequence numbers, which both ends
    /// of a checksum have to agree about.
    #[test]
    fn checksums_over_rewritten_numbers_need_real_octets() {
        let flow = "protocol = \"mptcp\"\nmptcp = { checksum = true }";
        let error = read("rewrite_sequence = 1", flow).unwrap_err();
        assert!(error.contains("`flows[0].octets`"), "{error}");
        read("rewrite_sequence = 1", &format!("octets = true\n{flow}")).unwrap();
        read("strip = [\"mptcp\"]", flow).unwrap();
        read("rewrite_sequence = 1", "").unwrap();
    }
}
