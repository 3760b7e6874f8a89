//! What a scenario may say, but hardly means: said once, before the run.

use crate::graph::Graph;
use crate::schema::{Direction, FlowSpec, LinkSpec, Protocol};
use crate::{Scenario, multihoming};
use anabranch_units::Span;
use std::fmt;

/// A field whose value is allowed and likely to do harm, or nothing at all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Warning {
    /// Path of the field, like `links[0].regulator.max_delay`.
    pub field: String,
    /// What will come of the value.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "field `{}`: {}", self.field, self.message)
    }
}

impl Scenario {
    /// Returns a warning for each value that is allowed, but hardly meant.
    pub fn warnings(&self) -> Vec<Warning> {
        regulators(self)
    }
}

/// A direction with a regulator, and what is known of the flows that cross it.
struct Regulated<'a> {
    /// Path of the regulator's field.
    field: String,
    way: &'a Direction,
    from: usize,
    to: usize,
    crossed: bool,
    /// The first flow that may time out while its ACKs are held.
    times_out: Option<(&'a str, Span)>,
}

/// Regulators without ACKs to hold, and such as hold them for longer than a
/// flow waits before it sends again.
fn regulators(scenario: &Scenario) -> Vec<Warning> {
    let regulated =
        |link: &LinkSpec| link.forward.regulator.is_some() || link.reverse.regulator.is_some();
    if !scenario.links.iter().any(regulated) {
        return Vec::new();
    }
    let graph = Graph::new(scenario);
    let node = |name: &str| graph.node(name).expect("names are checked");
    let mut list = Vec::new();
    for (i, link) in scenario.links.iter().enumerate() {
        let [a, b] = [node(&link.ends[0]), node(&link.ends[1])];
        for (field, way, from, to) in
            [("regulator", &link.forward, a, b), ("reverse.regulator", &link.reverse, b, a)]
        {
            if way.regulator.is_some() {
                let field = format!("links[{i}].{field}");
                list.push(Regulated { field, way, from, to, crossed: false, times_out: None });
            }
        }
    }
    let least = scenario.flows.iter().map(min_rto).min().unwrap_or(Span::MAX);
    for flow in &scenario.flows {
        let open = |regulated: &Regulated<'_>| {
            !regulated.crossed
                || regulated.times_out.is_none() && regulated.longest().is_some_and(|d| d >= least)
        };
        if !list.iter().any(open) {
            break;
        }
        let ends = multihoming::ends(&graph, flow, "").expect("checked when it was read");
        let forth = ends.from_client.iter().map(|(to, from)| (*from, *to));
        let back = ends.from_server.iter().map(|(to, from)| (*from, *to));
        let forth = forth.filter(|_| flow.sends());
        for (from, to) in forth.chain(back.filter(|_| flow.answers())) {
            let hops = [graph.hops_from(from), graph.hops_from(to)];
            for item in &mut list {
                let (before, after) = (hops[0][item.from], hops[1][item.to]);
                let known = before != u32::MAX && after != u32::MAX;
                if !known || before + 1 + after != hops[0][to] {
                    continue;
                }
                item.crossed = true;
                let wait = min_rto(flow);
                if item.times_out.is_none() && item.longest().is_some_and(|delay| delay >= wait) {
                    item.times_out = Some((&flow.name, wait));
                }
            }
        }
    }
    let mut out = Vec::new();
    for item in list {
        if !item.crossed {
            let message = "no flow sends data this way, so there are no ACKs to hold".to_owned();
            out.push(Warning { field: item.field.clone(), message });
        }
        if let (Some((flow, wait)), Some(delay)) = (item.times_out, item.longest()) {
            let message = format!(
                "ACKs are held for up to {delay}, not less than the least retransmission timeout \
                 of the flow {flow}, {wait}: what has arrived may be sent again"
            );
            out.push(Warning { field: format!("{}.max_delay", item.field), message });
        }
    }
    out
}

impl Regulated<'_> {
    fn longest(&self) -> Option<Span> {
        self.way.regulator.as_ref()?.longest_delay()
    }
}

fn min_rto(flow: &FlowSpec) -> Span {
    match &flow.protocol {
        Protocol::Tcp(config) => config.rto.min,
        Protocol::Sctp(spec) => spec.config.rto.min,
        Protocol::Mptcp(config) => config.subflow.rto.min,
        // It sends nothing again.
        Protocol::Udp(_) => Span::MAX,
    }
}

impl FlowSpec {
    /// Data goes from `from` to `to`.
    fn sends(&self) -> bool {
        self.size != Some(0)
    }

    /// Data goes from `to` to `from`.
    fn answers(&self) -> bool {
        self.reverse_size.is_some() || self.is_two_way() || self.workload.asks()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warnings(regulator: &str, tcp: &str) -> Vec<String> {
        let text = format!(
            r#"
            hosts = ["a", "b", "c"]
            routers = ["r", "s"]
            [[links]]
            ends = ["r", "s"]
            rate = "10 Mbit/s"
            delay = "10 ms"
            {regulator}
            [[links]]
            ends = ["a", "r"]
            rate = "10 Mbit/s"
            delay = "1 ms"
            [[links]]
            ends = ["s", "b"]
            rate = "10 Mbit/s"
            delay = "1 ms"
            [[links]]
            ends = ["c", "r"]
            rate = "10 Mbit/s"
            delay = "1 ms"
            [[flows]]
            name = "near"
            from = "c"
            to = "a"
            size = "1 MB"
            [[flows]]
            name = "f"
            from = "a"
            to = "b"
            size = "1 MB"
            tcp = {{ {tcp} }}
            "#
        );
        let scenario = Scenario::from_toml(&text, "w.toml").unwrap_or_else(|e| panic!("{e}"));
        scenario.warnings().iter().map(Warning::to_string).collect()
    }

    const LINEAR: &str = "regulator = { law = \"threshold-linear\", max_delay = \"200 ms\" }";
    const RTO: &str =
        "rto = { initial = \"1 s\", min = \"200 ms\", max = \"60 s\", granularity = \"1 ms\" }";

    #[test]
    fn a_delay_that_reaches_the_least_timeout_of_a_crossing_flow() {
        assert_eq!(warnings("", RTO), [""; 0]);
        assert_eq!(warnings(LINEAR, ""), [""; 0]);
        assert_eq!(
            warnings(LINEAR, RTO),
            ["field `links[0].regulator.max_delay`: ACKs are held for up to 0.2 s, not less than \
              the least retransmission timeout of the flow f, 0.2 s: what has arrived may be sent \
              again"]
        );
        // The bucket has no longest delay.
        assert_eq!(warnings("regulator = { law = \"ack-bucket\" }", RTO), [""; 0]);
    }

    #[test]
    fn a_regulator_that_no_data_crosses() {
        let way_back = format!("reverse = {{ {LINEAR} }}");
        let expected = "field `links[0].reverse.regulator`: no flow sends data this way, so there \
                        are no ACKs to hold";
        assert_eq!(warnings(&way_back, RTO), [expected]);
    }
}
