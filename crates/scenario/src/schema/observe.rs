//! Time series to record.

use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use anabranch_units::Span;
use toml::Table;

/// A time series to record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Observe {
    /// Which quantity.
    pub what: What,
    /// Of which flow; `None` for all.
    pub flow: Option<String>,
    /// Of which direction of a link; `None` for all.
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
    /// How acknowledgments and data bunch at the data sender.
    AckCompression,
    /// Time from a request to its whole response, seconds.
    Responses,
    /// Packets in a link's queue.
    Queue,
    /// Packets that a regulator holds, and the delay that it gives them.
    Regulator,
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
            "ack-compression",
            What::AckCompression,
            "gaps between ACKs in transmission times of data, bunches of ACKs, bursts of data",
        ),
        ("responses", What::Responses, "time from each request to its whole response, seconds"),
        ("queue", What::Queue, "packets waiting in a link's queue"),
        (
            "regulator",
            What::Regulator,
            "packets held by a link's regulator; `.delay`: seconds that each was held",
        ),
    ];

    /// The name in scenarios and in the names of series.
    pub fn name(self) -> &'static str {
        What::ALL.iter().find(|(_, what, _)| *what == self).map_or("", |(name, ..)| name)
    }
}

impl Observe {
    pub(super) fn read(f: &Fields<'_>) -> Result<Observe, InputError> {
        let choices: Vec<_> = What::ALL.iter().map(|(name, what, _)| (*name, *what)).collect();
        let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
        let what = f.choice("what", &choices)?.ok_or_else(|| f.error("what", names.join(", ")))?;
        let observe = Observe {
            what,
            flow: f.text("flow")?.map(str::to_owned),
            link: f.text("link")?.map(str::to_owned),
            interval: f.quantity("interval")?,
        };
        if observe.interval == Some(Span::ZERO) {
            return Err(f.error("interval", "a time of at least 1 ps"));
        }
        if matches!(what, What::Packets | What::AckCompression | What::Responses)
            && observe.interval.is_some()
        {
            return Err(f.error("interval", "no interval; every packet is recorded"));
        }
        let of_link = matches!(what, What::Queue | What::Regulator);
        if of_link && observe.flow.is_some() {
            let allowed = format!("no flow; a {} belongs to a link (link = \"…\")", what.name());
            return Err(f.error("flow", allowed));
        }
        if !of_link && observe.link.is_some() {
            return Err(f.error("link", "no link; this quantity belongs to a flow (flow = \"…\")"));
        }
        f.finish()?;
        Ok(observe)
    }

    pub(super) fn write(&self) -> Table {
        let mut table = Table::new();
        table.insert("what".into(), self.what.name().into());
        if let Some(flow) = &self.flow {
            table.insert("flow".into(), flow.as_str().into());
        }
        if let Some(link) = &self.link {
            table.insert("link".into(), link.as_str().into());
        }
        if let Some(interval) = &self.interval {
            table.insert("interval".into(), interval.write().into());
        }
        table
    }
}
