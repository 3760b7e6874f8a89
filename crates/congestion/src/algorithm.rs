//! Lists the algorithms: descriptions that build controllers, and the closed
//! set of controllers that senders hold.
//!
//! A new algorithm is one file and one entry in [`register!`] below.

use crate::ack_clocked::Common;
use crate::coupled::{balia, coupled_bbr, d_lia, lia, mcubic, mcubic_share, olia, wvegas};
use crate::{
    Acked, CongestionEvent, Controller, Feedback, LostSegment, OptionForm, Options, PathView,
    Shared, Sibling, bbr, bbr3, bic, cdg, copa, cubic, dctcp, gaimd, highspeed, htcp, hybla,
    illinois, ledbat, ledbat_plus_plus, lp, nv, prague, reno, scalable, vegas, veno, vivace,
    westwood, yeah,
};
use anabranch_custom::{Custom, Place};
use anabranch_units::{Rate, Span, Time};
use std::fmt;

/// Makes a controller of the user's own, given its place, the initial window and
/// the initial threshold in octets.
pub type MakeWindow = dyn Fn(&Place, u64, u64) -> Box<dyn Controller + Send> + Send + Sync;

/// `AlgorithmInfo` is an entry of the registry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AlgorithmInfo {
    /// `name` is the word by which scenarios choose the algorithm.
    pub name: &'static str,
    /// `summary` describes the algorithm in one sentence.
    pub summary: &'static str,
    /// `reference` is the RFC, draft or paper that defines the algorithm.
    pub reference: &'static str,
}

