"""From measures by question to the rows of the tables, and what each column is called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.compute as pc
import pyarrow.parquet as pq

from calibrag.evaluation.answer_runs import summarise_answer_run
from calibrag.evaluation.passage_runs import summarise_passage_run
from calibrag.evaluation.trec import read_qrels
from calibrag.records import Document, Question, read_jsonl

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
ANSWERS = {
    "collection": "collection",
    "system": "system",
    "run": "run",
    "n": "n",
    "n_missing": "missing",
    "n_error": "errors",
    "n_refused": "refused",
    "accuracy": "accuracy",
    "em": "EM",
    "f1": "F1",
    "r_o": "R_O",
    "r_u": "R_U",
    "hmr": "HMR",
    "acc_hmr": "accHMR",
    "ob": "OB",
}


def read_rows(paths: Iterable[str | Path]) -> pd.DataFrame:
    """Return CSV files of one layout below one another, in their order; ids, names and answers stay text."""
    text = dict.fromkeys(
        ("collection", "system", "run", "retriever", "qid", "answer", "error", "passages", "choice"), object
    )
    return pd.concat([pd.read_csv(path, dtype=text) for path in paths], ignore_index=True)


def summarise_rankings(scores: pd.DataFrame, keys: Sequence[str], evaluation: Mapping[str, Any]) -> pd.DataFrame:
    """Return one row a ranking: its keys, counts, and the mean of each measure with its interval."""
    measures, bootstrap = evaluation["measures"], evaluation["bootstrap"]
    return _one_row_each(
        scores,
        keys,
        lambda rows: summarise_passage_run(
            rows, measures, bootstrap["resamples"], bootstrap["level"], bootstrap["seed"], evaluation["no_relevant"]
        ),
    )


def ranking_headings(keys: Sequence[str], measures: Sequence[str]) -> dict[str, str]:
    """Return the columns of a table of rankings with their headings."""
    return {key: key for key in keys} | RANKINGS | {measure: measure for measure in measures}


def summarise_answers(scores: pd.DataFrame, evaluation: Mapping[str, Any]) -> pd.DataFrame:
    """Return one row an answer run: its keys, counts, and each measure with its interval."""
    bootstrap = evaluation["bootstrap"]
    return _one_row_each(
        scores,
        ["collection", "system", "run"],
        lambda rows: summarise_answer_run(
            rows, bootstrap["resamples"], bootstrap["level"], bootstrap["seed"], evaluation["missing"]
        ),
    )


def _one_row_each(
    frame: pd.DataFrame, keys: Sequence[str], summarise: Callable[[pd.DataFrame], Mapping[str, Any]]
) -> pd.DataFrame:
    groups = frame.groupby(list(keys), sort=False)
    return pd.DataFrame([dict(zip(keys, name, strict=True)) | dict(summarise(rows)) for name, rows in groups])


def summarise_models(evaluations: Mapping[str, str | Path]) -> pd.DataFrame:
    """Return the evaluations of the adapters below one another, each under the name of its model."""
    frames = [pd.read_csv(path).assign(model=model) for model, path in evaluations.items()]
    return pd.concat(frames, ignore_index=True)[list(MODELS)]


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
