//! Calls over files and pipes. No file of the machine is ever opened: what a script
//! opens is one in memory, of zeros.

use super::{Context, Prepared, Ready, len, number};
use crate::worker::Answer;
use anabranch_packetdrill::script::{Call, Field, Value};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create, sendfile as send_file};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, SpliceFlags, pipe_with, splice as splice_pipes};
use std::os::fd::OwnedFd;

/// Octets of a file that is opened.
const FILE: u64 = 16 << 20;

/// Prepares `open`: a file in memory, of zeros.
pub(super) fn open() -> Prepared {
    let make = || -> Result<OwnedFd, Errno> {
        let fd = memfd_create("script", MemfdFlags::CLOEXEC)?;
        ftruncate(&fd, FILE)?;
        Ok(fd)
    };
    Prepared::job(move || Answer::made(make()))
}

/// Prepares `pipe([in, out])`.
pub(super) fn pipe(call: &Call) -> Ready {
    let flags = call.arguments.get(1).and_then(number).unwrap_or(0) as u32;
    let flags = PipeFlags::from_bits_retain(flags) | PipeFlags::CLOEXEC;
    Ok(Prepared::job(move || match pipe_with(flags) {
        Ok((read, write)) => Answer { made: vec![read, write], ..Answer::of(Ok(0)) },
        Err(errno) => Answer::of(Err(errno)),
    }))
}

/// `sendfile(out, in, [offset], count)`.
pub(super) fn sendfile(call: &Call, context: &Context<'_>) -> Ready {
    let (out, file, count) = (context.fd(call, 0)?, context.fd(call, 1)?, len(call, 3)?);
    let offset = call.arguments.get(2).and_then(Value::fields).is_some();
    let start = call.arguments.get(2).and_then(number).unwrap_or(0) as u64;
    Ok(Prepared::job(move || {
        let mut at = start;
        let sent = send_file(&*out, &*file, offset.then_some(&mut at), count);
        Answer::of(sent.map(|n| n as i64))
    }))
}

/// `splice(in, [offset] or NULL, out, [offset] or NULL, count, flags)`.
pub(super) fn splice(call: &Call, context: &Context<'_>) -> Ready {
    let (from, to, count) = (context.fd(call, 0)?, context.fd(call, 2)?, len(call, 4)?);
    let offset = |at: usize| {
        let list = call.arguments.get(at).and_then(Value::fields)?;
        list.first().and_then(|field: &Field| number(&field.value)).map(|n| n as u64)
    };
    let (mut in_at, mut out_at) = (offset(1), offset(3));
    let flags = call.arguments.get(5).and_then(number).unwrap_or(0) as u32;
    let flags = SpliceFlags::from_bits_retain(flags);
    Ok(Prepared::job(move || {
        let moved = splice_pipes(&*from, in_at.as_mut(), &*to, out_at.as_mut(), count, flags);
        Answer::of(moved.map(|n| n as i64))
    }))
}
