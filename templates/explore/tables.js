// The desk of several tables: k, what is known of rows, and the roles of columns; and who is found.
import { call, state, words } from "./api.js";
import { count, draw, figure, h, percent, table } from "./dom.js";
import { askApproval, evidence, grey, handing } from "./evidence.js";
import { policyText } from "./policy.js";

const at = (id) => document.getElementById(id);
let desk = null;
let waiting = false;
let typed = 0;

function failed(error) {
  at("status").textContent = "";
  at("errors").replaceChildren(h("div", { class: "verdict bad" }, error.message.split("\n").map((line) => h("p", null, line))));
}

async function act(name, given, before, after) {
  if (waiting) return;
  waiting = true;
  document.body.setAttribute("aria-busy", "true");
  at("status").textContent = before;
  try {
    const found = await call(name, given);
    desk = name === "paper" ? await state() : found;
    at("errors").replaceChildren();
    at("status").textContent = after(found);
  } catch (error) {
    failed(error);
    typed += 1;  // what was not taken goes back to what is
  } finally {
    waiting = false;
    document.body.removeAttribute("aria-busy");
    render();
  }
}

const tried = () => (desk.share < 1 ? `a sample of ${count(desk.persons)} persons` : "all tables");
const change = (label, edits) => act("change", { label, edits }, `${label}: being tried`, () => `${label}: tried on ${tried()}`);
const make = (form, standard) => act("paper", { form, standard }, `${standard ?? "report"}: being made from the release`, (name) => `${name} is made: open or download it below`);
const approve = () => askApproval((says) => { at("status").textContent = says; }).catch(failed);

function controls({ k, knows }) {
  const said = h("output", { for: "k" }, String(k));
  const events = ["nothing of the rows", "one row", "two rows", "three rows"];
  return h("div", { class: "controls" },
    h("label", { class: "field" }, "k, persons who look the same: ", said,
      h("input", { id: "k", type: "range", min: 2, max: Math.max(50, k), value: String(k), "data-key": "k",
        oninput: (event) => { said.textContent = event.target.value; },
        onchange: (event) => change(`k = ${event.target.value}`, [{ path: ["privacy", "k_anonymity"], value: Number(event.target.value) }]) })),
    h("label", { class: "field" }, "Somebody may know of a person",
      h("select", { "data-key": "events", onchange: (event) => change(`known: ${events[event.target.value]}`, [{ path: ["privacy", "knows", "events"], value: Number(event.target.value) }]) },
        events.map((says, n) => h("option", { value: n, selected: n === knows.events }, says)))),
    h("label", { class: "field" }, "and how many rows there are",
      h("select", { "data-key": "rows", onchange: (event) => change(`number of rows known: ${event.target.value}`, [{ path: ["privacy", "knows", "rows"], value: event.target.value === "yes" }]) },
        ["no", "yes"].map((says) => h("option", { value: says, selected: (says === "yes") === knows.rows }, says)))));
}

function columns({ columns: all, losses = {} }) {
  return [h("h3", null, `${all.length} columns`), h("ul", { class: "columns" }, all.map((one) => {
    const lost = losses[one.name];
    const roles = one.offered.length
      ? h("select", { "aria-label": `role of ${one.name}`, "data-key": `role ${one.name}`,
        onchange: (event) => change(`${one.name}: ${event.target.value}`, [{ path: ["tables", one.table, "columns", one.column, "role"], value: event.target.value }]) },
      one.offered.map((role) => h("option", { value: role, selected: role === one.role }, role)))
      : h("span", { class: "soft" }, one.role);
    return h("li", { class: `role-${one.role === "event" ? "quasi" : one.role}` }, h("span", { class: "name" }, one.name), roles,
      h("p", { class: "reason soft" }, one.says), lost === undefined ? null : h("p", { class: "cost" }, `loses ${percent(lost)} of a cell`));
  }))];
}

