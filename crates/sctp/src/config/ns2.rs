//! These settings say what the module of ns-2.35 does at losses.

/// `Ns2Rules` are what the module of ns-2.35 (University of Delaware) does at losses and the RFCs
/// do not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ns2Rules {
    /// True: the association has one recovery point, the highest TSN sent at the last reduction.
    /// Timeouts leave it alone: no window grows before it is cumulatively acknowledged, and only
    /// the loss of a later chunk reduces one. Else fast recovery is a path's own and ends with its
    /// timeout (RFC 9260 §7.2.4 is silent; Linux agrees).
    pub recovery_point: bool,
    /// True: chunks that T3-rtx has marked and that wait to be sent again count as outstanding
    /// where it is judged whether a window is used up, and are reported missing like others: a fast
    /// retransmit may come before they have left. RFC 9260 §6.3.3 E3 marks them, and they are not
    /// in flight.
    pub marked_outstanding: bool,
    /// True: a SACK that finds chunks missing lets one packet of retransmissions leave; what else
    /// is marked waits for the next SACK, and new data for that.
    pub one_packet: bool,
    /// True: INIT is sent again to the primary path. False: the addresses take turns, and with
    /// [`Config::keep_primary`](crate::Config::keep_primary) the one whose INIT was answered is the
    /// primary.
    pub init_to_primary: bool,
    /// True: what was newly acknowledged last is remembered until more is: SACKs with nothing new
    /// report chunks below it missing, too. RFC 9260 §7.2.4 looks at each SACK alone.
    pub remembers_highest: bool,
    /// True: after a timeout of any path one packet leaves, and nothing else on any path before a
    /// SACK comes, whatever that acknowledges. RFC 9260 §7.2.3 bounds the path that timed out, to
    /// one packet in flight until something that went there is acknowledged.
    pub timeout_stops_all: bool,
    /// True: what is sent again finds the window of a path that has rested as it was; only new data
    /// lets it decay first. RFC 9260 §7.2.1 makes no difference.
    pub repair_finds_rest: bool,
}

impl Default for Ns2Rules {
    /// The default has all of the rules.
    fn default() -> Ns2Rules {
        Ns2Rules {
            recovery_point: true,
            marked_outstanding: true,
            one_packet: true,
            init_to_primary: true,
            remembers_highest: true,
            timeout_stops_all: true,
            repair_finds_rest: true,
        }
    }
}
