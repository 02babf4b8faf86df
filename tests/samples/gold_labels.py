"""Labels of answers by their match with gold answers alone."""

from calibrag.evaluation.labels import Labels, given_answers, label_answers


def gold_labels(questions, traces=None, entries=()):
    """Return the labels of the answers of traces, qid -> passes, and of entries of runs."""
    given = given_answers(traces or {}, {"run": list(entries)})
    return Labels(label_answers(questions, given.answers, {}, near=1.0).labels)
