"""A published model under a name: what a study asks about beside architectures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

from agattn.architectures.model_file import architecture_of, kinds
from agattn.checkpoints.published import Published, from_config
from agattn.checkpoints.whole_model import WholeModel, whole_model
from agattn.errors import InputError
from agattn.sheet.result import ByKey, Key, Result, Written, key


class PublishedModel(Result):
    """A published model: its name, and its ``config.json``.

    >>> gpt2 = {"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024}
    >>> PublishedModel.of("gpt2", gpt2 | {"vocab_size": 50257}).whole
    124,439,808 parameters, at most 123,093,224 of them count (proved)
    >>> PublishedModel.of("small", gpt2).whole
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: the whole model is not counted; missing: vocab_size
    """

    kind: ClassVar[str] = "model"

    name: Key[str, "What the model is called."]
    text: str  #: the config as JSON, which can be hashed

    @classmethod
    def of(cls, name: str, config: Mapping[str, Any]) -> PublishedModel:
        """A model with these keys.

        Raises:
            InputError: if a value is none of JSON.
        """
        try:
            return cls(name, json.dumps(config, sort_keys=True, allow_nan=False))
        except (TypeError, ValueError) as error:  # dates, and numbers that are none
            raise InputError(f"the config is no JSON: {error}") from None

    @key(Written(dict[str, Any]))
    def config(self) -> Mapping[str, Any]:
        """The keys of its config.json."""
        result: Mapping[str, Any] = json.loads(self.text)
        return result

    @cached_property
    def published(self) -> Published:
        """What is read of the config."""
        return from_config(self.config)

    @cached_property
    def whole(self) -> WholeModel:
        """The whole model.

        Raises:
            InputError: if the config does not say enough.
        """
        if self.published.stored is None:
            raise InputError(f"the whole model is not counted; missing: {', '.join(self.published.lacks)}")
        return whole_model(self.published.stored)

    @property
    def parameters(self) -> int:
        """The entries of all arrays."""
        return self.whole.total

    def summary(self) -> str:
        """The name."""
        return self.name

    def is_answered(self, result: Mapping[str, Any]) -> bool:
        """Whether a document of :func:`agattn.dimension` is about this model."""
        about: Mapping[str, Any] = self.published.as_json()
        return result.get("config") == about and result["model"] == self.whole.as_json()


class AnySubject(ByKey):
    """The document of an architecture, or of a published model; its keys tell which."""

    @classmethod
    def kinds(cls) -> dict[str, Any]:
        return kinds() | {"config": PublishedModel}


def subject_of(document: Mapping[str, Any]) -> Any:
    """The architecture, or the published model, of a document.

    Raises:
        InputError: if it is none.
    """
    return PublishedModel.of(**document) if "config" in document else architecture_of(document)
