//! An association is in one of these states.

/// A `State` is one of those of RFC 9260 §4.
///
/// ```text
///                        +--------+
///       INIT: INIT ACK   | CLOSED |   associate: snd INIT, T1-init
///      (state in cookie) +--------+
///            |              |    |
///            |              |    V
///            |              |  +-------------+
///            |              |  | COOKIE-WAIT |
///            |              |  +-------------+
///            |              |    |  rcv INIT ACK: snd COOKIE ECHO, T1-cookie
///  rcv COOKIE ECHO:         |    V
///  snd COOKIE ACK           |  +---------------+
///            |              |  | COOKIE-ECHOED |
///            V              |  +---------------+
///         +-------------+   |    |  rcv COOKIE ACK
///         | ESTABLISHED | <------+
///         +-------------+
///            |        |
///   shutdown |        | rcv SHUTDOWN
///            V        V
///  +------------------+  +-------------------+
///  | SHUTDOWN-PENDING |  | SHUTDOWN-RECEIVED |
///  +------------------+  +-------------------+
///    all acknowledged:        | all acknowledged: snd SHUTDOWN ACK, T2
///    snd SHUTDOWN, T2         V
///            V           +-------------------+
///  +---------------+     | SHUTDOWN-ACK-SENT | -- rcv SHUTDOWN COMPLETE --> CLOSED
///  | SHUTDOWN-SENT | --> +-------------------+
///  +---------------+  rcv SHUTDOWN: snd SHUTDOWN ACK
///            |  rcv SHUTDOWN ACK: snd SHUTDOWN COMPLETE
///            V
///         CLOSED
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// There is no association; a passive side answers INIT and COOKIE ECHO.
    Closed,
    /// INIT has been sent.
    CookieWait,
    /// COOKIE ECHO has been sent.
    CookieEchoed,
    /// Data flows both ways.
    Established,
    /// The user has closed, and data may be unacknowledged still.
    ShutdownPending,
    /// SHUTDOWN has been sent.
    ShutdownSent,
    /// SHUTDOWN has been received, and data may be unacknowledged still.
    ShutdownReceived,
    /// SHUTDOWN ACK has been sent.
    ShutdownAckSent,
}

impl std::fmt::Display for State {
    /// Writes the name of RFC 9260.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            State::Closed => "CLOSED",
            State::CookieWait => "COOKIE-WAIT",
            State::CookieEchoed => "COOKIE-ECHOED",
            State::Established => "ESTABLISHED",
            State::ShutdownPending => "SHUTDOWN-PENDING",
            State::ShutdownSent => "SHUTDOWN-SENT",
            State::ShutdownReceived => "SHUTDOWN-RECEIVED",
            State::ShutdownAckSent => "SHUTDOWN-ACK-SENT",
        })
    }
}

impl State {
    /// Returns whether new user data may be transmitted.
    pub fn may_transmit(self) -> bool {
        matches!(self, State::Established | State::ShutdownPending | State::ShutdownReceived)
    }
    /// Returns whether the user may give more data.
    pub fn accepts_user_data(self) -> bool {
        matches!(self, State::Closed | State::CookieWait | State::CookieEchoed | State::Established)
    }
    /// Returns whether DATA of the peer is accepted (RFC 9260 §6).
    pub fn may_receive(self) -> bool {
        matches!(self, State::Established | State::ShutdownPending | State::ShutdownSent)
    }
    /// Returns whether changes of addresses may be asked for (RFC 5061 §5.1.1 C4).
    pub fn may_change(self) -> bool {
        self.may_receive() || self == State::ShutdownReceived
    }
    /// Returns whether both sides have an association.
    pub fn is_synchronized(self) -> bool {
        !matches!(self, State::Closed | State::CookieWait | State::CookieEchoed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 5061 §5.1.1 C4.
    #[test]
    fn changes_of_addresses_end_with_shutdown_ack() {
        use State::*;
        let all = [
            Closed,
            CookieWait,
            CookieEchoed,
            Established,
            ShutdownPending,
            ShutdownSent,
            ShutdownReceived,
            ShutdownAckSent,
        ];
        let may: Vec<State> = all.into_iter().filter(|state| state.may_change()).collect();
        assert_eq!(may, [Established, ShutdownPending, ShutdownSent, ShutdownReceived]);
    }
}
