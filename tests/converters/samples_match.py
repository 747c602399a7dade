"""Samples: match statements with all kinds of patterns."""

import dataclasses

from tests.converters.samples import Spy, sample, tell


@dataclasses.dataclass
class P:
    x: object
    y: object = 0


class Color:
    RED = 1
    BLUE = "blue"


VALUES = [
    (0,),
    (1,),
    (True,),
    (None,),
    ("a",),
    ("blue",),
    (2.0,),
    ([],),
    ([1],),
    ([1, 2],),
    ((1, 2, 3),),
    ([1, [2, 3]],),
    ("ab",),
    ({},),
    ({"k": 1},),
    ({"k": 1, "z": 2},),
    ({"k": [1, 2], "l": 3},),
    (P(1, 2),),
    (P(0, 0),),
    (P([1], "q"),),
    (-1,),
    (1j,),
]


@sample(*VALUES)
def literals(v):
    match v:
        case 0:
            return "zero"
        case True:
            return "true"
        case None:
            return "none"
        case -1:
            return "minus"
        case "a" | "b":
            return "letter"
        case Color.RED | Color.BLUE:
            return "color"
    return "other"


@sample(*VALUES)
def sequences(v):
    match v:
        case []:
            r = "empty"
        case [x]:
            r = ("one", x)
        case [1, [a, *b]]:
            r = ("nested", a, b)
        case (1, 2):
            r = "pair"
        case [first, *_, last]:
            r = (first, last)
        case _:
            r = "none"
    return r


@sample(*VALUES)
def mappings(v):
    match v:
        case {"k": [x, y], **rest}:
            return x, y, rest
        case {"k": 1, "z": z}:
            return "z", z
        case {"k": k}:
            return k
        case {}:
            return "any mapping"


@sample(*VALUES)
def classes(v):
    match v:
        case P(0, y=0):
            return "origin"
        case P(x=[a], y=str(s)):
            return a, s
        case P(x, y):
            return x, y
        case bool(b):
            return "bool", b
        case int() | float() as number:
            return "number", number
        case str(s) if len(s) > 1:
            return s
        case list([1, *_]) as whole:
            return whole
    return "none"


@sample(*VALUES)
def guards_keep_captures(v):
    x = "unset"
    match v:
        case [x, *_] if x == 2:
            r = "two"
        case [x, y] if tell(x, "x") > 5:
            r = "large"
        case int(x) if x > 0:
            r = "positive"
        case x:
            r = "any"
    return r, x


@sample(*VALUES)
def unbound_capture(v):
    match v:
        case [a, b]:
            pass
        case {"k": a}:
            pass
    return a


@sample(*VALUES)
def or_with_captures(v):
    match v:
        case [1, [x, _]] | [x, 2] | {"k": x}:
            return "got", x
        case P(0, y) | P(y, 2):
            return "p", y
        case ([] | {}) as e:
            return "e", e
        case (0 | 1) as n if n:
            return "n", n
    return None


@sample(*VALUES)
def in_loop(v):
    out = []
    for each in [v, 1, [3, 4], "stop", 5]:
        match each:
            case "stop":
                break
            case 1:
                continue
            case [a, b]:
                out.append(a)
            case _:
                out.append("other")
        out.append("end")
    else:
        out.append("else")
    return out


@sample(*VALUES)
def subject_once(v):
    match tell(v):
        case 5 | 6:
            return 1
        case [_, _]:
            return 2


@sample(*VALUES)
def tuple_subject(v):
    match v, 1:
        case 1, 1:
            return "ones"
        case ((None | 0), x):
            return x
        case x, y:
            return [x], y


@sample(*VALUES)
def guard_with_comprehension(v):
    match v:
        case [*xs] if any(x == 2 for x in xs):
            return xs, [x for x in xs]
        case _ if (w := v) == 1:
            return w
    return "none"


@sample(*VALUES)
def nested_match(v):
    match v:
        case [x, y]:
            match x:
                case 1:
                    r = "one"
                case _:
                    r = y
        case _:
            r = None
    return r


@sample(*VALUES)
def captures_in_closure(v):
    match v:
        case [x, *rest]:
            f = lambda: (x, rest)
        case x:
            f = lambda: x
    return f()


@sample((P(1, 2),), (1,), ("s",))
def class_errors(v):
    try:
        match v:
            case P(a, b, c):
                return a
            case int(a, b):
                return b
            case _:
                return "none"
    except TypeError as e:
        return str(e)


@sample((1,), ("a",))
def only_wildcard(v):
    match v:
        case _:
            print("always")
    match v:
        case w:
            print(w)
    return w


@sample(({"a": Spy()},), ([Spy(), 1],))
def attribute_value(v):
    match v:
        case {"a": s}:
            return s.name
        case [Spy(name="spy", items={}) as s, int(n)]:
            return s.name, n
