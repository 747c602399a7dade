"""What a review of the language found broken: graph mode and the eager op mode do what Python does."""

from __future__ import annotations

import bisect
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

import autograph as ag
from autograph.errors import StagingError
from tests.programs.oracle import difference, outcome

PLAIN = ag.do_not_convert


def agrees(fn: Callable[..., Any], *calls: tuple[Any, ...]) -> None:
    """Both modes do what plain Python does, for each call in turn."""
    graph = ag.to_graph(fn)

    def ops(*args: Any) -> Any:
        with ag.eager(ops=True):
            return graph(*args)

    for args in calls:
        expected = outcome(fn, lambda args=args: _fresh(args))  # type: ignore[misc]
        for run in (graph, ops):
            got = outcome(run, lambda args=args: _fresh(args))  # type: ignore[misc]
            found = difference(expected, got)
            assert found is None, f"{run.__name__}{args}: {found}"


def _fresh(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(list(a) if isinstance(a, list) else a for a in args)


def perms(xs: list[int]) -> list[list[int]]:
    if not xs:
        return [[]]
    out = []
    for i, x in enumerate(xs):
        for p in perms(xs[:i] + xs[i + 1 :]):
            out.append([x] + p)
    return out


def test_recursion_on_ever_new_lists_ends_and_agrees() -> None:
    agrees(perms, ([1, 2, 3],), ([],))


def queens(n: int, row: int = 0, cols: tuple[int, ...] = ()) -> int:
    if row == n:
        return 1
    return sum(
        queens(n, row + 1, (*cols, c))
        for c in range(n)
        if all(c != d and abs(c - d) != row - r for r, d in enumerate(cols))
    )


def test_recursion_on_growing_tuples_ends_and_agrees() -> None:
    agrees(queens, (4,), (1,))


class Tree:
    def __init__(self, key: int) -> None:
        self.key = key
        self.left: Tree | None = None
        self.right: Tree | None = None

    def insert(self, key: int) -> None:
        if key < self.key:
            if self.left is None:
                self.left = Tree(key)
            else:
                self.left.insert(key)
        elif self.right is None:
            self.right = Tree(key)
        else:
            self.right.insert(key)

    def depth(self) -> int:
        return 1 + max(self.left.depth() if self.left else 0, self.right.depth() if self.right else 0)


def test_a_tree_grown_by_a_recursive_method_agrees() -> None:
    def grown(keys: list[int]) -> Any:
        tree = Tree(keys[0])
        for key in keys[1:]:
            tree.insert(key)
        return tree.depth(), tree

    agrees(grown, ([5, 2, 8, 1, 9, 3],), ([1],))


class Link:
    def __init__(self, value: int, next: Link | None = None) -> None:
        self.value, self.next = value, next

    def __iter__(self) -> Any:
        link: Link | None = self
        while link is not None:
            yield link.value
            link = link.next


def test_a_linked_list_that_may_be_none_is_run_over() -> None:
    def linked(n: int) -> Any:
        head = None
        for i in range(n):
            head = Link(i, head)
        out = []
        if head is not None:
            for value in head:
                out.append(value)
        return out, head

    agrees(linked, (4,), (0,))


def test_one_of_two_lists_is_run_over_as_what_it_is() -> None:
    def chosen(first: bool) -> Any:
        a: list[Any] = [[]]
        b = [1, 2, 3]
        c = a if first else b
        count = 0
        for _ in c:
            count += 1
        return count, len(c), [1 for _ in c], c[-1]

    agrees(chosen, (True,), (False,))


def test_one_of_two_objects_of_a_class_is_read_as_what_it_is() -> None:
    class Held:
        def __init__(self, value: Any) -> None:
            self.value = value

    def chosen(first: bool) -> Any:
        a, b = Held("p"), Held([1])
        c = a if first else b
        return c.value

    agrees(chosen, (True,), (False,))


def copied(d: dict[str, int]) -> dict[str, int]:
    return d.copy()


def test_copies_of_different_dicts_at_one_place_keep_their_own_keys() -> None:
    def copies(n: int) -> Any:
        a, b, c = copied({"a": 1}), copied({"a": 1, "b": n}), copied({"b": n, "a": 1})
        return list(a), list(b), list(c), len(a), [*a.values()], [*b.items()]

    agrees(copies, (3,))


class Sparse:
    def __init__(self) -> None:
        self.always = 1

    @property
    def derived(self) -> int:
        return self.later  # type: ignore[attr-defined, no-any-return]


class Answering:
    def __getattr__(self, name: str) -> str:
        if name.startswith("_"):
            raise AttributeError(name)
        return name + "?"


def test_hasattr_and_getattr_see_what_an_object_has_now() -> None:
    def asked(n: int) -> Any:
        o: Any = Sparse()
        if n > 1:
            o.x = n
        before = hasattr(o, "x"), getattr(o, "x", "none"), hasattr(o, "derived"), hasattr(o, "always")
        o.later = 5
        del o.always
        return before, hasattr(o, "always"), hasattr(o, "derived"), getattr(o, "derived", 0)

    agrees(asked, (3,), (0,))


def test_getattr_with_a_default_asks_the_class_getattr() -> None:
    def asked(n: int) -> Any:
        o: Any = Answering()
        return getattr(o, "z", n), hasattr(o, "_q"), getattr(o, "_q", n), hasattr(o, "k")

    agrees(asked, (3,))


def test_the_cause_of_an_exception_is_none_where_there_is_none() -> None:
    def caught(n: int) -> Any:
        try:
            return {1: 2}[n]
        except KeyError as e:
            return e.__cause__ is None, e.__context__ is None, e.args == (n,)

    agrees(caught, (3,), (1,))


class Coded(Exception):
    def __init__(self, code: int, message: str = "") -> None:
        super().__init__(message)
        self.code = code


def test_an_attribute_of_an_exception_is_compared_by_its_value() -> None:
    def caught(n: int) -> Any:
        try:
            raise Coded(n, "m")
        except Coded as e:
            return e.code == 3, e.code is None, e.code != 3, str(e), e.args

    agrees(caught, (3,), (0,))


def changing(a: int, b: Any = 2, *, k: Any = 3) -> Any:
    return a + b * k


def test_defaults_are_read_at_the_call() -> None:
    graph = ag.to_graph(lambda n: changing(n))
    assert graph(2) == 8
    changing.__defaults__ = (5,)
    try:
        assert graph(2) == 17
        changing.__kwdefaults__["k"] = 1.5
        assert graph(2) == 9.5
        with ag.eager(ops=True):
            assert graph(2) == 9.5
    finally:
        changing.__defaults__ = (2,)
        changing.__kwdefaults__["k"] = 3


@dataclass
class Point:
    x: int
    tags: list[Any] = field(default_factory=list)


def test_a_dataclass_is_printed() -> None:
    def printed(n: int) -> Any:
        p = Point(n)
        p.tags.append(n)
        print(p, f"{p} {p!r}", str(p))
        return p

    agrees(printed, (3,))


@PLAIN
def appended(items: list[Any], value: Any) -> None:
    items.append(value)


def test_a_host_call_may_change_the_length_of_a_list() -> None:
    def lengths(n: int) -> Any:
        items = [1, 2]
        appended(items, n)
        total = 0
        for _ in items:
            total += 1
        return items, len(items), total, items[-1]

    agrees(lengths, (3,))


def test_a_host_call_that_puts_a_new_type_into_a_list_is_refused() -> None:
    def mixed(n: int) -> Any:
        items = [1, n, 5]
        bisect.insort(items, 2.5)
        total = 0
        for value in items:
            total += value
        return total

    with pytest.raises(StagingError, match="not converted, put a value of a new type"):
        ag.to_graph(mixed)(3)


def test_a_class_made_in_the_function_is_not_changed_by_a_call() -> None:
    def counted(n: int) -> Any:
        class Counter:
            count = 0

            def more(self) -> int:
                Counter.count += 1
                return self.count

        counter = Counter()
        for _ in range(n):
            counter.more()
        return Counter.count

    with pytest.raises(StagingError, match="the attribute 'count' of the class 'Counter'"):
        ag.to_graph(counted)(3)


def test_a_class_made_in_the_function_holds_constants_only() -> None:
    def held(n: int) -> Any:
        class Holder:
            items: list[int] = []

            def add(self, item: int) -> None:
                self.items.append(item)

        Holder().add(n)
        return Holder.items

    with pytest.raises(StagingError, match="has an attribute 'items' that is no constant"):
        ag.to_graph(held)(3)


class Finer(Coded):
    kind = "finer"


MADE: list[float] = []


class Noted(Exception):
    def __init__(self, x: float) -> None:
        MADE.append(x)
        self.x = x


def test_attributes_of_an_exception_are_computed_with() -> None:
    def caught(n: int) -> Any:
        try:
            if n > 5:
                raise Finer(n, "f")
            raise Coded(n, "m")
        except Finer as e:
            e.code += 1
            return e.kind, e.code * 2
        except Coded as e:
            more = hasattr(e, "code"), getattr(e, "kind", "none")
            return (e.code + 1, more) if e.code > 2 else ("small", more)

    agrees(caught, (3,), (0,), (7,))


def test_what_the_constructor_of_an_exception_writes_is_seen() -> None:
    def noted(n: int) -> Any:
        before = len(MADE)
        try:
            raise Noted(n * 1.5)
        except Noted as e:
            x = e.x
        return len(MADE) - before, x

    agrees(noted, (3,), (0,))


def test_the_arguments_of_an_exception_kept_after_a_loop_are_read() -> None:
    def kept(n: int) -> Any:
        error = None
        for i in range(n):
            try:
                if i % 2:
                    raise ValueError(i)
            except ValueError as e:
                error = e
        return error.args[0], str(error)  # type: ignore[union-attr]

    agrees(kept, (5,), (0,))


class Bag:
    def __init__(self, *items: Any) -> None:
        self.items = list(items)

    def __iter__(self) -> Any:
        yield from self.items


class Squares:
    def __init__(self, n: int) -> None:
        self.n = n

    def __getitem__(self, i: int) -> int:
        if i >= self.n:
            raise IndexError(i)
        return i * i


class UpTo:
    def __init__(self, n: int) -> None:
        self.i, self.n = 0, n

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> int:
        if self.i >= self.n:
            raise StopIteration
        self.i += 1
        return self.i


def test_objects_are_spread_and_searched_as_python_iterates_over_them() -> None:
    def spread(n: int) -> Any:
        b, out = Bag(n, 1, 2), []
        out.append([*b, *Squares(n), *UpTo(n)])
        out.append((*b, 5))
        x, *y = b
        try:
            reversed(b)  # type: ignore[call-overload]
        except TypeError as e:
            out.append(str(e))
        for i, value in enumerate(Squares(n)):
            out.append((i, value))
        found = n in b, 7 in b, 4 in Squares(n), 2 in UpTo(n)
        return out, x, y, found, sum(UpTo(n)), list(zip(UpTo(n), b))

    agrees(spread, (3,), (0,))


class Rounded:
    def __init__(self, n: int) -> None:
        self.n = n

    def __round__(self, digits: int = 0) -> Any:
        return self.n, digits

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rounded) and self.n == other.n


