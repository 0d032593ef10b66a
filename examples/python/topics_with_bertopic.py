"""RPFCluster as the clusterer inside BERTopic, on embeddings that are computed before.

BERTopic reduces, clusters and describes; any object with `fit`, `predict` and `labels_` clusters. RPFCluster takes the
embeddings as they are, so the reduction is left out, and with a number of clusters every text gets a topic: there is no
topic -1. Needs ``pip install bertopic``; with ``--no-deps`` and plotly, hdbscan and umap-learn it does without torch.
"""

import runpy
from pathlib import Path

from bertopic import BERTopic
from bertopic.dimensionality import BaseDimensionalityReduction
from sklearn.metrics import adjusted_rand_score

from rpfcluster import RPFCluster

TEXTS = runpy.run_path(str(Path(__file__).parent / "embeddings_of_texts.py"))


def main(n_articles: int = 1000) -> tuple[float, list[str]]:
    """Print the topics; return the adjusted Rand index with the groups, and the names of the topics."""
    texts, groups = TEXTS["articles"](n_articles, seed=0)
    embeddings = TEXTS["embedded"](texts)
    model = BERTopic(
        umap_model=BaseDimensionalityReduction(),
        hdbscan_model=RPFCluster(20, metric="cosine", random_state=0),
    )
    topics, _ = model.fit_transform(texts, embeddings)
    names = model.get_topic_info()["Name"].tolist()
    print("\n".join(names))
    again, _ = model.transform(texts[:5], embeddings[:5])
    assert list(again) == list(topics[:5])
    return float(adjusted_rand_score(groups, topics)), names


if __name__ == "__main__":
    main()
