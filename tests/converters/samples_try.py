"""Samples: exceptions, `finally`, context managers, and jumps through them."""

from tests.converters.samples import Boom, Log, sample, tell

N = [(0,), (1,), (2,), (3,), (4,), (5,)]


def risky(n, at=2):
    print("risky", n)
    if n == at:
        raise Boom(f"at {n}")
    if n == at + 1:
        raise KeyError(n)
    return n


@sample(*N)
def simple(n):
    try:
        x = risky(n)
    except Boom as e:
        x = str(e)
    return x


@sample(*N)
def all_parts(n):
    log = []
    try:
        log.append(risky(n))
    except Boom:
        log.append("boom")
    except (KeyError, ValueError) as e:
        log.append(type(e).__name__)
    else:
        log.append("else")
    finally:
        log.append("finally")
    return log


@sample(*N)
def bare_except(n):
    try:
        risky(n)
    except:  # noqa: E722
        return "caught"
    return "fine"


@sample(*N)
def name_unbound_after_handler(n):
    e = "before"
    try:
        risky(n)
    except Boom as e:
        print(e)
    return e


@sample(*N)
def name_rebound_in_handler(n):
    try:
        risky(n)
    except Boom as e:
        e = "other"
        print(e)
    try:
        return e
    except NameError as f:
        return str(f)


@sample(*N)
def name_deleted_in_handler(n):
    try:
        risky(n)
    except Boom as e:
        del e
        print("deleted")
    return n


@sample(*N)
def handler_name_captured(n):
    f = None
    try:
        risky(n)
    except Boom as e:
        f = lambda: str(e)
        print(f())
    return f()


@sample(*N)
def state_seen_by_handler(n):
    step = 0
    try:
        step = 1
        risky(n)
        step = 2
        risky(n + 1)
        step = 3
    except (Boom, KeyError):
        return "failed", step
    return step


@sample(*N)
def state_seen_by_finally(n):
    step = 0
    try:
        try:
            step += 1
            risky(n)
            step += 1
        finally:
            print("finally", step)
            step *= 10
    except Exception as e:
        print(repr(e))
    return step


@sample(*N)
def unbound_in_handler(n):
    try:
        risky(n)
        y = n
    except Boom:
        print("handler")
    return y


@sample(*N)
def local_to_try(n):
    out = []
    for i in range(n):
        try:
            t = risky(i)
            out.append(t + 1)
        except Boom:
            t = "handled"
            out.append(t)
    return out


@sample(*N)
def return_in_try(n):
    try:
        return risky(n)
    except Boom:
        return "boom"
    finally:
        print("finally")


@sample(*N)
def return_in_try_value_before_finally(n):
    x = n
    try:
        return tell(x)
    finally:
        x = 100
        print("finally", x)


@sample(*N)
def return_skips_rest_of_body(n):
    try:
        if n == 1:
            return "one"
        print("body goes on")
        risky(n)
    except Boom:
        if n == 2:
            return "two"
        print("never")
    else:
        print("else")
        if n == 4:
            return "four"
        print("still else")
    finally:
        print("finally")
    print("after")
    return "end"


@sample(*N)
def return_in_else_only(n):
    try:
        y = risky(n)
    except KeyError:
        y = "key"
    else:
        return y
    print("handled")
    return y


@sample(*N)
def break_in_try(n):
    out = []
    for i in range(6):
        try:
            if i == n:
                break
            out.append(risky(i))
        except Boom:
            continue
        except KeyError:
            out.append("key")
            break
        else:
            out.append("else")
        finally:
            out.append("finally")
        out.append("end")
    else:
        out.append("loop else")
    return out, i


@sample(*N)
def continue_in_finally_free_code(n):
    out = []
    while n > 0:
        n -= 1
        try:
            if n % 2:
                continue
            out.append(n)
        finally:
            out.append("f")
        out.append("e")
    return out


@sample(*N)
def loop_inside_finally(n):
    out = []
    try:
        out.append(risky(n))
    except Exception:
        out.append("caught")
    finally:
        for i in range(5):
            if i == n:
                break
            if i == 1:
                continue
            out.append(i)
        else:
            out.append("full")
    return out


@sample(*N)
def finally_raises_after_return(n):
    try:
        try:
            if n < 3:
                return "inner"
            print("no return")
        finally:
            if n % 2:
                raise Boom("finally")
    except Boom:
        print("caught")
    return "outer"


@sample(*N)
def finally_raises_after_return_no_value(n):
    try:
        try:
            if n < 3:
                return n
        finally:
            if n % 2:
                raise Boom("finally")
    except Boom:
        print("caught")


@sample(*N)
def finally_raises_after_break(n):
    out = []
    for i in range(4):
        try:
            try:
                if i == n:
                    break
                if i == n + 1:
                    continue
            finally:
                if i % 2:
                    raise Boom(str(i))
        except Boom as e:
            out.append(str(e))
        out.append(i)
    else:
        out.append("else")
    return out


@sample(*N)
def manager_raises_after_return(n):
    try:
        with Log("m", fail=n % 2 == 1):
            if n < 4:
                return "inside"
            print("inside goes on")
    except Boom:
        print("caught")
    return "outside"


@sample(*N)
def manager_swallows_after_return(n):
    with Log("outer", swallow=True):
        with Log("inner", fail=n % 2 == 1):
            if n < 4:
                return "inside"
            print("goes on")
        print("after inner")
    return "outside"


@sample(*N)
def manager_swallows_falls_off(n):
    with Log("outer", swallow=True):
        with Log("inner", fail=n % 2 == 1):
            if n < 4:
                return "inside"


