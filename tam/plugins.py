"""Plug-ins: sources, domains, legs and systems, built-in ones and a stranger's alike.

Each kind is a group of entry points (``tam.sources``, ``tam.domains``, ``tam.legs``,
``tam.systems``) whose values are objects with a ``name`` and an ``order``. Nothing else in the
project knows which there are.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, Protocol, TypeVar

from tam.errors import BadOption


class Plugin(Protocol):
    """What every registered object has: its name, and its place among the others."""

    @property
    def name(self) -> str: ...

    @property
    def order(self) -> int: ...


P = TypeVar("P", bound=Plugin)


class Registry(Mapping[str, P], Generic[P]):
    """The objects of one kind by name, in their order (ties by name); loaded on first use.

    ``kind`` is what messages call one of them (``source``).
    """

    def __init__(self, group: str, kind: str) -> None:
        self.group = group
        self.kind = kind
        self._lock = threading.RLock()
        self._loaded: dict[str, P] | None = None
        self._added: dict[str, P] = {}

    def register(self, plugin: P) -> None:
        """Add an object in this process. Raises ``BadOption`` when its name is taken."""
        with self._lock:
            if self._all().get(plugin.name, plugin) is not plugin:
                raise BadOption(
                    f"{self.kind} {plugin.name!r} is registered already; choose another name"
                )
            self._added[plugin.name] = plugin
            self._loaded = None

    def unregister(self, name: str) -> None:
        """Take back what ``register`` added."""
        with self._lock:
            self._added.pop(name, None)
            self._loaded = None

    def __getitem__(self, name: str) -> P:
        """The object of a name. Raises ``BadOption`` with the names that there are."""
        found = self._all().get(name)
        if found is None:
            raise BadOption(
                f"{self.kind} {name!r} is not known; choose one of {', '.join(self._all())}"
            )
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._all()

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> Mapping[str, P]:
        with self._lock:
            if self._loaded is None:
                found = [_load(point, self.kind) for point in entry_points(group=self.group)]
                found += self._added.values()
                ordered = sorted(found, key=lambda plugin: (plugin.order, plugin.name))
                by_name: dict[str, P] = {}
                for plugin in ordered:
                    if plugin.name in by_name and by_name[plugin.name] is not plugin:
                        raise BadOption(
                            f"{self.kind} {plugin.name!r} is registered by two packages; "
                            f"uninstall one of them"
                        )
                    by_name[plugin.name] = plugin
                self._loaded = by_name
            return self._loaded


def _load(point: EntryPoint, kind: str) -> Any:
    try:
        return point.load()
    except Exception as error:
        package = point.dist.name if point.dist else "a package"
        raise BadOption(
            f"{kind} {point.name!r} of {package} cannot be loaded "
            f"({type(error).__name__}: {error}); update or uninstall that package"
        ) from error


class Hook:
    """A function named by ``module:name``, imported when it is first called.

    A plug-in can so say what later stages do with it without importing them.
    """

    def __init__(self, target: str) -> None:
        self.target = target
        self._function: Callable[..., Any] | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.load()(*args, **kwargs)

    def load(self) -> Any:
        """What the hook names."""
        if self._function is None:
            module, _, name = self.target.partition(":")
            self._function = getattr(importlib.import_module(module), name)
        return self._function

    def __repr__(self) -> str:
        return f"Hook({self.target!r})"
