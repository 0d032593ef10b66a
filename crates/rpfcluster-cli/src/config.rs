//! Parses the command line and the file of `--config` into [`Cli`].
//!
//! A key of the file is the long name of an option, and clap parses its value like one on the command line, which takes
//! precedence. A key that no verb has is an error; a key that only other verbs have is ignored, so that one file can
//! serve all verbs.

use std::ffi::OsString;
use std::io::Read;
use std::path::Path;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, CommandFactory, FromArgMatches};
use toml::Value;

use crate::args::Cli;
use crate::exit::{Failure, Result};

/// The length of the longest file in bytes. All options together take less than a hundredth; a device has no end.
const LONGEST: u64 = 1_000_000;

/// Parses the command line, completed from its configuration file.
pub fn parse(mut words: Vec<OsString>) -> Result<Cli> {
    let command = Cli::command();
    if words.iter().any(|w| w.to_string_lossy().starts_with("--config")) {
        complete(&command, &mut words)?;
    }
    let matches = command.try_get_matches_from(words).map_err(clap_failure)?;
    Cli::from_arg_matches(&matches).map_err(clap_failure)
}

fn clap_failure(error: clap::Error) -> Failure {
    Failure::Clap(Box::new(error))
}

/// Inserts the options of the file that the command line does not set after the verb.
fn complete(command: &Command, words: &mut Vec<OsString>) -> Result {
    // Errors in the command line are reported by the strict parse that follows.
    let Ok(typed) = command.clone().ignore_errors(true).try_get_matches_from(&*words) else { return Ok(()) };
    let Some((verb, typed)) = typed.subcommand() else { return Ok(()) };
    let Some(path) = typed.try_get_one::<std::path::PathBuf>("config").ok().flatten() else { return Ok(()) };
    let Some(known) = command.find_subcommand(verb) else { return Ok(()) };
    let mut extra = Vec::new();
    for (key, value) in read(path)? {
        let long = key.replace('_', "-");
        match option(known, &long) {
            Some(arg) if !given(typed, arg, known) => extra.extend(word(path, &key, arg, &value)?),
            Some(_) => {}
            None if command.get_subcommands().any(|c| option(c, &long).is_some()) => {}
            None => return Err(unknown(path, &key, known)),
        }
    }
    let at = words.iter().position(|w| w.as_os_str() == verb).map_or(words.len(), |at| at + 1);
    words.splice(at..at, extra);
    Ok(())
}

fn read(path: &Path) -> Result<toml::Table> {
    let mut text = String::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(LONGEST + 1).read_to_string(&mut text));
    read.map_err(|e| {
        let problem = match e.kind() {
            std::io::ErrorKind::NotFound => "no such file".to_string(),
            _ => e.to_string(),
        };
        Failure::data(format!("{}: {problem}", path.display()))
    })?;
    if text.len() as u64 > LONGEST {
        let problem = "is longer than 1 MB, but holds one option a line; name another file";
        return Err(Failure::data(format!("{}: {problem}", path.display())));
    }
    text.parse().map_err(|e: toml::de::Error| {
        let line = e.span().map_or(1, |s| text[..s.start.min(text.len())].matches('\n').count() + 1);
        Failure::data(format!("{}: line {line}: {}", path.display(), e.message()))
    })
}

/// An option that a file may set.
fn option<'a>(verb: &'a Command, long: &str) -> Option<&'a Arg> {
    verb.get_arguments()
        .find(|a| a.get_long() == Some(long) && !["config", "help", "version"].contains(&long))
}

/// Whether the command line sets the option, or one that conflicts with it.
fn given(typed: &ArgMatches, arg: &Arg, verb: &Command) -> bool {
    let set = |arg: &Arg| typed.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine);
    // clap stores a conflict on the option that declares it; it applies to both.
    let excludes = |a: &Arg, b: &Arg| verb.get_arg_conflicts_with(a).iter().any(|c| c.get_id() == b.get_id());
    set(arg) || verb.get_arguments().any(|other| set(other) && (excludes(arg, other) || excludes(other, arg)))
}

/// The option as a word for clap, `--key=value`.
fn word(path: &Path, key: &str, arg: &Arg, value: &Value) -> Result<Option<OsString>> {
    let wrong = |expected: &str| {
        let kind = value.type_str();
        Failure::usage(format!("{}: {key} is of type {kind}, but must be {expected}", path.display()))
    };
    let long = arg.get_long().unwrap_or_default();
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        return match value {
            Value::Boolean(true) => Ok(Some(format!("--{long}").into())),
            Value::Boolean(false) => Ok(None),
            _ => Err(wrong("true or false")),
        };
    }
    let scalar = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        _ => None,
    };
    let text = match value {
        Value::Array(values) if matches!(arg.get_action(), ArgAction::Append) => {
            let all: Option<Vec<String>> = values.iter().map(scalar).collect();
            all.map(|values| values.join(",")).ok_or_else(|| wrong("a list of names or numbers"))?
        }
        value => scalar(value).ok_or_else(|| wrong("a number or a text in quotes"))?,
    };
    Ok(Some(format!("--{long}={text}").into()))
}

fn unknown(path: &Path, key: &str, verb: &Command) -> Failure {
    let mut known: Vec<&str> = verb
        .get_arguments()
        .filter_map(|a| a.get_long())
        .filter(|long| option(verb, long).is_some())
        .collect();
    known.sort_unstable();
    Failure::usage(format!(
        "{}: there is no option \"{key}\"; the options are {}",
        path.display(),
        known.join(", ")
    ))
}
