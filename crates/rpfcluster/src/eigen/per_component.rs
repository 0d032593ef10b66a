//! The spectrum of a graph that may fall apart, piece by piece.
//!
//! A block-diagonal operator has the union of its blocks' spectra. Finding the blocks first costs one walk over the
//! graph and makes the many eigenvalues 1 of a disconnected graph exact, instead of a test of the eigen-solver.

use super::{Embedding, Hints, Pairs, Solver, SpectralParams, largest};
use crate::affinity::Affinity;
use crate::error::Result;
use crate::graph::Components;
use crate::observe::Observer;

/// The embedding, signs as they come.
pub(super) fn embed(
    affinity: &dyn Affinity,
    params: &SpectralParams,
    hints: &Hints,
    observer: &dyn Observer,
) -> Result<Embedding> {
    let start = hints.start.filter(|s| s.n() == affinity.n() && s.columns.len() == 1);
    let pieces = if hints.connected { None } else { affinity.components() };
    match pieces {
        Some(found) if found.count() > params.k => {
            let merged = match hints.similarity {
                Some(similarity) => found.merge_to(params.k, similarity),
                None => found.merge_into_largest(params.k),
            };
            Ok(one_column_each(affinity, &merged))
        }
        Some(found) if found.count() == params.k && params.k > 1 => Ok(one_column_each(affinity, &found)),
        Some(found) if found.count() > 1 => shared_out(affinity, &found, params, start, observer),
        _ => {
            let n = affinity.n();
            let start = start.map(|s| (s.vectors.as_slice(), s.k()));
            let (pairs, degrees, solver) = largest(affinity, params.k, params, start, observer)?;
            Ok(Embedding {
                eigenvalues: pairs.values,
                vectors: pairs.vectors,
                degrees,
                residual: pairs.residual,
                converged: pairs.converged,
                iterations: pairs.iterations,
                solver,
                uncovered: pairs.uncovered,
                piece_of: vec![0; n],
                columns: vec![(0..params.k).collect()],
            })
        }
    }
}

/// As many pieces as clusters: each has its own first eigenvector `D^1/2 1`, and nothing is left to compute.
fn one_column_each(affinity: &dyn Affinity, pieces: &Components) -> Embedding {
    let degrees = affinity.degrees();
    let (n, k) = (degrees.len(), pieces.count());
    let mut volume = vec![0.0; k];
    for (d, piece) in degrees.iter().zip(&pieces.of) {
        volume[*piece as usize] += d;
    }
    let mut vectors = vec![0.0; n * k];
    for (i, piece) in pieces.of.iter().enumerate() {
        let c = *piece as usize;
        // Points without any similarity have no degree to weigh them by.
        let share = if volume[c] > 0.0 { degrees[i] / volume[c] } else { 1.0 / pieces.sizes[c] as f64 };
        vectors[i * k + c] = share.sqrt();
    }
    Embedding {
        eigenvalues: vec![1.0; k],
        vectors,
        degrees,
        residual: 0.0,
        converged: true,
        iterations: 0,
        solver: Solver::Dense,
        uncovered: 0.0,
        piece_of: pieces.of.clone(),
        columns: (0..k).map(|c| vec![c]).collect(),
    }
}

/// Fewer pieces than clusters: each piece has its eigenvalue 1, and the rest of the columns go to the largest
/// eigenvalues wherever they are.
fn shared_out(
    affinity: &dyn Affinity,
    pieces: &Components,
    params: &SpectralParams,
    start: Option<&Embedding>,
    observer: &dyn Observer,
) -> Result<Embedding> {
    let (n, k) = (affinity.n(), params.k);
    let rows = pieces.rows();
    let spare = k - pieces.count();
    let mut found: Vec<Pairs> = Vec::with_capacity(rows.len());
    let mut degrees = vec![0.0; n];
    let mut used = (0, Solver::Dense);
    for own in &rows {
        let part = affinity.restrict(own);
        let mut inner = params.clone();
        // Landmarks are shared out by size, but no piece goes without.
        let share = (params.landmarks as u128 * own.len() as u128).div_ceil(n as u128) as usize;
        inner.landmarks = share.max(2 * (spare + 1));
        let own_start = start.map(|s| (s.k(), own.iter().flat_map(|row| s.row(*row as usize)).copied()));
        let own_start: Option<(usize, Vec<f64>)> = own_start.map(|(k, rows)| (k, rows.collect()));
        let own_start = own_start.as_ref().map(|(k, rows)| (rows.as_slice(), *k));
        let (pairs, own_degrees, solver) =
            largest(part.as_ref(), (spare + 1).min(own.len()), &inner, own_start, observer)?;
        for (row, d) in own.iter().zip(own_degrees) {
            degrees[*row as usize] = d;
        }
        if own.len() > used.0 {
            used = (own.len(), solver);
        }
        found.push(pairs);
    }
    // (eigenvalue, piece, number within the piece): the first of each piece always counts.
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
        solver: used.1,
        uncovered,
        piece_of: pieces.of.clone(),
        columns,
    })
}
