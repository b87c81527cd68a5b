// Chooses a point: by the options, in the picture, or in the table. Without this the page is complete.
"use strict";
{
  const points = JSON.parse(document.getElementById("points").textContent);
  const form = document.getElementById("choose");
  const selects = [...form.querySelectorAll("select")];
  const chosen = document.getElementById("chosen");
  const curve = document.getElementById("curve");
  const [moving] = selects;

  const at = () => points.findIndex((one) => selects.every((s) => one.options[s.name] === s.value));
  const alike = (one, other) => selects.every((s) => s === moving || one.options[s.name] === other.options[s.name]);

  const show = () => {
    const number = at();
    const point = points[number];
    for (const one of document.querySelectorAll("[data-point]")) {
      const is = Number(one.dataset.point) === number;
      one.classList.toggle("now", is);
      if (one.getAttribute("role") === "button") one.setAttribute("aria-pressed", String(is));
      if (one.tagName === "TR") one.toggleAttribute("aria-current", is);
    }
    for (const one of chosen.querySelectorAll("[data-figure]")) one.textContent = point?.[one.dataset.figure] ?? "–";
    const said = chosen.querySelector("[data-said]");
    said.textContent = point?.said ?? "was not tried";
    said.className = point && !point.bad ? "holds" : "fails";
    curve.setAttribute("points", points.filter((one) => point && one.x !== null && alike(one, point))
      .sort((a, b) => a.x - b.x).map((one) => `${one.x},${one.y}`).join(" "));
  };

  const choose = (number) => {
    for (const s of selects) s.value = points[number].options[s.name];
    show();
  };

  for (const one of document.querySelectorAll("[data-point]")) {
    one.addEventListener("click", () => choose(Number(one.dataset.point)));
    one.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(Number(one.dataset.point)); }
    });
  }
  form.addEventListener("change", show);
  form.hidden = chosen.hidden = false;
  const solid = document.getElementById("solid");
  if (solid) solid.hidden = false;
  const best = Number(document.querySelector("[data-point].best")?.dataset.point ?? 0);
  choose(best);
}
