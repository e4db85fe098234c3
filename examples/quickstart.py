"""A rule of one's own, and softmax regression on handwritten digits: from relation to rewritten graph to trained model."""

import sys

import numpy as np
from kanren import run
from rich.console import Console
from rich.progress import track
from sklearn.datasets import load_digits

import termgraph as tg
import termgraph.tensor as tt

REQUIRED = 0.95
console = Console()

# --- a rule is a relation ------------------------------------------------------------------------------------------------


@tg.relation
def log_of_reciprocal(x):
    """log(1 / x) = -log(x)"""
    yield tt.log(1 / x), -tt.log(x)


console.rule("a rule is a relation: kanren runs it in both directions")
a, answer = tt.vector("a"), tg.var("answer")
print("forwards: ", tg.pprint(tt.log(1 / a)), "->", *run(0, answer, log_of_reciprocal(tt.log(1 / a), answer)))
print("backwards:", tg.pprint(-tt.log(a)), "<-", *run(0, answer, log_of_reciprocal(answer, -tt.log(a))))

# --- a model, written as in a textbook: the mean surprise log(1 / p) at the right digit ----------------------------------

pixels, digit = tt.matrix("pixels"), tt.lvector("digit")
W, b = tg.shared(np.zeros((64, 10)), "W"), tg.shared(np.zeros(10), "b")
scores = pixels @ W + b
p = tt.exp(scores) / tt.sum(tt.exp(scores), axis=1, keepdims=True)
surprise = tt.log(1 / p)
loss = tt.mean(surprise[tt.arange(digit.shape[0]), digit])

# --- compiled: first our rule, then those shipped ------------------------------------------------------------------------

shipped = tg.get_mode("FAST_RUN").phases
mode = tg.Mode([tg.Phase("our own", tg.RuleSet([log_of_reciprocal])), *shipped])
gradients = tg.grad(loss, [W, b])
train = tg.function([pixels, digit], loss, updates=[(v, v - g) for v, g in zip([W, b], gradients, strict=True)], mode=mode)
predict = tg.function([pixels], tt.argmax(scores, axis=1), mode=mode)

console.rule("the loss as written")
tg.dprint(loss)
console.rule("the loss as compiled")
tg.dprint(train.maker.fgraph.outputs[0])
console.rule("the rules that made the difference, to the loss and its gradients")
for report in train.reports:
    if report.fires:
        console.print(report)

# --- trained -------------------------------------------------------------------------------------------------------------

images, labels = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(labels))
images, labels = images[order] / 16, labels[order]
held_out = len(labels) // 4

console.rule("training")
progress = Console(stderr=True)
for _ in track(range(300), "training", console=progress, disable=not progress.is_terminal):
    last = train(images[held_out:], labels[held_out:])
accuracy = np.mean(predict(images[:held_out]) == labels[:held_out])
print(f"loss {last:.3f}, accuracy on {held_out} held-out digits: {accuracy:.3f}")
if accuracy < REQUIRED:
    sys.exit(f"the accuracy is below {REQUIRED}")
