//! Presets, initial windows and errors.

use super::*;

#[test]
fn presets_are_valid_and_named() {
    for name in PRESETS {
        Config::preset(name).expect(name).validate().expect(name);
    }
    assert_eq!(Config::preset("rfc1"), None);
}

/// RFC 2960 §7.2.1, RFC 4960 §7.2.1, RFC 9260 §7.2.1.
#[test]
fn initial_windows_follow_their_rfcs() {
    let window = |preset, mtu| Config { mtu, ..Config::preset(preset).unwrap() }.initial_window();
    for (mtu, rfc2960, rfc4960, rfc9260) in
        [(576, 1152, 2304, 2176), (1500, 3000, 4380, 4404), (9000, 18_000, 18_000, 17_936)]
    {
        assert_eq!(window("rfc2960", mtu), rfc2960);
        assert_eq!(window("rfc4960", mtu), rfc4960);
        assert_eq!(window("rfc9260", mtu), rfc9260);
    }
}

#[test]
fn errors_name_field_value_and_range() {
    let config = Config { mtu: 10, ..Config::default() };
    let error = config.validate().unwrap_err();
    assert_eq!(error.to_string(), "mtu is 10 B; allowed: 512 B to 65535 B");
    let config = Config { potentially_failed: Some(6), ..Config::default() };
    assert_eq!(config.validate().unwrap_err().field, "potentially_failed");
    let probing = Probing::On(Probe { burst: 0, ..Probe::default() });
    let config = Config { probing, ..Config::default() };
    let text = "probing.burst is 0; allowed: 1 to 100";
    assert_eq!(config.validate().unwrap_err().to_string(), text);
}
