//! An association between addresses of IPv4 and of IPv6 (RFC 9260 §5.1.2).

use super::{delivered, dual_path, flow, play};
use crate::frames::{captured, summary};
use anabranch_scenario::Scenario;

/// `text` with `y` of both hosts over IPv6.
fn dual(text: &str) -> String {
    let interfaces = "interfaces = [\"x\", { name = \"y\", ip = 6 }]";
    let text = text.replace("interfaces = [\"x\", \"y\"]", interfaces);
    assert_eq!(text.matches("ip = 6").count(), 2);
    text
}

const OUTAGE: &str = "{ kind = \"outage\", intervals = [{ at = \"1 s\", for = \"1 h\" }] }";

/// Chunks are as large as the smaller of both paths' packets lets them be (RFC 9260
/// §2.3, AMDCS), so that one that moves to the other path fits it.
#[test]
fn the_transfer_goes_on_over_the_other_family() {
    let fields = "size = \"1 MB\"\noctets = true\n";
    for (primary, cut) in [("x", [OUTAGE, ""]), ("y", ["", OUTAGE])] {
        let sctp = format!(
            "sctp = {{ primary = \"b.{primary}\", path_max_retrans = 1, rto = {{ min = \"200 ms\" }} }}"
        );
        let flow = flow(&format!("{fields}{sctp}"));
        let (result, frames) = captured(&dual(&dual_path(cut[0], cut[1], &flow)));
        let row = &result.flows[0];
        assert_eq!((row.bytes, row.wrong_octets), (1_000_000, 0), "{primary}");
        for (link, version, most) in [("s0-b-x", 4, 1480), ("s1-b-y", 6, 1500)] {
            let (versions, longest, _) = summary(&frames, link);
            assert_eq!((versions, longest), (vec![version], most), "{primary} {link}");
        }
        for link in &result.links {
            let (_, _, octets) = summary(&frames, &link.name);
            assert_eq!(octets, link.counters.bytes_delivered, "{}", link.name);
        }
        let [first, second] = delivered(&result);
        assert!(first > 100 && second > 100, "{primary}: {first} {second}");
    }
}

/// The INIT and the INIT ACK carry both (parameters 5 and 6).
#[test]
fn addresses_of_both_families_are_told() {
    let text = dual(&dual_path("", "", &flow("size = \"100 kB\"")));
    let (_, frames) = captured(&text);
    let told = |link: &str, chunk: u8| {
        let mut on_link = frames.iter().filter(|(name, _)| name == link).map(|(_, ip)| &ip[20..]);
        let octets = on_link.find(|sctp| sctp[12] == chunk).expect("a chunk");
        // Header of 12 octets, chunk of 20, parameters.
        let (mut at, mut kinds) = (32, Vec::new());
        while at < octets.len() {
            kinds.push(u16::from_be_bytes([octets[at], octets[at + 1]]));
            let len = u16::from_be_bytes([octets[at + 2], octets[at + 3]]) as usize;
            at += len.next_multiple_of(4);
        }
        kinds
    };
    for (link, chunk) in [("a-x-r0", 1), ("b-x-s0", 2)] {
        let kinds = told(link, chunk);
        assert!(kinds.contains(&5) && kinds.contains(&6), "{link}: {kinds:?}");
    }
}

/// Nothing of a peer's family leads to an address of the other one: it stays out
/// where nobody names it, and is an error where somebody does.
#[test]
fn addresses_that_the_other_host_cannot_reach_stay_out() {
    let link = |end: &str| {
        format!("{{ ends = [\"{end}\", \"r\"], rate = \"10 Mbit/s\", delay = \"5 ms\" }},")
    };
    let links: String = ["a", "b.x", "b.y"].iter().map(|end| link(end)).collect();
    let text = |flow: &str| {
        format!(
            "hosts = [\"a\", {{ name = \"b\", interfaces = [\"x\", {{ name = \"y\", ip = 6 }}] }}]\n\
             routers = [\"r\"]\nlinks = [{links}]\n{flow}"
        )
    };
    let result = play(&text(&flow("size = \"100 kB\"")));
    assert_eq!(result.flows[0].bytes, 100_000);
    assert!(result.paths.iter().all(|path| path.to == "b.x"), "{:?}", result.paths);
    let error = |fields: &str| {
        let flow = flow(&format!("size = \"1 MB\"\n{fields}"));
        Scenario::from_toml(&text(&flow), "t").unwrap_err().to_string()
    };
    let said = error("sctp = { alternates = [\"b.y\"] }");
    let expected = "field `flows[0].sctp.alternates`: value `b.y`: allowed: interfaces that links \
                    lead to from an interface of the other host with an address of their family";
    assert!(said.contains(expected), "{said}");
    let said = error("sctp = { primary = \"b.y\" }");
    assert!(said.contains("none leads from a to any host over IPv4") || said.contains("b.x"));
}
