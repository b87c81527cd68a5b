// What a policy does: figures, guarantees, observers, distributions, example rows.
import { count, figure, h, percent, table } from "./dom.js";
import { words } from "./api.js";

function tile(label, value, more, key) {
  return h("li", null, h("span", { class: "label" }, label), h("b", { "data-figure": key }, value),
    more ? h("small", { class: "soft" }, more) : null);
}

function tiles(outcome, on, before) {
  const m = outcome.measures;
  const was = (value, text) => (before && value !== null && value !== undefined ? `before this change ${text(value)}` : "");
  return h("ul", { class: "tiles", "data-on": on },
    tile("largest risk", percent(outcome.largest_risk), was(before?.largest_risk, percent), "largest_risk"),
    tile("mean risk", percent(outcome.risk), was(before?.risk, percent), "risk"),
    tile("information lost", percent(outcome.loss), was(before?.loss, percent), "loss"),
    tile("left out", percent(m.suppressed_share), was(before?.measures?.suppressed_share, percent), "suppressed"),
    tile("classes", count(m.classes), was(before?.measures?.classes, count), "classes"),
    tile(`smallest class (${outcome.unit})`, count(outcome.smallest), was(before?.smallest, count), "smallest"));
}

function broken({ checks, limit, measures }) {
  const said = checks.filter((check) => !check.passed).map((check) =>
    `${check.name}${check.column ? ` of ${check.column}` : ""}: required ${figure(check.required)}, achieved ${figure(check.achieved)}`);
  if (measures.suppressed_share > limit) said.push(`left out: ${percent(measures.suppressed_share)}, at most ${percent(limit)}`);
  return said;
}

function verdict(outcome, on) {
  if (outcome.problems.length) {
    return h("div", { class: "verdict bad" }, h("p", null, "It cannot run as it is."),
      h("ul", null, outcome.problems.map((one) => h("li", null, words(one)))));
  }
  if (!outcome.holds) {
    return h("div", { class: "verdict bad" }, h("p", null, `It does not hold${on}: run would publish nothing.`),
      h("ul", null, broken(outcome).map((one) => h("li", null, one))));
  }
  if (outcome.little.length) {
    return h("div", { class: "verdict warn" }, h("p", null, `It holds${on}, and little is left.`),
      h("ul", null, outcome.little.map((one) => h("li", null, one))));
  }
  return h("div", { class: "verdict good" }, h("p", null, `Every guarantee holds${on}.`));
}

function checks(outcome) {
  return h("details", { "data-key": "checks" },
    h("summary", null, `${outcome.checks.length === 1 ? "1 guarantee" : `${outcome.checks.length} guarantees`}, required and achieved`),
    table("", ["guarantee", "column", "required", "achieved", "verdict"], outcome.checks.map((check) => [
      check.name, check.column ?? "–", figure(check.required), figure(check.achieved),
      h("span", { class: check.passed ? "holds" : "fails" }, check.passed ? "holds" : "does not hold"),
    ])));
}

export function figures({ desk, stop }) {
  const { sample, whole, progress, before } = desk;
  const parts = [];
  const running = progress !== null;
  if (whole) {
    parts.push(verdict(whole, ""), h("h3", null, `The whole table, ${count(whole.rows)} rows`));
    if (whole.measures) parts.push(tiles(whole, "whole"), checks(whole));
  } else if (sample) {
    parts.push(verdict(sample, desk.is_sample ? " on the sample" : ""));
  }
  if (running) {
    parts.push(h("div", { class: "progress" },
      h("label", null, `The whole table, ${count(desk.rows)} rows: `,
        h("progress", { max: 1, value: progress, "aria-label": "progress on the whole table" })),
      h("span", null, `${Math.round(100 * progress)} %`),
      h("button", { type: "button", "data-key": "stop", onclick: stop }, "Stop")));
  } else if (desk.stopped && !whole) {
    parts.push(h("p", null, "Stopped: there are no figures of the whole table. The next change begins again."));
  }
  if (sample?.measures && desk.is_sample) {
    parts.push(h("h3", null, `At once, on a sample of ${count(sample.rows)} rows`),
      tiles(sample, "sample", before),
      h("p", { class: "soft" }, "A sample loses more than the whole table does: classes of k rows are wider among fewer rows, and they are cut but not refined."));
  }
  return parts;
}

