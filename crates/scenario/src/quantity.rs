//! Quantities as people write them: a number, a space and a unit.
//!
//! `"10 Mbit/s"`, `"35 ms"`, `"1500 B"`, `"64 KiB"`, `"100 packets"`. A number
//! without a unit is refused, and so is a negative one. Numbers are read
//! exactly, as decimals, not through floating point; times are rounded to the
//! picosecond and rates to the bit per second, while octets and packets must
//! be whole.

use anabranch_units::{Bytes, Rate, Span};

/// Something that is written as a number with a unit.
pub trait Quantity: Sized {
    /// What is allowed, for messages.
    const ALLOWED: &'static str;
    /// A regular expression of what is allowed, for the JSON Schema; bounds are beyond it.
    const PATTERN: &'static str;
    /// A text that is allowed, for messages.
    const EXAMPLE: &'static str;
    /// Reads `text`; `None` when it is not such a quantity.
    fn parse(text: &str) -> Option<Self>;
    /// Writes the quantity such that [`parse`](Self::parse) reads the same.
    fn write(&self) -> String;
}

impl Quantity for Span {
    const ALLOWED: &'static str = "a time such as \"35 ms\", at least 0 and at most 10 days, \
        in ps, ns, us, ms, s, min or h";
    const PATTERN: &'static str =
        r"^\s*\+?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?\s+(ps|ns|us|µs|μs|ms|s|min|h)\s*$";
    const EXAMPLE: &'static str = "35 ms";

    fn parse(text: &str) -> Option<Span> {
        let (number, unit) = split(text)?;
        let scale = match unit {
            "ps" => 1,
            "ns" => 1_000,
            "us" | "µs" | "μs" => 1_000_000,
            "ms" => 1_000_000_000,
            "s" => PS_PER_S,
            "min" => 60 * PS_PER_S,
            "h" => 3600 * PS_PER_S,
            _ => return None,
        };
        let picos = number.times(scale, Rounding::Nearest)?;
        (picos <= LONGEST_S * PS_PER_S).then(|| Span::from_picos(picos))
    }

    fn write(&self) -> String {
        if *self == Span::ZERO { "0 ps".to_owned() } else { format!("{self:#}") }
    }
}

impl Quantity for Rate {
    const ALLOWED: &'static str = "a rate such as \"10 Mbit/s\", at least 1 bit/s, \
        in bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s, B/s, kB/s, MB/s or GB/s";
    const PATTERN: &'static str = r"^\s*\+?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?\s+(bit/s|kbit/s|Mbit/s|Gbit/s|Tbit/s|B/s|kB/s|MB/s|GB/s)\s*$";
    const EXAMPLE: &'static str = "10 Mbit/s";

    fn parse(text: &str) -> Option<Rate> {
        let (number, unit) = split(text)?;
        let scale = match unit {
            "bit/s" => 1,
            "kbit/s" => 1_000,
            "Mbit/s" => 1_000_000,
            "Gbit/s" => 1_000_000_000,
            "Tbit/s" => 1_000_000_000_000,
            "B/s" => 8,
            "kB/s" => 8_000,
            "MB/s" => 8_000_000,
            "GB/s" => 8_000_000_000,
            _ => return None,
        };
        // What would only be 1 bit/s by rounding is less than is allowed.
        Rate::from_bps(number.times(scale, Rounding::Down)?)?;
        Rate::from_bps(number.times(scale, Rounding::Nearest)?)
    }

    fn write(&self) -> String {
        self.to_string()
    }
}

impl Quantity for Bytes {
    const ALLOWED: &'static str = "a whole number of octets such as \"1500 B\" or \"64 KiB\", \
        in B, kB, MB, GB, TB, KiB, MiB, GiB or TiB";
    const PATTERN: &'static str =
        r"^\s*\+?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?\s+(B|kB|MB|GB|TB|KiB|MiB|GiB|TiB)\s*$";
    const EXAMPLE: &'static str = "64 KiB";

    fn parse(text: &str) -> Option<Bytes> {
        let (number, unit) = split(text)?;
        let scale = match unit {
            "B" => 1,
            "kB" => 1_000,
            "MB" => 1_000_000,
            "GB" => 1_000_000_000,
            "TB" => 1_000_000_000_000,
            "KiB" => 1 << 10,
            "MiB" => 1 << 20,
            "GiB" => 1 << 30,
            "TiB" => 1 << 40,
            _ => return None,
        };
        number.times(scale, Rounding::Refuse).map(Bytes)
    }

