"""Samples: branches, loops and the jumps out of them."""

from tests.converters.samples import sample, tell

N = [(0,), (1,), (2,), (3,), (5,), (8,)]


@sample(*N)
def if_return(n):
    if n > 2:
        return "big"
    return "small"


@sample(*N)
def if_return_falls_off(n):
    if n > 2:
        return n


@sample(*N)
def if_bare_return(n):
    print("a")
    if n > 2:
        return
    print("b")


@sample(*N)
def returns_in_elif(n):
    if n == 0:
        return "zero"
    elif n == 1:
        x = "one"
    elif n == 2:
        return "two"
    else:
        x = "many"
    return x + "!"


@sample(*N)
def nested_returns(n):
    if n > 1:
        if n > 2:
            if n > 4:
                return 1
            y = 2
        else:
            return 3
        n += y
    else:
        if n == 0:
            return None
    return n, "end"


@sample(*N)
def nested_maybe_return_then_code(n):
    if n % 2:
        print("odd")
        if n == 3:
            return "three"
        print("not three")
    else:
        print("even")
        if n == 2:
            return "two"
    print("rest")
    z = n * 2
    if z > 10:
        return z
    z += 1
    return z


@sample(*N)
def code_after_return(n):
    return n
    print("never")
    n = missing


@sample(*N)
def dead_local(n):
    if n > 2:
        return late
    return n
    late = 1


@sample(*N)
def while_break(n):
    i = 0
    while True:
        if i >= n:
            break
        i += 1
    return i


@sample(*N)
def while_continue(n):
    i = s = 0
    while i < n:
        i += 1
        if i % 2:
            continue
        s += i
    return i, s


@sample(*N)
def while_else_break(n):
    while n > 0:
        n -= 2
        if n == 1:
            break
    else:
        return "else", n
    return "break", n


@sample(*N)
def while_else_without_break(n):
    while n > 0:
        n -= 3
    else:
        n = n * 10
    return n


@sample(*N)
def while_true_return(n):
    while True:
        n += 1
        if n % 5 == 0:
            return n


@sample(*N)
def while_true_return_else(n):
    while True:
        n += 1
        if n % 5 == 0:
            return n
        if n % 3 == 0:
            break
    else:
        print("never")
    print("after")


@sample(*N)
def while_test_effects(n):
    i = 0
    while tell(i, "test") < n:
        i += 1
        if i == 2:
            break
    return i


@sample(*N)
def while_test_not_evaluated_after_break(n):
    i = 0
    while tell(i < n, "a") and tell(i < 4, "b"):
        i += 1
        if i == 3:
            break
        if i == 1:
            continue
        print("body")
    else:
        print("else")
    return i


@sample(*N)
def for_break_continue(n):
    s = []
    for i in range(n):
        if i == 1:
            continue
        if i == 4:
            break
        s.append(i)
    else:
        s.append("else")
    return s, n


@sample(*N)
def loop_variable_after(n):
    for i in range(n):
        pass
    return i


@sample(*N)
def loop_variable_rebound(n):
    out = []
    for i in range(n):
        i = i * 2
        out.append(i)
    return out, i


@sample(*N)
def loop_variable_kept_by_break(n):
    i = "none"
    for i in range(n):
        if i == 2:
            break
    return i


@sample(*N)
def iterator_stops_after_break(n):
    it = iter(range(10))
    for i in it:
        if i == n:
            break
    return list(it)


@sample(*N)
def iterator_stops_after_return_flag(n):
    it = iter(range(10))

    def first():
        for i in it:
            if i == n:
                return i

    return first(), list(it)


@sample(*N)
def nested_loops_break_inner(n):
    out = []
    for i in range(n):
        for j in range(n):
            if j > i:
                break
            if (i + j) % 2:
                continue
            out.append((i, j))
        else:
            out.append("full")
            continue
        out.append("cut")
        if i == 3:
            break
    else:
        out.append("end")
    return out


@sample(*N)
def break_in_inner_else(n):
    out = []
    for i in range(5):
        for j in range(i):
            if j == n:
                break
        else:
            out.append(i)
            if i == n:
                break
            else:
                continue
        out.append("after")
    else:
        out.append("outer else")
    return out, i


@sample(*N)
def return_in_inner_else(n):
    for i in range(4):
        while i < n:
            i += 1
            if i == 3:
                break
        else:
            if i > 1:
                return i, "else"
            continue
        print("broke", i)
    return "end"


@sample(*N)
def return_in_loop_else(n):
    for i in range(n):
        if i == 3:
            break
    else:
        return "no break"
    return i


@sample(*N)
def return_from_three_loops(n):
    for a in range(4):
        for b in range(4):
            k = 0
            while k < 4:
                if a + b + k == n + 1:
                    return a, b, k
                k += 1
                if k == 3 and b == 2:
                    break
            print(a, b)
    print("not found")


@sample(*N)
def return_then_code_after_loop(n):
    out = []
    for i in range(n):
        out.append(i)
        if i == 2:
            return out
    out.append("x")
    while n > 1:
        n -= 1
        if n == 1:
            return out, n
    out.append("y")
    return out


