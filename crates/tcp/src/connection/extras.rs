//! What few connections need: in a box of its own, so that the others stay
//! small and ask one question of it.

use super::challenge::Challenges;
use super::device::Device;
use super::ecn::EcnState;
use super::fast_open::FastOpen;
use super::keep_alive::KeepAliveState;
use super::limits::Limits;
use super::mtu_probe::MtuProbe;
use super::nagle::Hold;
use super::offload::Offload;
use super::push::Marks;
use super::subflow::Subflow;
use super::urgent::Urgent;
use anabranch_endpoint::Timer;
use anabranch_units::Time;
use anabranch_wire::{IcmpKind, Payload};

/// `Extras` are a box that is empty until something needs it.
#[derive(Debug, Default)]
pub(super) struct Extras(Option<Box<Inside>>);

/// `Inside` the box are machines, each of which is explained in its file.
#[derive(Debug, Default)]
pub(super) struct Inside {
    /// `others` says that more is used than `subflow`, which concerns few procedures.
    others: bool,
    /// `ecn` is ECN as both SYNs agreed on it.
    pub ecn: Option<EcnState>,
    /// `fast_open` is the state of Fast Open, where it is on.
    pub fast_open: Option<Box<FastOpen>>,
    /// `mtu` is the search for the segment size, where there is one.
    pub mtu: Option<Box<MtuProbe>>,
    /// `hold` says what holds segments back.
    pub hold: Hold,
    /// `urgent` has the urgent marks of both directions.
    pub urgent: Urgent,
    /// `keep_alive` knows how long nothing has been heard.
    pub keep_alive: KeepAliveState,
    /// `challenges` count challenge ACKs.
    pub challenges: Challenges,
    /// `device` knows whether the interface takes packets.
    pub device: Device,
    /// `path_mss` is the MSS that a router has said the path carries, before the handshake.
    pub path_mss: Option<u32>,
    /// `path_mtu` is the MTU that a router has said the path has.
    pub path_mtu: Option<u32>,
    /// `icmp` is what a router reported last (RFC 9293 §3.9.2.2).
    pub icmp: Option<IcmpKind>,
    /// `queued` is what came with the peer's SYN in SYN-SENT, text and FIN, until the connection is
    /// established.
    pub queued: Option<(Payload, bool)>,
    /// `subflow` is what is kept of a whole that the connection is a part of.
    pub subflow: Subflow,
    /// `marks` are the pushes, where the user marks any.
    pub marks: Option<Marks>,
    /// `offload` is the packet of several segments that leaves, where segmentation is offloaded.
    pub offload: Option<Offload>,
    /// `limits` measure what limits the sender, where the user asks.
    pub limits: Option<Limits>,
    /// `timers` are indexed by [`ExtraDue`].
    pub timers: [Timer; ExtraDue::ALL.len()],
}

/// An `ExtraDue` is something that a connection with extras can do by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ExtraDue {
    /// The pacer lets the next burst leave.
    Pacing,
    /// Corked data has waited for long enough.
    Cork,
    /// Nothing may have been heard for long (RFC 9293 §3.8.4).
    KeepAlive,
    /// Data has gone unacknowledged for too long (RFC 5482).
    UserTimeout,
    /// The interface that was full may take packets.
    Device,
    /// The attempt to open a connection has taken for too long.
    Opening,
}

impl ExtraDue {
    pub const ALL: [ExtraDue; 6] = [
        ExtraDue::Pacing,
        ExtraDue::Cork,
        ExtraDue::KeepAlive,
        ExtraDue::UserTimeout,
        ExtraDue::Device,
        ExtraDue::Opening,
    ];
}

impl Extras {
    /// Returns the machines, if there are any but the subflow's.
    #[inline]
    pub fn some(&mut self) -> Option<&mut Inside> {
        self.0.as_deref_mut().filter(|inside| inside.others)
    }

