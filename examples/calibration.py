"""Weights of one attention head with known learning coefficients λ, to try an estimator on.

    python examples/calibration.py          # the hundred λ, which are proved
    pip install devinterp
    python examples/calibration.py 7 12     # points 7 and 12, with estimates by devinterp 2: a minute each

``calibration.json`` has keys K, queries Q (a × d) and values V (d' × d) of integers, t tokens, λ, and its
multiplicity m. The data are Gaussian tokens X, and φ(X) + N(0, 1) with φ(X) = V X XᵀKᵀQ X, or
V X softmax(XᵀKᵀQ X); the loss is half the squared error.
"""

import importlib.util
import json
import os
import sys
import warnings
from pathlib import Path

SAMPLES, BATCH, STEPS = 8192, 32, 1500
#: The inverse temperature nβ, the localization γ, and the step ε.
SETTING = {"n_beta": 10.0, "localization": 1.0, "lr": 1e-4}


def estimate(point):
    """λ by stochastic gradient Langevin dynamics, four chains from the weights, and its standard error.

    devinterp 2 samples language models: its data are rows of tokens. A row here is the number of a sample,
    twice, and has one loss.
    """
    import torch
    from datasets import Dataset
    from devinterp.slt.llc import llc

    torch.manual_seed(0)
    head = torch.nn.ParameterDict({name: torch.tensor(point[name]).double() for name in "KQV"})

    def output(head, X):
        scores = X.mT @ head["K"].T @ head["Q"] @ X
        return head["V"] @ X @ (scores.softmax(-2) if point["head"] == "softmax" else scores)

    X = torch.randn(SAMPLES, point["architecture"]["d"], point["architecture"]["t"]).double()
    Y = output(head, X).detach()
    Y += torch.randn_like(Y)

    def loss(head, rows):
        chosen = rows[:, 0]
        return ((output(head, X[chosen]) - Y[chosen]) ** 2).sum((1, 2))[:, None] / 2

    sampled = llc(
        head,
        Dataset.from_dict({"input_ids": [[n, n] for n in range(SAMPLES)]}).with_format("torch"),
        observables={},
        loss_fn=loss,
        num_burnin_steps=STEPS - 1,
        num_draws=1,
        batch_size=BATCH,
        num_init_loss_batches=SAMPLES // BATCH,
        match_sampling_input_ids_across_chains=False,
        device="cpu",
        **SETTING,
    )
    rise = sampled.loss_trace[:, STEPS // 2 :].mean("step") - sampled.init_loss
    chains = SETTING["n_beta"] * rise.values
    return chains.mean(), chains.std(ddof=1) / len(chains) ** 0.5


def main():
    """Print the points, and the estimates where they are asked for."""
    points = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    chosen = [int(word) for word in sys.argv[1:]]
    has_devinterp = importlib.util.find_spec("devinterp") is not None
    for number in chosen or range(len(points)):
        point = points[number]
        sizes = "M({d},{d_out},{a}), t = {t}".format(**point["architecture"])
        known = f"λ = {point['lambda']}, m = {point['multiplicity']}"
        line = f"{number:2}  {point['head']:9}  {sizes}  {point['kind']:19}  {known}"
        if chosen and has_devinterp:
            mean, error = estimate(point)
            line += f"  devinterp: {mean:.2f} ± {error:.2f}"
        print(line, flush=True)
    if chosen and not has_devinterp:
        print("pip install devinterp, and these lines have estimates of λ", file=sys.stderr)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    os.environ["TQDM_DISABLE"] = "1"
    main()
