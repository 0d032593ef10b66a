//! How a run ends: 0 done, 1 the data or a file is at fault, 2 the command line is at fault, 130 interrupted.
//!
//! Every error of the libraries becomes one [`Failure`] here, and so does a panic, should there ever be one: the user
//! sees one sentence and no backtrace.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Mutex;

use rpfcluster_data::DataError;

use crate::output;

/// Why a run did not get to its end.
#[derive(Debug)]
pub enum Failure {
    /// The data or a file is at fault: exit 1.
    Data(String),
    /// The command line is at fault: exit 2.
    Usage(String),
    /// clap has something to show: help, the version, or what it did not understand.
    Clap(Box<clap::Error>),
    /// Ctrl-C: exit 130.
    Interrupted,
    /// The reader of our output went away: nobody's fault.
    ClosedPipe,
}

/// What a command returns.
pub type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    /// A fault of the data, one sentence.
    pub fn data(sentence: impl Into<String>) -> Self {
        Failure::Data(sentence.into())
    }

    /// A fault of the command line, one sentence.
    pub fn usage(sentence: impl Into<String>) -> Self {
        Failure::Usage(sentence.into())
    }

    /// A library error that concerns this file.
    pub fn of_file(source: &str, error: rpfcluster::Error) -> Self {
        match Failure::from(error) {
            Failure::Data(sentence) => Failure::Data(format!("{source}: {sentence}")),
            other => other,
        }
    }

    fn report(self) -> ExitCode {
        match self {
            Failure::Data(sentence) => {
                output::error(&sentence);
                ExitCode::from(1)
            }
            Failure::Usage(sentence) => {
                output::error(&sentence);
                ExitCode::from(2)
            }
            Failure::Clap(error) => output::clap(&error),
            Failure::Interrupted => {
                output::error("interrupted; no partial file is left");
                ExitCode::from(INTERRUPTED)
            }
            Failure::ClosedPipe => ExitCode::SUCCESS,
        }
    }
}

/// 128 and the number of SIGINT, as shells have it.
pub const INTERRUPTED: u8 = 130;

impl From<rpfcluster::Error> for Failure {
    fn from(error: rpfcluster::Error) -> Self {
        use rpfcluster::Error;
        match error {
            Error::Cancelled => Failure::Interrupted,
            Error::Parameter { name, value, expected } => {
                Failure::Usage(format!("--{} is {value}, but must be {expected}", name.replace('_', "-")))
            }
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

/// Runs the command and turns whatever happens into an exit code and at most one sentence.
pub fn guarded(work: impl FnOnce() -> Outcome) -> ExitCode {
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
            output::error(&format!(
                "internal error ({place}); this is a fault of the program, please report it with the command you ran"
            ));
            ExitCode::from(1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_named_as_options() {
        let error = rpfcluster::ForestParams { min_node: 1, ..Default::default() }.validate().unwrap_err();
        match Failure::from(error) {
            Failure::Usage(sentence) => {
                assert_eq!(sentence, "--min-node is 1, but must be from 2 to 4294967295")
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_panic_is_exit_one() {
        let before = std::panic::take_hook();
        let code = guarded(|| panic!("on purpose"));
        std::panic::set_hook(before);
        assert_eq!(format!("{code:?}"), format!("{:?}", ExitCode::from(1)));
    }
}
