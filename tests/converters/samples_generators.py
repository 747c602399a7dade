"""Samples: generator functions."""

from tests.converters.samples import Log, sample, tell

N = [(0,), (1,), (2,), (3,), (5,)]


@sample(*N)
def plain(n):
    yield n
    for i in range(n):
        if i == 1:
            continue
        yield i * 2
        if i == 3:
            return
    yield "end"


@sample(*N)
def empty(n):
    return
    yield


@sample(*N)
def bare_yield(n):
    while n:
        yield
        n -= 1


@sample(*N)
def delegating(n):
    yield from range(n)
    yield from [tell(1), 2]
    yield from plain(n)


@sample(*N)
def consumed_inside(n):
    def count(k, *, step=1):
        while k > 0:
            yield k
            k -= step

    out = []
    for v in count(n, step=2):
        out.append(v)
        if v == 3:
            break
    return out, sum(count(n)), list(count(k=n)), dict(enumerate(count(n)))


@sample(*N)
def with_finally(n):
    def g():
        try:
            yield 1
            if n > 1:
                return
            yield 2
        finally:
            print("closed")
        yield 3

    return list(g())


@sample(*N)
def with_manager(n):
    def g():
        with Log("g"):
            for i in range(n):
                yield i
                print("after", i)

    for v in g():
        print(v)
    return "done"


@sample(*N)
def generator_raises(n):
    def g():
        yield 1
        if n > 1:
            raise ValueError("inside")
        yield 2

    out = []
    try:
        for v in g():
            out.append(v)
    except ValueError as e:
        out.append(str(e))
    return out


@sample(*N)
def generator_closure(n):
    base = n

    def g():
        nonlocal base
        for i in range(3):
            base += i
            yield base

    return list(g()), base


@sample(*N)
def generator_method(n):
    class Tree:
        def __init__(self, value, children=()):
            self.value, self.children = value, children

        def __iter__(self):
            yield self.value
            for child in self.children:
                yield from child

    return list(Tree(n, [Tree(1), Tree(2, [Tree(3)])]))


@sample(*N)
def interleaved(n):
    def g(name):
        for i in range(n):
            print(name, i)
            yield i

    return list(zip(g("a"), g("b")))


@sample(*N)
def generator_with_value_return(n):
    def g():
        yield n
        return tell("value")

    return list(g())
