//! The impairment `middlebox`, from and to TOML.

use super::form::word;
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use anabranch_network::{MiddleboxConfig, Segments};
use anabranch_units::Bytes;
use anabranch_wire::tcp::OptionKind;
use toml::Value;

const SEGMENTS: [(&str, Segments); 3] =
    [("all", Segments::All), ("syn", Segments::Syn), ("not-syn", Segments::NotSyn)];

/// The fields beside `kind`.
pub(super) fn read(f: &Fields<'_>) -> Result<MiddleboxConfig, InputError> {
    Ok(MiddleboxConfig {
        strip: read_strip(f)?,
        segments: f.choice("segments", &SEGMENTS)?.unwrap_or_default(),
        after: f.integer("after", 0..=u32::MAX)?.unwrap_or(0).into(),
        rewrite_sequence: f.integer("rewrite_sequence", 0..=u32::MAX)?,
        rewrite_sack: f.boolean("rewrite_sack")?.unwrap_or(true),
        change_every: f.quantity::<Bytes>("change_every")?.map(|octets| octets.0),
    })
}

fn read_strip(f: &Fields<'_>) -> Result<Vec<OptionKind>, InputError> {
    let Some(value) = f.get("strip") else { return Ok(Vec::new()) };
    let named = |value: &Value| {
        let name = value.as_str()?;
        OptionKind::ALL.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    };
    let list = value.as_array().and_then(|list| list.iter().map(named).collect());
    list.ok_or_else(|| {
        let names = OptionKind::ALL.map(|(name, _)| name).join(", ");
        f.error("strip", format!("a list of options: {names}"))
    })
}

/// Puts the fields with their values.
pub(super) fn write(middlebox_config: &MiddleboxConfig, put: &mut dyn FnMut(&str, Value)) {
    put("kind", "middlebox".into());
    let name = |kind: &OptionKind| Value::from(word(&OptionKind::ALL, kind));
    put("strip", Value::Array(middlebox_config.strip.iter().map(name).collect()));
    put("segments", word(&SEGMENTS, &middlebox_config.segments).into());
    put("after", Value::Integer(middlebox_config.after as i64));
    if let Some(key) = middlebox_config.rewrite_sequence {
        put("rewrite_sequence", i64::from(key).into());
    }
    put("rewrite_sack", middlebox_config.rewrite_sack.into());
    if let Some(octets) = middlebox_config.change_every {
        put("change_every", Bytes(octets).write().into());
    }
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