    fn write(&self) -> String {
        format!("{self:#}")
    }
}

/// A whole number of packets (or of full-sized segments).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packets(pub u32);

impl Quantity for Packets {
    const ALLOWED: &'static str = "a whole number of packets such as \"100 packets\"";
    const PATTERN: &'static str =
        r"^\s*\+?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?\s+(packets|packet)\s*$";
    const EXAMPLE: &'static str = "100 packets";

    fn parse(text: &str) -> Option<Packets> {
        let (number, unit) = split(text)?;
        if !matches!(unit, "packets" | "packet") {
            return None;
        }
        u32::try_from(number.times(1, Rounding::Refuse)?).ok().map(Packets)
    }

    fn write(&self) -> String {
        if self.0 == 1 { "1 packet".to_owned() } else { format!("{} packets", self.0) }
    }
}

/// An amount of data, in packets or in octets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Amount {
    /// The amount is counted in packets.
    Packets(u32),
    /// The amount is counted in octets.
    Octets(u64),
}

impl Quantity for Amount {
    const ALLOWED: &'static str =
        "a whole number of packets such as \"100 packets\" or of octets such as \"64 KiB\"";
    const PATTERN: &'static str = r"^\s*\+?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?\s+(packets|packet|B|kB|MB|GB|TB|KiB|MiB|GiB|TiB)\s*$";
    const EXAMPLE: &'static str = "100 packets";

    fn parse(text: &str) -> Option<Amount> {
        Packets::parse(text)
            .map(|n| Amount::Packets(n.0))
            .or_else(|| Bytes::parse(text).map(|n| Amount::Octets(n.0)))
    }

    fn write(&self) -> String {
        match *self {
            Amount::Packets(n) => Packets(n).write(),
            Amount::Octets(n) => Bytes(n).write(),
        }
    }
}

const PS_PER_S: u64 = 1_000_000_000_000;
/// The longest time that is read, 10 days: the clock counts to 213, and dates
/// are sums of such times.
pub(crate) const LONGEST_S: u64 = 10 * 24 * 3600;

/// `digits · 10^exponent`, not negative.
struct Decimal {
    digits: u64,
    exponent: i32,
}

/// What to do with a remainder below the base unit.
#[derive(PartialEq)]
enum Rounding {
    Nearest,
    Down,
    Refuse,
}

impl Decimal {
    /// `self · scale` as an integer; `None` when it does not fit.
    fn times(&self, scale: u64, rounding: Rounding) -> Option<u64> {
        let product = self.digits as u128 * scale as u128;
        let value = if self.exponent >= 0 {
            if product == 0 {
                return Some(0);
            }
            product.checked_mul(10_u128.checked_pow(self.exponent as u32)?)?
        } else {
            // Below 10^-38 nothing is left of any 64-bit number times any unit.
            let divisor = 10_u128.checked_pow(self.exponent.unsigned_abs()).unwrap_or(u128::MAX);
            if rounding == Rounding::Refuse && !product.is_multiple_of(divisor) {
                return None;
            }
            let up = rounding != Rounding::Down && product % divisor >= divisor.div_ceil(2);
            product / divisor + u128::from(up)
        };
        u64::try_from(value).ok()
    }
}

/// Splits a quantity into its number and its unit.
fn split(text: &str) -> Option<(Decimal, &str)> {
    let (number, unit) = text.trim().split_once(char::is_whitespace)?;
    Some((decimal(number)?, unit.trim_start()))
}

/// Most decimal digits that are read; what follows them is below every
/// precision here.
const DIGITS: usize = 19;

