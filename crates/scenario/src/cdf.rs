//! Distribution functions of sizes as text, the way they are published beside
//! papers: a size in octets and the share of flows up to it on each line,
//! separated by white space or a comma. Shares end at 1, or at 100 where they
//! are percentages. Lines that begin with `#` are comments.
//!
//! ```text
//! # web search
//! 8760   0.15
//! 18980  0.2
//! ```

use crate::quantity::Quantity;
use anabranch_units::Bytes;
use toml::Value;

/// Largest size: 1 PiB, as everywhere.
const MOST: f64 = (1_u64 << 50) as f64;

/// The points as the field `cdf` has them. The error says what is wrong, in
/// which line. That they ascend is checked where the law is.
pub(crate) fn read(text: &str) -> Result<Value, String> {
    let mut points = Vec::new();
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let cells: Vec<_> =
            line.split([',', ' ', '\t']).filter(|split| !split.is_empty()).collect();
        let [size, share] = cells.as_slice() else {
            return Err(format!("a size and a share in line {number}; it is `{line}`"));
        };
        let within = |cell: &str, most: f64| {
            cell.parse::<f64>().ok().filter(|item| (0.0..=most).contains(item))
        };
        let octets = within(size, MOST);
        let octets = octets.ok_or_else(|| format!("octets in line {number}; it has `{size}`"))?;
        let share = within(share, 100.0)
            .ok_or_else(|| format!("a share in line {number}, 0 to 1 or 100; it has `{share}`"))?;
        points.push((Bytes(octets.round() as u64), share));
    }
    let Some((_, last)) = points.last() else { return Err("points; it has none".into()) };
    let whole = match *last {
        1.0 => 1.0,
        100.0 => 100.0,
        other => return Err(format!("a last share of 1 or 100; it is {other}")),
    };
    let point = |(size, share): &(Bytes, f64)| {
        Value::Array(vec![size.write().into(), Value::Float(share / whole)])
    };
    Ok(Value::Array(points.iter().map(point).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;

    #[test]
    fn shares_and_percentages_give_the_same_points() {
        let shares = read("# sizes\n0 0\n10000 0.15\n\n30000000, 1\n").unwrap();
        assert_eq!(read("0 0\n10000 15\n30000000\t100").unwrap(), shares);
        assert_eq!(shares.to_string(), "[[\"0 B\", 0.0], [\"10 kB\", 0.15], [\"30 MB\", 1.0]]");
    }

    #[test]
    fn errors_name_the_line() {
        for (text, expected) in [
            ("1000 0.5 1\n", "a size and a share in line 1; it is `1000 0.5 1`"),
            ("1000 0.5\n1 kB 1\n", "a size and a share in line 2"),
            ("-1 0.5\n", "octets in line 1; it has `-1`"),
            ("1000 x\n", "a share in line 1, 0 to 1 or 100; it has `x`"),
            ("1000 0.5\n", "a last share of 1 or 100; it is 0.5"),
            ("# nothing\n", "points; it has none"),
        ] {
            assert!(read(text).unwrap_err().starts_with(expected), "{text}");
        }
    }

    #[test]
    fn files_are_found_beside_the_scenario_and_resolved() {
        let folder = std::env::temp_dir().join(format!("anabranch-cdf-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("some.cdf"), "1000 0.5\n2000 1\n").unwrap();
        std::fs::write(folder.join("bad.cdf"), "2000 0.5\n1000 1\n").unwrap();
        let at = folder.join("s.toml").display().to_string();
        let text = |flow: &str| {
            format!(
                "hosts = [\"a\", \"b\"]\n[[links]]\nends = [\"a\", \"b\"]\nrate = \"1 Mbit/s\"\n\
                 delay = \"1 ms\"\n[[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\n{flow}\n"
            )
        };
        let law = |file: &str| format!("{{ law = \"empirical\", file = \"{file}\" }}");
        for flow in [
            format!("sizes = {}", law("some.cdf")),
            format!("traffic = {{ kind = \"pages\", count = 1, main = {} }}", law("some.cdf")),
        ] {
            let s = Scenario::from_toml(&text(&flow), &at).unwrap_or_else(|e| panic!("{e}"));
            let resolved = s.resolved_toml();
            assert!(resolved.contains("\"1 kB\""), "{resolved}");
            assert_eq!(Scenario::from_toml(&resolved, "elsewhere").unwrap(), s);
        }
        for (flow, expected) in [
            (
                format!("sizes = {}", law("none.cdf")),
                "field `flows[0].sizes.file`: value `none.cdf`",
            ),
            (format!("sizes = {}", law("bad.cdf")), "field `flows[0].sizes.cdf`"),
            (
                "sizes = { law = \"empirical\", file = \"some.cdf\", cdf = [] }".to_owned(),
                "allowed: either `file` or `cdf`",
            ),
        ] {
            let said = Scenario::from_toml(&text(&flow), &at).unwrap_err().to_string();
            assert!(said.contains(expected), "{said}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
