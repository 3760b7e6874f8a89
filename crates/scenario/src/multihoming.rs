//! Finds which interfaces the two ends of a flow use, and which of them stand
//! at the two ends of each path.

use crate::InputError;
use crate::graph::Graph;
use crate::mobile;
use crate::schema::{FlowSpec, Protocol, Scenario};

/// The interfaces of a flow, by their numbers in the graph. The first of each
/// side are those of the primary path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Ends {
    pub client: Vec<usize>,
    pub server: Vec<usize>,
    /// Each interface of the server, those that come later too, with the one
    /// that the client's packets to it leave from.
    pub from_client: Vec<(usize, usize)>,
    /// Each interface of the client, with the one that the server's packets to it leave from.
    pub from_server: Vec<(usize, usize)>,
}

/// The interfaces of the primary path, if the names are known. A host over
/// SCTP or MPTCP means its first interface that leads to the other end.
pub(crate) fn primary(graph: &Graph<'_>, flow: &FlowSpec) -> Option<[usize; 2]> {
    let from = graph.interface(&flow.from)?;
    let to = match &flow.protocol {
        Protocol::Tcp(_) | Protocol::Udp(_) => return Some([from, graph.interface(&flow.to)?]),
        Protocol::Sctp(sctp) => graph.interface(sctp.primary.as_ref().unwrap_or(&flow.to))?,
        Protocol::Mptcp(_) => graph.interface(&flow.to)?,
    };
    let is_host = graph.owner(from) == flow.from;
    let leading = graph.siblings(from).find(|sibling| is_host && graph.reaches(*sibling, to));
    Some([leading.unwrap_or(from), to])
}

/// Spells out the alternates of SCTP flows that name none: all other
/// interfaces of both hosts. Flows with wrong names are left to
/// [`interfaces`], which tells what is wrong.
pub(crate) fn complete(scenario: &mut Scenario) {
    let graph = Graph::new(scenario);
    let all = |flow: &FlowSpec| -> Option<Vec<String>> {
        let Protocol::Sctp(sctp) = &flow.protocol else { return None };
        let ends = primary(&graph, flow)?;
        let others = ends
            .into_iter()
            .flat_map(|first| graph.siblings(first).filter(move |other| *other != first));
        // Of those that are there at first, where others come later, the ones that lead to
        // another that is.
        let at_first = |node: &usize| !sctp.comes_later(&graph.names()[*node]);
        // Of both families, those that the other host has too.
        let family = |node: &usize| {
            let other = if graph.owner(*node) == graph.owner(ends[0]) { ends[1] } else { ends[0] };
            graph.siblings(other).any(|peer| graph.family(peer) == graph.family(*node))
        };
        let leads = |node: &usize| {
            let other = if graph.owner(*node) == graph.owner(ends[0]) { ends[1] } else { ends[0] };
            let mut peers = graph.siblings(other).filter(at_first);
            sctp.address_changes.is_empty() || peers.any(|peer| graph.reaches(*node, peer))
        };
        let others = others.filter(at_first).filter(family).filter(leads);
        Some(others.map(|node| graph.names()[node].clone()).collect())
    };
    let all: Vec<_> = scenario.flows.iter().map(all).collect();
    for (flow, all) in scenario.flows.iter_mut().zip(all) {
        if let (Protocol::Sctp(sctp), Some(all)) = (&mut flow.protocol, all) {
            sctp.alternates.get_or_insert(all);
        }
    }
}

