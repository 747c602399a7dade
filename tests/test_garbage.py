"""The collector of garbage has its usual pace again after a trace."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import numpy as np
import pytest

import autograph as ag
from autograph.garbage import rarely_collected


@pytest.fixture(autouse=True)
def usual() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_the_pace_is_slower_within_and_comes_back() -> None:
    with rarely_collected():
        slow = gc.get_threshold()
        with rarely_collected():
            assert gc.get_threshold() == slow
        assert gc.get_threshold() == slow
    assert slow[0] > 700 and slow[1:] == (10, 10)
    assert gc.get_threshold() == (700, 10, 10)


def test_what_the_program_sets_stays() -> None:
    with rarely_collected():
        gc.set_threshold(300, 5, 5)
    assert gc.get_threshold() == (300, 5, 5)
    gc.set_threshold(0)
    with rarely_collected():
        assert gc.get_threshold()[0] == 0
    gc.set_threshold(700, 10, 10)


def test_a_call_leaves_the_pace_as_it_was() -> None:
    @ag.to_graph
    def f(x):
        if x.sum() > 10:
            raise ValueError("large")
        return x + 1

    f(np.ones(3))
    assert gc.get_threshold() == (700, 10, 10)
    with pytest.raises(ValueError, match="large"):
        f(np.ones(30))
    assert gc.get_threshold() == (700, 10, 10)
