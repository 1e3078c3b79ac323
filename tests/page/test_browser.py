"""The page in a real browser: every number, the controls, accessibility, no network."""

from __future__ import annotations

import csv
import io
import json
import math

import numpy as np
import pytest
from browser import Visit, chromium
from optional import optional_import

import bioeval as be
from bioeval.document.cells import threshold_to_install
from bioeval.views.writers.lines import Lines

pytestmark = pytest.mark.slow


def _text(threshold: float, kind: str) -> str:
    return Lines().write(threshold_to_install(threshold, kind))


def _noisy(scores: be.Scores, sd: float, kind: str) -> be.Scores:
    values = np.asarray(scores.values)
    noise = np.random.default_rng(3).normal(0, sd, values.shape)
    values = values + noise + noise.T
    return be.Scores(
        values if kind == "distance" else np.exp(-values / 5), scores.probe_labels, kind=kind
    )


@pytest.fixture(scope="module")
def trees():
    """Two systems of distances and one of similarities, over the same people."""
    scores = be.simulate(30, 3, random_state=5)
    systems = {
        "first": _noisy(scores, 0.2, "distance"),
        "second": _noisy(scores, 0.6, "distance"),
        "alike": _noisy(scores, 0.3, "similarity"),
    }
    options = {"interval": be.stats.IntervalMethod("subject-bootstrap", replicates=100)}
    return {name: be.evaluate(one, **options) for name, one in systems.items()}


@pytest.fixture(scope="module")
def page(trees, tmp_path_factory):
    return be.report(trees, tmp_path_factory.mktemp("page") / "report.html")


@pytest.fixture(scope="module")
def similar(trees, tmp_path_factory):
    """A page whose slider is over similarities."""
    path = tmp_path_factory.mktemp("page") / "similar.html"
    return be.report({"alike": trees["alike"]}, path)


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture
def visit(browser, page):
    found = Visit(browser, page)
    yield found
    found.context.close()
    assert found.problems == []
    assert all(url.startswith(("file:", "data:", "blob:")) for url in found.requests)


def _held(dataset, threshold: float):
    """The dataset at the threshold that holds there, by the rule of its kind; xarray's own."""
    similar = dataset.attrs["kind"] != "distance"
    return dataset.sel(threshold=threshold, method="backfill" if similar else "pad")


def _at_far(dataset, far: float) -> float:
    """The loosest threshold within a FAR; of those with the same rates the strictest."""
    rates = np.array([dataset["far"].values, dataset["frr"].values])
    within = np.flatnonzero(rates[0] <= far)
    loosest = within[-1] if dataset.attrs["kind"] == "distance" else within[0]
    same = dataset["threshold"].values[(rates == rates[:, [loosest]]).all(axis=0)]
    return same.min() if dataset.attrs["kind"] == "distance" else same.max()


def _equals(text: str, value: float) -> bool:
    number = float(text)
    return number == value or (math.isnan(number) and math.isnan(value))


def _check(found: list[dict], trees, thresholds: dict[str, float], rank: int) -> int:
    """Compare each live number with its dataset; return how many there were."""
    checked = 0
    for number in found:
        dataset = trees[number["system"]][number["task"]].to_dataset()
        name = number["variable"]
        if "threshold" in dataset.dims:
            dataset = _held(dataset, thresholds[number["system"]])
        expected = dataset[name]
        expected = expected.sel(rank=rank) if "rank" in expected.dims else expected
        assert _equals(number["value"], expected.item()), (number, expected.item())
        checked += 1
    return checked


