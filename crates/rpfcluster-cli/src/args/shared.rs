//! Options that several verbs share: of the data, the forest, the spectral step and the run.

use std::path::PathBuf;

use clap::Args;
use rpfcluster_data::{ColumnRef, Decimal, Delimiter, Format};

use super::values::{
    AffinityArg, AutoOr, ByteSize, ComponentsArg, DiagonalArg, DirectionArg, DuplicatesArg, HeaderArg,
    MetricArg, MissingArg, SolverArg, SplitArg, count, seed,
};

/// A column by name or number.
pub fn column(text: &str) -> Result<ColumnRef, String> {
    text.parse::<ColumnRef>().map_err(|e| e.to_string())
}

/// A format by its name.
pub fn format(text: &str) -> Result<Format, String> {
    text.parse::<Format>().map_err(|e| e.to_string())
}

/// A delimiter by its character or name.
pub fn delimiter(text: &str) -> Result<Delimiter, String> {
    text.parse::<Delimiter>().map_err(|e| e.to_string())
}

/// A decimal character.
pub fn decimal(text: &str) -> Result<Decimal, String> {
    text.parse::<Decimal>().map_err(|e| e.to_string())
}

/// How the bytes of DATA are read.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Data options")]
pub struct ReadArgs {
    /// Format of DATA, if its extension does not tell
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    pub format: Option<Format>,

    /// Text files: what separates two cells, a character or comma, tab, semicolon, pipe, blanks [default: detected]
    #[arg(long, value_name = "C", value_parser = delimiter)]
    pub delimiter: Option<Delimiter>,

    /// Text files: the decimal character, . or , [default: detected]
    #[arg(long, value_name = "C", value_parser = decimal)]
    pub decimal: Option<Decimal>,

    /// Text files: whether the first line names the columns [default: auto]
    #[arg(long, value_name = "WHEN", value_enum)]
    pub header: Option<HeaderArg>,

    /// Workbooks: the sheet to read, a name or a number from 1 [default: the first]
    #[cfg(feature = "excel")]
    #[arg(long, value_name = "SHEET")]
    pub sheet: Option<String>,

    /// SQLite databases: the SELECT whose rows are read [default: all rows of the only table]
    #[cfg(feature = "sqlite")]
    #[arg(long, value_name = "SQL")]
    pub query: Option<String>,
}

/// Which columns of a file are used, and how.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Data options")]
pub struct DataArgs {
    /// Table to read: .csv .tsv .txt .parquet .arrow .feather .jsonl .npy .xlsx, each also .gz; - is standard input
    #[arg(value_name = "DATA", help_heading = None)]
    pub data: PathBuf,

    /// Column of known classes (name or number from 1): not used as a feature, only to score
    #[arg(long, value_name = "COL", value_parser = column)]
    pub label: Option<ColumnRef>,

    /// Columns to leave out: names, numbers from 1, or ranges such as 3-7
    #[arg(long, value_name = "COLS", value_delimiter = ',', value_parser = column)]
    pub drop: Vec<ColumnRef>,

    /// Columns that hold categories: text, or numbers that are codes. Each counts like a numeric column of unit spread
    #[arg(long, value_name = "COLS", value_delimiter = ',', value_parser = column)]
    pub categorical: Vec<ColumnRef>,

    /// Columns to use, in this order [default: all]
    #[arg(long, value_name = "COLS", value_delimiter = ',', value_parser = column)]
    pub columns: Vec<ColumnRef>,

    /// Columns to scale to mean 0 and standard deviation 1: none, all, or a list; robust scales all by median and
    /// quartiles; auto (rpf cluster only) takes none or all, whichever gives the better verdict [default: none]
    #[arg(long, value_name = "none|all|robust|auto|COLS", value_delimiter = ',', value_parser = column)]
    pub standardize: Vec<ColumnRef>,

    /// How to treat missing values [default: error]
    #[arg(long, value_name = "HOW", value_enum)]
    pub missing: Option<MissingArg>,

    #[command(flatten)]
    pub read: ReadArgs,
}

/// How the forest is grown.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Forest options")]
pub struct ForestArgs {
    /// Number of trees; auto (rpf cluster only) doubles it until two halves of the forest find the same clusters
    /// [default: 200; 400 on principal components]
    #[arg(long, value_name = "T|auto")]
    pub trees: Option<AutoOr<usize>>,

