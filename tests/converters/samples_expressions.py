"""Samples: operators, order of evaluation, assignment targets, displays, calls and f-strings."""

from tests.converters.samples import Log, Spy, sample, tell

N = [(0,), (1,), (2,), (3,), (-4,)]


@sample(*N)
def short_circuits(n):
    return (
        (tell(n > 1, "a") and tell(n, "b")) or tell("c"),
        not tell(n),
        tell(n) and tell(0) and tell(1),
        tell(0) or tell("") or tell(n),
        not (n and not n),
    )


@sample(*N)
def conditional_expression(n):
    return tell("yes") if tell(n, "test") else tell("no")


@sample(*N)
def conditional_nested(n):
    return 1 if n > 2 else 2 if n > 1 else (3 if n else 4)


@sample(*N)
def chain(n):
    return tell(0) < tell(n) <= tell(2), 1 == n == 1, 0 != n != 2 > n, n in [1] in [[1]], n is n is not None


@sample(*N)
def comparisons(n):
    return (
        n == 1,
        n != 2,
        n is None,
        n is not None,
        n in (1, 2),
        n not in {3},
        n == "a",
        1.5 == n,
        -1 == n,
        n <= 1 > 0,
    )


class NoBool:
    def __bool__(self):
        raise ValueError("no truth")

    def __eq__(self, other):
        return self

    def __lt__(self, other):
        return self

    __hash__ = None


@sample(*N)
def no_truth(n):
    x = NoBool()
    r = x == n
    r = x < n
    try:
        return x < n < 3
    except ValueError as e:
        print(e)
    try:
        return not x
    except ValueError as e:
        print(e)
    return x and 1


@sample((7, 3), (-7, 3), (7.5, 2), (6, 0), ("%s!", 3), ("a", 2), ([1], 2))
def arithmetic(a, b):
    out = []
    for f in (
        lambda: a + b,
        lambda: a - b,
        lambda: a * b,
        lambda: a / b,
        lambda: a // b,
        lambda: a % b,
        lambda: 7 % b,
        lambda: a**2,
        lambda: a & b,
        lambda: a | b,
        lambda: a ^ b,
        lambda: a << b,
        lambda: a >> b,
        lambda: a @ b,
        lambda: -a,
        lambda: ~a,
        lambda: +b,
    ):
        try:
            out.append(f())
        except Exception as e:
            out.append((type(e).__name__, str(e)))
    return out


@sample((7, 3), (2.5, 2), ("%s", 2), ([1], [2]))
def augmented(a, b):
    out = []
    x = a
    try:
        x += b
        out.append(x)
        x *= 2
        out.append(x)
        x %= 5
        out.append(x)
        x -= b
        x //= 1
        x **= 2
        x /= 3
        out.append(x)
        x <<= 1
    except TypeError as e:
        out.append(str(e))
    return out, x


@sample(*N)
def augmented_integers(n):
    n <<= 2
    n |= 3
    n &= 14
    n ^= 5
    n >>= 1
    return n


@sample(*N)
def augmented_targets_once(n):
    s = Spy()
    d = [[n], s]
    tell(d, "base")[tell(0, "index")][0] += tell(5, "value")
    tell(s, "obj").count = 1
    tell(s, "obj").count += tell(n, "value")
    s["k"] += n
    s.count *= 2
    s["q"] %= 3
    return d[0], s.count, s.items


@sample(*N)
def augmented_attribute_walrus(n):
    s, t = Spy("s"), Spy("t")
    s.v, t.v = 1, 100
    s.v += (s := t).v
    return s.v, t.v


@sample(*N)
def store_order(n):
    def get(x):
        print("get", x)
        return x

    s = Spy()
    get(s).a = get(n)
    get(s)[get(1)] = get(2)
    get(s).b, get(s)[get(3)] = get(4), get(5)
    x = get(s).c = get(s)[0] = get(6)
    return x, s.items


