"""``python -m teenybuild``, and the command ``teenybuild``."""

import os
import sys

from teenybuild.unchanged import nothing_to_do


def main() -> int:
    """Runs one command; its exit code. What a build with nothing to do needs none of is loaded only for others."""
    said = nothing_to_do(sys.argv[1:])
    if said is None:
        from teenybuild.cli import main

        return main()
    try:
        if said:
            print(said, flush=True)
    except BrokenPipeError:
        # Whoever read our output has gone: so do we, quietly.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
