//! Serialization of a forest as sections of a model file.
//!
//! A section holds one array of all trees, one tree after the other; section `inner` holds the number of inner nodes of
//! each tree. Reading validates every array.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use super::gaps::NodeMoments;
use super::levels::FittedLevels;
use super::tree::{NodeValues, Tree};
use super::{Forest, ForestParams};
use crate::error::{Error, Result, damaged};
use crate::model_file::{Container, Piece, Sections, read};
use crate::observe::{Observer, Silent, check};
use crate::points::{ColumnKey, Precision};

/// The scalars of a forest, stored as JSON.
#[derive(serde::Serialize, serde::Deserialize)]
struct ForestHead {
    params: ForestParams,
    n: usize,
    d: usize,
    precision: Precision,
    exponent: i32,
    trees: usize,
    /// Whether the nodes keep moments for rows with gaps.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    gaps: bool,
}

/// Owns the small sections while a model file is written.
pub(crate) struct Encoded {
    head: String,
    inner: Vec<u32>,
    draws: Vec<u32>,
    /// For each tree, the number of nodes that keep moments, and the nodes.
    large: Vec<u32>,
    /// For each column that has a key, its feature, and the halves of the key, the lower first.
    keys: Vec<u32>,
    /// The levels of the rows, little-endian.
    levels: Vec<u8>,
}

fn piece(values: &NodeValues) -> Piece<'_> {
    match values {
        NodeValues::F32(values) => Piece::F32(values),
        NodeValues::F64(values) => Piece::F64(values),
    }
}

/// Reads a section of numbers in the precision of the forest.
fn numbers(file: &Container<'_>, section: &str, precision: Precision) -> Result<NodeValues> {
    Ok(match precision {
        Precision::F32 => NodeValues::F32(file.f32s(section)?),
        Precision::F64 => NodeValues::F64(file.f64s(section)?),
    })
}

/// The version of the format from which columns can have keys.
const KEYS_VERSION: u32 = 2;

/// The keys of the columns.
fn keys(file: &Container<'_>) -> Result<Vec<ColumnKey>> {
    if !file.has("keys") {
        return Ok(Vec::new());
    }
    let numbers = file.u32s("keys")?;
    let (keys, rest) = numbers.as_chunks::<3>();
    if !rest.is_empty() {
        return Err(damaged("section keys ends within a key"));
    }
    let key =
        |&[feature, low, high]: &[u32; 3]| ColumnKey { feature, id: u64::from(high) << 32 | u64::from(low) };
    Ok(keys.iter().map(key).collect())
}

impl Forest {
    pub(crate) fn encode(&self) -> Result<Encoded> {
        let head = ForestHead {
            params: self.params.clone(),
            n: self.n,
            d: self.d,
            precision: self.precision,
            exponent: self.exponent,
            trees: self.trees.len(),
            gaps: self.trees.iter().all(|tree| tree.moments.is_some()),
        };
        let head = serde_json::to_string(&head)
            .map_err(|e| Error::Model { problem: format!("cannot be written: {e}") })?;
        let (mut draws, mut large) = (Vec::new(), Vec::new());
        for (number, tree) in self.trees.iter().enumerate() {
            for &(node, draw) in &tree.draws {
                draws.extend_from_slice(&[number as u32, node, draw]);
            }
            if let Some(moments) = &tree.moments {
                large.push(moments.nodes.len() as u32);
                large.extend_from_slice(&moments.nodes);
            }
        }
        let keys = self.keys.iter().flat_map(|key| [key.feature, key.id as u32, (key.id >> 32) as u32]);
        let inner = self.trees.iter().map(|t| t.right.len() as u32).collect();
        let levels = self.levels.iter().flat_map(|levels| &levels.codes).flat_map(|code| code.to_le_bytes());
        Ok(Encoded { head, inner, draws, large, keys: keys.collect(), levels: levels.collect() })
    }

