"""The configuration: checked against its closed schema, names looked up, systems unfolded.

Defaults live in ``config.yaml`` alone; the schema only checks. What rules see is the *resolved* configuration: every
system is whole (``extends`` and ``set`` are applied, its retriever is written out as a block; ``bases`` keeps what each
extends), every retriever holds
its dense index as a block, every path is relative to the working directory, and mappings are sorted, so that moving a
key within its block changes no parameter.
"""

from __future__ import annotations

import copy
import difflib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import jsonschema
import yaml

from calibrag.errors import ConfigError

RESERVED = {
    "collections": ("models", "tables", "figures", "logs", "benchmarks"),
    "imports": ("models", "tables", "figures", "logs", "benchmarks"),
    "systems": ("collections", "corpus", "retrieval", "evaluation", "imported", "external"),
}
"""Names that would collide with folders of ``results/``; see the path grammar in the Snakefile."""

DENSE_TYPES = {
    "flat": ((), ()),
    "fp16": ((), ("rescore",)),
    "sq8": ((), ("rescore",)),
    "ivf": (("lists", "codes"), ("probes", "rescore")),
    "hnsw": (("links", "build_depth"), ("search_depth",)),
}
"""What a dense index takes beside vectors, type and device, by type: read in building, and read in search alone."""

POLICIES = {
    "reader": ("passages_read", "neighbours", "follow_ups", "follow_up_by", "sources", "attempts"),
    "llm": ("style", "prompt", "passages_shown", "longest_string", "longest_list", "types"),
}
"""What a policy takes beside its name."""

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_TYPES = {
    "object": "a block of keys",
    "array": "a list",
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}


def resolve(config: Mapping, schema: Mapping, root: str | Path, files: Sequence[str | Path]) -> dict:
    """Return the checked and unfolded configuration.

    Parameters
    ----------
    config
        The merged configuration as Snakemake read it.
    schema
        The closed JSON schema, see ``load_yaml``.
    root
        The folder that relative paths of the configuration start from: that of the Snakefile.
    files
        The files that were merged, the last one winning; an error names the one that holds the key.

    Raises
    ------
    ConfigError
        An unknown key or name, a wrong type or value, a reserved name, a circle of ``extends``.
    """
    sources = _Sources(files)
    _check_names(config, sources)
    _check_schema(config, schema, (), sources)
    resolved = copy.deepcopy(dict(config))
    resolved["bases"] = {name: system["extends"] for name, system in config["systems"].items() if "extends" in system}
    resolved["systems"] = {name: _unfold(name, config, schema, sources, chain=()) for name in config["systems"]}
    _check_references(resolved, sources)
    _check_band(resolved, sources)
    _write_out_indexes(resolved)
    return _sorted(_with_paths(resolved, schema, schema, Path(root)))


def load_yaml(path: str | Path) -> dict:
    """Return a YAML file's content."""
    with open(path, encoding="utf-8") as stream:
        return yaml.safe_load(stream)


