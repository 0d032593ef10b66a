//! The spectrum of a graph component by component.
//!
//! A block-diagonal operator has the union of its blocks' spectra. Finding the components costs one search of the graph
//! and makes the repeated eigenvalue 1 of a disconnected graph exact.

use super::{Eigenpairs, EmbedOptions, Embedding, Solution, Solver, SpectralParams, StartVectors, largest};
use crate::affinity::Affinity;
use crate::error::Result;
use crate::graph::Components;
use crate::observe::Observer;

/// The embedding before its signs are fixed.
pub(super) fn embed(
    affinity: &Affinity,
    params: &SpectralParams,
    options: &EmbedOptions,
    observer: &dyn Observer,
) -> Result<Embedding> {
    let start = options.start.filter(|s| s.n() == affinity.n() && s.columns.len() == 1);
    let searched = match options.components {
        None if !options.connected => affinity.components(observer)?,
        _ => None,
    };
    match options.components.or(searched.as_ref()) {
        Some(found) if found.count() > params.k => {
            let merged = match options.similarity {
                Some(similarity) => found.merge_to(params.k, similarity),
                None => found.merge_into_largest(params.k),
            };
            one_column_each(affinity, &merged, observer)
        }
        Some(found) if found.count() == params.k && params.k > 1 => {
            one_column_each(affinity, found, observer)
        }
        Some(found) if found.count() > 1 => by_eigenvalue(affinity, found, params, start, observer),
        _ => {
            let n = affinity.n();
            let start = start.map(|s| StartVectors { vectors: &s.vectors, columns: s.k() });
            let Solution { pairs, degrees, solver } = largest(affinity, params.k, params, start, observer)?;
            Ok(Embedding {
                eigenvalues: pairs.values,
                vectors: pairs.vectors,
                degrees,
                residual: pairs.residual,
                converged: pairs.converged,
                iterations: pairs.iterations,
                solver,
                uncovered: pairs.uncovered,
                component_of: vec![0; n],
                columns: vec![(0..params.k).collect()],
            })
        }
    }
}

/// As many components as clusters: the eigenvectors are the known first vectors `D^1/2 1` of the components.
fn one_column_each(
    affinity: &Affinity,
    components: &Components,
    observer: &dyn Observer,
) -> Result<Embedding> {
    let degrees = affinity.degrees(observer)?;
    let (n, k) = (degrees.len(), components.count());
    let mut volume = vec![0.0; k];
    for (d, component) in degrees.iter().zip(&components.of) {
        volume[*component as usize] += d;
    }
    let mut vectors = vec![0.0; n * k];
    for (i, component) in components.of.iter().enumerate() {
        let c = *component as usize;
        // Points without any similarity have degree 0 and count equally.
        let share = if volume[c] > 0.0 { degrees[i] / volume[c] } else { 1.0 / components.sizes[c] as f64 };
        vectors[i * k + c] = share.sqrt();
    }
    Ok(Embedding {
        eigenvalues: vec![1.0; k],
        vectors,
        degrees,
        residual: 0.0,
        converged: true,
        iterations: 0,
        solver: Solver::Dense,
        uncovered: 0.0,
        component_of: components.of.clone(),
        columns: (0..k).map(|c| vec![c]).collect(),
    })
}

/// Fewer components than clusters: each component has its eigenvalue 1, and the other columns go to the largest
/// eigenvalues of all components.
fn by_eigenvalue(
    affinity: &Affinity,
    components: &Components,
    params: &SpectralParams,
    start: Option<&Embedding>,
    observer: &dyn Observer,
) -> Result<Embedding> {
    let (n, k) = (affinity.n(), params.k);
    let rows = components.rows();
    let spare = k - components.count();
    let mut found: Vec<Eigenpairs> = Vec::with_capacity(rows.len());
    let mut degrees = vec![0.0; n];
    let mut largest_component = 0;
    let mut used = Solver::Dense;
    for own in &rows {
        let part = affinity.submatrix(own, observer)?;
        let mut inner = params.clone();
        // Each component gets landmarks in proportion to its size, but enough for its eigenvectors.
        let share = (params.landmarks as u128 * own.len() as u128).div_ceil(n as u128) as usize;
        inner.landmarks = share.max(2 * (spare + 1));
        let own_start: Option<Vec<f64>> =
            start.map(|s| own.iter().flat_map(|row| s.row(*row as usize)).copied().collect());
        let own_start = match (&own_start, start) {
            (Some(vectors), Some(whole)) => Some(StartVectors { vectors, columns: whole.k() }),
            _ => None,
        };
        let solution = largest(&part, (spare + 1).min(own.len()), &inner, own_start, observer)?;
        for (row, d) in own.iter().zip(solution.degrees) {
            degrees[*row as usize] = d;
        }
        if own.len() > largest_component {
            largest_component = own.len();
            used = solution.solver;
        }
        found.push(solution.pairs);
    }
    // (eigenvalue, component, number within the component): the first of each component is always chosen.
    let mut chosen: Vec<(f64, usize, usize)> =
        found.iter().enumerate().map(|(c, pairs)| (pairs.values[0], c, 0)).collect();
    let mut others: Vec<(f64, usize, usize)> = found
        .iter()
        .enumerate()
        .flat_map(|(c, pairs)| pairs.values.iter().enumerate().skip(1).map(move |(j, v)| (*v, c, j)))
        .collect();
    let by_value = |a: &(f64, usize, usize), b: &(f64, usize, usize)| {
        b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2))
    };
    others.sort_by(by_value);
    chosen.extend(others.into_iter().take(spare));
    chosen.sort_by(by_value);
    let mut vectors = vec![0.0; n * k];
    let mut columns = vec![Vec::new(); rows.len()];
    for (column, (_, c, j)) in chosen.iter().enumerate() {
        let m = found[*c].values.len();
        for (position, row) in rows[*c].iter().enumerate() {
            vectors[*row as usize * k + column] = found[*c].vectors[position * m + j];
        }
        columns[*c].push(column);
    }
    let uncovered =
        found.iter().zip(&rows).map(|(p, own)| p.uncovered * own.len() as f64).sum::<f64>() / n as f64;
    Ok(Embedding {
        eigenvalues: chosen.iter().map(|c| c.0).collect(),
        vectors,
        degrees,
        residual: found.iter().fold(0.0, |most, p| p.residual.max(most)),
        converged: found.iter().all(|p| p.converged),
        iterations: found.iter().map(|p| p.iterations).sum(),
        solver: used,
        uncovered,
        component_of: components.of.clone(),
        columns,
    })
}