/// The interfaces of both sides of the flow at `path`, whose `from` and `to`
/// are interfaces of two hosts; the first of each are those of the primary
/// path.
pub(crate) fn interfaces(
    graph: &Graph<'_>,
    flow: &FlowSpec,
    path: &str,
) -> Result<[Vec<usize>; 2], InputError> {
    let known = |name: &str| graph.interface(name).expect("checked before");
    let (from, to) = (known(&flow.from), known(&flow.to));
    let sctp = match &flow.protocol {
        Protocol::Tcp(_) | Protocol::Udp(_) => return Ok([vec![from], vec![to]]),
        Protocol::Sctp(sctp) => sctp,
        Protocol::Mptcp(_) => {
            // All interfaces, the first path's before the others.
            let ends = primary(graph, flow).expect("checked before");
            let all = |end: usize| {
                let others = graph.siblings(end).filter(move |other| *other != end);
                std::iter::once(end).chain(others).collect()
            };
            return Ok(ends.map(all));
        }
    };
    let field = |name: &str| format!("{path}.sctp.{name}");
    let of = |end: usize| {
        let names = graph.siblings(end).map(|node| graph.names()[node].as_str());
        names.collect::<Vec<_>>().join(", ")
    };
    if let Some(name) = &sctp.primary {
        let node = graph.interface(name).filter(|node| graph.owner(*node) == graph.owner(to));
        let is_host = graph.owner(to) == flow.to;
        if node.filter(|node| is_host || *node == to).is_none() {
            let allowed = match is_host {
                true => format!("an interface of `to`: {}", of(to)),
                false => format!("the interface that `to` names, {}", flow.to),
            };
            return Err(InputError::field(field("primary"), name, allowed));
        }
    }
    let ends = primary(graph, flow).expect("checked before");
    let mut sides = ends.map(|end| vec![end]);
    for (i, name) in sctp.alternates.iter().flatten().enumerate() {
        let owner = graph.interface(name).map(|node| (node, graph.owner(node)));
        let side = owner.and_then(|(node, owner)| {
            let side = ends.iter().position(|end| graph.owner(*end) == owner)?;
            (!sides[side].contains(&node)).then_some((side, node))
        });
        let (side, node) = side.ok_or_else(|| {
            let all = format!("{}, {}", of(from), of(to));
            let allowed = format!("other interfaces of `from` and `to`, each once: {all}");
            InputError::field(field(&format!("alternates[{i}]")), name, allowed)
        })?;
        sides[side].push(node);
    }
    Ok(sides)
}

/// The interfaces of the flow at `path` and the paths between them.
pub(crate) fn ends(graph: &Graph<'_>, flow: &FlowSpec, path: &str) -> Result<Ends, InputError> {
    let [client, server] = interfaces(graph, flow, path)?;
    if let Protocol::Mptcp(config) = &flow.protocol {
        return Ok(subflows(graph, client, server, config));
    }
    let pairs = |own: &[usize], peers: &[usize]| -> Result<Vec<_>, InputError> {
        let source = |(i, peer): (usize, &usize)| {
            let usual = own[i % own.len()];
            let mut all = std::iter::once(usual).chain(own.iter().copied());
            let own = all.find(|own| graph.reaches(*own, *peer));
            own.map(|own| (*peer, own)).ok_or_else(|| {
                let name = &graph.names()[*peer];
                let allowed = "interfaces that links lead to from an interface of the other host \
                               with an address of their family";
                InputError::field(format!("{path}.sctp.alternates"), name, allowed)
            })
        };
        peers.iter().enumerate().map(source).collect()
    };
    let (mut from_client, mut from_server) = (pairs(&client, &server)?, pairs(&server, &client)?);
    let later = mobile::later(graph, flow, [&client, &server], path)?;
    from_client.extend(&later[0]);
    from_server.extend(&later[1]);
    Ok(Ends { client, server, from_client, from_server })
}

