"""Packages as files in a process: several at once, moved, built again, damaged, unloaded, forked."""

from __future__ import annotations

import importlib
import platform
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from teenybuild.loader import write_package

from .manifests import VECTOR_ADD
from .packages import built, imported, install


def add(kernels: Any, n: int = 100) -> list[float]:
    a, b = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
    out = np.full(n, np.nan, np.float32)
    kernels.vector_add(a, b, out, n)
    return out.tolist()


SUM = [float(n + 1) for n in range(100)]

#: Another kernel that exports the same symbols.
OTHER = """
[kernel.vector_add]
source = "other.py"
args = { a_ptr = "*D", b_ptr = "*D", out_ptr = "*D", n_elements = "i32" }
dtypes = { D = ["f32", "f16", "bf16"] }
const = { BLOCK_SIZE = [128, 1024] }
grid = ["cdiv(n_elements, BLOCK_SIZE)"]
"""
DIFFERENCE = [float(n - 1) for n in range(100)]


def mapped(directory: Path) -> list[str]:
    """The artifacts of a package that are in memory."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return sorted({Path(line.split()[-1]).name for line in lines if str(directory) in line})


def test_two_packages_with_the_same_symbols(tmp_path: Path) -> None:
    with imported(install(VECTOR_ADD, tmp_path)) as one, imported(install(OTHER, tmp_path)) as other:
        for _ in range(2):
            assert add(one) == SUM
            assert add(other) == DIFFERENCE
        assert one.LaunchError is not other.LaunchError


def test_one_package_in_two_places(tmp_path: Path) -> None:
    with imported(install(VECTOR_ADD, tmp_path)) as one, imported(install(VECTOR_ADD, tmp_path)) as other:
        assert add(one) == add(other) == SUM
        one.vector_add.unload()
        assert add(other) == SUM


def test_moved(tmp_path: Path) -> None:
    directory = install(VECTOR_ADD, tmp_path)
    moved = tmp_path / "élsewhere  with $paces" / "moved_package"
    moved.parent.mkdir()
    shutil.move(directory, moved)
    with imported(moved) as kernels:
        assert add(kernels) == SUM


def test_from_another_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package found by a relative path goes on working after a change of directory."""
    directory = install(VECTOR_ADD, tmp_path)
    program = f"""
        import os, sys
        sys.path.insert(0, ".")
        import numpy as np
        from {directory.name} import vector_add
        os.chdir("/")
        out = np.zeros(4, np.float32)
        vector_add(np.ones(4, np.float32), np.ones(4, np.float32), out, 4)
        assert out.tolist() == [2] * 4
    """
    subprocess.run(
        [sys.executable, "-I", "-c", textwrap.dedent(program)], cwd=tmp_path, check=True, timeout=60
    )


def test_built_again_in_the_same_process(tmp_path: Path) -> None:
    """The dynamic loader keeps what it has under a path; a package imported again must run its new code all the same."""
    directory = install(OTHER, tmp_path, "rebuilt")
    with imported(directory) as kernels:
        first = kernels
        assert add(first) == DIFFERENCE
    files = {path: data for path, data in built(VECTOR_ADD).files.items() if "sm_90a" not in path}
    write_package(files, directory)
    with imported(directory) as kernels:
        assert add(kernels) == SUM
    # What was imported before still has its own code in memory.
    assert add(first) == DIFFERENCE


def test_built_again_under_a_package_in_use(tmp_path: Path) -> None:
    directory = install(OTHER, tmp_path, "replaced")
    with imported(directory) as kernels:
        assert kernels.vector_add.pick(*[np.zeros(1, np.float32)] * 3, 1)
        write_package(built(VECTOR_ADD).files, directory)
        with pytest.raises(kernels.LaunchError, match="has changed since it was generated"):
            add(kernels)


def changed_byte(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (changed_byte, "has changed since it was generated; build the package again"),
        (lambda path: path.write_bytes(path.read_bytes()[:100]), "has changed since it was generated"),
        (lambda path: path.write_bytes(b""), "has changed since it was generated"),
        (Path.unlink, "cannot be read: No such file or directory; build the package again"),
    ],
)
def test_damaged(tmp_path: Path, damage: Any, message: str) -> None:
    directory = install(VECTOR_ADD, tmp_path)
    path = directory / "_artifacts" / "cpu" / "vector_add__f32__128.so"
    damage(path)
    with imported(directory) as kernels:
        with pytest.raises(kernels.LaunchError) as caught:
            add(kernels)
        assert str(caught.value).startswith(f"vector_add__f32__128: {path} ")
        assert message in str(caught.value)
        # The others are whole.
        out = np.zeros(4, np.float32)
        kernels.vector_add(np.ones(4, np.float32), np.ones(4, np.float32), out, 4, BLOCK_SIZE=1024)
        assert out.tolist() == [2] * 4


def test_what_is_no_shared_object(tmp_path: Path) -> None:
    """A file that is what was generated, and cannot be loaded."""
    found = built(VECTOR_ADD)
    from teenybuild.loader import Image, generate

    images = {
        "cpu": {id: Image(image.description, {"so": b"not ELF"}) for id, image in found.images["cpu"].items()}
    }
    write_package(generate(found.plan.manifest, found.plan.specialisations, images), tmp_path / "broken")
    with (
        imported(tmp_path / "broken") as kernels,
        pytest.raises(kernels.LaunchError, match="cannot be loaded"),
    ):
        add(kernels)


