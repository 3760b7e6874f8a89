//! What documents say of every algorithm by hand: none is forgotten.

use crate::{ALGORITHMS, Algorithm, Controller};

const OVERVIEW: &str = include_str!("../../../../docs/algorithms/README.md");
const SITE: &str = include_str!("../../../../mkdocs.yml");

#[test]
fn every_algorithm_has_its_row_and_its_page_on_the_site() {
    for info in ALGORITHMS {
        let row = format!("\n| `{}` | [", info.name);
        let at = OVERVIEW.find(&row);
        let at = at.unwrap_or_else(|| panic!("docs/algorithms/README.md: no row of {}", info.name));
        let page = OVERVIEW[at + row.len()..].split(']').next().unwrap();
        assert!(SITE.contains(&format!(": algorithms/{page}\n")), "mkdocs.yml: no {page}");
    }
}

/// The sentence of README.md that says which have the sender keep no log of its segments.
#[test]
fn those_that_need_no_log_are_named() {
    let sentence = OVERVIEW.split("All but ").nth(1).unwrap();
    let named = sentence.split(" and the coupled ones other than").next().unwrap();
    for info in ALGORITHMS {
        let controller = Algorithm::from_name(info.name).unwrap().build(14_600, u64::MAX);
        if !controller.is_coupled() {
            let needs_none = !controller.wants_feedback();
            assert_eq!(named.contains(&format!("`{}`", info.name)), needs_none, "{}", info.name);
        }
    }
}
