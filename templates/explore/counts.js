// The desk of a table of counts: a minimum and a method, and what an attack finds before and after.
import { call, state, words } from "./api.js";
import { count, draw, h, percent, table } from "./dom.js";

const at = (id) => document.getElementById(id);
let desk = null;
let waiting = false;

async function attempt(minimum, method) {
  if (waiting) return;
  waiting = true;
  document.body.setAttribute("aria-busy", "true");
  at("status").textContent = `Trying ${method} with at least ${minimum} …`;
  try {
    desk = await call("try", { minimum, method });
    at("errors").replaceChildren();
    at("status").textContent = `${method}, at least ${minimum}: tried on the whole table`;
  } catch (error) {
    at("status").textContent = "";
    at("errors").replaceChildren(h("div", { class: "verdict bad" }, error.message));
  } finally {
    waiting = false;
    document.body.removeAttribute("aria-busy");
    render();
  }
}

function controls(given) {
  const said = h("output", { for: "minimum" }, String(given.minimum));
  return h("div", { class: "controls" },
    h("label", { class: "field" }, "Smallest group: ", said,
      h("input", {
        id: "minimum", type: "range", min: 2, max: 50, value: String(given.minimum), "data-key": "minimum",
        oninput: (event) => { said.textContent = event.target.value; },
        onchange: (event) => attempt(Number(event.target.value), given.method),
      })),
    h("label", { class: "field" }, "Method",
      h("select", { "data-key": "method", onchange: (event) => attempt(given.minimum, event.target.value) },
        Object.keys(given.methods).map((name) => h("option", { value: name, selected: name === given.method }, name)))),
    h("p", { class: "soft wide" }, given.methods[given.method]));
}

function found(said, counts) {
  if (!counts) return [said, "–", "–", "–"];
  return [said, count(counts.hidden), count(counts.exact), count(counts.below)];
}

function attack(given) {
  const { before, after } = given;
  const open = after ? after.exact + after.below : 0;
  const verdict = given.problems.length
    ? h("div", { class: "verdict warn" }, h("ul", null, given.problems.map((one) => h("li", null, words(one)))))
    : !after
      ? h("div", { class: "verdict good" }, "Every figure is a sum of groups of at least the base: no figure is hidden.")
      : h("div", { class: `verdict ${open ? "bad" : "good"}` },
        open ? `${count(open)} figures follow from the others.` : "No hidden figure follows from what is published.");
  return [verdict, table("Hidden figures that linear programs recompute, and figures shown to be below the minimum",
    ["table", "hidden", "recomputed exactly", `shown to be below ${given.minimum}`],
    [found("only small figures blanked", before), found(given.method, after)])];
}

function figures(given) {
  const all = given.figures;
  if (!Object.keys(all).length) return h("p", { class: "soft" }, "Nothing would be published.");
  const hidden = given.after ? given.after.hidden : 0;
  const tile = (label, value) => h("li", null, h("span", { class: "label" }, label), h("b", null, value));
  return [h("ul", { class: "tiles" },
    tile("figures", count(all.cells)), tile("hidden", count(hidden)), tile("groups", count(all.atoms)),
    tile("persons left out", percent(all.persons ? all.persons_left_out / all.persons : 0))),
  h("p", { class: "soft" }, "For the owner of the source: together with the release these figures would say more than it does.")];
}

function cells(given) {
  const rows = given.rows.map((row) => row.map((cell, i) => {
    if (i < row.length - 1 && cell !== null) return typeof cell === "number" ? count(cell) : cell;
    return cell === null ? h("span", { class: "open" }, "–") : cell;
  }));
  const more = given.rows.length === given.most ? ` (the first ${given.most})` : "";
  return table(`Figures${more}; – has none`, [...given.labels, given.measure, "status"], rows);
}

function render() {
  if (!desk) return;
  document.title = `${desk.title} – counts desk`;
  at("title").textContent = desk.title;
  at("subtitle").textContent = "Every change is tried on the whole table, in scratch tables. Nothing is published, and nothing is written.";
  draw("controls", [desk.minimum, desk.method, desk.methods], () => controls(desk));
  draw("text", [desk.minimum, desk.method], () => [h("p", { class: "soft" }, "In the policy:"),
    h("pre", null, `protect: {minimum: ${desk.minimum}}\nmethod: ${desk.method}`)]);
  draw("attack", [desk.before, desk.after, desk.problems, desk.minimum, desk.method], () => attack(desk));
  draw("figures", [desk.figures, desk.after], () => figures(desk));
  draw("cells", [desk.rows, desk.labels], () => cells(desk));
}

desk = await state();
render();
