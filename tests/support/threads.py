"""Work done by many threads at once."""

from __future__ import annotations

import threading
from collections.abc import Callable

#: How many.
THREADS = 8


def together(work: Callable[[int], None]) -> list[BaseException]:
    """Gives each thread its number; what went wrong in any of them."""
    wrong: list[BaseException] = []

    def run(number: int) -> None:
        try:
            work(number)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return wrong
