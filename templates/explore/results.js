// What a policy does: figures, guarantees, observers, distributions, example rows.
import { count, figure, h, percent, table } from "./dom.js";
import { broken, reason } from "./verdict.js";

function tile(label, value, more, key) {
  return h("li", null, h("span", { class: "label" }, label), h("b", { "data-figure": key }, value),
    h("small", { class: "soft" }, more));
}

// Without an outcome the tiles are there as well: nothing moves when the figures arrive.
function tiles(outcome, on, before = null) {
  const m = outcome?.measures;
  const was = (value, text) => (value !== null && value !== undefined ? `before ${text(value)}` : "");
  return h("ul", { class: "tiles", "data-on": on },
    tile("largest risk", percent(outcome?.largest_risk), was(before?.largest_risk, percent), "largest_risk"),
    tile("mean risk", percent(outcome?.risk), was(before?.risk, percent), "risk"),
    tile("information lost", percent(outcome?.loss), was(before?.loss, percent), "loss"),
    tile("left out", percent(m?.suppressed_share), was(before?.measures?.suppressed_share, percent), "suppressed"),
    tile("classes", count(m?.classes), was(before?.measures?.classes, count), "classes"),
    tile("smallest class", count(outcome?.smallest), [outcome?.unit, was(before?.smallest, count)].filter(Boolean).join("; "), "smallest"));
}

function checks(outcome) {
  return h("details", { "data-key": "checks" },
    h("summary", null, `${outcome.checks.length === 1 ? "1 guarantee" : `${outcome.checks.length} guarantees`}, required and achieved`),
    table("", ["guarantee", "column", "required", "achieved", "verdict"], outcome.checks.map((check) => [
      check.name, check.column ?? "–", figure(check.required), figure(check.achieved),
      h("span", { class: check.passed ? "holds" : "fails" }, check.passed ? "holds" : "does not hold"),
    ])));
}

function listed(outcome) {
  const lines = broken(outcome);
  return lines.length ? h("ul", { class: "broken" }, lines.map((one) => h("li", null, one))) : null;
}

export function figures({ desk }) {
  const { sample, whole, before } = desk;
  // what stands beneath the tiles has its place before it is there
  const answer = whole ? [listed(whole), whole.measures ? checks(whole) : null]
    : h("p", { class: "soft" }, desk.stopped ? "Stopped." : "Waiting for the whole table.");
  const parts = [h("h3", null, `The whole table, ${count(desk.rows)} rows`),
    tiles(whole?.measures ? whole : null, "whole"), h("div", { class: "beneath" }, answer)];
  if (!desk.is_sample || !sample) return parts;
  return [...parts, h("h3", null, `At once, on a sample of ${count(sample.rows)} rows`),
    tiles(sample.measures ? sample : null, "sample", before),
    h("details", { "data-key": "sample" },
      h("summary", null, sample.measures ? "Why a sample loses more" : "Why the sample cannot be tried"),
      listed(sample),
      h("p", { class: "soft" }, "A sample loses more than the whole table does: classes of k rows are wider among fewer rows, and they are cut but not refined."))];
}

function newest(desk) {
  return desk.details.whole ? ["whole", desk.details.whole] : ["sample", desk.details.sample];
}

function source(desk, on) {
  return on === "whole" ? "of the whole table" : "of the sample";
}

function chance(share) {
  const of = 1 / share;
  return Math.abs(of - Math.round(of)) < 1e-6 ? `1 in ${count(Math.round(of))}` : percent(share);
}

export function observers(desk) {
  const [on, details] = newest(desk);
  if (!details) return h("p", { class: "soft" }, reason(desk));
  const rows = details.observers.map((one) => [
    `who ${one.who}`, percent(one.before), percent(one.after), percent(one.promised),
    one.stopped === null ? h("span", { class: "open" }, "nothing is promised")
      : h("span", { class: one.stopped ? "holds" : "fails" }, `${one.stopped ? "" : "not "}limited to ${chance(one.promised)}`),
  ]);
  return [
    table(`Largest chance of success, ${source(desk, on)}`, ["observer", "before", "after", "promised", "verdict"], rows),
    h("details", { "data-key": "known" }, h("summary", null, "What no setting here limits"),
      h("ul", null, details.known.map((one) => h("li", null, one)))),
  ];
}