/// Writes the two enums, their dispatch and the table from one list of
/// `Variant(Options => Controller), name, summary, reference`. An options type
/// implements [`Options`]; a controller has `Debug`
/// and `new(&Options, initial_window, initial_ssthresh)`.
macro_rules! register {
    ($($(#[$doc:meta])* $variant:ident($options:ty => $controller:ty),
        $name:literal, $summary:literal, $reference:literal;)*) => {
        /// All algorithms that [`Algorithm::from_name`] knows.
        pub const ALGORITHMS: &[AlgorithmInfo] =
            &[$(AlgorithmInfo { name: $name, summary: $summary, reference: $reference }),*];

        /// A window algorithm with its options: a plain description.
        ///
        /// ```
        /// use anabranch_congestion::{Algorithm, Controller};
        /// let algorithm = Algorithm::from_name("cubic").unwrap();
        /// let controller = algorithm.build(14_600, u64::MAX);
        /// assert_eq!(controller.window(), 14_600);
        /// ```
        #[derive(Clone, PartialEq, Debug)]
        pub enum Algorithm {
            $($(#[$doc])* $variant($options),)*
            /// A window algorithm that the user wrote; its options travel with it.
            Custom(Box<Custom<MakeWindow>>),
        }

        impl Algorithm {
            /// Returns the algorithm called `name`, with its default options.
            pub fn from_name(name: &str) -> Option<Algorithm> {
                match name {
                    $($name => Some(Algorithm::$variant(<$options>::default())),)*
                    _ => None,
                }
            }

            /// Returns the name in [`ALGORITHMS`], or the one that the user gave to an algorithm of
            /// his own.
            pub fn name(&self) -> &str {
                match self {
                    $(Algorithm::$variant(_) => $name,)*
                    Algorithm::Custom(custom) => custom.name(),
                }
            }

            /// The options that it shares with all algorithms that ACKs drive, where
            /// it is one of them.
            pub fn common_mut(&mut self) -> Option<&mut Common> {
                match self {
                    $(Algorithm::$variant(options) => options.common_mut(),)*
                    Algorithm::Custom(_) => None,
                }
            }

            /// Returns whether the algorithm answers marks in its own way
            /// ([`Options::ANSWERS_MARKS`]).
            pub fn answers_marks(&self) -> bool {
                match self {
                    $(Algorithm::$variant(_) => <$options>::ANSWERS_MARKS,)*
                    Algorithm::Custom(_) => false,
                }
            }

            /// Shows its own options to `form`; those of the user's algorithms are none of these.
            ///
            /// # Errors
            /// That of the form, where it holds something that is not allowed.
            pub fn own_options<F: OptionForm>(&mut self, form: &mut F) -> Result<(), F::Error> {
                match self {
                    $(Algorithm::$variant(options) => options.own(form),)*
                    Algorithm::Custom(_) => Ok(()),
                }
            }

            /// Makes a controller for a new path. Both arguments are octets; `initial_ssthresh` is
            /// `u64::MAX` for no threshold.
            pub fn build(&self, initial_window: u64, initial_ssthresh: u64) -> Congestion {
                match self {
                    $(Algorithm::$variant(options) => Congestion::$variant(
                        <$controller>::new(options, initial_window, initial_ssthresh),
                    ),)*
                    Algorithm::Custom(custom) => {
                        let make = custom.maker();
                        Congestion::Custom(make(custom.place(), initial_window, initial_ssthresh))
                    }
                }
            }
        }

        /// `Congestion` is a controller. Senders hold this enum, so that a hook costs a branch
        /// instead of an indirect call and no allocation; algorithms from outside the workspace go
        /// into `Custom`.
        pub enum Congestion {
            $($(#[$doc])* $variant($controller),)*
            /// An algorithm that the user wrote, behind the same trait.
            Custom(Box<dyn Controller + Send>),
        }

        /// Evaluates one expression on the controller that is held, whichever variant that is.
        macro_rules! each {
            ($self:ident, $c:ident => $call:expr) => {
                match $self {
                    $(Congestion::$variant($c) => $call,)*
                    Congestion::Custom($c) => $call,
                }
            };
        }

        impl fmt::Debug for Congestion {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Congestion::$variant(c) => c.fmt(f),)*
                    Congestion::Custom(c) => write!(f, "Custom {{ window: {} }}", c.window()),
                }
            }
        }
    };
}

register! {
    /// Additive increase, multiplicative decrease (RFC 5681).
    Reno(reno::RenoOptions => reno::Reno),
        "reno", "one segment more per round trip, half the window at a loss", "RFC 5681";
    /// A cubic function of the time since the last reduction (RFC 9438).
    Cubic(cubic::CubicOptions => cubic::Cubic),
        "cubic", "a cubic function of the time since the last loss, 0.7 of the window at a loss",
        "RFC 9438";
    /// Larger steps in large windows (RFC 3649).
    HighSpeed(highspeed::HighSpeedOptions => highspeed::HighSpeed),
        "highspeed", "Reno with larger steps up and smaller steps down in large windows", "RFC 3649";
    /// The measured bandwidth after a loss (Mascolo et al.).
    Westwood(westwood::WestwoodOptions => westwood::Westwood),
        "westwood", "Reno's growth; a loss leaves the measured bandwidth times the smallest RTT",
        "Grieco and Mascolo, CCR 34(2), 2004";
    /// The window follows the queue (Brakmo and Peterson).
    Vegas(vegas::VegasOptions => vegas::Vegas),
        "vegas", "keeps alpha to beta segments in queues, by the round-trip time",
        "Brakmo and Peterson, JSAC 13(8), 1995";
    /// A reduction in proportion to the marks (RFC 8257).
    Dctcp(dctcp::DctcpOptions => dctcp::Dctcp),
        "dctcp", "Reno's growth; marks reduce the window in proportion to their share", "RFC 8257";
    /// Rate and window from a model of the path, version 1 (Cardwell et al.).
    Bbr(bbr::BbrOptions => bbr::Bbr),
        "bbr", "paces at the measured bandwidth, whatever is lost (BBR version 1)",
        "draft-cardwell-iccrg-bbr-congestion-control-00";
    /// Rate and window from a model of the path with bounds from losses, version 3.
    Bbr3(bbr3::Bbr3Options => bbr3::Bbr3),
        "bbr3", "paces at the measured bandwidth, bounded by what probes lost (BBR version 3)",
        "draft-ietf-ccwg-bbr";
    /// Any additive increase, any multiplicative decrease (Yang and Lam).
    Gaimd(gaimd::GaimdOptions => gaimd::Gaimd),
        "gaimd", "AIMD with alpha and beta to choose; smoother than Reno and as fast where not chosen",
        "Yang and Lam, ICNP 2000";
    /// A constant more for each segment acknowledged (Kelly).
    Scalable(scalable::ScalableOptions => scalable::Scalable),
        "scalable", "a hundredth of a segment more for each acknowledged, an eighth less at a loss",
        "Kelly, CCR 33(2), 2003";
    /// Binary search between what lost and what did not (Xu et al.).
    Bic(bic::BicOptions => bic::Bic),
        "bic", "searches by halves between the window that lost and the one that did not",
        "Xu, Harfoush and Rhee, INFOCOM 2004";
    /// Steps that grow with the time since the last loss (Leith and Shorten).
    Htcp(htcp::HtcpOptions => htcp::Htcp),
        "htcp", "steps that grow with the time since the last loss, reductions by the queue",
        "draft-leith-tcp-htcp-06";
    /// Steps that grow with the round-trip time (Caini and Firrincieli).
    Hybla(hybla::HyblaOptions => hybla::Hybla),
        "hybla", "grows over any round-trip time as over 25 ms",
        "Caini and Firrincieli, IJSCN 22(5), 2004";
    /// Growth and reduction by the delay (Liu, Başar and Srikant).
    Illinois(illinois::IllinoisOptions => illinois::Illinois),
        "illinois", "steps from 10 to 0.3 segments and reductions from an eighth to a half, by the delay",
        "Liu, Basar and Srikant, Performance Evaluation 65, 2008";
    /// Losses told apart by the queue (Fu and Liew).
    Veno(veno::VenoOptions => veno::Veno),
        "veno", "Reno that takes a loss without a queue for a random one",
        "Fu and Liew, JSAC 21(2), 2003";
    /// Scalable growth while the queue is short (Baiocchi et al.).
    Yeah(yeah::YeahOptions => yeah::Yeah),
        "yeah", "Scalable TCP while the queue is short, Reno with a queue that it drains when not",
        "Baiocchi, Castellani and Vacirca, PFLDnet 2007";
    /// A target of queueing delay for the background (RFC 6817).
    Ledbat(ledbat::LedbatOptions => ledbat::Ledbat),
        "ledbat", "for the background: keeps 100 ms of queueing delay, and gives way",
        "RFC 6817";
    /// LEDBAT with multiplicative decrease and periodic slowdowns.
    LedbatPlusPlus(ledbat_plus_plus::LedbatPlusPlusOptions => ledbat_plus_plus::LedbatPlusPlus),
        "ledbat++", "LEDBAT with a smaller gain, multiplicative decrease and periodic slowdowns",
        "draft-irtf-iccrg-ledbat-plus-plus";
    /// Reductions by the gradient of the delay (Hayes and Armitage).
    Cdg(cdg::CdgOptions => cdg::Cdg),
        "cdg", "reduces by chance with the gradient of the delay",
        "Hayes and Armitage, Networking 2011";
    /// A rate inverse to the queueing delay (Arun and Balakrishnan).
    Copa(copa::CopaOptions => copa::Copa),
        "copa", "steers to a rate inverse to the queueing delay",
        "Arun and Balakrishnan, NSDI 2018";
    /// A halving at the first sign of others, a segment at the second (Kuzmanovic and Knightly).
    Lp(lp::LpOptions => lp::Lp),
        "lp", "for the background: halves when the delay rises, and goes when it rises again",
        "Kuzmanovic and Knightly, INFOCOM 2003";
    /// Vegas by the best rate of a round trip (Brakmo).
    Nv(nv::NvOptions => nv::Nv),
        "nv", "keeps at most ten segments in queues, by the best rate of a round trip",
        "Brakmo, TCP-NV, 2010";
    /// A rate that climbs the gradient of its utility (Dong et al.).
    Vivace(vivace::VivaceOptions => vivace::Vivace),
        "vivace", "climbs the gradient of a utility of rate, delay and loss, measured interval by interval",
        "Dong et al., NSDI 2018";
    /// Marks in proportion, whatever the round-trip time (De Schepper et al.).
    Prague(prague::PragueOptions => prague::Prague),
        "prague", "DCTCP for the Internet: marks in proportion, rates without dependence on short round trips",
        "draft-briscoe-iccrg-prague-congestion-control";
    /// Linked increases over several paths (RFC 6356).
    Lia(lia::LiaOptions => lia::Lia),
        "lia", "Reno whose paths together grow as the best of them would alone", "RFC 6356";
    /// Opportunistic linked increases (Khalili et al.).
    Olia(olia::OliaOptions => olia::Olia),
        "olia", "linked increases that move windows to the paths presumed the best",
        "Khalili et al., CoNEXT 2012";
    /// Balanced linked adaptation (Peng et al.).
    Balia(balia::BaliaOptions => balia::Balia),
        "balia", "linked increases between friendliness and responsiveness",
        "Peng et al., IEEE/ACM ToN 24(1), 2016";
    /// Weighted Vegas (Cao et al.).
    WVegas(wvegas::WVegasOptions => wvegas::WVegas),
        "wvegas", "Vegas whose paths share the segments kept in queues by their rates",
        "Cao, Xu and Fu, ICNP 2012";
    /// CUBIC whose plateaus depend on the other paths.
    MCubic(mcubic::MCubicOptions => mcubic::MCubic),
        "mcubic", "CUBIC whose plateau comes later the more paths grow", "the study `mcubic`";
    /// CUBIC whose clock follows its share of the rates.
    MCubicShare(mcubic_share::MCubicShareOptions => mcubic_share::MCubicShare),
        "mcubic-share", "CUBIC whose clock is slower the less its path carries", "the study `mcubic`";
    /// BBR whose paths divide the bandwidth of a bottleneck that they seem to share.
    CoupledBbr(coupled_bbr::CoupledBbrOptions => coupled_bbr::CoupledBbr),
        "coupled-bbr", "BBR whose paths divide the bandwidth where theirs are alike",
        "Mahmud et al., IEEE Access 8, 2020";
    /// LIA whose reductions follow the time between losses.
    DLia(d_lia::DLiaOptions => d_lia::DLia),
        "d-lia", "LIA that leaves more of the window where losses follow each other soon",
        "Lubna, Mahmud and Cho, ICT Express 6(4), 2020";
}

impl Default for Algorithm {
    /// Returns CUBIC with its default options.
    fn default() -> Algorithm {
        Algorithm::Cubic(cubic::CubicOptions::default())
    }
}

impl Controller for Congestion {
    #[inline]
    fn on_sent(&mut self, now: Time, bytes: u64, path: &PathView) {
        each!(self, c => c.on_sent(now, bytes, path));
    }
    #[inline]
    fn on_ack(&mut self, acked: &Acked, path: &PathView) {
        each!(self, c => c.on_ack(acked, path));
    }
    #[inline]
    fn wants_feedback(&self) -> bool {
        each!(self, c => c.wants_feedback())
    }
    fn owns_recovery(&self) -> bool {
        each!(self, c => c.owns_recovery())
    }
    fn on_feedback(&mut self, feedback: &Feedback, path: &PathView) {
        each!(self, c => c.on_feedback(feedback, path));
    }
    fn wants_losses(&self) -> bool {
        each!(self, c => c.wants_losses())
    }
    fn on_lost(&mut self, now: Time, segment: &LostSegment, path: &PathView) {
        each!(self, c => c.on_lost(now, segment, path));
    }
    fn on_congestion(&mut self, event: &CongestionEvent, path: &PathView) {
        each!(self, c => c.on_congestion(event, path));
    }
    fn on_undo(&mut self) {
        each!(self, c => c.on_undo());
    }
    fn on_idle(&mut self, initial: u64) {
        each!(self, c => c.on_idle(initial));
    }
    fn is_coupled(&self) -> bool {
        each!(self, c => c.is_coupled())
    }
    fn on_siblings(&mut self, siblings: &[Sibling]) {
        each!(self, c => c.on_siblings(siblings));
    }
    fn shared(&self) -> Shared {
        each!(self, c => c.shared())
    }
    fn coupling(&self, path: &Sibling) -> Option<f64> {
        each!(self, c => c.coupling(path))
    }
    fn on_penalty(&mut self, mss: u64) {
        each!(self, c => c.on_penalty(mss));
    }
    #[inline]
    fn window(&self) -> u64 {
        each!(self, c => c.window())
    }
    #[inline]
    fn ssthresh(&self) -> u64 {
        each!(self, c => c.ssthresh())
    }
    #[inline]
    fn pacing_rate(&self, srtt: Option<Span>) -> Option<Rate> {
        each!(self, c => c.pacing_rate(srtt))
    }
    fn longest_burst(&self) -> Option<Span> {
        each!(self, c => c.longest_burst())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_the_table_agree() {
        for info in ALGORITHMS {
            let algorithm = Algorithm::from_name(info.name).expect(info.name);
            assert_eq!(algorithm.name(), info.name);
        }
        assert_eq!(Algorithm::from_name("Reno"), None);
    }

    #[test]
    fn a_controller_is_small() {
        let size = size_of::<Congestion>();
        assert!(size <= 160, "{size} octets");
    }

    #[test]
    fn a_custom_controller_is_driven_like_the_others() {
        let mut c = Congestion::Custom(Box::new(Algorithm::default().build(3000, u64::MAX)));
        c.on_idle(1000);
        assert_eq!((c.window(), c.ssthresh(), c.pacing_rate(None)), (1000, u64::MAX, None));
        assert_eq!(format!("{c:?}"), "Custom { window: 1000 }");
    }
}
