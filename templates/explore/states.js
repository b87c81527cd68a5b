// Undo, redo, save; and two states side by side.
import { call } from "./api.js";
import { figure, h, table } from "./dom.js";

export function actions({ desk, act }) {
  const [first] = desk.history;
  const last = desk.history[desk.history.length - 1];
  return [
    h("button", { type: "button", "data-key": "undo", disabled: desk.at === first.number, onclick: () => act("undo") }, "Undo"),
    h("button", { type: "button", "data-key": "redo", disabled: desk.at === last.number, onclick: () => act("redo") }, "Redo"),
    h("button", { type: "button", class: "main", "data-key": "save", disabled: desk.saved, onclick: () => act("save") },
      desk.saved ? "Saved" : `Save as ${desk.file}`),
  ];
}

const PARTS = {
  roles: "Roles", settings: "Settings", required: "Required", achieved: "Achieved", figures: "Figures", losses: "Loss by column",
};

function sideBySide(found) {
  const rows = Object.entries(PARTS).flatMap(([part, says]) => found[part]
    .filter((one) => JSON.stringify(one.old) !== JSON.stringify(one.new))
    .map((one) => [`${says}: ${one.what}`, figure(one.old), figure(one.new)]));
  if (!rows.length) return h("p", null, "Nothing differs.");
  return table(`What differs, on the ${found.on === "whole" ? "whole table" : "sample"}`, ["", "first", "second"], rows);
}

export function states({ desk, failed }) {
  const listed = (key, says, chosen) => h("label", { class: "field" }, says,
    h("select", { id: key, "data-key": key }, desk.history.map((one) =>
      h("option", { value: one.number, selected: one.number === chosen }, `${one.number}. ${one.label}`))));
  const into = h("div");
  const compare = async () => {
    const [one, other] = ["first-state", "second-state"].map((id) => Number(document.getElementById(id).value));
    try {
      into.replaceChildren(sideBySide(await call("compare", { one, other })));
    } catch (error) {
      failed(error);
    }
  };
  return [
    h("ol", null, desk.history.map((one) => h("li", { value: one.number, "aria-current": one.number === desk.at ? "true" : null }, one.label))),
    h("div", { class: "controls" }, listed("first-state", "first", desk.history[0].number), listed("second-state", "second", desk.at),
      h("button", { type: "button", "data-key": "compare", onclick: compare }, "Compare")),
    into,
  ];
}
