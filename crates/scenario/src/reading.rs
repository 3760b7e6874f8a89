//! Reads a scenario from text: what has to be done before its parts are read, and
//! after.

use crate::schema::{Scenario, link};
use crate::text::parse;
use crate::{InputError, multihoming, overrides, pattern, topology, traces, validate};
use toml::Table;

impl Scenario {
    /// Reads a scenario; `file` is named in errors.
    ///
    /// ```
    /// use anabranch_scenario::Scenario;
    /// let scenario = Scenario::from_toml(
    ///     r#"
    ///     hosts = ["a", "b"]
    ///     links = [{ ends = ["a", "b"], rate = "10 Mbit/s", delay = "5 ms" }]
    ///     flows = [{ name = "f", from = "a", to = "b", size = "1 MB" }]
    ///     "#,
    ///     "two-hosts.toml",
    /// )?;
    /// assert_eq!(scenario.links[0].name, "a-b");
    /// # Ok::<(), anabranch_scenario::InputError>(())
    /// ```
    pub fn from_toml(text: &str, file: &str) -> Result<Scenario, InputError> {
        Scenario::with_overrides::<&str>(text, file, &[])
    }

    /// Reads a scenario after changing fields by `key=value` (see
    /// [`overrides`]).
    pub fn with_overrides<S: AsRef<str>>(
        text: &str,
        file: &str,
        changes: &[S],
    ) -> Result<Scenario, InputError> {
        let mut table = parse(text, file)?;
        let of_topology = |change: &&S| change.as_ref().trim_start().starts_with("topology.");
        let (first, then): (Vec<_>, Vec<_>) = changes.iter().partition(of_topology);
        let resolve = |table: &mut Table| {
            for change in first {
                overrides::apply(table, change.as_ref())?;
            }
            topology::expand(table)?;
            for change in then {
                overrides::apply(table, change.as_ref())?;
            }
            // A file is read once, however many flows a pattern makes.
            traces::inline(table, file)?;
            pattern::expand(table)?;
            complete(table)
        };
        resolve(&mut table).map_err(|e| e.in_file(file))
    }

    /// Returns the scenario with the field at the dotted path `key` changed.
    pub fn set(&self, key: &str, value: &str) -> Result<Scenario, InputError> {
        let mut table = self.write();
        overrides::set(&mut table, key, value)?;
        complete(&table)
    }
}

fn complete(table: &Table) -> Result<Scenario, InputError> {
    let mut scenario = Scenario::read(table)?;
    multihoming::complete(&mut scenario);
    link::resolve(&mut scenario.links, &scenario.channels)?;
    validate::check(&scenario)?;
    Ok(scenario)
}
