"""Makes dataclasses of the JSON of an answer.

An answer may have more than a class knows, and less: a field that is missing
is None (a list: empty), so that a newer or older service breaks nobody.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from functools import lru_cache
from typing import Any, TypeVar

T = TypeVar("T")


def decode(cls: type[T], value: dict[str, Any]) -> T:
    """The dataclass ``cls`` with the values of a JSON object."""
    fields = {
        name: value if name == "raw" else _typed(hint, value.get(key))
        for name, key, hint in _fields_of(cls)
    }
    return cls(**fields)


def _typed(hint: Any, value: Any) -> Any:
    origin = typing.get_origin(hint)
    if origin is list:
        (inner,) = typing.get_args(hint)
        parts = value if isinstance(value, list) else []
        return [_typed(inner, part) for part in parts]
    if origin is types.UnionType or origin is typing.Union:
        if value is None:
            return None
        inner = next(h for h in typing.get_args(hint) if h is not type(None))
        return _typed(inner, value)
    if dataclasses.is_dataclass(hint):
        return decode(hint, value if isinstance(value, dict) else {})
    return value


@lru_cache(maxsize=None)
def _fields_of(cls: type) -> list[tuple[str, str, Any]]:
    """Name here, name in the API, type. ``from`` is a word of the language."""
    hints = typing.get_type_hints(cls)
    return [
        (field.name, field.name.rstrip("_"), hints[field.name])
        for field in dataclasses.fields(cls)
    ]
