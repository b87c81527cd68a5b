// Elements are made from names and texts only: no markup is ever parsed, so a name or a value
// that looks like markup is shown as what it is.

const SVG = "http://www.w3.org/2000/svg";

function made(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

export function h(name, properties, ...children) {
  return made(document.createElement(name), properties, children);
}

export function svg(name, properties, ...children) {
  return made(document.createElementNS(SVG, name), properties, children);
}

const shown = new Map();

// Draws a part again where its data have changed. What has the focus keeps it, by its data-key.
export function draw(id, data, render) {
  const text = JSON.stringify(data ?? null);
  if (shown.get(id) === text) return;
  shown.set(id, text);
  const place = document.getElementById(id);
  const focused = place.contains(document.activeElement) ? document.activeElement : null;
  const key = focused?.dataset.key;
  const open = new Set([...place.querySelectorAll("details[open]")].map((one) => one.dataset.key));
  place.replaceChildren(...[render(data)].flat(Infinity).filter(Boolean));
  for (const one of place.querySelectorAll("details")) one.open ||= open.has(one.dataset.key);
  if (key) [...place.querySelectorAll("[data-key]")].find((one) => one.dataset.key === key)?.focus();
}

export function percent(value, digits = 1) {
  if (value === null || value === undefined) return "–";
  if (value > 0 && value < 0.0005) return "<0.1\u00a0%";
  return `${(100 * value).toFixed(digits)}\u00a0%`;
}

export function count(value) {
  return value === null || value === undefined ? "–" : Number(value).toLocaleString("en");
}

export function figure(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "object") {
    return Object.entries(value).map(([name, one]) => `${name} ${figure(one)}`).join(", ");
  }
  if (typeof value === "number") {
    return Number.isInteger(value) ? count(value) : String(Number(value.toPrecision(4)));
  }
  return String(value);
}

// A table; on a phone every row is a block whose cells carry their heads.
export function table(caption, heads, rows) {
  return h("table", { class: "stack" },
    h("caption", null, caption),
    h("thead", null, h("tr", null, heads.map((head) => h("th", { scope: "col" }, head)))),
    h("tbody", null, rows.map((row) => h("tr", null, row.map((cell, at) => at === 0
      ? h("th", { scope: "row" }, cell)
      : h("td", { "data-label": heads[at] }, cell))))));
}