fn decimal(text: &str) -> Option<Decimal> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    if exponent.abs() > 60 {
        return None;
    }
    let mantissa = mantissa.strip_prefix('+').unwrap_or(mantissa);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let all_digits =
        |s: &str| !s.is_empty() && s.len() <= 400 && s.bytes().all(|c| c.is_ascii_digit());
    if !all_digits(whole) || !all_digits(fraction) {
        return None;
    }
    let mut value = Decimal { digits: 0, exponent };
    let whole = whole.trim_start_matches('0');
    if whole.len() > DIGITS {
        return None;
    }
    let mut used = whole.len();
    for digit in whole.bytes() {
        value.digits = value.digits * 10 + u64::from(digit - b'0');
    }
    for digit in fraction.trim_end_matches('0').bytes() {
        if used >= DIGITS {
            break;
        }
        value.digits = value.digits * 10 + u64::from(digit - b'0');
        value.exponent -= 1;
        used += usize::from(value.digits > 0);
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_write() {
        assert_eq!(Span::parse("35 ms"), Some(Span::from_millis(35)));
        assert_eq!(Span::parse("0.33 s"), Some(Span::from_millis(330)));
        assert_eq!(Span::parse("1e-05 s"), Some(Span::from_micros(10)));
        assert_eq!(Span::parse("1.5 µs"), Some(Span::from_nanos(1500)));
        assert_eq!(Span::parse("0 s"), Some(Span::ZERO));
        assert_eq!(Rate::parse("10 Mbit/s"), Some(Rate::mbit(10)));
        assert_eq!(Rate::parse("1.5 Mbit/s"), Some(Rate::kbit(1500)));
        assert_eq!(Rate::parse("1 MB/s"), Some(Rate::mbit(8)));
        assert_eq!(Bytes::parse("64 KiB"), Some(Bytes(65_536)));
        assert_eq!(Bytes::parse("4 MB"), Some(Bytes(4_000_000)));
        assert_eq!(Amount::parse("1 packet"), Some(Amount::Packets(1)));
        assert_eq!(Amount::parse("15 kB"), Some(Amount::Octets(15_000)));
    }

    #[test]
    fn refuses_what_is_not_a_quantity() {
        for text in [
            "", "35", "35ms", "-35 ms", "ms", "35 mS", "35 ms ms", "nan s", "inf s", "1e99 s",
            "201e5 s", ". s", "1. s", "1..2 s", "0x1 s", "10 Mbit", "1 _ s", "１ s",
        ] {
            assert_eq!(Span::parse(text), None, "{text}");
        }
        assert_eq!(Rate::parse("0 Mbit/s"), None);
        // Nothing below 1 bit/s becomes 1 bit/s by rounding.
        assert_eq!(Rate::parse("0.5 bit/s"), None);
        assert_eq!(Rate::parse("0.124 B/s"), None);
        assert_eq!(Rate::parse("0.125 B/s"), Rate::from_bps(1));
        assert_eq!(Rate::parse("1.5 bit/s"), Rate::from_bps(2));
        assert_eq!(Rate::parse("-1 Mbit/s"), None);
        assert_eq!(Rate::parse("10 MBit/s"), None);
        assert_eq!(Rate::parse("99999999999 Tbit/s"), None);
        assert_eq!(Bytes::parse("1.5 B"), None);
        assert_eq!(Packets::parse("1.5 packets"), None);
        assert_eq!(Packets::parse("5000000000 packets"), None);
    }

    #[test]
    fn long_fractions_are_rounded_not_refused() {
        let third = Span::parse("33.333333333333336 ms");
        assert_eq!(third, Some(Span::from_picos(33_333_333_333)));
        let long = format!("0.{}1 s", "0".repeat(100));
        assert_eq!(Span::parse(&long), Some(Span::ZERO));
    }

    #[test]
    fn writing_and_reading_is_the_identity() {
        for n in [0_u64, 1, 999, 1000, 1024, 1460, 65_536, 4_000_000, 1 << 40, 123_456_789_012_345]
        {
            assert_eq!(Span::parse(&Span::from_picos(n).write()), Some(Span::from_picos(n)));
            assert_eq!(Bytes::parse(&Bytes(n).write()), Some(Bytes(n)));
            if let Some(rate) = Rate::from_bps(n) {
                assert_eq!(Rate::parse(&rate.write()), Some(rate));
            }
            for amount in [Amount::Octets(n), Amount::Packets(n as u32)] {
                assert_eq!(Amount::parse(&amount.write()), Some(amount));
            }
        }
        assert_eq!(Bytes(1500).write(), "1500 B");
        assert_eq!(Bytes(4_000_000).write(), "4 MB");
        assert_eq!(Bytes(65_536).write(), "64 KiB");
        assert_eq!(Span::from_millis(35).write(), "35 ms");
    }
}