def test_another_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with imported(install(VECTOR_ADD, tmp_path)) as kernels:
        monkeypatch.setattr(platform, "machine", lambda: "riscv64")
        with pytest.raises(
            kernels.LaunchError, match="cannot run here: it is for x86_64, and this machine is riscv64"
        ):
            add(kernels)


def test_an_older_processor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = install(VECTOR_ADD, tmp_path)
    (tmp_path / "cpuinfo").write_text("processor : 0\nflags : fpu sse2 avx bmi1 abm f16c movbe fma\n")
    with imported(directory) as kernels:
        processor = importlib.import_module(f"{directory.name}._runtime.processor")
        monkeypatch.setattr(processor, "_CPUINFO", tmp_path / "cpuinfo")
        with pytest.raises(
            kernels.LaunchError, match="cannot run here: it needs a processor with avx2, bmi2"
        ):
            add(kernels)


def test_a_system_that_does_not_say_what_its_processor_can_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = install(VECTOR_ADD, tmp_path)
    with imported(directory) as kernels:
        processor = importlib.import_module(f"{directory.name}._runtime.processor")
        monkeypatch.setattr(processor, "_CPUINFO", tmp_path / "nowhere")
        assert add(kernels) == SUM


def test_unloading(tmp_path: Path) -> None:
    directory = install(VECTOR_ADD, tmp_path)
    with imported(directory) as kernels:
        assert mapped(directory) == []
        assert add(kernels) == SUM
        assert mapped(directory) == ["vector_add__f32__128.so"]
        kernels.vector_add.unload()
        assert mapped(directory) == []
        with pytest.raises(kernels.LaunchError, match="it was unloaded"):
            add(kernels)
        kernels.vector_add.load()
        assert len(mapped(directory)) == 10
        assert add(kernels) == SUM
        spec = kernels.vector_add.spec(D="f16")
        spec.unload()
        spec.unload()
        assert len(mapped(directory)) == 9


def test_unloading_during_launches(tmp_path: Path) -> None:
    """A launch keeps the code that it runs: unloading takes it away only from later ones."""
    import threading

    with imported(install(VECTOR_ADD, tmp_path)) as kernels:
        stop = threading.Event()
        wrong: list[BaseException] = []

        def launches() -> None:
            try:
                while not stop.is_set():
                    try:
                        found = add(kernels, 100)
                    except kernels.LaunchError as error:
                        # One of two things happens: it runs, or it says so.
                        found = SUM if "unloaded" in str(error) else []
                    assert found == SUM
            except BaseException as error:
                wrong.append(error)

        threads = [threading.Thread(target=launches) for _ in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(40):
            kernels.vector_add.unload()
            kernels.vector_add.load()
        stop.set()
        for thread in threads:
            thread.join(60)
        assert not wrong


def test_first_calls_from_many_threads(tmp_path: Path) -> None:
    import threading

    with imported(install(VECTOR_ADD, tmp_path)) as kernels:
        together = threading.Barrier(8)
        results: list[list[float]] = []

        def first() -> None:
            together.wait()
            results.append(add(kernels))

        threads = [threading.Thread(target=first) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert results == [SUM] * 8


def test_forked(tmp_path: Path) -> None:
    """A child goes on with what its parent has loaded, and makes its own threads, whatever the parent's were doing."""
    directory = install(VECTOR_ADD, tmp_path)
    program = f"""
        import os, sys, threading
        sys.path.insert(0, {str(tmp_path)!r})
        import numpy as np
        from {directory.name} import vector_add
        from {directory.name}._runtime import pool
        os.sched_getaffinity = lambda pid: set(range(4))
        pool._ALONE = -1.0
        n = 1 << 18
        a, b = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
        def run(**consts):
            out = np.full(n, np.nan, np.float32)
            vector_add(a, b, out, n, **consts)
            return bool((out == a + b).all())
        assert run()
        stop = threading.Event()
        def busy():
            while not stop.is_set():
                run()
        threads = [threading.Thread(target=busy) for _ in range(2)]
        for thread in threads:
            thread.start()
        for _ in range(20):
            child = os.fork()
            if child == 0:
                os._exit(0 if run() and run(BLOCK_SIZE=1024) else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        stop.set()
        for thread in threads:
            thread.join()
        assert run()
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True, timeout=120)


def test_worker_processes(tmp_path: Path) -> None:
    """Forked and spawned ones; what goes wrong in them comes back whole."""
    directory = install(VECTOR_ADD, tmp_path)
    program = f"""
        import multiprocessing, sys
        sys.path.insert(0, {str(tmp_path)!r})
        import numpy as np
        import {directory.name} as kernels

        def work(n):
            out = np.zeros(n, np.float32)
            kernels.vector_add(np.ones(n, np.float32), np.ones(n, np.float32), out, n)
            return out.sum()

        def wrong(n):
            kernels.vector_add(n)

        if __name__ == "__main__":
            for method in ("fork", "spawn"):
                with multiprocessing.get_context(method).Pool(2) as workers:
                    assert workers.map(work, [1, 10, 100]) == [2, 20, 200]
                    try:
                        workers.map(wrong, [5])
                    except kernels.LaunchError as error:
                        assert "b_ptr: missing" in str(error), error
    """
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(program))
    subprocess.run([sys.executable, str(path)], check=True, timeout=120)
