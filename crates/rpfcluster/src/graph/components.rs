//! Connected components of a graph by depth-first search, O(n + edges), and their merging when there are more
//! components than clusters: by single linkage, or into the largest one. [`find_root`] serves searches by union-find.
//!
//! The spectrum of a disconnected graph is the union of the spectra of its components, with eigenvalue 1 once for each
//! (von Luxburg 2007, Proposition 4). The spectral step therefore separates the components before it calls an
//! eigen-solver.

use crate::error::Result;

/// Connected components, numbered in the order in which their first points appear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Components {
    /// The component of each point.
    pub of: Vec<u32>,
    /// The number of points of each component.
    pub sizes: Vec<usize>,
}

impl Components {
    /// The components of the symmetric graph over `n` points in which `neighbors(point, visit)` calls `visit` for each
    /// neighbour of `point`. The first error of `neighbors` ends the search.
    pub fn by_search(
        n: usize,
        mut neighbors: impl FnMut(usize, &mut dyn FnMut(usize)) -> Result<()>,
    ) -> Result<Self> {
        const UNVISITED: u32 = u32::MAX;
        let mut of = vec![UNVISITED; n];
        let mut sizes = Vec::new();
        let mut stack = Vec::new();
        for first in 0..n {
            if of[first] != UNVISITED {
                continue;
            }
            let number = sizes.len() as u32;
            let mut size = 0;
            of[first] = number;
            stack.push(first);
            while let Some(point) = stack.pop() {
                size += 1;
                neighbors(point, &mut |other| {
                    if of[other] == UNVISITED {
                        of[other] = number;
                        stack.push(other);
                    }
                })?;
            }
            sizes.push(size);
        }
        Ok(Components { of, sizes })
    }

    /// The number of components.
    pub fn count(&self) -> usize {
        self.sizes.len()
    }

    /// The points of each component, ascending.
    pub fn rows(&self) -> Vec<Vec<u32>> {
        let mut rows: Vec<Vec<u32>> = self.sizes.iter().map(|s| Vec::with_capacity(*s)).collect();
        for (point, component) in self.of.iter().enumerate() {
            rows[*component as usize].push(point as u32);
        }
        rows
    }

    /// Merges the smallest component into the most similar other one until `k` are left (single linkage; ties go to the
    /// largest, then to the lowest number). `similarity` takes two component numbers. With at most `k` components the
    /// result equals the input.
    ///
    /// Calls `similarity` about count² times; [`Components::merge_into_largest`] does not need it.
    pub fn merge_to(&self, k: usize, similarity: impl Fn(usize, usize) -> f64) -> Components {
        let mut groups: Vec<Vec<usize>> = (0..self.count()).map(|c| vec![c]).collect();
        let mut sizes = self.sizes.clone();
        let mut group_of: Vec<usize> = (0..self.count()).collect();
        let mut left = self.count();
        let mut score = vec![f64::NEG_INFINITY; self.count()];
        while left > k.max(1) {
            let live = |g: &usize| !groups[*g].is_empty();
            // Among equals the last one is merged, so that low numbers stay.
            let Some(smallest) = (0..groups.len()).filter(live).min_by_key(|g| (sizes[*g], usize::MAX - *g))
            else {
                break;
            };
            score.fill(f64::NEG_INFINITY);
            for (other, group) in group_of.iter().copied().enumerate() {
                if group != smallest {
                    for member in &groups[smallest] {
                        score[group] = score[group].max(similarity(*member, other));
                    }
                }
            }
            let better = |a: &usize, b: &usize| {
                score[*a].total_cmp(&score[*b]).then(sizes[*a].cmp(&sizes[*b])).then(b.cmp(a))
            };
            let Some(target) = (0..groups.len()).filter(|g| *g != smallest && live(g)).max_by(better) else {
                break;
            };
            let moved = std::mem::take(&mut groups[smallest]);
            for member in &moved {
                group_of[*member] = target;
            }
            groups[target].extend(moved);
            sizes[target] += sizes[smallest];
            left -= 1;
        }
        self.renumbered(&group_of)
    }

    /// Keeps the `k` largest components (ties: the lowest number) and merges every other one into the largest.
    pub fn merge_into_largest(&self, k: usize) -> Components {
        let mut order: Vec<usize> = (0..self.count()).collect();
        order.sort_by_key(|c| (usize::MAX - self.sizes[*c], *c));
        let mut group_of: Vec<usize> = (0..self.count()).collect();
        for extra in order.iter().skip(k.max(1)) {
            group_of[*extra] = order[0];
        }
        self.renumbered(&group_of)
    }

    /// Component `c` becomes part of `group_of[c]`; the groups are numbered by first appearance.
    fn renumbered(&self, group_of: &[usize]) -> Components {
        Components::numbered(self.of.iter().map(|c| group_of[*c as usize]), group_of.len())
    }

    /// The components that are given groups of points, each a number below `bound`; numbered by first appearance.
    pub(crate) fn numbered(groups: impl Iterator<Item = usize>, bound: usize) -> Components {
        let mut number = vec![u32::MAX; bound];
        let mut sizes = Vec::new();
        let of = groups
            .map(|group| {
                if number[group] == u32::MAX {
                    number[group] = sizes.len() as u32;
                    sizes.push(0);
                }
                sizes[number[group] as usize] += 1;
                number[group]
            })
            .collect();
        Components { of, sizes }
    }
}

/// The root of `i` in a union-find forest (Galler and Fischer 1964), with path halving (Tarjan and van Leeuwen 1984).
#[inline]
pub(crate) fn find_root(parent: &mut [u32], mut i: u32) -> u32 {
    while parent[i as usize] != i {
        parent[i as usize] = parent[parent[i as usize] as usize];
        i = parent[i as usize];
    }
    i
}
