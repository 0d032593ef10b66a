"""Clusters texts by their embeddings: TF-IDF and a truncated SVD of made-up newsgroup articles, in half precision.

Embeddings of a language model are used in the same way: only angles count (``metric="cosine"``), and float16 and int8
arrays are not widened to float64.
"""

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline

from rpfcluster import RPFCluster

SEEDS = range(5)
# Newsgroups come in families, such as comp.* and rec.*, whose members share words.
FAMILIES, MEMBERS = 4, 5


def articles(n_articles: int, seed: int) -> tuple[list[str], np.ndarray]:
    """Return articles of 20 groups, and the group of each."""
    rng = np.random.default_rng(seed)
    # Word frequencies follow Zipf's law, in the whole language and in the vocabulary of a group.
    language = [f"word{i}" for i in range(4000)]
    zipf = 1 / np.arange(1, len(language) + 1)
    words_of_group = [rng.choice(len(language), 150, replace=False) for _ in range(FAMILIES * MEMBERS)]
    words_of_family = [rng.choice(len(language), 150, replace=False) for _ in range(FAMILIES)]
    of_vocabulary = 1 / np.arange(1, 151)
    # Some groups are busier than others.
    groups = rng.choice(FAMILIES * MEMBERS, n_articles, p=rng.dirichlet(np.full(FAMILIES * MEMBERS, 5.0)))
    texts = []
    for group in groups:
        source = rng.choice(3, size=rng.integers(20, 120), p=[0.72, 0.16, 0.12])
        common = rng.choice(len(language), size=(source == 0).sum(), p=zipf / zipf.sum())
        family = rng.choice(words_of_family[group // MEMBERS], size=(source == 1).sum(), p=_share(of_vocabulary))
        own = rng.choice(words_of_group[group], size=(source == 2).sum(), p=_share(of_vocabulary))
        texts.append(" ".join(language[i] for i in np.concatenate([common, family, own])))
    return texts, groups


def _share(weights: np.ndarray) -> np.ndarray:
    shares: np.ndarray = weights / weights.sum()
    return shares


def embedded(texts: list[str], dimensions: int = 100, seed: int = 0) -> np.ndarray:
    """Return one embedding for each text, in half precision."""
    pipeline = make_pipeline(TfidfVectorizer(sublinear_tf=True), TruncatedSVD(dimensions, random_state=seed))
    embeddings: np.ndarray = pipeline.fit_transform(texts).astype(np.float16)
    return embeddings


def main(n_articles: int = 1500) -> dict[str, list[float]]:
    """Print and return the adjusted Rand index with the groups, one value per seed."""
    found: dict[str, list[float]] = {"RPFCluster": [], "KMeans": []}
    for seed in SEEDS:
        texts, groups = articles(n_articles, seed)
        embeddings = embedded(texts)
        labels = RPFCluster(20, metric="cosine", random_state=seed).fit_predict(embeddings)
        found["RPFCluster"].append(float(adjusted_rand_score(groups, labels)))
        unit = embeddings / np.linalg.norm(embeddings.astype(np.float32), axis=1, keepdims=True)
        labels = KMeans(20, n_init=10, random_state=seed).fit_predict(unit)
        found["KMeans"].append(float(adjusted_rand_score(groups, labels)))
    for name, scores in found.items():
        print(f"adjusted Rand index, {name:10} {np.mean(scores):.3f} ({min(scores):.3f} to {max(scores):.3f})")
    return found


if __name__ == "__main__":
    main()