@sample(*N)
def jump_in_every_branch(n):
    out = []
    for i in range(n):
        if i == 0:
            continue
        elif i == 1:
            out.append("one")
        elif i == 6:
            break
        else:
            if i == 4:
                continue
            out.append(i)
        out.append("end")
    return out


@sample(*N)
def both_branches_jump(n):
    out = []
    for i in range(n):
        if i % 2:
            out.append(i)
            continue
        else:
            if i == 4:
                break
        out.append("even")
    return out


@sample(*N)
def unbound_in_branch(n):
    if n > 2:
        y = n
    print("before")
    return y


@sample(*N)
def unbound_after_while(n):
    while n > 2:
        y = n
        n -= 1
    return y


@sample(*N)
def unbound_second_turn(n):
    for i in range(n):
        if i > 0:
            print(last)
        if i != 1:
            last = i
    return last


@sample(*N)
def deleted_in_branch(n):
    x = n
    if n > 2:
        del x
    return x


@sample(*N)
def deleted_in_loop(n):
    x = n
    for i in range(n):
        if i == 1:
            del x
        else:
            x = i
    return x


@sample(*N)
def deleted_twice(n):
    x = n
    if n > 2:
        del x
    del x
    return "deleted"


@sample(*N)
def deleted_then_read_in_loop(n):
    x = 0
    for i in range(n):
        print(x)
        if i == 2:
            del x
    return i


@sample(*N)
def local_of_branch(n):
    if n > 1:
        t = n * 2
        r = t + 1
    else:
        t = "s"
        r = t * 2
    t = r
    return t


@sample(*N)
def local_of_nested_branch(n):
    r = 0
    if n:
        if n > 2:
            t = 1
        else:
            t = 2
        r = t
    return r


@sample(*N)
def carried_only_by_loop(n):
    prev = None
    for i in range(n):
        if prev is not None:
            print(prev)
        prev = i


@sample(*N)
def unbound_augmented(n):
    if n > 1:
        x = 5
    x += n
    return x


@sample(*N)
def unbound_augmented_in_loop(n):
    for i in range(n):
        if i == n - 1:
            count += 1
        else:
            count = i
    return count


@sample(*N)
def if_without_names(n):
    if n:
        print("yes")
    else:
        print("no")


@sample(*N)
def pass_everywhere(n):
    if n:
        pass
    else:
        pass
    while n > 3:
        n -= 1
        pass
    for _ in range(n):
        pass


@sample(*N)
def while_modifies_test_name(n):
    seen = []
    while (m := n // 2) > 0:
        seen.append(m)
        n -= 1
    return seen, m, n


@sample(*N)
def walrus_test_with_break(n):
    while (m := n * 2) < 9:
        n += 1
        if m == 6:
            break
    return m, n


@sample(*N)
def walrus_in_if(n):
    if (y := n + 1) > 3:
        z = y
    elif (z := y * 2) > 3:
        y = 0
    return y, z


@sample(([],), ([3],), ([3, 0, 4],), ([0, 0],))
def raise_in_branch(values):
    total = 0
    for v in values:
        if v == 0:
            raise ValueError(f"zero after {total}")
        else:
            w = 10 // v
        total += w
    return total


@sample(*N)
def raise_or_return(n):
    if n == 1:
        raise KeyError("one")
    elif n == 2:
        return 2
    else:
        r = n
    if n == 3:
        raise IndexError
    return r


@sample(*N)
def docstring_and_early_return(n):
    """The docstring stays first."""
    if n > 1:
        return docstring_and_early_return.__doc__
    for i in range(3):
        if i == n:
            return i


@sample(*N)
def long_chain(n):
    if n == 0:
        return 0
    if n == 1:
        return 10
    if n == 2:
        return 20
    a = n * 2
    if n == 3:
        return a
    b = a + 1
    if b > 16:
        return b
    return a, b


@sample(*N)
def constant_tests(n):
    out = []
    while False:
        out.append("never")
    while 1:
        out.append(n)
        n -= 1
        if n < 0:
            break
    if True:
        out.append("t")
    return out


@sample(*N)
def many_names(n):
    a = b = c = d = 0
    for i in range(n):
        a, b = b + i, a
        if i % 2:
            c, d = d, c + 1
        else:
            t = a
            d += t
    return a, b, c, d


@sample(([[1, 2], [3]],), ([],), ([[]],))
def loop_over_loop_variable(rows):
    out = []
    for row in rows:
        for row in row:
            out.append(row)
        out.append(row)
    return out


@sample(*N)
def changing_list_while_looping(n):
    items = list(range(n))
    for item in items:
        if item % 2 == 0 and len(items) < 12:
            items.append(item + 1)
    return items


@sample((5,), ([],), (None,))
def not_iterable(x):
    for i in x:
        print(i)
    return "done"


@sample(*N)
def else_of_try_in_loop_flags(n):
    out = []
    for i in range(4):
        if i == n:
            out.append("skip")
            continue
        try:
            out.append(10 // (i - 1))
        except ZeroDivisionError:
            continue
        out.append(i)
    return out
