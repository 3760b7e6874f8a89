//! Extensions are used where both sides offer them, by parameters of INIT and INIT ACK (RFC 5061
//! §4.2.7, RFC 3758 §3.1, RFC 9653 §4).

use crate::config::Config;
use anabranch_wire::sctp::{EDMID_DTLS, Parameter, kind};

/// `Extensions` is a set of extensions, one bit each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Extensions(pub u8);

/// Each pair is a chunk type in the list of supported extensions (RFC 5061 §4.2.7), and the
/// extension that it stands for.
const TYPES: [(u8, Extensions); 5] = [
    (kind::FORWARD_TSN, Extensions::PARTIAL),
    (kind::I_DATA, Extensions::INTERLEAVING),
    (kind::RE_CONFIG, Extensions::RECONFIGURATION),
    (kind::ASCONF, Extensions::ADDRESSES),
    (kind::I_FORWARD_TSN, Extensions::INTERLEAVED_PARTIAL),
];

impl Extensions {
    /// `PARTIAL` is FORWARD-TSN (RFC 3758). Once it is agreed on together with interleaving it
    /// means I-FORWARD-TSN.
    pub const PARTIAL: Extensions = Extensions(1);
    /// `INTERLEAVING` is I-DATA (RFC 8260).
    pub const INTERLEAVING: Extensions = Extensions(2);
    /// `RECONFIGURATION` is RE-CONFIG (RFC 6525).
    pub const RECONFIGURATION: Extensions = Extensions(4);

    /// `ADDRESSES` is ASCONF (RFC 5061).
    pub const ADDRESSES: Extensions = Extensions(8);

    /// `ECN` is explicit congestion notification (RFC 4960 Appendix A).
    pub const ECN: Extensions = Extensions(16);

    /// `INTERLEAVED_PARTIAL` is I-FORWARD-TSN (RFC 8260 §2.3.1).
    pub const INTERLEAVED_PARTIAL: Extensions = Extensions(32);

    /// `ZERO_CHECKSUM` says that packets may come without a checksum, since the layer below finds
    /// their errors (RFC 9653 §6).
    pub const ZERO_CHECKSUM: Extensions = Extensions(64);

    /// Returns the extensions that the configuration offers.
    pub fn offered(config: &Config) -> Extensions {
        let mut set = Extensions::default();
        for (on, extension) in [
            (config.partial_reliability, Extensions::PARTIAL),
            (config.interleaving, Extensions::INTERLEAVING),
            (config.reconfiguration, Extensions::RECONFIGURATION),
            (config.dynamic_addresses, Extensions::ADDRESSES),
            (config.ecn, Extensions::ECN),
            (config.partial_reliability && config.interleaving, Extensions::INTERLEAVED_PARTIAL),
            (config.zero_checksum, Extensions::ZERO_CHECKSUM),
        ] {
            set.0 |= if on { extension.0 } else { 0 };
        }
        set
    }

    /// Returns whether the set has any extension.
    #[inline]
    pub const fn any(self) -> bool {
        self.0 != 0
    }

    /// Returns whether the set has this extension.
    pub const fn has(self, extension: Extensions) -> bool {
        self.0 & extension.0 != 0
    }

    /// Returns the extensions that are in both sets.
    pub const fn and(self, other: Extensions) -> Extensions {
        Extensions(self.0 & other.0)
    }

    /// Returns the set as it is used, where `self` is what both sides offered: messages are given
    /// up by FORWARD-TSN or, with interleaving, by I-FORWARD-TSN, each where it was offered (RFC
    /// 8260 §2.3.1).
    pub const fn agreed(self) -> Extensions {
        match (self.has(Self::INTERLEAVING), self.has(Self::INTERLEAVED_PARTIAL)) {
            (true, true) => Extensions(self.0 | Self::PARTIAL.0),
            (true, false) => Extensions(self.0 & !Self::PARTIAL.0),
            (false, _) => self,
        }
    }

