"use strict";
// Moves the rates and the marks with the threshold: each has a text or a place at every point.
(() => {
  const $ = (id) => document.getElementById(id);
  const { cells, marks } = JSON.parse($("points").textContent);
  const slider = $("threshold");

  function show() {
    const i = Number(slider.value);
    for (const [id, texts] of cells) $(id).innerHTML = texts[i];
    for (const [id, places] of marks) {
      const place = places[i];
      $(id).setAttribute("visibility", place ? "visible" : "hidden");
      if (place) $(id).setAttribute("transform", `translate(${place.join(" ")})`);
    }
    const row = $("rates").tBodies[0].rows[0];
    slider.setAttribute("aria-valuetext", [...row.cells].map((x) => x.textContent).join(", "));
    // What was said of the threshold with which the page opened holds there alone.
    const moved = slider.value !== slider.defaultValue;
    $("opening").hidden = moved;
    $("moved").hidden = !moved;
  }
  if (slider) {
    slider.addEventListener("input", show);
    $("back").addEventListener("click", () => {
      slider.value = slider.defaultValue;
      show();
      slider.focus();
    });
    show();
  }

  // On paper nothing is folded.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const one of folded) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of folded) one.open = false;
  });
  document.body.dataset.ready = "";
})();
