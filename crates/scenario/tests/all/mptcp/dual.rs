//! A path of IPv4 and one of IPv6 (RFC 8684 §3.4: a connection's addresses may be of
//! both).

use super::{PAIRS, both_ways, flow, names, play, two_paths};
use crate::frames::{captured, summary};
use anabranch_scenario::{RunOptions, Scenario, run};

/// `text` with `y` of both hosts over IPv6.
fn dual(text: &str) -> String {
    let interfaces = "interfaces = [\"x\", { name = \"y\", ip = 6 }]";
    let text = text.replace("interfaces = [\"x\", \"y\"]", interfaces);
    assert_eq!(text.matches("ip = 6").count(), 2);
    text
}

/// Both paths fill packets of 1500 octets, of which IP has 20 or 40, and links
/// charge what stands on the wire to the octet.
#[test]
fn each_path_has_the_header_of_its_family() {
    let fields = format!("size = \"3 MB\"\noctets = true\n{PAIRS}");
    let (result, frames) = captured(&dual(&two_paths("", "", &flow(&fields))));
    let row = &result.flows[0];
    assert_eq!((row.bytes, row.wrong_octets), (3_000_000, 0));
    assert_eq!(names(&result.paths), [("a.x", "b.x", 0), ("a.y", "b.y", 0)]);
    for (link, version) in [(0, 4), (1, 4), (2, 6), (3, 6)] {
        let link = &result.links[link];
        let (versions, longest, octets) = summary(&frames, &link.name);
        assert_eq!(versions, [version], "{}", link.name);
        assert_eq!(octets, link.counters.bytes_delivered, "{}", link.name);
        // The other way are ACKs.
        assert_eq!(longest == 1500, link.name.len() == 1, "{}: {longest}", link.name);
    }
    let used = |i: usize| result.links[i].counters.bytes_delivered;
    assert!(used(0) > 1_000_000 && used(2) > 1_000_000);
}

/// The second address is announced, and joined, over the first path.
#[test]
fn either_family_may_be_first_and_either_may_die() {
    let cut = both_ways("{ kind = \"outage\", intervals = [{ at = \"1 s\", for = \"1 h\" }] }");
    let fields = format!("size = \"4 MB\"\noctets = true\n{PAIRS}");
    for ends in ["x", "y"].map(|item| format!("from = \"a.{item}\"\nto = \"b.{item}\"\n")) {
        for (first, second) in [(&*cut, ""), ("", &*cut)] {
            let flow = flow(&fields).replace("from = \"a\"\nto = \"b\"\n", &ends);
            let result = play(&dual(&two_paths(first, second, &flow)));
            let row = &result.flows[0];
            assert_eq!((row.bytes, row.wrong_octets, row.fallback), (4_000_000, 0, Some(false)));
            // 4 MB take 1.8 s over both paths and 3.5 s over one.
            let finish = row.finish_s.unwrap();
            assert!((2.5..5.0).contains(&finish), "{ends}: {finish} s");
        }
    }
}

/// A router joins everything: a mesh has two subflows of four, and none is tried
/// between addresses of two families.
#[test]
fn a_mesh_is_one_of_each_family() {
    let link = |end: &str| {
        format!("{{ ends = [\"{end}\", \"r\"], rate = \"10 Mbit/s\", delay = \"5 ms\" }},")
    };
    let links: String = ["a.x", "a.y", "b.x", "b.y"].iter().map(|end| link(end)).collect();
    let hosts = "hosts = [{ name = \"a\", interfaces = [\"x\", \"y\"] }, \
                 { name = \"b\", interfaces = [\"x\", \"y\"] }]";
    let head = format!("{hosts}\nrouters = [\"r\"]\nlinks = [{links}]\n");
    for (manager, subflows) in [("full-mesh", 2), ("backup", 2), ("signal", 1), ("single", 1)] {
        let mptcp = format!("mptcp = {{ path_manager = \"{manager}\" }}\nsize = \"1 MB\"\n");
        let result = play(&dual(&format!("{head}{}", flow(&mptcp))));
        assert_eq!(result.paths.len(), subflows, "{manager}: {:?}", names(&result.paths));
        assert_eq!(result.flows[0].bytes, 1_000_000, "{manager}");
    }
}

