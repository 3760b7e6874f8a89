//! What few connections need: in a box of its own, so that the others stay
//! small and ask one question of it.

use super::challenge::Challenges;
use super::device::Device;
use super::ecn::EcnState;
use super::fast_open::FastOpen;
use super::keep_alive::KeepAliveState;
use super::mtu_probe::MtuProbe;
use super::nagle::Hold;
use super::part::Part;
use super::push::Marks;
use super::urgent::Urgent;
use anabranch_endpoint::Timer;
use anabranch_units::Time;
use anabranch_wire::IcmpKind;

/// The box, empty until something needs it.
#[derive(Debug, Default)]
pub(super) struct Extras(Option<Box<Inside>>);

/// The machines; each is explained in its file.
#[derive(Debug, Default)]
pub(super) struct Inside {
    /// More is used than the part, which concerns few procedures.
    others: bool,
    pub ecn: Option<EcnState>,
    pub fast_open: Option<Box<FastOpen>>,
    pub mtu: Option<Box<MtuProbe>>,
    pub hold: Hold,
    pub urgent: Urgent,
    pub keep_alive: KeepAliveState,
    pub challenges: Challenges,
    pub device: Device,
    /// The MSS that a router has said the path carries, before the handshake.
    pub path_mss: Option<u32>,
    /// What a router reported last (RFC 9293 §3.9.2.2).
    pub icmp: Option<IcmpKind>,
    pub part: Part,
    pub marks: Option<Marks>,
    pub timers: [Timer; ExtraDue::ALL.len()],
}

/// What a connection with extras can do by itself.
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
}

impl ExtraDue {
    pub const ALL: [ExtraDue; 5] = [
        ExtraDue::Pacing,
        ExtraDue::Cork,
        ExtraDue::KeepAlive,
        ExtraDue::UserTimeout,
        ExtraDue::Device,
    ];
}

impl Extras {
    /// The machines, if there are any but the part.
    #[inline]
    pub fn some(&mut self) -> Option<&mut Inside> {
        self.0.as_deref_mut().filter(|inside| inside.others)
    }

    /// There are none but the part.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.0.as_ref().is_none_or(|inside| !inside.others)
    }

    /// The machines, to look at.
    pub fn peek(&self) -> Option<&Inside> {
        self.0.as_deref()
    }

    /// The machines, made if need be.
    pub fn get(&mut self) -> &mut Inside {
        let inside = self.0.get_or_insert_default();
        inside.others = true;
        inside
    }

    /// What is kept of a whole that the connection is a part of.
    #[inline]
    pub fn part(&self) -> Option<&Part> {
        self.0.as_deref().map(|inside| &inside.part)
    }

    /// The same, made if need be.
    #[inline]
    pub fn part_mut(&mut self) -> &mut Part {
        &mut self.0.get_or_insert_default().part
    }

    /// ECN, where it was agreed on, to change it.
    pub fn ecn_mut(&mut self) -> Option<&mut EcnState> {
        self.0.as_mut()?.ecn.as_mut()
    }

    /// ECN, where it was agreed on.
    #[inline]
    pub fn ecn(&self) -> Option<&EcnState> {
        self.0.as_ref()?.ecn.as_ref()
    }

    /// Fast Open, where it is on.
    #[inline]
    pub fn fast_open(&self) -> Option<&FastOpen> {
        self.0.as_ref()?.fast_open.as_deref()
    }

    /// Fast Open, where it is on, for change.
    pub fn fast_open_mut(&mut self) -> Option<&mut FastOpen> {
        self.0.as_mut()?.fast_open.as_deref_mut()
    }

    /// Pushes, where the user marks any.
    #[inline]
    pub fn marks(&self) -> Option<&Marks> {
        self.0.as_ref()?.marks.as_ref()
    }

    /// The search for the segment size, where there is one.
    #[inline]
    pub fn mtu_mut(&mut self) -> Option<&mut MtuProbe> {
        self.0.as_mut()?.mtu.as_deref_mut()
    }

    /// SND.UP; 0 when nothing is urgent.
    pub fn urgent_end(&self) -> u64 {
        self.0.as_ref().map_or(0, |inside| inside.urgent.send)
    }

    /// RCV.UP; 0 when nothing is urgent.
    pub fn urgent_received(&self) -> u64 {
        self.0.as_ref().map_or(0, |inside| inside.urgent.receive)
    }

    /// The next deadline.
    #[inline]
    pub fn deadline(&self) -> Time {
        match &self.0 {
            Some(inside) if inside.others => {
                inside.timers.iter().map(Timer::deadline).min().unwrap_or(Time::NEVER)
            }
            _ => Time::NEVER,
        }
    }

    /// The next deadline but that of keep-alives.
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

    /// Stops all timers.
    pub fn stop_timers(&mut self) {
        if let Some(inside) = self.some() {
            inside.timers = [Timer::IDLE; ExtraDue::ALL.len()];
        }
    }
}
