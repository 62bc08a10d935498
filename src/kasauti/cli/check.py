"""`check`: refuses what must not enter the tree: audio, model weights, keys, notebook outputs, package index hosts, and
results that don't come out when they are recomputed.

Looks at what git tracks or would add, never at ignored files; where git can't say, at the whole folder. It reads the
files as they lie on disk, which is what a commit hook sees too. A key is never printed: a finding shows four characters
of it at most. `check` changes nothing; each finding says what to do.
"""

from __future__ import annotations

import math
import os
import re
import subprocess
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kasauti.cli.contents import forbidden_content, is_binary, read_head
from kasauti.cli.results import Results
from kasauti.errors import ConfigError, ExitCode

BINARY_LIMIT_BYTES = 1_000_000
"""A file that is no text may be as large as this (a figure, a font); a larger one belongs in a release or a store."""

KEY_CHARS_SHOWN = 4

NOT_OURS = frozenset({".git", "__pycache__", "node_modules"})
"""Folders passed over, at any depth, where git can't say what is ignored; so are caches and environments (`.…`)."""

PRODUCTS = frozenset({"runs", "store", "logs", "build", "dist"})
"""The same, but only at the top of the tree."""

_UNTRACK = "take it out (`git rm --cached` where it is tracked)"
_REMEDY = {
    "content": f"{_UNTRACK}; keep it in the store, or fetch it by its SHA-256",
    "binary": f"{_UNTRACK}; only small binary files belong in the tree",
    "key": "revoke it, since history keeps what was ever committed; then read it from an environment variable",
    "env": f"{_UNTRACK} and add it to .gitignore; commit an `.env.example` without values instead",
    "index": "remove the address; a lock must resolve from whatever index its reader uses",
    "notebook": "clear all outputs, save and add it again; figures are made by `make figures`",
    "unreadable": "make it readable, or ignore it",
    "result": "make the study again and keep it (`python -m kasauti keep`), or take the change back",
    "embedded": f"{_UNTRACK}; pages with audio in them stay in the run folder",
}

_HARMLESS_ENV_SUFFIXES = frozenset({".example", ".sample", ".template"})

_KEYS = {
    "Anthropic": r"sk-ant-[\w-]*[A-Za-z0-9]{16,}",
    "OpenAI": r"sk-(?!ant-)[\w-]*[A-Za-z0-9]{16,}",
    "ElevenLabs, Sarvam or Cartesia": r"sk_\w*[A-Za-z0-9]{16,}",
    "Google": r"AIza[\w-]{35}",
    "AWS": r"(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Z])",
    "Hugging Face": r"hf_[A-Za-z0-9]{30,}",
    "Groq": r"gsk_[A-Za-z0-9]{30,}",
    "GitHub": r"gh[opsur]_[A-Za-z0-9]{36,}|github_pat_\w{40,}",
    "bearer (JWT)": r"eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}",
}
_KEY_PATTERNS = {owner: re.compile(pattern) for owner, pattern in _KEYS.items()}
"""Each begins with plain letters, which `re` finds a hundred times faster than a look at the character before."""

_PEM = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")
_ASSIGNED = re.compile(
    r"(?i)(?:(?:api|secret|access|subscription|private)[_-]?(?:access[_-]?)?key|secret|token|passw(?:or)?d)"
    r"""\\?["']?\s*[:=]\s*(?P<quote>\\?["'])?(?P<value>[\w+/=.~-]{16,})(?![\w(\[{<])"""
)
_NAMES_OF_SECRETS = ("key", "secret", "token", "passw")
_MIXED_RUN = re.compile(r"(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{8,}")
_PLACEHOLDER = re.compile(
    r"(?i)example|your[-_]|placeholder|change.?me|dummy|redacted|x{5}|\.{3}|12345678|abcdefgh|(?<![a-z])(?:test|fake)(?![a-z])"
)
_LEAST_BITS_PER_CHAR = 2.75
_CODE = frozenset({".py", ".pyi", ".js", ".ts", ".ipynb"})

