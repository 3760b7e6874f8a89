//! Extensions that both sides must offer: parameters of INIT and INIT ACK
//! (RFC 5061 §4.2.7, RFC 3758 §3.1).

use crate::config::Config;
use anabranch_wire::sctp::Parameter;

/// A set of extensions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Extensions(pub u8);

/// Chunk types that stand for an extension, with the extension.
const TYPES: [(u8, Extensions); 4] = [
    (192, Extensions::PARTIAL),
    (64, Extensions::INTERLEAVING),
    (130, Extensions::RECONFIGURATION),
    (0xc1, Extensions::ADDRESSES),
];

impl Extensions {
    /// FORWARD-TSN (RFC 3758), or I-FORWARD-TSN with interleaving.
    pub const PARTIAL: Extensions = Extensions(1);
    /// I-DATA (RFC 8260).
    pub const INTERLEAVING: Extensions = Extensions(2);
    /// RE-CONFIG (RFC 6525).
    pub const RECONFIGURATION: Extensions = Extensions(4);

    /// ASCONF (RFC 5061).
    pub const ADDRESSES: Extensions = Extensions(8);

    /// ECN (RFC 4960 Appendix A).
    pub const ECN: Extensions = Extensions(16);

    /// What the configuration offers.
    pub fn offered(config: &Config) -> Extensions {
        let mut set = Extensions::default();
        for (on, extension) in [
            (config.partial_reliability, Extensions::PARTIAL),
            (config.interleaving, Extensions::INTERLEAVING),
            (config.reconfiguration, Extensions::RECONFIGURATION),
            (config.dynamic_addresses, Extensions::ADDRESSES),
            (config.ecn, Extensions::ECN),
        ] {
            set.0 |= if on { extension.0 } else { 0 };
        }
        set
    }

    pub const fn has(self, extension: Extensions) -> bool {
        self.0 & extension.0 != 0
    }

    /// What both sides offer.
    pub const fn and(self, other: Extensions) -> Extensions {
        Extensions(self.0 & other.0)
    }

    /// The parameters that offer them.
    pub fn parameters(self) -> Vec<Parameter> {
        let mut list = Vec::new();
        if self.has(Extensions::ECN) {
            list.push(Parameter::EcnCapable);
        }
        if self.has(Extensions::PARTIAL) {
            list.push(Parameter::ForwardTsnSupported);
        }
        let mut kinds: Vec<u8> =
            TYPES.iter().filter(|(_, e)| self.has(*e)).map(|(kind, _)| *kind).collect();
        if self.has(Extensions::PARTIAL) && self.has(Extensions::INTERLEAVING) {
            kinds.push(194); // I-FORWARD-TSN
        }
        if self.has(Extensions::ADDRESSES) {
            kinds.extend([0x80, 0x0f]); // ASCONF-ACK, AUTH
        }
        if !kinds.is_empty() {
            list.push(Parameter::SupportedExtensions(kinds.into()));
        }
        list
    }

    /// Notes what a parameter of the peer offers.
    pub fn note(&mut self, parameter: &Parameter) {
        match parameter {
            Parameter::EcnCapable => self.0 |= Extensions::ECN.0,
            Parameter::ForwardTsnSupported => self.0 |= Extensions::PARTIAL.0,
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
        for bits in 0..32 {
            let set = Extensions(bits);
            let mut read = Extensions::default();
            set.parameters().iter().for_each(|parameter| read.note(parameter));
            assert_eq!(read, set);
        }
        assert_eq!(Extensions::offered(&Config::rfc9260()).parameters(), []);
    }
}
