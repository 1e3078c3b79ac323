"""The code of the page "In a training loop" that needs torch, with the real packages."""

import re
import subprocess
import sys

import numpy as np
import pytest
from pages import ROOT, blocks

import bioeval as be

torch = pytest.importorskip("torch")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

PEOPLE = be.simulate_embeddings(8, 4, random_state=2)


def code_of(name: str) -> str:
    """The block of the page that defines a name."""
    code_blocks = [block.code for block in blocks(ROOT / "docs/training.md", all_of_them=True)]
    (code,) = [x for x in code_blocks if re.search(rf"^(def|class) {name}\b", x, re.M)]
    return code


def defined(*names: str) -> dict:
    namespace = {"be": be}
    for name in names:
        exec(code_of(name), namespace)
    return namespace


def expected() -> dict:
    meter = be.Meter()
    meter.update(PEOPLE.embeddings, PEOPLE.labels, index=range(32))
    return meter.compute()


def test_examples_are_short():
    max_lines = {"computed_on_all": 16, "Numbers": 30, "ProtocolNumbers": 30}
    assert all(len(code_of(name).splitlines()) <= lines for name, lines in max_lines.items())


PROCESSES = """
import sys
import bioeval as be
import torch

{code}

def run(rank, folder):
    dist.init_process_group(
        "gloo", init_method=f"file://{{folder}}/meeting", rank=rank, world_size=2
    )
    people = be.simulate_embeddings(8, 4, random_state=2)
    sampler = torch.utils.data.DistributedSampler(range(31), 2, rank, shuffle=True)
    rows = [*sampler, 31]  # padded to 16 each; 31 comes twice
    batch = torch.tensor(people.embeddings[rows]).numpy(), people.labels[rows], rows
    numbers = computed_on_all([batch], be.Meter())
    if rank == 0:
        print(repr(numbers))
    dist.destroy_process_group()

if __name__ == "__main__":
    torch.multiprocessing.spawn(run, (sys.argv[1],), nprocs=2)
"""


def test_two_processes_have_the_numbers_of_all_templates(tmp_path):
    script = tmp_path / "processes.py"
    script.write_text(PROCESSES.format(code=code_of("computed_on_all")), encoding="utf-8")
    command = [sys.executable, "-W", "ignore", str(script), str(tmp_path)]
    process = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=ROOT)
    assert process.returncode == 0, process.stderr
    assert eval(process.stdout, {"nan": np.nan}) == expected()


def test_a_metric_of_torchmetrics():
    pytest.importorskip("torchmetrics")
    metric = defined("ProtocolNumbers")["ProtocolNumbers"](metric="cosine")
    for rows in np.array_split(np.random.default_rng(0).permutation(32), 5):
        metric.update(
            torch.tensor(PEOPLE.embeddings[rows], requires_grad=True),
            torch.tensor(PEOPLE.labels[rows]),
            torch.tensor(rows),
        )
    assert metric.compute() == expected()
    metric.reset()
    assert not metric.embeddings


def test_a_callback_of_lightning(tmp_path):
    lightning = pytest.importorskip("lightning")
    from lightning.pytorch.callbacks import ModelCheckpoint

    best = ModelCheckpoint(tmp_path, monitor="verification/single/eer")
    callback = defined("computed_on_all", "Numbers")["Numbers"](metric="cosine")

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(1))

        def training_step(self, batch, _):
            return (self.scale * batch[0]).square().mean()

        def validation_step(self, batch, _):
            return dict(zip(("embeddings", "labels", "index"), batch, strict=True))

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

    data = torch.utils.data.TensorDataset(
        torch.tensor(PEOPLE.embeddings), torch.tensor(PEOPLE.labels), torch.arange(32)
    )
    loader = torch.utils.data.DataLoader(data, batch_size=5)
    trainer = lightning.Trainer(
        max_epochs=2, accelerator="cpu", logger=False, default_root_dir=tmp_path,
        callbacks=[callback, best], enable_progress_bar=False, enable_model_summary=False,
    )  # fmt: skip
    trainer.fit(Module(), loader, loader)
    logged = {name: number.item() for name, number in trainer.logged_metrics.items()}
    assert logged == pytest.approx(expected(), rel=1e-6)
    assert best.best_model_score.item() == pytest.approx(logged["verification/single/eer"])
    assert len(list(tmp_path.glob("*.ckpt"))) == 1
