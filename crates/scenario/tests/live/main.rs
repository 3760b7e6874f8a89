//! Live runs: kernels and our endpoints across emulated links. They need network
//! namespaces and TUN, and say so where these are missing; in continuous
//! integration (`CI` is set) that is a failure. Links run side by side, so that
//! many cases take the time of one.

#![cfg(target_os = "linux")]

mod bad_days;
mod custom;
mod hostile;
mod mptcp;
mod support;
mod tcp;
mod udp;
