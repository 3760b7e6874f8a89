//! Tables of what changes on a link, as text: the header `time, delay, rate,
//! outage` with the columns that there are, in any order, then a row for each
//! date. Cells are quantities with their units; an empty one means no change.
//! Lines that begin with `#` are comments.
//!
//! ```text
//! # a handover
//! time,   delay,   rate,         outage
//! 0 s,    3.7 ms,  50 Mbit/s,
//! 80 s,   5.1 ms,  35 Mbit/s,    150 ms
//! ```

use crate::quantity::Quantity;
use anabranch_units::{Rate, Span};
use toml::{Table, Value};

const COLUMNS: [&str; 4] = ["time", "delay", "rate", "outage"];

/// The steps of one column: a list of tables with `at` and, called `field`,
/// the cell. The error says what is wrong, in which line.
pub(crate) fn read(text: &str, column: &str, field: &str) -> Result<Value, String> {
    let mut lines = (1..).zip(text.lines().map(str::trim));
    let mut rows = lines.by_ref().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let columns = COLUMNS.join(", ");
    let (_, header) = rows.next().ok_or_else(|| format!("a header, of {columns}; it is empty"))?;
    let names: Vec<_> = header.split(',').map(str::trim).collect();
    let unknown = names
        .iter()
        .enumerate()
        .find(|(i, name)| !COLUMNS.contains(name) || names[..*i].contains(name));
    if let Some((_, name)) = unknown {
        return Err(format!("a header of {columns}, each once; it has `{name}`"));
    }
    let place = |name: &str| {
        let place = names.iter().position(|item| *item == name);
        place.ok_or_else(|| format!("a column `{name}`; the header is `{header}`"))
    };
    let (time, cell) = (place("time")?, place(column)?);
    let mut steps = Vec::new();
    for (number, line) in rows {
        let cells: Vec<_> = line.split(',').map(str::trim).collect();
        if cells.len() != names.len() {
            let expected = names.len();
            return Err(format!("{expected} cells in line {number}; it has {}", cells.len()));
        }
        let date = checked::<Span>(cells[time], number)?;
        if cells[cell].is_empty() {
            continue;
        }
        let value = match column {
            // An outage of the schedule.
            "rate" if cells[cell] == "0 bit/s" => cells[cell].to_owned(),
            "rate" => checked::<Rate>(cells[cell], number)?,
            _ => checked::<Span>(cells[cell], number)?,
        };
        let mut step = Table::new();
        step.insert("at".into(), date.into());
        step.insert(field.into(), value.into());
        steps.push(Value::Table(step));
    }
    if steps.is_empty() {
        return Err(format!("a row with a cell in the column `{column}`"));
    }
    Ok(Value::Array(steps))
}

/// The cell as it is written elsewhere.
fn checked<Q: Quantity>(cell: &str, number: u32) -> Result<String, String> {
    let read = Q::parse(cell).ok_or_else(|| format!("{}; line {number} has `{cell}`", Q::ALLOWED));
    Ok(read?.write())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;

    const TABLE: &str = "# a pass\n\ntime, delay, rate, outage\n\
                         0 s, 4 ms, 50 Mbit/s,\n80 s, 5.5 ms, , 150 ms\n90 s, , 0 bit/s, \n";

    #[test]
    fn each_column_has_its_steps() {
        let shown = |column, field| read(TABLE, column, field).unwrap().to_string();
        assert_eq!(
            shown("delay", "delay"),
            "[{ at = \"0 ps\", delay = \"4 ms\" }, { at = \"80 s\", delay = \"5500 us\" }]"
        );
        assert_eq!(
            shown("rate", "rate"),
            "[{ at = \"0 ps\", rate = \"50 Mbit/s\" }, { at = \"90 s\", rate = \"0 bit/s\" }]"
        );
        assert_eq!(shown("outage", "for"), "[{ at = \"80 s\", for = \"150 ms\" }]");
    }

    #[test]
    fn errors_say_the_line_and_what_is_allowed() {
        for (text, expected) in [
            ("", "a header, of time, delay, rate, outage; it is empty"),
            ("time, speed\n", "a header of time, delay, rate, outage, each once; it has `speed`"),
            ("time, delay, delay\n", "each once; it has `delay`"),
            ("time, rate\n", "a column `delay`; the header is `time, rate`"),
            ("time, delay\n0 s\n", "2 cells in line 2; it has 1"),
            ("time, delay\n# x\n0, 4 ms\n", "line 3 has `0`"),
            ("time, delay\n0 s, fast\n", "line 2 has `fast`"),
            ("time, delay\n0 s,\n", "a row with a cell in the column `delay`"),
        ] {
            let said = read(text, "delay", "delay").unwrap_err();
            assert!(said.contains(expected), "{said}\n{expected}");
        }
    }

    #[test]
    fn a_scenario_takes_delays_rates_and_outages_from_one_file() {
        let folder = std::env::temp_dir().join(format!("anabranch-changes-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("leo.csv"), TABLE).unwrap();
        let at = folder.join("s.toml").display().to_string();
        let text = |delays: &str| {
            format!(
                "duration = \"1 s\"\nhosts = [\"a\", \"b\"]\n[[links]]\nends = [\"a\", \"b\"]\n\
                 delays = {{ file = \"leo.csv\", period = \"100 s\"{delays} }}\n\
                 schedule = {{ file = \"leo.csv\" }}\n\
                 impairments = [{{ kind = \"outage\", file = \"leo.csv\", period = \"100 s\" }}]\n\
                 [[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\n"
            )
        };
        let s = Scenario::from_toml(&text(""), &at).unwrap();
        let delays = s.links[0].forward.delays.as_ref().unwrap();
        assert_eq!((delays.steps.len(), delays.period), (2, Some(Span::from_secs(100))));
        assert_eq!(s.links[0].forward.rate, Rate::mbit(50));
        let resolved = s.resolved_toml();
        assert!(!resolved.contains("leo.csv") && resolved.contains("for = \"150 ms\""));
        assert_eq!(Scenario::from_toml(&resolved, "elsewhere").unwrap(), s);

        let said = Scenario::from_toml(&text(", steps = []"), &at).unwrap_err().to_string();
        assert!(said.contains("field `links[0].delays.file`: value `leo.csv`: allowed: either"));
        let said = Scenario::from_toml(&text(""), "elsewhere.toml").unwrap_err().to_string();
        assert!(said.contains("field `links[0].schedule.file`: value `leo.csv`"), "{said}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