def test_round_passes_the_number_of_digits_to_the_method() -> None:
    agrees(lambda n: (round(Rounded(n)), round(Rounded(n), 2)), (3,))


def test_in_asks_the_eq_of_objects() -> None:
    agrees(lambda n: (Rounded(n) in [Rounded(1), Rounded(3)], n in [Rounded(1)]), (3,), (0,))


def even(n: int) -> bool:
    return True if n == 0 else odd(n - 1)


def odd(n: int) -> bool:
    return False if n == 0 else even(n - 1)


def test_recursion_that_python_allows_is_allowed_in_the_eager_op_mode() -> None:
    agrees(even, (600,))


class Pair:
    def __init__(self, x: int, y: int) -> None:
        self.x, self.y = x, y

    def __lt__(self, other: Pair) -> bool:
        return (self.x, self.y) < (other.x, other.y)


def test_tuples_are_compared_item_by_item() -> None:
    def compared(a: int, b: int) -> Any:
        p, q = (a, b), (b, a)
        return p < q, p >= q, (a, 1) < (b, 2), (a, b) <= (b, a) <= (9,), Pair(a, b) < Pair(b, a)

    agrees(compared, (3, 4), (3, 3), (4, 3))


def test_in_of_an_object_that_is_not_iterable_raises_as_python_does() -> None:
    def asked(n: int) -> Any:
        try:
            return n in Pair(n, n)  # type: ignore[operator]
        except TypeError as e:
            return str(e)

    agrees(asked, (3,))


