"""`rpfcluster.scanpy.rpf` on AnnData objects, and its results in scanpy."""

import importlib.util
import json

import anndata
import numpy as np
import pytest
from needs import require
from scipy import sparse

from rpfcluster import RPFCluster, RPForestKernel
from rpfcluster.datasets import make_shape
from rpfcluster.scanpy import rpf

X, Y = make_shape("rings", 300, random_state=0)
ARGUMENTS = {"n_estimators": 50, "random_state": 0}


def cells(matrix=X, **obsm):
    return anndata.AnnData(matrix, obsm=obsm)


def test_results_are_where_scanpy_keeps_them(tmp_path):
    adata = cells()
    assert rpf(adata, 3, **ARGUMENTS) is None
    model = RPFCluster(3, **ARGUMENTS).fit(X)
    assert adata.obs["rpf"].cat.categories.tolist() == ["0", "1", "2"]
    assert (adata.obs["rpf"].astype(int).to_numpy() == model.labels_).all()
    assert np.allclose(adata.obs["rpf_confidence"], model.confidence_)
    graph = adata.obsp["rpf_connectivities"]
    assert sparse.issparse(graph)
    assert abs(graph.power(model.chosen_["power"]) - model.affinity_matrix_).max() < 1e-12
    found = adata.uns["rpf"]
    assert "metric" not in found["params"]
    assert found["connectivities_key"] == "rpf_connectivities"
    assert found["verdict"] == model.verdict_
    assert found["params"] | {"n_clusters": 3, "use_rep": "X", "n_estimators": 50} == found["params"]
    assert json.loads(found["chosen"])["affinity"] == model.chosen_["affinity"]
    assert np.allclose(found["eigenvalues"], model.eigenvalues_)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    assert (again.obs["rpf"] == adata.obs["rpf"]).all()
    assert again.uns["rpf"]["verdict"]["word"] == model.verdict_["word"]


def test_the_representation_is_pca_if_there_is_one():
    noise = np.random.default_rng(0).normal(size=(300, 5))
    adata = cells(noise, X_pca=np.hstack([X, noise]), other=X)
    rpf(adata, 3, n_pcs=2, **ARGUMENTS)
    expected = RPFCluster(3, **ARGUMENTS).fit_predict(X)
    assert (adata.obs["rpf"].astype(int).to_numpy() == expected).all()
    assert adata.uns["rpf"]["params"]["use_rep"] == "X_pca"
    copied = rpf(adata, 3, use_rep="other", key_added="rings", copy=True, **ARGUMENTS)
    assert "rings" not in adata.obs
    assert (copied.obs["rings"].astype(int).to_numpy() == expected).all()


def test_sparse_counts_are_clustered_as_they_are():
    rng = np.random.default_rng(1)
    types = np.repeat([0, 1, 2], 60)
    rates = np.full((3, 90), 0.1)
    for kind in range(3):
        rates[kind, 30 * kind : 30 * kind + 30] = 3.0
    counts = sparse.csr_matrix(rng.poisson(rates[types]).astype(np.float32))
    adata = cells(counts)
    rpf(adata, 3, **ARGUMENTS)
    assert len(set(zip(types, adata.obs["rpf"], strict=True))) == 3


def test_leiden_has_communities_and_a_graph():
    adata = cells()
    rpf(adata, None, method="leiden", affinity="top-k", resolution=0.01, **ARGUMENTS)
    assert "rpf_connectivities" in adata.obsp
    assert len(adata.uns["rpf"]["eigenvalues"]) == 0


def test_errors_name_what_is_there():
    adata = cells(X_other=X)
    with pytest.raises(ValueError, match="use_rep is 'X_pca', but obsm holds X_other"):
        rpf(adata, 3, use_rep="X_pca")
    with pytest.raises(ValueError, match="n_pcs is 9, but must be from 1 to 2, the columns of X"):
        rpf(adata, 3, n_pcs=9)
    with pytest.raises(ValueError, match="has no matrix X"):
        rpf(anndata.AnnData(obs=adata.obs), 3)