_LOCK_NAME = re.compile(
    r"(?i)(?:(?:^|[-_./])(?:py)?(?:lock|constraints?|requirements?)(?:[-_./].*)?\.(?:txt|in|lock|toml|json|ya?ml)"
    r"|\.lock|(?:^|/)(?:pip\.(?:conf|ini)|\.npmrc))$"
)
_ADDRESS = re.compile(r"(?:https?|file)://(?P<host>[^/\s\"'#,\\]*)|--trusted-host[ =]+(?P<trusted>\S+)")
_SOURCE_HOSTS = frozenset({"github.com", "gitlab.com", "codeberg.org"})
_OUTPUT = re.compile(r'"outputs":\s*\[(?!\s*\])|"execution_count":\s*\d')
_EMBEDDED_AUDIO = re.compile(r"data:audio/[^;,\s]{1,60};base64,[A-Za-z0-9+/]{40}")


@dataclass(frozen=True, order=True)
class Finding:
    """One reason why the tree is refused.

    Attributes:
        path: File, relative to the root, with forward slashes.
        line: Line in it, from 1; 0 = the file as a whole.
        what: What was found.
        remedy: What to do about it.
    """

    path: str
    line: int
    what: str
    remedy: str

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}" if self.line else self.path
        return f"{where}: {self.what}: {self.remedy}"


def check_tree(root: Path) -> list[Finding]:
    """Finds what must not enter a tree (see the top of this module) among the files that are about to.

    Args:
        root: Top of the tree, or a folder in it.

    Returns:
        The findings, by path and line; none for a clean tree.

    Raises:
        ConfigError: `root` is no folder, or there is no file in it to look at.
    """
    if not root.is_dir():
        raise ConfigError(f"check: {root} is no folder; give the top of the repository")
    names = _names_by_git(root)
    names = sorted(_names_by_walk(root) if names is None else names)
    if not names:
        raise ConfigError(f"check: no file to look at in {root}; is everything in it ignored?")
    return sorted({finding for name in names for finding in _check_file(root, name)})


def check_results(results: Results) -> list[Finding]:
    """Recomputes every study and finds what comes out otherwise, by study, file and line."""
    faults = (fault for study in results.studies() for fault in results.faults(study))
    return [Finding(f"{results.folder.name}/{name}", line, what, _REMEDY["result"]) for name, line, what in faults]


def run(root: Path, bundle: Path | None = None) -> int:
    """Runs every check, prints the findings and a last line that begins `PASS` or `FAIL`.

    Args:
        root: Top of the tree.
        bundle: Folder of the published judgments, for results that were made from them.

    Returns:
        `ExitCode.COMPLETE` or `ExitCode.INCOMPLETE`.
    """
    findings = check_tree(root)
    results = Results(root, bundle)
    for study in results.studies():
        print(results.told(study))
    findings += check_results(results)
    for finding in findings:
        print(finding)
    print(f"FAIL check: {len(findings)} found" if findings else "PASS check: nothing to refuse")
    return ExitCode.INCOMPLETE if findings else ExitCode.COMPLETE


def _names_by_git(root: Path) -> list[str] | None:
    """Tracked and untracked, not ignored; None where git is absent or knows no repository here."""
    # A hook's GIT_DIR and GIT_INDEX_FILE would point git at the hook's repository, whatever the root.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"]
    try:
        done = subprocess.run(command, capture_output=True, check=True, env=environment)
    except (OSError, subprocess.CalledProcessError):
        return None
    return [os.fsdecode(name) for name in done.stdout.split(b"\0") if name]


def _names_by_walk(root: Path) -> Iterator[str]:
    for folder, subfolders, files in os.walk(root):
        here = Path(folder)
        passed_over = NOT_OURS | PRODUCTS if here == root else NOT_OURS
        subfolders[:] = [
            name for name in subfolders if name not in passed_over and not (name.startswith(".") and name != ".github")
        ]
        yield from ((here / name).relative_to(root).as_posix() for name in files)