/// What the path manager joins, as far as links lead there; on the wire the
/// subflows have their addresses from the engine.
fn subflows(
    graph: &Graph<'_>,
    client: Vec<usize>,
    server: Vec<usize>,
    config: &anabranch_mptcp::Config,
) -> Ends {
    let wanted = config.path_manager.wanted(client.len(), server.len());
    let theirs = config.passive_path_manager.wanted(server.len(), client.len());
    let others = wanted.iter().map(|wanted| (client[wanted.own], server[wanted.peer]));
    let others = others.chain(theirs.iter().map(|their| (client[their.peer], server[their.own])));
    let mut pairs: Vec<_> = std::iter::once((client[0], server[0])).chain(others).collect();
    pairs.retain(|(from, to)| graph.reaches(*from, *to));
    let from_client = pairs.iter().map(|(from, to)| (*to, *from)).collect();
    Ends { client, server, from_client, from_server: pairs }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Scenario;

    /// a and b with two interfaces each; x joins x and y joins y, c reaches
    /// both of b.
    fn read(flow: &str) -> Result<(Scenario, Vec<Ends>), String> {
        let link = "rate = \"1 Mbit/s\", delay = \"1 ms\"";
        let text = format!(
            r#"
            hosts = [{{ name = "a", interfaces = ["x", "y"] }},
                     {{ name = "b", interfaces = ["x", "y"] }}, "c"]
            routers = ["r"]
            links = [{{ ends = ["a.x", "b.x"], {link} }}, {{ ends = ["a.y", "b.y"], {link} }},
                     {{ ends = ["c", "r"], {link} }}, {{ ends = ["r", "b.x"], {link} }},
                     {{ ends = ["r", "b.y"], {link} }}]
            flows = [{{ name = "f", size = "1 MB", protocol = "sctp", {flow} }}]
            "#
        );
        let scenario = Scenario::from_toml(&text, "t").map_err(|e| e.to_string())?;
        let graph = Graph::new(&scenario);
        let ends = ends(&graph, &scenario.flows[0], "flows[0]").map_err(|e| e.to_string())?;
        drop(graph);
        Ok((scenario, vec![ends]))
    }

    /// Each path as `LOCAL-REMOTE`, of the client and of the server.
    fn paths(flow: &str) -> [String; 2] {
        let (scenario, ends) = read(flow).unwrap();
        let graph = Graph::new(&scenario);
        [&ends[0].from_client, &ends[0].from_server].map(|pairs| {
            let name = |node: usize| graph.names()[node].as_str();
            let pairs = pairs.iter().map(|(to, own)| format!("{}-{}", name(*own), name(*to)));
            pairs.collect::<Vec<_>>().join(" ")
        })
    }

    #[test]
    fn paths_join_interfaces_that_links_join() {
        for (flow, client, server) in [
            (r#"from = "a", to = "b""#, "a.x-b.x a.y-b.y", "b.x-a.x b.y-a.y"),
            (r#"from = "a", to = "b.y""#, "a.y-b.y a.x-b.x", "b.y-a.y b.x-a.x"),
            (
                r#"from = "a", to = "b", sctp = { primary = "b.y" }"#,
                "a.y-b.y a.x-b.x",
                "b.y-a.y b.x-a.x",
            ),
            (r#"from = "a", to = "b", sctp = { alternates = [] }"#, "a.x-b.x", "b.x-a.x"),
            (r#"from = "c", to = "b""#, "c-b.x c-b.y", "b.x-c"),
            (r#"from = "b", to = "c""#, "b.x-c", "c-b.x c-b.y"),
            (r#"from = "c", to = "b", sctp = { alternates = [] }"#, "c-b.x", "b.x-c"),
        ] {
            assert_eq!(paths(flow), [client, server], "{flow}");
        }
    }

    #[test]
    fn alternates_are_spelt_out() {
        let (scenario, _) = read(r#"from = "a", to = "b""#).unwrap();
        let resolved = scenario.resolved_toml();
        assert!(resolved.contains(r#"alternates = ["a.y", "b.y"]"#), "{resolved}");
    }

    #[test]
    fn wrong_interfaces_are_named() {
        for (flow, expected) in [
            (
                r#"from = "a", to = "b", sctp = { primary = "a.y" }"#,
                "field `flows[0].sctp.primary`: value `a.y`: allowed: an interface of `to`: b.x, b.y",
            ),
            (
                r#"from = "a", to = "b.x", sctp = { primary = "b.y" }"#,
                "field `flows[0].sctp.primary`: value `b.y`: allowed: the interface that `to` names, b.x",
            ),
            (
                r#"from = "a", to = "b", sctp = { alternates = ["b.x"] }"#,
                "field `flows[0].sctp.alternates[0]`: value `b.x`: allowed: other interfaces of \
                 `from` and `to`, each once: a.x, a.y, b.x, b.y",
            ),
            (
                r#"from = "a", to = "b", sctp = { alternates = ["c"] }"#,
                "field `flows[0].sctp.alternates[0]`: value `c`: allowed: other interfaces",
            ),
            (
                r#"from = "a.x", to = "b.y""#,
                "field `flows[0].to`: value `b.y`: allowed: a host that links lead to from a.x: b.x",
            ),
            (
                r#"from = "a", to = "b", sctp = { alternates = ["b.y"] }"#,
                "field `flows[0].sctp.alternates`: value `b.y`: allowed: interfaces that links lead to",
            ),
        ] {
            let said = read(flow).unwrap_err();
            assert!(said.contains(expected), "{said}\n{expected}");
        }
    }
}
