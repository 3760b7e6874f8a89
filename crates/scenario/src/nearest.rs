//! The right name beside a wrong one.

/// Returns the name that `word` was probably meant to be: one that differs by swapped, missing,
/// superfluous or wrong letters, one for every three of the word, or one that the word begins or
/// that begins the word; of several that are as near the first. `None` where nothing is near.
pub(crate) fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let near = |name: &&'a str| {
        let typed = strsim::damerau_levenshtein(&word, name);
        let is_part = word.len() >= 3 && (name.starts_with(&word) || word.starts_with(*name));
        match (typed <= word.chars().count().div_ceil(3), is_part) {
            (true, _) => Some(typed),
            (false, true) => Some(word.len()),
            _ => None,
        }
    };
    let named = names.into_iter().enumerate();
    let ranked = named.filter_map(|(at, name)| Some((near(&name)?, at, name)));
    ranked.min().map(|(.., name)| name)
}

/// Returns the list of `names` for a message, and which of them `word` was probably meant to be.
pub(crate) fn one_of(word: &str, names: &[&str]) -> String {
    let list = names.join(", ");
    match nearest(word, names.iter().copied()) {
        Some(name) => format!("{list}; did you mean `{name}`?"),
        None => list,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_mistaken_and_words_cut() {
        let names = ["window", "initial_window", "recovery", "rto", "receive_buffer", "mss"];
        for (word, name) in [
            ("windwo", "window"),
            ("Window", "window"),
            ("windows", "window"),
            ("rt0", "rto"),
            ("receive", "receive_buffer"),
            ("recovry", "recovery"),
        ] {
            assert_eq!(nearest(word, names), Some(name), "{word}");
        }
        let several = ["heartbeat_interval", "heartbeat_jitter", "heartbeat_burst"];
        assert_eq!(nearest("heartbeat", several), Some("heartbeat_interval"));
        assert_eq!(nearest("colour", names), None);
        assert_eq!(nearest("x", names), None);
    }
}
