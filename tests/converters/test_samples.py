"""Every sample does the same before and after conversion."""

import inspect

import pytest

from tests.converters import (
    samples_expressions,
    samples_flow,
    samples_generators,
    samples_match,
    samples_names,
    samples_try,
)
from tests.converters.oracle import check
from tests.converters.samples import SAMPLES

MODULES = (samples_expressions, samples_flow, samples_generators, samples_match, samples_names, samples_try)
IDS = [f"{function.__module__.rpartition('_')[2]}.{function.__name__}" for function, _ in SAMPLES]


@pytest.mark.parametrize(("function", "calls"), SAMPLES, ids=IDS)
def test_sample_is_unchanged_by_conversion(function, calls):
    check(function, *calls)


def test_every_function_of_the_samples_is_a_sample():
    names = {function.__qualname__ for function, _ in SAMPLES}
    for module in MODULES:
        for name, value in vars(module).items():
            if inspect.isfunction(value) and value.__module__ == module.__name__:
                assert name in names or name in ("risky", "made_function"), name
