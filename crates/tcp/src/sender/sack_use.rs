//! Whether the sender acts on SACK blocks.

use crate::config::Config;

/// A `SackUse` says whether SACK blocks are read, which a timeout may suspend.
#[derive(Clone, Copy, Debug)]
pub struct SackUse {
    /// `mode` follows from the handshake, and from timeouts.
    mode: Mode,
    /// `go_back_n` says that after a timeout what was SACKed is sent again too
    /// ([`Config::go_back_n`]).
    go_back_n: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    /// SACK is not agreed on, or the scheme does not use it.
    Unused,
    /// The sender reads SACK blocks.
    Used,
    /// Blocks are not read until what was outstanding at a timeout is acknowledged.
    Suspended,
}

impl SackUse {
    /// Makes the state before the handshake, in which SACK is not in use.
    pub fn new(config: &Config) -> SackUse {
        SackUse { mode: Mode::Unused, go_back_n: config.go_back_n }
    }

    /// Both SYNs have come, and `used` says whether SACK is agreed on and the scheme uses it.
    pub fn agree(&mut self, used: bool) {
        self.mode = if used { Mode::Used } else { Mode::Unused };
    }

    /// Whether the sender reads SACK blocks now.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.mode == Mode::Used
    }

    /// Duplicate ACKs release segments while going back too ([`Config::go_back_n`]).
    pub fn transmits_going_back(&self) -> bool {
        self.go_back_n && self.mode != Mode::Suspended
    }

    /// The retransmission timer expired; true when SACK waits from now on, and what was SACKed is to
    /// be forgotten.
    pub fn on_timeout(&mut self) -> bool {
        let suspends = self.go_back_n && self.is_on();
        if suspends {
            self.mode = Mode::Suspended;
        }
        suspends
    }

    /// What was outstanding at a timeout is acknowledged; true when SACK counts again from now on.
    pub fn resume(&mut self) -> bool {
        let resumes = self.mode == Mode::Suspended;
        if resumes {
            self.mode = Mode::Used;
        }
        resumes
    }
}
