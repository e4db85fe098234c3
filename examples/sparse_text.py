"""Which package of the standard library is a docstring from? A bag-of-words classifier whose gradient stays sparse."""

import ast
import sys
import sysconfig
from collections import Counter
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from sklearn.feature_extraction.text import TfidfVectorizer

import termgraph as tg
import termgraph.sparse as sparse
import termgraph.tensor as tt

PACKAGES, RATE, REQUIRED = 8, 30.0, 0.75
console = Console()


def docstrings():
    """(package, docstring) for everything documented in the source of the standard library; nothing is imported."""
    library = Path(sysconfig.get_paths()["stdlib"])
    for path in sorted(library.rglob("*.py")):
        package = path.relative_to(library).parts[0].removesuffix(".py")
        if package in sys.stdlib_module_names and not {"test", "tests", "idle_test"} & set(path.parts):
            for node in ast.walk(ast.parse(path.read_bytes())):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                    text = ast.get_docstring(node)
                    if text:
                        yield package, text


# --- the data: one sparse row of word weights for each docstring ---------------------------------------------------------

found = list(docstrings())
names = [name for name, _ in Counter(name for name, _ in found).most_common(PACKAGES)]
found = [(names.index(name), text) for name, text in found if name in names]
found = [found[i] for i in np.random.default_rng(0).permutation(len(found))]
labels = np.array([label for label, _ in found])
rows = TfidfVectorizer(min_df=2).fit_transform([text for _, text in found]).tocsr()
print(f"{len(found)} docstrings of {', '.join(names)}: {rows.shape[1]} words, {rows.nnz / np.prod(rows.shape):.1%} stored")

# --- the model, and its updates W - rate * gradient ----------------------------------------------------------------------

words, package = sparse.csr_matrix("words"), tt.lvector("package")
W, b = tg.shared(np.zeros((rows.shape[1], PACKAGES)), "W"), tg.shared(np.zeros(PACKAGES), "b")
scores = words @ W + b
p = tt.exp(scores) / tt.sum(tt.exp(scores), axis=1, keepdims=True)
loss = -tt.mean(tt.log(p)[tt.arange(package.shape[0]), package])
updates = [(v, v - RATE * g) for v, g in zip([W, b], tg.grad(loss, [W, b]), strict=True)]
train = tg.function([words, package], loss, updates=updates)
predict = tg.function([words], tt.argmax(scores, axis=1))

console.rule("the new value of W, as written")
tg.dprint(updates[0][1], depth=5)
console.rule("the new value of W, as compiled")
tg.dprint(train.maker.fgraph.outputs[1], depth=3)
for report in train.reports:
    if report.fires:
        console.print(report)
assert sum(report.rules["add_product"].fires for report in train.reports if "add_product" in report.rules) == 1
assert not any(isinstance(node.op, sparse.DenseFromSparse) for node in train.maker.fgraph.apply_nodes)
print("the gradient stays sparse: one Usmm adds it to W, and nothing sparse is made dense")

# --- trained -------------------------------------------------------------------------------------------------------------

held_out = len(found) // 4
progress = Console(stderr=True)
for _ in track(range(300), "training", console=progress, disable=not progress.is_terminal):
    last = train(rows[held_out:], labels[held_out:])
accuracy = np.mean(predict(rows[:held_out]) == labels[:held_out])
print(f"loss {last:.3f}, accuracy on {held_out} held-out docstrings: {accuracy:.3f}")
if accuracy < REQUIRED:
    sys.exit(f"the accuracy is below {REQUIRED}")
