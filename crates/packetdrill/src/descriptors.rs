//! Knows which calls make descriptors, and where they stand in the arguments of
//! calls.

use crate::script::{Call, Value};

/// Calls that return a descriptor.
pub(crate) fn is_made_by(name: &str) -> bool {
    matches!(name, "socket" | "accept" | "accept4" | "open" | "sctp_peeloff")
        || name.starts_with("epoll_create")
}

/// Calls that write two of them into their first argument.
pub(crate) fn are_made_by(name: &str) -> bool {
    matches!(name, "pipe" | "pipe2")
}

/// Shows each descriptor among the arguments of `call` to `change`.
pub(crate) fn for_each(call: &mut Call, mut change: impl FnMut(&mut i64)) {
    let at: &[usize] = match call.name.as_str() {
        "socket" | "poll" | "open" | "pipe" | "pipe2" => &[],
        "epoll_create" | "epoll_create1" => &[],
        "epoll_ctl" => &[0, 2],
        "sendfile" => &[0, 1],
        "splice" => &[0, 2],
        _ => &[0],
    };
    for at in at {
        if let Some(Value::Number(fd)) = call.arguments.get_mut(*at) {
            change(fd);
        }
    }
    if call.name == "poll"
        && let Some(Value::List(entries)) = call.arguments.first_mut()
    {
        for entry in entries {
            let Value::Struct(fields) = &mut entry.value else { continue };
            for field in fields.iter_mut().filter(|field| field.name.as_deref() == Some("fd")) {
                if let Value::Number(fd) = &mut field.value {
                    change(fd);
                }
            }
        }
    }
}
