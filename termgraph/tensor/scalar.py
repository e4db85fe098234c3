"""THE table of scalar functions. One row, one line: name, arity, NumPy function, dtype rule, derivatives, facts.

The name on the left is the function to call: it builds a graph from variables, and a pattern from logic variables. A
partial derivative is written for each argument as a function of (g, *arguments, result): g times the derivative, None
where that is zero. Complex arguments follow NumPy; their derivatives are not in the table yet.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.special as special

from termgraph.config import config
from termgraph.errors import GraphTypeError
from termgraph.tensor.elementwise import DtypeRule, Elemwise
from termgraph.tensor.elementwise import elementwise as row
from termgraph.tensor.type import COMPLEX, DISCRETE

_SMALL = {"bool", "int8", "int16", "uint8", "uint16"}


def same(dtypes: Sequence[str]) -> str:
    """The dtype that NumPy promotes the arguments to."""
    return str(np.result_type(*[np.dtype(d) for d in dtypes]))


def floating(dtypes: Sequence[str]) -> str:
    """As `same`, but integers become float64 (float32 up to 16 bits), as in PyTensor's `upgrade_to_float`."""
    dtype = same(dtypes)
    if dtype not in DISCRETE:
        return dtype
    return "float32" if dtype in _SMALL and config.floatX == "float32" else "float64"


def boolean(dtypes: Sequence[str]) -> str:
    """bool."""
    return "bool"


def only_real(rule: DtypeRule) -> DtypeRule:
    """`rule`, for functions that are not defined for complex arguments."""
    def checked(dtypes: Sequence[str]) -> str:
        for dtype in dtypes:
            if dtype in COMPLEX:
                raise GraphTypeError(f"expected real numbers, got {dtype}.")
        return rule(dtypes)
    return checked


def counted(dtypes: Sequence[str]) -> str:
    """As `same`, but that of bools is int8, as in NumPy."""
    dtype = same(dtypes)
    return "int8" if dtype == "bool" else dtype


def signed(dtypes: Sequence[str]) -> str:
    """As `same`, for anything but bools, which have no differences and no signs."""
    dtype = same(dtypes)
    if dtype == "bool":
        raise GraphTypeError("expected numbers, got bool; convert with .astype, or use ~ and ^ on bools.")
    return dtype


def bits(dtypes: Sequence[str]) -> str:
    """As `same`, for integers and bools only."""
    dtype = same(dtypes)
    if any(d not in DISCRETE for d in dtypes) or dtype not in DISCRETE:
        raise GraphTypeError(f"expected integers or bools that fit into one integer dtype, got {', '.join(dtypes)}.")
    return dtype


real_counted, real_floating = only_real(counted), only_real(floating)


def branches(dtypes: Sequence[str]) -> str:
    """That of the second and third arguments."""
    return same(dtypes[1:])


def second_dtype(dtypes: Sequence[str]) -> str:
    """That of the second argument."""
    return dtypes[1]


def real_part(dtypes: Sequence[str]) -> str:
    """The dtype of the real part."""
    return {"complex64": "float32", "complex128": "float64"}.get(dtypes[0], dtypes[0])


def magnitude(dtypes: Sequence[str]) -> str:
    """That of the absolute value."""
    return real_part(dtypes) if dtypes[0] in COMPLEX else dtypes[0]


def _log1mexp(x: np.ndarray) -> np.ndarray:
    # Maechler (2012), "Accurately computing log(1 - exp(-|a|))": switch formulas at log 2.
    with np.errstate(divide="ignore", invalid="ignore"):  # each formula is also computed where the other one is taken
        return np.where(x < -np.log(2.0), np.log1p(-np.exp(x)), np.log(-np.expm1(x))).astype(x.dtype, copy=False)


def _softplus(x: np.ndarray) -> np.ndarray:
    return np.logaddexp(x.dtype.type(0), x)


LN2, LN10, PI = float(np.log(2.0)), float(np.log(10.0)), float(np.pi)
ANY, POSITIVE, ABOVE_ONE, UNIT, NEGATIVE = (-3.0, 3.0), (0.1, 4.0), (1.1, 4.0), (-0.9, 0.9), (-4.0, -0.1)

