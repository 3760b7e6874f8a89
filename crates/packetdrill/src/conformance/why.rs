//! Why our stacks fail scripts: the reasons that docs/conformance.md gives.

/// The end of a script's path, and why our stack does otherwise.
const REASONS: [(&str, &str); 16] = [
    (
        "mtu_probe/basic-v4.pkt",
        "the route's MTU grows during the connection: the highest size that is searched stays what the \
         route had when it opened (RFC 4821 §7.2)",
    ),
    (
        "slow_start/slow-start-fq-ack-per-2pkt.pkt",
        "the credit of Linux's queue discipline fq after a late packet, half a quantum, is not modelled",
    ),
    (
        "sctp-d-tests/sctp-d-v-8-9.pkt",
        "by RFC 4960 §7.2.1 the window grows only with the Cumulative TSN Ack Point; RFC 9260 §7.2.1 has \
         dropped that",
    ),
    (
        "bsd/sctp/sctp_icmp_passive.pkt",
        "it expects an INIT ACK without ECN and extensions, which its suite has switched off outside of the script",
    ),
    (
        "notifications/sctp_notifications_stopped_event.pkt",
        "it says itself that no implementation sends this notification",
    ),
    (
        "sctp_reconfig/reset_incoming_ssn_passiv.pkt",
        "the order of the two chunks is free (RFC 6525 §3.1), and ours names the one stream that is reset",
    ),
    (
        "sctp_reconfig/sctp_reset_assoc_event.pkt",
        "the peer's next TSN is what its response says, 1 (RFC 6525 §4.4, §6.1.2), not 2",
    ),
    (
        "limited-retransmission/sender-side-implementation-11.pkt",
        "FreeBSD does not bundle the two chunks, which the script itself calls less than optimal",
    ),
    (
        "limited-retransmission/sender-side-implementation-7.pkt",
        "it expects a retransmission 100 ms after the first transmission, before T3-rtx expires (RFC 9260 §6.3.3)",
    ),
    ("limited-retransmission/sender-side-implementation-1.pkt", ONE_PACKET),
    ("limited-retransmission/sender-side-implementation-1_2.pkt", ONE_PACKET),
    ("limited-retransmission/sender-side-implementation-2.pkt", ONE_PACKET),
    ("ttl-policy/sender-side-implementation-2.pkt", ONE_PACKET),
    (
        "ttl-policy/shutdown-4.pkt",
        "a round-trip sample ends the back-off of the timer (RFC 9260 §6.3.1), so that it expires earlier",
    ),
    (
        "error-cases/i-forward-tsn-tlv-too-short.pkt",
        "after its own ABORT there is no association: a SHUTDOWN gets an ABORT (RFC 9260 §8.4)",
    ),
    (
        "handshake-with-i-forward-tsn/handshake-with-i-forward-tsn-9.pkt",
        "with I-DATA there is no FORWARD-TSN (RFC 8260 §2.3), and the peer does not offer I-FORWARD-TSN",
    ),
];

const ONE_PACKET: &str = "after T3-rtx one packet is in flight until data is acknowledged (RFC 9260 §7.2.3): what was given \
                          up is not; FreeBSD sends as much as the window of one MTU lets begin";

/// Why our stack fails the script at `path`; nothing where nobody has looked.
pub(super) fn why(path: &str) -> &'static str {
    let known = REASONS.iter().find(|(end, _)| path.ends_with(end));
    known.map_or("", |(_, reason)| reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_belongs_to_the_end_of_a_path() {
        assert!(why("gtests/net/tcp/mtu_probe/basic-v4.pkt").contains("RFC 4821"));
        assert_eq!(why("gtests/net/tcp/mtu_probe/basic-v6.pkt"), "");
    }
}
