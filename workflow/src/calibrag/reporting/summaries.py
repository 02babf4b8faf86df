"""From measures by question to the rows of the tables, and what each column is called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.compute as pc
import pyarrow.parquet as pq

from calibrag.evaluation import bootstrap, published, significance
from calibrag.evaluation.passage_runs import counted_questions, summarise_ranking
from calibrag.records import Document, Question, read_jsonl
from calibrag.retrieval.runs import read_qrels

COLLECTIONS = {
    "collection": "collection",
    "description": "holds",
    "licence": "licence",
    "documents": "documents",
    "passages": "passages",
    "tables": "of them tables",
    "annotations": "names",
    "n": "questions",
    "supported": "of them supported",
    "relevant": "relevant passages a question",
    "unmatched": "facts that no passage holds",
}
MODELS = {
    "model": "model",
    "data": "held-out data",
    "metric": "measure",
    "system": "system",
    "value": "value",
    "n": "n",
}
VERIFIER = {
    "data": "held-out data",
    "scorer": "scorer",
    "n": "n",
    "groups": "claims",
    "n_left_out": "left out",
    "n_entails": "entails",
    "n_partial": "partial",
    "n_neutral": "neutral",
    "n_contradicts": "contradicts",
    "n_second": "by second model",
    "auroc": "AUROC",
    "macro": "macro AUROC",
    "balanced_accuracy": "balanced accuracy",
}
READER = {
    "collection": "collection",
    "system": "system",
    "passages": "passages",
    "choice": "chosen by",
    "n": "n",
    "n_without_candidate": "without candidate",
    "em": "EM",
    "f1": "F1",
}
RANKINGS = {"n": "n", "n_missing": "missing", "n_no_relevant": "without relevant", "mean_length": "length"}
SIGNIFICANCE = {
    "collection": "collection",
    "measure": "measure",
    "first": "first",
    "second": "second",
    "n": "n",
    "n_missing": "missing",
    "difference": "first - second",
    "p_tukey": "p, Tukey HSD",
    "p_paired": "p, paired",
    "won": "won",
    "lost": "lost",
    "tied": "tied",
    "effect_size": "effect size",
    "d_z": "d_z",
}
PUBLISHED = {"collection": "collection", "ranking": "ranking", "source": "source", "n": "n", "n_missing": "missing"}


TEXT = (
    "collection", "system", "run", "retriever", "qid", "type", "answer", "error", "passages", "choice", "ranking",
    "source",
)  # fmt: skip
"""Columns that stay text whatever they look like."""


def read_rows(paths: Iterable[str | Path]) -> pd.DataFrame:
    """Return CSV files of one layout below one another, in their order; ids, names and answers stay text."""
    text = dict.fromkeys(TEXT, object)
    # an answer may say "n/a" or "None": only an empty cell is a missing value
    frames = [pd.read_csv(path, dtype=text, keep_default_na=False, na_values=[""]) for path in paths]
    return pd.concat(frames, ignore_index=True)


def summarise_rankings(
    scores: pd.DataFrame, keys: Sequence[str], measures: Sequence[str], no_relevant: str, resampling: Mapping[str, Any]
) -> pd.DataFrame:
    """Return one row a ranking: its keys, counts, its rank, and the mean of each measure with its interval.

    ``rank`` is the place among the rankings of the collection by the first measure, 1 the best.
    """
    settings = _bootstrap(resampling)
    table = one_row_each(scores, keys, lambda rows: summarise_ranking(rows, measures, *settings, no_relevant))
    ranks = table.groupby("collection")[measures[0]].rank(method="min", ascending=False)
    return table.assign(rank=ranks.astype("Int64"))


def ranking_headings(keys: Sequence[str], measures: Sequence[str]) -> dict[str, str]:
    """Return the columns of a table of rankings with their headings."""
    headings = {name: name for name in (*keys, *measures)}
    return headings | RANKINGS | {"rank": f"rank by {measures[0]}"}


def compare_rankings(
    scores: pd.DataFrame, name: str, measures: Sequence[str], no_relevant: str, resampling: Mapping[str, Any],
    tests: Mapping[str, Any],
) -> pd.DataFrame:  # fmt: skip
    """Return one row a collection, measure and pair of rankings: the columns of ``SIGNIFICANCE``.

    Parameters
    ----------
    name
        The column that names the rankings. All of a collection must have the same questions.
    resampling, tests
        The blocks ``bootstrap`` and ``significance`` of the configuration.
    """
    resamples, level, seed = _bootstrap(resampling)
    tables = []
    for collection, rows in scores.groupby("collection", sort=False):
        counted = counted_questions(rows, measures, no_relevant)
        names = list(dict.fromkeys(rows[name]))
        missing = {each: set(of["qid"][of["missing"]]) for each, of in counted.groupby(name)}
        for measure in measures:
            values = counted.pivot(index="qid", columns=name, values=measure)[names].to_numpy(float)
            index = bootstrap.resamples(len(values), resamples, seed)
            table = significance.compare_runs(values, names, tests["trials"], tests["seed"], index, level)
            absent = [
                len(missing[one] | missing[two]) for one, two in zip(table["first"], table["second"], strict=True)
            ]
            tables.append(table.assign(collection=collection, measure=measure, n_missing=absent))
    columns = [column for heading in SIGNIFICANCE for column in (heading, f"{heading}_low", f"{heading}_high")]
    joined = pd.concat(tables, ignore_index=True)
    return joined[[column for column in columns if column in joined]]


def describe_tests(tests: Mapping[str, Any]) -> str:
    """Return how the tests of a table were made, as a sentence."""
    return (
        f"p by {tests['trials']:,} random exchanges within questions (seed {tests['seed']}): Tukey HSD for all pairs "
        "of a collection at once, paired for each pair alone."
    )


def describe_shown(table: pd.DataFrame, shown: pd.DataFrame, reference: str) -> str:
    """Return how many of the table's pairs of runs are shown, as a sentence."""
    return (
        f"Shown are {len(shown):,} rows, pairs with {reference} where there are some; the CSV file has {len(table):,}."
    )


