//! Time series to record.

use super::form::{Choice, Form, Text, quantity};
use crate::InputError;
use crate::fields::Fields;
use crate::shape::Shape;
use anabranch_units::Span;
use toml::Table;

/// A time series to record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Observe {
    /// The quantity to record.
    pub what: What,
    /// Name of the flow; `None` for all flows.
    pub flow: Option<String>,
    /// Name of the direction of a link, or of a line of ATM for its cells; `None` for all.
    pub link: Option<String>,
    /// Time between samples; `None` for a point at each change.
    pub interval: Option<Span>,
}

/// A quantity that changes over time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum What {
    /// Congestion window of the data sender, octets.
    Cwnd,
    /// Slow-start threshold, octets.
    Ssthresh,
    /// Smoothed round-trip time, seconds.
    Srtt,
    /// Octets estimated to be in the network.
    InFlight,
    /// Octets received in order.
    Received,
    /// Data segments sent and received, and acknowledgments, by stream offset.
    Packets,
    /// Handshakes, marks, fast retransmits, timeouts, heartbeats, changes of addresses: both ends.
    Events,
    /// How acknowledgments and data bunch at the data sender.
    AckCompression,
    /// Time from a request to its whole response, seconds.
    Responses,
    /// Time from the requests of a barrier to the last of their responses.
    Rounds,
    /// Time from making to reading each message, by stream, seconds.
    MessageDelay,
    /// How long each message was complete and waited for earlier ones of its
    /// stream, by stream, seconds.
    MessageWait,
    /// Congestion window of each path of the data sender, octets.
    PathCwnd,
    /// Slow-start threshold of each, octets.
    PathSsthresh,
    /// Outstanding octets on each.
    PathInFlight,
    /// Smoothed round-trip time of each, seconds.
    PathSrtt,
    /// Retransmission timeout of each, seconds.
    PathRto,
    /// Errors in a row on each.
    PathErrors,
    /// State of each: 0 unconfirmed, 1 active, 2 potentially failed,
    /// 3 inactive.
    PathState,
    /// What couples the window of each path to the others', in the unit of its algorithm.
    PathCoupling,
    /// Packets in a link's queue.
    Queue,
    /// Distributions of a link's queue and of the delay in it, for `links.csv`.
    Queueing,
    /// Packets that a regulator holds, and the delay that it gives them.
    Regulator,
    /// Cells in the queue of a port of a line of ATM.
    Cells,
    /// Allowed cell rate of a link's virtual channel, cells a second.
    CellRate,
}

impl What {
    /// All of them with their names and a line each.
    pub const ALL: &'static [(&'static str, What, &'static str)] = &[
        ("cwnd", What::Cwnd, "congestion window of the data sender, octets"),
        ("ssthresh", What::Ssthresh, "slow-start threshold of the data sender, octets"),
        ("srtt", What::Srtt, "smoothed round-trip time of the data sender, seconds"),
        ("in_flight", What::InFlight, "octets that the data sender estimates in the network"),
        ("received", What::Received, "octets that the data receiver has got in order"),
        ("packets", What::Packets, "data sent and received and acknowledgments, by stream offset"),
        (
            "events",
            What::Events,
            "handshakes, ECN, fast retransmits, timeouts, heartbeats, address changes, at both ends",
        ),
        (
            "ack-compression",
            What::AckCompression,
            "gaps between ACKs in transmission times of data, bunches of ACKs, bursts of data",
        ),
        ("responses", What::Responses, "time from each request to its whole response, seconds"),
        (
            "rounds",
            What::Rounds,
            "time from the requests of a barrier to the last response, seconds",
        ),
        (
            "message_delay",
            What::MessageDelay,
            "time from making to reading each message, by stream, seconds",
        ),
        (
            "message_wait",
            What::MessageWait,
            "time each message waited, complete, for earlier ones of its stream, seconds",
        ),
        ("path_cwnd", What::PathCwnd, "congestion window of each path, octets"),
        ("path_ssthresh", What::PathSsthresh, "slow-start threshold of each path, octets"),
        ("path_in_flight", What::PathInFlight, "octets outstanding on each path"),
        ("path_srtt", What::PathSrtt, "smoothed round-trip time of each path, seconds"),
        ("path_rto", What::PathRto, "retransmission timeout of each path, seconds"),
        ("path_errors", What::PathErrors, "errors in a row on each path"),
        (
            "path_state",
            What::PathState,
            "0 unconfirmed, 1 active, 2 potentially failed, 3 inactive, of each path",
        ),
        (
            "path_coupling",
            What::PathCoupling,
            "term of a coupled algorithm on each path: alpha, growth, K', share, segments or paths",
        ),
        ("queue", What::Queue, "packets waiting in a link's queue"),
        (
            "queueing",
            What::Queueing,
            "mean, quantiles and maximum of a link's queue and its delay, in links.csv",
        ),
        (
            "regulator",
            What::Regulator,
            "packets held by a link's regulator; `.delay`: seconds that each was held",
        ),
        ("cells", What::Cells, "cells waiting at a port of a line of ATM"),
        ("cell-rate", What::CellRate, "allowed cell rate of a virtual channel's source, cells/s"),
    ];

    /// It is recorded for each message, not over time.
    pub fn is_of_messages(self) -> bool {
        matches!(self, What::MessageDelay | What::MessageWait)
    }

    /// The name in scenarios and in the names of series.
    pub fn name(self) -> &'static str {
        What::ALL.iter().find(|(_, what, _)| *what == self).map_or("", |(name, ..)| name)
    }
}

