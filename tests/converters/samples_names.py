"""Samples: scopes, closures, late binding, global and nonlocal names, deletion, walrus, comprehensions."""

from tests.converters.samples import Boom, sample, tell

N = [(0,), (1,), (2,), (3,), (5,)]
LIMIT = 3
counter = 0
_undefined_probe = None


@sample(*N)
def late_binding(n):
    k = 1
    f = lambda: k
    a = f()
    k = n
    return a, f()


@sample(*N)
def late_binding_in_loop(n):
    fs = []
    for i in range(n):
        fs.append(lambda: i)
    return [f() for f in fs]


@sample(*N)
def default_binds_early(n):
    fs = []
    for i in range(n):
        fs.append(lambda i=i: i)
    return [f() for f in fs]


@sample(*N)
def closure_over_branch(n):
    if n > 1:
        x = "big"

        def f():
            return x
    else:

        def f():
            return x

    try:
        return f()
    except NameError as e:
        return type(e).__name__, str(e)


@sample(*N)
def nonlocal_counter(n):
    count = 0

    def bump(by=1):
        nonlocal count
        count += by
        return count

    for i in range(n):
        bump(i)
    return count, bump()


@sample(*N)
def nonlocal_two_levels(n):
    x = n

    def outer():
        def inner():
            nonlocal x
            x += 10

        inner()
        y = x

        def other():
            nonlocal y
            y += 1
            return y

        return other()

    return outer(), x


@sample(*N)
def nonlocal_unbound(n):
    def assign():
        nonlocal x
        x = n

    def read():
        return x

    if n > 1:
        assign()
    try:
        print(read())
    except NameError as e:
        print(e)
    x = 1
    return read()


@sample(*N)
def nonlocal_deleted(n):
    x = n

    def drop():
        nonlocal x
        del x

    if n > 1:
        drop()
    return x


@sample(*N)
def recursion_nested(n):
    def fact(k):
        if k <= 1:
            return 1
        return k * fact(k - 1)

    return fact(n)


@sample(*N)
def mutual_nested(n):
    def even(k):
        return True if k == 0 else odd(k - 1)

    def odd(k):
        return False if k == 0 else even(k - 1)

    return even(n), odd(n)


@sample(*N)
def function_redefined(n):
    def f():
        return "first"

    g = f
    if n > 1:

        def f():
            return "second"

    return f(), g()


@sample(*N)
def closure_made_before_assignment(n):
    def f():
        return y

    if n == 1:
        return f()
    y = n
    return f()


@sample(*N)
def early_return_before_assignment(n):
    if n > 2:
        return "early"
    y = n + 1

    def f():
        return y

    return f()


@sample(*N)
def closure_parameter_rebound(n):
    f = lambda: n
    n = n + 1
    return f()


@sample(*N)
def closure_parameter_never_rebound(n):
    def g(m):
        return n + m

    return g(1) + (lambda: n)()


@sample(*N)
def global_read(n):
    return n < LIMIT


@sample(*N)
def global_write(n):
    global counter
    counter = 0
    for i in range(n):
        counter += i
        if counter > LIMIT:
            break
    return counter


@sample(*N)
def global_in_nested(n):
    def f():
        global counter
        counter = n

    f()
    return counter


@sample(*N)
def global_walrus_and_for(n):
    global counter
    counter = 1
    for counter in range(n):
        pass
    if (counter := counter + n) > 4:
        counter %= 4
    counter, x = counter + 1, counter
    return counter, x


@sample(*N)
def global_unbound(n):
    if n > 2:
        return nowhere_defined
    return n


@sample(*N)
def global_delete(n):
    global temporary_global
    temporary_global = n
    if n > 1:
        del temporary_global
    try:
        return temporary_global
    except NameError as e:
        return str(e)
    finally:
        if n <= 1:
            del temporary_global


@sample(*N)
def global_function_and_import(n):
    global made_function, math
    import math

    def made_function(k):
        return k + math.floor(n / 2)

    return made_function(1)


@sample(*N)
def local_import(n):
    import math
    import os.path
    from functools import partial as p
    from functools import reduce

    f = p(pow, 2)
    g = lambda: os.path.join("a", str(math.ceil(n / 2)))
    return f(n), reduce(lambda a, b: a + b, range(n), 0), g()


@sample(*N)
def conditional_import(n):
    if n > 1:
        import math
    f = lambda: math.sqrt(4)
    try:
        return f()
    except NameError as e:
        return str(e)


