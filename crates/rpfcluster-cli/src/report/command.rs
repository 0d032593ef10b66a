//! The command that makes a report again, as a shell takes it.

/// The words that were typed, quoted where a shell needs it, with the seed where it was left to its default.
pub fn command_line(words: impl Iterator<Item = String>, seed: u64) -> String {
    let words: Vec<String> = words.collect();
    let seeded = words.iter().any(|word| word == "--seed" || word.starts_with("--seed="));
    let mut line = std::iter::once("rpf".to_string()).chain(words.iter().map(|w| quoted(w)));
    let line = line.by_ref().collect::<Vec<_>>().join(" ");
    if seeded { line } else { format!("{line} --seed {seed}") }
}

/// In single quotes unless every character is harmless.
fn quoted(word: &str) -> String {
    let harmless = |c: char| c.is_alphanumeric() || "-_./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(harmless) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_the_shell() {
        let line = |words: &[&str]| command_line(words.iter().map(ToString::to_string), 7);
        assert_eq!(line(&["cluster", "a.csv", "-k", "3"]), "rpf cluster a.csv -k 3 --seed 7");
        assert_eq!(line(&["cluster", "my data.csv", "--seed", "1"]), "rpf cluster 'my data.csv' --seed 1");
        assert_eq!(line(&["it's", "$(x)", "--seed=2"]), r"rpf 'it'\''s' '$(x)' --seed=2");
    }
}
