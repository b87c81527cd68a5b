// The page: asks for the state, draws what has changed, and sends what is changed.
import { call, state } from "./api.js";
import { count, draw, h } from "./dom.js";
import { askApproval, evidence, grey, handing } from "./evidence.js";
import { frontier, lattice } from "./frontier.js";
import { columnList, policyText, tableControls } from "./policy.js";
import { classes, distributions, examples, figures, observers } from "./results.js";
import { actions, states } from "./states.js";
import { chooseHierarchy } from "./tree.js";
import { judgement, progress, reason, verdict } from "./verdict.js";
import { why } from "./why.js";

const EVERY = 300;
let desk = null;
let raw = null;
let refused = null;
let waiting = false;
let timer = null;

const at = (id) => document.getElementById(id);

function failed(error) {
  at("errors").replaceChildren(h("div", { class: "verdict bad" }, ...error.message.split("\n").map((line) => h("p", null, line)),
    h("button", { type: "button", onclick: () => at("errors").replaceChildren() }, "Dismiss")));
}

async function act(name, given, says) {
  if (waiting) return;
  waiting = true;
  document.body.setAttribute("aria-busy", "true");
  if (says) at("status").textContent = `${says}: being tried on ${desk.is_sample ? "the sample" : "the table"}`;
  try {
    desk = await call(name, given);
    at("errors").replaceChildren();
    if (says) at("status").textContent = `${says}: tried on ${desk.is_sample ? "a sample" : "the table"}`;
    const [kind, verdict] = judgement(desk);
    if (name === "save") at("status").textContent = `saved ${desk.file}${kind === "bad" ? `. ${verdict}` : ""}`;
  } catch (error) {
    at("status").textContent = "";
    failed(error);
    desk = await state();
    redraw(["table", "columns"]);
  } finally {
    waiting = false;
    document.body.removeAttribute("aria-busy");
    render();
  }
}

const change = (label, edits) => act("change", { label, edits }, label);

// what was typed and not taken goes back to what is
const again = new Map();
function redraw(ids) {
  for (const id of ids) again.set(id, (again.get(id) ?? 0) + 1);
}

async function make(form, standard) {
  at("status").textContent = `${standard ?? "report"}: being made from the release${standard === "gdpr" ? ", with attacks on it" : ""}`;
  document.body.setAttribute("aria-busy", "true");
  try {
    const name = await call("paper", { form, standard });
    desk = await state();
    render();
    at("status").textContent = `${name} is made: open or download it below`;
    document.querySelector(`[data-key="paper ${name}"]`)?.focus();
  } catch (error) {
    at("status").textContent = "";
    failed(error);
  } finally {
    document.body.removeAttribute("aria-busy");
  }
}

const approve = () => askApproval((says) => { at("status").textContent = says; }).catch(failed);

async function askRaw() {
  try {
    raw = await call("rows");
    render();
  } catch (error) {
    failed(error);
  }
}

function render() {
  if (!desk) return;
  const given = desk;
  refused = given.refused ??= refused;  // (of a new state they come a moment later, and nothing jumps)
  document.title = `${given.title} – privacy desk`;
  at("title").textContent = given.title;
  at("subtitle").textContent = `${count(given.rows)} rows. Nothing is published here; the page writes ${given.file} when it is asked to save.`;
  draw("actions", [given.history, given.at, given.saved, given.file], () => actions({ desk: given, act }));
  draw("verdict", judgement(given), () => verdict(given));
  draw("progress", [given.progress, given.rows, given.whole], () => progress({ desk: given, stop: () => act("stop", {}, "Stop") }));
  draw("handover", given.handover.reasons, () => handing({ desk: given, make, approve }));
  draw("grey", given.handover.reasons, () => grey(given));
  draw("table", [given.table, given.refused, again.get("table")], () => tableControls(given, change));
  draw("columns", [given.columns, given.refused, given.sample?.losses, given.table.unprotected, again.get("columns")], () => columnList(given, change, (column) => chooseHierarchy(column, change)));
  draw("text", given.text, () => policyText(given));
  draw("figures", [given.sample, given.whole, given.before, given.stopped], () => figures({ desk: given }));
  const reasons = [reason(given), reason(given, true)];
  draw("frontier", [given.frontier, reasons], () => frontier({ desk: given, change }));
  draw("why", [given.why, reasons], () => why({ desk: given, change }));
  draw("observers", [given.details, reasons], () => observers(given));
  draw("classes", [given.details, reasons], () => classes(given));
  draw("lattice", [given.at, given.table.no_lattice], () => lattice({ desk: given, failed }));
  draw("distributions", [given.details, reasons], () => distributions(given));
  draw("examples", [given.details, raw, reasons], () => examples({ desk: given, raw, askRaw }));
  draw("evidence", [given.handover, again.get("evidence")], () => evidence({ desk: given, change, make, redraw: () => { redraw(["evidence"]); render(); } }));
  draw("states", [given.history, given.at], () => states({ desk: given, failed }));
  if (given.defects.length) failed(new Error(`a defect of the tool: ${given.defects.join(", ")}`));
  clearTimeout(timer);
  if (given.busy) timer = setTimeout(look, EVERY);
}

async function look() {
  if (waiting) {
    timer = setTimeout(look, EVERY);
    return;
  }
  try {
    const found = await state();
    if (!waiting) desk = found;
  } catch (error) {
    failed(new Error("The server has ended: start anonymizer explore again."));
    return;
  }
  render();
}

look();