@sample(*N)
def shadowed_builtin(n):
    len = lambda x: 42
    print(len([]))
    max = n
    return max


@sample(*N)
def builtin_local_later(n):
    if n > 2:
        sum = 3
    return sum([1, 2])


@sample(*N)
def walrus_lazy(n):
    a = n > 1 and (b := n * 2)
    try:
        return a, b
    except NameError as e:
        return str(e)


@sample(*N)
def walrus_ifexp(n):
    r = (x := 1) if n > 1 else (y := 2)
    out = []
    try:
        out.append(x)
    except NameError:
        out.append("no x")
    try:
        out.append(y)
    except NameError:
        out.append("no y")
    return r, out


@sample(*N)
def walrus_chain(n):
    x = "old"
    r = 0 < n < (x := 4)
    return r, x


@sample(*N)
def walrus_comprehension(n):
    found = [y for i in range(n) if (y := i * 2) > 1]
    try:
        return found, y
    except NameError as e:
        return found, str(e)


@sample(*N)
def walrus_any(n):
    if any((hit := i) > 1 for i in range(n)):
        return hit
    return "none"


@sample(*N)
def walrus_nested_comprehension(n):
    out = [[(last := i * j) for j in range(i)] for i in range(n)]
    last_seen = last if n > 1 else None
    return out, last_seen


@sample(*N)
def walrus_call_order(n):
    x = 1
    r = [x, (x := n), x, x + (x := 7), x]
    return r, x


@sample(*N)
def walrus_in_lambda(n):
    f = lambda a: (b := a + n) * b
    g = lambda a: a > 1 and (c := a) + c
    return f(2), g(n)


@sample(*N)
def walrus_global(n):
    global counter
    r = n > 1 and (counter := n)
    return r, counter == n


@sample(*N)
def comprehension_scope(n):
    x = "outer"
    r = [x for x in range(n)]
    s = {x: y for x, y in zip("abc", range(n))}
    t = {x % 2 for x in range(n)}
    return r, s, sorted(t), x


@sample(*N)
def comprehension_order(n):
    r = [
        tell((i, j)) for i in tell(range(2), "outer") if tell(i < n, "if") for j in tell([i, n], "inner") if j
    ]
    return r


@sample(*N)
def comprehension_dict_order(n):
    return {tell(k, "key"): tell(k * 2, "value") for k in range(n)}


@sample(*N)
def comprehension_first_iterable_scope(n):
    x = [n, n + 1]
    r = [x for x in x]
    return r, x


@sample(*N)
def comprehension_unpack(n):
    pairs = [(i, (i + 1, [i] * i)) for i in range(n)]
    return [a + b + len(c) for a, (b, [*c]) in pairs], {k: v for k, *v in [(1, 2, 3), "ab"]}


@sample(*N)
def comprehension_nested(n):
    return [[i * j for j in range(i)] for i in range(n)], [x for r in [[1], [n]] for x in r]


@sample(*N)
def comprehension_captures_late(n):
    fs = [lambda: i for i in range(n)]
    return [f() for f in fs]


@sample(*N)
def comprehension_reads_changing(n):
    k = 0
    out = []
    while k < n:
        k += 1
        out.append([k + j for j in range(2)])
        if sum([k for _ in range(3)]) > 6:
            break
    return out


@sample(*N)
def comprehension_in_while_test(n):
    items = [1]
    while len([x for x in items if x < n]) < n and len(items) < 8:
        items.append(len(items))
    return items


@sample(*N)
def comprehension_in_while_test_unbound(n):
    i = 0
    while any([i > 2, *[z for _ in range(1) if i > 0]]) is False:
        i += 1
        if n > 1:
            z = i > 1
    return i


@sample(*N)
def comprehension_unbound(n):
    if n > 2:
        y = 5
    return [y for _ in range(n)]


@sample(*N)
def comprehension_deleted(n):
    y = 1
    if n > 2:
        del y
    try:
        return [y + i for i in range(n)]
    except NameError as e:
        return str(e)


@sample(*N)
def generator_expression(n):
    k = 2
    g = (i * k for i in range(n))
    k = 3
    return list(g), sum(x for x in range(n) if x % 2), max((i for i in range(n)), default=None)


@sample(*N)
def generator_first_iterable_at_once(n):
    try:
        g = (i for i in tell(n))
    except TypeError as e:
        return str(e)
    return "made"