@sample(*N)
def manager_swallows_value(n):
    with Log("m", swallow=True):
        x = risky(n)
        return x


@sample(*N)
def manager_swallows_break(n):
    for i in range(4):
        with Log("o", swallow=True):
            try:
                if i == n:
                    break
            finally:
                if i == 1:
                    raise Boom("late")
        print("end", i)
    return i


@sample(*N)
def nested_try(n):
    log = []
    try:
        try:
            log.append(risky(n))
        except KeyError:
            log.append("key")
            raise Boom("from key")
        finally:
            log.append("inner")
    except Boom as e:
        log.append(str(e))
    else:
        log.append("else")
    return log


@sample(*N)
def reraise(n):
    try:
        try:
            risky(n)
        except Boom as e:
            print("first", e)
            raise
    except Boom as e:
        return "second " + str(e)
    return n


@sample(*N)
def raise_from(n):
    try:
        risky(n)
    except Boom as e:
        raise ValueError("wrapped") from e
    except KeyError:
        raise ValueError("clean") from None
    return n


@sample(*N)
def raise_context(n):
    try:
        risky(n)
    except Boom:
        raise TypeError("second")


@sample(*N)
def raise_class(n):
    if n == 1:
        raise ValueError
    if n == 2:
        raise Boom
    if n == 3:
        raise 5
    return n


@sample(*N)
def handler_type_is_lazy(n):
    try:
        risky(n)
    except tell(Boom, "type"):
        return "b"
    except tell((KeyError, OSError), "types"):
        return "k"
    return "ok"


@sample(*N)
def handler_type_fails(n):
    try:
        risky(n)
    except missing_name:
        return "never"
    return "ok"


@sample(*N)
def else_exception_not_caught(n):
    try:
        x = n
    except Boom:
        return "never"
    else:
        risky(n)
    return x


@sample(*N)
def try_in_while_test_names(n):
    tries = 0
    while tries < 4:
        try:
            tries += 1
            value = risky(n + tries)
        except (Boom, KeyError) as error:
            message = str(error)
            continue
        else:
            break
    return tries, value


@sample(*N)
def with_value(n):
    with Log("w", value=n) as v:
        y = v + 1
    return v, y


@sample(*N)
def with_two(n):
    with Log("a", value=n) as a, Log("b", value=a) as b:
        print(a, b)
        risky(n)
    return b


@sample(*N)
def with_unpack(n):
    with Log("u", value=(n, (n + 1, [2, 3]))) as (a, (b, [*c])):
        print(a, b, c)
    return a, b, c


@sample(*N)
def with_attribute_target(n):
    class Holder:
        pass

    h = Holder()
    d = {}
    with Log("x", value=n) as h.x, Log("y", value=n + 1) as d["k"]:
        pass
    return h.x, d


@sample(*N)
def with_swallowed_assignment(n):
    x = "start"
    with Log("s", swallow=True):
        x = "inside"
        risky(n)
        x = "end"
        y = 1
    print(x)
    return y


@sample(*N)
def with_in_loop(n):
    total = 0
    for i in range(n):
        with Log(str(i), swallow=True):
            if i == 1:
                continue
            if i == 3:
                break
            total += risky(i)
        total += 100
    return total


@sample(*N)
def with_return_in_loop(n):
    for i in range(4):
        with Log("l"):
            if i == n:
                return i
        print("next")
    return "none"


@sample(*N)
def finally_without_except(n):
    x = 0
    try:
        x = risky(n)
    finally:
        print("x", x)
    return x


@sample(*N)
def deep(n):
    out = []
    for i in range(3):
        try:
            for j in range(3):
                try:
                    if i + j == n:
                        return out, "returned"
                    if j == 2:
                        break
                    out.append(risky(i * j + n, at=3))
                except Boom:
                    if i == 1:
                        break
                    continue
                finally:
                    out.append((i, j))
                    if i == 2 and n == 5:
                        raise Boom("deep")
            else:
                out.append("never")
        except Boom:
            out.append("deep caught")
        finally:
            out.append("f")
    return out


@sample(*N)
def assert_statement(n):
    assert n != 1
    assert n != 2, tell(f"n is {n}")
    assert tell(n) != 3, n
    return n


@sample(*N)
def exception_keeps_writes(n):
    done = []
    count = 0
    try:
        for i in range(n):
            count += 1
            done.append(risky(i))
    except Boom:
        pass
    return done, count


@sample(*N)
def both_handlers_assign(n):
    try:
        r = risky(n)
    except Boom:
        r = "b"
    except KeyError:
        r = "k"
    else:
        r = r + 1
    q = r
    return q


@sample(*N)
def delete_in_try(n):
    x = 1
    try:
        if n > 1:
            del x
        risky(n)
    except Boom:
        pass
    except KeyError:
        x = 5
    return x


@sample(*N)
def try_return_or_fall(n):
    try:
        if n == 0:
            return "zero"
        risky(n)
    except Boom:
        print("b")


@sample(*N)
def exit_sees_exception(n):
    with Log("one"):
        with Log("two", swallow=n == 2):
            risky(n)
        print("between")
    return "end"


@sample(*N)
def except_inside_except(n):
    try:
        risky(n)
    except Boom as e:
        try:
            risky(n + 1, at=3)
        except Boom as e:
            print("inner", e)
        print("no e") if n == 9 else None
        return "done"
    return n


@sample(*N)
def same_name_in_two_handlers(n):
    try:
        risky(n)
    except Boom as e:
        r = ("boom", str(e))
    except KeyError as e:
        r = ("key", str(e))
    else:
        r = "none"
    return r