def test_every_number_is_that_of_the_dataset_at_any_threshold(visit, trees):
    grid = trees["first"]["verification/single"]["threshold"].values
    between = (grid[400] + grid[401]) / 2
    rng = np.random.default_rng(1)
    for threshold in [grid[1], grid[300], between, grid[-1], *rng.uniform(grid[0], grid[-1], 6)]:
        visit.set("threshold", repr(float(threshold)))
        held = _held(trees["first"]["verification/single"].to_dataset(), threshold)
        far, threshold = held["far"].item(), held["threshold"].item()
        assert visit.threshold() == threshold  # that of the row, which all counts are of
        shown = _text(threshold, held.attrs["kind"])
        assert visit.page.text_content("#threshold-text") == shown
        others = ("second", "alike")
        single = {x: trees[x]["verification/single"].to_dataset() for x in others}
        thresholds = {"first": threshold}
        for name, dataset in single.items():
            known = (dataset["far"].values <= far).any()
            thresholds[name] = _at_far(dataset, far) if known else math.nan
        found = visit.numbers()
        if not any(map(math.isnan, thresholds.values())):
            assert _check(found, trees, thresholds, 1) > 100
        for number in found:
            moved_apart = number["system"] in others and number["task"] != "closed_set"
            assert ("threshold" in number) == moved_apart, number
            if moved_apart:
                assert _equals(number["threshold"], thresholds[number["system"]])


def test_one_threshold_for_all_is_for_systems_in_one_unit(visit, trees):
    visit.page.check("#common")
    threshold = visit.threshold()
    at = {"first": threshold, "second": threshold}
    found = [x for x in visit.numbers() if x["system"] in at]
    assert _check(found, trees, at, 1) > 50
    assert not any("threshold" in number for number in found)
    visit.page.uncheck("#common")
    assert any("threshold" in x for x in visit.numbers() if x["system"] == "second")


def test_similarities_are_filled_backwards(browser, similar, trees):
    visit = Visit(browser, similar)
    single = trees["alike"]["verification/single"].to_dataset()
    grid = single["threshold"].values
    for wanted in np.random.default_rng(2).uniform(grid[0], grid[-1], 6):
        visit.set("threshold", repr(float(wanted)))
        threshold = _held(single, wanted)["threshold"].item()
        assert visit.threshold() == threshold
        assert _check(visit.numbers(), trees, {"alike": threshold}, 1) > 30
    assert visit.problems == []


def test_a_value_that_the_browser_rounds_is_the_threshold_it_was(visit, trees):
    """A range keeps some 14 digits, with which a threshold may fall into the row before."""
    dataset = trees["first"]["verification/single"]
    for row in (3, 100, 501):
        threshold = float(dataset["threshold"].values[row])
        visit.page.fill("#threshold", repr(threshold))  # past the page's own script
        assert visit.threshold() == threshold
    exact = float(dataset["threshold_at_far"].values[1])
    visit.page.fill("#threshold", repr(exact))
    assert visit.threshold() == exact


def test_rank_moves_dir_and_cms(visit, trees):
    for rank in (2, 5, 20):
        visit.set("rank", rank)
        found = [x for x in visit.numbers() if x["variable"] in ("dir", "cms", "cms_count", "di")]
        at = {x["system"]: float(x["threshold"]) for x in visit.numbers() if "threshold" in x}
        at["first"] = visit.threshold()
        assert _check(found, trees, at, rank) >= 9


def test_a_far_that_is_typed_sets_the_loosest_threshold(visit, trees):
    dataset = trees["first"]["verification/single"]
    for far in (0.1, 0.01, 0.003):
        for text in (str(far), f"{100 * far:g} %", f"{1000 * far:g}/1000"):
            visit.page.fill("#far-target", text)
            assert visit.threshold() == _at_far(dataset, far)
        assert visit.page.evaluate("Number(document.getElementById('threshold').value)") > 0
    visit.page.click("#reset")
    assert visit.page.input_value("#far-target") == ""


def test_keys_move_by_one_threshold(visit, trees):
    grid = trees["first"]["verification/single"]["threshold"].values
    visit.page.focus("#threshold")
    start = int(np.flatnonzero(grid == visit.threshold())[0])
    visit.page.keyboard.press("ArrowRight")
    assert visit.threshold() == grid[start + 1]
    visit.page.keyboard.press("ArrowLeft")
    visit.page.keyboard.press("ArrowLeft")
    assert visit.threshold() == grid[start - 1]
    visit.page.keyboard.press("Home")
    assert visit.threshold() == grid[0]
    visit.page.keyboard.press("End")
    assert visit.threshold() == grid[-1]
    assert visit.page.get_attribute("#threshold", "aria-valuetext").startswith(
        _text(grid[-1], trees["first"]["verification/single"].attrs["kind"])
    )