    /// Smallest node that is split: a node with fewer rows is a leaf [default: 30; for top-k: 24]
    #[arg(long, value_name = "N|auto")]
    pub min_node: Option<AutoOr<usize>>,

    /// Where a node is split [default: uniform]
    #[arg(long, value_name = "HOW", value_enum)]
    pub split: Option<SplitArg>,

    /// How projection directions are drawn [default: gaussian]
    #[arg(long, value_name = "HOW", value_enum)]
    pub direction: Option<DirectionArg>,

    /// Directions tried per node; the one with the widest projections is used [default: 1]
    #[arg(long, value_name = "M", value_parser = count)]
    pub candidates: Option<usize>,

    /// Grow the trees on M rows, drawn by the seed and the number of the row, and route all rows down them
    /// [default: all rows]
    #[arg(long, value_name = "M", value_parser = count)]
    pub max_samples: Option<usize>,

    /// Random seed; the same seed gives the same result on any number of threads [default: 0]
    #[arg(long, value_name = "N", value_parser = seed)]
    pub seed: Option<u64>,
}

/// The similarity that is clustered and its eigenvectors.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Spectral options")]
pub struct SpectralArgs {
    /// Similarity that is clustered; S is the share of trees in which two rows share a leaf
    /// [default: top-k]
    #[arg(long, value_name = "KIND", value_enum)]
    pub affinity: Option<AffinityArg>,

    /// paper: similarities S below this threshold, 0 to 1, are set to 0 [default: 0.1]
    #[arg(long, value_name = "X|auto")]
    pub beta1: Option<AutoOr<f64>>,

    /// paper: bandwidth of the exponential [default: 0.2]
    #[arg(long, value_name = "X|auto")]
    pub beta2: Option<AutoOr<f64>>,

    /// top-k: number of neighbours per row [default: 20]
    #[arg(long, value_name = "K|auto")]
    pub top: Option<AutoOr<usize>>,

    /// top-k: edge weights are S to the power P [default: 8; with categories: 3; leiden: 1]
    #[arg(long, value_name = "P|auto")]
    pub power: Option<AutoOr<f64>>,

    /// paper: whether the diagonal of the similarity matrix is kept [default: keep]
    #[arg(long, value_name = "HOW", value_enum)]
    pub diagonal: Option<DiagonalArg>,

    /// Grow the forest on the C leading principal components; none takes the columns themselves, auto takes 50
    /// components of more than 50 columns [default: auto]
    #[arg(long, value_name = "C|auto|none", help_heading = "Forest options")]
    pub components: Option<ComponentsArg>,

    /// Whether rows are compared by distance or by angle [default: auto]
    #[arg(long, value_name = "METRIC", value_enum, help_heading = "Forest options")]
    pub metric: Option<MetricArg>,

    /// How rows that occur several times are treated [default: weigh]
    #[arg(long, value_name = "HOW", value_enum, help_heading = "Forest options")]
    pub duplicates: Option<DuplicatesArg>,

    /// How eigenvectors are computed [default: auto]
    #[arg(long, value_name = "HOW", value_enum)]
    pub solver: Option<SolverArg>,

    /// Number of landmarks of the Nystrom solver [default: 500]
    #[arg(long, value_name = "M", value_parser = count)]
    pub landmarks: Option<usize>,

    /// DATA is a similarity matrix, symmetric and non-negative: .csv, .npy, .npz (SciPy) or .mtx
    #[arg(long, conflicts_with_all = ["label", "drop", "categorical", "columns", "standardize", "missing", "trees", "min_node",
        "split", "direction", "candidates", "max_samples", "affinity", "beta1", "beta2", "top", "power", "diagonal",
        "components", "metric", "duplicates"])]
    pub precomputed: bool,
}

/// How the program runs.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Run options")]
pub struct RunArgs {
    /// Number of threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = count)]
    pub threads: Option<usize>,

    /// Refuse files and work that need more memory, such as 4G [default: the free memory of the machine]
    #[arg(long, value_name = "SIZE")]
    pub memory_limit: Option<ByteSize>,

    /// Print no progress, summary, notes or hints
    #[arg(long, short)]
    pub quiet: bool,

    /// Print a line for every stage and tables of what was tried
    #[arg(long, short, conflicts_with = "quiet")]
    pub verbose: bool,

    /// Read options from a file, one per line: `trees = 500`; the command line takes precedence
    #[arg(long, value_name = "FILE.toml")]
    pub config: Option<PathBuf>,
}
