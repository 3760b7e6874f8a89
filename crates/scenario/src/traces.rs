//! What a scenario reads from files of their own: `trace = { file = "cell.trace" }`,
//! rates, delays and outages of links from tables (see [`crate::changes`]), sizes
//! of flows from distribution functions (see [`crate::cdf`]). A file is read when the scenario is; its contents stand in the scenario from then on, so
//! that what is resolved needs no other file. A relative path starts at the folder
//! of the scenario.

use crate::text::{LARGEST_FILE, load};
use crate::{InputError, cdf, changes};
use anabranch_network::TraceConfig;
use std::path::Path;
use toml::{Table, Value};

/// Fields of `traffic` that may be a law of sizes.
const SIZES: [&str; 4] = ["size", "request", "main", "object"];

/// Puts the contents of files in their places.
pub(crate) fn inline(scenario: &mut Table, file: &str) -> Result<(), InputError> {
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    let flows = scenario.get_mut("flows").and_then(Value::as_array_mut);
    for (i, flow) in flows.into_iter().flatten().enumerate() {
        let Some(flow) = flow.as_table_mut() else { continue };
        inline_sizes(flow, "sizes", folder, &format!("flows[{i}]"))?;
        if let Some(traffic) = flow.get_mut("traffic").and_then(Value::as_table_mut) {
            for field in SIZES {
                inline_sizes(traffic, field, folder, &format!("flows[{i}].traffic"))?;
            }
        }
    }
    let Some(links) = scenario.get_mut("links").and_then(Value::as_array_mut) else {
        return Ok(());
    };
    for (i, link) in links.iter_mut().enumerate() {
        let Some(link) = link.as_table_mut() else { continue };
        inline_direction(link, folder, &format!("links[{i}]"))?;
        if let Some(reverse) = link.get_mut("reverse").and_then(Value::as_table_mut) {
            inline_direction(reverse, folder, &format!("links[{i}].reverse"))?;
        }
    }
    Ok(())
}

fn inline_sizes(
    table: &mut Table,
    field: &str,
    folder: &Path,
    path: &str,
) -> Result<(), InputError> {
    match table.get_mut(field).and_then(Value::as_table_mut) {
        Some(law) => inline_file(law, "cdf", folder, &format!("{path}.{field}"), cdf::read),
        None => Ok(()),
    }
}

fn inline_direction(direction: &mut Table, folder: &Path, path: &str) -> Result<(), InputError> {
    if let Some(trace) = direction.get_mut("trace").and_then(Value::as_table_mut) {
        inline_file(trace, "millis", folder, &format!("{path}.trace"), read_trace)?;
    }
    for (field, column, list) in [("schedule", "rate", "steps"), ("delays", "delay", "steps")] {
        if let Some(table) = direction.get_mut(field).and_then(Value::as_table_mut) {
            let read = |text: &str| changes::read(text, column, column);
            inline_file(table, list, folder, &format!("{path}.{field}"), read)?;
        }
    }
    let impairments = direction.get_mut("impairments").and_then(Value::as_array_mut);
    for (i, impairment) in impairments.into_iter().flatten().enumerate() {
        if let Some(table) = impairment.as_table_mut()
            && table.get("kind").and_then(Value::as_str) == Some("outage")
        {
            let read = |text: &str| changes::read(text, "outage", "for");
            let path = format!("{path}.impairments[{i}]");
            inline_file(table, "intervals", folder, &path, read)?;
        }
    }
    Ok(())
}

/// Replaces `file` of `table` by the field `list`, which `read` makes of the
/// file's text or else says what is wrong.
fn inline_file(
    table: &mut Table,
    list: &str,
    folder: &Path,
    path: &str,
    read: impl FnOnce(&str) -> Result<Value, String>,
) -> Result<(), InputError> {
    let Some(name) = table.get("file") else { return Ok(()) };
    let refused = |allowed: String| {
        let shown = name.as_str().map_or_else(|| name.to_string(), str::to_owned);
        InputError::field(format!("{path}.file"), shown, allowed)
    };
    let given = name.as_str().ok_or_else(|| refused("the name of a file, in quotes".into()))?;
    if table.contains_key(list) {
        return Err(refused(format!("either `file` or `{list}`")));
    }
    let text = load(&folder.join(given)).map_err(|e| {
        refused(format!("a file of at most {} MiB; {}", LARGEST_FILE >> 20, e.allowed))
    })?;
    let value = read(&text).map_err(refused)?;
    table.remove("file");
    table.insert(list.into(), value);
    Ok(())
}

fn read_trace(text: &str) -> Result<Value, String> {
    let read =
        TraceConfig::parse(text).map_err(|e| format!("{}; it has {}", e.allowed, e.value))?;
    Ok(Value::Array(read.millis.iter().map(|ms| Value::Integer(i64::from(*ms))).collect()))
}

#[cfg(test)]
mod tests {
    use crate::Scenario;

    fn scenario(file: &str) -> String {
        format!(
            "hosts = [\"a\", \"b\"]\n[[links]]\nends = [\"a\", \"b\"]\ndelay = \"20 ms\"\n\
             trace = {{ file = \"{file}\" }}\n[[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\n\
             size = \"1 MB\"\n"
        )
    }

    #[test]
    fn files_are_found_beside_the_scenario_and_resolved() {
        let folder = std::env::temp_dir().join(format!("anabranch-traces-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("good.trace"), "0\n4\n4\n10\n").unwrap();
        std::fs::write(folder.join("bad.trace"), "5\n4\n").unwrap();
        let at = folder.join("s.toml").display().to_string();
        let s = Scenario::from_toml(&scenario("good.trace"), &at).unwrap();
        // 4 · 1500 B in 10 ms.
        assert_eq!(s.links[0].forward.rate.to_string(), "4800 kbit/s");
        let resolved = s.resolved_toml();
        assert!(resolved.contains("millis = [0, 4, 4, 10]"), "{resolved}");
        assert_eq!(Scenario::from_toml(&resolved, "elsewhere").unwrap(), s);

        let said = Scenario::from_toml(&scenario("bad.trace"), &at).unwrap_err().to_string();
        assert!(
            said.contains(
                "field `links[0].trace.file`: value `bad.trace`: allowed: dates that do not descend"
            ),
            "{said}"
        );
        let said = Scenario::from_toml(&scenario("none.trace"), &at).unwrap_err().to_string();
        assert!(said.contains("links[0].trace.file"), "{said}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
