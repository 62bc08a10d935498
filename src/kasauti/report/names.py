"""Names for people: what figures call a system, a judge or a language. Tables keep the ids.

The names stand in `conf/names.yaml`, so that a paper's wording is no change of the program.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from kasauti.errors import ConfigError
from kasauti.paths import ROOT
from kasauti.report.wording import language_name

NAMES = ROOT / "conf" / "names.yaml"


@dataclass(frozen=True)
class Names:
    """Id -> name.

    Attributes:
        systems, judges: A merged table may hold an id with a word behind it that tells runs apart; that word stays.
        languages: Code -> name in the language's own letters.
        native: Whether `language` adds these letters to the English name.
    """

    systems: Mapping[str, str] = field(default_factory=dict)
    judges: Mapping[str, str] = field(default_factory=dict)
    languages: Mapping[str, str] = field(default_factory=dict)
    native: bool = False

    def system(self, name: str) -> str:
        """What a system is called."""
        return _renamed(name, self.systems)

    def judge(self, name: str) -> str:
        """What a judge is called; of several, joined by ` + `, each."""
        return " + ".join(_renamed(part, self.judges) for part in name.split(" + "))

    def language(self, code: str) -> str:
        """English name; above it, where asked for, the name in its own letters."""
        own = self.languages.get(code, "") if self.native else ""
        english = language_name(code)
        return f"{own}\n{english}" if own and own != english else english


def read_names(path: Path = NAMES, *, native: bool = False) -> Names:
    """Reads the names.

    Args:
        path: A YAML file of the sections `systems`, `judges`, `languages`, each id -> name.
        native: See `Names`.

    Raises:
        ConfigError: it can't be read, or holds anything else.
    """
    import yaml

    try:
        held = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: can't read the names of figures: {error}") from error
    known = {entry.name for entry in fields(Names)} - {"native"}
    sections = held if isinstance(held, dict) else {"": held}
    for section, names in sections.items():
        if section not in known or not isinstance(names, dict):
            raise ConfigError(f"{path}: {section!r} is no list of names; wanted {', '.join(sorted(known))}")
        wrong = next((f"{key!r}: {value!r}" for key, value in names.items() if not _is_name(key, value)), None)
        if wrong:
            raise ConfigError(f"{path}: {section}: {wrong} is not a text for a text; put both in quotes")
    return Names(**sections, native=native)


def _is_name(key: object, value: object) -> bool:
    return isinstance(key, str) and isinstance(value, str) and bool(value.strip())


def _renamed(name: str, names: Mapping[str, str]) -> str:
    start, rest = name, ""
    while start and start not in names:
        start, _, last = start.rpartition(" ")
        rest = f" {last}{rest}"
    return f"{names[start]}{rest}" if start else name
