"""Elements of a lane as machine words: how several travel in one access, and how narrow ones wait in registers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from teenybuild.compiler.lower.text import Text
from teenybuild.dtypes import DType


def size_of(carrier: str) -> int:
    """Bytes of an LLVM scalar type."""
    if carrier.startswith("ptr"):
        return 8
    return {"float": 4, "double": 8, "half": 2, "i1": 1}.get(carrier) or int(carrier[1:]) // 8


@dataclass(frozen=True, slots=True)
class Word:
    """How ``count`` elements travel in one predicated access: as ``words`` machine words."""

    carrier: str
    per_word: int
    words: int
    type: str
    suffix: str
    constraint: str

    @staticmethod
    def of(dtype: DType, carrier: str, count: int) -> Word:
        total = dtype.size * count
        size = min(max(dtype.size, 4), total) if dtype.size < 4 else dtype.size
        words = total // size
        bits = 8 * size
        constraint = {8: "h", 16: "h", 32: "r", 64: "l"}[bits]
        return Word(
            carrier, count // words, words, f"i{max(bits, 16) if bits == 8 else bits}", f"b{bits}", constraint
        )

    @property
    def zero(self) -> str:
        return "0"

    def pack(self, text: Text, values: Sequence[str]) -> list[str]:
        """Elements as words."""
        return [
            self._pack_one(text, values[i : i + self.per_word]) for i in range(0, len(values), self.per_word)
        ]

    def _pack_one(self, text: Text, values: Sequence[str]) -> str:
        if self.per_word == 1:
            if self.carrier == self.type:
                return values[0]
            if self.carrier == "i8":
                return text.op(f"zext i8 {values[0]} to {self.type}")
            opcode = "ptrtoint" if self.carrier.startswith("ptr") else "bitcast"
            return text.op(f"{opcode} {self.carrier} {values[0]} to {self.type}")
        vector = "poison"
        type_ = f"<{self.per_word} x {self.carrier}>"
        for i, value in enumerate(values):
            vector = text.op(f"insertelement {type_} {vector}, {self.carrier} {value}, i64 {i}")
        return text.op(f"bitcast {type_} {vector} to {self.type}")

    @property
    def is_whole(self) -> bool:
        """Whether a word is just one element, as it is."""
        return self.per_word == 1 and self.carrier == self.type

    def element(self, text: Text, words: Sequence[str], i: int) -> str:
        """Element ``i`` of what travelled as ``words``."""
        word = words[i // self.per_word]
        if self.per_word > 1:
            type_ = f"<{self.per_word} x {self.carrier}>"
            vector = text.op(f"bitcast {self.type} {word} to {type_}")
            return text.op(f"extractelement {type_} {vector}, i64 {i % self.per_word}")
        if self.carrier == "i8":
            return text.op(f"trunc {self.type} {word} to i8")
        return text.op(f"bitcast {self.type} {word} to {self.carrier}")


class Packed(Sequence[str]):
    """Elements that stay packed in words until they are used: a narrow one taken out fills a whole register for as long as it waits."""

    def __init__(self, text: Text, word: Word, words: Sequence[str]) -> None:
        self._text = text
        self.word = word
        self.words = words
        self._made: dict[tuple[str | int, int], str] = {}

    def __len__(self) -> int:
        return len(self.words) * self.word.per_word

    def __getitem__(self, i: int) -> str:  # type: ignore[override]  # no slices
        if i >= len(self):
            raise IndexError(i)
        # What stands earlier in a block is seen by all that follows; another block, or a slot, takes it out again.
        key = (self._text.place, i)
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = self.word.element(self._text, self.words, i)
        return made


def numbered(first: int, count: int) -> str:
    """So many operands of a piece of assembly as one vector, by their numbers."""
    return f"{{{', '.join(f'${first + i}' for i in range(count))}}}"


def gathered(text: Text, carrier: str, values: Sequence[str]) -> tuple[str, str]:
    """Values as one vector, with its type."""
    if len(values) == 1:
        return values[0], carrier
    type_ = f"<{len(values)} x {carrier}>"
    vector = "poison"
    for i, value in enumerate(values):
        vector = text.op(f"insertelement {type_} {vector}, {carrier} {value}, i64 {i}")
    return vector, type_


def recast(text: Text, to: str, value: str, type_: str) -> str:
    """The same bits in another type."""
    return value if type_ == to else text.op(f"bitcast {type_} {value} to {to}")
