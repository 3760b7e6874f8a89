//! Hosts: end systems, by name or as a table with what is special about one.

use crate::InputError;
use crate::fields::Fields;
use toml::{Table, Value};

/// A host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostSpec {
    /// Its name.
    pub name: String,
}

const ALLOWED: &str = "the hosts: names such as \"a\", or tables such as { name = \"a\" }";

impl HostSpec {
    /// A host with nothing special.
    pub fn named(name: &str) -> HostSpec {
        HostSpec { name: name.to_owned() }
    }

    /// The field `hosts`.
    pub(super) fn read_all(f: &Fields<'_>) -> Result<Vec<HostSpec>, InputError> {
        let list = f.get("hosts").and_then(Value::as_array);
        let list = list.ok_or_else(|| f.error("hosts", ALLOWED))?;
        let read = |(i, item): (usize, &Value)| match item {
            Value::String(name) => Ok(HostSpec::named(name)),
            Value::Table(table) => {
                HostSpec::read(&Fields::new(f.path(&format!("hosts[{i}]")), table))
            }
            _ => Err(InputError::field(f.path(&format!("hosts[{i}]")), item, ALLOWED)),
        };
        list.iter().enumerate().map(read).collect()
    }

    fn read(f: &Fields<'_>) -> Result<HostSpec, InputError> {
        let host = HostSpec::named(f.required_text("name", "the name of the host")?);
        f.finish()?;
        Ok(host)
    }

    /// The name alone where there is nothing else to say.
    pub(super) fn write(&self) -> Value {
        if *self == HostSpec::named(&self.name) {
            return self.name.as_str().into();
        }
        let mut table = Table::new();
        table.insert("name".into(), self.name.as_str().into());
        Value::Table(table)
    }
}

/// The name of an element of the field `hosts`, before it is read.
pub(crate) fn name_of(item: &Value) -> Option<&str> {
    item.as_str().or_else(|| item.get("name")?.as_str())
}

#[cfg(test)]
mod tests {
    use crate::Scenario;

    const REST: &str = r#"
        links = [{ ends = ["a", "b"], rate = "1 Mbit/s", delay = "5 ms" }]
    "#;
    const FLOW: &str = r#"flows = [{ name = "f", from = "a", to = "b", size = "1 MB" }]"#;
    const PATTERN: &str = r#"
        [[flows]]
        pattern = "pairs"
        name = "f"
        senders = ["a"]
        receivers = ["b"]
        size = "1 MB"
    "#;

    fn read_with(hosts: &str, flows: &str) -> Result<Scenario, String> {
        let text = format!("hosts = {hosts}{REST}{flows}");
        Scenario::from_toml(&text, "t").map_err(|e| e.to_string())
    }

    fn read(hosts: &str) -> Result<Scenario, String> {
        read_with(hosts, FLOW)
    }

    #[test]
    fn a_table_says_what_a_name_says() {
        let names = read(r#"["a", "b"]"#).unwrap();
        let tables = read(r#"[{ name = "a" }, "b"]"#).unwrap();
        assert_eq!(names, tables);
        assert!(tables.resolved_toml().contains(r#"hosts = ["a", "b"]"#));
        let patterns = read_with(r#"[{ name = "a" }, "b"]"#, PATTERN).unwrap();
        assert_eq!(patterns.flows[0].name, "f-0");
    }

    #[test]
    fn wrong_hosts_are_named() {
        for (hosts, expected) in [
            ("7", "field `hosts`: value `7`: allowed: the hosts: names such as"),
            (r#"["a", 7]"#, "field `hosts[1]`: value `7`: allowed: the hosts"),
            (r#"["a", {}]"#, "field `hosts[1].name`: value `(absent)`: allowed: the name"),
            (
                r#"["a", { name = "b", x = 1 }]"#,
                "field `hosts[1].x`: value `1`: allowed: no field of this name",
            ),
        ] {
            let said = read(hosts).unwrap_err();
            assert!(said.contains(expected), "{said}\n{expected}");
        }
    }
}
