//! Connection states.

/// The states of RFC 9293 §3.3.2.
///
/// ```text
///                          +---------+
///                          |  CLOSED |
///            passive OPEN  +---------+  active OPEN: snd SYN
///               +---------------+ +---------------+
///               V                                 V
///          +---------+                       +---------+
///          |  LISTEN | --- rcv SYN: ---+     |SYN-SENT |
///          +---------+   snd SYN,ACK   |     +---------+
///                                      V          |  rcv SYN: snd SYN,ACK (simultaneous)
///                                 +----------+ <--+
///                                 | SYN-RCVD |    |  rcv SYN,ACK: snd ACK
///                                 +----------+    |
///                     rcv ACK of SYN  |           |
///                                     V           V
///                                    +-------------+
///       CLOSE: snd FIN  +----------- | ESTABLISHED | -----------+  rcv FIN: snd ACK
///                       V            +-------------+            V
///                 +-----------+                            +----------+
///                 | FIN-WAIT-1| --- rcv FIN: snd ACK --+   |CLOSE-WAIT|
///                 +-----------+                        |   +----------+
///  rcv ACK of FIN       |                              V        |  CLOSE: snd FIN
///                       V                        +---------+    V
///                 +-----------+                  | CLOSING |  +----------+
///                 | FIN-WAIT-2|                  +---------+  | LAST-ACK |
///                 +-----------+   rcv ACK of FIN     |        +----------+
///          rcv FIN      |                            V             |  rcv ACK of FIN
///          snd ACK      +----------------------> +-----------+     V
///                                                | TIME-WAIT | --> CLOSED
///                                                +-----------+  2 MSL
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// There is no connection.
    Closed,
    /// Waiting for a peer's SYN.
    Listen,
    /// A SYN was sent, and no SYN has come.
    SynSent,
    /// SYN received, SYN-ACK sent.
    SynReceived,
    /// The handshake is complete; data flows both ways.
    Established,
    /// FIN sent (or queued behind data), not yet acknowledged.
    FinWait1,
    /// FIN acknowledged; the peer may still send.
    FinWait2,
    /// The peer's FIN was received; this side may still send.
    CloseWait,
    /// Both FINs crossed; ours is not acknowledged.
    Closing,
    /// The peer's FIN was received, ours is sent.
    LastAck,
    /// Both closed; old segments may still arrive.
    TimeWait,
}

impl std::fmt::Display for State {
    /// Writes the state's name as in RFC 9293.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            State::Closed => "CLOSED",
            State::Listen => "LISTEN",
            State::SynSent => "SYN-SENT",
            State::SynReceived => "SYN-RECEIVED",
            State::Established => "ESTABLISHED",
            State::FinWait1 => "FIN-WAIT-1",
            State::FinWait2 => "FIN-WAIT-2",
            State::CloseWait => "CLOSE-WAIT",
            State::Closing => "CLOSING",
            State::LastAck => "LAST-ACK",
            State::TimeWait => "TIME-WAIT",
        })
    }
}

impl State {
    /// Both SYNs are acknowledged: data can be sent and received.
    pub fn is_synchronized(self) -> bool {
        !matches!(self, State::Closed | State::Listen | State::SynSent | State::SynReceived)
    }
    /// The peer has not ended its stream.
    pub fn can_receive(self) -> bool {
        matches!(self, State::Established | State::FinWait1 | State::FinWait2)
    }
    /// A CLOSE was received from the user: the FIN is sent or queued.
    pub fn is_closing(self) -> bool {
        matches!(self, State::FinWait1 | State::Closing | State::LastAck)
    }
}
