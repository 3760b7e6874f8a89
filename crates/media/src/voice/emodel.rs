//! The E-model, ITU-T G.107: a rating R of a call from what its transmission does to it, and a mean
//! opinion score (MOS) from that.
//!
//! R = Ro − Is − Id − Ie,eff + A. All terms are computed with the formulas of the recommendation
//! (clause 7); parameters other than delay, loss and codec have the default values of its table 2,
//! for which R = 93.2 and the MOS is 4.41. Echo has the default loss (TELR = 65 dB); its path is as
//! long as the call's (T = Ta, Tr = 2 Ta).
//!
//! Left out: wide-band speech (G.107.1), and requirements on delay other than the default ones
//! (the delay sensitivity sT = 1, mT = 100 ms of later editions is the formula used here).

use libm::{exp, log10, pow, sqrt};

/// Send and receive loudness ratings, dB.
const SLR: f64 = 8.0;
const RLR: f64 = 2.0;
/// Sidetone masking rating, dB, and listener's sidetone rating at D = 3.
const STMR: f64 = 15.0;
const DR: f64 = 3.0;
const DS: f64 = 3.0;
/// Talker echo loudness rating and weighted echo path loss, dB.
const TELR: f64 = 65.0;
const WEPL: f64 = 110.0;
/// Circuit noise and noise floor at the receiver, dBm0p and dBmp.
const NC: f64 = -70.0;
const NFOR: f64 = -64.0;
/// Room noise at both sides, dB(A).
const PS: f64 = 35.0;
const PR: f64 = 35.0;
/// Quantising distortion units.
const QDU: f64 = 1.0;

/// Delay and loss of a call, and what its codec makes of them.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct EModel {
    /// Absolute delay from mouth to ear, Ta, in milliseconds.
    pub delay_ms: f64,
    /// Packets that were not played, as a share from 0 to 1: Ppl / 100.
    pub loss: f64,
    /// Burst ratio of losses, BurstR: 1 where they are random, more where they come together.
    pub burst_ratio: f64,
    /// Equipment impairment factor of the codec, Ie.
    pub ie: f64,
    /// Packet-loss robustness factor of the codec, Bpl.
    pub bpl: f64,
    /// Advantage factor, A: what users bear for convenience.
    pub advantage: f64,
}

/// The terms of R, as clause 7 of G.107 names them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Impairments {
    /// Basic signal-to-noise ratio, Ro.
    pub ro: f64,
    /// What happens together with the speech, Is.
    pub simultaneous: f64,
    /// What comes of delay, Id.
    pub delay: f64,
    /// What the codec and losses do, Ie,eff.
    pub equipment: f64,
}

impl EModel {
    /// The terms of the rating.
    pub fn impairments(&self) -> Impairments {
        let no = noise();
        let ro = 15.0 - 1.5 * (SLR + no);
        let delay = delay(ro, no, self.delay_ms);
        let simultaneous = simultaneous(ro, no, self.delay_ms);
        Impairments { ro, simultaneous, delay, equipment: self.equipment() }
    }

    /// The rating R, from 0 to 100 in use.
    pub fn rating(&self) -> f64 {
        let terms = self.impairments();
        terms.ro - terms.simultaneous - terms.delay - terms.equipment + self.advantage
    }

    /// Computes Ie,eff, the impairment by codec and losses (clause 7.5).
    fn equipment(&self) -> f64 {
        let ppl = 100.0 * self.loss;
        if ppl == 0.0 {
            return self.ie;
        }
        self.ie + (95.0 - self.ie) * ppl / (ppl / self.burst_ratio.max(1.0) + self.bpl)
    }
}

/// The mean opinion score of a rating (Annex B), from 1 to 4.5.
pub fn mos(rating: f64) -> f64 {
    match rating {
        r if r <= 0.0 => 1.0,
        r if r >= 100.0 => 4.5,
        // Just above 0 the cubic is below its own bound.
        r => (1.0 + 0.035 * r + r * (r - 60.0) * (100.0 - r) * 7e-6).max(1.0),
    }
}

/// No, the power of all noise, dBm0p (clause 7.2).
fn noise() -> f64 {
    let olr = SLR + RLR;
    let a = PS - olr - DS - 14.0;
    let nos = PS - SLR - DS - 100.0 + 0.004 * a * a;
    let lstr = STMR + DR;
    let pre = PR + 10.0 * log10(1.0 + pow(10.0, (10.0 - lstr) / 10.0));
    let nor = RLR - 121.0 + pre + 0.008 * (pre - 35.0) * (pre - 35.0);
    let powers = [NC, nos, nor, NFOR + RLR].map(|level| pow(10.0, level / 10.0));
    10.0 * log10(powers.iter().sum())
}