@sample(*N)
def targets_see_earlier_targets(n):
    x = [0, 1, 2, 3]
    i = 0
    i, x[i] = 2, "a"
    x[i], i = "b", 3
    (x[i], i), i = ("c", 1), 0
    for i, x[i] in enumerate("pq"):
        pass
    return x, i


@sample(*N)
def for_targets(n):
    d = {}
    s = Spy()
    out = []
    for d["k"], (a, *b) in [(1, (2, 3)), (n, "xyz")]:
        out.append((d["k"], a, b))
    for s.x in range(n):
        out.append(s.x)
    for [p, q], r in [([1, 2], 3)]:
        out.append(p + q + r)
    return out, d, a, b


@sample(([1, 2, 3],), ((1, 2),), ("ab",), ([1],), (5,), (None,), (range(4),))
def unpack_errors(v):
    out = []
    try:
        a, b = v
        out.append((a, b))
    except (TypeError, ValueError) as e:
        out.append((type(e).__name__, str(e)))
    try:
        a, *b, c = v
        out.append((a, b, c))
    except (TypeError, ValueError) as e:
        out.append((type(e).__name__, str(e)))
    try:
        (*b,) = v
        out.append(b)
    except (TypeError, ValueError) as e:
        out.append((type(e).__name__, str(e)))
    try:
        [a, (b, c)] = v
        out.append((a, b, c))
    except (TypeError, ValueError) as e:
        out.append((type(e).__name__, str(e)))
    return out


@sample(*N)
def unpack_plain(n):
    a, b = n, n + 1
    a, b = b, a
    (a), [b, c] = b, [a, 9]
    x = y, z = a, b
    () = []
    return a, b, c, x, y, z


@sample(*N)
def unpack_partial_store(n):
    a = b = "old"
    try:
        a, b = iter([n])
    except ValueError:
        pass
    d = {}
    try:
        d["a"], d[[]] = 1, 2
    except TypeError as e:
        print(e)
    return a, b, d


@sample(*N)
def swap_elements(n):
    x = [1, 2, 3]
    x[0], x[n % 3] = x[n % 3], x[0]
    x[0:2], x[2] = [8, 9], 7
    return x


@sample(*N)
def subscripts(n):
    x = list(range(10))
    m = Spy()
    m[1:n, ::2], m[...], m[:, None] = 1, 2, 3
    y = {"a": [1, {"b": n}], (1, 2): "t"}
    return x[n], x[-1], x[1:3], x[n:], x[:n], x[:: n or 1], x[n : n + 2 : 1], y["a"][1]["b"], y[1, 2], m.items


@sample(*N)
def subscript_errors(n):
    out = []
    for f in (lambda: [1][n], lambda: {}[n], lambda: n[0], lambda: (1, 2)[5]):
        try:
            out.append(f())
        except Exception as e:
            out.append((type(e).__name__, str(e)))
    return out


@sample(*N)
def slice_shadowed(n):
    slice = n
    x = [1, 2, 3]
    return x[n:], x[:n], slice


@sample(*N)
def delete_elements(n):
    x = list(range(6))
    d = {"a": 1, "b": 2}
    s = Spy()
    s.z = 1
    del x[0], x[1:3], d["a"], s.z
    try:
        del d[n]
    except KeyError as e:
        print("key", e)
    try:
        del s.nothing
    except AttributeError as e:
        print("attribute")
    return x, d


@sample(*N)
def displays(n):
    a = [n, n + 1]
    d = {"x": 1}
    return (
        [*a, 0, *a],
        {*a, 7},
        {"y": n, **d, "x": 2, **{"z": 3}},
        (*a, *range(2)),
        [],
        {},
        (),
        (n,),
        {n: {n: []}},
    )


@sample(*N)
def display_order(n):
    return [tell(1), *tell([2]), tell(3)], {tell("k"): tell("v"), tell("l"): tell("w")}, (tell(4), tell(5))


@sample(*N)
def unhashable(n):
    try:
        return {[]: n}
    except TypeError as e:
        print(e)
    return {n, ()}


