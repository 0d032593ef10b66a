//! The pieces of a graph that falls apart, and how to join them when there are more pieces than clusters.
//!
//! The spectrum of a disconnected graph is the union of its pieces' spectra, with eigenvalue 1 once for each piece.
//! The spectral step therefore asks for the pieces first instead of hoping that the eigen-solver separates them.

/// Connected components, numbered in the order in which their first points appear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Components {
    /// The component of each point.
    pub of: Vec<u32>,
    /// The number of points of each component.
    pub sizes: Vec<usize>,
}

impl Components {
    /// The components of the graph over `n` points whose edges `neighbours(point, see)` shows by calling `see`.
    /// The graph must be symmetric.
    pub fn by_walk(n: usize, mut neighbours: impl FnMut(usize, &mut dyn FnMut(usize))) -> Self {
        const UNSEEN: u32 = u32::MAX;
        let mut of = vec![UNSEEN; n];
        let mut sizes = Vec::new();
        let mut stack = Vec::new();
        for first in 0..n {
            if of[first] != UNSEEN {
                continue;
            }
            let number = sizes.len() as u32;
            let mut size = 0;
            of[first] = number;
            stack.push(first);
            while let Some(point) = stack.pop() {
                size += 1;
                neighbours(point, &mut |other| {
                    if of[other] == UNSEEN {
                        of[other] = number;
                        stack.push(other);
                    }
                });
            }
            sizes.push(size);
        }
        Components { of, sizes }
    }

    /// How many there are.
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

    /// Merges the smallest component into the one most similar to it (ties: the largest, then the lowest number)
    /// until `k` are left; `similarity` takes two numbers of components as they are here. Two merged groups are as
    /// similar as their most similar members. With no more than `k` components nothing changes.
    ///
    /// Asks for about count² similarities; [`Components::merge_into_largest`] needs none.
    pub fn merge_to(&self, k: usize, similarity: impl Fn(usize, usize) -> f64) -> Components {
        let mut groups: Vec<Vec<usize>> = (0..self.count()).map(|c| vec![c]).collect();
        let mut sizes = self.sizes.clone();
        let mut group_of: Vec<usize> = (0..self.count()).collect();
        let mut left = self.count();
        let mut score = vec![f64::NEG_INFINITY; self.count()];
        while left > k.max(1) {
            let live = |g: &usize| !groups[*g].is_empty();
            // Among equals the last one goes, so that low numbers stay.
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
        self.regrouped(&group_of)
    }

    /// Keeps the `k` largest components (ties: the lowest number) and gives every other one to the largest.
    pub fn merge_into_largest(&self, k: usize) -> Components {
        let mut order: Vec<usize> = (0..self.count()).collect();
        order.sort_by_key(|c| (usize::MAX - self.sizes[*c], *c));
        let mut group_of: Vec<usize> = (0..self.count()).collect();
        for extra in order.iter().skip(k.max(1)) {
            group_of[*extra] = order[0];
        }
        self.regrouped(&group_of)
    }

    /// The same points with component `c` renamed to `group_of[c]`, numbered again by first appearance.
    fn regrouped(&self, group_of: &[usize]) -> Components {
        let mut number = vec![u32::MAX; group_of.len()];
        let mut sizes = Vec::new();
        let of = self
            .of
            .iter()
            .map(|component| {
                let group = group_of[*component as usize];
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
