//! What came of trying a call, and what most calls ask first.

use crate::stack::Returned;
use anabranch_socket::sctp::{AssociationId, SctpSockets};
use anabranch_socket::{Errno, Fd};

const MSG_DONTWAIT: i64 = 0x40;

/// The outcome of trying a call.
pub(super) enum Attempt {
    Returns(Returned),
    /// The call would block.
    Blocks,
    NotApplicable(String),
}

/// What a call returns that has nothing to say but whether it worked.
pub(super) fn returns(result: Result<(), Errno>) -> Attempt {
    value(result.map(|()| 0))
}

pub(super) fn value(result: Result<i64, Errno>) -> Attempt {
    Attempt::Returns(match result {
        Ok(value) => Returned::value(value),
        Err(errno) => Returned::error(errno.name()),
    })
}

/// The call waits rather than fails.
pub(super) fn waits(sockets: &SctpSockets, fd: Fd, flags: i64) -> bool {
    flags & MSG_DONTWAIT == 0 && sockets.is_blocking(fd) == Ok(true)
}

/// The association that a structure or argument names; the first three numbers
/// name none.
pub(super) fn association(id: Option<i64>) -> Option<AssociationId> {
    id.and_then(|id| u32::try_from(id).ok()).filter(|id| *id > 2).map(AssociationId)
}