def nearest(name: str, legal: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: the nearest legal one, or the list of all."""
    names = sorted(legal)
    close = difflib.get_close_matches(str(name), names, n=1, cutoff=0.5)
    return f"did you mean '{close[0]}'? Legal: {', '.join(names)}" if close else f"legal: {', '.join(names)}"


class _Sources:
    """Knows which of the merged files holds a key."""

    def __init__(self, files: Sequence[str | Path]):
        self.contents = [(str(file), load_yaml(file) or {}) for file in files]

    def error(self, path: Sequence, problem: str, missing: bool = False) -> ConfigError:
        """Return an error about a key, or about one that is missing."""
        return ConfigError(".".join(map(str, path)), problem, self._of(path, missing))

    def _of(self, path: Sequence, missing: bool) -> str:
        for length in range(len(path) - missing, 0, -1):
            for file, content in reversed(self.contents):
                if _holds(content, path[:length]):
                    return os.path.relpath(file)
        # no file holds any part of it: it was given as --config key=value
        return os.path.relpath(self.contents[-1][0]) if missing else "--config"


def _holds(content, path: Sequence) -> bool:
    for key in path:
        if isinstance(content, Mapping) and key in content:
            content = content[key]
        elif isinstance(content, list) and isinstance(key, int) and key < len(content):
            content = content[key]
        else:
            return False
    return True


# --- schema --------------------------------------------------------------------------------------


def _check_schema(instance, schema: Mapping, prefix: tuple, sources: _Sources, root: Mapping | None = None) -> None:
    """Raise the first error of ``instance``, which stands at ``prefix`` in the configuration."""
    whole = {**schema, "$defs": (root or schema)["$defs"]}
    errors = jsonschema.Draft202012Validator(whole).iter_errors(instance)
    # an unknown key comes first: a misspelt key is also a missing one, and the spelling is what to correct
    first = min(
        errors, key=lambda e: (e.validator != "additionalProperties", list(map(str, e.absolute_path))), default=None
    )
    if first is not None:
        path = prefix + tuple(first.absolute_path)
        raise _translated(first, path, sources)


def _translated(error: jsonschema.ValidationError, path: tuple, sources: _Sources) -> ConfigError:
    found, value = error.instance, error.validator_value
    match error.validator:
        case "additionalProperties":
            legal = error.schema.get("properties", {})
            unknown = sorted(str(key) for key in found if key not in legal)[0]
            return sources.error((*path, unknown), f"unknown key; {nearest(unknown, legal)}")
        case "required":
            missing, *others = sorted(key for key in value if key not in found)
            meaning = error.schema["properties"].get(missing, {}).get("description", "")
            more = f"; also missing: {', '.join(others)}" if others else ""
            return sources.error((*path, missing), f"missing key ({meaning}){more}", missing=True)
        case "type":
            kinds = [value] if isinstance(value, str) else value
            return sources.error(path, f"must be {' or '.join(_TYPES[k] for k in kinds)} (got {found!r})")
        case "enum":
            return sources.error(path, f"must be one of {', '.join(map(str, value))} (got {found!r})")
        case "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum":
            words = {
                "minimum": "at least",
                "maximum": "at most",
                "exclusiveMinimum": "above",
                "exclusiveMaximum": "below",
            }
            return sources.error(path, f"must be {words[error.validator]} {value} (got {found!r})")
        case "pattern":
            return sources.error(path, f"must match {value} (got {found!r}): {error.schema.get('description', '')}")
        case "minItems" | "minProperties":
            return sources.error(path, f"must hold at least {value} (got {len(found)})")
        case "maxItems":
            return sources.error(path, f"must hold at most {value} (got {len(found)})")
        case "uniqueItems":
            return sources.error(path, f"must not repeat an item (got {found!r})")
        case _:
            return sources.error(path, error.message)


def _check_names(config: Mapping, sources: _Sources) -> None:
    """Raise unless every name that becomes a folder or file is safe as one."""
    for block in ("collections", "imports", "indexes.vectors", "indexes.dense", "retrievers", "systems", "experiments"):
        path = tuple(block.split("."))
        names = config
        for key in path:
            names = names.get(key) if isinstance(names, Mapping) else None
        for name in names if isinstance(names, Mapping) else ():
            if not (isinstance(name, str) and _NAME.fullmatch(name)):
                raise sources.error(
                    (*path, name),
                    f"the name becomes a folder: lower-case letters and digits only, joined by '-' (got {name!r})",
                )
            if name in RESERVED.get(block, ()):
                raise sources.error(
                    (*path, name),
                    f"reserved: results/ has a folder of this name (reserved: {', '.join(RESERVED[block])})",
                )


# --- systems -------------------------------------------------------------------------------------


def _unfold(name: str, config: Mapping, schema: Mapping, sources: _Sources, chain: tuple) -> dict:
    """Return a system as one whole block, its base's keys first, then its own, then ``set``."""
    path = ("systems", name)
    if name in chain:
        circle = " -> ".join((*chain[chain.index(name) :], name))
        raise sources.error((*path, "extends"), f"a circle ({circle}); let one of them stand by itself")
    written = dict(config["systems"][name])
    changes = written.pop("set", {})
    base = written.pop("extends", None)
    system: dict = {}
    if base is not None:
        if base not in config["systems"]:
            raise sources.error((*path, "extends"), f"unknown system '{base}'; {nearest(base, config['systems'])}")
        system = _unfold(base, config, schema, sources, (*chain, name))
    system.update(copy.deepcopy(written))
    if isinstance(system.get("retriever"), str):
        retriever = system["retriever"]
        if retriever not in config["retrievers"]:
            raise sources.error(
                (*path, "retriever"), f"unknown retriever '{retriever}'; {nearest(retriever, config['retrievers'])}"
            )
        system["retriever"] = copy.deepcopy(config["retrievers"][retriever])
    for dotted, value in changes.items():
        _set(system, dotted, value, (*path, "set", dotted), sources)
    _check_whole(system, schema, path, sources)
    return system


def _set(system: dict, dotted: str, value, path: tuple, sources: _Sources) -> None:
    *parents, last = dotted.split(".")
    block = system
    for key in parents:
        block = block.get(key) if isinstance(block, Mapping) else None
    if not isinstance(block, Mapping) or last not in block:
        raise sources.error(path, f"the system has no such key to set; {nearest(dotted, _dotted(system))}")
    block[last] = copy.deepcopy(value)


def _dotted(block: Mapping, prefix: str = "") -> Iterator[str]:
    for key, value in block.items():
        yield prefix + key
        if isinstance(value, Mapping):
            yield from _dotted(value, f"{prefix}{key}.")


def _check_whole(system: dict, schema: Mapping, path: tuple, sources: _Sources) -> None:
    """Raise unless the unfolded system has every key and legal values; ``set`` may have broken it."""
    written = schema["$defs"]["system"]
    needed = [key for key in written["properties"] if key not in ("extends", "set")]
    rest = {key: value for key, value in system.items() if key != "retriever"}
    _check_schema(rest, {**written, "required": [k for k in needed if k != "retriever"]}, path, sources, schema)
    if "retriever" not in system:
        raise sources.error((*path, "retriever"), "missing key; name one of the retrievers", missing=True)
    _check_schema(system["retriever"], schema["$defs"]["retriever"], (*path, "retriever"), sources, schema)
    passes = system["passes"]
    if passes["minimum"] > passes["maximum"]:
        problem = f"minimum must be at most maximum (got {passes['minimum']} and {passes['maximum']})"
        raise sources.error((*path, "passes"), problem)
    name = system["policy"]["name"]
    _check_taken((*path, "policy", "name"), name, set(system["policy"]) - {"name"}, POLICIES[name], sources)


def _check_taken(path: tuple, name: str, given: set, taken: Sequence[str], sources: _Sources) -> None:
    """Raise unless a block has the keys that go with the ``name`` of its kind, and no others."""
    if given != set(taken):
        wanted = f"{', '.join(taken) or 'nothing'} beside it (got {', '.join(sorted(given)) or 'nothing'})"
        raise sources.error(path, f"{name} takes {wanted}")


# --- names, paths --------------------------------------------------------------------------------


def _check_references(config: Mapping, sources: _Sources) -> None:
    """Raise unless what is named exists, an index has what its type takes, and systems get questions with answers."""
    indexes = config["indexes"]
    for name, index in indexes["dense"].items():
        path = ("indexes", "dense", name)
        if index["vectors"] not in indexes["vectors"]:
            problem = f"unknown name '{index['vectors']}'; {nearest(index['vectors'], indexes['vectors'])}"
            raise sources.error((*path, "vectors"), problem)
        given, taken = set(index) - {"vectors", "type", "device"}, sum(DENSE_TYPES[index["type"]], ())
        _check_taken((*path, "type"), index["type"], given, taken, sources)
    for path, retriever in _retrievers(config):
        if retriever["dense"] and (chosen := retriever["dense"]["index"]) not in indexes["dense"]:
            problem = f"unknown name '{chosen}'; {nearest(chosen, indexes['dense'])}"
            raise sources.error((*path, "dense", "index"), problem)
    for name in config["imports"]:
        if name in config["collections"]:
            raise sources.error(("imports", name), "a collection has this name too; both become results/" + name)
    for name, experiment in config["experiments"].items():
        of_imports = set(experiment["collections"]) <= set(config["imports"])
        legal = {kind: config[kind] for kind in ("collections", "systems", "retrievers")}
        if of_imports:
            legal = {"collections": config["imports"], "systems": ["imported"], "retrievers": []}
        for kind, names in legal.items():
            for position, chosen in enumerate(experiment[kind]):
                if chosen not in names:
                    problem = f"unknown name '{chosen}'; {nearest(chosen, names)}"
                    raise sources.error(("experiments", name, kind, position), problem)
        if of_imports:
            continue
        for position, chosen in enumerate(experiment["collections"]):
            if experiment["systems"] and not config["collections"][chosen]["answers"]:
                raise sources.error(
                    ("experiments", name, "collections", position),
                    f"collections.{chosen}.answers is false, and systems need questions with answers; leave "
                    f"'{chosen}' out, or set the experiment's systems to []",
                )
    for name in config["published"]:
        if name not in config["collections"]:
            raise sources.error(
                ("published", name), f"unknown collection '{name}'; {nearest(name, config['collections'])}"
            )
    filed, asked = config["runs"]["answers"], config["runs"]["asked"]
    of_confidence = config["confidence"]["answers"]
    studied = {("confidence", "answers"): of_confidence, ("runs", "asked", "answers_of"): asked["answers_of"]}
    for path, run in studied.items():
        if run not in filed:
            raise sources.error(path, f"must be one of runs.answers ({', '.join(filed)}; got '{run}')")
    for position, name in enumerate(asked["systems"]):
        if name not in config["systems"]:
            problem = f"unknown system '{name}'; {nearest(name, config['systems'])}"
            raise sources.error(("runs", "asked", "systems", position), problem)
    for position, name in enumerate(config["reporting"]["experiments"]):
        if name not in config["experiments"]:
            raise sources.error(
                ("reporting", "experiments", position),
                f"unknown experiment '{name}'; {nearest(name, config['experiments'])}",
            )


def _check_band(config: Mapping, sources: _Sources) -> None:
    low, high = config["models"]["verifier"]["band"]
    if low > high:
        raise sources.error(
            ("models", "verifier", "band"), f"must be the lowest score, then the highest (got [{low}, {high}])"
        )


def _retrievers(config: Mapping) -> Iterator[tuple[tuple, dict]]:
    """Yield path and block of every retriever, those of systems as well."""
    yield from ((("retrievers", name), retriever) for name, retriever in config["retrievers"].items())
    yield from ((("systems", name, "retriever"), system["retriever"]) for name, system in config["systems"].items())


def _write_out_indexes(config: dict) -> None:
    """Part the settings of each dense index into those of building and those of search, and give them to retrievers.

    What search alone reads must not build an index anew.
    """
    indexes = config["indexes"]["dense"]
    for name, index in indexes.items():
        building, searching = DENSE_TYPES[index["type"]]
        indexes[name] = {
            "name": name,
            "vectors": index["vectors"],
            "build": {key: index[key] for key in ("type", *building)},
            "search": {key: index[key] for key in ("device", *searching)},
        }
    for _, retriever in _retrievers(config):
        if retriever["dense"]:
            retriever["dense"]["index"] = indexes[retriever["dense"]["index"]]


def _with_paths(instance, part: Mapping, schema: Mapping, root: Path):
    """Return the configuration with each value of ``format: path`` made relative to the working directory."""
    if "$ref" in part:
        part = schema["$defs"][part["$ref"].rsplit("/", 1)[-1]]
    if isinstance(instance, Mapping):
        others = part.get("additionalProperties") or {}
        known = part.get("properties", {})
        return {key: _with_paths(value, known.get(key, others), schema, root) for key, value in instance.items()}
    if isinstance(instance, list):
        return [_with_paths(value, part.get("items", {}), schema, root) for value in instance]
    if part.get("format") == "path" and instance is not None:
        return os.path.relpath(root / os.path.expanduser(instance))
    return instance


def _sorted(value):
    if isinstance(value, Mapping):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value