@sample(*N)
def generator_nested(n):
    return list((i, j) for i in range(n) for j in (k * 2 for k in range(i)))


@sample(*N)
def generator_dict(n):
    return dict((str(i), [i for i in range(i)]) for i in range(n))


@sample(*N)
def comprehension_in_default(n):
    def f(a=[i for i in range(n)], *, b=sum(i for i in range(n))):
        return a, b

    return f()


@sample(*N)
def comprehension_in_lambda(n):
    f = lambda a, *rest, k=n, **more: [a + i + k for i in range(n)] + list(rest) + sorted(more)
    return f(1), f(2, 3, k=1, z=0)


@sample(*N)
def lambda_default_order(n):
    r = [tell(1), lambda a=tell(2): [a for _ in range(n)], tell(3)]
    return r[1](), r[1](9)


@sample(*N)
def nested_lambdas(n):
    f = lambda a: lambda b: [a + b + i for i in range(n)]
    return f(1)(2)


@sample(*N)
def lambda_sort_key(n):
    words = ["bb", "a", "ccc"][:n]
    return sorted(words, key=lambda w: -len(w))


@sample(*N)
def delete_and_rebind(n):
    x = n
    del x
    try:
        x
    except UnboundLocalError as e:
        print(e)
    x = 2
    return x


@sample(*N)
def delete_several(n):
    a, b, c = 1, {1: 2, 3: 4}, [n, n]
    del b[1], c[0]
    del (a, [c])
    return b


@sample(*N)
def bare_annotation_makes_local(n):
    LIMIT: int
    if n > 1:
        LIMIT: "anything" = n
    return LIMIT


@sample(*N)
def annotations(n: "int", *args: undefined_annotation_is_never_read if False else 1) -> "float":
    x: int = n
    d: dict = {}
    d["k"]: int = x
    return x, d


@sample(*N)
def keeps_user_names(n):
    if_body = n
    ag = 1
    did_break = "user"
    for loop_body in range(n):
        if loop_body == 2:
            break
        get_state = loop_body
    values = item = retval_ = if_body
    if n > 3:
        return values
    return item, retval_, did_break


@sample(*N)
def class_in_function(n):
    base = n

    class Point:
        """A point."""

        kind = "point"
        double = base * 2
        labels = [str(i) for i in range(n)]

        def __init__(self, x, y=base):
            self.x, self.y = x, y

        def total(self, *others):
            if self.x > 1:
                return self.x + self.y
            return sum([o.x for o in others])

        @property
        def norm(self):
            return abs(self.x) + abs(self.y)

        @staticmethod
        def make(v):
            return Point(v)

        @classmethod
        def zero(cls):
            return cls(0, 0)

        def __eq__(self, other):
            return self.x == other.x

    p = Point.make(n)
    return p.total(p), p.norm, Point.kind, p.double, Point.zero() == p, Point.labels, Point.__doc__


@sample(*N)
def class_super(n):
    class A:
        def __init__(self, v):
            self.v = v

        def f(self):
            return self.v

    class B(A):
        def __init__(self, v):
            super().__init__(v + 1)
            self.w = [super(B, self).f() for _ in range(2)]

        def f(self):
            if n > 1:
                return super().f() * 10
            return __class__.__name__

    return B(n).f(), B(n).w


@sample(*N)
def class_body_flow(n):
    class C:
        x = 0
        if n > 1:
            x = 1
        for i in range(n):
            x += i
            if x > 3:
                break
        y = (x and n) or "z"
        z = x if n else 0 < n < 3
        try:
            w = 1 // n
        except ZeroDivisionError as e:
            w = str(e)
        a, (b, *c) = 1, (2, 3)
        n = n

        def get(self):
            return self.x, n

    return C.x, C.y, C.z, C.w, C.n, C.c, C().get()


@sample(*N)
def class_decorated(n):
    def tag(cls):
        cls.tag = n
        return cls

    def twice(f):
        return lambda self: f(self) * 2

    @tag
    class C:
        @twice
        def f(self):
            return n

        @property
        def p(self):
            return self._p

        @p.setter
        def p(self, value):
            self._p = value + 1

    c = C()
    c.p = 4
    return C.tag, c.f(), c.p


