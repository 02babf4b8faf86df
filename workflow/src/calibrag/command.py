"""The command line ``calibrag``: one function a subcommand, which takes the parsed arguments and returns the exit code.

0 is success, 1 says that something was found wrong, 2 that the command could not be carried out.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from calibrag.errors import CalibragError
from calibrag.execution.trace_validation import check_traces
from calibrag.execution.traces import trace_schema
from calibrag.records import whole_file
from calibrag.runs.r2c2 import read_topics
from calibrag.runs.r2c2_validation import check_run


def validate_traces(arguments: argparse.Namespace) -> int:
    """Return 1 where trace files break their schema or its rules; prints each break and their number."""
    checked = check_traces(arguments.files)
    for violation in checked.violations:
        print(violation)
    print(f"{checked.traces} traces, {len(checked.violations)} violations")
    return 1 if checked.violations else 0


def validate_run(arguments: argparse.Namespace) -> int:
    """Return 1 where an R2C2 run breaks its format or cites what is not there; prints each break and their number."""
    checked = check_run(arguments.file, read_topics(arguments.topics), arguments.pr_runs)
    for violation in checked.violations:
        print(violation)
    for note in checked.notes:
        print(f"note: {note}")
    print(f"{arguments.file}: a run of {checked.kind}, {len(checked.violations)} violations")
    return 1 if checked.violations else 0


def trace_schema_file(arguments: argparse.Namespace) -> int:
    """Return 0 once the JSON Schema of a trace is written."""
    with whole_file(arguments.file) as partial:
        partial.write_text(json.dumps(trace_schema(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="calibrag", description="Tools around the files of the workflow.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    command = commands.add_parser("validate-traces", help="list every break of the trace schema and its rules")
    command.add_argument("files", nargs="+", metavar="FILE", help="traces.jsonl, of all passes of a system together")
    command.set_defaults(run=validate_traces)

    command = commands.add_parser("validate-run", help="list every violation of the format of R2C2 in a run")
    command.add_argument("file", type=Path, metavar="FILE", help="a run of passages or of answers, which is seen in it")
    command.add_argument(
        "--topics", type=Path, required=True, metavar="FILE", help="topics of R2C2, or questions.jsonl"
    )
    command.add_argument(
        "--pr-runs",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="passage runs that nuggets may cite",
    )
    command.set_defaults(run=validate_run)

    command = commands.add_parser("trace-schema", help="write the JSON Schema of a trace")
    command.add_argument("file", type=Path, metavar="FILE")
    command.set_defaults(run=trace_schema_file)

    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Return the exit code of the subcommand that the arguments name."""
    arguments = _parser().parse_args(argv)
    try:
        return arguments.run(arguments)
    except (CalibragError, OSError) as error:
        print(f"calibrag: {error}", file=sys.stderr)
        return 2
