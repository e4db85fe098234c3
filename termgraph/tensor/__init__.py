"""Tensors: their type, the functions on them, and the constructors of variables.

>>> import termgraph.tensor as tt
>>> x = tt.vector("x")
>>> (x + 1).type
Vector(float64, shape=(?,))
"""

import typing as _typing

from termgraph.tensor.creation import *  # noqa: F403
from termgraph.tensor.cumulative import *  # noqa: F403
from termgraph.tensor.dimshuffle import DimShuffle, dimshuffle, expand_dims, squeeze, transpose
from termgraph.tensor.elementwise import Elemwise, Row, cast, row_named
from termgraph.tensor.elementwise import rows as _table  # `rows` is the constructor of row variables
from termgraph.tensor.getitem import *  # noqa: F403
from termgraph.tensor.join import *  # noqa: F403
from termgraph.tensor.linear import *  # noqa: F403
from termgraph.tensor.literal import lengths_from_inputs
from termgraph.tensor.reduction import *  # noqa: F403
from termgraph.tensor.scalar import *  # noqa: F403
from termgraph.tensor.shape import *  # noqa: F403
from termgraph.tensor.special import *  # noqa: F403
from termgraph.tensor.square import *  # noqa: F403
from termgraph.tensor.subtensor import *  # noqa: F403
from termgraph.tensor.type import TensorType
from termgraph.tensor.variable import (
    TensorConstant,
    TensorSharedVariable,
    TensorVariable,
    as_tensor,
    as_tensor_variable,
    constant,
)
from termgraph.terms.operators import PatternOperators, bind_operators
from termgraph.terms.term import SIGNS

# isort: split
# Last, for importing the module `scalar` binds that name in this package, and `scalar` has to be the constructor.
from termgraph.tensor.construct import *  # noqa: F403

for _row in _table():
    if _row.sign is not None:
        SIGNS[Elemwise(_row).canonical] = _row.sign
bind_operators(PatternOperators, globals())
bind_operators(TensorVariable, globals())
bind_operators(TensorConstant, globals())
bind_operators(TensorSharedVariable, globals())

if _typing.TYPE_CHECKING:
    def __getattr__(name: str) -> _typing.Any:  # the functions of the table and the constructors are defined by loops
        ...