@sample(*N)
def fstrings(n):
    w = 8
    f = 2.0 / 3
    s = "a'b"
    return (
        f"{n}",
        f"{n!r:>{w}}|{f:.{3}f}|{s!r}{s!s:^{w}}",
        f"{'x'}{{}}{n + 1=}",
        "plain",
        f"{n:>5}{f:8.3e}",
        f"{[i for i in range(2)]} {(lambda: n)()}",
        f"{tell(1)}{tell(2)}",
        f"{'é'!a}",
    )


@sample(*N)
def fstring_error(n):
    return f"{n:zz}"


@sample(*N)
def percent_format(n):
    return "%d items" % n, "%s and %s" % (n, "b"), "%(k)s" % {"k": n}


@sample(*N)
def call_order(n):
    def f(*args, **kw):
        return args, kw

    return tell(f, "f")(tell(1), *tell([2]), tell(3), k=tell(4), **tell({"m": 5}))


@sample(*N)
def method_calls(n):
    x = []
    x.append(n)
    x.extend([1, 2])
    s = "a,b".split(",")
    d = dict(a=1)
    return x, s, d.get("a"), "-".join(map(str, x)), x.pop(), len(x), sorted(x, reverse=True)


@sample(*N)
def call_errors(n):
    out = []
    for f in (
        lambda: n(),
        lambda: len(),
        lambda: int("x"),
        lambda: [].nothing,
        lambda: None.x,
        lambda: abs("a"),
    ):
        try:
            out.append(f())
        except Exception as e:
            out.append((type(e).__name__, str(e)))
    return out


@sample(*N)
def attribute_chain(n):
    class A:
        pass

    a = A()
    a.b = A()
    a.b.c = [A()]
    a.b.c[0].d = n
    a.b.c[0].d += 1
    a.b.c[0].d %= 3
    return a.b.c[0].d, hasattr(a, "z"), getattr(a, "z", n)


@sample(*N)
def attribute_store_order(n):
    def obj():
        print("obj")
        return Spy()

    def val():
        print("val")
        return n

    obj().x = val()
    s = Spy()
    s.y = val()
    s.z = 1
    return s.y


@sample(*N)
def attribute_store_of_unbound(n):
    if n > 1:
        s = Spy()
    s.x = tell(n)
    return s.x


@sample(*N)
def expression_statements(n):
    n
    n + 1
    "text"
    [tell(n)]
    tell(1) if n else tell(2)
    n > 1 and tell("and")
    return None


@sample(*N)
def number_literals(n):
    return 1_000, 0x10, 1e3, 2j, -1, True, ..., None, b"x", "é"


@sample(*N)
def star_in_index_and_return(n):
    t = (n, 1)
    d = {(0, 1): "a", (1, 1): "b", (2, 1): "c"}
    return *t, d.get((*t,))


@sample(*N)
def print_forms(n):
    print()
    print(n, "a", sep="-", end="!\n")
    print(*[1, 2], n, **{"sep": "/"})
    return print


@sample(*N)
def lambda_forms(n):
    f = lambda: n
    g = lambda *a, **k: (a, k)
    h = lambda x, /, y=2, *, z=n: x + y + z
    return f(), g(1, b=2), h(1), h(1, 5, z=0), (lambda x: x if x > 1 else -x)(n)


@sample(*N)
def ifexp_in_call_arguments(n):
    return max(n if n > 1 else 1, 2 if n else 3), [1 if n else 2, *([3] if n else [4])]


@sample(*N)
def complex_assign_chain(n):
    a = b = c = [n]
    a.append(1)
    x = y = n
    x += 1
    return a, b, c is a, x, y


@sample(*N)
def in_operators(n):
    return n in [1, 2], "a" in "abc", n not in range(2), "k" in {"k": 1}, n not in (1,)


@sample(*N)
def with_expression_order(n):
    with tell(Log("a"), "make") if False else Log("a") as v, Log("b" + v):
        print(v)
    return v
