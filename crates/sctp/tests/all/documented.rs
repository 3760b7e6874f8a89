//! Every name that a user can give has its line in docs/algorithms/sctp.md.

use anabranch_sctp::policy::DESTINATIONS;
use anabranch_sctp::scheduler::SCHEDULERS;

#[test]
fn every_policy_scheduler_and_preset_has_a_line_in_its_page() {
    let page = include_str!("../../../../docs/algorithms/sctp.md");
    let names = DESTINATIONS.iter().chain(&SCHEDULERS).map(|entry| entry.0);
    for name in names.chain(anabranch_sctp::PRESETS) {
        assert!(page.contains(&format!("\n| `{name}` |")), "{name}");
    }
}
