"""A class in the manner of the publisher's: one clip at a time, its files found by asking the hub for its own name.

Tests put it into a checkpoint as `model_onnx.py`, where `trust_remote_code` finds it, and compare our runner with it:
it is the slow reference, every step a call of its own, from the published model's inputs, outputs and constants.
"""

import json
import os

import numpy as np
import onnxruntime
import torch
from huggingface_hub import snapshot_download
from transformers import PretrainedConfig, PreTrainedModel

SOS = 5632
"""Default of the published class, which makes its config without reading `config.json`; that file says 256."""


class Config(PretrainedConfig):
    model_type = "iasr"

    def __init__(self, place="", **others):
        super().__init__(**others)
        self.place = place


class Model(PreTrainedModel):
    config_class = Config

    def __init__(self, config):
        super().__init__(config)
        self.assets = os.path.join(config.place, "assets")
        self.preprocessor = torch.jit.load(os.path.join(self.assets, "preprocessor.ts"))
        self.sessions = {}
        with open(os.path.join(self.assets, "vocab.json"), encoding="utf-8") as file:
            self.vocabulary = json.load(file)
        with open(os.path.join(self.assets, "language_masks.json"), encoding="utf-8") as file:
            self.masks = json.load(file)
        with open(os.path.join(config.place, "config.json"), encoding="utf-8") as file:
            self.numbers = json.load(file)

    @classmethod
    def from_pretrained(cls, name, **options):
        return cls(Config(place=snapshot_download(repo_id=name)))

    def run(self, graph, **given):
        if graph not in self.sessions:
            path = os.path.join(self.assets, f"{graph}.onnx")
            self.sessions[graph] = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        return self.sessions[graph].run(None, given)

    def forward(self, wav, lang, decoder):
        features, length = self.preprocessor(input_signal=wav, length=torch.tensor([wav.shape[1]]))
        frames, _ = self.run("encoder", audio_signal=features.numpy(), length=length.numpy())
        pieces = self.ctc(frames, lang) if decoder == "ctc" else self.transducer(frames, lang)
        return "".join(self.vocabulary[lang][piece] for piece in pieces).replace("▁", " ").strip()

    def ctc(self, frames, lang):
        scores = torch.from_numpy(self.run("ctc_decoder", encoder_output=frames)[0])[0]
        best = scores[:, self.masks[lang]].argmax(dim=-1)
        return [int(piece) for piece in torch.unique_consecutive(best) if piece != self.numbers["BLANK_ID"]]

    def transducer(self, frames, lang):
        encoded = self.run("joint_enc", input=frames.transpose(0, 2, 1))[0]
        size = self.numbers["PRED_RNN_LAYERS"], 1, self.numbers["PRED_RNN_HIDDEN_DIM"]
        state = np.zeros(size, np.float32), np.zeros(size, np.float32)
        written = [SOS]
        for frame in range(encoded.shape[1]):
            for _ in range(self.numbers["RNNT_MAX_SYMBOLS"]):
                last = np.array([[written[-1]]], np.int32)
                before = {"states.1": state[0], "onnx::Slice_3": state[1]}
                said, _, hidden, cell = self.run(
                    "rnnt_decoder", targets=last, target_length=np.ones(1, np.int32), **before
                )
                predicted = self.run("joint_pred", input=said.transpose(0, 2, 1))[0]
                joined = self.run("joint_pre_net", input=encoded[:, frame : frame + 1] + predicted)[0]
                best = int(self.run(f"joint_post_net_{lang}", input=joined)[0].argmax())
                if best == self.numbers["BLANK_ID"]:
                    break
                written.append(best)
                state = hidden, cell
        return written[1:]
