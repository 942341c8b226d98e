"""The layers that a :class:`~agattn.architectures.composition.Network` is made of, as values.

A layer maps a matrix, whose columns are the tokens, to another matrix. The fields of a layer are its keys in
a model file. A layer becomes steps: maps that are computed one after the other, between which groups may act.

>>> [step.layer.type for step in Perceptron([5, 1], degree=4).steps("1") if isinstance(step, Step)]
['linear', 'power', 'linear']
>>> Attention(out=2, rank=3, rotary=True)
Traceback (most recent call last):
    ...
agattn.errors.InputError: rank is 3; rotary positions turn pairs of its dimensions, so it must be even
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cache
from itertools import count, islice
from math import isqrt
from typing import Any, ClassVar, Literal, Union, cast, get_args

import numpy as np

from agattn.algebra.arithmetic import Arithmetic, Array
from agattn.architectures.normalizer import Normalization, read_normalization, weights_of
from agattn.calls import constructed, is_list, positive_integer, positive_integers, shown
from agattn.errors import InputError, nearest
from agattn.sheet.result import Described, Key, Meta, Positive, Written, keys

Shape = tuple[int, int]
Mask = Literal["none", "causal"] | tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Step:
    """A map that a network computes: a layer, and the label after the letters of its parameters."""

    layer: Layer
    label: str


#: Between these two the input is kept, and added to the output at the end.
KEEP, ADD = "keep", "add"
Steps = Iterator[Step | str]


@dataclass(frozen=True)
class Layer(Described):
    """What all layers have in common: a layer is its ``output_shape``, ``shapes`` and ``evaluate``.

    One whose map is that of its steps has no more than those. The other methods make bounds better. Degrees
    and groups are derived (:mod:`agattn.architectures.derived`).
    """

    #: What a model file calls it.
    type: ClassVar[str] = "layer"

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(tag=("type", cls.type), has_defaults=True, **more)

    def __post_init__(self) -> None:
        read_fields(self)

    def steps(self, label: str) -> Steps:
        """The maps one after the other; here the layer itself, with its skip connection if it has one."""
        yield from _kept(getattr(self, "skip", False), Step(self, label))

    def output_shape(self, shape: Shape) -> Shape:
        """The shape of the output for this one of the input.

        Raises:
            InputError: if the layer does not take such an input.
        """
        raise NotImplementedError

    def shapes(self, shape: Shape) -> dict[str, tuple[int, ...]]:
        """The parameters by letter with their shapes, for this shape of the input."""
        return {}

    @property
    def mixes(self) -> Literal["nothing", "sum", "tokens", "order"]:
        """On which further tokens of the input a token of the output may depend.

        ``nothing``: on none but the token in its place; ``sum``: on the sum of all tokens alone; ``tokens``:
        on all tokens, whose permutations permute the output; ``order``: on all tokens in their order.
        """
        return "order"

    def residual(self) -> tuple[Layer, ...]:
        """The layers f where this layer is X ↦ X + f(X); none for every other layer."""
        return (replace(self, skip=False),) if getattr(self, "skip", False) else ()  # type: ignore[call-arg]

    def reduced(self, shape: Shape) -> Layer:
        """A layer with the same functions, up to their limits, and sizes not larger than needed."""
        return self

    def evaluate(self, arithmetic: Arithmetic, parameters: Mapping[str, Array], X: Array) -> Array:
        """The output on a stack of inputs, with parameters by letter."""
        raise NotImplementedError

    def as_json(self) -> dict[str, Any]:
        """The table of a model file that gives this layer."""
        listed = {f.name: getattr(self, f.name) for f in fields(self)}
        return {"type": self.type} | {key: _plain(value) for key, value in listed.items()}

    def summary(self) -> str:
        """The type and what is not as usual, such as ``attention 2 (rank 2, causal)``."""
        first, *others = fields(self) or (None,)
        options = []
        for one in others:
            value = getattr(self, one.name)
            if value is True:
                options.append(one.name)
            elif isinstance(value, str) and value != one.default:
                options.append(value)
            elif value is not None and value != one.default:
                options.append(f"{one.name.replace('_', ' ')} {_short(value)}")
        size = "" if first is None else f" {_short(getattr(self, first.name))}"
        more = f" ({', '.join(options)})" if options else ""
        return f"{self.type}{size}{more}"


def _plain(value: Any) -> object:
    if isinstance(value, Described):
        return value.as_json()
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


def _short(value: Any) -> str:
    if isinstance(value, tuple) and isinstance(value[0], tuple):
        return "given"
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _boolean(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"{name} is {shown(value)}; it must be true or false")
    return value


def _one_of(*choices: str) -> Callable[[str, object], Any]:
    def read(name: str, value: object) -> Any:
        if not isinstance(value, str) or value not in choices:
            listed = f"; it must be {' or '.join(map(repr, choices))}"
            raise InputError(f"{name} is {shown(value)}{nearest(str(value), choices, listed)}")
        return value

    return read


def positive_number(name: str, value: Any) -> float:
    """A number above 0, an int or else a float.

    Raises:
        InputError: if it is none.
    """
    try:
        usable = 0 < value < float("inf")
    except TypeError:
        usable = False
    if not usable:
        raise InputError(f"{name} is {shown(value)}; it must be a number above 0")
    return value if isinstance(value, (int, float)) else float(value)


def _mask(name: str, value: object) -> Mask:
    if isinstance(value, str):
        read: Mask = _one_of("none", "causal")(name, value)
        return read
    try:
        rows = tuple(tuple((0, 1).index(one) for one in row) for row in value)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        rows = ()
    if not rows or any(len(row) != len(rows) for row in rows):
        raise InputError(
            f"{name} is {shown(value)}; it must be 'none', 'causal', or a square matrix of 0 and 1"
        )
    return rows


@constructed
@dataclass(frozen=True)
class Attention(Layer):
    """Heads of attention: X ↦ Σ_h V_h X (M ∘ (K_h X)ᵀ (Q_h X)), with a mask M of zeros and ones.

    K_h and Q_h are a × d and V_h is d' × d, or a product O_h P_h through ``value_rank`` dimensions. With the
    mask ``"causal"`` token j sees the tokens i ≤ j. With rotary positions the keys and queries of token j are
    turned by R^j, so that only distances of tokens matter; R turns each pair of dimensions by an angle of its
    own (:func:`rotations`). With ``rotary`` = p only the first p pairs of rows are turned. A softmax, or
    another normalizer given by its Taylor coefficients, divides by the sum over the tokens that are seen.

    *Groups.* With ``kv_heads`` = g below ``heads`` = h, heads share keys and values in g groups of h/g heads
    (grouped queries; g = 1 is multi-query). Each group has one K and one P, each head has its own Q and O:
    K is (g, a, d), P is (g, β, d), Q is (g, h/g, a, d) and O is (g, h/g, d', β).

    *Latents.* With ``kv_latent`` = r keys and values are read from C X, C: r × d, by UK_h: a × r and
    UV_h: β × r, or d' × r without a ``value_rank``. With ``q_latent`` = ρ queries are read from D X,
    D: ρ × d, by UQ_h: a × ρ (multi-head latent attention). A latent with more rows than the heads can
    read adds no functions: r acts as min(r, d, h(a + β)), and ρ as min(ρ, d, ha).

    Raises:
        InputError: if a number is out of range, the rank is odd with rotary positions or below 2p, ``heads``
            is no multiple of ``kv_heads``, or groups have no ``value_rank``.

    >>> print(Attention(out=2, rank=4, heads=3, mask="causal", rotary=True))
    attention 2 (rank 4, heads 3, causal, rotary)
    >>> Attention(4, 2, heads=4, kv_heads=2, value_rank=3).shapes((5, 2))
    {'K': (2, 2, 5), 'Q': (2, 2, 2, 5), 'O': (2, 2, 4, 3), 'P': (2, 3, 5)}
    >>> Attention(4, 2, heads=2, value_rank=1, kv_latent=3).shapes((5, 2))
    {'C': (3, 5), 'UK': (2, 2, 3), 'Q': (2, 2, 5), 'O': (2, 4, 1), 'UV': (2, 1, 3)}
    >>> Attention(4, 2, heads=3, kv_heads=2, value_rank=1)
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: heads is 3 and kv_heads is 2; heads must be a multiple of kv_heads
    """

    out: Key[Positive, "The output dimension d'."]
    rank: Key[Positive, "The attention dimension a."]
    heads: Key[Positive, "The number of heads."] = 1
    value_rank: Key[Positive | None, "The largest rank of each V; null where not restricted."] = None
    mask: Key[Mask, "Which tokens are seen: rows i, columns j, 1 if j sees i."] = "none"
    rotary: Key[
        bool | Positive,
        "Whether keys and queries are turned by their positions; p if only p pairs of rows are.",
    ] = False
    skip: Key[bool, "Whether the input is added to the output."] = False
    normalization: Key[
        Normalization, "`none` is lightning attention; `softmax`, or a normalizer by its series."
    ] = "none"
    kv_heads: Key[
        Positive | None, "The number of groups of heads that share keys and values; null for one a head."
    ] = field(default=None, kw_only=True)
    kv_latent: Key[
        Positive | None, "The rows of C, if keys and values are read from C X; null if they are not."
    ] = field(default=None, kw_only=True)
    q_latent: Key[Positive | None, "The rows of D, if queries are read from D X; null if they are not."] = (
        field(default=None, kw_only=True)
    )
    temperature: Key[float, "The T by which the scores of a normalized layer are divided.", Meta(gt=0)] = (
        field(default=1.0, kw_only=True)
    )

    type: ClassVar[str] = "attention"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rotary is True and self.rank % 2:
            raise InputError(
                f"rank is {self.rank}; rotary positions turn pairs of its dimensions, so it must be even"
            )
        if 2 * self.pairs > self.rank:
            raise InputError(
                f"rotary is {self.rotary} and rank is {self.rank}; a rank has rank/2 pairs of rows"
            )
        if 2 * self.pairs == self.rank:
            object.__setattr__(self, "rotary", True)
        if self.normalization != "none" and isinstance(self.mask, tuple):
            blind = next(
                (j for j, column in enumerate(zip(*self.mask, strict=True), 1) if not any(column)), 0
            )
            if blind:
                raise InputError(f"mask lets token {blind} see no token; with a softmax it must see one")
        if self.heads % self.groups:
            raise InputError(
                f"heads is {self.heads} and kv_heads is {self.kv_heads}; heads must be a multiple of kv_heads"
            )
        if self.is_grouped and self.value_rank is None:
            raise InputError(
                f"kv_heads is {self.kv_heads}, below heads, {self.heads}, so groups share the values P; give"
                " value_rank, the number of rows of P"
            )

    def __eq__(self, other: object) -> bool:
        # Python has 1 == True, and one pair is not all pairs.
        if type(other) is not type(self) or self.pairs != other.pairs:
            return False
        return all(getattr(self, one.name) == getattr(other, one.name) for one in fields(self))

    @property
    def groups(self) -> int:
        """The number of keys and values, one for each group of heads."""
        return self.kv_heads or self.heads

    @property
    def pairs(self) -> int:
        """p: so many pairs of rows of K and Q are turned by positions; 0 without rotary positions."""
        return self.rank // 2 if self.rotary is True else int(self.rotary)

    @property
    def is_grouped(self) -> bool:
        """Whether heads share keys and values."""
        return self.groups < self.heads

    @property
    def is_plain(self) -> bool:
        """Whether every head has K, Q and V of its own, or O and P, which read the input itself."""
        return not self.is_grouped and self.kv_latent is None and self.q_latent is None

    @property
    def _names(self) -> tuple[str, str, str]:
        """The letters of what reads the keys, the queries and the values."""
        values = "UV" if self.kv_latent else "V" if self.value_rank is None else "P"
        return "UK" if self.kv_latent else "K", "UQ" if self.q_latent else "Q", values

    def output_shape(self, shape: Shape) -> Shape:
        """(d', t); any number of tokens but for a mask that is given."""
        if isinstance(self.mask, tuple) and len(self.mask) != shape[1]:
            raise InputError(f"mask has {len(self.mask)} rows, one for each token, and t is {shape[1]}")
        return self.out, shape[1]

    def shapes(self, shape: Shape) -> dict[str, tuple[int, ...]]:
        """C and D of latents, then K, Q, and V or O and P, each with axes more for groups and heads."""
        g, a, d, b = self.groups, self.rank, shape[0], self.value_rank
        own = (g, self.heads // g) if self.is_grouped else (g,)
        r, rho = self.kv_latent or d, self.q_latent or d
        keys, queries, values = self._names
        arrays: dict[str, tuple[int, ...]] = {"C": (r, d)} if self.kv_latent else {}
        arrays |= {"D": (rho, d)} if self.q_latent else {}
        arrays |= {keys: (g, a, r), queries: (*own, a, rho)}
        return arrays | (
            {values: (g, self.out, r)} if b is None else {"O": (*own, self.out, b), values: (g, b, r)}
        )

    def as_json(self) -> dict[str, Any]:
        """The table of a model file that gives this layer; what is not always there only where it is."""
        usual = {"kv_heads": None, "kv_latent": None, "q_latent": None, "temperature": 1}
        return {key: x for key, x in super().as_json().items() if key not in usual or x != usual[key]}

    @property
    def mixes(self) -> Literal["tokens", "order"]:
        """All tokens; in their order with a mask or positions."""
        return "order" if self.mask != "none" or self.rotary else "tokens"

    def reduced(self, shape: Shape) -> Layer:
        """The layer with the sizes that its heads can use.

        C has at most d rows, and g(a + β) are read; D has at most d, and ha are read. The outputs of a group,
        one below the other, are sd' × β, its queries side by side a × sρ, and its tensor Σ O_i ⊗ Q_i is
        d'β × aρ, of rank at most s. Without softmax the forms in C X are d'·r(r + 1)/2 functions of D x.
        """
        d, g, latents = shape[0], self.groups, (self.kv_latent is not None, self.q_latent is not None)
        a, b, s = self.rank, self.value_rank or self.out, self.heads // self.groups
        r, rho = self.kv_latent or d, self.q_latent or d
        while True:
            before = a, b, r, rho, s
            r, rho = min(r, d, g * (a + b) if latents[0] else d), min(rho, d, g * s * a if latents[1] else d)
            if latents[1] and self.normalization == "none" and not self.rotary:
                rho = min(rho, self.out * r * (r + 1) // 2)
            a, b = a if self.rotary else min(a, r, s * rho), min(b, r, s * self.out)
            s = s if self.normalization != "none" else min(s, b * self.out, a * rho)
            if before == (a, b, r, rho, s):
                break
        return replace(
            self,
            rank=a,
            heads=g * s,
            kv_heads=None if self.is_grouped and s == 1 else self.kv_heads,
            value_rank=None if self.value_rank is None else b,
            kv_latent=r if latents[0] else None,
            q_latent=rho if latents[1] else None,
        )

    def _seen(self, arithmetic: Arithmetic, t: int) -> Array:
        """The mask as a matrix of ints; where shapes alone matter, ones that take no memory."""
        if arithmetic.of_shapes:
            return np.broadcast_to(np.ones((), dtype=object), (t, t))
        rows = self.mask if isinstance(self.mask, tuple) else np.triu(np.ones((t, t), dtype=int))
        return np.array(rows, dtype=object)

    def evaluate(self, arithmetic: Arithmetic, parameters: Mapping[str, Array], X: Array) -> Array:
        """The heads added up, those of a group before the groups."""
        mul, clean, (K, Q, values) = arithmetic.matmul, arithmetic.clean, self._names
        heads = (slice(None), *[None] * (1 + self.is_grouped))  # axes of groups, and of heads of a group

        def shared(array: Array) -> Array:
            """An array of each group, for all heads of the group."""
            return array[..., None, :, :] if self.is_grouped else array

        seen = mul(parameters["C"], X)[heads] if self.kv_latent else X[heads]
        asking = mul(parameters["D"], X)[heads] if self.q_latent else X[heads]
        keys, queries = mul(shared(parameters[K]), seen), mul(parameters[Q], asking)
        if self.rotary:
            W = _turned(arithmetic, keys, queries, self.pairs, X.shape[-1])
        else:
            W = mul(keys.swapaxes(-1, -2), queries)
        mask = None if self.mask == "none" else self._seen(arithmetic, X.shape[-1])
        if self.normalization != "none":
            W = W if self.temperature == 1 else W / self.temperature
            seen_by = None if mask is None or arithmetic.of_shapes else mask.astype(bool)
            W = weights_of(arithmetic, W, self.normalization, seen_by)
        elif mask is not None:
            W = arithmetic.times(W, arithmetic.constant(mask))
        Y = mul(shared(parameters[values]), mul(seen, W))
        if self.value_rank is not None:
            Y = mul(parameters["O"], Y)
        if self.is_grouped:  # here Q and O alone are contracted, so that GL(s) is seen
            Y = clean(Y.sum(axis=-3))
        return clean(Y.sum(axis=-3))


def _kept(skip: bool, *steps: Step | str) -> Steps:
    """Steps; with a skip connection the input is kept before them and added after them."""
    yield from (KEEP, *steps, ADD) if skip else steps


@cache
def rotations(pairs: int) -> tuple[tuple[Fraction, Fraction], ...]:
    """The cosines and sines of the angles by which rotary positions turn each pair, from token to token.

    The k-th prime that is x² + y² gives ((x² − y²)/p, 2xy/p), rational and of infinite order. As these primes
    are different, no product of powers of the rotations is the identity: their powers are dense, in Zariski's
    sense, in the torus of all rotations of the pairs, and what commutes with them commutes with all of it.

    >>> [(str(c), str(s)) for c, s in rotations(3)]
    [('3/5', '4/5'), ('5/13', '12/13'), ('15/17', '8/17')]
    """

    def angles() -> Iterator[tuple[Fraction, Fraction]]:
        for p in count(5, 4):
            if all(p % q for q in range(3, isqrt(p) + 1, 2)):
                x = next(x for x in range(isqrt(p), 0, -1) if isqrt(p - x * x) ** 2 == p - x * x)
                y = isqrt(p - x * x)
                yield Fraction(x * x - y * y, p), Fraction(2 * x * y, p)

    return tuple(islice(angles(), pairs))


def _turned(arithmetic: Arithmetic, keys: Array, queries: Array, pairs: int, tokens: int) -> Array:
    """The products kᵢᵀ R^{j−i} q_j of all keys and queries, each turned by its position."""
    powers = np.zeros((2, pairs, tokens), dtype=object)  # cosines and sines of the multiples of the angles
    powers[0, :, 0] = 1
    for k, (c, s) in enumerate(rotations(pairs)):
        for j in range(1, tokens):
            x, y = powers[:, k, j - 1]
            powers[:, k, j] = c * x - s * y, s * x + c * y
    return arithmetic.turned_products(keys, queries, powers)


#: How a state S takes up a token with k = K x, v = V x, and what the rule multiplies S by.
Rule = Literal["sum", "decay", "scalar-gate", "diagonal-gate", "delta", "gated-delta"]
_NOT_POLYNOMIAL = ("sigmoid", "exp", "soft", "silu", "swish")


def _rule(name: str, value: object) -> Rule:
    if isinstance(value, str) and any(word in value.lower() for word in _NOT_POLYNOMIAL):
        raise InputError(
            f"{name} is {shown(value)}; a gate through such a function is not polynomial, and gates are"
            " linear in x here; take 'scalar-gate', 'diagonal-gate' or 'gated-delta'"
        )
    read: Rule = _one_of(*get_args(Rule))(name, value)
    return read


@constructed
@dataclass(frozen=True)
class Recurrence(Layer):
    """Causal linear attention with a state: token by token y = Σ_h S_h Q_h x, after S_h has taken up x.

    With k = K x and v = V x, and S = 0 before the first token, the rules are

    - ``sum``: S + v kᵀ, linear attention;
    - ``decay``: γ S + v kᵀ with a learned number γ, as in RetNet without rotations;
    - ``scalar-gate``: (wᵀx) S + v kᵀ, as in Mamba-2 with a linear gate;
    - ``diagonal-gate``: S diag(G x) + v kᵀ with G: a × d, as in gated linear attention;
    - ``delta``: S + (v − S k) kᵀ, as in DeltaNet;
    - ``gated-delta``: S + β (v − S k) kᵀ with β = wᵀx.

    K_h and Q_h are a × d and V_h is d' × d. Gates are linear in x, as a sigmoid is not polynomial.

    Raises:
        InputError: if a number is out of range, or there is no such rule.

    >>> Recurrence(2, 3, "gated-delta").shapes((4, 2))
    {'K': (1, 3, 4), 'Q': (1, 3, 4), 'V': (1, 2, 4), 'w': (1, 4)}
    >>> Recurrence(2, 3, "dleta")
    Traceback (most recent call last):
        ...
    agattn.errors.InputError: rule is 'dleta'; did you mean 'delta'?
    """

    out: Key[Positive, "The output dimension d'."]
    rank: Key[Positive, "The dimension a of keys and queries."]
    rule: Key[Rule, "How the state takes up a token."] = "sum"
    heads: Key[Positive, "The number of heads, each with a state of its own."] = 1
    skip: Key[bool, "Whether the input is added to the output."] = False

    type: ClassVar[str] = "recurrence"

    def output_shape(self, shape: Shape) -> Shape:
        """(d', t)."""
        return self.out, shape[1]

    @property
    def is_delta(self) -> bool:
        """Whether what the state knows of a key is taken off before the value is added."""
        return self.rule in ("delta", "gated-delta")

    @property
    def _gate(self) -> str:
        """The letter of what decides how much of the state is kept, or of the token is taken."""
        gates = {"decay": "gamma", "scalar-gate": "w", "diagonal-gate": "G", "gated-delta": "w"}
        return gates.get(self.rule, "")

    def shapes(self, shape: Shape) -> dict[str, tuple[int, ...]]:
        """K, Q and V, and γ, w or G, with a first axis for the heads."""
        h, a, d = self.heads, self.rank, shape[0]
        gates = {"gamma": (h,), "w": (h, d), "G": (h, a, d)}
        arrays: dict[str, tuple[int, ...]] = {"K": (h, a, d), "Q": (h, a, d), "V": (h, self.out, d)}
        return arrays | ({self._gate: gates[self._gate]} if self._gate else {})

    def reduced(self, shape: Shape) -> Layer:
        """With the rank at most d, but for a diagonal gate, which has an entry for each row of K and Q."""
        return self if self.rule == "diagonal-gate" else replace(self, rank=min(self.rank, shape[0]))

    def evaluate(self, arithmetic: Arithmetic, parameters: Mapping[str, Array], X: Array) -> Array:
        """The states of all heads, token after token."""
        mul, times, clean, tokens = arithmetic.matmul, arithmetic.times, arithmetic.clean, X.shape[-1]
        stacked = X[:, None]
        read = {name: mul(parameters[name], stacked) for name in ("K", "Q", "V")}
        if self._gate == "w":
            read["w"] = mul(parameters["w"][..., None, :], stacked)
        elif self._gate == "G":
            read["G"] = mul(parameters["G"], stacked)
        state, total = None, None
        for j in range(tokens):
            at = {name: array[..., j : j + 1] for name, array in read.items()}
            written, keys = at["V"], at["K"].swapaxes(-1, -2)
            if self.is_delta and state is not None:
                written = clean(written - mul(state, at["K"]))
            if self.rule == "gated-delta":
                written = times(written, at["w"])
            if state is None:
                state = mul(written, keys)
            else:
                if self.rule == "decay":
                    state = times(state, parameters["gamma"][..., None, None])
                elif self.rule == "scalar-gate":
                    state = times(state, at["w"])
                elif self.rule == "diagonal-gate":
                    state = times(state, at["G"].swapaxes(-1, -2))
                state = clean(state + mul(written, keys))
            column = arithmetic.constant(np.array([[int(i == j) for i in range(tokens)]], dtype=object))
            output = times(mul(state, at["Q"]), column)
            total = output if total is None else clean(total + output)
        assert total is not None  # there is at least one token
        return clean(total.sum(axis=-3))


@constructed
@dataclass(frozen=True)
class CrossAttention(Layer):
    """Heads that ask tokens X about other tokens Y: (Y, X) ↦ Σ_h V_h Y (K_h Y)ᵀ (Q_h X).

    The input has both side by side: first the ``context`` tokens Y, then X. The output has a token for each
    token of X.

    Raises:
        InputError: if a number is out of range.

    >>> CrossAttention(2, rank=1, context=3).output_shape((4, 5))
    (2, 2)
    """

    out: Key[Positive, "The output dimension d'."]
    rank: Key[Positive, "The attention dimension a."]
    context: Key[Positive, "The number of tokens Y, which come first."]
    heads: Key[Positive, "The number of heads."] = 1

    type: ClassVar[str] = "cross-attention"

    def output_shape(self, shape: Shape) -> Shape:
        """(d', t − context)."""
        if shape[1] <= self.context:
            raise InputError(
                f"context is {self.context}, and there are {shape[1]} tokens; more tokens are needed, as"
                " those after the context ask"
            )
        return self.out, shape[1] - self.context

    def shapes(self, shape: Shape) -> dict[str, tuple[int, ...]]:
        """K, Q and V, with a first axis for the heads."""
        h, a, d = self.heads, self.rank, shape[0]
        return {"K": (h, a, d), "Q": (h, a, d), "V": (h, self.out, d)}

    def reduced(self, shape: Shape) -> Layer:
        """With the rank at most d."""
        return replace(self, rank=min(self.rank, shape[0]))

    def evaluate(self, arithmetic: Arithmetic, parameters: Mapping[str, Array], X: Array) -> Array:
        """The heads added up."""
        mul = arithmetic.matmul
        Y, asking = X[:, None, :, : self.context], X[:, None, :, self.context :]
        keys, queries = mul(parameters["K"], Y), mul(parameters["Q"], asking)
        heads = mul(parameters["V"], mul(Y, mul(keys.swapaxes(-1, -2), queries)))
        return arithmetic.clean(heads.sum(axis=-3))


@constructed
@dataclass(frozen=True)
class Linear(Layer):
    """X ↦ W X, token by token; with a bias X ↦ W X + b."""

    out: Key[Positive, "The output dimension: the number of rows of W."]
    bias: Key[bool, "Whether a vector b is added."] = False

    type: ClassVar[str] = "linear"

    def output_shape(self, shape: Shape) -> Shape:
        """(out, t)."""
        return self.out, shape[1]

    def shapes(self, shape: Shape) -> dict[str, tuple[int, ...]]:
        """W, out × d, and b of length out."""
        return {"W": (self.out, shape[0])} | ({"b": (self.out,)} if self.bias else {})

    mixes = "nothing"

    def evaluate(self, arithmetic: Arithmetic, parameters: Mapping[str, Array], X: Array) -> Array:
        """W X, or W X + b."""
        Y = arithmetic.matmul(parameters["W"], X)
        return arithmetic.clean(Y + parameters["b"][..., None]) if self.bias else Y


@constructed
@dataclass(frozen=True)
class Power(Layer):
    """Every entry to the power r = ``degree``."""

    degree: Key[Positive, "The exponent."]

    type: ClassVar[str] = "power"

    def output_shape(self, shape: Shape) -> Shape:
        """That of the input."""
        return shape

    mixes = "nothing"

    def evaluate(self, arithmetic: Arithmetic, parameters: Mapping[str, Array], X: Array) -> Array:
        return power(arithmetic, X, self.degree)


def power(arithmetic: Arithmetic, X: Array, degree: int) -> Array:
    """Every entry of X to a power of at least 1."""
    result = None
    while True:
        if degree % 2:
            result = X if result is None else arithmetic.times(result, X)
        degree //= 2
        if not degree:
            return result
        X = arithmetic.times(X, X)


@constructed
@dataclass(frozen=True)
class Sum(Layer):
    """Pools the tokens: their sum, as one token."""

    type: ClassVar[str] = "sum"

    def output_shape(self, shape: Shape) -> Shape:
        """(d, 1)."""
        return shape[0], 1

    mixes = "sum"

    def evaluate(self, arithmetic: Arithmetic, parameters: Mapping[str, Array], X: Array) -> Array:
        """The sum of the columns."""
        return arithmetic.clean(X.sum(axis=-1, keepdims=True))


@constructed
@dataclass(frozen=True)
class Perceptron(Layer):
    """x ↦ W_L (... W_2 (W_1 x)^r ...)^r, token by token; with biases W_i z + b_i in place of W_i z.

    Source: Kileel, Trager, Bruna, *On the expressive power of deep polynomial neural networks* (2019).
    """

    widths: Key[
        tuple[Positive, ...],
        "The numbers of rows of the matrices; the last is the output dimension.",
        Meta(min_length=1),
    ]
    degree: Key[Positive, "The power r of every entry between two matrices."]
    bias: Key[bool, "Whether each matrix comes with a bias."] = False
    skip: Key[bool, "Whether the input is added to the output."] = False

    type: ClassVar[str] = "perceptron"

    def steps(self, label: str) -> Steps:
        """Matrices, with powers between them."""
        steps: list[Step | str] = []
        for i, width in enumerate(self.widths, 1):
            steps += [Step(Power(self.degree), label)] if i > 1 else []
            steps.append(Step(Linear(width, self.bias), f"{label}_{i}"))
        yield from _kept(self.skip, *steps)


@constructed
@dataclass(frozen=True)
class Bilinear(Layer):
    """x ↦ D (G x ⊙ U x), token by token: a gated perceptron without the gate's function.

    Neuron i multiplies two linear forms, rows i of G and U, and column i of D is its output.

    Raises:
        InputError: if a number is out of range.

    >>> Bilinear(neurons=2, out=1).shapes((5, 1))
    {'G': (2, 5), 'U': (2, 5), 'D': (1, 2)}
    """

    neurons: Key[Positive, "The number n of neurons: the rows of G and U, and the columns of D."]
    out: Key[Positive, "The output dimension d'."]
    skip: Key[bool, "Whether the input is added to the output."] = False

    type: ClassVar[str] = "bilinear"

    def output_shape(self, shape: Shape) -> Shape:
        """(d', t)."""
        return self.out, shape[1]

    def shapes(self, shape: Shape) -> dict[str, tuple[int, ...]]:
        """G and U, n × d, and D, d' × n."""
        rows = self.neurons, shape[0]
        return {"G": rows, "U": rows, "D": (self.out, self.neurons)}

    mixes = "nothing"

    def evaluate(self, arithmetic: Arithmetic, parameters: Mapping[str, Array], X: Array) -> Array:
        """D (G X ⊙ U X)."""
        G, U, D = (parameters[name] for name in "GUD")
        return arithmetic.matmul(D, arithmetic.times(arithmetic.matmul(G, X), arithmetic.matmul(U, X)))


@constructed
@dataclass(frozen=True)
class Convolution(Layer):
    """A filter that slides along the tokens, and every entry to the power r.

    Y_{c,j} = (Σ_{b,m} W_{c,b,m} X_{b, s·j+m})^r for channels b of the input and c of the output, j from 0.
    The tokens are the positions, and the rows the channels. A single token is read as one channel, whose
    positions are its entries, and its output, if that is one channel, as a single token again.

    Source: Shahverdi, Marchetti, Kohn, *On the geometry and optimization of polynomial convolutional
    networks* (2024).
    """

    filter: Key[Positive, "The length of the filter."]
    degree: Key[Positive, "The power r of every entry; 1 for none."]
    stride: Key[Positive, "By how much, s, the filter moves on."] = 1
    channels: Key[Positive, "The number of channels of the output."] = 1

    type: ClassVar[str] = "convolution"

    def steps(self, label: str) -> Steps:
        """The filter, then the power."""
        yield Step(self, label)
        if self.degree > 1:
            yield Step(Power(self.degree), label)

    def _is_vector(self, shape: Shape) -> bool:
        """Whether a single token becomes another."""
        return shape[1] == 1 == self.channels

    def _input(self, shape: Shape) -> Shape:
        """The numbers of channels and positions."""
        return (1, shape[0]) if shape[1] == 1 else shape

    def output_shape(self, shape: Shape) -> Shape:
        """The channels, and as many positions as the filter fits into; or these as the entries of a token."""
        positions = self._input(shape)[1]
        if self.filter > positions:
            what = "entries in the token" if shape[1] == 1 else "tokens"
            raise InputError(
                f"filter is {self.filter}, and slides along {positions} {what}; give at most {positions}"
            )
        left = (positions - self.filter) // self.stride + 1
        return (left, 1) if self._is_vector(shape) else (self.channels, left)

    def shapes(self, shape: Shape) -> dict[str, tuple[int, ...]]:
        """W, channels × channels of the input × filter."""
        return {"W": (self.channels, self._input(shape)[0], self.filter)}

    def evaluate(self, arithmetic: Arithmetic, parameters: Mapping[str, Array], X: Array) -> Array:
        """The filter alone, entry by entry of it."""
        is_vector = self._is_vector(X.shape[-2:])
        X = X.swapaxes(-1, -2) if X.shape[-1] == 1 else X
        last = X.shape[-1] - self.filter + 1
        parts = [
            arithmetic.matmul(parameters["W"][..., m], X[..., m : m + last : self.stride])
            for m in range(self.filter)
        ]
        total = parts[0]
        for part in parts[1:]:
            total = arithmetic.clean(total + part)
        return total.swapaxes(-1, -2) if is_vector else total


@constructed
@dataclass(frozen=True)
class Skip(Layer):
    """Layers one after the other, or only one, whose input is added to their output: a residual block."""

    layer: Key[
        tuple[Layer, ...],
        "The layers, as in `layer` of the model.",
        Meta(min_length=1),
        Written(list[dict[str, Any]]),
    ]

    type: ClassVar[str] = "skip"

    def steps(self, label: str) -> Steps:
        """Those of the layers, with the input kept."""
        inner = (step for i, one in enumerate(self.layer, 1) for step in one.steps(f"{label}_{i}"))
        yield from _kept(True, *inner)

    def residual(self) -> tuple[Layer, ...]:
        """The layers inside."""
        return self.layer

    def summary(self) -> str:
        return f"skip({' → '.join(map(str, self.layer))})"


def listed(layers: Any) -> tuple[Layer, ...]:
    """One layer or several as a tuple.

    Raises:
        InputError: if the list is empty, or an element is no layer.
    """
    given = (layers,) if isinstance(layers, Layer) else layers
    if not is_list(given) and not isinstance(given, Iterator):
        raise InputError(
            f"the layers are {shown(given)}; they must be a list such as [ag.Linear(2), ag.Power(3)]"
        )
    listed_layers = tuple(given)
    if not listed_layers:
        raise InputError("there are no layers; give at least one")
    for i, one in enumerate(listed_layers, 1):
        if not isinstance(one, Layer):
            classes = ", ".join(f"ag.{name}" for name in sorted(kind.__name__ for kind in LAYERS.values()))
            hint = f"there are {classes}"
            if all(hasattr(width, "__index__") for width in listed_layers):
                hint = "a network by its widths and ranks is an ag.DeepNetwork(dims, ranks, t)"
            raise InputError(f"layer {i} is {shown(one)}, which is no layer; {hint}")
    return listed_layers


#: How the fields of layers are read, by their types.
_READERS: Mapping[Any, Callable[[str, Any], Any]] = {
    int: positive_integer,
    Positive | None: lambda name, value: None if value is None else positive_integer(name, value),
    bool | Positive: lambda name, value: value if isinstance(value, bool) else positive_integer(name, value),
    tuple[Positive, ...]: lambda name, value: positive_integers(name, value, "[5, 1]"),
    bool: _boolean,
    float: positive_number,
    Mask: _mask,
    Rule: _rule,
    Normalization: read_normalization,
    tuple[Layer, ...]: lambda _, value: listed(value),
}


def read_fields(given: Described) -> None:
    """Read each field of a layer or an architecture as its type says.

    Raises:
        InputError: if one has another type, or is out of range.
    """
    for _, name, kind in keys(cast(Any, type(given))):
        if read := _READERS.get(kind.__origin__):
            object.__setattr__(given, name, read(name, getattr(given, name)))


#: Every kind of layer by its type.
LAYERS: Mapping[str, type[Layer]] = {
    kind.type: kind
    for kind in (
        Attention,
        Perceptron,
        Bilinear,
        Convolution,
        Linear,
        Power,
        Sum,
        Recurrence,
        CrossAttention,
        Skip,
    )
}
#: How layers are written: as the tables of a model file.
TABLES = Written(list[Union[tuple(LAYERS.values())]])  # type: ignore[misc]  # noqa: UP007 -- of as many types as there are
