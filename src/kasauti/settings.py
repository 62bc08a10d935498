"""The settings of a run as plain dataclasses: Hydra's schema of a config, and what the pipeline receives.

Nothing here knows Hydra. Options of single systems and judges stand beside their classes (`systems/*.py`,
`judges/*.py`). `None` (YAML `null`) means "not set".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kasauti.judges.base import JudgeOptions
from kasauti.metrics.gates import GateLimits
from kasauti.metrics.length import LengthSettings
from kasauti.metrics.rubric import RubricSettings
from kasauti.systems.base import SystemOptions

if TYPE_CHECKING:
    from kasauti.text.levels import Ladder

MISSING = "???"

_OF_A_JUDGE = ("batch_clips", "command", "device", "limit_s", "python", "restarts", "threads", "timeout_s", "workers")

CANNOT_CHANGE_A_RESULT = (
    "paths",
    "tracking",
    "executor",
    "dry_run",
    "max_parallel_systems",
    "budget",
    "data",
    "study",
    "baseline",
    "repeats",
    "decoding",
    "promptset.limit",
    "promptset.langs",
    "promptset.tags",
    "promptset.exclude_tags",
    "promptset.ids",
    "promptset.ids_file",
    "promptset.per_delivery",
    "promptset.path",
    "promptset.name",
    "promptset.lang",
    "promptset.source",
    "promptset.split",
    "promptset.revision",
    "systems.*.device",
    "systems.*.workers",
    "systems.*.batch_clips",
    *(f"judges.*.{key}" for key in _OF_A_JUDGE),
    *(f"judges.*.members.*.{key}" for key in _OF_A_JUDGE),
)
"""Keys left out of a run's identity. What they point at is hashed instead: the prompts that a selection selects, each
system's own repeats and the decoding fields that it uses, the files behind paths, what a program says that it is."""


@dataclass
class PathsSettings:
    """Where products go; relative paths start at the repository."""

    runs: str = "runs"
    store: str = "store"


@dataclass
class PromptsetSettings:
    """A set of prompts and what is taken from it.

    Attributes:
        name: Name in tables and signatures.
        path: JSONL, CSV or TSV file; None for a set that is fetched.
        lang: Language of all prompts, for a file without a `lang` column.
        limit: At most so many prompts of each language.
        langs: Only these languages (codes, BCP-47 tags or English names).
        tags: Only prompts that carry at least one of these.
        exclude_tags: No prompt that carries one of these.
        ids: Only these prompts.
        ids_file: A text file with one id a line, in addition to `ids`.
        per_delivery: At most so many prompts of each requested delivery (`control.delivery`).
        source: Data set that the prompts are fetched from (`fleurs`); None for a file.
        split: Which part of it.
        revision: At which commit.
    """

    name: str = MISSING
    path: str | None = MISSING
    lang: str | None = None
    limit: int | None = None
    langs: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    exclude_tags: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    ids_file: str | None = None
    per_delivery: int | None = None
    source: str | None = None
    split: str | None = None
    revision: str | None = None


@dataclass
class DecodingSettings:
    """How a model that samples draws its tokens. A system uses the fields that it declares; `null` = its own default.

    Attributes:
        temperature: 0 = always the most likely.
        top_k: Draw among so many tokens.
        seed: Moves all draws of a system that can be seeded; every clip has its own seed derived from its id.
        min_new_tokens: At least so many new tokens.
        max_new_tokens: At most so many new tokens.
    """

    temperature: float | None = None
    top_k: int | None = None
    seed: int = 0
    min_new_tokens: int | None = None
    max_new_tokens: int | None = None


@dataclass
class MarkupSettings:
    """What is markup, by name; null = the list of `kasauti.text.data.markup`. See `kasauti.text.markup.Markup`."""

    speakers: list[str] | None = None
    sounds: list[str] | None = None
    directions: list[str] | None = None
    elements: list[str] | None = None
    any_square_brackets: bool = False


@dataclass
class NumberSettings:
    """How figures are read. See `kasauti.text.numbers.policy.NumberPolicy`."""

    year: str = "spoken"
    code: str = "digits"
    phone: str = "digits"
    alternatives: bool = True


