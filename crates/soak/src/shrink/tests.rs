//! Reduction by rules that are simpler than a run.

use super::*;

const TEXT: &str = r#"
    seed = 5000
    hosts = [{ name = "a", interfaces = ["i0", "i1"] }, { name = "b", interfaces = ["i0", "i1"] }]
    routers = ["r", "s"]
    [[links]]
    ends = ["a.i0", "r"]
    rate = "12345 bit/s"
    [[links]]
    ends = ["r", "b.i0"]
    rate = "7 bit/s"
    queue = { kind = "red", limit = "17 packets" }
    [[links]]
    ends = ["a.i1", "s"]
    [[links]]
    ends = ["s", "b.i1"]
    [[flows]]
    name = "f"
    size = "123456 B"
    tcp = { sack = false, mss = "100 B" }
"#;

fn reduced(fails: impl Fn(&Table) -> bool) -> String {
    let table = TEXT.parse().expect("TOML");
    let smaller = reduce(table, 10_000, |item| fails(item).then_some(())).expect("it fails");
    smaller.to_string()
}

/// What does not matter goes, however deep it stands; what matters stays.
#[test]
fn only_what_fails_remains() {
    let has = |table: &Table| table.to_string().contains("kind = \"red\"");
    let left = reduced(has);
    assert_eq!(left.split_whitespace().collect::<String>(), "[[links]][links.queue]kind=\"red\"");
}

#[test]
fn numbers_become_small_and_round() {
    let size = |table: &Table| {
        let size = table.get("flows")?.get(0)?.get("size")?.as_str()?.strip_suffix(" B")?;
        size.parse::<u64>().ok()
    };
    let left = reduced(|item| size(item).is_some_and(|octets| octets > 5000));
    let octets = size(&left.parse().expect("TOML")).expect("a size");
    assert!((5001..=10_000).contains(&octets), "{left}");
}

/// A path between two hosts loses its routers and its interfaces, and the other path goes.
#[test]
fn networks_become_two_hosts_and_a_link() {
    let leads = |table: &Table| {
        let link = |link: &Value| match (link.get("ends"), link.get("rate")) {
            (Some(Value::Array(ends)), Some(_)) => {
                let name = |i: usize| ends.get(i).and_then(Value::as_str).unwrap_or_default();
                let host = |i: usize| name(i).split('.').next().map(str::to_owned);
                [host(0), host(1)] == [Some("a".into()), Some("b".into())]
            }
            _ => false,
        };
        let through = |item: &Table| item.to_string().contains("\"r\"");
        // Two links over the router, or one without.
        through(table) && table.to_string().matches("\"r\"").count() >= 3
            || table.get("links").and_then(Value::as_array).is_some_and(|all| all.iter().any(link))
    };
    let left: Table = reduced(leads).parse().expect("TOML");
    assert_eq!(left.get("routers"), None, "{left}");
    assert_eq!(left["links"].as_array().map(Vec::len), Some(1), "{left}");
}

/// Of attacks and ports one is left, with what it needs; the attacker's only interface is named no
/// more.
#[test]
fn attacks_and_ports_become_few_and_small() {
    let text = r#"
        hosts = ["a", { name = "m", interfaces = ["i0"] }]
        links = [{ ends = ["m.i0", "a"], rate = "1 bit/s" }]
        [[listen]]
        host = "a"
        port = 80
        cookies = "off"
        [[listen]]
        host = "a"
        port = 81
        [[attacks]]
        name = "x"
        kind = "syn-flood"
        from = "m.i0"
        per_second = 1234
        [[attacks]]
        name = "y"
        kind = "option-bomb"
        from = "m.i0"
    "#;
    let of = |table: &Table, field: &str, n: usize, name: &str| {
        table.get(field)?.get(n)?.get(name).cloned()
    };
    let fails = |table: &Table| {
        let is_flood = of(table, "attacks", 0, "kind") == Some("syn-flood".into());
        let rate = of(table, "attacks", 0, "per_second").and_then(|rate| rate.as_integer());
        let from = of(table, "attacks", 0, "from");
        let link = || Some(table.get("links")?.get(0)?.get("ends")?.get(0)?.clone());
        is_flood && rate >= Some(100) && from.is_some() && from == link()
    };
    let table = text.parse().expect("TOML");
    let small = reduce(table, 10_000, |item| fails(item).then_some(())).expect("it fails");
    assert_eq!(small.get("listen"), None, "{small}");
    assert_eq!(small["attacks"].as_array().map(Vec::len), Some(1), "{small}");
    assert_eq!(of(&small, "attacks", 0, "from"), Some("m".into()), "{small}");
    let rate = of(&small, "attacks", 0, "per_second").and_then(|rate| rate.as_integer());
    assert_eq!(rate, Some(100), "{small}");
}

#[test]
fn what_does_not_fail_is_left_as_it_is() {
    let table: Table = TEXT.parse().expect("TOML");
    assert_eq!(reduce(table, 100, |_| None), None);
}
