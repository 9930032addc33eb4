"""Run in the peer's own environment: train the same model with Opacus, and say how long it took.

Reads one question per line, a JSON object with ``path`` (an npz file of X, y, and test rows), ``loader``
(whether Opacus draws the batches), ``steps``, ``batch``, ``clip``, ``noise`` and ``rate``; answers each with
CPU seconds, the accuracy on the test rows, and the versions. One thread.
"""

import json
import sys
import time
import warnings

import numpy as np
import opacus
import torch

warnings.filterwarnings("ignore")
torch.set_num_threads(1)


def prepared(asked):
    """Return tensors of the data, and the model with its optimizer before Opacus has seen them."""
    with np.load(asked["path"], allow_pickle=False) as held:
        parts = {name: torch.tensor(held[name], dtype=torch.float32) for name in held.files}
    model = torch.nn.Linear(parts["X"].shape[1], 1)
    torch.nn.init.zeros_(model.weight)
    torch.nn.init.zeros_(model.bias)
    return parts, model, torch.optim.SGD(model.parameters(), lr=asked["rate"])


def with_loader(asked):
    """Train as Opacus's documentation shows it: its engine wraps model, optimizer and data loader."""
    parts, model, optimizer = prepared(asked)
    rows = torch.utils.data.TensorDataset(parts["X"], parts["y"])
    loader = torch.utils.data.DataLoader(rows, batch_size=asked["batch"])
    model, optimizer, loader = opacus.PrivacyEngine(accountant="rdp").make_private(
        module=model,
        optimizer=optimizer,
        data_loader=loader,
        noise_multiplier=asked["noise"],
        max_grad_norm=asked["clip"],
    )
    done, start = 0, time.process_time()
    while done < asked["steps"]:
        for features, labels in loader:
            step(model, optimizer, features, labels)
            done += 1
            if done == asked["steps"]:
                break
    return model, parts, time.process_time() - start


def without_loader(asked):
    """Train with Opacus's model and optimizer, on batches that are drawn and indexed in tensors."""
    parts, model, optimizer = prepared(asked)
    features, labels = parts["X"], parts["y"]
    sampling = asked["batch"] / len(features)
    model = opacus.GradSampleModule(model)
    optimizer = opacus.optimizers.DPOptimizer(
        optimizer,
        noise_multiplier=asked["noise"],
        max_grad_norm=asked["clip"],
        expected_batch_size=asked["batch"],
    )
    start = time.process_time()
    for _ in range(asked["steps"]):
        chosen = (torch.rand(len(features)) < sampling).nonzero(as_tuple=True)[0]
        step(model, optimizer, features[chosen], labels[chosen])
    return model, parts, time.process_time() - start


def step(model, optimizer, features, labels):
    """Make one step on the log-loss."""
    optimizer.zero_grad()
    loss = torch.nn.functional.binary_cross_entropy_with_logits(model(features)[:, 0], labels)
    loss.backward()
    optimizer.step()


def main():
    """Answer until the questions end."""
    for line in sys.stdin:
        asked = json.loads(line)
        torch.manual_seed(asked["seed"])
        model, parts, seconds = (with_loader if asked["loader"] else without_loader)(asked)
        with torch.no_grad():
            right = ((model(parts["X_test"])[:, 0] > 0) == (parts["y_test"] > 0)).double().mean().item()
        versions = f"Opacus {opacus.__version__}, torch {torch.__version__}"
        print(json.dumps({"seconds": seconds, "accuracy": right, "versions": versions}), flush=True)


if __name__ == "__main__":
    main()
