//! Pairs of connections over several paths: traces of handshakes, of data over
//! two subflows, of what is lost and of what lies between the hosts.

mod ending;
mod fast_open;
mod hostile;
mod meddling;
mod opening;
mod options;
mod passive;
mod paths;
mod repairs;
mod sending;
mod world;

use super::*;
use anabranch_endpoint::{ByteStream, Endpoint, Event, Observe, TemporalSharing};
use anabranch_units::{Span, Time};
use world::{A1, A2, B1, B2, World, at_ms, config, world};