function judgement({ problems, holds, share, left_out: left, unprotected: bare }) {
  if (problems.length) return ["bad", "It cannot run as it is."];
  if (!holds) return [share < 1 ? "warn" : "bad", share < 1 ? "It does not hold on the sample, which loses more than the tables do." : "It does not hold: run would publish nothing."];
  if (bare.length) return ["warn", `Every guarantee holds, and no rule protects ${bare.join(", ")}.`];
  return [left > 0.05 ? "warn" : "good", `Every guarantee holds${share < 1 ? " on the sample" : ""}.`];
}

function verdict(given) {
  const [kind, says] = judgement(given);
  const broken = given.problems.map(words).concat(given.failed.map((one) =>
    `${one.name}${one.column ? ` of ${one.column}` : ""}: required ${figure(one.required)}, achieved ${figure(one.achieved)}`));
  return h("div", { class: `verdict ${kind}` }, says, broken.length ? h("ul", null, broken.map((one) => h("li", null, one))) : null);
}

function figures(given) {
  if (given.problems.length) return h("p", { class: "soft" }, "None: it cannot run.");
  const tile = (label, value) => h("li", null, h("span", { class: "label" }, label), h("b", null, value));
  const { others, losses } = given;
  const mean = (name) => {
    const own = Object.entries(losses).filter(([column]) => column.startsWith(`${name}.`)).map(([, lost]) => lost);
    return own.length ? percent(own.reduce((sum, one) => sum + one, 0) / own.length) : "–";
  };
  return [h("ul", { class: "tiles" }, tile("persons left out", percent(given.left_out)), tile("lost in a cell of a person", percent(given.loss)),
    tile("tried on", given.share < 1 ? `${count(given.persons)} persons` : "all rows")),
  table("Rows and losses by table", ["table", "links to", "rows", "left out", "lost in a cell"], given.tables.map((one) => [one.table, one.above ?? "–",
    count(one.rows), others[one.table] ? count(others[one.table].suppressed) : "–", mean(one.table)]))];
}

function observers({ observers: all, before, k }) {
  if (!all.length) return h("p", { class: "soft" }, "None: no other table, or it cannot run.");
  return table("Persons found by somebody who knows their quasi-identifiers and, besides,", ["known", "alone in the source", "alone", `among fewer than ${k}`, "fewest candidates", "promised"],
    all.map((one) => [one.knows, count(before[one.knows]), count(one.alone), count(one.below), count(one.fewest),
      one.promised ? h("span", { class: one.holds ? "" : "fails" }, one.holds ? "holds" : "does not hold") : "nothing"]));
}

function render() {
  if (!desk) return;
  const given = desk;
  document.title = `${given.title} – tables desk`;
  at("title").textContent = given.title;
  at("subtitle").textContent = `${given.tables.map((one) => `${one.table} (${count(one.rows)} rows)`).join(", ")}. Nothing is published here; the page writes ${given.file} when it is asked to save.`;
  const saved = () => act("save", {}, "", () => `saved ${given.file}${judgement(given)[0] === "bad" ? `. ${judgement(given)[1]}` : ""}`);
  draw("actions", given.saved, () => h("button", { type: "button", class: "main", "data-key": "save", disabled: given.saved, onclick: saved }, given.saved ? "Saved" : "Save"));
  draw("handover", given.handover.reasons, () => handing({ desk: given, make, approve }));
  draw("grey", given.handover.reasons, () => grey(given));
  draw("verdict", [given.problems, given.failed, given.holds, given.share, given.left_out, given.unprotected], () => verdict(given));
  draw("controls", [given.k, given.knows, typed], () => controls(given));
  draw("columns", [given.columns, given.losses, typed], () => columns(given));
  draw("text", given.text, () => policyText(given));
  draw("figures", [given.problems, given.losses, given.others, given.left_out, given.share], () => figures(given));
  draw("observers", [given.observers, given.k], () => observers(given));
  draw("evidence", [given.handover, typed], () => evidence({ desk: given, change, make, redraw: () => { typed += 1; render(); } }));
}

desk = await state();
render();
