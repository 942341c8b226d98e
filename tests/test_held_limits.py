"""What holds for a whole computation: keywords of verbs, blocks, threads, and who is shown the steps."""

import inspect
import threading

import pytest

from agattn import library
from agattn.limits import KEYWORDS, Limits, limited, limits, log, steps, takes


@takes("seed", "force", "progress")
def drawn(count):
    """Draw.

    Args:
        count: how many.
        seed: of the draw.
    """
    log.info(f"{count} with seed {limits().seed}")
    return limits().seed, limits().force


def test_keywords_hold_while_a_function_runs_and_for_what_it_calls():
    @takes("seed")
    def twice():
        return drawn(1), drawn(1, seed=7)

    assert drawn(2, seed=3, force=True) == (3, True)
    assert twice(seed=5) == ((5, False), (7, False))
    assert limits() == Limits()
    with limited(force=True):
        assert drawn(2, seed=1) == (1, True) and drawn(2, force=False) == (0, False)


def test_a_block_ends_where_an_error_ends_it():
    with pytest.raises(ZeroDivisionError), limited(seed=3):
        raise ZeroDivisionError
    assert limits().seed == 0


def test_keywords_join_the_signature_and_the_arguments_that_are_described():
    assert list(inspect.signature(drawn).parameters) == ["count", "seed", "force", "progress"]
    said = drawn.__doc__.split("Args:\n")[1].splitlines()
    force, progress = (f"    {name}: {KEYWORDS[name].help}" for name in ("force", "progress"))
    assert said == ["    count: how many.", "    seed: of the draw.", force, progress]
    with pytest.raises(TypeError):
        drawn(1, timeout=3)


@pytest.mark.parametrize("name", library.VERBS)
def test_every_verb_describes_the_keywords_that_it_takes(name):
    verb = library.verb(name)
    taken = set(inspect.signature(verb).parameters) & set(KEYWORDS)
    assert all(f"{keyword}: " in verb.__doc__ or f"{keyword}, " in verb.__doc__ for keyword in taken)


def test_two_threads_are_shown_their_own_steps_only():
    """Both are shown their second step while the other computation is under way."""
    told, met = {3: [], 4: []}, threading.Barrier(2, timeout=10)

    def work(seed):
        with limited(seed=seed, progress=told[seed].append):
            drawn(1)
            met.wait()
            drawn(2)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in told]
    for thread in threads:
        thread.start()
    drawn(9)
    for thread in threads:
        thread.join()
    assert told == {seed: [f"{n} with seed {seed}" for n in (1, 2)] for seed in (3, 4)}


def test_steps_say_how_far_and_after_some_seconds_how_long(monkeypatch):
    clock, told = iter([0, 0, 3, 20, 300]), []
    monkeypatch.setattr("agattn.limits.time.monotonic", lambda: next(clock))
    with limited(progress=told.append):
        assert list(steps("abcd", 4, str.upper)) == [*"abcd"]
    assert told == ["A, 1 of 4", "B, 2 of 4", "C, 3 of 4, about 20 s left", "D, 4 of 4, about 2 min left"]