function newest(desk) {
  return desk.details.whole ? ["whole", desk.details.whole] : ["sample", desk.details.sample];
}

function source(desk, on) {
  return on === "whole" ? "of the whole table" : "of the sample";
}

export function observers(desk) {
  const [on, details] = newest(desk);
  if (!details) return h("p", { class: "soft" }, "…");
  const rows = details.observers.map((one) => [
    `who ${one.who}`, percent(one.before), percent(one.after), percent(one.promised),
    one.stopped === null ? h("span", { class: "open" }, "nothing is promised")
      : h("span", { class: one.stopped ? "holds" : "fails" }, one.stopped ? "stopped" : "not stopped"),
  ]);
  return [
    table(`Largest chance of success, ${source(desk, on)}`, ["observer", "before", "after", "promised", "verdict"], rows),
    h("details", { "data-key": "known" }, h("summary", null, "What no setting here stops"),
      h("ul", null, details.known.map((one) => h("li", null, one)))),
  ];
}

function bars(found) {
  const most = Math.max(...found.bars.map((bar) => Math.max(bar.before ?? 0, bar.after ?? 0)), 0.01);
  const width = (value) => {
    const bar = h("span", { class: "bar" });
    bar.style.width = `${(100 * (value ?? 0)) / most}%`;
    return bar;
  };
  return h("table", { class: "bars" },
    h("caption", null, h("b", null, found.column), ` (${found.role})`,
      found.distance === null ? "" : h("span", { class: "soft" }, ` ${percent(found.distance)} has moved`)),
    h("thead", { class: "aside" }, h("tr", null, ["value", "before", "after"].map((head) => h("th", { scope: "col" }, head)))),
    h("tbody", null, found.bars.map((bar) => h("tr", null,
      h("th", { scope: "row" }, bar.label),
      h("td", { class: "was" }, width(bar.before), h("small", null, percent(bar.before))),
      h("td", { class: "is" }, width(bar.after), h("small", null, percent(bar.after)))))));
}

export function distributions(desk) {
  const [on, details] = newest(desk);
  if (!details) return h("p", { class: "soft" }, "…");
  return [
    h("p", { class: "soft" }, `Shares ${source(desk, on)}: `, h("span", { class: "key was" }, "before"), " and ",
      h("span", { class: "key is" }, "after"), `. Values of fewer than ${details.floor} ${details.unit} are never shown by themselves.`),
    h("div", { class: "grid" }, details.distributions.filter((one) => one.bars.length).map(bars)),
  ];
}

export function examples({ desk, raw, askRaw }) {
  const [, details] = newest(desk);
  const parts = [];
  if (!details) parts.push(h("p", { class: "soft" }, "…"));
  else if (!details.examples.rows.length) {
    parts.push(h("p", { class: "soft" }, "None: the policy does not hold, or its rows are in no classes."));
  } else {
    parts.push(table(`One row each of some classes; (rare) stands for what fewer than ${details.floor} ${details.unit} have`,
      details.examples.columns, details.examples.rows.map((row) => row.map((cell) => cell ?? "NULL"))));
  }
  if (desk.show_rows) {
    parts.push(raw
      ? table("Rows of the source as they are (--show-rows)", raw.columns, raw.rows.map((row) => row.map((cell) => cell ?? "NULL")))
      : h("button", { type: "button", "data-key": "raw", onclick: askRaw }, "Show raw rows"));
  }
  return parts;
}
