"""Data classes that are written later are those of the standard library."""

import dataclasses
import inspect
import pickle
import sys
import threading
from pathlib import Path

import pytest
from command_line import run

from agattn.data_classes import Later, changed, dataclass

OPTIONS = [
    {},
    {"frozen": True},
    {"frozen": True, "repr": False},
    {"frozen": True, "eq": False},
    {"frozen": True, "order": True},
    {"kw_only": True},
]


def made(decorate, **options):
    """A base and what derives from it, with every kind of field that the package has."""

    class Plain:
        color = "blue"

    @decorate(**options)
    class Base(Plain):
        """A base."""

        size: int
        names: list[str] = dataclasses.field(default_factory=list, hash=False)
        color: str
        kind: "dataclasses.KW_ONLY" = 3

    @decorate(**options)
    class Derived(Base):
        size: int = 2
        hidden: int = dataclasses.field(default=5, repr=False, compare=False)
        late: float = dataclasses.field(kw_only=True, default=0.5)

        def __post_init__(self):
            object.__setattr__(self, "twice", 2 * self.size)

        def __repr__(self):
            return f"derived of {self.size}"

    return Base, Derived


def outcome(function):
    """What a call gives, or the kind and the words of its error."""
    try:
        return function()
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("options", OPTIONS)
def test_the_classes_are_those_of_the_standard_library(options):
    for ours, theirs in zip(made(dataclass, **options), made(dataclasses.dataclass, **options), strict=True):
        assert isinstance(vars(ours)["__init__"], Later)

        def facts(cls):
            one, same, other = cls(size=1), cls(size=1), cls(size=3, color="red")
            yield str(inspect.signature(cls))
            yield [(f.name, f.type, f.default, f.repr, f.compare, f.kw_only) for f in dataclasses.fields(cls)]
            yield from (cls.__match_args__, str(cls.__dataclass_params__))
            yield from (repr(one).partition(" at ")[0], one == same, one == other, one != other, one == 1)
            yield from (outcome(lambda: hash(one) == hash(same)), outcome(lambda: one < other))
            yield outcome(lambda: setattr(other, "size", 4))
            yield outcome(lambda: delattr(other, "size"))
            yield vars(dataclasses.replace(one, size=7))
            yield from (outcome(lambda: cls(size=1, wrong=2)), getattr(cls, "hidden", None), cls.color)

        assert list(facts(ours)) == list(facts(theirs))


def test_what_makes_no_instance_by_init_is_whole_as_well():
    """As an instance that comes out of a pickle in a new process."""
    base, _ = made(dataclass, frozen=True)
    one, same = object.__new__(base), object.__new__(base)
    for instance in (one, same):
        vars(instance).update(size=1, names=[], color="red", kind=3)
    assert isinstance(vars(base)["__eq__"], Later)
    assert one == same and "size=1" in repr(one)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'size'"):
        one.size = 2


def test_the_standard_library_derives_from_a_class_that_is_not_written_yet():
    base, _ = made(dataclass, frozen=True)
    more = {"__annotations__": {"x": int}, "x": 1}
    derived = dataclasses.dataclass(frozen=True)(type("Derived", (base,), {**more}))
    assert derived(2).size == 2 and dataclasses.is_dataclass(base)
    with pytest.raises(TypeError, match="cannot inherit non-frozen dataclass from a frozen one"):
        dataclasses.dataclass(type("Loose", (base,), {**more}))


def test_a_class_variable_of_a_base_stays_one_where_its_module_knows_no_such_type():
    """The types of fields are text, which means something in the module of the base alone."""
    kinds = {"size": "ClassVar[int]"}
    members = {"__annotations__": kinds, "__module__": "typing", "size": 1}
    base = dataclass(frozen=True)(type("Base", (), members))
    derived = dataclass(frozen=True)(type("Derived", (base,), {"__annotations__": {"name": "str"}}))
    assert repr(derived("x")) == "Derived(name='x')" and "ClassVar" not in globals()


def test_a_method_is_changed_before_it_is_written_and_afterwards():
    def doubled(make):
        return lambda self, size: make(self, 2 * size)

    for early in (True, False):

        @dataclass(frozen=True)
        class Size:
            size: int

        if not early:
            assert Size(1) == Size(1)
        changed(Size, "__init__", doubled)
        assert dataclasses.fields(Size)[0].name == "size" and Size(3).size == 6


def test_threads_that_need_a_class_at_once_wait_for_it():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(50):
            base, _ = made(dataclass, frozen=True)
            start, found = threading.Barrier(4), []

            def work(base=base, start=start, found=found):
                start.wait()
                found.append(outcome(lambda: base(1).size))

            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert found == [1] * 4
    finally:
        sys.setswitchinterval(before)


def test_architectures_come_out_of_a_pickle_in_a_new_process(tmp_path):
    from agattn import SingleLayer

    file = Path(tmp_path, "layers.pickle")
    file.write_bytes(pickle.dumps([SingleLayer(3, 2), SingleLayer(3, 2, t=4)]))
    code = (
        "import pickle, sys; from pathlib import Path\n"
        f"first, second = pickle.loads(Path({str(file)!r}).read_bytes())\n"
        "print(first == second, first == first.__class__(3, 2), hash(first) == hash(first.__class__(3, 2)))"
    )
    assert run(code=code).out.strip() == "False True True"
