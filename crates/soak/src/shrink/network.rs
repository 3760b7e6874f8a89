//! Smaller networks: routers that are passed over, interfaces that go with
//! their paths, hosts that nobody speaks to.

use toml::{Table, Value};

/// The table with its `n`-th reduction of the network.
pub(super) fn reductions(table: &Table, n: usize) -> Option<Table> {
    let routers = names(table, "routers");
    let interfaces = interfaces(table);
    let hosts = hosts(table);
    let mut n = n;
    for (i, of) in [routers, interfaces, hosts.clone(), hosts].into_iter().enumerate() {
        match of.get(n) {
            None => n -= of.len(),
            Some(name) => {
                let change = [pass_over, without_interface, with_one_interface, without_host][i];
                return Some(change(table.clone(), name));
            }
        }
    }
    None
}

/// The two links of a router become one, with the fields of the first or the second.
fn pass_over(mut table: Table, router: &str) -> Table {
    let Some(links) = list(&mut table, "links") else { return table };
    let at: Vec<usize> =
        (0..links.len()).filter(|i| ends(&links[*i]).iter().any(|end| end == router)).collect();
    match at[..] {
        [] => {}
        [only] => drop(links.remove(only)),
        [first, .., last] => {
            let other = |link: &Value| ends(link).into_iter().find(|end| end != router);
            // The link with less to say goes.
            let size = |i: usize| links[i].as_table().map_or(0, Table::len);
            let (gone, kept) = if size(first) < size(last) { (first, last) } else { (last, first) };
            let Some(far) = other(&links[gone]) else { return table };
            let ends = links[kept].get_mut("ends").and_then(Value::as_array_mut);
            for end in ends.into_iter().flatten() {
                if end.as_str() == Some(router) {
                    *end = far.clone().into();
                }
            }
            links.remove(gone);
        }
    }
    without_name(&mut table, "routers", router);
    table
}

/// The interface of this name goes at every host, with its links and routers that lead nowhere.
fn without_interface(mut table: Table, interface: &str) -> Table {
    for host in list(&mut table, "hosts").into_iter().flatten() {
        if let Some(all) = host.get_mut("interfaces").and_then(Value::as_array_mut) {
            all.retain(|item| name_of(item) != Some(interface));
        }
    }
    let gone = format!(".{interface}");
    if let Some(links) = list(&mut table, "links") {
        links.retain(|link| !ends(link).iter().any(|end| end.ends_with(&gone)));
    }
    prune(table)
}

/// A host with one interface needs no name for it.
fn with_one_interface(mut table: Table, host: &str) -> Table {
    let mut first = None;
    for item in list(&mut table, "hosts").into_iter().flatten() {
        if name_of(item) == Some(host)
            && let Some(fields) = item.as_table_mut()
            && let Some(Value::Array(all)) = fields.remove("interfaces")
        {
            first = all.first().and_then(name_of).map(|name| format!("{host}.{name}"));
        }
    }
    let Some(first) = first else { return table };
    let rename = |value: &mut Value| {
        if value.as_str() == Some(&first) {
            *value = host.into();
        }
    };
    for link in list(&mut table, "links").into_iter().flatten() {
        link.get_mut("ends").and_then(Value::as_array_mut).into_iter().flatten().for_each(rename);
    }
    for field in ["flows", "attacks"] {
        for item in list(&mut table, field).into_iter().flatten() {
            let ends = ["from", "to"].into_iter();
            ends.for_each(|end| item.get_mut(end).into_iter().for_each(rename));
        }
    }
    table
}

/// The host goes, with its links.
fn without_host(mut table: Table, host: &str) -> Table {
    if let Some(hosts) = list(&mut table, "hosts") {
        hosts.retain(|item| name_of(item) != Some(host));
    }
    let its = format!("{host}.");
    if let Some(links) = list(&mut table, "links") {
        links.retain(|link| !ends(link).iter().any(|end| end == host || end.starts_with(&its)));
    }
    prune(table)
}

/// Removes the routers at which no two links end.
fn prune(mut table: Table) -> Table {
    loop {
        let routers = names(&table, "routers");
        let Some(links) = list(&mut table, "links") else { return table };
        let all: Vec<String> = links.iter().flat_map(ends).collect();
        let lonely = |router: &&String| all.iter().filter(|item| item == router).count() < 2;
        let Some(gone) = routers.iter().find(lonely) else { return table };
        links.retain(|link| !ends(link).contains(gone));
        without_name(&mut table, "routers", gone);
    }
}

fn list<'a>(table: &'a mut Table, field: &str) -> Option<&'a mut Vec<Value>> {
    table.get_mut(field)?.as_array_mut()
}

fn without_name(table: &mut Table, field: &str, name: &str) {
    if let Some(all) = list(table, field) {
        all.retain(|item| item.as_str() != Some(name));
    }
}

/// A name, or the name in a table.
fn name_of(value: &Value) -> Option<&str> {
    value.as_str().or_else(|| value.get("name")?.as_str())
}

fn names(table: &Table, field: &str) -> Vec<String> {
    let all = table.get(field).and_then(Value::as_array);
    all.into_iter().flatten().filter_map(name_of).map(str::to_owned).collect()
}

fn hosts(table: &Table) -> Vec<String> {
    names(table, "hosts")
}

/// Names of interfaces, each once.
fn interfaces(table: &Table) -> Vec<String> {
    let mut all = Vec::new();
    for host in table.get("hosts").and_then(Value::as_array).into_iter().flatten() {
        if let Some(host) = host.as_table() {
            all.extend(names(host, "interfaces"));
        }
    }
    all.sort();
    all.dedup();
    all
}

fn ends(link: &Value) -> Vec<String> {
    let all = link.get("ends").and_then(Value::as_array);
    all.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}