    /// Returns the extensions that an INIT ACK names in answer to an INIT that offered `theirs`.
    pub fn answered(config: &Config, theirs: Extensions) -> Extensions {
        let ours = Extensions::offered(config);
        match config.brief_offers {
            true => Extensions(ours.0 & (theirs.0 | !(Self::ECN.0 | Self::PARTIAL.0))),
            false => ours,
        }
    }

    /// Returns the parameters that offer the extensions. With `brief` FORWARD-TSN has its own
    /// parameter alone, and no place in the list of chunk types.
    pub fn parameters(self, brief: bool) -> Vec<Parameter> {
        let mut list = Vec::new();
        if self.has(Extensions::ECN) {
            list.push(Parameter::EcnCapable);
        }
        if self.has(Extensions::PARTIAL) {
            list.push(Parameter::ForwardTsnSupported);
        }
        if self.has(Extensions::ZERO_CHECKSUM) {
            list.push(Parameter::ZeroChecksumAcceptable(EDMID_DTLS));
        }
        let listed = |of: u8, e: Extensions| self.has(e) && !(brief && of == kind::FORWARD_TSN);
        let listed = TYPES.iter().filter(|(of, e)| listed(*of, *e));
        let mut kinds: Vec<u8> = listed.map(|(kind, _)| *kind).collect();
        if self.has(Extensions::ADDRESSES) {
            kinds.extend([kind::ASCONF_ACK, kind::AUTH]);
        }
        if !kinds.is_empty() {
            list.push(Parameter::SupportedExtensions(kinds.into()));
        }
        list
    }

    /// Adds the extensions that a parameter of the peer offers.
    pub fn note(&mut self, parameter: &Parameter) {
        match parameter {
            Parameter::EcnCapable => self.0 |= Extensions::ECN.0,
            Parameter::ForwardTsnSupported => self.0 |= Extensions::PARTIAL.0,
            Parameter::ZeroChecksumAcceptable(EDMID_DTLS) => {
                self.0 |= Extensions::ZERO_CHECKSUM.0;
            }
            Parameter::SupportedExtensions(kinds) => {
                for (_, extension) in TYPES.iter().filter(|(kind, _)| kinds.contains(kind)) {
                    self.0 |= extension.0;
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_offered_is_what_is_read() {
        for bits in 0..128 {
            let set = Extensions(bits);
            let read = Extensions::default();
            for brief in [false, true] {
                let mut read = read;
                set.parameters(brief).iter().for_each(|parameter| read.note(parameter));
                assert_eq!(read, set);
            }
        }
        assert_eq!(Extensions::offered(&Config::rfc9260()).parameters(false), []);
    }

    /// RFC 8260 §2.3.1: with interleaving I-FORWARD-TSN decides, without it FORWARD-TSN.
    #[test]
    fn what_is_agreed_on_depends_on_interleaving() {
        let (partial, interleaved) = (Extensions::PARTIAL.0, Extensions::INTERLEAVED_PARTIAL.0);
        let gives_up = |bits| Extensions(bits).agreed().has(Extensions::PARTIAL);
        for (bits, without, with) in [
            (0, false, false),
            (partial, true, false),
            (interleaved, false, true),
            (partial | interleaved, true, true),
        ] {
            let both = (gives_up(bits), gives_up(bits | Extensions::INTERLEAVING.0));
            assert_eq!(both, (without, with), "{bits}");
        }
    }

    /// Linux: only what was asked for, and no list for FORWARD-TSN alone.
    #[test]
    fn brief_offers_answer_what_was_offered() {
        let config = Config {
            brief_offers: true,
            ecn: true,
            partial_reliability: true,
            reconfiguration: true,
            ..Config::rfc9260()
        };
        let answer = |theirs| Extensions::answered(&config, theirs).parameters(true);
        let list = Parameter::SupportedExtensions([130].into());
        assert_eq!(answer(Extensions::default()), std::slice::from_ref(&list));
        assert_eq!(answer(Extensions::ECN), [Parameter::EcnCapable, list.clone()]);
        assert_eq!(answer(Extensions::PARTIAL), [Parameter::ForwardTsnSupported, list]);
    }
}
