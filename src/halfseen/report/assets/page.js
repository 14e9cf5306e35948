
"use strict";
(function () {
  const tip = document.getElementById("tip");
  let shown = null;
  function show(mark) {
    shown = mark;
    tip.textContent = mark.getAttribute("aria-label");
    tip.hidden = false;
    place();
  }
  function place() {
    if (!shown) { return; }
    const mark = shown;
    const at = mark.getBoundingClientRect();
    const size = tip.getBoundingClientRect();
    const left = at.left + at.width / 2 - size.width / 2;
    const above = at.top - size.height - 6;
    tip.style.left = Math.max(4, Math.min(left, window.innerWidth - size.width - 4)) + "px";
    tip.style.top = (above > 4 ? above : Math.min(at.bottom + 6, window.innerHeight - size.height - 4)) + "px";
  }
  function hide() { shown = null; tip.hidden = true; }
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  for (const chart of document.querySelectorAll("svg.chart")) {
    const marks = Array.from(chart.querySelectorAll(".mark"));
    const width = Number(chart.dataset.width);
    if (width > 360) { chart.style.minWidth = width + "px"; }
    // One stop of the tab key a chart; arrows go from mark to mark.
    if (marks.length) { marks[0].setAttribute("tabindex", "0"); }
    marks.forEach(function (mark, place) {
      mark.addEventListener("mouseenter", function () { show(mark); });
      mark.addEventListener("mouseleave", hide);
      mark.addEventListener("click", function () { show(mark); });
      mark.addEventListener("focus", function () { show(mark); });
      mark.addEventListener("blur", hide);
      mark.addEventListener("keydown", function (event) {
        const step = steps[event.key];
        const next = marks[place + (step || 0)];
        if (!step || !next) { return; }
        event.preventDefault();
        mark.setAttribute("tabindex", "-1");
        next.setAttribute("tabindex", "0");
        next.focus();
      });
    });
  }
  document.addEventListener("keydown", function (event) { if (event.key === "Escape") { hide(); } });
  // Focus scrolls a mark into view, and its tip goes along.
  window.addEventListener("scroll", place, { passive: true, capture: true });
  window.addEventListener("resize", place);
})();
