"""Kernels without the compiler: numpy then reports every overflow, and coverage sees the lines."""

import importlib.util

import numba


def plain_copy(module):
    """Return a copy of a module of kernels as if numba were not there."""
    before, numba.config.DISABLE_JIT = numba.config.DISABLE_JIT, True
    spec = importlib.util.spec_from_file_location(f"{module.__name__}_plain", module.__file__)
    copy = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(copy)
    numba.config.DISABLE_JIT = before
    return copy


def compiled_or_plain(request, monkeypatch, module):
    """Put the plain kernels in place of the compiled ones if the parameter says so, and return it."""
    if request.param == "plain":
        copy = request.getfixturevalue("plain")
        for name in copy.__all__:
            monkeypatch.setattr(module, name, getattr(copy, name))
    return request.param
