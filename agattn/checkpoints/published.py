"""The attention of published transformers, from their ``config.json``.

What the keys mean is said in ``families.toml``. Nothing is guessed: a key that may matter and is not known is
refused, and what the layers here have not is named.

>>> print(from_config({"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12}))
gpt2: 12 layers of attention of width 768, 12 heads of rank 64
>>> from_config({"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12, "n_head_kv": 1})
Traceback (most recent call last):
    ...
agattn.errors.InputError: n_head_kv is 1, a key that is not known of gpt2 and may matter; did you mean
'n_head'? If it does not, add ignore=n_head_kv
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from agattn.architectures.composition import Network
from agattn.architectures.layers import Attention
from agattn.calls import is_number, positive_integer, refuse_unless, shown
from agattn.checkpoints.families import Family, common, find
from agattn.checkpoints.whole_model import LayerKind, Stored, stored
from agattn.errors import InputError, argument, nearest
from agattn.files import about, parsed, read_text
from agattn.sheet.result import Key, Meta, Positive, Result, key

#: The layers of a model are listed one by one.
MOST_LAYERS = 10**6


class Published(Result, name="config"):
    """The attention of a published transformer, and what the file has beyond it."""

    model: Key[str, "The `model_type` of the file."]
    family: Key[str, "The family as whose keys those of the file were read."]
    dim: Key[Positive, "The width d of all layers."]
    layers: Key[Positive, "The number of all layers."]
    heads: Key[Positive, "The heads of a layer."]
    rank: Key[Positive, "The rank a of keys and queries of a head."]
    value_rank: Key[Positive, "The rank b of the values of a head."]
    kinds: Key[
        tuple[LayerKind, ...], "The kinds of layers of attention, most layers first.", Meta(min_length=1)
    ]
    left_out: Key[tuple[str, ...], "What the model has, and the layers here have not."]
    kv_latent: Key[Positive | None, "The width of the latent of keys and values; null without one."] = None
    q_latent: Key[Positive | None, "The width of the latent of queries; null without one."] = None
    forced: Key[bool, "Whether the family was given, as it is not that of the `model_type`."] = False
    causal: Key[bool, "Whether tokens see no later tokens."] = True
    ignored: Key[tuple[str, ...], "The keys that were passed over because it was asked for."] = ()
    shared: tuple[
        int | None, ...
    ] = ()  #: of each layer the sets of keys and values; None if it is no attention
    stored: Stored | None = None  #: the whole model, where the file says enough
    lacks: tuple[str, ...] = ()  #: what it lacks for that

    @key
    def attention_layers(self) -> Positive:
        """The number of layers of attention."""
        return sum(kind.layers for kind in self.kinds)

    @key
    def kv_heads(self) -> Positive:
        """The groups of heads that share keys and values, in most layers."""
        return self.kinds[0].kv_heads

    @key
    def rotary(self) -> bool:
        """Whether keys and queries are turned by their positions, in most layers."""
        return self.kinds[0].rotary_pairs > 0

    @property
    def name(self) -> str:
        """All that defines it, as it is printed."""
        return str(self)

    def layer(
        self,
        normalization: Literal["none", "softmax"] = "none",
        rotary: bool = True,
        kind: LayerKind | None = None,
    ) -> Network:
        """One layer: with the model's mask without softmax; with rotary positions by default if it has them.

        There are two tokens, or three with the causal mask and positions, so that two distances are seen.
        """
        kind = self.kinds[0] if kind is None else kind
        pairs = kind.rotary_pairs if rotary else 0
        causal = self.causal and normalization == "none"
        attention = Attention(
            self.dim,
            self.rank,
            heads=self.heads,
            value_rank=self.value_rank,
            mask="causal" if causal else "none",
            rotary=pairs or False,
            normalization=normalization,
            kv_heads=kind.kv_heads if kind.kv_heads < self.heads else None,
            kv_latent=self.kv_latent,
            q_latent=self.q_latent,
        )
        return Network((attention,), self.dim, 3 if causal and pairs else 2)

    @property
    def network(self) -> Network:
        """One layer without softmax: what stands where an architecture does.

        Raises:
            InputError: if the layers of attention are of several kinds.
        """
        if len(self.kinds) > 1:
            raise InputError(
                f"{self.model} has layers of several kinds: {'; '.join(map(str, self.kinds))};"
                " their dimensions are found for each kind, and a model file can hold one"
            )
        return self.layer()

    def summary(self) -> str:
        """The sizes in a line."""
        read_as = f", read as {self.family}" if self.forced else ""
        of = f", of {self.layers} layers," if self.attention_layers < self.layers else ""
        shared = sorted({kind.kv_heads for kind in self.kinds})
        groups = f" in {' or '.join(map(str, shared))} group{'s' * (shared != [1])}"
        groups = groups if shared != [self.heads] else ""
        latents = ((self.kv_latent, "keys and values"), (self.q_latent, "queries"))
        read = " and ".join(f"{width} for {what}" for width, what in latents if width)
        return (
            f"{self.model}{read_as}: {self.attention_layers} layers of attention{of} of width {self.dim},"
            f" {self.heads} heads{groups} of rank {self.rank}{', latents of width ' * bool(read)}{read}"
        )


def from_config(config: Any, *, family: str | None = None, ignore: str | Sequence[str] = ()) -> Published:
    """The attention of a published transformer, from its ``config.json``.

    Args:
        config: the file, or the folder that holds it; or a dictionary, or an object with ``to_dict``.
        family: as which family the keys are read, where ``model_type`` is not known.
        ignore: a key, or keys, that are passed over although they may matter.

    Raises:
        InputError: if the file is no JSON object, its family or a key that may matter is not known, keys are
            missing, or sizes do not fit.

    See Also:
        :func:`agattn.dimension` of the model; ``agattn dimension FILE.json`` in a shell.

    >>> import agattn as ag
    >>> model = ag.from_config("examples/grouped-config.json")
    >>> print(model)
    llama: 32 layers of attention of width 4096, 32 heads in 8 groups of rank 128
    """
    passed = (ignore,) if isinstance(ignore, str) else tuple(ignore)
    if not isinstance(config, (str, Path)):
        has_dict = hasattr(config, "to_dict") and not isinstance(config, type)
        keys = config.to_dict() if has_dict else config
        wanted = "the path of a config.json or of its folder, a dictionary, or an object with to_dict"
        refuse_unless(isinstance(keys, Mapping), "the config", config, wanted)
        return _read(keys, family, passed)
    file = Path(config) / "config.json" if Path(config).is_dir() else Path(config)
    keys = parsed("JSON", read_text(file), file)
    if not isinstance(keys, dict):
        raise InputError(f"{file} is {shown(keys)}; the config.json of a transformer is an object of keys")
    with about(file):
        return _read(keys, family, passed)


def _read(table: Mapping[str, Any], name: str | None, ignore: tuple[str, ...]) -> Published:
    text = table.get("text_config")
    inner = text if isinstance(text, Mapping) else {}
    if unknown := [key for key in ignore if key not in {*table, *_flat(table), *_flat(inner)}]:
        raise InputError(f"{argument('ignore')} names {unknown[0]!r}, which is no key of the configuration")
    if not isinstance(text, Mapping):
        return _Configuration(_flat(table), name, ignore).published()
    beside = {key: value for key, value in table.items() if key != "text_config"}
    outer = _checked(beside, None, set(), ignore)
    return _Configuration(_flat(text), name, ignore, table.get("model_type"), outer).published()


def _flat(table: Mapping[str, Any]) -> dict[str, Any]:
    """The keys, with those of ``attn_config`` and ``ffn_config`` behind a dot."""
    flat = dict[str, Any]()
    for name, value in table.items():
        if name in ("attn_config", "ffn_config") and (value is None or isinstance(value, Mapping)):
            flat |= {f"{name}.{inner}": entry for inner, entry in (value or {}).items()}
        else:
            flat[name] = value
    return flat


class LeftOut(NamedTuple):
    """What is said of keys that are not read."""

    named: list[str]
    ignored: list[str]


def _checked(
    table: Mapping[str, Any], family: Family | None, read: set[str], ignore: Sequence[str]
) -> LeftOut:
    """Sort the keys that are not read: harmless, named, ignored; refuse those that may matter.

    Raises:
        InputError: if a key may matter and is not known, or the model is of a kind that is not read.
    """
    keys, left_out, strange = common(), LeftOut([], []), list[str]()
    of = f" of {family.name}" if family else " beside text_config"
    for name, value in table.items():
        if name in ignore:
            if name in read:
                raise InputError(
                    f"{argument('ignore')} names {name!r}, which is read{of}; leave "
                    f"{argument('ignore')}={name} out"
                )
            left_out.ignored.append(name)
        elif name in keys.refused:
            if value:
                raise InputError(
                    f"{name} is {shown(value)}: the model has {keys.refused[name]}, which is not read"
                )
        elif name in keys.named and name not in read:
            if value and table.get(keys.named_if.get(name, "")) is not False:
                left_out.named.append(keys.named[name].format(shown(value)))
        elif name in read or keys.is_harmless(name, family):
            continue
        elif any(word in name.lower() for word in keys.words):
            near = nearest(name, read)
            raise InputError(
                f"{name} is {shown(value)}, a key that is not known{of} and may matter{near or '.'} If it"
                f" does not, add {argument('ignore')}={name}"
            )
        else:
            strange.append(name)
    if strange:
        left_out.named.append(f"keys that are not known here: {', '.join(map(shown, strange))}")
    return left_out


class _Configuration:
    """The keys of a configuration, read as those of a family."""

    def __init__(
        self,
        table: Mapping[str, Any],
        name: str | None,
        ignore: Sequence[str],
        around: object = None,
        outer: LeftOut | None = None,
    ) -> None:
        own = table.get("model_type", around)
        self.table, self.family = table, find(own, name)
        self.forced = own not in self.family.models
        self.model = str(around or own or "no model_type")
        self.outside = _checked(table, self.family, self.family.read, ignore)
        if outer is not None:
            self.outside.named.extend(words for words in outer.named if words not in self.outside.named)
            self.outside.ignored.extend(outer.ignored)
        self.absent = dict[str, None]()  #: the keys that the file does not have, and what that means

    def given(self, role: str) -> tuple[str, Any]:
        """The key of a role and its value: ``None`` for null; without a key what the family means then."""
        names = self.family.keys.get(role, (role,))
        there = [name for name in names if name in self.table]
        values = [(name, self.table[name]) for name in there if self.table[name] is not None]
        if any(value != values[0][1] for _, value in values):
            values_in_words = " and ".join(f"{name} is {shown(value)}" for name, value in values)
            raise InputError(f"{values_in_words}; they say the same thing")
        if values or there:
            return values[0] if values else (there[0], None)
        default = self.family.default.get(role)
        if default is not None and role in self.family.keys:
            self.absent[f"{names[0]}, which is not in the file and means {default} there"] = None
        return names[0], default

    def size(self, role: str) -> int | None:
        """The size in a role; ``None`` where neither the file nor the family says it."""
        return None if self.given(role)[1] is None else self.needed(role)

    def needed(self, role: str) -> int:
        """The size in a role, which must be there."""
        return positive_integer(*self.given(role))

    def published(self) -> Published:
        """What is read."""
        family = self.family
        needed = ("width", "heads", "layers", "kv_latent", "rank", "value_rank", "types", "indices")
        roles = [role for role in needed if role in family.keys]
        missing = [" or ".join(family.keys[role]) for role in roles if self.given(role)[1] is None]
        if "q_latent" in family.keys and not any(name in self.table for name in family.keys["q_latent"]):
            missing.append(f"{family.keys['q_latent'][0]} (null without a latent of queries)")
        if missing:
            raise InputError(f"the configuration of {shown(self.model)} lacks {', '.join(missing)}; add it")
        width, heads, layers = (self.needed(role) for role in ("width", "heads", "layers"))
        if layers > MOST_LAYERS:
            raise InputError(f"there are {layers} layers; at most {MOST_LAYERS} are read")
        rank = self.size("rank") or self.head(width, heads)
        every = self.layers(layers, heads, rank)
        counted = Counter(filter(None, every)).most_common()
        if not counted:
            raise InputError(f"none of the {layers} layers is a layer of attention")
        sizes: dict[str, Any] = {"dim": width, "layers": layers, "heads": heads, "rank": rank}
        sizes["value_rank"] = self.size("value_rank") or rank
        sizes["kinds"] = tuple(LayerKind(number, *kind) for kind, number in counted)
        model, lacks = stored(self.table, family, sizes)
        published = Published(
            model=self.model,
            family=family.name,
            **sizes,
            left_out=(),
            kv_latent=self.size("kv_latent"),
            q_latent=self.size("q_latent"),
            forced=self.forced,
            causal=family.causal.of(self.table),
            ignored=tuple(self.outside.ignored),
            shared=tuple(kind and kind[0] for kind in every),
            stored=model,
            lacks=lacks,
        )
        return published.replace(left_out=tuple(self.left_out(published)))

    def head(self, width: int, heads: int) -> int:
        """The size of a head: that of the file, or the width divided by the heads."""
        size = self.size("head")
        if size is None and width % heads:
            raise InputError(f"the width {width} is no multiple of the {heads} heads; give head_dim")
        return width // heads if size is None else size

    def layers(self, number: int, heads: int, rank: int) -> list[tuple[int, int] | None]:
        """Of each layer the sets of keys and values, and the pairs that turn; ``None`` for other layers."""
        types = self.types(number)
        shared, turns = self.kv_heads(number, heads), self.turns(number, types)
        pairs = {kind: self.pairs(kind, rank) for kind in dict.fromkeys(types)}
        return [
            None if kind not in common().attention or groups is None else (groups, pairs[kind] * turned)
            for kind, groups, turned in zip(types, shared, turns, strict=True)
        ]

    def listed(self, name: str, number: int) -> list[Any] | None:
        """The entries of a list with one for each layer; ``None`` where there is none."""
        value = self.table.get(name)
        if value is None:
            return None
        fits = isinstance(value, (list, tuple)) and len(value) == number
        refuse_unless(fits, name, value, f"a list with an entry for each of {number} layers")
        return list(value)

    def types(self, number: int) -> list[str]:
        """What each layer is, in the words of ``layer_types``."""
        keys = common()
        listed = self.listed("layer_types", number)
        words = (*keys.attention, *keys.other_layers)
        for kind in listed or ():
            if kind not in words:
                raise InputError(
                    f"layer_types has {shown(kind)}, which is not known; known are {', '.join(words)}"
                )
        regular: list[str] | None = None
        makers = {"period": self._periodic, "cycle": self._cyclic, "indices": self._indexed}
        role = next((role for role in makers if role in self.family.keys), "")
        says = self.family.keys.get(role, ())
        if says and (listed is None or any(name in self.table for name in says)):
            regular = makers[role](number)
        elif "full_period" in self.family.keys and listed is None:
            period = self.needed("full_period")
            regular = ["sliding_attention" if n % period else "full_attention" for n in range(1, number + 1)]
        if listed is not None and regular is not None:
            first, second = ([kind in keys.attention for kind in types] for types in (listed, regular))
            if first != second:
                raise InputError(f"layer_types and {says[0]} name other layers of attention")
        return listed or regular or ["full_attention"] * number

    def _periodic(self, number: int) -> list[str]:
        """One layer of attention in each period."""
        period, (name, offset) = self.needed("period"), self.given("offset")
        refuse_unless(type(offset) is int, name, offset, "a whole number")
        return ["mamba" if (n - offset) % period else "full_attention" for n in range(number)]

    def _cyclic(self, number: int) -> list[str]:
        """The types of the first layers, again and again."""
        name, cycle = self.given("cycle")
        fits = isinstance(cycle, (list, tuple)) and cycle and all(isinstance(x, str) for x in cycle)
        refuse_unless(bool(fits), name, cycle, "a list such as ['recurrent', 'attention']")
        return [cycle[n % len(cycle)] for n in range(number)]

    def _indexed(self, number: int) -> list[str]:
        """Layers of attention at the places that are named, from 0."""
        name, places = self.given("indices")
        fits = isinstance(places, (list, tuple)) and all(type(n) is int and 0 <= n < number for n in places)
        refuse_unless(fits, name, places, f"a list of numbers from 0 to {number - 1}")
        return ["full_attention" if n in places else "mamba" for n in range(number)]

    def kv_heads(self, number: int, heads: int) -> list[int | None]:
        """Of each layer the sets of keys and values; ``None`` for a layer without attention."""
        family = self.family
        for role, read in (("kv_by_layer", _divides), ("blocks", _block)):
            for name in family.keys.get(role, ()):
                if (listed := self.listed(name, number)) is not None:
                    return [read(f"{name}[{n}]", entry, heads) for n, entry in enumerate(listed)]
        if family.multi_query.of(self.table):
            unless, (name, value) = family.multi_query.unless, self.given("kv_heads")
            if unless and unless not in self.table and value is not None:
                raise InputError(
                    f"{name} is {shown(value)}, and counts or not as {unless} says, which is missing"
                )
            groups = self.size("groups") if "groups" in family.keys else 1
            name = next(iter(family.keys.get("groups", ("",))))
        else:
            name, _ = self.given("kv_heads")
            groups = self.size("kv_heads") or heads
        if groups is None:
            raise InputError(
                f"{shown(self.model)} lacks {name}, which says how many heads share keys and values"
            )
        if "kv_latent" in family.keys and groups != heads:
            raise InputError(
                f"{name} is {groups}; behind a latent each of the {heads} heads has keys of its own"
            )
        return [_divides(name, groups, heads)] * number

    def turns(self, number: int, types: Sequence[str]) -> list[bool]:
        """Of each layer whether its keys and queries are turned by their positions."""
        if self.positions != "rotary":
            return [False] * number
        if self.family.turning:
            return [kind in self.family.turning for kind in types]
        for name in self.family.keys.get("turns", ()):
            if listed := self.listed(name, number) if self.table.get(name) else None:
                if any(entry not in (0, 1) for entry in listed):
                    raise InputError(f"{name} is {shown(listed)}; each entry must be 0 or 1")
                return [entry == 1 for entry in listed]
            period = self.needed("no_rope_period")
            return [(n + 1) % period != 0 for n in range(number)]
        return [True] * number

    @property
    def positions(self) -> str:
        """How positions enter."""
        if self.family.alibi.of(self.table):
            return "ALiBi"
        if self.family.positions == "rotary" and not self.family.rotary.of(self.table):
            return "none"
        return self.family.positions

    def pairs(self, kind: str, rank: int) -> int:
        """How many pairs of rows of a head turn, in layers of this type."""
        if self.positions != "rotary":
            return 0
        rows = rank if "turned" not in self.family.keys else self.size("turned") or rank
        rows = int(rows * self.fraction(kind))
        if rows < 2 or rows % 2 or rows > rank:
            raise InputError(
                f"{rows} of the {rank} rows of keys turn; it must be an even number of at most {rank}"
            )
        return rows // 2

    def fraction(self, kind: str) -> float:
        """Which part of the rows of a head turns, in layers of this type."""
        name, value = self.given("fraction")
        for part in ("rope_scaling", "rope_parameters"):
            inner = self._rope(part, kind).get("partial_rotary_factor")
            if inner is not None and name in self.table and inner != value:
                raise InputError(
                    f"{name} is {shown(value)} and {part} has {shown(inner)}; they say the same thing"
                )
            if inner is not None:
                name, value = f"partial_rotary_factor in {part}", inner
        if value is None and name not in self.table:
            return 1.0
        refuse_unless(
            is_number(value) and 0 < float(value) <= 1, name, value, "a number above 0 and at most 1"
        )
        return float(value)

    def _rope(self, part: str, kind: str) -> Mapping[str, Any]:
        """What ``rope_scaling`` or ``rope_parameters`` say of layers of a type."""
        table = self.table.get(part)
        if table is None:
            return {}
        refuse_unless(isinstance(table, Mapping), part, table, "an object of keys")
        if table and all(isinstance(value, Mapping) or value is None for value in table.values()):
            if kind not in table:
                raise InputError(
                    f"{part} has {', '.join(map(shown, table))}, and no entry for layers of the type {kind}"
                )
            table = table[kind] or {}
        for name, value in table.items():
            if name not in (*common().rope, "partial_rotary_factor"):
                raise InputError(f"{part} has {shown(name)}, {shown(value)}, which is not known")
        return table

    def left_out(self, transformer: Published) -> Iterator[str]:
        """What the model has beyond these layers, in words."""
        family = self.family
        norms = f"{family.norm} normalization layers" if family.norm == "RMS" else "normalization layers"
        yield f"skip connections, {family.perceptron} perceptrons, {norms} and embeddings"
        yield from self._of_positions(transformer)
        if others := transformer.layers - transformer.attention_layers:
            what = f" ({family.others})" if family.others else ""
            yield f"{others} of {transformer.layers} layers, which are no attention{what}"
        yield from self._biases(transformer)
        if family.qk_norm.of(self.table):
            yield (
                "the normalization of queries and keys (QK-norm): the numbers are those of the layer without"
                " this normalization"
            )
        if family.output_gate:
            yield "a gate on the output: the numbers are those of the layer without this gate"
        yield from family.always
        yield from dict.fromkeys(self.outside.named)
        if transformer.causal:
            yield "the causal mask of the softmax: here a softmax is over all tokens"
        yield from self.absent
        if self.outside.ignored:
            yield f"keys that were ignored: {', '.join(self.outside.ignored)}"

    def _of_positions(self, transformer: Published) -> Iterator[str]:
        """How positions enter, as far as they are left out."""
        relative = self.table.get(self.family.relative) if self.family.relative else None
        if relative not in (None, "absolute"):
            yield f"positions that are added to the scores ({shown(relative)})"
        elif self.positions == "learned":
            yield "positions, which are added to the embeddings"
        elif self.positions == "ALiBi":
            yield "positions, which add a multiple of the distance to each score (ALiBi)"
        if any(kind.rotary_pairs for kind in transformer.kinds):
            yield "the angles of rotary positions: here they are rational and of infinite order"

    def _biases(self, transformer: Published) -> Iterator[str]:
        """The biases of a layer, and how many numbers they are."""
        matrices = {
            "q": ("queries", transformer.heads * transformer.rank),
            "k": ("keys", transformer.kv_heads * transformer.rank),
            "v": ("values", transformer.kv_heads * transformer.value_rank),
            "o": ("outputs", transformer.dim),
        }
        if letters := self.family.letters(self.table):
            *first, last = (matrices[letter][0] for letter in letters)
            listed = f"{', '.join(first)} and {last}" if first else last
            total = sum(matrices[letter][1] for letter in letters)
            yield f"biases of {listed}: {total} parameters of a layer, which are not counted"


def _block(name: str, block: Any, heads: int) -> int | None:
    """The sets of keys and values of a block; ``None`` if it has no attention."""
    of = block.get("attention") if isinstance(block, Mapping) else None
    if not isinstance(of, Mapping):
        raise InputError(f"{name} is {shown(block)}; it must be an object with the key attention")
    name, size = f"{name}.attention", "n_heads_in_group"
    for inner, value in of.items():
        if inner not in (size, "no_op", "replace_with_linear") and value:
            raise InputError(f"{name}.{inner} is {shown(value)}, which is not known and may matter")
    if of.get("no_op") or of.get("replace_with_linear"):
        return None
    together = positive_integer(f"{name}.{size}", of.get(size))
    if heads % together:
        raise InputError(f"{name}.{size} is {together}; {heads} heads are no multiple of it")
    return heads // together


def _divides(name: str, value: object, heads: int) -> int:
    """The sets of keys and values, which must divide the heads."""
    groups = positive_integer(name, value)
    if heads % groups:
        raise InputError(
            f"there are {heads} heads and {name} is {groups}; the first must be a multiple of the second"
        )
    return groups
