"""The table of names, from the files of two collections."""

import pandas as pd

from calibrag.reporting.names import HEADINGS, summarise_names


def test_each_origin_has_its_counts_beside_its_measures_and_both_have_counts_only(tmp_path):
    counts, accuracy = [], []
    for collection, names in (("film", 6), ("open", 8)):
        counts.append(tmp_path / f"{collection}-counts.csv")
        accuracy.append(tmp_path / f"{collection}-accuracy.csv")
        pd.DataFrame(
            {"origin": ["passage", "document", "both"], "passages": 4, "names": [names, 2, names + 2]}
            | dict.fromkeys(("names_a_passage", "without", "share", "later_share"), 0.5)
        ).assign(collection=collection).to_csv(counts[-1], index=False)
        rows = [
            {"origin": origin, "match": match, "n": 3, "n_missing": 1, "labelled": 5, "found": 4, "ignored": 0}
            | {"precision": value, "recall": value / 2, "f1": None}
            for origin, base in (("passage", 0.2), ("document", 0.4))
            for match, value in (("exact", base), ("partial", 2 * base))
        ]
        pd.DataFrame(rows).assign(collection=collection).to_csv(accuracy[-1], index=False)
    table = summarise_names(counts, accuracy)
    assert list(table) == list(HEADINGS)
    assert list(zip(table["collection"], table["origin"], table["names"], strict=True)) == [
        ("film", "passage", 6),
        ("film", "document", 2),
        ("film", "both", 8),
        ("open", "passage", 8),
        ("open", "document", 2),
        ("open", "both", 10),
    ]
    document = table.iloc[4]
    assert (document["precision"], document["precision_partial"], document["recall"]) == (0.4, 0.8, 0.2)
    assert table["n"].dtype == "Int64" and pd.isna(table["n"][2]) and pd.isna(table["precision"][2])
