"""Random programs of level d: compositions of a large table of NumPy functions and methods.

Kinds of names: `A` a matrix, `V` a vector, `I` a vector of integers, `M` a vector of truth values, `C` a
complex vector, `S` a square matrix, `n` a number. A template names its operands by kind, as `<A>`, and
options by kind of option, as `<axis>`; the dtypes of the arguments vary.
"""

# ruff: noqa: E501

from __future__ import annotations

import re
from collections.abc import Callable

from tests.programs.generator import Writer

__all__ = ["TEMPLATES", "BreadthWriter"]

UNARY = """abs negative positive sign rint floor ceil trunc fix sqrt cbrt square exp exp2 expm1 log log2 log10 log1p
sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh degrees radians deg2rad rad2deg reciprocal isnan
isinf isfinite spacing fabs logical_not conjugate real imag angle nan_to_num around i0 sinc isreal iscomplex
isposinf isneginf ones_like zeros_like""".split()

BINARY = """add subtract multiply divide true_divide floor_divide remainder mod fmod power float_power maximum minimum fmax
fmin arctan2 hypot nextafter logaddexp logaddexp2 heaviside greater greater_equal less less_equal equal
not_equal logical_and logical_or logical_xor""".split()

INTEGER = "bitwise_and bitwise_or bitwise_xor left_shift right_shift gcd lcm floor_divide remainder power fmod".split()

REDUCTIONS = """sum prod mean std var max min all any argmax argmin median ptp nansum nanmean nanmax nanmin nanprod nanstd
count_nonzero average nanargmax amax amin""".split()

