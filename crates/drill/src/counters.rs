//! Counters of the network, by the names that `nstat` gives them.

use std::fs;

/// The counter of that name in the namespace of the calling thread, if there is
/// one.
pub(crate) fn read(name: &str) -> Option<u64> {
    ["netstat", "snmp", "snmp6"].iter().find_map(|file| {
        // Not /proc/net, which is that of the process.
        let text = fs::read_to_string(format!("/proc/thread-self/net/{file}")).ok()?;
        of_pairs(&text, name).or_else(|| of_lines(&text, name))
    })
}

/// `Group: name name...` above `Group: number number...`; `nstat` writes group and
/// name as one word.
fn of_pairs(text: &str, wanted: &str) -> Option<u64> {
    let lines: Vec<&str> = text.lines().collect();
    lines.windows(2).find_map(|pair| {
        let (group, names) = pair[0].split_once(':')?;
        let (same, numbers) = pair[1].split_once(':')?;
        let name = wanted.strip_prefix(group).filter(|_| group == same)?;
        let at = names.split_whitespace().position(|counter| counter == name)?;
        numbers.split_whitespace().nth(at)?.parse().ok()
    })
}

/// Finds a counter in lines of a name and a number.
fn of_lines(text: &str, wanted: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let (name, number) = line.split_once(char::is_whitespace)?;
        number.trim().parse().ok().filter(|_| name == wanted)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_found_by_the_names_of_nstat() {
        let netstat = "TcpExt: SyncookiesSent Lost\nTcpExt: 3 4\nMPTcpExt: Lost\nMPTcpExt: 5\n";
        for (name, number) in
            [("TcpExtSyncookiesSent", Some(3)), ("TcpExtLost", Some(4)), ("MPTcpExtLost", Some(5))]
        {
            assert_eq!(of_pairs(netstat, name), number, "{name}");
        }
        assert_eq!(of_pairs(netstat, "TcpExtWon"), None);
        assert_eq!(of_lines("Ip6InReceives  \t12\nIp6Out 1\n", "Ip6InReceives"), Some(12));
    }

    #[test]
    fn the_kernel_counts_segments() {
        assert!(read("TcpOutSegs").is_some());
        assert_eq!(read("TcpExtNothing"), None);
    }
}