// Shares before and after: a line for every value (or size).
function bars(caption, head, lines) {
  const most = Math.max(...lines.map((bar) => Math.max(bar.before ?? 0, bar.after ?? 0)), 0.01);
  const width = (value) => {
    const bar = h("span", { class: "bar" });
    bar.style.width = `${(100 * (value ?? 0)) / most}%`;
    return bar;
  };
  return h("table", { class: "bars" }, h("caption", null, caption),
    h("thead", { class: "aside" }, h("tr", null, [head, "before", "after"].map((one) => h("th", { scope: "col" }, one)))),
    h("tbody", null, lines.map((bar) => h("tr", null,
      h("th", { scope: "row" }, bar.label),
      h("td", { class: "was" }, width(bar.before), h("small", null, percent(bar.before))),
      h("td", { class: "is" }, width(bar.after), h("small", null, percent(bar.after)))))));
}

const KEY = () => [h("span", { class: "key was" }, "before"), " and ", h("span", { class: "key is" }, "after")];

function column(found) {
  return bars([h("b", null, found.column), ` (${found.role})`,
    found.distance === null ? "" : h("span", { class: "soft" }, ` ${percent(found.distance)} has moved`)], "value", found.bars);
}

export function classes(desk) {
  const [on, details] = newest(desk);
  if (!details) return h("p", { class: "soft" }, reason(desk));
  const { sizes, costly_classes: costly } = details;
  const worst = costly.rows.map((row) => {
    const [n, loss, share] = row.slice(-3);
    return [`${count(n)} rows`, percent(loss), percent(share), ...row.slice(0, -3)];
  });
  return [
    sizes.length ? bars([`${details.unit} ${source(desk, on)} by the size of their class, `, KEY()], "size", sizes)
      : h("p", { class: "soft" }, "The rows are in no classes."),
    worst.length ? wide(`The classes that lose most, ${source(desk, on)}: rows, mean loss of a cell, share of all that is lost, and what they look like`,
      { columns: ["class of", "lost", "share", ...costly.columns], rows: worst })
      : h("p", { class: "soft" }, "No class loses anything, or the policy does not hold."),
  ];
}

export function distributions(desk) {
  const [on, details] = newest(desk);
  if (!details) return h("p", { class: "soft" }, reason(desk));
  return [
    h("p", { class: "soft" }, `Shares ${source(desk, on)}: `, KEY(), `. Values of fewer than ${details.floor} ${details.unit} are never shown by themselves.`),
    h("div", { class: "grid" }, details.distributions.filter((one) => one.bars.length).map(column)),
  ];
}

// A table of rows, which may be wider than the page: it scrolls by itself, by the keyboard as well.
export function wide(caption, { columns, rows }) {
  return h("div", { class: "wide", tabindex: 0, role: "group", "aria-label": caption },
    table(caption, columns, rows.map((row) => row.map((cell) => cell ?? "NULL"))));
}

export function examples({ desk, raw, askRaw }) {
  const [, details] = newest(desk);
  const parts = [];
  if (!details) parts.push(h("p", { class: "soft" }, reason(desk)));
  else if (!details.examples.rows.length) {
    parts.push(h("p", { class: "soft" }, "None: the policy does not hold, or its rows are in no classes."));
  } else {
    parts.push(wide(`One row each of some classes; (rare) stands for what fewer than ${details.floor} ${details.unit} have`, details.examples));
  }
  if (desk.show_rows) {
    parts.push(raw
      ? wide("Rows of the source as they are (--show-rows)", raw)
      : h("button", { type: "button", "data-key": "raw", onclick: askRaw }, "Show raw rows"));
  }
  return parts;
}