# fmt: off
# mypy: disable-error-code="has-type"
# --- arithmetic ---
add = row("add", 2, np.add, same, lambda g, x, y, z: g, lambda g, x, y, z: g, commutative=True, identity=0, sign=("+", 4))
sub = row("sub", 2, np.subtract, signed, lambda g, x, y, z: g, lambda g, x, y, z: -g, sign=("-", 4))
mul = row("mul", 2, np.multiply, same, lambda g, x, y, z: g * y, lambda g, x, y, z: g * x, commutative=True, identity=1, absorbing=0, sign=("*", 5))
true_div = row("true_div", 2, np.true_divide, floating, lambda g, x, y, z: g / y, lambda g, x, y, z: -(g * z / y), domain=POSITIVE, sign=("/", 5))
int_div = row("int_div", 2, np.floor_divide, real_counted, None, None, domain=POSITIVE, sign=("//", 5))
mod = row("mod", 2, np.remainder, real_counted, lambda g, x, y, z: g, lambda g, x, y, z: -(g * (x // y)), domain=POSITIVE, sign=("%", 5))
pow = row("pow", 2, np.power, counted, lambda g, x, y, z: g * y * pow(x, y - 1), lambda g, x, y, z: g * switch(gt(x, 0), log(switch(gt(x, 0), x, 1)), 0) * z, domain=POSITIVE, sign=("**", 7))
neg = row("neg", 1, np.negative, signed, lambda g, x, y: -g, inverse="neg", sign=("-", 6))
abs = row("abs", 1, np.absolute, magnitude, lambda g, x, y: g * sign(x), result=("nonnegative",))
sign = row("sign", 1, np.sign, signed, None)
sqr = row("sqr", 1, np.square, counted, lambda g, x, y: g * (2 * x), inverse="sqrt", result=("nonnegative",))
sqrt = row("sqrt", 1, np.sqrt, floating, lambda g, x, y: g * 0.5 / y, inverse="sqr", domain=POSITIVE, result=("nonnegative",))
cbrt = row("cbrt", 1, np.cbrt, real_floating, lambda g, x, y: g / (3 * sqr(y)), domain=POSITIVE)
reciprocal = row("reciprocal", 1, np.reciprocal, floating, lambda g, x, y: -(g * sqr(y)), inverse="reciprocal", domain=POSITIVE)
# --- exponentials and logarithms ---
exp = row("exp", 1, np.exp, floating, lambda g, x, y: g * y, inverse="log", result=("positive",))
exp2 = row("exp2", 1, np.exp2, floating, lambda g, x, y: g * y * LN2, inverse="log2", result=("positive",))
expm1 = row("expm1", 1, np.expm1, floating, lambda g, x, y: g * (y + 1), inverse="log1p")
log = row("log", 1, np.log, floating, lambda g, x, y: g / x, inverse="exp", domain=POSITIVE)
log2 = row("log2", 1, np.log2, floating, lambda g, x, y: g / (x * LN2), inverse="exp2", domain=POSITIVE)
log10 = row("log10", 1, np.log10, floating, lambda g, x, y: g / (x * LN10), domain=POSITIVE)
log1p = row("log1p", 1, np.log1p, floating, lambda g, x, y: g / (1 + x), inverse="expm1", domain=POSITIVE)
log1mexp = row("log1mexp", 1, _log1mexp, real_floating, lambda g, x, y: -(g / expm1(-x)), domain=NEGATIVE)
logaddexp = row("logaddexp", 2, np.logaddexp, real_floating, lambda g, x, y, z: g * exp(x - z), lambda g, x, y, z: g * exp(y - z), commutative=True)
softplus = row("softplus", 1, _softplus, real_floating, lambda g, x, y: g * sigmoid(x), result=("positive",))
sigmoid = row("sigmoid", 1, special.expit, real_floating, lambda g, x, y: g * y * (1 - y), result=("positive",))
# --- trigonometry ---
sin = row("sin", 1, np.sin, floating, lambda g, x, y: g * cos(x))
cos = row("cos", 1, np.cos, floating, lambda g, x, y: -(g * sin(x)))
tan = row("tan", 1, np.tan, floating, lambda g, x, y: g * (1 + sqr(y)), domain=(-1.2, 1.2))
arcsin = row("arcsin", 1, np.arcsin, floating, lambda g, x, y: g / sqrt(1 - sqr(x)), domain=UNIT)
arccos = row("arccos", 1, np.arccos, floating, lambda g, x, y: -(g / sqrt(1 - sqr(x))), domain=UNIT)
arctan = row("arctan", 1, np.arctan, floating, lambda g, x, y: g / (1 + sqr(x)))
arctan2 = row("arctan2", 2, np.arctan2, real_floating, lambda g, x, y, z: g * y / (sqr(x) + sqr(y)), lambda g, x, y, z: -(g * x / (sqr(x) + sqr(y))), domain=POSITIVE)
sinh = row("sinh", 1, np.sinh, floating, lambda g, x, y: g * cosh(x), inverse="arcsinh")
cosh = row("cosh", 1, np.cosh, floating, lambda g, x, y: g * sinh(x), result=("positive",))
tanh = row("tanh", 1, np.tanh, floating, lambda g, x, y: g * (1 - sqr(y)))
arcsinh = row("arcsinh", 1, np.arcsinh, floating, lambda g, x, y: g / sqrt(sqr(x) + 1), inverse="sinh")
arccosh = row("arccosh", 1, np.arccosh, floating, lambda g, x, y: g / sqrt(sqr(x) - 1), domain=ABOVE_ONE, result=("nonnegative",))
arctanh = row("arctanh", 1, np.arctanh, floating, lambda g, x, y: g / (1 - sqr(x)), domain=UNIT)
deg2rad = row("deg2rad", 1, np.deg2rad, real_floating, lambda g, x, y: g * (PI / 180), inverse="rad2deg")
rad2deg = row("rad2deg", 1, np.rad2deg, real_floating, lambda g, x, y: g * (180 / PI), inverse="deg2rad")
# --- special functions ---
erf = row("erf", 1, special.erf, floating, lambda g, x, y: g * exp(-sqr(x)) * (2 / PI ** 0.5))
erfc = row("erfc", 1, special.erfc, floating, lambda g, x, y: -(g * exp(-sqr(x)) * (2 / PI ** 0.5)), result=("positive",))
gamma = row("gamma", 1, special.gamma, floating, lambda g, x, y: g * y * psi(x), domain=POSITIVE)
gammaln = row("gammaln", 1, special.gammaln, real_floating, lambda g, x, y: g * psi(x), domain=POSITIVE)
psi = row("psi", 1, special.psi, floating, lambda g, x, y: g * tri_gamma(x), domain=POSITIVE)
tri_gamma = row("tri_gamma", 1, lambda x: special.polygamma(1, x), real_floating, lambda g, x, y: g * tetra_gamma(x), domain=POSITIVE)
tetra_gamma = row("tetra_gamma", 1, lambda x: special.polygamma(2, x), real_floating, lambda g, x, y: g * polygamma(3, x), domain=POSITIVE)
polygamma = row("polygamma", 2, special.polygamma, real_floating, None, lambda g, n, x, z: g * polygamma(n + 1, x), domain=POSITIVE)
# --- order ---
maximum = row("maximum", 2, np.maximum, same, lambda g, x, y, z: g * ge(x, y), lambda g, x, y, z: g * lt(x, y), commutative=True)
minimum = row("minimum", 2, np.minimum, same, lambda g, x, y, z: g * le(x, y), lambda g, x, y, z: g * gt(x, y), commutative=True)
clip = row("clip", 3, np.clip, same, lambda g, x, a, b, z: g * (ge(x, a) & le(x, b)), lambda g, x, a, b, z: g * (lt(x, a) & le(a, b)), lambda g, x, a, b, z: g * (gt(x, b) | gt(a, b)))
lt = row("lt", 2, np.less, boolean, None, None, sign=("<", 0))
le = row("le", 2, np.less_equal, boolean, None, None, sign=("<=", 0))
gt = row("gt", 2, np.greater, boolean, None, None, sign=(">", 0))
ge = row("ge", 2, np.greater_equal, boolean, None, None, sign=(">=", 0))
eq = row("eq", 2, np.equal, boolean, None, None, commutative=True)
neq = row("neq", 2, np.not_equal, boolean, None, None, commutative=True)
isnan = row("isnan", 1, np.isnan, boolean, None)
isinf = row("isinf", 1, np.isinf, boolean, None)
switch = row("switch", 3, np.where, branches, None, lambda g, c, x, y, z: switch(c, g, 0), lambda g, c, x, y, z: switch(c, 0, g), selects=True)
# --- rounding ---
floor = row("floor", 1, np.floor, real_floating, None)
ceil = row("ceil", 1, np.ceil, real_floating, None)
trunc = row("trunc", 1, np.trunc, real_floating, None)
round_half_to_even = row("round_half_to_even", 1, np.rint, floating, None)
# --- bits and logic ---
and_ = row("and_", 2, np.bitwise_and, bits, None, None, commutative=True, sign=("&", 3))
or_ = row("or_", 2, np.bitwise_or, bits, None, None, commutative=True, sign=("|", 1))
xor = row("xor", 2, np.bitwise_xor, bits, None, None, commutative=True, sign=("^", 2))
invert = row("invert", 1, np.invert, bits, None, inverse="invert", sign=("~", 6))
# --- shape and parts ---
second = row("second", 2, lambda x, y: np.broadcast_to(y, np.broadcast_shapes(x.shape, y.shape)), second_dtype, None, lambda g, x, y, z: g)
identity = row("identity", 1, np.copy, same, lambda g, x, y: g)
real = row("real", 1, np.real, real_part, lambda g, x, y: g)
imag = row("imag", 1, lambda x: np.array(x.imag), real_part, None)
conj = row("conj", 1, np.conjugate, same, lambda g, x, y: conj(g))
# fmt: on

sgn = sign
where = switch
fill = second

__all__ = [_name for _name, _value in globals().items() if isinstance(_value, Elemwise)]
