"""A simulation that is interrupted ends, whatever Python was doing when the signal came."""

from __future__ import annotations

import os
import signal

import pytest

from aks_dra.simulate.entry import interruptible

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


class Freed:
    def __del__(self) -> None:
        os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_that_python_passes_over_still_ends_the_run() -> None:
    went_on = []

    def run() -> None:
        with interruptible():
            Freed()
            went_on.append(True)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        run()
    assert went_on == [True]
    assert signal.getsignal(signal.SIGINT) is before


def test_sigterm_ends_it_at_once() -> None:
    def run() -> None:
        with interruptible():
            os.kill(os.getpid(), signal.SIGTERM)
            pytest.fail("it went on")

    with pytest.raises(KeyboardInterrupt):
        run()
