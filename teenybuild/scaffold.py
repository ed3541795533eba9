"""``teenybuild init``: a manifest and a first kernel to start from."""

from __future__ import annotations

from pathlib import Path

from teenybuild.diagnostics import error

_KERNEL = '''"""A first kernel: adds two vectors."""

import teenybuild
import teenybuild.language as tl


@teenybuild.jit
def vector_add(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    a = tl.load(a_ptr + offsets, mask=mask)
    b = tl.load(b_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, a + b, mask=mask)
'''


def _manifest() -> str:
    import tomlkit

    document = tomlkit.document()
    document.add("edition", tomlkit.item(1))
    document.add(tomlkit.nl())
    build = tomlkit.table()
    build.add("targets", tomlkit.item(["cpu", "sm_90a"]))
    build["targets"].comment("sm_75 … sm_121 for GPUs, cpu for this machine")
    document.add("build", build)
    kernel = tomlkit.table()
    kernel.add("source", "vector_add.py")
    kernel.add("args", tomlkit.value('{ a_ptr = "*D", b_ptr = "*D", out_ptr = "*D", n = "i32" }'))
    kernel.add("dtypes", tomlkit.value('{ D = ["f32", "f16"] }'))
    kernel.add("const", tomlkit.value("{ BLOCK = 1024 }"))
    kernel.add("grid", ["cdiv(n, BLOCK)"])
    kernel.add("outputs", ["out_ptr"])
    kernels = tomlkit.table(is_super_table=True)
    kernels.add("vector_add", kernel)
    document.add("kernel", kernels)
    return tomlkit.dumps(document)


def create(directory: Path) -> list[Path]:
    """Writes the two files; never over one that is there. Raises :class:`UserError`."""
    files = {directory / "kernels.toml": _manifest(), directory / "kernels" / "vector_add.py": _KERNEL}
    there = [path for path in files if path.exists()]
    if there:
        raise error(
            f"{' and '.join(map(str, there))} {'is' if len(there) == 1 else 'are'} already there",
            hint="init never overwrites; give another directory",
        )
    try:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as wrong:
        raise error(f"cannot write {wrong.filename}: {wrong.strerror}") from None
    return list(files)
