//! Whole runs, one module each subject.
//!
//! One program for all of them: each that is linked has all that these crates depend on in it.

mod abr;
mod ack_filter;
mod cake;
mod channels;
mod divided;
mod dscp;
mod elision;
mod fairness;
mod fast_open;
mod frames;
mod hostile;
mod hostile_wraps;
mod hosts;
mod htb;
mod incast;
mod integrity;
mod l4s;
mod mptcp;
mod path_mtu;
mod queues;
mod regulators;
mod runs;
mod sctp;
mod sctp_capture;
mod sctp_extensions;
mod solo;
mod start_up;
mod traffic;
mod two_way;
mod windows;
