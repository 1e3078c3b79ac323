"use strict";
// Moves the numbers and the marks of the page with its threshold and its rank. Every number is
// looked up in the rows of the results; nothing is computed here.
(async () => {
  const $ = (id) => document.getElementById(id);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const given = JSON.parse($("payload").textContent);

  // ------------------------------------------------------------------ arrays

  async function unpacked(text) {
    const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return await new Response(stream).arrayBuffer();
  }
  const block = await unpacked($("arrays").textContent.trim());
  const TYPES = { f8: Float64Array, u2: Uint16Array, u4: Uint32Array };
  const view = ([type, at, length]) => new TYPES[type](block, at, length);
  function array(place) {
    const values = view(place.values);
    const at = place.at ? view(place.at) : null;
    const get = at ? (i) => values[at[i]] : (i) => values[i];
    return { get, length: at ? at.length : values.length, shape: place.shape };
  }
  const arrays = (places) =>
    Object.fromEntries(Object.entries(places).map(([name, place]) => [name, array(place)]));
  const parts = new Map();
  const byName = new Map();
  for (const [number, part] of Object.entries(given.parts)) {
    const made = {
      ...part,
      number: Number(number),
      threshold: array(part.threshold),
      columns: arrays(part.columns),
      ranked: arrays(part.ranked),
      byRank: arrays(part.byRank),
    };
    parts.set(made.number, made);
    byName.set(part.system + "\n" + part.task, made);
  }
  const movers = given.movers.map((mover) => ({
    ...mover,
    element: $(mover.id),
    x: mover.x && array(mover.x),
    y: mover.y && array(mover.y),
  }));

  // ------------------------------------------------------------------ looking up

  // The first place in increasing thresholds that is at least t, or, with `after`, beyond t.
  function place(thresholds, t, after) {
    let low = 0;
    let high = thresholds.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const value = thresholds.get(middle);
      if (value < t || (after && value === t)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
  // The row that holds at t: distances are padded, similarities are filled backwards.
  function rowAt(part, t) {
    if (!part.threshold.length || Number.isNaN(t)) return -1;
    if (part.larger) {
      const row = place(part.threshold, t, false);
      return row < part.threshold.length ? row : part.outside;
    }
    const row = place(part.threshold, t, true) - 1;
    return row >= 0 ? row : part.outside;
  }
  // The threshold of a row, whose counts are shown.
  const usedBy = (part, row) => (row < 0 ? NaN : part.threshold.get(row));
  // The loosest row whose FAR is at most this; of rows with the same rates the strictest.
  function rowAtFar(part, far) {
    const { far: values, frr } = part.columns;
    const length = values.length;
    const stricter = part.larger ? 1 : -1;
    let row = part.larger ? 0 : length - 1;
    while (row >= 0 && row < length && !(values.get(row) <= far)) row += stricter;
    if (row < 0 || row >= length) return -1;
    const same = (next) =>
      next >= 0 && next < length && values.get(next) === values.get(row) &&
      (!frr || frr.get(next) === frr.get(row));
    while (same(row + stricter)) row += stricter;
    return row;
  }
  function valueOf(part, name, row, rank) {
    if (part.byRank[name]) {
      return rank <= part.byRank[name].length ? part.byRank[name].get(rank - 1) : NaN;
    }
    if (row < 0) return NaN;
    if (part.ranked[name]) {
      const ranks = part.ranked[name].shape[1];
      return rank <= ranks ? part.ranked[name].get(row * ranks + rank - 1) : NaN;
    }
    return part.columns[name] ? part.columns[name].get(row) : NaN;
  }

  // ------------------------------------------------------------------ numbers as text

  const digits = (x) => (Number.isNaN(x) ? "nan" : x === Infinity ? "inf" : x === -Infinity ? "-inf" : String(x));
  const grouped = (text) => text.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  // As Python does it: of two numbers that are equally near, the even one.
  function fixed(x, decimals) {
    const text = x.toFixed(decimals);
    const all = x.toFixed(60);
    const point = all.indexOf(".") + 1;
    if (!/^50*$/.test(all.slice(point + decimals))) return text;
    const down = all.slice(0, decimals ? point + decimals : point - 1);
    return Number(down.at(-1)) % 2 === 0 ? down : text;
  }
  function percent(x, decimals) {
    if (Number.isNaN(x)) return "n/a";
    const text = fixed(100 * x, decimals);
    const least = 10 ** -decimals;
    if (x > 0 && Number(text) === 0) return `< ${least.toFixed(decimals)} %`;
    if (x < 1 && Number(text) === 100) return `> ${(100 - least).toFixed(decimals)} %`;
    return `${text} %`;
  }
  function general(x, precision) {
    if (x === 0) return "0";
    const [mantissa, exponent] = x.toExponential(precision - 1).split("e");
    const power = Number(exponent);
    if (power < -4 || power >= precision) {
      const sign = power < 0 ? "-" : "+";
      return `${Number(mantissa)}e${sign}${String(Math.abs(power)).padStart(2, "0")}`;
    }
    return String(Number(x.toPrecision(precision)));
  }
  const whole = (x) => Number.isInteger(x) && Math.abs(x) < 1e15;
  const score = (x) => (whole(x) ? String(x) : Number.isFinite(x) ? general(x, 6) : Number.isNaN(x) ? "n/a" : digits(x));
  // A threshold, rounded so that it accepts no more.
  function stricter(x, larger) {
    const near = Number.isFinite(x) ? Number(x.toPrecision(6)) : x;
    if (larger ? !(near < x) : !(near > x)) return score(x);
    const unit = 10 ** (Number(x.toExponential(20).split("e")[1]) - 5);
    return score(near + (larger ? unit : -unit));
  }
  const count = (x) => (Number.isFinite(x) ? grouped(String(x)) : "n/a");
  const number = (x, decimals) => (Number.isFinite(x) ? fixed(x, decimals) : "n/a");
  // A proportion that was typed: 0.001, 0.1 % or 1/1000.
  function proportion(text) {
    const [, number, over, sign] = text.trim().match(/^([\d.]+(?:e-?\d+)?)(?:\s*\/\s*([\d.]+))?\s*(%?)$/i) || [];
    const x = Number(number) / (over ? Number(over) : 1) / (sign ? 100 : 1);
    return x >= 0 && x <= 1 ? x : NaN;
  }

  // ------------------------------------------------------------------ moving

  const slider = $("threshold");
  const target = $("far-target");
  const rankControl = $("rank");
  const leader = given.leader === null ? null : parts.get(given.leader);
  const common = $("common");
  let threshold = given.threshold;
  let far = given.far; // the FAR of all systems; null for that of the leader
  let rank = 1;
  const live = all("[data-live]").map((element) => ({
    element,
    part: byName.get(element.dataset.system + "\n" + element.dataset.task),
  }));

  const follows = (group) => given.follows[group] || (common?.checked && given.sameUnits[group]);

  function thresholds() {
    const found = new Map();
    if (!leader) return found;
    const row = rowAt(leader, threshold);
    const most = far ?? valueOf(leader, "far", row, 1);
    const opening = threshold === given.threshold && far === given.far;
    for (const [group, number] of Object.entries(given.anchors)) {
      const anchor = parts.get(number);
      const noFar = !(most >= 0); // then systems share the threshold, if its units
      if (follows(group)) found.set(group, threshold);
      else if (opening && group in given.ofStudy) found.set(group, given.ofStudy[group]);
      else if (noFar && given.sameUnits[group]) found.set(group, threshold);
      else if (anchor.columns.far) {
        const own = rowAtFar(anchor, most);
        found.set(group, own >= 0 ? anchor.threshold.get(own) : NaN);
      } else found.set(group, anchor.threshold.get(anchor.threshold.length >> 1));
    }
    return found;
  }

  function show() {
    const at = thresholds();
    const rows = new Map();
    for (const part of parts.values()) {
      rows.set(part.number, rowAt(part, at.has(part.group) ? at.get(part.group) : NaN));
    }
    for (const { element, part } of live) {
      if (!part) continue;
      const { variable, format } = element.dataset;
      if (variable === "rank") {
        element.textContent = element.dataset.value = String(rank);
        continue;
      }
      const row = rows.get(part.number);
      const own = at.get(part.group);
      const x = variable === "threshold" ? usedBy(part, row) : valueOf(part, variable, row, rank);
      element.dataset.value = digits(x);
      if (part.threshold.length && !follows(part.group)) element.dataset.threshold = digits(own);
      else delete element.dataset.threshold;
      let text;
      if (format === "percent") text = percent(x, Number(element.dataset.decimals));
      else if (format === "count") text = count(x);
      else if (format === "number") text = number(x, Number(element.dataset.decimals));
      else text = variable === "threshold" ? stricter(x, part.larger) : score(x);
      element.textContent = "bare" in element.dataset ? text.replace(/ %$/, "") : text;
    }
    for (const mover of movers) {
      const part = parts.get(mover.part);
      const row = rows.get(mover.part);
      let x;
      let y = 0;
      if (mover.by === "threshold") {
        const share = (usedBy(part, row) - mover.low) / (mover.high - mover.low);
        x = share >= 0 && share <= 1 ? mover.start + share * (mover.end - mover.start) : NaN;
      } else {
        const index = mover.by === "rank" ? rank - 1 : row;
        const of = (pixels, i) => (i < 0 || i >= pixels.length || pixels.get(i) === 65535 ? NaN : pixels.get(i) / 10);
        x = of(mover.x, index);
        if (mover.by === "row-rank") {
          const ranks = mover.y.shape[1];
          y = row < 0 || rank > ranks ? NaN : of(mover.y, row * ranks + rank - 1);
        } else y = of(mover.y, index);
      }
      const known = Number.isFinite(x) && Number.isFinite(y);
      mover.element.setAttribute("visibility", known ? "visible" : "hidden");
      if (known) mover.element.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
    }
    if (slider) {
      slider.dataset.value = digits(threshold);
      $("threshold-text").textContent = stricter(threshold, leader.larger);
      slider.setAttribute("aria-valuetext", said());
    }
    if (rankControl) $("rank-text").textContent = String(rank);
  }

  function said() {
    const row = rowAt(leader, threshold);
    const rates = ["far", "frr"].filter((name) => leader.columns[name]);
    const texts = rates.map((name) => `${name.toUpperCase()} ${percent(leader.columns[name] && valueOf(leader, name, row, 1), 2)}`);
    return [stricter(threshold, leader.larger), ...texts].join(", ");
  }

  function moveTo(t, wanted = null) {
    if (!Number.isFinite(t)) return;
    [threshold, far] = [t, wanted];
    slider.value = String(t);
    show();
  }

  // A range rounds its value to some 14 digits: the value that a program gives is kept as it is,
  // and a rounded threshold of the results is that threshold.
  const bounds = slider ? [Number(slider.min), Number(slider.max)] : [0, 0];
  let kept = { exact: NaN, rounded: "" };
  if (slider) {
    const value = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value");
    Object.defineProperty(slider, "value", {
      configurable: true,
      get: () => value.get.call(slider),
      set: (given) => {
        value.set.call(slider, given);
        kept = { exact: given === "" ? NaN : Number(given), rounded: value.get.call(slider) };
      },
    });
  }
  function unrounded() {
    if (slider.value === kept.rounded && Number.isFinite(kept.exact)) {
      return Math.min(bounds[1], Math.max(bounds[0], kept.exact));
    }
    const t = Number(slider.value);
    const at = place(leader.threshold, t, false);
    const rows = [at, at - 1].filter((row) => row >= 0 && row < leader.threshold.length);
    const near = (x) => Math.abs(x - t) <= 1e-12 * Math.abs(t);
    return [...rows.map((row) => leader.threshold.get(row)), ...bounds].find(near) ?? t;
  }
  // The slider is at the threshold of a row: that of the leader which holds there.
  function held(t) {
    const used = usedBy(leader, rowAt(leader, t));
    return Number.isFinite(used) ? used : t;
  }

  if (slider) {
    slider.addEventListener("input", () => {
      [threshold, far] = [held(unrounded()), null];
      show();
    });
    // By keyboard from row to row, which a range without steps cannot do.
    slider.addEventListener("keydown", (event) => {
      const length = leader.threshold.length;
      const many = Math.max(1, Math.round(length / 20));
      const steps = {
        ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: many, PageDown: -many,
        Home: -length, End: length,
      }[event.key];
      if (!steps || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      const above = place(leader.threshold, threshold, true);
      const below = place(leader.threshold, threshold, false);
      const wanted = steps > 0 ? above - 1 + steps : below + steps;
      let row = Math.min(length - 1, Math.max(0, wanted));
      while (row > 0 && leader.threshold.get(row) === Infinity) row--;
      while (row < length - 1 && leader.threshold.get(row) === -Infinity) row++;
      moveTo(leader.threshold.get(row));
    });
    $("reset").addEventListener("click", () => {
      if (target) target.value = "";
      moveTo(given.threshold, given.far);
    });
  }
  if (target) {
    target.addEventListener("input", () => {
      const wanted = proportion(target.value);
      if (Number.isNaN(wanted)) return;
      const row = rowAtFar(leader, wanted);
      if (row < 0) tell("FAR is larger at every threshold of the results.");
      else moveTo(leader.threshold.get(row), wanted);
    });
  }
  if (rankControl) {
    rankControl.addEventListener("input", () => {
      rank = Number(rankControl.value);
      show();
    });
  }
  if (common) common.addEventListener("change", show);
  const form = $("controls");
  if (form) form.addEventListener("submit", (event) => event.preventDefault());

  // ------------------------------------------------------------------ tables

  function sortBy(head) {
    const table = head.closest("table");
    const column = [...head.parentElement.children].indexOf(head);
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of head.parentElement.children) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    const key = (row) => {
      const cell = row.children[column];
      const number = cell.querySelector("[data-value]");
      const text = number ? number.dataset.value : cell.textContent.trim();
      const value = { nan: NaN, inf: Infinity, "-inf": -Infinity }[text] ?? Number(text.replace(/[,%\s]/g, "") || NaN);
      return { value, text };
    };
    const rows = [...body.rows].map((row) => ({ row, ...key(row) }));
    const sign = down ? -1 : 1;
    rows.sort((a, b) => {
      const numbers = !Number.isNaN(a.value) && !Number.isNaN(b.value);
      if (numbers) return a.value === b.value ? 0 : sign * (a.value < b.value ? -1 : 1);
      if (Number.isNaN(a.value) !== Number.isNaN(b.value)) return Number.isNaN(a.value) ? 1 : -1;
      return sign * a.text.localeCompare(b.text);
    });
    for (const { row } of rows) body.append(row);
  }
  for (const button of all("button.sort")) {
    button.addEventListener("click", () => sortBy(button.closest("th")));
  }
  function cells(table, full) {
    const text = (cell) => {
      const numbers = full ? all("[data-value]", cell) : [];
      if (numbers.length) return numbers.map((number) => number.dataset.value);
      return [cell.textContent.trim().replace(/\s+/g, " ")];
    };
    const rows = all("tr", table).map((row) => [...row.children].map(text));
    // An interval beside its value takes two columns of its own.
    const widths = rows[0].map((_, i) => Math.max(...rows.map((row) => row[i].length)));
    return rows.map((row, r) =>
      row.flatMap((values, i) => Array.from({ length: widths[i] }, (_, k) => {
        if (r === 0 && k) return `${values[0]}, ${["", "from", "to"][k] || k}`;
        return values[k] ?? "";
      })),
    );
  }
  const quoted = (x) => (/[",\n\r]/.test(x) ? `"${x.replaceAll('"', '""')}"` : x);
  // A spreadsheet runs a cell that begins so, unless it is a number.
  const runs = (x) => /^[=+\-@\t\r]./s.test(x) && !/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*%?$/i.test(x);
  const inert = (x) => (runs(x) ? `'${x}` : x);
  const csv = (rows) => rows.map((row) => row.map((x) => quoted(inert(String(x)))).join(",")).join("\n") + "\n";
  const ESCAPED = {
    "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}",
    "<": "\\textless{}", ">": "\\textgreater{}",
  };
  const tex = (x) => x.replace(/[\\~^<>&%$#_{}]/g, (c) => ESCAPED[c] || `\\${c}`);
  function latex(table) {
    const [head, ...rows] = cells(table, false).map((row) => row.map(tex).join(" & ") + " \\\\");
    const columns = "l" + "r".repeat(table.tHead.rows[0].children.length - 1);
    return [
      "\\begin{table}", `\\caption{${tex(table.caption.textContent.trim())}}`,
      `\\begin{tabular}{${columns}}`, "\\hline", head, "\\hline", ...rows, "\\hline",
      "\\end{tabular}", "\\end{table}", "",
    ].join("\n");
  }

  // ------------------------------------------------------------------ files

  function tell(text) {
    $("status").textContent = text;
  }
  function save(content, type, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([content], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    tell(`Saved ${name}.`);
  }
  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    tell("Copied the table as LaTeX.");
  }
  for (const button of all("[data-table]")) {
    button.addEventListener("click", () => {
      const holder = button.closest(".table");
      const table = holder.querySelector("table");
      if (button.dataset.table === "latex") copy(latex(table));
      else save(csv(cells(table, true)), "text/csv", `${holder.dataset.name}.csv`);
    });
  }
  // What the style sheet says of each element is written into it: a file stands by itself.
  const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "font-family", "font-size", "font-weight", "opacity"];
  function drawing(svg) {
    const made = svg.cloneNode(true);
    const from = [svg, ...svg.querySelectorAll("*")];
    [made, ...made.querySelectorAll("*")].forEach((element, i) => {
      const style = getComputedStyle(from[i]);
      for (const name of STYLES) element.setAttribute(name, style.getPropertyValue(name));
      element.removeAttribute("class");
    });
    const [, , width, height] = svg.getAttribute("viewBox").split(" ");
    made.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    made.setAttribute("width", width);
    made.setAttribute("height", height);
    return new XMLSerializer().serializeToString(made);
  }
  async function raster(source, name) {
    const image = new Image();
    image.src = source;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = 3 * (image.naturalWidth || 560);
    canvas.height = 3 * (image.naturalHeight || 400);
    const context = canvas.getContext("2d");
    context.fillStyle = "#ffffff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => save(blob, "image/png", name), "image/png");
  }
  function curveRows(figure) {
    if (given.bins[figure.id]) {
      const bins = given.bins[figure.id];
      const names = Object.keys(bins);
      return [names, ...bins[names[0]].map((_, i) => names.map((name) => bins[name][i]))];
    }
    const own = [...new Set(movers.filter((m) => figure.contains(m.element)).map((m) => m.part))];
    const ranks = movers.some((m) => figure.contains(m.element) && m.by === "rank");
    const rows = [];
    const names = [...new Set(own.flatMap((n) => Object.keys(ranks ? parts.get(n).byRank : parts.get(n).columns)))];
    const ranked = ranks ? [] : [...new Set(own.flatMap((n) => Object.keys(parts.get(n).ranked)))];
    rows.push(["system", ranks ? "rank" : "threshold", ...names, ...ranked.map((n) => `${n}_rank_${rank}`)]);
    for (const number of own) {
      const part = parts.get(number);
      const length = ranks ? part.byRank[Object.keys(part.byRank)[0]].length : part.threshold.length;
      for (let i = 0; i < length; i++) {
        const of = (name) => (ranks ? valueOf(part, name, -1, i + 1) : valueOf(part, name, i, rank));
        const first = ranks ? i + 1 : digits(part.threshold.get(i));
        rows.push([part.system, first, ...[...names, ...ranked].map((name) => digits(of(name)))]);
      }
    }
    return rows;
  }
  for (const button of all("[data-save]")) {
    button.addEventListener("click", async () => {
      const figure = button.closest("figure");
      const svg = figure.querySelector("svg");
      const name = figure.id || figure.dataset.file;
      const kind = button.dataset.save;
      if (kind === "csv") save(csv(curveRows(figure)), "text/csv", `${name}.csv`);
      else if (!svg) {
        const source = figure.querySelector("img").src;
        if (kind === "png") await raster(source, `${name}.png`);
        else save(Uint8Array.from(atob(source.split(",")[1]), (c) => c.charCodeAt(0)), "image/svg+xml", `${name}.svg`);
      } else if (kind === "svg") save(drawing(svg), "image/svg+xml", `${name}.svg`);
      else await raster("data:image/svg+xml," + encodeURIComponent(drawing(svg)), `${name}.png`);
    });
  }

  // ------------------------------------------------------------------ light and dark

  const theme = $("theme");
  const dark = () => document.documentElement.dataset.theme === "dark";
  function paint(isDark) {
    document.documentElement.dataset.theme = isDark ? "dark" : "light";
    theme.setAttribute("aria-pressed", String(isDark));
  }
  paint(matchMedia("(prefers-color-scheme: dark)").matches);
  theme.addEventListener("click", () => paint(!dark()));

  // On a phone, each value of a table of many columns is under its heading.
  for (const table of document.querySelectorAll(".table table")) {
    const heads = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
    if (heads.length < 5) continue;
    for (const row of table.tBodies[0].rows) {
      heads.forEach((head, i) => { row.cells[i].dataset.head = head; });
    }
  }

  show();
  document.body.dataset.ready = "";
})();
