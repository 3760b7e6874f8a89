//! Many flows from one line: `[[flows]]` with a `pattern` becomes one flow for
//! each pair of hosts that the pattern names, before the scenario is read.

use crate::InputError;
use crate::fields::Fields;
use crate::schema::{Form, host};
use crate::shape::Shape;
use anabranch_endpoint::{Generator, Seed};
use toml::{Table, Value};

/// The names of the patterns in scenarios.
const PATTERNS: [(&str, Pattern); 5] = [
    ("permutation", Pattern::Permutation),
    ("incast", Pattern::Incast),
    ("scatter", Pattern::Scatter),
    ("all-to-all", Pattern::AllToAll),
    ("pairs", Pattern::Pairs),
];

#[derive(Clone, Copy)]
enum Pattern {
    /// Each host sends to one other and receives from one other.
    Permutation,
    /// All hosts send to one.
    Incast,
    /// One host sends to all others.
    Scatter,
    /// Each host sends to each other.
    AllToAll,
    /// The first to the first, the second to the second.
    Pairs,
}

/// Most flows that a pattern makes.
const MOST: usize = 50_000;

/// The fields of a flow that are a pattern's, which none is left of when flows are read.
pub(crate) fn describe(form: &mut Form<'_>) {
    form.says("many flows from one line, see [patterns](#patterns)");
    form.elsewhere("pattern", || Shape::words(&PATTERNS));
    form.says("of the pattern `permutation`: which of the permutations").or_else("1");
    form.elsewhere("pattern_seed", || Shape::Integer(0, i64::MAX));
    form.says("of the patterns `permutation` and `all-to-all`: the hosts");
    form.elsewhere("among", || Shape::Text.list());
    form.says("of the patterns `incast` and `pairs`: the hosts that send");
    form.elsewhere("senders", || Shape::Text.list());
    form.says("of the patterns `scatter` and `pairs`: the hosts that receive");
    form.elsewhere("receivers", || Shape::Text.list());
}

/// Replaces flows with a pattern by those that it stands for.
pub(crate) fn expand(scenario: &mut Table) -> Result<(), InputError> {
    let hosts: Vec<String> = match scenario.get("hosts").and_then(Value::as_array) {
        Some(list) => {
            list.iter().filter_map(|host| host::name_of(host).map(str::to_owned)).collect()
        }
        None => Vec::new(),
    };
    let Some(flows) = scenario.get_mut("flows").and_then(Value::as_array_mut) else {
        return Ok(());
    };
    let is_pattern =
        |flow: &Value| flow.as_table().is_some_and(|table| table.contains_key("pattern"));
    if !flows.iter().any(is_pattern) {
        return Ok(());
    }
    let mut out = Vec::new();
    for (i, flow) in flows.iter().enumerate() {
        match flow.as_table().filter(|table| table.contains_key("pattern")) {
            None => out.push(flow.clone()),
            Some(line) => out.extend(expand_line(line, &hosts, &format!("flows[{i}]"))?),
        }
    }
    *flows = out;
    Ok(())
}

const OWN: [&str; 6] = ["pattern", "pattern_seed", "among", "senders", "receivers", "to"];

fn expand_line(line: &Table, hosts: &[String], path: &str) -> Result<Vec<Value>, InputError> {
    let f = Fields::new(path, line);
    let words = PATTERNS.map(|pattern| pattern.0).join(", ");
    let pattern = f.choice("pattern", &PATTERNS)?.ok_or_else(|| f.error("pattern", words))?;
    let name = f.required_text("name", "a name for the flows")?;
    let pairs = match pattern {
        Pattern::Permutation => {
            let among = named(&f, "among", hosts)?;
            let seed = f.integer("pattern_seed", 0..=i64::MAX)?.unwrap_or(1) as u64;
            let seed = Seed { seed, replication: 0 };
            permutation(among, seed.generator(&format!("pattern {name}")))
        }
        Pattern::AllToAll => {
            let among = named(&f, "among", hosts)?;
            let others = |a| among.iter().filter(move |b| **b != a).map(move |b| (a, *b));
            among.iter().flat_map(|a| others(*a)).collect()
        }
        Pattern::Incast => {
            let to = f.required_text("to", "the host that all send to")?;
            let senders = named(&f, "senders", hosts)?;
            senders.into_iter().filter(|from| *from != to).map(|from| (from, to)).collect()
        }
        Pattern::Scatter => {
            let from = f.required_text("from", "the host that sends to all")?;
            let receivers = named(&f, "receivers", hosts)?;
            receivers.into_iter().filter(|to| *to != from).map(|to| (from, to)).collect()
        }
        Pattern::Pairs => {
            let (from, to) = (named(&f, "senders", hosts)?, named(&f, "receivers", hosts)?);
            if from.len() != to.len() {
                let allowed = format!("as many hosts as `senders`, {}", from.len());
                return Err(f.error("receivers", allowed));
            }
            from.into_iter().zip(to).collect::<Vec<_>>()
        }
    };
    if pairs.len() > MOST {
        return Err(f.error("pattern", format!("at most {MOST} flows; these are {}", pairs.len())));
    }
    let allowed: &[&str] = match pattern {
        Pattern::Permutation => &["pattern", "among", "pattern_seed"],
        Pattern::AllToAll => &["pattern", "among"],
        Pattern::Incast => &["pattern", "senders", "to"],
        Pattern::Scatter => &["pattern", "from", "receivers"],
        Pattern::Pairs => &["pattern", "senders", "receivers"],
    };
    let stray = OWN
        .into_iter()
        .chain(["from"])
        .find(|own| line.contains_key(*own) && !allowed.contains(own));
    if let Some(stray) = stray {
        return Err(f.error(
            stray,
            format!("no such field with this pattern, which has {}", allowed.join(", ")),
        ));
    }
    let flow = |(i, (from, to)): (usize, &(&str, &str))| {
        let mut flow = line.clone();
        OWN.into_iter().for_each(|field| drop(flow.remove(field)));
        flow.insert("name".into(), format!("{name}-{i}").into());
        flow.insert("from".into(), (*from).into());
        flow.insert("to".into(), (*to).into());
        Value::Table(flow)
    };
    Ok(pairs.iter().enumerate().map(flow).collect())
}

