"""Verbs and commands: which command is which verb, which function answers both, and what each page says."""

import inspect

import numpy as np
import pytest

import agattn as ag
from agattn import library


@pytest.mark.parametrize("name", library.VERBS)
def test_a_verb_shows_the_signature_and_the_docstring_of_its_function(name):
    verb = library.verb(name)
    function = verb.__wrapped__
    assert verb is library.verb(name)
    assert verb.__name__ == name and name in dir(ag)
    assert inspect.signature(verb) == inspect.signature(function)
    assert verb.__doc__ == function.__doc__


def test_every_long_call_tells_what_it_does(monkeypatch, capsys):
    """Whatever the verb: also one that reports no steps."""
    import time

    from agattn import patience
    from agattn.geometry.identifiability import network_fibers

    real = patience.told
    monkeypatch.setattr(library, "told", lambda work, progress: real(work, progress, after=0.1))
    monkeypatch.setattr(network_fibers, "network_fiber", lambda *_: time.sleep(0.4))
    ag.fiber(ag.DeepNetwork((2, 2), (2,)), {})
    assert capsys.readouterr().err == "fiber of M(2,2,2), t = 3\n"


def test_progress_is_told_to_a_function_or_with_none_to_nobody_but_stderr():
    told = []
    ag.dimension(ag.DeepNetwork((2, 2), (2,)), progress=told.append)
    assert told
    ag.ideal(ag.Network([ag.Linear(1)], dim=1), 1, step=told.append)
    assert "dimension" in told
    assert ag.dimension(ag.SingleLayer(2, 1), progress=None).dimension == 5


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", [1e30, 1e200])
def test_training_from_weights_beyond_all_bounds_is_divergence(scale, monkeypatch):
    def svd(A, *arguments, **options):  # as the LAPACKs that refuse infinities
        if not np.isfinite(A).all():
            raise np.linalg.LinAlgError("SVD did not converge")
        return found(A, *arguments, **options)

    found = np.linalg.svd
    monkeypatch.setattr(np.linalg, "svd", svd)
    [run] = ag.train(ag.SingleLayer(2, 1), seeds=1, scale=scale)
    assert run["outcome"] == "diverged"


def test_the_degree_is_known_by_the_argument_that_is_named():
    at_two, at_one = (ag.degree(ag.SingleLayer(2, 1, 1, t=t)) for t in (2, 1))
    assert (at_two.degree, at_two.reason.partition(":")[0]) == (3, "intersection theory")
    assert (at_one.degree, at_one.reason) == (1, "M̄ is all of the space")