    /// There are no machines but the subflow's.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.0.as_ref().is_none_or(|inside| !inside.others)
    }

    /// Returns the machines, to look at.
    pub fn peek(&self) -> Option<&Inside> {
        self.0.as_deref()
    }

    /// Returns the machines, made if need be.
    pub fn get(&mut self) -> &mut Inside {
        let inside = self.0.get_or_insert_default();
        inside.others = true;
        inside
    }

    /// Returns what is kept of a whole that the connection is a part of.
    #[inline]
    pub fn subflow(&self) -> Option<&Subflow> {
        self.0.as_deref().map(|inside| &inside.subflow)
    }

    /// Returns the same, made if need be.
    #[inline]
    pub fn subflow_mut(&mut self) -> &mut Subflow {
        &mut self.0.get_or_insert_default().subflow
    }

    /// Returns ECN, where it was agreed on, to change it.
    pub fn ecn_mut(&mut self) -> Option<&mut EcnState> {
        self.0.as_mut()?.ecn.as_mut()
    }

    /// Returns ECN, where it was agreed on.
    #[inline]
    pub fn ecn(&self) -> Option<&EcnState> {
        self.0.as_ref()?.ecn.as_ref()
    }

    /// Returns Fast Open, where it is on.
    #[inline]
    pub fn fast_open(&self) -> Option<&FastOpen> {
        self.0.as_ref()?.fast_open.as_deref()
    }

    /// Returns Fast Open, where it is on, to change it.
    pub fn fast_open_mut(&mut self) -> Option<&mut FastOpen> {
        self.0.as_mut()?.fast_open.as_deref_mut()
    }

    /// Returns the pushes, where the user marks any.
    #[inline]
    pub fn marks(&self) -> Option<&Marks> {
        self.0.as_ref()?.marks.as_ref()
    }

    /// Returns the search for the segment size, where there is one.
    #[inline]
    pub fn mtu_mut(&mut self) -> Option<&mut MtuProbe> {
        self.0.as_mut()?.mtu.as_deref_mut()
    }

    /// Returns SND.UP; 0 when nothing is urgent.
    pub fn urgent_end(&self) -> u64 {
        self.0.as_ref().map_or(0, |inside| inside.urgent.send)
    }

    /// Returns RCV.UP; 0 when nothing is urgent.
    pub fn urgent_received(&self) -> u64 {
        self.0.as_ref().map_or(0, |inside| inside.urgent.receive)
    }

    /// Returns the next deadline.
    #[inline]
    pub fn deadline(&self) -> Time {
        match &self.0 {
            Some(inside) if inside.others => {
                inside.timers.iter().map(Timer::deadline).min().unwrap_or(Time::NEVER)
            }
            _ => Time::NEVER,
        }
    }

    /// Returns the next deadline but that of keep-alives.
    pub fn progress_deadline(&self) -> Time {
        let Some(inside) = &self.0 else { return Time::NEVER };
        let others =
            inside.timers.iter().enumerate().filter(|(i, _)| *i != ExtraDue::KeepAlive as usize);
        others.map(|(_, timer)| timer.deadline()).min().unwrap_or(Time::NEVER)
    }

    /// Stops a timer that has expired; false when it has not.
    pub fn take_expired(&mut self, due: ExtraDue, now: Time) -> bool {
        let Some(inside) = self.some() else { return false };
        let timer = &mut inside.timers[due as usize];
        let expired = timer.expired(now);
        if expired {
            timer.stop();
        }
        expired
    }

    /// Stops the timer of this kind, if it runs.
    pub fn stop_timer(&mut self, due: ExtraDue) {
        if let Some(inside) = self.some() {
            inside.timers[due as usize].stop();
        }
    }

    /// Stops the timers of all kinds.
    pub fn stop_timers(&mut self) {
        if let Some(inside) = self.some() {
            inside.timers = [Timer::IDLE; ExtraDue::ALL.len()];
        }
    }
}