@dataclass
class ScoringSettings:
    """How answers become numbers.

    Attributes:
        level: Headline level of normalisation.
        levels: Levels written to `levels.tsv`.
        steps: Level -> names of its steps, in order; a level that is not named has its default steps.
        markup: What the step `markup` takes away.
        numbers: How the step `numbers` reads.
        min_ok_share: A cell with a smaller share of scored prompts is `insufficient` and is not ranked.
        draws: Bootstrap draws.
        seed: Seed of the bootstrap.
        gates: Limits beyond which a clip or a transcript is faulty.
        length: How fast each language is said.
        rubric: What the parts of the rubric weigh.
    """

    level: str = "numbers"
    levels: list[str] = field(default_factory=lambda: ["raw", "strict", "numbers", "lenient", "phonetic"])
    steps: dict[str, list[str]] = field(default_factory=dict)
    markup: MarkupSettings = field(default_factory=MarkupSettings)
    numbers: NumberSettings = field(default_factory=NumberSettings)
    min_ok_share: float = 0.95
    draws: int = 10_000
    seed: int = 0
    gates: GateLimits = field(default_factory=GateLimits)
    length: LengthSettings = field(default_factory=LengthSettings)
    rubric: RubricSettings = field(default_factory=RubricSettings)

    def ladder(self) -> Ladder:
        """The levels as they are asked for; build it once, texts are cached by it.

        Raises:
            TextError: a level, a step or a way of reading is unknown.
        """
        from kasauti.text.levels import Ladder
        from kasauti.text.markup import Markup
        from kasauti.text.numbers.policy import NumberPolicy

        lists = {name: value for name, value in vars(self.markup).items() if value is not None}
        return Ladder(self.steps, Markup(**lists), NumberPolicy(**vars(self.numbers)))


@dataclass
class ExecutorSettings:
    """Where work is done.

    Attributes:
        workers: Processes for a part that can be copied; 0 = one per core.
    """

    _target_: str = MISSING
    workers: int = 0


@dataclass
class BudgetSettings:
    """Where spending stops.

    Attributes:
        max_usd: No call is begun that would bring the run's known cost above this.
    """

    max_usd: float | None = None


@dataclass
class TrackingSettings:
    """Where a run is shown besides its own folder."""

    _target_: str = MISSING


@dataclass
class DataSettings:
    """Where published data comes from.

    Attributes:
        mirror: A local copy of the data that a study or prompt set would fetch; null = fetch it, pinned by hash.
    """

    mirror: str | None = None


@dataclass
class TaskOptions:
    """Options of a study that recomputes something instead of making and judging clips; its class has `run`."""

    _target_: str = MISSING


@dataclass
class Config:
    """Schema of `conf/config.yaml`. Groups whose options differ in shape are checked by their own schemas."""

    system: Any = MISSING
    judge: Any = MISSING
    promptset: PromptsetSettings = field(default_factory=PromptsetSettings)
    decoding: DecodingSettings = field(default_factory=DecodingSettings)
    scoring: ScoringSettings = field(default_factory=ScoringSettings)
    executor: ExecutorSettings = field(default_factory=ExecutorSettings)
    tracking: Any = MISSING
    paths: PathsSettings = field(default_factory=PathsSettings)
    budget: BudgetSettings = field(default_factory=BudgetSettings)
    data: DataSettings = field(default_factory=DataSettings)
    task: Any = None
    repeats: int | None = None
    rejudges: int = 1
    max_parallel_systems: int = 2
    dry_run: bool = False
    study: str | None = None
    baseline: str | None = None


@dataclass
class LineupOptions:
    """Several systems in one run, side by side.

    Attributes:
        members: Names of files in `conf/system`, or mappings with the name under `use` and what differs from the file:
            `[espeak, {use: piper, id: piper-slow, length_scale: 1.2}]`.
    """

    members: list[Any] = field(default_factory=list)


@dataclass
class RunSettings:
    """A checked config: what `pipeline.run` receives.

    Attributes:
        systems: Options of each system, in the order of the line-up.
        judges: Options of each judge of the panel.
        config: The whole resolved config as nested plain values; recorded, and hashed less what cannot change a result.
        overrides: The command line that it was composed from.
    """

    systems: list[SystemOptions]
    judges: list[JudgeOptions]
    promptset: PromptsetSettings
    decoding: DecodingSettings
    scoring: ScoringSettings
    executor: ExecutorSettings
    tracking: TrackingSettings
    paths: PathsSettings
    budget: BudgetSettings
    data: DataSettings
    repeats: int | None
    rejudges: int
    max_parallel_systems: int
    dry_run: bool
    study: str | None
    baseline: str | None
    config: dict[str, Any] = field(default_factory=dict)
    overrides: list[str] = field(default_factory=list)
