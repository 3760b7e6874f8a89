//! System calls: the only place with `unsafe`, each with its reason.

pub mod bpf;
pub mod call;
pub mod init;
pub mod mptcp;
pub mod namespace;
pub mod netlink;
pub mod priority;
pub mod socket;
pub mod tun;

pub use namespace::enter_user_namespace;