    pub(crate) fn add_sections<'a>(&'a self, small: &'a Encoded, sections: &mut Sections<'a>) {
        sections.add("forest", vec![Piece::Bytes(small.head.as_bytes())]);
        sections.add("inner", vec![Piece::U32(&small.inner)]);
        sections.add("draws", vec![Piece::U32(&small.draws)]);
        sections.add("right", self.trees.iter().map(|t| Piece::U32(&t.right)).collect());
        sections.add("cuts", self.trees.iter().map(|t| piece(&t.cuts)).collect());
        if !small.large.is_empty() {
            sections.add("large", vec![Piece::U32(&small.large)]);
            let moments = self.trees.iter().filter_map(|t| t.moments.as_ref());
            sections.add("moments", moments.map(|moments| piece(&moments.values)).collect());
        }
        if !small.keys.is_empty() {
            // A reader of version 1 would draw other directions.
            sections.require(KEYS_VERSION);
            sections.add("keys", vec![Piece::U32(&small.keys)]);
        }
        if let Some(levels) = &self.levels {
            sections.add("units", vec![Piece::F64(&levels.values)]);
            sections.add("levels", vec![Piece::Bytes(&small.levels)]);
        }
        sections.add("starts", self.trees.iter().map(|t| Piece::U32(&t.starts)).collect());
        sections.add("members", self.trees.iter().map(|t| Piece::U32(&t.members)).collect());
    }

    /// Reads the forest of a model file.
    pub fn from_container(file: &Container<'_>, observer: &dyn Observer) -> Result<Self> {
        let head: ForestHead = serde_json::from_slice(file.section("forest")?)
            .map_err(|e| damaged(format!("section forest: {e}")))?;
        let inner = file.u32s("inner")?;
        let total: usize = inner.iter().map(|&i| i as usize).sum();
        let right = file.u32s("right")?;
        let starts = file.u32s("starts")?;
        // The largest section: converted tree by tree, without a second copy and with a check for cancellation.
        let (members, rest) = file.section("members")?.as_chunks::<4>();
        let cuts = numbers(file, "cuts", head.precision)?;
        let trees = head.trees;
        let fits = inner.len() == trees
            && trees == head.params.trees
            && right.len() == total
            && cuts.len() == total
            && starts.len() == total + 2 * trees
            && rest.is_empty()
            && head.n.checked_mul(trees) == Some(members.len())
            && head.n > 0
            && head.d > 0;
        if !fits {
            return Err(damaged("its sections do not fit each other"));
        }
        let mut forest = Forest {
            params: head.params,
            n: head.n,
            d: head.d,
            precision: head.precision,
            exponent: head.exponent,
            keys: keys(file)?,
            levels: None,
            trees: Vec::with_capacity(trees),
        };
        let mut at = 0;
        for (t, &inner) in inner.iter().enumerate() {
            check(observer)?;
            let nodes = at..at + inner as usize;
            let leaves = at + 2 * t..at + 2 * t + inner as usize + 2;
            forest.trees.push(Tree {
                right: right[nodes.clone()].to_vec(),
                cuts: cuts.part(nodes),
                draws: Vec::new(),
                moments: None,
                starts: Arc::from(&starts[leaves]),
                members: members[t * head.n..][..head.n].iter().map(|&m| u32::from_le_bytes(m)).collect(),
            });
            at += inner as usize;
        }
        for draw in file.u32s("draws")?.chunks(3) {
            match (draw, draw.first().and_then(|&t| forest.trees.get_mut(t as usize))) {
                (&[_, node, draw], Some(tree)) => tree.draws.push((node, draw)),
                _ => return Err(damaged("section draws names a tree that does not exist")),
            }
        }
        if head.gaps {
            forest.read_moments(file)?;
        }
        if file.has("levels") {
            let (codes, rest) = file.section("levels")?.as_chunks::<2>();
            if !rest.is_empty() {
                return Err(damaged("section levels ends within a number"));
            }
            let codes = codes.iter().map(|code| u16::from_le_bytes(*code)).collect();
            forest.levels = Some(FittedLevels::read(&forest.keys, file.f64s("units")?, codes));
        }
        forest.check(observer)?;
        Ok(forest)
    }

    /// Reads the moments of the large nodes.
    fn read_moments(&mut self, file: &Container<'_>) -> Result<()> {
        let (large, values) = (file.u32s("large")?, numbers(file, "moments", self.precision)?);
        let (mut rest, mut at) = (&large[..], 0);
        for tree in &mut self.trees {
            let nodes = rest.split_first().and_then(|(count, after)| after.split_at_checked(*count as usize));
            let end = nodes.and_then(|(nodes, _)| nodes.len().checked_mul(2 * self.d)?.checked_add(at));
            let (Some((nodes, after)), Some(end)) = (nodes, end.filter(|end| *end <= values.len())) else {
                return Err(damaged("sections large and moments do not fit its trees"));
            };
            tree.moments = Some(NodeMoments { nodes: nodes.to_vec(), values: values.part(at..end) });
            (rest, at) = (after, end);
        }
        match rest.is_empty() && at == values.len() {
            true => Ok(()),
            false => Err(damaged("sections large and moments do not fit its trees")),
        }
    }

    /// The forest as the bytes of a model file.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.write_with(&mut bytes, &[], &Silent)?;
        Ok(bytes)
    }

    /// Reads and validates the bytes of a model file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::from_container(&Container::parse(bytes, &Silent)?, &Silent)
    }

    /// Writes a model file atomically.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.save_with(path, &[], &Silent)
    }

    /// As [`Forest::save`], with additional sections, which [`Container::section`] reads. A name has one to eight bytes
    /// and must not be that of a forest section.
    pub fn save_with(
        &self,
        path: impl AsRef<Path>,
        extra: &[(&str, &[u8])],
        observer: &dyn Observer,
    ) -> Result<()> {
        let small = self.encode()?;
        self.all_sections(&small, extra)?.save(path.as_ref(), observer)
    }

    /// As [`Forest::save_with`], to any writer.
    ///
    /// ```
    /// # use rpfcluster::{Forest, ForestParams, Points, Silent, model_file::Container};
    /// # let points = Points::new(&[0.0, 1.0, 2.0], 3, 1)?;
    /// let forest = Forest::grow(&points, &ForestParams { trees: 2, ..Default::default() })?;
    /// let mut bytes = Vec::new();
    /// forest.write_with(&mut bytes, &[("meta", b"{}")], &Silent)?;
    /// assert_eq!(Container::parse(&bytes, &Silent)?.section("meta")?, b"{}");
    /// assert_eq!(Forest::from_bytes(&bytes)?, forest);
    /// assert!(forest.write_with(&mut bytes, &[("members", b"")], &Silent).is_err());
    /// # Ok::<(), rpfcluster::Error>(())
    /// ```
    pub fn write_with(
        &self,
        out: &mut dyn Write,
        extra: &[(&str, &[u8])],
        observer: &dyn Observer,
    ) -> Result<()> {
        let small = self.encode()?;
        self.all_sections(&small, extra)?.write(out, observer)
    }

    fn all_sections<'a>(&'a self, small: &'a Encoded, extra: &[(&str, &'a [u8])]) -> Result<Sections<'a>> {
        let mut sections = Sections::default();
        self.add_sections(small, &mut sections);
        for (name, bytes) in extra {
            if !(1..=8).contains(&name.len()) || sections.has(name) {
                let expected = "one to eight bytes long and not the name of a forest section";
                return Err(crate::error::parameter("section", name, expected));
            }
            sections.add(name, vec![Piece::Bytes(bytes)]);
        }
        Ok(sections)
    }

    /// Reads the forest of a model file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        Self::from_bytes(&read(path.as_ref(), &Silent)?)
    }
}
