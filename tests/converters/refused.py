"""Functions that conversion refuses."""


async def async_function(x):
    return x


def yield_value(x):
    y = yield x
    return y


def return_in_finally(x):
    try:
        x = 1 / x
    finally:
        return x


def break_in_finally(x):
    for _ in range(3):
        try:
            x = 1 / x
        finally:
            if x:
                break


def calls_locals(x):
    return locals()


def calls_eval(x):
    return eval("x + 1")


def calls_exec(x):
    exec("x = 1")
    return x


def calls_vars(x):
    return vars()


def calls_globals():
    return globals()["x"]


def allowed(x, locals):
    for _ in range(3):
        try:
            x = 1 / x
        finally:
            for y in range(3):
                if y:
                    break

            def inner():
                return y

    return vars(x), dir(x), locals()