def describe_lacking(scores: pd.DataFrame, table: pd.DataFrame) -> list[str]:
    """Return, for captions, which systems have no row in a table of two runs, since they lack one of them."""
    having = set(zip(table["collection"], table["system"], strict=True))
    lacking = [each for each in zip(scores["collection"], scores["system"], strict=True) if each not in having]
    named = ", ".join(f"{system} on {collection}" for collection, system in dict.fromkeys(lacking))
    return [f"Without one of the two runs: {named}."] if named else []


def published_headings() -> dict[str, str]:
    """Return the columns of the table of published results with their headings."""
    short = {"Any Evidence Hit Rate": "any", "Full Evidence Hit Rate": "full", "Evidence Recall": "recall"}
    measures = {}
    for measure in published.MEASURES:
        name, _, cutoff = measure.partition("@")
        measures[measure] = f"{short[name]}@{cutoff}" if name in short else measure
    return PUBLISHED | measures


def _bootstrap(resampling: Mapping[str, Any]) -> tuple[int, float, int]:
    return resampling["resamples"], resampling["level"], resampling["seed"]


def one_row_each(
    frame: pd.DataFrame, keys: Sequence[str], summarise: Callable[[pd.DataFrame], Mapping[str, Any]]
) -> pd.DataFrame:
    """Return one row for each of the keys' values, in the order of the frame: the keys and what its rows come to."""
    groups = frame.groupby(list(keys), sort=False)
    return pd.DataFrame([dict(zip(keys, name, strict=True)) | dict(summarise(rows)) for name, rows in groups])


def summarise_models(evaluations: Mapping[str, str | Path]) -> pd.DataFrame:
    """Return the evaluations of the adapters below one another, each under the name of its model."""
    frames = [pd.read_csv(path).assign(model=model) for model, path in evaluations.items()]
    return pd.concat(frames, ignore_index=True)[list(MODELS)]


def verifier_headings(table: pd.DataFrame) -> dict[str, str]:
    """Return the columns of the verifier's table with their headings; labels that no set has are no columns."""
    return {column: heading for column, heading in VERIFIER.items() if column in table}


def describe_verifiers(threshold: float, resampling: Mapping[str, Any]) -> str:
    """Return what the measures of the verifier's table mean, in sentences."""
    resamples, level, seed = _bootstrap(resampling)
    return (
        "AUROC: entailed claims against all others; macro: the mean of the AUROCs against each other label by itself. "
        f"Intervals: {100 * level:g} % percentile bootstrap over claims, {resamples:,} resamples (seed {seed}). "
        f"Balanced accuracy: entailed from a score of {threshold:g} on. Left out: pairs whose claim was trained on. "
        "Cosine and words: the best window, as the verifier reads it."
    )


def describe_collection(
    name: str, documents: str | Path, questions: str | Path, passages: str | Path, annotations: str | Path,
    qrels: str | Path, unmatched: str | Path,
) -> dict[str, Any]:  # fmt: skip
    """Return the counts of a collection, the columns of ``COLLECTIONS``."""
    asked = list(read_jsonl(questions, Question))
    kinds = pq.read_table(passages, columns=["kind"]).column("kind")
    relevant = sum(grade > 0 for grades in read_qrels(qrels).values() for grade in grades.values())
    return {
        "collection": name,
        "documents": sum(1 for _ in read_jsonl(documents, Document)),
        "passages": len(kinds),
        "tables": pc.sum(pc.equal(kinds, "table")).as_py() or 0,
        "annotations": pq.read_metadata(annotations).num_rows,
        "n": len(asked),
        "supported": sum(question.supported for question in asked),
        "relevant": relevant / len(asked),
        "unmatched": len(pd.read_csv(unmatched)),
    }


def counts(table: pd.DataFrame) -> dict[str, int]:
    """Return the questions asked by collection, for captions."""
    return {name: int(rows["n_asked"].max()) for name, rows in table.groupby("collection", sort=False)}
