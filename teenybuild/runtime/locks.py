"""The one lock of this runtime: held while something is loaded, and across a fork, so that a child finds it free."""

from __future__ import annotations

import os
import threading

#: Held while an index or an artifact is read and loaded. Launches do not take it.
LOADING = threading.RLock()

os.register_at_fork(before=LOADING.acquire, after_in_parent=LOADING.release, after_in_child=LOADING.release)
