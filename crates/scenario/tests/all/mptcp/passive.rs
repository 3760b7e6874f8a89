//! Subflows that the host `to` opens.

use super::{flow, names, play, two_paths};
use anabranch_scenario::RunResult;

fn send(fields: &str, mptcp: &str) -> RunResult {
    let fields = format!("octets = true\n{fields}\nmptcp = {{ {mptcp} }}\n");
    play(&two_paths("", "", &flow(&fields)))
}

/// The rows of paths say which subflow: from 1 on those of the passive side.
#[test]
fn the_host_to_opens_subflows() {
    let meshed = "path_manager = \"single\", passive_path_manager = \"pairs\"";
    let result = send("size = \"5 MB\"", meshed);
    assert_eq!((result.flows[0].bytes, result.flows[0].wrong_octets), (5_000_000, 0));
    assert_eq!(names(&result.paths), [("a.x", "b.x", 0), ("a.y", "b.y", 1)]);
    assert!(result.paths.iter().all(|path| path.new_bytes > Some(1_000_000)), "{:?}", result.paths);
    // Where its data goes the other way, too.
    let result = send("size = \"0 B\"\nreverse_size = \"5 MB\"", meshed);
    assert_eq!(names(&result.paths), [("b.x", "a.x", 0), ("b.y", "a.y", 1)]);
    let ports = "path_manager = \"single\", \
                 passive_path_manager = { kind = \"n-diffports\", ports = 3 }";
    let result = send("size = \"1 MB\"", ports);
    let mut subflows: Vec<_> =
        result.paths.iter().map(|path| (&*path.from, path.subflow)).collect();
    subflows.sort_unstable();
    assert_eq!(subflows, [("a.x", 0), ("a.x", 2), ("a.x", 3)]);
}

/// Several flows between the same hosts keep to their own ports.
#[test]
fn flows_of_two_hosts_find_their_own_subflows() {
    let fields = "count = 3\nsize = \"1 MB\"";
    let result = send(fields, "path_manager = \"pairs\", passive_path_manager = \"full-mesh\"");
    assert_eq!(result.flows.len(), 3);
    for row in &result.flows {
        assert_eq!((row.bytes, row.wrong_octets, row.fallback), (1_000_000, 0, Some(false)));
        let its = result.paths.iter().filter(|path| path.flow == row.flow);
        assert_eq!(its.filter_map(|its| its.new_bytes).sum::<u64>(), 1_000_000);
    }
}
