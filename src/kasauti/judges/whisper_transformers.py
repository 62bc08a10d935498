"""Whisper through transformers: several clips in a batch, for a GPU, and for checkpoints that nobody converted.

The same decisions as with the other backend (`whisper_decoding`): the language is told, beams without sampling, no
timestamps, no earlier text, a cap on tokens by duration. What a clip is heard as doesn't depend on its batch: each
stretch is padded to the 30 s that the encoder always hears, a beam search keeps to its own row, and a row that has
reached its own cap is made to end. Stretches shorter than 30 s are cut from the samples, so a shorter window is no
faster here.

Facts: `avg_logprob` is the mean log probability of the tokens and the end of text, and `no_speech_prob` that of the
token for no speech in the place of the language, both of the model's own distribution with nothing suppressed.

Source: openai/whisper; `transformers.WhisperForConditionalGeneration.generate` with the same settings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from kasauti import devices
from kasauti.checkpoints import Checkpoint
from kasauti.errors import JudgeError
from kasauti.judges.base import JudgeFacts, JudgeTask
from kasauti.judges.batching import BatchJudge, Samples, Transcript
from kasauti.judges.quiet import quiet
from kasauti.judges.whisper_decoding import LANGUAGES, RATE_HZ, Limits, stretch_facts, token_cap, worst
from kasauti.judges.whisper_layout import OPTIONAL, REQUIRED, misfit, tokens_of
from kasauti.records import Finding, Prompt

if TYPE_CHECKING:
    from kasauti.judges.whisper import WhisperOptions

_KNOWN = {"large-v3": ("openai/whisper-large-v3", "06f233fe06e710322aca913c1bc4249a0d71fce1")}
"""Name -> repository and commit on the hub."""

_DTYPES = ("float32", "float16", "bfloat16")

_BATCH_CLIPS = {"cpu": 2, "cuda": 16}


class TransformersEngine(BatchJudge):
    """What `Whisper` hands its tasks to with `backend=transformers`."""

    rate_hz = RATE_HZ

    def __init__(self, options: WhisperOptions, limits: Limits) -> None:
        dtype = options.compute_type or "float32"
        if dtype not in _DTYPES:
            raise JudgeError(
                f"judge {options.id}: compute_type={dtype}: wanted one of {', '.join(_DTYPES)} with transformers"
            )
        self._options, self._limits, self._dtype = options, limits, dtype
        self.batch_clips = options.workers or _BATCH_CLIPS["cpu"]
        name = options.model or "large-v3"
        model, revision = _KNOWN.get(name, (name, options.revision))
        self._checkpoint = Checkpoint(model, revision, REQUIRED, OPTIONAL)
        self.facts = JudgeFacts(
            revision=f"whisper@{self._checkpoint.identity()}+transformers",
            languages=LANGUAGES,
            settings={"compute_type": dtype, **asdict(limits)},
        )
        self._model: Any = None
        self._features: Any = None
        self._tokenizer: Any = None
        self._tokens: dict[str, int] = {}

    def check(self, prompts: Sequence[Prompt]) -> list[Finding]:
        subject = f"judge {self._options.id}"
        found = self._checkpoint.lacking(subject, ("torch", "transformers"))
        if any(finding.level == "error" for finding in found):
            return found
        found += devices.lacking(subject, self._options.device)
        folder = self._checkpoint.here()
        fault = misfit(folder, LANGUAGES) if folder is not None else None
        return [*found, Finding("error", subject, fault)] if fault else found

    def load(self) -> None:
        if self._model is not None:
            return
        device = devices.choose(self._options.device)
        folder = self._checkpoint.folder()
        fault = misfit(folder, LANGUAGES)
        if fault:
            raise JudgeError(f"judge {self._options.id}: {fault}")
        self._tokens = tokens_of(folder)
        self.batch_clips = self._options.workers or _BATCH_CLIPS[device]
        with quiet():
            try:
                import torch
                from tokenizers import Tokenizer
                from transformers import WhisperFeatureExtractor, WhisperForConditionalGeneration
                from transformers.utils import logging as chatter

                chatter.disable_progress_bar()
                self._features = WhisperFeatureExtractor.from_pretrained(folder, local_files_only=True)
                self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
                model, notes = WhisperForConditionalGeneration.from_pretrained(
                    folder,
                    dtype=getattr(torch, self._dtype),
                    local_files_only=True,
                    use_safetensors=True,
                    output_loading_info=True,
                )
                model.to(device)
            except Exception as error:  # a package that doesn't load, what transformers' parts raise, a full device
                raise JudgeError(f"judge {self._options.id}: {folder} can't be loaded: {error}") from error
        if notes["missing_keys"]:
            missing = ", ".join(sorted(notes["missing_keys"])[:5])
            raise JudgeError(f"judge {self._options.id}: {folder} lacks weights of a Whisper: {missing}, …")
        self._model = model.eval()

    def hear(self, clips: Sequence[Samples], tasks: Sequence[JudgeTask]) -> list[Transcript]:
        size = self._limits.window_s * RATE_HZ
        stretches = [[clip[start : start + size] for start in range(0, clip.size, size)] for clip in clips]
        flat = [stretch for of_clip in stretches for stretch in of_clip]
        decoded: list[tuple[str, dict[str, Any]]] = []
        for start in range(0, len(flat), self.batch_clips):
            decoded += self._decode(flat[start : start + self.batch_clips], tasks[0].lang)
        heard, parts = [], iter(decoded)
        for of_clip in stretches:
            texts, facts = zip(*(next(parts) for _ in of_clip), strict=True)
            heard.append(Transcript("".join(texts).strip(), worst(list(facts))))
        return heard

    def close(self) -> None:
        self._model = None
        devices.release()

    def _decode(self, stretches: Sequence[Samples], lang: str) -> list[tuple[str, dict[str, Any]]]:
        """Text and facts of each stretch."""
        import torch

        names = ("<|startoftranscript|>", f"<|{lang}|>", "<|transcribe|>", "<|notimestamps|>")
        prompt = [self._tokens[name] for name in names]
        rate = self._limits.max_tokens_per_second
        caps = [token_cap(stretch.size / RATE_HZ, rate, len(prompt)) for stretch in stretches]
        features = self._features(list(stretches), sampling_rate=RATE_HZ, return_tensors="pt").input_features
        with torch.inference_mode():
            encoded = self._model.model.encoder(features.to(self._model.device, self._model.dtype)).last_hidden_state
            rows = self._search(encoded, prompt, caps)
            return [
                self._told(encoded[n : n + 1], prompt, row, cap)
                for n, (row, cap) in enumerate(zip(rows, caps, strict=True))
            ]

    def _search(self, encoded: Any, prompt: list[int], caps: list[int]) -> list[list[int]]:
        """The best tokens of each row, without prompt and end."""
        import torch
        from transformers import GenerationConfig
        from transformers.generation import GenerationMixin, LogitsProcessorList
        from transformers.modeling_outputs import BaseModelOutput

        own, end = self._model.generation_config, self._tokens["<|endoftext|>"]
        beams = self._limits.beam_size
        config = GenerationConfig(
            num_beams=beams,
            do_sample=False,
            early_stopping=beams > 1,  # as Whisper's own search: when as many hypotheses have ended as are kept
            max_new_tokens=max(caps) + 1,
            eos_token_id=end,
            pad_token_id=end,
            decoder_start_token_id=prompt[0],
            suppress_tokens=own.suppress_tokens,
            begin_suppress_tokens=own.begin_suppress_tokens,
        )

        limits = torch.tensor(caps, device=self._model.device).repeat_interleave(beams) + len(prompt)

        def ended_at_its_cap(sequences: Any, scores: Any) -> Any:
            over = sequences.shape[1] >= limits
            scores[over] = float("-inf")
            scores[over, end] = 0.0
            return scores

        # The class's own `generate` adds ladders of temperature and timestamps, which a judge must not have.
        found = GenerationMixin.generate(
            self._model,
            encoder_outputs=BaseModelOutput(last_hidden_state=encoded),  # the search spreads it over its beams
            attention_mask=torch.ones(encoded.shape[:2], device=encoded.device),
            decoder_input_ids=torch.tensor([prompt] * len(caps), device=self._model.device),
            generation_config=config,
            logits_processor=LogitsProcessorList([ended_at_its_cap]),
        )
        rows = [row[len(prompt) :] for row in found.tolist()]
        return [row[: row.index(end)] if end in row else row for row in rows]

    def _told(self, encoded: Any, prompt: list[int], row: list[int], cap: int) -> tuple[str, dict[str, Any]]:
        """Text and facts of one row, from one more pass over what was written."""
        import torch

        written = torch.tensor([[*prompt, *row]], device=self._model.device)
        logits = self._model(encoder_outputs=(encoded,), decoder_input_ids=written).logits[0].float()
        logprobs = logits.log_softmax(-1)
        told = [*row, self._tokens["<|endoftext|>"]]
        places = torch.arange(len(told), device=logprobs.device) + len(prompt) - 1
        avg_logprob = logprobs[places, torch.tensor(told, device=logprobs.device)].mean().item()
        no_speech = next(self._tokens[name] for name in ("<|nospeech|>", "<|nocaptions|>") if name in self._tokens)
        no_speech_prob = logprobs[0, no_speech].exp().item()
        # Whatever is no text (languages, tasks, timestamps) comes after the end of text.
        text = self._tokenizer.decode([token for token in row if token < told[-1]])
        return text, stretch_facts(len(row), cap, text, avg_logprob, no_speech_prob)
