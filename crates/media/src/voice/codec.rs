//! Codecs of narrow-band telephony, as data.
//!
//! Frame sizes are those of ITU-T G.711 and G.729. The equipment impairment factor `ie` and the
//! packet-loss robustness factor `bpl` are those that ITU-T G.113, Appendix I, gives provisionally:
//! for G.711 with packets of 10 ms and random loss, and for G.729A with voice activity detection
//! and packets of 20 ms. They are used for other packet lengths, too.

use anabranch_units::Span;

/// A codec of telephony, as the E-model knows it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Codec {
    /// The name in scenarios.
    pub name: &'static str,
    /// A description in one line.
    pub about: &'static str,
    /// Length of speech in a frame.
    pub frame: Span,
    /// Octets of an encoded frame.
    pub octets: u32,
    /// Speech behind the frame that the encoder waits for.
    pub lookahead: Span,
    /// Equipment impairment factor without loss (ITU-T G.113, Appendix I).
    pub ie: f64,
    /// Packet-loss robustness factor (ITU-T G.113, Appendix I).
    pub bpl: f64,
    /// Payload type in RTP (RFC 3551 §6, table 4).
    pub payload_type: u8,
}

/// The catalogue of all codecs.
pub const CODECS: [Codec; 3] = [
    Codec {
        name: "g711",
        about: "G.711, 64 kbit/s, without concealment of losses",
        frame: Span::from_millis(10),
        octets: 80,
        lookahead: Span::ZERO,
        ie: 0.0,
        bpl: 4.3,
        payload_type: 0,
    },
    Codec {
        name: "g711-plc",
        about: "G.711, 64 kbit/s, with concealment of losses (G.711, Appendix I)",
        frame: Span::from_millis(10),
        octets: 80,
        lookahead: Span::ZERO,
        ie: 0.0,
        bpl: 25.1,
        payload_type: 0,
    },
    Codec {
        name: "g729a",
        about: "G.729A, 8 kbit/s, which conceals losses",
        frame: Span::from_millis(10),
        octets: 10,
        lookahead: Span::from_millis(5),
        ie: 11.0,
        bpl: 19.0,
        payload_type: 18,
    },
];