def test_what_the_script_writes_is_what_python_wrote(browser, page):
    """The numbers of the page as it is opened, without a script and with it, are the same text."""
    still = browser.new_context(java_script_enabled=False)
    plain = still.new_page()
    plain.goto(page.as_uri())
    assert plain.get_attribute("body", "data-ready") is None
    texts = plain.locator("[data-live]").all_text_contents()
    marks = [m.get_attribute("transform") for m in plain.locator(".mover").all()]
    visit = Visit(browser, page)
    assert visit.page.locator("[data-live]").all_text_contents() == texts
    moved = [m.get_attribute("transform") for m in visit.page.locator(".mover").all()]
    assert len(moved) == len(marks) > 10

    def places(found):
        return [[float(x) for x in text[10:-1].split()] for text in found if text]

    assert np.allclose(places(moved), places(marks), atol=0.11)
    still.close()


def test_marks_move_on_every_curve_and_the_histogram(visit, trees):
    def places():
        script = "all => all.map(x => x.getAttribute('transform') + x.getAttribute('visibility'))"
        return {
            plot: visit.page.eval_on_selector_all(
                f"svg[data-plot={plot}] .mover, svg[data-plot={plot}] .limit", script
            )
            for plot in ("roc", "det", "error_rates", "histogram", "dir_far")
        }

    before = places()
    grid = trees["first"]["verification/single"]["threshold"].values
    visit.set("threshold", repr(float(grid[len(grid) // 2])))
    after = places()
    for plot, found in before.items():
        assert found, plot
        assert after[plot] != found, plot


def test_tables_are_sorted_and_saved(visit):
    visit.page.locator("#task-verification .long summary").first.click()
    table = visit.page.locator("#task-verification .table").first
    table.get_by_role("button", name="value", exact=True).click()
    values = [
        float(row.locator("[data-value]").first.get_attribute("data-value"))
        for row in table.locator("tbody tr").all()
    ]
    assert values == sorted(values) and len(values) == 24
    with visit.page.expect_download() as waited:
        table.get_by_role("button", name="CSV").click()
    rows = list(csv.reader(io.StringIO(waited.value.path().read_text())))
    assert [float(row[3]) for row in rows[1:]] == values
    assert rows[0][:4] == ["system", "templates", "rate", "value"]


def test_curves_and_pictures_are_saved(visit, trees):
    figure = visit.page.locator("figure:has(svg[data-plot=roc])").first
    with visit.page.expect_download() as waited:
        figure.get_by_role("button", name="CSV").click()
    rows = list(csv.DictReader(io.StringIO(waited.value.path().read_text())))
    dataset = trees["first"]["verification/single"]
    own = [row for row in rows if row["system"] == "first"]
    for name in ("threshold", "far", "gar", "fa", "far_high"):
        np.testing.assert_array_equal([float(r[name]) for r in own], dataset[name].values)
    with visit.page.expect_download() as waited:
        figure.get_by_role("button", name="SVG").click()
    text = waited.value.path().read_text()
    assert text.startswith("<svg") and 'stroke="rgb' in text and "class=" not in text
    with visit.page.expect_download() as waited:
        figure.get_by_role("button", name="PNG").click()
    assert waited.value.path().read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_accessible_in_light_and_dark_on_a_desk_and_a_phone(browser, page, scheme, width):
    axe = optional_import("axe_playwright_python.sync_playwright")
    size = {"width": width, "height": 844}
    visit = Visit(browser, page, color_scheme=scheme, viewport=size)
    found = axe.Axe().run(visit.page).response["violations"]
    assert found == [], json.dumps([(x["id"], x["nodes"][0]["html"]) for x in found], indent=1)
    wide = visit.page.evaluate("document.documentElement.scrollWidth")
    assert wide <= width
    visit.context.close()


def test_labels_and_names_are_text(browser, tmp_path):
    evil = '</script><img src=x onerror="window.evil=1"><b>'
    scores = be.simulate(8, 3, random_state=0)
    names = np.array([f"{evil}{label}" for label in scores.probe_labels])
    named = be.Scores(np.asarray(scores.values), names, name=evil)
    sexes = np.where(np.arange(24) // 3 % 2, evil, "x")
    results = {
        evil: be.evaluate(named),
        f"{evil}2": be.zoo(named, permutations=10, quantile=0.25),
        f"{evil}3": be.by_group(named, sexes),
        f"{evil}4": be.worst_pairs(named, 3),
    }
    path = be.report(results, tmp_path / "evil.html", title=evil, command=evil)
    visit = Visit(browser, path)
    assert visit.page.evaluate("window.evil") is None
    assert visit.page.locator("img[src=x]").count() == 0
    assert visit.page.title().startswith(evil)
    assert visit.problems == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_explained_row_is_sorted_saved_and_accessible(browser, trees, scheme, tmp_path):
    axe = optional_import("axe_playwright_python.sync_playwright")
    scores = be.simulate(5, 3, random_state=5)
    found = be.explain(scores, 4)
    for results in (found, {"first": trees["first"], "row": found}):
        path = be.report(results, tmp_path / "row.html")
        visit = Visit(browser, path, color_scheme=scheme, viewport={"width": 390, "height": 844})
        wrong = axe.Axe().run(visit.page).response["violations"]
        assert wrong == [], json.dumps([(x["id"], x["nodes"][0]["html"]) for x in wrong], indent=1)
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= 390
        table = visit.page.locator("#row-1 .table").first
        for _ in range(2):  # the farthest first
            table.locator("th button", has_text="distance").click()
        with visit.page.expect_download() as waited:
            table.get_by_role("button", name="CSV").click()
        rows = list(csv.DictReader(io.StringIO(waited.value.path().read_text())))
        values = [float(x["distance"]) for x in rows if x["role"] != "threshold"]
        row = np.asarray(scores.values)[4]
        assert values == sorted(np.delete(row, 4), reverse=True)
        visit.context.close()
        assert visit.problems == []
        assert all(url.startswith(("file:", "data:", "blob:")) for url in visit.requests)


OVERLAPS = """
() => [...document.querySelectorAll('figure svg')].flatMap((svg) => {
  const whole = svg.getBoundingClientRect();
  if (!whole.width) return [];
  const texts = [...svg.querySelectorAll('text')]
    .map((x) => [x.textContent, x.getBoundingClientRect()]);
  const cut = texts.filter(([, r]) => r.left < whole.left - 1 || r.right > whole.right + 1
    || r.top < whole.top - 1 || r.bottom > whole.bottom + 1).map(([text]) => `cut: ${text}`);
  const over = texts.flatMap(([one, a], i) => texts.slice(i + 1).filter(([, b]) =>
    a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3)
    .map(([other]) => `${one} over ${other}`));
  return [...cut, ...over];
})
"""


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("media", ["screen", "print"])
def test_no_label_is_cut_or_over_another(browser, trees, width, media, tmp_path):
    """One system, and four with long names, on a desk, a phone and paper."""
    long = {f"a system of {10 * name} with a long name": tree for name, tree in trees.items()}
    for results in ({"one": trees["first"]}, {**long, "fourth": trees["second"]}):
        path = be.report(results, tmp_path / "page.html")
        visit = Visit(browser, path, viewport={"width": width, "height": 900})
        visit.page.emulate_media(media=media)
        visit.page.eval_on_selector_all("details", "all => all.forEach(x => { x.open = true; })")
        assert visit.page.evaluate(OVERLAPS) == []
        wide = visit.page.evaluate("document.documentElement.scrollWidth")
        assert media == "print" or wide <= width
        visit.context.close()


def test_the_first_screen_has_the_answer_and_a_picture(browser, trees, page, tmp_path):
    one = be.report({"one": trees["first"]}, tmp_path / "one.html")
    for path, plot in ((one, "histogram"), (page, "det")):
        visit = Visit(browser, path, viewport={"width": 1280, "height": 900})
        for place in (".answer p", f"#answer svg[data-plot={plot}]"):
            box = visit.page.locator(place).first.bounding_box()
            assert box["y"] + box["height"] <= 900, place
        assert visit.page.locator("#warnings").bounding_box()["height"] < 40
        visit.context.close()