FIXED = """
A: <A>.T | <A>.T.copy() | <A>[::-1] | <A>[:, ::2] | <A>[1:, :-1] | np.transpose(<A>) | np.flip(<A>, axis=<axis2>) | np.fliplr(<A>) | np.flipud(<A>) | np.rot90(<A>)
A: np.roll(<A>, <int>, axis=<axis>) | np.sort(<A>, axis=<axis>) | np.argsort(<A>, axis=<axis2>, kind='stable') | np.cumsum(<A>, axis=<axis2>) | np.cumprod(<A>, axis=<axis2>)
A: np.diff(<A>, axis=<axis2>) | np.concatenate([<A>, <A>], axis=<axis2>) | np.vstack([<A>, <A>]) | np.hstack([<A>, <A>]) | np.stack([<V>, <V>], axis=<axis2>) | np.tile(<A>, (2, 1))
A: np.repeat(<A>, 2, axis=<axis2>) | np.pad(<A>, 1) | np.pad(<A>, ((0, 1), (1, 0)), mode=<pad>) | np.triu(<A>, <int>) | np.tril(<A>) | np.where(<A> > <n>, <A>, <n>) | np.clip(<A>, -1, <n>)
A: np.outer(<V>, <V>) | np.kron(<V>, <V>).reshape(-1, 1) | np.diag(<V>) | np.eye(3, <int2>) | np.full((2, 3), <n>) | np.broadcast_to(<V>, (2, <V>.size)) | np.meshgrid(<V>, <V>)[0] | np.vander(<V>, 3)
A: <A>.reshape(-1, 1) | <V>[:, None] * <V> | <V>[:, np.newaxis] | np.expand_dims(<V>, <axis2>) | np.atleast_2d(<V>) | <A> @ <A>.T | np.matmul(<A>.T, <A>) | np.dot(<A>, <A>.T) | np.einsum('ij,kj->ik', <A>, <A>)
A: np.take(<A>, [0, 1], axis=<axis2>) | np.delete(<A>, 0, axis=<axis2>) | np.insert(<A>, 1, <n>, axis=<axis2>) | np.swapaxes(<A>, 0, 1) | np.moveaxis(<A>, 0, -1) | <A>.astype(<dtype>) | np.asarray(<A>, dtype=<dtype>)
A: np.array_split(<A>, 2)[0] | np.split(<A>, [1])[1] | np.column_stack([<V>, <V>]) | np.block([[<A>, <A>]]) | np.ascontiguousarray(<A>) | np.tensordot(<A>, <A>, axes=([0], [0])) | np.cov(<A>) | np.corrcoef(<V>, <V>)
A: np.maximum.outer(<V>, <V>) | np.add.outer(<V>, <V>) | np.add.accumulate(<A>, axis=<axis2>) | np.select([<A> > 1, <A> < 0], [<A>, 0 * <A>], default=<n>) | np.round(<A>, <int2>) | <A>.round(1) | <A>.clip(<n>, 3)
A: np.take_along_axis(<A>, np.argsort(<A>, axis=0), axis=0) | np.partition(<A>, 1, axis=1) * 0 | <A>[<A>[:, 0].argsort(kind='stable')] | np.resize(<A>, (2, 2)) | <A>[[0, 1]][:, [1, 0]]
A: np.gradient(<A>, axis=<axis2>) | np.cross(np.ones((2, 3)), [1, 2, <n>]) | np.indices((2, 3))[1] | np.mgrid[0:2, 0:3][0] | np.compress([True, False, True], <A>, axis=0) | np.squeeze(<A>[None]) | <A>.squeeze() | <A>[None][0] | np.tri(3, 2)
V: <A>[0] | <A>[:, 1] | <A>[-1] | <A>.ravel() | <A>.flatten() | <A>.reshape(-1) | np.ravel(<A>, order='F') | <A>.diagonal() | np.diag(<A>) | <V>[::-1] | <V>[1:] | <V>[::2] | <V>[<I> % 2] | <V>[<V> > <n>] | <V>[<int>:]
V: np.concatenate([<V>, <V>]) | np.append(<V>, <n>) | np.roll(<V>, <int>) | np.repeat(<V>, 2) | np.tile(<V>, 2) | np.cumsum(<V>) | np.cumprod(<V>) | np.diff(<V>) | np.ediff1d(<V>) | np.sort(<V>) | np.unique(<V>) | np.flip(<V>)
V: np.linspace(0, <n>, 5) | np.arange(<int> + 4) * 0.5 | np.arange(0, 3, 0.5) | np.logspace(0, 1, 4) | np.geomspace(1, 8, 4) | np.full(3, <n>) | np.interp(<V>, [0, 1, 2], [1, 3, 2]) | np.convolve(<V>, [1, 2]) | np.correlate(<V>, [1, <n>])
V: np.where(<M>, <V>, <n>) | np.where(<V> > 0, <V>, -<V>) | np.compress(<M>, <V>) | np.extract(<V> > 0, <V>) | np.choose(<I> % 2, [<V>, -<V>]) | np.take(<V>, <I>, mode=<mode>) | np.clip(<V>, None, <n>) | np.nan_to_num(<V>, nan=<n>)
V: np.trim_zeros(<V>) | np.pad(<V>, (1, 2), mode=<pad>) | np.polyval([1, 2, 3], <V>) | np.polyfit([0, 1, 2], [1, 2, <n>], 1) | np.gradient(<V>) | np.percentile(<V>, [25, 50]) | np.quantile(<V>, 0.3) * np.ones(2) | np.insert(<V>, 0, <n>) | np.delete(<V>, 0)
V: <V>.astype(<dtype>) | <V>.copy() | <A> @ <V>[: 1].repeat(<A>.shape[1]) | <A>.sum(axis=<axis2>) | np.add.reduce(<A>, axis=<axis2>) | np.maximum.reduce(<A>) | np.maximum.accumulate(<V>) | np.multiply.accumulate(<V>) | np.hypot(<V>, 3) | np.copysign(<V>, np.nan_to_num(<V>))
V: np.select([<V> > 1], [<V>], <n>) | np.fromiter((t for t in range(3)), float) | np.array([<n>, 1, 2.5]) | np.array([<n>, <n>], dtype=<dtype>) | np.union1d(<V>, <V>) | np.setdiff1d(<V>, [1]) | np.intersect1d(<V>, <V>)
V: np.einsum('ij->i', <A>) | np.einsum('i,i->i', <V>, <V>) | np.inner(<A>, <A>[0]) | np.nancumsum(<V>) | np.fft.fft(<V>).real.round(6) | np.modf(<V>)[0] | np.frexp(<V>)[0] | np.divmod(<V>, 2)[1] | np.ldexp(<V>, 2)
V: np.lexsort((<V>,)) * 1.0 | np.histogram(<V>, bins=3, range=(0, 4))[0] | np.digitize(<V>, [0, 1, 2]) * 1.5 | np.histogram(<V>, bins=[0, 1, 2])[1] | np.mean(<A>, axis=<axis2>, keepdims=True)[0] | np.trapezoid(<A>) | np.split(<V>, 1)[0] | np.squeeze(<V>[None])
I: np.argsort(<V>, kind='stable') | np.nonzero(<V>)[0] | np.flatnonzero(<V> > <n>) | np.searchsorted(np.sort(<V>), <V>) | np.searchsorted([0, 1, 2], <V>, side='right') | np.digitize(<V>, [0, 1]) | np.bincount(np.abs(<I>) % 5) | np.bincount([0, 1, 1], minlength=4)
I: np.arange(<int> + 4) | np.arange(1, 6, 2) | np.array(<A>.shape) | <I> % 3 | <I> // 2 | <I> * 2 | np.cumsum(<I>) | np.abs(<I>) | <V>.astype(int) | np.argmax(<A>, axis=<axis2>) | np.unique(<I>) | np.unique(<I>, return_counts=True)[1] | np.where(<M>)[0]
I: np.unravel_index(3, (2, 2))[0] + <I> | np.rint(<V>).astype(np.int32) | np.count_nonzero(<A>, axis=<axis2>) | ~<I> | <I> << 1 | <I> ^ 3 | <I> & 6 | np.invert(<I>) | np.ones(3, dtype=<idtype>) | np.argwhere(<V> > 0)[:, 0] | np.sign(<I>) | <I>.astype(<idtype>)
I: np.unique(<I>, return_inverse=True)[1] | np.diff(<I>) | np.concatenate([<I>, <M>]) | np.zeros(2, np.int8) + <int> | np.left_shift(<I>, 2) | np.argpartition(<I>, 0) * 0 | np.frexp(<V>)[1] | <I>[::-1] | np.indices((3,))[0] | np.isin(<I>, [1, 2]).astype(np.uint8)
M: <V> > <n> | <V> <= <V> | <V> == <n> | ~<M> | <M> & <M> | <M> | np.isnan(<V>) | np.isfinite(<V>) | np.isclose(<V>, <n>) | np.logical_not(<V>) | np.logical_and(<V> > 0, <V> < 2) | np.isin(<V>, [0, 1]) | <A>.any(axis=<axis2>) | np.all(<A>, axis=<axis2>) | <V>.astype(bool) | np.logical_or.reduce(<A>) | np.signbit(np.nan_to_num(<V>)) | <V> != <V>
C: <C> * <C> | <C> + <n> | np.conj(<C>) | <C>.conj() | np.exp(<C>) | <V> * 1j | np.sqrt(<V> + 0j) | <C>[::-1] | -<C> | <C> / (<C> + 1) | <C> ** 2 | np.array([1j, <n>]) | np.cumsum(<C>) | <V>.astype(complex) | np.fft.fft(<V>) | np.where(<C>.real > 0, <C>, 1j)
S: <S> @ <S> | <S>.T | <S> + np.eye(3) | np.linalg.inv(<S> + 10 * np.eye(3)) | np.linalg.matrix_power(<S>, 2) | np.linalg.cholesky(<S> @ <S>.T + 9 * np.eye(3)) | np.linalg.qr(<S>)[1] | np.linalg.pinv(<S>) | np.tril(<S>) | np.fill_diagonal(<S>, 1) or <S> | <S> * <n> | np.linalg.solve(<S> + 20 * np.eye(3), <S>)
n: <V>.sum() | <V>[0] | <V>[-1] | <A>[1, 2] | <A>[0, <int>] | <A>.mean() | <V>.max() | <V>.item(0) | np.trace(<A>) | np.dot(<V>, <V>) | np.vdot(<V>, <V>) | <V> @ <V> | np.inner(<V>, <V>) | np.linalg.norm(<V>) | np.linalg.norm(<A>, axis=0)[0] | np.linalg.norm(<A>, 1) | np.linalg.det(<S>)
n: len(<V>) | <A>.size | <A>.shape[0] | <A>.ndim | <V>.nbytes | np.argmax(<V>) | <V>.argmin() | float(<V>[0]) | int(<I>[0]) | bool(<M>[0]) | np.ptp(<A>) | np.median(<V>) | np.percentile(<V>, 30) | np.quantile(<V>, 0.5) | np.std(<V>, ddof=1) | <V>.var() | <V>.prod()
n: np.array_equal(<V>, <V>) | np.allclose(<V>, <V>) | np.any(<V>) | np.size(<A>, 0) | np.ndim(<A>) | np.shape(<A>)[1] | np.float32(<n>) | np.int64(<int>) | np.interp(<n>, [0, 1], [2, 3]) | np.sqrt(<n>) | np.abs(<n>) | np.maximum(<n>, 1) | np.round(<n>, 1) | np.trapezoid(<V>)
n: <C>[0].real | abs(<C>[0]) | np.angle(<C>[0]) | np.linalg.eigvalsh(<S> + <S>.T)[0] | np.linalg.svd(<S>)[1][0] | np.linalg.matrix_rank(<S>) | np.cross([1, 2], [3, <n>]) | np.einsum('ii', <S>) | np.einsum('i,i', <V>, <V>) | np.searchsorted([0, 1, 2], <n>) | sum(<V>) | max(<V>) | min(<I>)
n: <A>.sum(dtype=<dtype>) | np.sum(<A>, initial=<n>) | np.max(<V>, initial=0) | np.sum(<V>, where=<V> > 0) | np.mean(<V>, where=<V> > 0) | np.count_nonzero(<V>) | np.average(<V>, weights=np.abs(<V>) + 1) | np.result_type(<A>, <I>).itemsize | <A>.dtype.itemsize | np.finfo(<V>.dtype).eps | np.divide(<n>, 2)
"""


