"""The examples run, as a reader runs them, and show what they say they show."""

import re
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parent.parent / "examples"


def output_of(name):
    """What an example prints; it must end well and complain of nothing."""
    done = subprocess.run([sys.executable, "-W", "error::RuntimeWarning", EXAMPLES / name], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # nor is there a progress bar where there is no terminal
    return done.stdout


def fires(output):
    """Rule -> fires, from the tables printed."""
    rows = re.findall(r"^│ (\w+) +│ +\d+ │ +\d+ │ +(\d+) │", output, re.MULTILINE)
    return {rule: int(count) for rule, count in rows}


def accuracy(output):
    return float(re.search(r"accuracy on \d+ held-out \w+: ([\d.]+)", output).group(1))


def test_quickstart():
    output = output_of("quickstart.py")
    assert "forwards:  log(1 / a) -> -log(a)" in output
    assert "backwards: -log(a) <- log(1 / a)" in output
    fired = fires(output)
    for rule in ("log_of_reciprocal", "softmax_form", "log_softmax_form"):
        assert fired[rule] == 1
    written, compiled = output.split("the loss as compiled")
    assert "LogSoftmax" not in written
    assert "LogSoftmax" in compiled
    assert len(re.findall(r"stopped:\s+equilibrium", output)) == 3
    assert accuracy(output) >= 0.95


def test_sparse_text():
    output = output_of("sparse_text.py")
    written, compiled = output.split("the new value of W, as compiled")
    assert "Usmm" not in written
    assert "Usmm" in compiled
    assert fires(output)["add_product"] == 1
    assert "the gradient stays sparse" in output
    assert "DenseFromSparse" not in output
    assert accuracy(output) >= 0.75


def test_a_result_below_what_is_required_is_an_error(tmp_path):
    demanding = tmp_path / "quickstart.py"
    demanding.write_text((EXAMPLES / "quickstart.py").read_text().replace("REQUIRED = 0.95", "REQUIRED = 1.01"))
    done = subprocess.run([sys.executable, demanding], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "the accuracy is below 1.01" in done.stderr