def test_connectivities_are_fractions_of_trees_and_distances_the_rest():
    adata = cells()
    rpf(adata, 3, **ARGUMENTS)
    graph, distances = adata.obsp["rpf_connectivities"], adata.obsp[adata.uns["rpf"]["distances_key"]]
    kernel = RPForestKernel(50, min_samples_split=24, random_state=0).fit(X)(X)
    rows, columns = graph.nonzero()
    assert np.allclose(graph.data, kernel[rows, columns])
    assert (distances.indices == graph.indices).all()
    assert np.allclose(distances.data, 1 - graph.data)
    # Powers of the clustering would leave UMAP, which drops weights below 1/500 of the largest, few pairs.
    assert graph.data.min() > graph.data.max() / 500


@pytest.mark.parametrize("affinity", ["paper", "linear", "precomputed"])
def test_a_dense_affinity_leaves_no_graph(affinity):
    adata = cells(RPForestKernel(50, random_state=0).fit(X)(X) if affinity == "precomputed" else X)
    rpf(adata, 3, affinity=affinity, **ARGUMENTS)
    assert adata.obs["rpf"].nunique() == 3
    assert len(adata.obsp) == 0
    assert "connectivities_key" not in adata.uns["rpf"]


def test_a_sparse_precomputed_similarity_is_the_graph_and_is_not_changed():
    kernel = sparse.csr_matrix(RPForestKernel(50, random_state=0).fit(X)(X) * 4)
    adata = cells(kernel)
    rpf(adata, 3, affinity="precomputed", **ARGUMENTS)
    graph = adata.obsp["rpf_connectivities"]
    assert (graph != kernel).nnz == 0
    assert not np.shares_memory(graph.data, adata.X.data)
    assert np.allclose(adata.obsp["rpf_distances"].data, 1 - kernel.data / 4)


def test_the_metric_of_the_parameters_is_one_that_umap_knows():
    adata = cells()
    rpf(adata, 3, metric="auto", **ARGUMENTS)
    assert "metric" not in adata.uns["rpf"]["params"]
    rpf(adata, 3, metric="cosine", **ARGUMENTS)
    assert adata.uns["rpf"]["params"]["metric"] == "cosine"


def test_scanpy_takes_the_graph():
    require("scanpy")
    import scanpy as sc

    adata = cells()
    rpf(adata, 3, **ARGUMENTS)
    # Without neighbors_key it would ask for scanpy's own neighbours.
    sc.tl.diffmap(adata, n_comps=5, neighbors_key="rpf")
    assert adata.obsm["X_diffmap"].shape == (300, 5)
    adata.uns["iroot"] = 0
    sc.tl.dpt(adata, n_dcs=5, neighbors_key="rpf")
    assert adata.obs["dpt_pseudotime"].iloc[0] == 0
    sc.tl.dendrogram(adata, "rpf", use_rep="X")


# numba compiles umap, which warns of what it finds.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.timeout(600)
def test_umap_of_scanpy_takes_the_graph_and_leaves_it():
    require("scanpy")
    import scanpy as sc

    # Far apart, so that the graph has several components, which umap places by a metric.
    apart = np.vstack([X + shift for shift in (0, 1000, 2000)])
    adata = cells(apart)
    rpf(adata, 3, **ARGUMENTS)
    before = adata.obsp["rpf_connectivities"].copy()
    sc.tl.umap(adata, neighbors_key="rpf")
    assert adata.obsm["X_umap"].shape == (900, 2)
    assert np.isfinite(adata.obsm["X_umap"]).all()
    assert (adata.obsp["rpf_connectivities"] != before).nnz == 0


@pytest.mark.filterwarnings("ignore")
def test_leiden_and_paga_of_scanpy_take_the_graph():
    require("scanpy")
    import scanpy as sc

    if importlib.util.find_spec("igraph") is None:
        pytest.skip("scanpy installs igraph only on request")
    adata = cells()
    rpf(adata, 3, **ARGUMENTS)
    sc.tl.leiden(adata, neighbors_key="rpf", flavor="igraph", n_iterations=2, directed=False, resolution=0.1)
    assert adata.obs["leiden"].nunique() < 10
    sc.tl.paga(adata, groups="rpf", neighbors_key="rpf")
    assert adata.uns["paga"]["connectivities"].shape == (3, 3)
    sc.tl.draw_graph(adata, layout="fr", neighbors_key="rpf")
    assert adata.obsm["X_draw_graph_fr"].shape == (300, 2)