def _check_file(root: Path, name: str) -> Iterator[Finding]:
    path = root / name
    if path.is_symlink() or not path.is_file():
        return  # A link's target is looked at where it lies; a submodule or a deleted file has no bytes here.
    if f"{path.name}.".startswith(".env.") and path.suffix not in _HARMLESS_ENV_SUFFIXES:
        yield Finding(name, 0, "a file of environment variables", _REMEDY["env"])
    try:
        size = path.stat().st_size
        head = read_head(path)
        content = forbidden_content(path, head, size)
        if content:
            yield Finding(name, 0, content, _REMEDY["content"])
        elif size > BINARY_LIMIT_BYTES and is_binary(head, size):
            yield Finding(name, 0, f"a binary file of {size / 1e6:.1f} MB", _REMEDY["binary"])
        else:
            yield from _check_lines(path, name, "utf-16" if head[:2] in (BOM_UTF16_LE, BOM_UTF16_BE) else "utf-8")
    except OSError as error:
        yield Finding(name, 0, f"a file that can't be read ({error.strerror})", _REMEDY["unreadable"])


def _check_lines(path: Path, name: str, encoding: str) -> Iterator[Finding]:
    is_lock = _LOCK_NAME.search(name) is not None
    is_notebook = path.suffix == ".ipynb"
    seen: set[str] = set()
    with path.open(encoding=encoding, errors="replace") as lines:
        for number, line in enumerate(lines, start=1):
            for what in _keys_in(line, quoted_only=path.suffix in _CODE):
                yield Finding(name, number, what, _REMEDY["key"])
            if _EMBEDDED_AUDIO.search(line):
                yield Finding(name, number, "audio embedded in text", _REMEDY["embedded"])
            if is_notebook and "output" not in seen and _OUTPUT.search(line):
                seen.add("output")
                yield Finding(name, number, "a notebook with outputs", _REMEDY["notebook"])
            if is_lock:
                for host in sorted(_index_hosts_in(line) - seen):
                    seen.add(host)
                    yield Finding(name, number, f"an address in a lock file ({host})", _REMEDY["index"])


def _keys_in(line: str, *, quoted_only: bool) -> Iterator[str]:
    """Words each key in a line without giving it away.

    Args:
        line: Any text.
        quoted_only: The line is program code, where a bare word after `token =` is a name and no key.
    """
    if _PEM.search(line):
        yield "a private key (PEM)"
    known = False
    for owner, pattern in _KEY_PATTERNS.items():
        for match in pattern.finditer(line):
            if not _continues_a_word(line, match.start()) and _looks_random(match[0]):
                known = True
                yield f"a key of the kind {owner} ({match[0][:KEY_CHARS_SHOWN]}…)"
    lowered = line.lower()
    if known or not any(name in lowered for name in _NAMES_OF_SECRETS):
        return
    for match in _ASSIGNED.finditer(line):
        value = match["value"]
        if (match["quote"] or not quoted_only) and _MIXED_RUN.search(value) and _looks_random(value):
            yield f"what looks like a key or a password ({value[:KEY_CHARS_SHOWN]}…)"


def _continues_a_word(line: str, at: int) -> bool:
    before = line[at - 1 : at]
    return before.isalnum() or before in ("_", "-")


def _looks_random(value: str) -> bool:
    """Whether a text has the letters, the digits and the entropy of a key, and is no placeholder."""
    counts = Counter(value)
    bits_per_char = -sum(n / len(value) * math.log2(n / len(value)) for n in counts.values())
    has_both = any(char.isdigit() for char in value) and any(char.isalpha() for char in value)
    return has_both and bits_per_char >= _LEAST_BITS_PER_CHAR and not _PLACEHOLDER.search(value)


def _index_hosts_in(line: str) -> set[str]:
    """Hosts in a line of a lock file, less user names and passwords, and less hosts of source code."""
    hosts = set()
    for match in _ADDRESS.finditer(line):
        host = (match["trusted"] or match["host"] or "this machine").rpartition("@")[2]
        if host not in _SOURCE_HOSTS:
            hosts.add(host)
    return hosts
