"""A log for the viewer of inspect_ai: ``traces.eval``, which ``inspect view --log-dir FOLDER`` shows."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from calibrag.errors import MissingModelError
from calibrag.records import whole_file
from calibrag.reporting.exporters.material import Material


def export(material: Material, folder: Path) -> None:
    """Write the log, one sample for each question and pass that ran.

    Raises
    ------
    MissingModelError
        inspect_ai is not installed.
    """
    if find_spec("inspect_ai") is None:
        raise MissingModelError(
            "the export inspect_ai wants the package inspect_ai, which this environment lacks: make inspect, "
            "or pip install --no-deps --requirement requirements-inspect.txt"
        )
    from inspect_ai.log import write_eval_log

    from calibrag.reporting.exporters.inspect_log import eval_log

    with whole_file(folder / "traces.eval") as partial:
        write_eval_log(eval_log(material), str(partial))
