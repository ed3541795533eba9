"""Which specialisations share an edge, and what happens to the edges when the list changes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from teenybuild.chunks import CHUNK, assign

IDS = [f"k__{i}" for i in range(200)]


def test_a_first_build_fills_chunks_in_order() -> None:
    chunks = assign(IDS, [])
    assert [len(c) for c in chunks] == [64, 64, 64, 8]
    assert [m for c in chunks for m in c] == IDS


def test_new_members_go_to_the_last_chunk_wherever_they_stand_in_the_list() -> None:
    before = assign(IDS[:80], [])
    after = assign(["new__0", *IDS[:20], "new__1", *IDS[20:80]], before)
    assert after[0] == before[0]
    assert set(after[1]) == {*before[1], "new__0", "new__1"}


def test_a_member_that_goes_leaves_the_other_chunks_alone() -> None:
    before = assign(IDS, [])
    after = assign([i for i in IDS if i != "k__80"], before)
    assert [after[0], after[2], after[3]] == [before[0], before[2], before[3]]
    assert "k__80" not in after[1]


def test_a_chunk_that_empties_in_the_middle_keeps_its_number() -> None:
    before = assign(IDS, [])
    after = assign(IDS[:64] + IDS[128:], before)
    assert after[1] == []
    assert after[2] == before[2]


@given(st.lists(st.sampled_from(IDS), unique=True), st.lists(st.sampled_from(IDS), unique=True))
def test_every_member_is_in_one_chunk_and_old_ones_stay(first: list[str], second: list[str]) -> None:
    before = assign(first, [])
    after = assign(second, before)
    assert sorted(m for c in after for m in c) == sorted(second)
    where = {m: n for n, c in enumerate(before) for m in c}
    for n, chunk in enumerate(after):
        assert len(chunk) <= CHUNK
        assert all(where.get(m, n) == n for m in chunk)
