//! Names of parameters and causes in nplab's dialect, with their numbers (IANA
//! registry "SCTP parameters"), flags and types. Chunks are in [`crate::script::chunk`].

use crate::script::Value;
use crate::script::chunk::Form;
use anabranch_wire::sctp::kind;

/// Parameters; the first name of a number is the one that is written.
pub(super) const PARAMETERS: [(&str, u16); 36] = [
    ("HEARTBEAT_INFORMATION", 1),
    ("IPV4_ADDRESS", 5),
    ("IPV6_ADDRESS", 6),
    ("STATE_COOKIE", 7),
    ("UNRECOGNIZED_PARAMETER", 8),
    ("UNRECOGNIZED_PARAMETERS", 8),
    ("COOKIE_PRESERVATIVE", 9),
    ("HOSTNAME_ADDRESS", 11),
    ("SUPPORTED_ADDRESS_TYPES", 12),
    ("OUTGOING_SSN_RESET", 13),
    ("OUTGOING_SSN_RESET_REQUEST", 13),
    ("INCOMING_SSN_RESET", 14),
    ("INCOMING_SSN_RESET_REQUEST", 14),
    ("SSN_TSN_RESET", 15),
    ("SSN_TSN_RESET_REQUEST", 15),
    ("RECONFIG_RESPONSE", 16),
    ("RESPONSE", 16),
    ("ADD_OUTGOING_STREAMS", 17),
    ("ADD_OUTGOING_STREAMS_REQUEST", 17),
    ("ADD_INCOMING_STREAMS", 18),
    ("ADD_INCOMING_STREAMS_REQUEST", 18),
    ("ECN_CAPABLE", 0x8000),
    ("ZERO_CHECKSUM_ACCEPTABLE", 0x8001),
    ("RANDOM", 0x8002),
    ("CHUNKS", 0x8003),
    ("CHUNK_LIST", 0x8003),
    ("HMAC_ALGO", 0x8004),
    ("REQUESTED_HMAC_ALGO", 0x8004),
    ("PAD", 0x8005),
    ("SUPPORTED_EXTENSIONS", 0x8008),
    ("FORWARD_TSN_SUPPORTED", 0xc000),
    ("ADD_IP_ADDRESS", 0xc001),
    ("DELETE_IP_ADDRESS", 0xc002),
    ("SET_PRIMARY_ADDRESS", 0xc004),
    ("ADAPTATION_INDICATION", 0xc006),
    ("ADAPTATION_CODE_POINT", 0xc006),
];

/// Causes of errors; likewise.
pub(super) const CAUSES: [(&str, u16); 20] = [
    ("INVALID_STREAM_IDENTIFIER", 1),
    ("MISSING_MANDATORY_PARAMETER", 2),
    ("STALE_COOKIE_ERROR", 3),
    ("STALE_COOKIE", 3),
    ("OUT_OF_RESOURCES", 4),
    ("OUT_OF_RESOURCE", 4),
    ("UNRESOLVABLE_ADDRESS", 5),
    ("UNRECOGNIZED_CHUNK_TYPE", 6),
    ("UNRECOGNIZED_CHUNK", 6),
    ("INVALID_MANDATORY_PARAMETER", 7),
    ("UNRECOGNIZED_PARAMETERS", 8),
    ("UNRECOGNIZED_PARAMETER", 8),
    ("NO_USER_DATA", 9),
    ("COOKIE_RECEIVED_WHILE_SHUTDOWN", 10),
    ("COOKIE_RECEIVED_WHILE_SHUTTING_DOWN", 10),
    ("RESTART_WITH_NEW_ADDRESSES", 11),
    ("USER_INITIATED_ABORT", 12),
    ("PROTOCOL_VIOLATION", 13),
    ("UNSUPPORTED_HMAC_ID", 0x105),
    ("UNSUPPORTED_HMAC", 0x105),
];

/// Returns the number of a chunk by its name.
pub(super) fn chunk_number(name: &str) -> Option<u16> {
    Form::named(name).map(|form| form.kind.into())
}

/// The number of a parameter.
pub(super) fn parameter_number(name: &str) -> Option<u16> {
    number_of(&PARAMETERS, name)
}

/// Returns the number of a cause by its name.
pub(super) fn cause_number(name: &str) -> Option<u16> {
    number_of(&CAUSES, name)
}

fn number_of(table: &[(&str, u16)], name: &str) -> Option<u16> {
    table.iter().find(|(known, _)| *known == name).map(|(_, number)| *number)
}

/// Returns the name that the table has for a number.
pub(super) fn name_of(table: &[(&'static str, u16)], number: u16) -> Option<&'static str> {
    table.iter().find(|(_, known)| *known == number).map(|(name, _)| *name)
}

/// The flags of a chunk: a number, or the letters of its bits.
pub(super) fn flags(value: &Value) -> Option<u8> {
    match value {
        Value::Number(n) => u8::try_from(*n).ok(),
        Value::Word(letters) => letters.chars().try_fold(0, |bits, letter| {
            Some(
                bits | match letter {
                    'E' | 'T' => 1,
                    'B' => 2,
                    'U' => 4,
                    'I' => 8,
                    _ => return None,
                },
            )
        }),
        Value::Or(parts) => parts.iter().try_fold(0, |bits, part| Some(bits | flags(part)?)),
        _ => None,
    }
}

/// The flags of a chunk of type `kind` as a script writes them.
pub(super) fn shown_flags(kind: u8, bits: u8) -> Value {
    let letters = match kind {
        kind::DATA | kind::I_DATA => "IUBE",
        kind::ABORT | kind::SHUTDOWN_COMPLETE => "T",
        _ => "",
    };
    let highest = letters.len();
    if bits == 0 || highest == 0 || bits >> highest != 0 {
        return Value::Number(bits as i64);
    }
    let set = letters.chars().enumerate().filter(|(at, _)| bits >> (highest - 1 - at) & 1 == 1);
    Value::Word(set.map(|(_, letter)| letter).collect())
}

/// The number behind a word in a list of types: of chunks, of addresses, of
/// parameters.
pub(super) fn type_of(value: &Value) -> Option<u16> {
    match value {
        Value::Number(n) => u16::try_from(*n).ok(),
        Value::Word(word) => match word.as_str() {
            "IPv4" => Some(5),
            "IPv6" => Some(6),
            "HOSTNAME" | "Hostname" => Some(11),
            word => chunk_number(word).or_else(|| parameter_number(word)),
        },
        Value::Tree(name, _) => parameter_number(name),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_letters_or_a_number() {
        let word = |text: &str| Value::Word(text.into());
        assert_eq!(flags(&word("IUBE")), Some(15));
        assert_eq!(
            (flags(&word("BE")), flags(&word("T")), flags(&word("X"))),
            (Some(3), Some(1), None)
        );
        assert_eq!(shown_flags(0, 0b1011), word("IBE"));
        assert_eq!(shown_flags(14, 1), word("T"));
        assert_eq!(
            (shown_flags(3, 0), shown_flags(0, 0x10)),
            (Value::Number(0), Value::Number(16))
        );
    }
}
