"""Code that is never reached: blocks without a way to them are compiled as any others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autograph as ag


def unbound_after_a_handler(a: Any) -> Any:
    factor = 0.5
    try:
        x = np.where(np.arange(4.0) == a, np.arange(4.0), 1.0) * factor
    except ValueError:
        for i in range(min(int(abs(factor) < 2) + 1, 3), -1, -1):
            raise ValueError(f"bad {i}")
    x = np.ones((4, 3)) + a
    x[i % x.shape[0], 2] = a / (abs(factor) + 1)
    return x


def test_reads_of_what_only_dead_code_binds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_BACKEND", "native")
    with pytest.raises(UnboundLocalError, match="'i'"):
        ag.to_graph(unbound_after_a_handler)(-2)