def _table() -> dict[str, list[str]]:
    table: dict[str, list[str]] = {kind: [] for kind in "AVIMCSn"}
    for row in FIXED.strip().splitlines():
        kind, _, texts = row.partition(": ")
        table[kind] += [text for text in texts.split(" | ")]
    for kind in "AVC":
        table[kind] += [f"np.{name}(<{kind}>)" for name in UNARY]
    for kind in "AV":
        for left, right in (
            (f"<{kind}>", f"<{kind}>"),
            (f"<{kind}>", "<n>"),
            ("<n>", f"<{kind}>"),
            (f"<{kind}>", "<I>"),
        ):
            table[kind] += [f"np.{name}({left}, {right})" for name in BINARY]
        table[kind] += [
            f"<{kind}> {operator} {right}"
            for operator in ("+", "-", "*", "/", "//", "%", "**")
            for right in (f"<{kind}>", "<n>")
        ]
    table["I"] += [f"np.{name}(<I>, {right})" for name in INTEGER for right in ("<I>", "2", "<int>")]
    for name in REDUCTIONS:
        table["V"] += [f"np.{name}(<A>, axis=<axis2>)"] * 2
        table["n"].append(f"np.{name}(<V>)")
        table["n"].append(f"np.{name}(<A>)")
        if name not in ("median", "average", "argmax", "argmin", "nanargmax", "count_nonzero"):
            table["A"].append(f"np.{name}(<A>, axis=<axis>, keepdims=True)")
    return table


