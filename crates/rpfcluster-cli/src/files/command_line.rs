//! Reconstructs the command line that reproduces a run: the arguments as given, quoted for a POSIX shell, with `--seed`
//! appended if it was not given.

/// The words of the command line, quoted where a shell needs it, with the seed added where it was not given.
pub fn command_line(words: impl Iterator<Item = String>, seed: u64) -> String {
    let words: Vec<String> = words.collect();
    let seeded = words.iter().any(|word| word == "--seed" || word.starts_with("--seed="));
    let line = std::iter::once("rpf".to_string()).chain(words.iter().map(|w| quoted(w)));
    let line = line.collect::<Vec<_>>().join(" ");
    if seeded { line } else { format!("{line} --seed {seed}") }
}

/// In single quotes unless every character is safe in a shell.
pub fn quoted(word: &str) -> String {
    let safe = |c: char| c.is_alphanumeric() || "-_./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(safe) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_the_shell() {
        let line = |words: &[&str]| command_line(words.iter().map(ToString::to_string), 7);
        assert_eq!(line(&["cluster", "a.csv", "-k", "3"]), "rpf cluster a.csv -k 3 --seed 7");
        assert_eq!(line(&["cluster", "my data.csv", "--seed", "1"]), "rpf cluster 'my data.csv' --seed 1");
        assert_eq!(line(&["it's", "$(x)", "--seed=2"]), r"rpf 'it'\''s' '$(x)' --seed=2");
    }
}