/// Is = Iolr + Ist + Iq (clause 7.3).
fn simultaneous(ro: f64, no: f64, t: f64) -> f64 {
    let xolr = SLR + RLR + 0.2 * (64.0 + no - RLR);
    let iolr = 20.0 * (pow(1.0 + pow(xolr / 8.0, 8.0), 1.0 / 8.0) - xolr / 8.0);
    let echo = exp(-t / 4.0) * pow(10.0, -TELR / 10.0);
    let stmr = -10.0 * log10(pow(10.0, -STMR / 10.0) + echo);
    let bend = |x: f64, n: f64| pow(1.0 + pow(x, n), 1.0 / n);
    let ist = 12.0 * bend((stmr - 13.0) / 6.0, 8.0)
        - 28.0 * bend((stmr + 1.0) / 19.4, 35.0)
        - 13.0 * bend((stmr - 3.0) / 33.0, 13.0)
        + 29.0;
    let q = 37.0 - 15.0 * log10(QDU);
    let g = 1.07 + 0.258 * q + 0.0602 * q * q;
    let y = (ro - 100.0) / 15.0 + 46.0 / 8.4 - g / 9.0;
    let z = 46.0 / 30.0 - g / 40.0;
    let iq = 15.0 * log10(1.0 + pow(10.0, y) + pow(10.0, z));
    iolr + ist + iq
}

/// Id = Idte + Idle + Idd (clause 7.4) with T = Ta and Tr = 2 Ta.
fn delay(ro: f64, no: f64, ta: f64) -> f64 {
    let terv =
        TELR - 40.0 * log10((1.0 + ta / 10.0) / (1.0 + ta / 150.0)) + 6.0 * exp(-0.3 * ta * ta);
    let (roe, re) = (-1.5 * (no - RLR), 80.0 + 2.5 * (terv - 14.0));
    let half = (roe - re) / 2.0;
    let idte = (half + sqrt(half * half + 100.0) - 1.0) * (1.0 - exp(-ta));
    let rle = 10.5 * (WEPL + 7.0) * pow(2.0 * ta + 1.0, -0.25);
    let half = (ro - rle) / 2.0;
    let idle = half + sqrt(half * half + 169.0);
    let idd = if ta <= 100.0 {
        0.0
    } else {
        let x = log10(ta / 100.0) / log10(2.0);
        let bend = |x: f64| pow(1.0 + pow(x, 6.0), 1.0 / 6.0);
        25.0 * (bend(x) - 3.0 * bend(x / 3.0) + 2.0)
    };
    idte + idle + idd
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rating(delay_ms: f64) -> f64 {
        EModel { delay_ms, burst_ratio: 1.0, bpl: 4.3, ..EModel::default() }.rating()
    }

    /// G.107 states R = 93.2 for its default values, and the MOS of it as 4.41.
    #[test]
    fn default_values_have_the_published_rating() {
        let r = rating(0.0);
        assert!((r - 93.2).abs() < 0.05, "{r}");
        assert!((mos(r) - 4.41).abs() < 0.005, "{}", mos(r));
        let parts = EModel { burst_ratio: 1.0, ..EModel::default() }.impairments();
        // Published beside it in the recommendation's worked values.
        assert!((parts.ro - 94.77).abs() < 0.01 && (parts.simultaneous - 1.41).abs() < 0.01);
    }

    /// Cole and Rosenbluth (CCR 2001) fitted the delay term as 0.024 d + 0.11 (d − 177.3) beyond
    /// 177.3 ms, for delays up to 300 ms.
    #[test]
    fn the_delay_term_is_that_of_the_published_fit() {
        for d in [20.0, 50.0, 100.0, 150.0, 200.0, 250.0, 300.0] {
            let fit = 93.2 - 0.024 * d - 0.11 * f64::max(d - 177.3, 0.0);
            assert!((rating(d) - fit).abs() < 0.5, "{d} ms: {} and {fit}", rating(d));
        }
    }

    /// Half of what loss can take is gone when Ppl / BurstR is Bpl.
    #[test]
    fn loss_counts_by_the_robustness_of_the_codec() {
        let of = |loss, burst_ratio, bpl| {
            EModel { loss, burst_ratio, bpl, ..EModel::default() }.impairments().equipment
        };
        assert_eq!(of(0.0, 1.0, 4.3), 0.0);
        assert!((of(0.043, 1.0, 4.3) - 47.5).abs() < 1e-9);
        assert!(of(0.02, 1.0, 25.1) < of(0.02, 1.0, 4.3));
        assert!(of(0.02, 2.0, 25.1) > of(0.02, 1.0, 25.1), "losses in bursts are worse");
    }

    /// Annex B, table B.1: the limits of satisfaction.
    #[test]
    fn scores_are_those_of_the_table() {
        for (r, score) in [(90.0, 4.34), (80.0, 4.03), (70.0, 3.60), (60.0, 3.10), (50.0, 2.58)] {
            assert!((mos(r) - score).abs() < 0.01, "{r}: {}", mos(r));
        }
        assert_eq!([mos(-3.0), mos(120.0), mos(2.0)], [1.0, 4.5, 1.0]);
    }
}