/// Behind a router a link of 1400 octets: of each family it says so in its own
/// words (RFC 792, RFC 4443 §3.2), and both subflows go on with packets that fill
/// the link.
#[test]
fn routers_speak_both_families() {
    let link = |ends: &str, mtu: u32| {
        format!("{{ ends = [{ends}], rate = \"10 Mbit/s\", delay = \"5 ms\", mtu = \"{mtu} B\" }},")
    };
    let links = [
        link("\"a.x\", \"r\"", 1500),
        link("\"a.y\", \"r\"", 1500),
        link("\"r\", \"s\"", 1400),
        link("\"s\", \"b.x\"", 1500),
        link("\"s\", \"b.y\"", 1500),
    ];
    let hosts = "hosts = [{ name = \"a\", interfaces = [\"x\", \"y\"] }, \
                 { name = \"b\", interfaces = [\"x\", \"y\"] }]";
    let fields = format!("size = \"2 MB\"\noctets = true\n{PAIRS}");
    let text = format!(
        "{hosts}\nrouters = [\"r\", \"s\"]\nicmp = true\nlinks = [{}]\n{}",
        links.concat(),
        flow(&fields)
    );
    let (result, frames) = captured(&dual(&text));
    assert_eq!((result.flows[0].bytes, result.flows[0].wrong_octets), (2_000_000, 0));
    for link in &result.links {
        let (_, longest, octets) = summary(&frames, &link.name);
        assert_eq!(octets, link.counters.bytes_delivered, "{}", link.name);
        if link.name == "r-s" {
            assert_eq!(longest, 1400);
        }
    }
    let says = |link: &str, start: &dyn Fn(&[u8]) -> bool| {
        frames.iter().any(|(name, ip)| name == link && start(ip))
    };
    // From 10.0.0.5 and fd00:616e:6162::5, fragmentation needed and packet too big.
    let router = "fd00:616e:6162::5".parse::<std::net::Ipv6Addr>().unwrap().octets();
    let of_ipv4 = |ip: &[u8]| ip[9] == 1 && ip[12..16] == [10, 0, 0, 5] && ip[20..22] == [3, 4];
    let of_ipv6 = |ip: &[u8]| ip[6] == 58 && ip[8..24] == router && ip[40..42] == [2, 0];
    assert!(says("r-a-x", &of_ipv4), "IPv4");
    assert!(says("r-a-y", &of_ipv6), "IPv6");
}

/// What is chosen is written down, and what is said stays.
#[test]
fn segments_fit_each_family_unless_they_are_said() {
    let of = |tcp: &str| {
        let text = dual(&two_paths("", "", &flow(&format!("size = \"1 MB\"\n{tcp}\n{PAIRS}"))));
        Scenario::from_toml(&text, "t").unwrap().resolved_toml()
    };
    let chosen = of("");
    assert!(chosen.contains("mss = \"1460 B\"") && chosen.contains("ipv6_mss = \"1440 B\""));
    assert!(chosen.contains(r#"interfaces = ["x", { ip = 6, name = "y" }]"#), "{chosen}");
    let said = of("tcp = { mss = \"1000 B\" }");
    assert!(said.contains("mss = \"1 kB\"") && !said.contains("ipv6_mss"), "{said}");
}

/// A host of one family alone has one path to one of both.
#[test]
fn a_host_of_one_family_has_what_both_have() {
    let link = |end: &str| {
        format!("{{ ends = [\"{end}\", \"r\"], rate = \"10 Mbit/s\", delay = \"5 ms\" }},")
    };
    for (ip, far, mss) in [(4, "b.x", "1460 B"), (6, "b.y", "1440 B")] {
        let links: String = ["a", "b.x", "b.y"].iter().map(|end| link(end)).collect();
        let text = format!(
            "hosts = [{{ name = \"a\", ip = {ip} }}, \
             {{ name = \"b\", interfaces = [\"x\", {{ name = \"y\", ip = 6 }}] }}]\n\
             routers = [\"r\"]\nlinks = [{links}]\n{}",
            flow("size = \"100 kB\"").replace("to = \"b\"", &format!("to = \"{far}\""))
        );
        let scenario = Scenario::from_toml(&text, "t").unwrap_or_else(|e| panic!("{e}"));
        assert!(scenario.resolved_toml().contains(&format!("mss = \"{mss}\"")), "{ip}");
        let result = run(&scenario, &RunOptions::default()).unwrap();
        assert_eq!(names(&result.paths), [("a", far, 0)]);
        assert_eq!(result.flows[0].bytes, 100_000);
    }
}