@sample(*N)
def dataclass_inside(n):
    import dataclasses

    @dataclasses.dataclass(order=True)
    class P:
        x: int
        y: float = 2.5
        z: list = dataclasses.field(default_factory=list)

    p = P(n)
    p.z.append(1)
    return p.x, p.y, p.z, P(1) < P(2)


@sample(*N)
def class_private_names(n):
    class C:
        __hidden = 3

        def __init__(self):
            self.__x = n

        def get(self):
            return self.__x + self.__hidden, sorted(vars(self))

    return C().get()


@sample(*N)
def class_sees_enclosing(n):
    x = "function"

    class C:
        y = x
        x = "class"
        f = lambda self: x
        z = [x for _ in range(1)]

    return C.y if False else C.f(None), C.z, C.x


@sample(*N)
def decorators(n):
    def plus(k):
        print("make", k)

        def deco(f):
            print("apply", k)

            def inner(*args):
                return f(*args) + k

            return inner

        return deco

    @plus(1)
    @plus(n)
    def f(x=tell(5, "default")):
        return x * 2

    return f(), f(1)


@sample(*N)
def closure_in_loop_with_box(n):
    adders = []
    for i in range(n):
        k = i * 10

        def add(v):
            return v + k + i

        adders.append(add)
        k += 1
    return [f(1) for f in adders]


@sample(*N)
def closure_counter_factory(n):
    def make():
        c = n

        def step():
            nonlocal c
            c += 1
            return c

        return step

    a, b = make(), make()
    return a(), a(), b()


@sample(*N)
def kwargs_and_star(n):
    def f(a, /, b, *args, c=3, **kw):
        return a, b, args, c, sorted(kw.items())

    xs = [1, 2, 3][:n]
    d = {"c": n, "z": 1}
    return f(0, *xs, 9, **d), f(1, b=2, **{"q": 1}), f(*[1, 2], *xs)


@sample(*N)
def wrong_calls(n):
    def f(a, *, b):
        return a

    try:
        return f(n)
    except TypeError as e:
        return "TypeError"


@sample(*N)
def default_mutable(n):
    def f(x, acc=[]):
        acc.append(x)
        return list(acc)

    return [f(i) for i in range(n)]


@sample(*N)
def variable_of_outer_try(n):
    x = 0
    try:
        for i in range(n):
            x = i
            if i == 2:
                raise Boom("two")
            x += 100
    except Boom:
        return x
    return "no", x


@sample(*N)
def unpack_into_captured(n):
    a, b = n, n + 1
    f = lambda: (a, b)
    a, b = b, a
    (a, *rest), c = (f()), 5
    return f(), rest, c


@sample(*N)
def augmented_captured(n):
    total = []
    f = lambda: total
    total += [n]
    total = total + [1]
    return f()


@sample(*N)
def for_target_captured(n):
    i = "none"
    f = lambda: i
    out = [f()]
    for i in range(n):
        out.append(f())
    return out


@sample(*N)
def with_try_names_escape(n):
    try:
        a = n
        b = a // (n - 1)
    except ZeroDivisionError:
        b = -1
    f = lambda: (a, b)
    return f()


@sample(*N)
def name_of_nested_functions(n):
    def f():
        pass

    class C:
        pass

    return f.__name__, C.__name__, (lambda: 0).__name__, [g.__name__ for g in [lambda: [n for _ in []]]]


@sample(*N)
def parameter_deleted(n, m=4):
    if n > 1:
        del n
    for i in range(2):
        if i:
            del m
        else:
            m += 1
    try:
        return m
    except UnboundLocalError as e:
        print(e)
    return n


@sample(*N)
def parameter_local_to_loop(n, m=4):
    for i in range(n):
        m = i
        if i > 1:
            del m
        print(m)


@sample(*N)
def dead_code_binds(n):
    raise ValueError(n)
    if n > 1:
        y = 1
    while n:
        z = y
        y += 1
    print(y, z)


@sample(*N)
def recursion_after_early_return(n):
    if n == 0:
        return "zero"

    def fact(k):
        return 1 if k < 2 else k * fact(k - 1)

    return fact(n)


@sample(*N)
def nonlocal_deleted_twice(n):
    x = n

    def drop():
        nonlocal x
        del x

    try:
        drop()
        drop()
    except NameError as e:
        return type(e).__name__, str(e)


@sample(*N)
def super_without_class(n):
    def f(self):
        return super().x

    try:
        return f(n)
    except RuntimeError as e:
        return str(e)
