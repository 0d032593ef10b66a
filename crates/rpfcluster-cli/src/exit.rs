//! Exit codes and error messages: 0 success, 1 an error in the data or a file, 2 an error in the
//! command line, 130 interrupted.
//!
//! Every error of the libraries, and a panic, becomes a [`Failure`] here: the user sees one sentence and no backtrace.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Mutex;

use rpfcluster_data::DataError;

use crate::output;

/// Why a run failed.
#[derive(Debug)]
pub enum Failure {
    /// An error in the data or a file: exit 1.
    Data(String),
    /// An error in the command line: exit 2.
    Usage(String),
    /// Help, version or an error of clap.
    Clap(Box<clap::Error>),
    /// Ctrl-C: exit 130.
    Interrupted,
}

/// The result of a command.
pub type Result<T = (), E = Failure> = std::result::Result<T, E>;

impl Failure {
    /// An error in the data, one sentence.
    pub fn data(sentence: impl Into<String>) -> Self {
        Failure::Data(sentence.into())
    }

    /// An error in the command line, one sentence.
    pub fn usage(sentence: impl Into<String>) -> Self {
        Failure::Usage(sentence.into())
    }

    /// A library error about this file.
    pub fn of_file(source: &str, error: rpfcluster::Error) -> Self {
        match Failure::from(error) {
            Failure::Data(sentence) => Failure::Data(format!("{source}: {sentence}")),
            other => other,
        }
    }

    /// A library error about this model file. A parameter out of its range is then a value in the file, not an option.
    pub fn of_model(source: &str, error: rpfcluster::Error) -> Self {
        match error {
            rpfcluster::Error::Parameter { .. } => {
                Failure::Data(format!("{source}: the model is damaged: {error}"))
            }
            other => Failure::of_file(source, other),
        }
    }

    /// The same with this command in place of `rpf cluster -` at the end of the line that pipes a file in.
    pub fn piped_into(self, command: &str) -> Self {
        match self {
            Failure::Data(sentence) => match sentence.strip_suffix("| rpf cluster -") {
                Some(line) => Failure::Data(format!("{line}| {command}")),
                None => Failure::Data(sentence),
            },
            other => other,
        }
    }

    /// The same as an error of a writer, whose sentence is that of the failure.
    pub fn into_io(self) -> std::io::Error {
        match self {
            Failure::Data(sentence) | Failure::Usage(sentence) => std::io::Error::other(sentence),
            Failure::Clap(error) => std::io::Error::other(error),
            Failure::Interrupted => std::io::ErrorKind::Interrupted.into(),
        }
    }

    fn report(self) -> ExitCode {
        match self {
            Failure::Data(sentence) => {
                output::message(&sentence);
                ExitCode::from(1)
            }
            Failure::Usage(sentence) => {
                output::message(&sentence);
                ExitCode::from(2)
            }
            Failure::Clap(error) => output::clap(&error),
            Failure::Interrupted => {
                output::interrupted();
                ExitCode::from(INTERRUPTED)
            }
        }
    }
}

/// 128 plus the number of SIGINT, as in shells.
pub const INTERRUPTED: u8 = 130;

impl From<rpfcluster::Error> for Failure {
    fn from(error: rpfcluster::Error) -> Self {
        use rpfcluster::Error;
        match error {
            Error::Cancelled => Failure::Interrupted,
            Error::Parameter { name, value, expected } => {
                Failure::Usage(format!("--{} is {value}, but must be {expected}", name.replace('_', "-")))
            }
            Error::DoesNotApply { name, parameter, needs, value } => {
                let option = name.replace('_', "-");
                Failure::Usage(format!(
                    "--{option} applies only to --{parameter} {needs}, but the {parameter} is {value}; leave out \
                     --{option} or use --{parameter} {needs}"
                ))
            }
            Error::Inseparable { k, groups } => Failure::Data(format!(
                "-k is {k}, but the trees tell only {groups} group{} of rows apart; use a smaller -k, more --trees or a smaller \
                 --min-node, unless rows are equal",
                if groups == 1 { "" } else { "s" }
            )),
            other => Failure::Data(other.to_string()),
        }
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        match error {
            DataError::Option { .. } => Failure::Usage(error.to_string()),
            other => Failure::Data(other.to_string()),
        }
    }
}

impl From<rpfcluster_report::Error> for Failure {
    fn from(error: rpfcluster_report::Error) -> Self {
        match error {
            rpfcluster_report::Error::Library(error) => error.into(),
            other => Failure::Data(other.to_string()),
        }
    }
}

impl From<rpfcluster_paper::reproduce::Error> for Failure {
    fn from(error: rpfcluster_paper::reproduce::Error) -> Self {
        use rpfcluster_paper::reproduce::Error;
        match error {
            Error::Library(error) => error.into(),
            Error::Data(error) => error.into(),
            other => Failure::Data(other.to_string()),
        }
    }
}

/// Runs the command; turns every failure and panic into one sentence and an exit code.
pub fn guarded(work: impl FnOnce() -> Result) -> ExitCode {
    static PLACE: Mutex<String> = Mutex::new(String::new());
    std::panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let what = text.unwrap_or("no message").replace('\n', " ");
        let place = info.location().map_or_else(String::new, |l| format!(" at {}:{}", l.file(), l.line()));
        if let Ok(mut kept) = PLACE.lock() {
            *kept = format!("{what}{place}");
        }
    }));
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(failure)) => failure.report(),
        Err(_) => {
            let place = PLACE.lock().map(|p| p.clone()).unwrap_or_default();
            output::message(&format!(
                "internal error ({place}); please report it with the command that you ran"
            ));
            ExitCode::from(1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_option_of_a_parameter() {
        let error = rpfcluster::ForestParams { min_node: 1, ..Default::default() }.validate().unwrap_err();
        match Failure::from(error) {
            Failure::Usage(sentence) => {
                assert_eq!(sentence, "--min-node is 1, but must be from 2 to 4294967295")
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_panic_exits_with_code_one() {
        let before = std::panic::take_hook();
        let code = guarded(|| panic!("on purpose"));
        std::panic::set_hook(before);
        assert_eq!(format!("{code:?}"), format!("{:?}", ExitCode::from(1)));
    }
}