def test_enumerate_map_filter_and_zip_ask_a_generator_for_one_item_at_a_time() -> None:
    def interleaved(n: int) -> None:
        def made() -> Any:
            for i in range(n):
                print("make", i)
                yield i
            print("end")

        for i, v in enumerate(made(), 5):
            print(i, v)
        for v in map(lambda x: x + 1, made()):
            print(v)
        for v in filter(lambda x: x % 2 == 0, made()):
            print(v)
        for a, b in zip(made(), [7, 8]):
            print(a, b)
        for a, b in zip([7, 8], made()):
            print(a, b)
        for i, v in enumerate(made()):
            if v == 1:
                break

    agrees(interleaved, (3,), (0,), (2,))


def test_unpacking_asks_a_generator_for_one_item_too_many_only() -> None:
    def unpacked(n: int) -> Any:
        log = []

        def made() -> Any:
            for i in range(n):
                log.append(i)
                yield i

        try:
            a, b = made()
        except ValueError as e:
            return log, str(e)
        return log, a, b

    agrees(unpacked, (4,), (2,), (1,))


def test_a_map_object_that_is_used_twice_is_refused() -> None:
    def twice(n: int) -> Any:
        m = map(str, [1, n])
        return list(m), list(m)

    with pytest.raises(StagingError, match="a map object is used twice"):
        ag.to_graph(twice)(3)