TEMPLATES = _table()

OPTIONS = {
    "axis": ("0", "1", "-1", "None"), "axis2": ("0", "1", "-1"), "dtype": ("np.float32", "np.int64", "float", "bool", "np.complex64", "np.float16", "np.uint8"),
    "idtype": ("np.int8", "np.uint8", "np.int16", "np.uint32", "int", "bool"), "pad": ("'edge'", "'constant'", "'reflect'", "'wrap'"), "mode": ("'clip'", "'wrap'"), "int2": ("0", "1", "2"),
}  # fmt: skip


class BreadthWriter(Writer):
    """Writes programs of level d."""

    param_kinds = ("A", "A", "V", "V", "I", "S", "C", "M", "n", "n", "int")
    budget = (3, 8)

    def inputs(self, kinds: list[str]) -> tuple[str, ...]:
        """Arguments whose dtypes are drawn once or per input."""
        rows = []
        dtypes = [self.dtype(kind) for kind in kinds]
        self.sizes = (self.pick((2, 3, 3)), 3, 3) if self.chance(0.8) else (2, 4, 5)
        for _ in range(3):
            if self.chance(0.3):
                dtypes = [self.dtype(kind) for kind in kinds]
            if self.chance(0.2):
                self.sizes = self.pick(((1, 3, 3), (4, 3, 3), (2, 1, 1), (1, 4, 4), (3, 2, 0)))
            rows.append(
                "("
                + "".join(f"{self.value(kind, dtype)}, " for kind, dtype in zip(kinds, dtypes, strict=True))
                + ")"
            )
        return tuple(rows)

    def dtype(self, kind: str) -> str:
        """A dtype for an argument of a kind."""
        if kind == "I":
            return str(self.pick(("np.int64", "np.int64", "np.int32", "np.uint8", "np.int8")))
        if kind in "CM":
            return {"C": str(self.pick(("np.complex128", "np.complex64"))), "M": "bool"}[kind]
        if kind == "n":
            return str(self.pick(("", "", "", "np.float64", "np.float32", "int", "np.int64")))
        return str(
            self.pick(
                ("np.float64",) * 5
                + ("np.float32", "np.float32", "np.int64", "np.float16", "bool", "np.int16")
            )
        )

    def value(self, kind: str, dtype: str) -> str:
        """The text of an argument."""
        draw = lambda count: [
            self.pick((0.0, 1.0, -1.0, 2.0, 0.5, 3.0, -2.5, 4.25, 1.5, 7.0, -0.0)) for _ in range(count)
        ]
        rows, columns, length = self.sizes
        if kind == "int":
            return str(self.rng.randint(-2, 4))
        if kind == "n":
            number = self.pick((0.0, 1.0, 2.0, -1.0, 0.5, 3.0))
            return f"{dtype}({number})" if dtype else str(number)
        if kind == "A":
            return f"np.array({draw(rows * columns)}).astype({dtype}).reshape({rows}, {columns})"
        if kind == "S":
            return f"np.array({draw(9)}).astype({dtype}).reshape(3, 3)"
        if kind == "C":
            return f"(np.array({draw(length)}) + 1j * np.array({draw(length)})).astype({dtype})"
        if kind == "I":
            return f"np.array({[abs(int(t)) if 'uint' in dtype else int(t) for t in draw(length)]}, dtype={dtype})"
        return f"np.array({draw(length)}).astype({dtype})"

    def statements(self) -> list[tuple[float, Callable[[], bool | None]]]:
        """NumPy first, some control flow around it."""
        loop = 1.0 if self.indent < 3 else 0.1
        return [
            (10.0, self.compute),
            (1.2 * loop, self.if_),
            (0.8 * loop, self.for_),
            (0.4 * loop, self.try_),
            (0.7, self.show),
            (1.2, self.store),
            (0.2, self.guarded_leave),
        ]

    def assign_new(self, kind: str) -> None:
        """Starts with a computed array."""
        self.compute()

    def fill(self, template: str, depth: int) -> str:
        """A template with its holes filled."""

        before: dict[str, str] = {}  # the same operand again: its shape fits

        def hole(match: re.Match[str]) -> str:
            kind = match[1]
            if kind in "AVICSM" and kind in before and self.chance(0.6):
                return before[kind]
            text = before[kind] = fresh(kind)
            return text

        def fresh(kind: str) -> str:
            if kind in OPTIONS:
                return str(self.pick(OPTIONS[kind]))
            if kind == "int":
                return self.atom("int")
            return self.operand(kind, depth)

        return re.sub(r"<(\w+)>", hole, template)

    def operand(self, kind: str, depth: int) -> str:
        """A name, a literal or a nested expression."""
        found = sorted(
            n for n, k in self.names.items() if k == kind or (kind == "n" and k in ("int", "num", "float"))
        )
        if found and self.chance(0.75):
            return str(self.pick(found))
        if depth > 0 and self.chance(0.5):
            return f"({self.fill(self.pick(TEMPLATES[kind]), depth - 1)})"
        if found:
            return str(self.pick(found))
        literal = {"A": "np.arange(6.0).reshape(2, 3)", "V": "np.array([1.0, -2.0, 0.5])", "I": "np.array([2, 0, 1])", "M": "np.array([True, False, True])",
                   "C": "np.array([1 + 2j, -1j, 0.5])", "S": "np.array([[2.0, 1, 0], [1, 3, 1], [0, 1, 4]])"}  # fmt: skip
        return literal.get(kind) or self.number()

    def compute(self) -> None:
        """Binds a name to a random NumPy expression."""
        kind = self.pick("AAAVVVVIMCSnn")
        text = self.fill(self.pick(TEMPLATES[kind]), 2)
        same = sorted(n for n, k in self.names.items() if k == kind and n not in self.locked)
        name = self.pick(same) if same and self.chance(0.25) else self.new("x")
        self.line(f"{name} = {text}")
        self.bind(name, kind)

    def show(self) -> None:
        """Prints a name or its shape."""
        name = self.pick(sorted(self.names))
        self.line(
            self.pick(
                (
                    f"print({name})",
                    f"print(np.shape({name}))",
                    f"print(np.sum({name}))",
                    f"print(np.asarray({name}).dtype, {name})",
                )
            )
        )

    def store(self) -> None:
        """Writes into an array."""
        found = sorted(n for n, k in self.names.items() if k in "AVICS")
        if not found:
            return self.compute()
        name = self.pick(found)
        number = self.operand("n", 1)
        self.line(
            self.pick(
                (
                    f"{name}[0] = {number}",
                    f"{name}[-1] += {number}",
                    f"{name}[{name} > 0] = {number}",
                    f"{name} *= 2",
                    f"{name}[...] = {number}",
                    f"{name}[1:] = {name}[:-1]",
                    f"np.add({name}, {number}, out={name})",
                    f"{name}[::2] -= 1",
                    f"np.multiply({name}, 2, out={name}, where={name} > 0)",
                    f"{name}.sort()",
                )
            )
        )
        return None

    def bool_expr(self, d: int) -> str:
        """A test on a number."""
        number = self.operand("n", 1)
        return str(
            self.pick(
                (
                    f"{number} > {self.number()}",
                    f"{number} < {self.number()}",
                    f"{self.operand('n', 0)} >= {number}",
                    f"np.any({self.operand('V', 1)})",
                    f"({self.operand('V', 0)} > {number}).all()",
                )
            )
        )

    def final_return(self) -> None:
        """Returns some of the names."""
        names = sorted(self.names)
        self.line(f"return {', '.join(self.rng.sample(names, min(len(names), self.rng.randint(1, 4))))}")

    def helper(self) -> None:
        """No helpers."""

    def except_clauses(self) -> list[str]:
        """The exceptions of NumPy."""
        return [str(self.pick(("ValueError", "Exception", "IndexError", "(ValueError, TypeError)")))]

    def risky(self) -> None:
        """Most expressions may raise."""
        self.compute()