/// The hosts that a list of names means; one that ends in `*` means all hosts
/// that begin so, in their order.
fn named<'a>(
    f: &Fields<'_>,
    field: &'static str,
    hosts: &'a [String],
) -> Result<Vec<&'a str>, InputError> {
    let example = "names of hosts such as [\"a\", \"h*\"]";
    let list = f.texts(field)?.ok_or_else(|| f.error(field, example))?;
    let mut out = Vec::new();
    for name in &list {
        let before = out.len();
        match name.strip_suffix('*') {
            Some(start) => {
                out.extend(hosts.iter().map(String::as_str).filter(|host| host.starts_with(start)));
            }
            None => out.extend(hosts.iter().map(String::as_str).find(|host| host == name)),
        }
        if out.len() == before {
            return Err(f.error(field, format!("{example}; no host is meant by `{name}`")));
        }
    }
    let mut sorted = out.clone();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() != out.len() || out.len() < 2 && field == "among" {
        return Err(
            f.error(field, "each host once, and at least two where they send to each other")
        );
    }
    Ok(out)
}

/// A random cycle through all hosts (Sattolo 1986): a permutation in which none
/// stays where it is.
fn permutation(among: Vec<&str>, mut generator: Generator) -> Vec<(&str, &str)> {
    let mut to: Vec<usize> = (0..among.len()).collect();
    for i in (1..to.len()).rev() {
        to.swap(i, generator.below(i as u64) as usize);
    }
    among.iter().zip(to).map(|(from, to)| (*from, among[to])).collect()
}

#[cfg(test)]
mod tests {
    use crate::Scenario;

    fn read(flow: &str) -> Result<Scenario, String> {
        let text = format!(
            "topology = {{ kind = \"star\", hosts = 6, access = {{ rate = \"10 Mbit/s\", delay = \"1 ms\" }} }}\n\
             [[flows]]\nname = \"f\"\nsize = \"10 kB\"\n{flow}\n"
        );
        Scenario::from_toml(&text, "t.toml").map_err(|e| e.to_string())
    }

    fn pairs(flow: &str) -> Vec<String> {
        let flows = read(flow).unwrap().flows;
        flows.iter().map(|flow| format!("{} {}>{}", flow.name, flow.from, flow.to)).collect()
    }

    #[test]
    fn patterns_make_their_flows() {
        assert_eq!(
            pairs("pattern = \"incast\"\nsenders = [\"h*\"]\nto = \"h2\""),
            ["f-0 h0>h2", "f-1 h1>h2", "f-2 h3>h2", "f-3 h4>h2", "f-4 h5>h2"]
        );
        assert_eq!(
            pairs("pattern = \"pairs\"\nsenders = [\"h0\", \"h1\"]\nreceivers = [\"h4\", \"h3\"]"),
            ["f-0 h0>h4", "f-1 h1>h3"]
        );
        assert_eq!(pairs("pattern = \"all-to-all\"\namong = [\"h0\", \"h1\", \"h5\"]").len(), 6);
    }

    #[test]
    fn a_permutation_leaves_nobody_out_and_nobody_at_home() {
        let line = "pattern = \"permutation\"\namong = [\"h*\"]";
        let flows = read(line).unwrap().flows;
        let mut to: Vec<_> = flows.iter().map(|flow| flow.to.clone()).collect();
        to.sort();
        assert_eq!(to, ["h0", "h1", "h2", "h3", "h4", "h5"]);
        assert!(flows.iter().all(|flow| flow.from != flow.to));
        assert_eq!(pairs(line), pairs(line));
        let others = (2..9).map(|seed| pairs(&format!("{line}\npattern_seed = {seed}")));
        assert!(others.into_iter().any(|other| other != pairs(line)));
    }

    #[test]
    fn errors_name_the_field() {
        for (flow, expected) in [
            (
                "pattern = \"ring\"",
                "field `flows[0].pattern`: value `ring`: allowed: permutation, incast",
            ),
            ("pattern = \"permutation\"", "field `flows[0].among` is required: names of hosts"),
            ("pattern = \"permutation\"\namong = [\"x*\"]", "no host is meant by `x*`"),
            ("pattern = \"all-to-all\"\namong = [\"h1\"]", "at least two"),
            (
                "pattern = \"all-to-all\"\namong = [\"h*\"]\nfrom = \"h1\"",
                "field `flows[0].from`: value `h1`: allowed: no such field with this pattern",
            ),
            (
                "pattern = \"pairs\"\nsenders = [\"h1\"]\nreceivers = [\"h2\", \"h3\"]",
                "as many hosts as `senders`, 1",
            ),
        ] {
            let said = read(flow).unwrap_err();
            assert!(said.contains(expected), "{said}\n{expected}");
        }
    }
}