def test_a_generator_made_outside_a_loop_and_used_inside_is_refused() -> None:
    def inside(n: int) -> Any:
        items, out = (i for i in [1, 2]), []
        for _ in range(n):
            for v in items:
                out.append(v)
        return out

    with pytest.raises(StagingError, match="is used twice"):
        ag.to_graph(inside)(3)


def test_iterators_have_no_len() -> None:
    def lengths(n: int) -> Any:
        try:
            return len(map(str, [n]))  # type: ignore[arg-type]
        except TypeError as e:
            return str(e)

    agrees(lengths, (3,))


def passing(f: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return f(*args, **kwargs)

    return wrapper


@passing
def scaled(x: Any, by: Any = 2) -> Any:
    return x * by


def test_a_wrapper_passes_on_the_keywords_of_each_call() -> None:
    agrees(lambda n: (scaled(n), scaled(n, by=2.5), scaled(x=n)), (3,))


class Base:
    def method(self) -> Any:
        return "base"

    def __add__(self, other: Any) -> Any:
        return "add"


class Derived(Base):
    pass


def test_a_method_that_is_replaced_between_calls_is_seen() -> None:
    graph = ag.to_graph(lambda n: (Derived().method(), Derived() + n))
    assert graph(1) == ("base", "add")
    Base.__add__ = lambda self, other: other  # type: ignore[method-assign]
    assert graph(1) == ("base", 1)
    Derived.method = lambda self: "derived"  # type: ignore[method-assign]
    assert graph(1) == ("derived", 1)
    del Derived.method
    assert graph(1) == ("base", 1)


def test_an_attribute_that_a_class_gets_between_calls_is_seen() -> None:
    class Plain:
        pass

    graph = ag.to_graph(lambda o: (hasattr(o, "late"), getattr(o, "late", 0)))
    assert graph(Plain()) == (False, 0)
    Plain.late = 4  # type: ignore[attr-defined]
    assert graph(Plain()) == (True, 4)


def test_the_longest_of_no_words_is_the_default() -> None:
    agrees(lambda s: max(s.split(), key=len, default="none"), ("a long word",), ("",))


def test_sys_stdout_is_looked_up_at_each_call() -> None:
    def written(n: int) -> None:
        print("a", n, file=sys.stdout)
        sys.stdout.write(f"{n}\n")

    agrees(written, (3,), (0,))


def test_builtins_that_raise_on_known_values_do_so_when_the_graph_runs() -> None:
    def none_is_no_container(n: Any) -> Any:
        return 3 not in None  # type: ignore[operator]

    def no_class(n: Any) -> Any:
        return isinstance(3, 4)  # type: ignore[arg-type]

    def no_class_either(n: Any) -> Any:
        return issubclass(3, int)  # type: ignore[arg-type]

    def not_ordered(n: Any) -> Any:
        x = None
        return x < n if n < 0 else x < [3]

    def nothing(n: Any) -> Any:
        return max()  # type: ignore[call-overload]

    for fn in (none_is_no_container, no_class, no_class_either, not_ordered, nothing):
        with pytest.raises(TypeError) as plain:
            fn(1)
        with pytest.raises(TypeError) as staged:
            ag.to_graph(fn)(1)
        assert str(staged.value) == str(plain.value)


def test_a_parameter_may_be_local_to_a_branch() -> None:
    def f(n: Any, a: Any) -> Any:
        if n == 7:
            return 0
        if n > 0:
            a = n
        else:
            a = -n
        b = a
        n, a = a, n
        return b

    staged = ag.to_graph(f)
    for n in (7, 3, -3):
        assert staged(n, 1) == f(n, 1)


def test_a_slice_of_a_list_takes_the_items_of_any_iterable() -> None:
    def f(n: int) -> Any:
        items: list[Any] = list(range(n))
        items[: n - 1] = reversed(items[: n - 1])
        items[1:2] = (i * i for i in range(n))
        items[:0] = map(str, range(2))
        items[-1:] = enumerate("ab")
        return items

    agrees(f, (4,), (1,), (6,))


class Modular:
    def __init__(self, value: int) -> None:
        self.value = value

    def __pow__(self, exponent: int, modulus: Any = None) -> Any:
        return self.value, exponent, modulus


def test_pow_gives_the_modulus_to_a_class() -> None:
    def powers(n: int) -> Any:
        return pow(Modular(n), 2), pow(Modular(n), 2, n), pow(n, 2, 5)

    assert ag.to_graph(powers)(3) == powers(3)


def test_a_name_that_one_block_has_for_itself_and_the_next_one_shares() -> None:
    def two_branches(n: int) -> Any:
        if n > 1:
            x = 1
        else:
            x = 2
        if n > 2:
            x = 3
        else:
            x = 4
        return x

    def loops(n: int) -> Any:
        for i in range(n):
            x = i
        for i in range(n + 1):
            x = i * 2
        while n > 0:
            y = n
            n -= 1
        if x > 3:
            y = 5
        else:
            y = 6
        return x, y

    def handlers(n: int) -> Any:
        try:
            x = 10 // n
        except ZeroDivisionError:
            x = -1
        if n:
            x = 2
        else:
            x = n
        try:
            y = x // n
        except ZeroDivisionError:
            y = 0
        for i in range(2):
            y = i
        return x, y

    for n in (0, 1, 2, 3):
        for f in (two_branches, loops, handlers):
            assert ag.to_graph(f)(n) == f(n)


@pytest.mark.parametrize("left", [True, 2.5, 3])
def test_the_message_of_a_remainder_in_place_names_it(left: Any) -> None:
    def fn(n: int) -> Any:
        items = [n]
        value = left
        value %= items
        return value

    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for %=: '\w+' and 'list'"):
        ag.to_graph(fn)(1)
