//! Description of lines and of virtual channels.

use super::allocation::AllocationConfig;
use super::cells::{CELL, Encapsulation, MAX_SDU, PAYLOAD};
use crate::catalogue::ConfigError;
use crate::config::LinkConfig;
use anabranch_endpoint::Bounds;
use anabranch_units::{Bytes, Rate, Span};

/// `LineConfig` describes a line between two switches, or between a switch and an end system: a
/// port in each direction.
#[derive(Clone, PartialEq, Debug)]
pub struct LineConfig {
    /// `rates` are those of both directions, of cells with their headers.
    pub rates: [Rate; 2],
    /// `delay` is the propagation delay, in both directions.
    pub delay: Span,
    /// Cells that may wait in each of the two queues; `None` for all.
    pub limit: Option<u32>,
    /// `allocation` is the algorithm by which the ports divide their rate.
    pub allocation: AllocationConfig,
}

impl LineConfig {
    /// Checks the fields.
    ///
    /// # Errors
    /// The first that makes no sense.
    pub fn validate(&self) -> Result<(), ConfigError> {
        for (field, rate) in [("capacity", self.rates[0]), ("reverse_capacity", self.rates[1])] {
            RATE.check(field, rate)?;
        }
        LinkConfig::DELAY.check("delay", self.delay)?;
        self.allocation.validate()
    }
}

/// What the rate of a line and the peak of a source may be: TCR at least, to which a source falls.
const RATE: Bounds<Rate> = Bounds::at_least(LEAST_RATE).because("10 cells a second");
const LEAST_RATE: Rate = match Rate::from_bps(4240) {
    Some(rate) => rate,
    None => Rate::kbit(4),
};

/// `VcConfig` has the parameters of the source of a virtual channel (TM 4.0 §5.10.2). Rates are
/// those of cells with their headers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct VcConfig {
    /// `peak` is PCR, the peak cell rate.
    pub peak: Rate,
    /// `minimum` is MCR, the minimum cell rate; `None` stands for 0.
    pub minimum: Option<Rate>,
    /// `initial` is ICR, the initial cell rate; `None` stands for PCR.
    pub initial: Option<Rate>,
    /// `increase` is RIF: an RM cell without CI and NI lets the rate grow by this part of PCR.
    pub increase: f64,
    /// `decrease` is RDF: an RM cell with CI takes this part of the rate.
    pub decrease: f64,
    /// `cells_per_rm` is Nrm: a forward RM cell leaves after so many other cells, less one.
    pub cells_per_rm: u32,
    /// `rm_time` is Trm: a forward RM cell leaves after this time, too, with at least Mrm = 2 cells
    /// sent.
    pub rm_time: Span,
    /// `decrease_time` is ADTF: after this time without a forward RM cell the rate is at most ICR.
    pub decrease_time: Span,
    /// `missing_rm` is CRM: so many forward RM cells may go unanswered.
    pub missing_rm: u32,
    /// `cutoff_decrease` is CDF: each one more takes this part of the rate.
    pub cutoff_decrease: f64,
    /// `encapsulation` is the way in which packets are put into cells.
    pub encapsulation: Encapsulation,
}

impl VcConfig {
    /// What `cells_per_rm` may be.
    pub const CELLS_PER_RM: Bounds<u32> = Bounds::of(2, 256).counted_in("cells");
    /// What `missing_rm` may be.
    pub const MISSING_RM: Bounds<u32> = Bounds::of(1, u32::MAX).counted_in("cells");

    /// Makes a channel of this peak rate with TM 4.0's defaults.
    pub fn new(peak: Rate) -> VcConfig {
        VcConfig {
            peak,
            minimum: None,
            initial: None,
            increase: 1.0 / 16.0,
            decrease: 1.0 / 16.0,
            cells_per_rm: 32,
            rm_time: Span::from_millis(100),
            decrease_time: Span::from_millis(500),
            missing_rm: VcConfig::usual_missing_rm(32),
            cutoff_decrease: 1.0 / 16.0,
            encapsulation: Encapsulation::default(),
        }
    }

    /// CRM where nothing else is said: TBE over Nrm.
    pub const fn usual_missing_rm(cells_per_rm: u32) -> u32 {
        TRANSIENT_BUFFER.div_ceil(cells_per_rm)
    }

    /// Returns a cell rate in octets of packets: payloads less forward RM cells, without padding.
    pub(super) fn net_rate(&self, cells: f64) -> Rate {
        let data = f64::from(self.cells_per_rm - 1) / f64::from(self.cells_per_rm);
        let bps = cells * data * f64::from(PAYLOAD) * 8.0;
        Rate::from_bps(bps as u64).unwrap_or(self.peak)
    }

    /// Returns the net rate at the peak cell rate: what a link with such a source is said to have.
    pub fn net_peak(&self) -> Rate {
        self.net_rate(cells_per_second(self.peak))
    }

    /// Checks the fields, for packets of at most `mtu`.
    ///
    /// # Errors
    /// The first that makes no sense.
    pub fn validate(&self, mtu: Bytes) -> Result<(), ConfigError> {
        RATE.check("peak", self.peak)?;
        for (field, rate) in [("minimum", self.minimum), ("initial", self.initial)] {
            if let Some(rate) = rate.filter(|rate| *rate > self.peak) {
                return Err(ConfigError::new(field, rate, format!("at most {}", self.peak)));
            }
        }
        for (field, factor) in [
            ("increase", self.increase),
            ("decrease", self.decrease),
            ("cutoff_decrease", self.cutoff_decrease),
        ] {
            ConfigError::probability(field, factor)?;
        }
        Self::CELLS_PER_RM.check("cells_per_rm", self.cells_per_rm)?;
        Self::MISSING_RM.check("missing_rm", self.missing_rm)?;
        ConfigError::repeated("rm_time", self.rm_time)?;
        ConfigError::repeated("decrease_time", self.decrease_time)?;
        let most = MAX_SDU - self.encapsulation.header();
        if mtu.0 > u64::from(most) {
            return Err(ConfigError::new("mtu", mtu, format!("at most {most} B in AAL5")));
        }
        Ok(())
    }
}

/// `TRANSIENT_BUFFER` is TBE, the transient buffer exposure, in cells; CRM is this over Nrm.
const TRANSIENT_BUFFER: u32 = 16_777_215;

/// Cells a second of a rate that counts cells with their headers.
pub(super) fn cells_per_second(rate: Rate) -> f64 {
    rate.as_bps() as f64 / (CELL.0 * 8) as f64
}
