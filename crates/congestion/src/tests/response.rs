//! Response functions: the average window of one flow under periodic loss
//! against the closed forms.

use crate::cubic::{Cubic, CubicOptions};
use crate::highspeed::{HighSpeed, HighSpeedOptions};
use crate::reno::{Reno, RenoOptions};
use crate::testkit::{MSS, Path};
use crate::{Cause, Controller};
use anabranch_testkit::marks::record;
use anabranch_units::Span;

/// Average window of CUBIC without fast convergence, started on the fixed
/// point `average` by a loss at `W_max`. The fixed point attracts only
/// algebraically, so a start elsewhere would be seen for hundreds of losses.
fn cubic_from(average: f64, rtt_ms: u64, p: f64, epochs: u32) -> f64 {
    let options = CubicOptions { fast_convergence: false, ..CubicOptions::default() };
    // AVG_W is (3 + beta_cubic) / 4 of W_max.
    let mut c = Cubic::new(&options, (average / 0.925 * MSS as f64) as u64, MSS);
    let mut path = Path::new(Span::from_millis(rtt_ms));
    path.signal(&mut c, Cause::Loss);
    path.periodic_loss(&mut c, p, epochs)
}

/// RFC 9438 §5.1: (C (3 + beta) / (4 (1 - beta)))^(1/4) (R / p)^(3/4).
fn cubic_average(rtt_ms: u64, p: f64) -> f64 {
    (0.4 * 3.7 / (4.0 * 0.3_f64)).powf(0.25) * (rtt_ms as f64 / 1e3 / p).powf(0.75)
}

#[track_caller]
fn assert_within(measured: f64, expected: f64, tolerance: f64) {
    let error = measured / expected - 1.0;
    assert!(
        error.abs() < tolerance,
        "{measured:.1}, expected {expected:.1}: {:.2} %",
        error * 100.0
    );
}

#[test]
fn cubic_has_the_average_window_of_rfc_9438() {
    // RFC 9438 §5.1, tables 1 and 2, where the cubic function is the larger.
    for (rtt_ms, p, table, epochs) in
        [(100, 1e-4, 187.0, 20), (100, 1e-5, 1054.0, 8), (10, 1e-7, 5926.0, 1)]
    {
        let expected = cubic_average(rtt_ms, p);
        assert_within(expected, table, 0.003);
        let measured = cubic_from(expected, rtt_ms, p, epochs);
        let quantity = format!("average window, R = {rtt_ms} ms, p = {p:e}");
        record("T6", &quantity, table, format!("{measured:.1}"), "1 %");
        assert_within(measured, table, 0.01);
    }
}

#[test]
fn cubic_has_reno_s_average_window_where_that_is_larger() {
    // RFC 9438 §5.1, table 2, R = 0.01 s. The table takes Reno's response as
    // 1.2 / sqrt(p); the constant is sqrt(3/2) = 1.225 for every AIMD pair on
    // the line alpha = 3 (1 - beta) / (1 + beta) (§4.3).
    for (p, table) in [(1e-4, 120.0), (1e-5, 379.0)] {
        let expected = (1.5_f64 / p).sqrt();
        assert_within(expected, table, 0.025);
        let measured = cubic_from(expected, 10, p, 20);
        let quantity = format!("Reno-friendly average window, R = 10 ms, p = {p:e}");
        record("T6", &quantity, format!("{expected:.1}"), format!("{measured:.1}"), "1 %");
        assert_within(measured, expected, 0.01);
    }
}

#[test]
fn cubic_is_never_below_the_larger_of_the_two_where_they_meet() {
    // R = 0.1 s, p = 1e-3: 33 against 38 (table 1 has the larger); within
    // one stage the window follows whichever curve is above.
    let larger = (1.5_f64 / 1e-3).sqrt();
    let window = cubic_from(larger, 100, 1e-3, 100);
    assert!(window > 0.99 * larger && window < 1.1 * larger, "{window}");
}

#[test]
fn highspeed_has_the_response_function_of_rfc_3649() {
    // W = 0.12 / p^0.835 (RFC 3649 §5). At 1e-3 the window swings around
    // Low_Window, half Reno and half not; at 1e-7 it swings above High_Window,
    // where b no longer falls: 5 % above the line. Between, within 1.3 %.
    for (p, epochs) in [(1e-3, 200), (1e-4, 100), (1e-5, 40), (1e-6, 20), (1e-7, 4)] {
        let expected = 0.12 / f64::powf(p, 0.835);
        let start = (1.05 * expected * MSS as f64) as u64;
        let mut c = HighSpeed::new(&HighSpeedOptions::default(), start, MSS);
        let mut path = Path::new(Span::from_millis(100));
        path.periodic_loss(&mut c, p, epochs);
        let measured = path.periodic_loss(&mut c, p, epochs);
        let quantity = format!("average window, p = {p:e}");
        record("T7", &quantity, format!("{expected:.1}"), format!("{measured:.1}"), "6 %");
        assert_within(measured, expected, 0.06);
    }
}

#[test]
fn reno_has_mathis_average_window() {
    // Mathis et al. 1997, periodic loss, an ACK per segment: sqrt(3/2) / sqrt(p).
    for p in [1e-2, 1e-3, 1e-4, 1e-5] {
        let expected = (1.5_f64 / p).sqrt();
        let mut c = Reno::new(&RenoOptions::default(), (expected * MSS as f64) as u64, MSS);
        let mut path = Path::new(Span::from_millis(100));
        path.periodic_loss(&mut c, p, 20);
        assert_within(path.periodic_loss(&mut c, p, 20), expected, 0.03);
        assert!(c.window() >= MSS);
    }
}