impl Observe {
    /// It is about the flow `name` of this entry, if about flows at all.
    pub fn means(&self, entry: &str, name: &str) -> bool {
        self.flow.as_ref().is_none_or(|flow| flow == entry || flow == name)
    }

    pub(super) fn read(f: &Fields<'_>) -> Result<Observe, InputError> {
        let mut observe = Observe::unset();
        Form::read_all(f, |form| Observe::fields(form, &mut observe))?;
        Ok(observe)
    }

    pub(super) fn write(&self) -> Table {
        Form::written(|form| Observe::fields(form, &mut self.clone()))
    }

    /// What an entry may hold.
    pub(super) fn shape() -> Shape {
        Shape::Table(Form::described(|form| Observe::fields(form, &mut Observe::unset())))
    }

    fn unset() -> Observe {
        Observe { what: What::Cwnd, flow: None, link: None, interval: None }
    }

    fn fields(form: &mut Form<'_>, observe: &mut Observe) -> Result<(), InputError> {
        let choices: Vec<_> = What::ALL.iter().map(|(name, what, _)| (*name, *what)).collect();
        let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
        form.says("the quantity, see the table below");
        form.required("what", Choice(&choices), &names.join(", "), &mut observe.what)?;
        form.says("of which flow, where the quantity is one of flows").or_else("all");
        form.optional("flow", Text, &mut observe.flow)?;
        form.says("of which direction of a link, or line of ATM, where it is one of links")
            .or_else("all");
        form.optional("link", Text, &mut observe.link)?;
        form.says("a point for each multiple of this time, at least 1 us")
            .or_else("a point for each change");
        form.optional("interval", quantity::<Span>(), &mut observe.interval)?;
        match form.reads() {
            Some(f) => observe.check(f),
            None => Ok(()),
        }
    }

    /// Checks what concerns more than one field.
    fn check(&self, f: &Fields<'_>) -> Result<(), InputError> {
        let what = self.what;
        if self.interval.is_some_and(|interval| interval < Span::from_micros(1)) {
            return Err(f.error("interval", "a time of at least 1 us"));
        }
        let by_event = matches!(
            what,
            What::Packets
                | What::Events
                | What::AckCompression
                | What::Responses
                | What::Rounds
                | What::Queueing
        );
        if (by_event || what.is_of_messages()) && self.interval.is_some() {
            return Err(f.error("interval", "no interval; every one is recorded"));
        }
        let of_link = matches!(
            what,
            What::Queue | What::Queueing | What::Regulator | What::Cells | What::CellRate
        );
        if of_link && self.flow.is_some() {
            let allowed = format!("no flow; a {} belongs to a link (link = \"…\")", what.name());
            return Err(f.error("flow", allowed));
        }
        if !of_link && self.link.is_some() {
            return Err(f.error("link", "no link; this quantity belongs to a flow (flow = \"…\")"));
        }
        Ok(())
    }
}
