"""Identity: what makes two clips, two judgments or two runs the same. Nothing else in the package hashes for identity.

An id is a hash of everything that can change the result and of nothing else, so that work is found again under any
schedule, on any machine, and is never mistaken for other work.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

ID_LENGTH = 24
"""Hex digits of an id: 96 bits, so a collision among 10^9 clips has odds of about 10^-11."""

RUN_ID_LENGTH = 12


def canonical_json(value: Any) -> str:
    """The one spelling of a JSON value that is hashed: sorted keys, no spaces, text as it is.

    Raises:
        TypeError: `value` holds something JSON has no word for.
        ValueError: a number is not finite.
    """
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(value: Any, length: int = ID_LENGTH) -> str:
    """First `length` hex digits of the SHA-256 of the canonical JSON of `value`."""
    encoded = canonical_json(value).encode("utf-8", "surrogatepass")
    return hashlib.sha256(encoded).hexdigest()[:length]


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes, as 64 hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def clip_id(
    *,
    text: str,
    lang: str,
    control: Mapping[str, str],
    settings: Mapping[str, Any],
    decoding: Mapping[str, Any],
    repeat: int,
    fingerprint: str,
) -> str:
    """Identity of one synthesis.

    Args:
        text: The words.
        lang: Language code.
        control: How it is to be said.
        settings: Voice and every other setting of the system that changes the sound.
        decoding: The decoding fields that the system declares it uses, and no others: a value that a system ignores
            must not make a second clip.
        repeat: 0 for the first take.
        fingerprint: What speaks: model id and revision, SHA-256 of a local checkpoint's files, or of the file itself.
    """
    return digest(
        {
            "text": text,
            "lang": lang,
            "control": dict(control),
            "settings": dict(settings),
            "decoding": dict(decoding),
            "repeat": repeat,
            "fingerprint": fingerprint,
        }
    )


def judgment_id(
    *,
    audio: Sequence[str],
    lang: str,
    told: Mapping[str, Any],
    settings: Mapping[str, Any],
    judge: str,
    revision: str,
    rejudge: int,
) -> str:
    """Identity of one judgment.

    Args:
        audio: SHA-256 of each clip in the order heard; empty for a judge that needs no audio.
        lang: Language code given to the judge.
        told: Whatever else the judge is told (text, control, prompt id).
        settings: Judge settings that change the answer.
        judge: What kind of judge it is (its class), not the name it has in a table.
        revision: Model id and revision.
        rejudge: 0 for the first hearing.
    """
    return digest(
        {
            "audio": list(audio),
            "lang": lang,
            "told": dict(told),
            "settings": dict(settings),
            "judge": judge,
            "revision": revision,
            "rejudge": rejudge,
        }
    )


def without(config: Mapping[str, Any], excluded: Iterable[str]) -> dict[str, Any]:
    """A copy of a nested config without the dotted keys (`*` = any one name) that cannot change a result."""
    drop = [pattern.split(".") for pattern in excluded]

    def dropped(dotted: Sequence[str]) -> bool:
        return any(
            len(pattern) == len(dotted) and all(p in ("*", name) for p, name in zip(pattern, dotted, strict=True))
            for pattern in drop
        )

    def prune(node: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
        return {
            key: prune(value, (*path, key)) if isinstance(value, Mapping) else value
            for key, value in node.items()
            if not dropped((*path, key))
        }

    return prune(config, ())


def run_id(
    config: Mapping[str, Any],
    *,
    excluded: Iterable[str],
    prompts_sha256: str,
    fingerprints: Mapping[str, str],
    revisions: Mapping[str, str],
) -> str:
    """Identity of a run: its resolved config less what cannot change a result, and what the config only points at.

    Args:
        config: The resolved config as nested plain values.
        excluded: Dotted keys to leave out (workers, devices, paths, tracking, executor).
        prompts_sha256: Hash of the selected prompts: a prompt file edited in place makes another run.
        fingerprints: System id -> fingerprint: so does a checkpoint overwritten in place.
        revisions: Judge id -> revision.
    """
    content = {
        "config": without(config, excluded),
        "prompts": prompts_sha256,
        "systems": dict(fingerprints),
        "judges": dict(revisions),
    }
    return digest(content, RUN_ID_LENGTH)


def seed_of(identity: str) -> int:
    """A seed for a stochastic local system or judge, derived from the id of what it makes. Range 0 to 2^31 - 1."""
    return int(identity[:8], 16) & 0x7FFFFFFF


def score_signature(parts: Mapping[str, object]) -> str:
    """Everything that moves a number, in one line: `metric:cer|unit:code_point|level:strict|…`.

    Two numbers may be compared only if their signatures are equal. Library versions are no part of it.

    Raises:
        ValueError: a value holds one of the two separators.
    """
    for name, value in parts.items():
        if "|" in f"{name}{value}" or ":" in name:
            raise ValueError(f"signature part {name}={value!r} holds a separator")
    return "|".join(f"{name}:{value}" for name, value in parts.items())


def signature_parts(signature: str) -> dict[str, str]:
    """The parts of a `score_signature`, by name."""
    named = (part.partition(":") for part in signature.split("|"))
    return {name: value for name, separator, value in named if separator}
