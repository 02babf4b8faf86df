"""Random records of any type: hypothesis strategies read off the fields, so that a new field needs nothing here."""

from collections.abc import Callable

import msgspec
from hypothesis import strategies as st
from msgspec import inspect


def records(record: type[msgspec.Struct]) -> st.SearchStrategy:
    """Return a strategy of records whose every field, those with a default included, is drawn."""
    return _strategy(inspect.type_info(record))


def _union(kind: inspect.UnionType) -> st.SearchStrategy:
    return st.one_of([_strategy(option) for option in kind.types])


def _struct(kind: inspect.StructType) -> st.SearchStrategy:
    return st.builds(kind.cls, **{field.name: _field(kind.cls, field) for field in kind.fields})


def _field(record: type, field: inspect.Field) -> st.SearchStrategy:
    # any other version is refused
    return st.just(field.default) if field.name == "schema_version" else _strategy(field.type)


STRATEGIES: dict[type, Callable[[inspect.Type], st.SearchStrategy]] = {
    inspect.StrType: lambda kind: st.text(),
    inspect.IntType: lambda kind: st.integers(-(2**63), 2**63 - 1),
    inspect.FloatType: lambda kind: st.floats(allow_nan=False, allow_infinity=False),
    inspect.BoolType: lambda kind: st.booleans(),
    inspect.NoneType: lambda kind: st.none(),
    inspect.LiteralType: lambda kind: st.sampled_from(kind.values),
    inspect.ListType: lambda kind: st.lists(_strategy(kind.item_type), max_size=3),
    inspect.DictType: lambda kind: st.dictionaries(_strategy(kind.key_type), _strategy(kind.value_type), max_size=3),
    inspect.UnionType: _union,
    inspect.StructType: _struct,
}


def _strategy(kind: inspect.Type) -> st.SearchStrategy:
    return STRATEGIES[type(kind)](kind)
