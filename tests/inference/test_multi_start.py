"""The best of several starts, with climbs that are made up."""

import pytest

from halfseen.inference.model import Convergence, EMResult
from halfseen.inference.multi_start import (
    EVERY,
    MANY_ROWS,
    SAME,
    EMStart,
    agreed,
    finalists,
    halved,
    one_maximum,
    plan_for,
    plan_of_many,
    screened,
)

N = 100.0


class Hills:
    """A climb that gains a unit a pass up to the height of a start's own hill."""

    def __init__(self, **tops):
        self.tops, self.calls = tops, []

    def __call__(self, here, most):
        name, height = here
        self.calls.append((name, most))
        there = min(height + most, self.tops[name])
        return EMResult((name, there), Convergence(there / N, most, False))

    def starts(self):
        return [EMStart(name, (name, 0.0)) for name in self.tops]


def test_starts_come_back_best_first_with_the_heights_they_reached():
    hills = Hills(moments=3.0, a=8.0, b=5.0)
    found = screened(hills.starts(), hills, N, ((EVERY, 10),))
    assert [one.name for one in found] == ["a", "b", "moments"]
    assert [one.height for one in found] == pytest.approx([8.0, 5.0, 3.0])
    assert [one.passes for one in found] == [10, 10, 10]
    assert found[0].parameters == ("a", 8.0)


def test_after_each_round_the_worse_stay_behind_but_what_the_moments_say_goes_on():
    hills = Hills(moments=1.0, a=2.0, b=3.0, c=4.0, d=5.0)
    found = screened(hills.starts(), hills, N, ((EVERY, 10), (2, 20)))
    assert {name for name, most in hills.calls if most == 20} == {"d", "c", "moments"}
    assert len(found) == 5
    assert {one.name: one.passes for one in found}["a"] == 10


def test_of_climbs_that_are_as_good_as_one_one_goes_on():
    hills = Hills(moments=1.0, a=5.0, b=5.0, c=5.0, d=4.0)
    screened(hills.starts(), hills, N, ((EVERY, 10), (2, 20)))
    assert sorted(name for name, most in hills.calls if most == 20) == ["a", "d", "moments"]


def test_the_same_starts_give_the_same():
    one, other = (
        screened(
            Hills(moments=3.0, a=8.0, b=5.0).starts(), Hills(moments=3.0, a=8.0, b=5.0), N, rounds
        )
        for rounds in [((EVERY, 4), (2, 4))] * 2
    )
    assert one == other


def heights(**of):
    return sorted(
        (EMStart(name, name, height) for name, height in of.items()), key=lambda one: -one.height
    )


def test_with_many_rows_what_the_moments_say_is_never_given_up():
    for best in (0.5, 2.0, 1e3):
        found = heights(moments=0.0, a=best, b=-9.0)
        names = [one.name for one in finalists(found, MANY_ROWS + 1, plan_for(MANY_ROWS + 1))]
        assert names == (["moments", "a"] if best > SAME else ["moments"])


def test_with_few_rows_the_best_are_among_those_that_go_on():
    found = heights(moments=0.0, a=9.0, b=-1.0)
    names = [one.name for one in finalists(found, MANY_ROWS, plan_for(MANY_ROWS))]
    assert {"moments", "a"} <= set(names)


def test_fewer_rows_get_more_starts():
    assert plan_for(1000).n_seeds > plan_for(1e6).n_seeds


@pytest.mark.parametrize(
    ("on", "is_sure"),
    [
        ((9.0, 9.2, 9.4, 9.6), True),
        ((9.0, 9.2, 9.4, 9.6, 2.0), True),
        ((9.0, 9.2, 9.4, 9.6, 2.0, 2.0), False),
        ((9.0, 9.2, 9.4), False),
    ],
)
def test_where_nearly_all_starts_that_went_on_lead_to_one_place_that_is_sure(on, is_sure):
    behind = [EMStart("behind", 0, 1.0, 4)] * 5
    went = [EMStart("on", 0, height, 30) for height in sorted(on, reverse=True)]
    assert one_maximum([*went, *behind]) == is_sure
    assert not one_maximum(went)  # before any stayed behind


def test_once_enough_starts_agree_the_rest_is_left():
    found = heights(moments=-0.5, a=0.0, b=-0.1, c=-9.0)
    assert [one.name for one in agreed(found)] == ["a", "b", "moments"]
    plan = plan_for(MANY_ROWS + 1)
    assert [one.name for one in finalists(found, MANY_ROWS + 1, plan)] == ["moments"]


def test_of_many_starts_the_worse_and_those_that_are_as_good_as_one_are_given_up_for_good():
    hills = Hills(a=9.0, b=9.0, c=8.0, d=7.0, e=1.0)
    found = halved(hills.starts(), hills, N, ((EVERY, 10), (2, 20), (1, 30)))
    assert [name for name, most in hills.calls if most == 20] == ["a", "c"]
    assert [name for name, most in hills.calls if most == 30] == ["a"]
    assert found[0].parameters == ("a", 9.0)
    assert sorted(one.name for one in found) == ["a", "b", "c", "d", "e"]


def test_the_less_a_pass_costs_the_more_starts_there_are():
    seeds = [plan_of_many(n_cells, 3).n_seeds for n_cells in (100, 20_000, 50_000, 1e6)]
    assert seeds == sorted(seeds, reverse=True)
    assert len(set(seeds)) == 4
    assert plan_of_many(50_000, 6).n_seeds < plan_of_many(50_000, 3).n_seeds
