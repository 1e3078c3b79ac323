"""The page in a real browser: accessibility, paper, no network."""

import json

import numpy as np
import pytest
from browser import Visit, chromium
from optional import optional_import

import bioeval as be

pytestmark = pytest.mark.slow


def _noisy(scores: be.Scores, sd: float, kind: str) -> be.Scores:
    values = np.asarray(scores.values)
    noise = np.random.default_rng(3).normal(0, sd, values.shape)
    values = values + noise + noise.T
    return be.Scores(
        values if kind == "distance" else np.exp(-values / 5), scores.probe_labels, kind=kind
    )


@pytest.fixture(scope="module")
def results():
    """Two systems of distances and a system of similarities of the same people, and a row."""
    scores = be.simulate(30, 3, random_state=5)
    systems = {
        "first": _noisy(scores, 0.2, "distance"),
        "a system with a long name": _noisy(scores, 0.6, "distance"),
        "alike": _noisy(scores, 0.3, "similarity"),
    }
    options = {"interval": be.stats.IntervalMethod("subject-bootstrap", replicates=100)}
    trees = {name: be.evaluate(one, **options) for name, one in systems.items()}
    return {**trees, "row": be.explain(systems["first"], 4)}


@pytest.fixture(scope="module")
def page(results, tmp_path_factory):
    return be.report(results, tmp_path_factory.mktemp("page") / "report.html")


@pytest.fixture(scope="module")
def browser():
    with chromium() as launched:
        yield launched


@pytest.fixture
def visit(browser, page):
    visited = Visit(browser, page)
    yield visited
    visited.context.close()
    assert visited.problems == []
    assert all(url.startswith(("file:", "data:")) for url in visited.requests)


def test_on_paper_nothing_is_folded_and_the_ground_is_white(visit):
    origin = visit.page.locator("details:not([open]) dl").last
    assert not origin.is_visible()
    visit.page.emulate_media(media="print")
    assert origin.is_visible()
    ground = "getComputedStyle(document.body).backgroundColor"
    grounds = {}
    for media, scheme in (("screen", "light"), ("screen", "dark"), ("print", "dark")):
        visit.page.emulate_media(media=media, color_scheme=scheme)
        grounds[media, scheme] = visit.page.evaluate(ground)
    assert grounds["screen", "light"] == grounds["print", "dark"] == "rgb(255, 255, 255)"
    assert grounds["screen", "dark"] != "rgb(255, 255, 255)"


OVERLAPS = """
() => [...document.querySelectorAll('figure svg')].flatMap((svg) => {
  const whole = svg.getBoundingClientRect();
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_accessible_in_light_and_dark_on_a_desk_and_a_phone(browser, page, scheme, width):
    axe = optional_import("axe_playwright_python.sync_playwright")
    visit = Visit(browser, page, color_scheme=scheme, viewport={"width": width, "height": 844})
    visit.page.eval_on_selector_all("details", "all => all.forEach(x => { x.open = true; })")
    violations = axe.Axe().run(visit.page).response["violations"]
    assert violations == [], json.dumps(
        [(x["id"], x["nodes"][0]["html"]) for x in violations], indent=1
    )
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
    assert visit.page.evaluate(OVERLAPS) == []
    visit.context.close()


def test_the_first_screen_has_the_answer_the_rates_and_the_det(browser, page):
    visit = Visit(browser, page, viewport={"width": 1280, "height": 900})
    for place in ("#answer p", "#rates", "#answer svg"):
        box = visit.page.locator(place).first.bounding_box()
        assert box["y"] + box["height"] <= 900, place
    visit.context.close()


@pytest.mark.parametrize("systems", [1, 2, 6])
def test_on_paper_each_cell_of_a_table_is_in_the_page(browser, tmp_path, systems):
    names = [f"system {x}" for x in "abcdef"[:systems]]
    scores = {
        x: be.simulate(20, 3, within=0.6 + i / 15, random_state=5) for i, x in enumerate(names)
    }
    results = [{x: be.evaluate(y, interval="people") for x, y in scores.items()}]
    results += [be.compare(scores)] if systems > 1 else []
    path = be.report(results, tmp_path / "page.html")
    width = 680  # A4 without its margins
    visit = Visit(browser, path, viewport={"width": width, "height": 900})
    cells = "[...document.querySelectorAll('td, th')].filter(x => x.textContent.trim())"
    texts = visit.page.evaluate(f"() => {cells}.map(x => x.textContent.trim())")
    visit.page.emulate_media(media="print")
    in_body = f"{cells}.filter(x => x.closest('thead') === null)"
    boxes = f"() => {in_body}.map(x => x.getBoundingClientRect().right)"
    assert max(visit.page.evaluate(boxes)) <= width + 1
    shown = visit.page.evaluate("() => document.body.innerText")
    # Of a stacked table, the heading of a column is written before each cell.
    names = "[...document.querySelectorAll('[data-name]')].map(x => x.dataset.name)"
    shown += " ".join(visit.page.evaluate(f"() => {names}"))
    shown = "".join(shown.split())
    assert [x for x in texts if "".join(x.split()) not in shown] == []
    visit.context.close()
