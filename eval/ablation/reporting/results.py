"""``results.parquet``: one tidy table with a row for each cell and query.

Columns: ``cell`` (number from 0, the baseline), ``name``, ``factor``, ``mark``; one column of text
for each axis that some cell changes (``axis.retriever``); ``query_id``, ``golds`` (their number);
one column for each measure under its name, and recall over sections at each k of the study
(``curve.recall@8``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from eval.ablation.running.runner import StudyRun
from eval.ablation.spec.axes import AXES, shown
from eval.ablation.spec.validity import mark
from tam.files import replacing


def write_results(path: Path, run: StudyRun) -> None:
    """Write the table cell by cell, complete or not at all."""
    import pyarrow as pa
    from pyarrow import parquet

    study = run.study
    changed = {axis for cell in study.cells for axis, _ in cell.changed}
    axes = [axis for axis in AXES if axis in changed]
    word = pa.dictionary(pa.int32(), pa.string())
    schema = pa.schema(
        [
            ("cell", pa.int32()),
            ("name", word),
            ("factor", word),
            ("mark", word),
            *((f"axis.{axis}", word) for axis in axes),
            ("query_id", pa.string()),
            ("golds", pa.int32()),
            *((label, pa.float64()) for label in study.labels),
            *((f"curve.recall@{k}", pa.float64()) for k in study.ks),
        ]
    )
    with replacing(path) as part, parquet.ParquetWriter(part, schema) as writer:
        for number, (cell, result) in enumerate(zip(study.cells, run.results, strict=True)):
            size = len(result.queries)
            words = [cell.name, cell.factor, mark(cell, run.info, study.index_sources)]
            words += [shown(cell.by_axis[axis]) for axis in axes]
            golds = np.bincount(result.gold_query, minlength=size)
            columns: list[Any] = [
                pa.array(np.full(size, number), pa.int32()),
                *(
                    pa.DictionaryArray.from_arrays(pa.array([0] * size, pa.int32()), [text])
                    for text in words
                ),
                pa.array(result.queries, pa.string()),
                pa.array(golds, pa.int32()),
                *(pa.array(result.values[:, at]) for at in range(result.values.shape[1])),
                *(pa.array(result.curve[:, at]) for at in range(result.curve.shape[1])),
            ]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))
