// The policy: k, the algorithm, the limit, and every column with its role and rules.
import { h } from "./dom.js";

function number(key, label, value, properties, changed) {
  return h("label", { class: "field" }, label, h("input", {
    type: "number", value: value ?? "", "data-key": key, ...properties,
    onchange: (event) => {
      // (what is no number has no value, and would be taken for an emptied field)
      if (!event.target.reportValidity()) return;
      const given = event.target.value.trim();
      changed(given === "" ? null : Number(given));
    },
  }));
}

function choice(key, label, value, options, changed, hidden = false) {
  return h("label", { class: "field" }, hidden ? h("span", { class: "aside" }, label) : label,
    h("select", { "data-key": key, onchange: (event) => changed(event.target.value) },
      options.map(([name, says]) => h("option", { value: name, selected: name === value, title: says }, name))));
}

export function tableControls(desk, change) {
  const { table, algorithms } = desk;
  const name = table.algorithm.name;
  return h("div", { class: "controls" },
    number("k", "k (smallest class)", table.k, { min: 2, step: 1 }, (value) =>
      change(`k: ${value ?? "none"}`, [{ path: ["privacy", "k_anonymity"], value }])),
    choice("algorithm", "algorithm", name, Object.entries(algorithms), (value) =>
      change(`algorithm: ${value}`, [{ path: ["algorithm"], value: { name: value } }])),
    number("limit", "left out, at most (%)", 100 * table.suppression_limit, { min: 0, max: 100, step: "any" }, (value) =>
      change(`left out: ${value ?? 0} %`, [{ path: ["suppression_limit"], value: (value ?? 0) / 100 }])),
    h("p", { class: "soft wide" }, algorithms[name],
      table.person ? ` Guarantees count persons (${table.person}).` : "",
      table.ledger ? " The ledger is compared by run, not here." : ""));
}

function rules(column, change) {
  const protect = column.protect ?? {};
  const at = ["columns", column.name, "protect"];
  const l = typeof protect.l_diversity === "number" ? protect.l_diversity : null;
  const t = protect.t_closeness?.t ?? null;
  const others = Object.entries(protect)
    .filter(([name, value]) => value !== null && !["l_diversity", "t_closeness", "default_level"].includes(name))
    .map(([name]) => name);
  return h("div", { class: "rules" },
    number(`l ${column.name}`, "l (different values)", l, { min: 2, step: 1 }, (value) =>
      change(`${column.name}: l ${value ?? "none"}`, [{ path: [...at, "l_diversity"], value }])),
    number(`t ${column.name}`, "t (distance)", t, { min: 0, max: 1, step: "any" }, (value) =>
      change(`${column.name}: t ${value ?? "none"}`, [value === null
        ? { path: [...at, "t_closeness"], value }
        : { path: [...at, "t_closeness", "t"], value }])),
    others.length ? h("p", { class: "soft" }, `also: ${others.join(", ")}`) : null);
}

function hierarchyText(hierarchy) {
  if (!hierarchy) return "no hierarchy";
  const parts = Object.entries(hierarchy)
    .filter(([name, value]) => name !== "builder" && value !== null && name !== "values" && name !== "nested")
    .map(([name, value]) => `${name} ${Array.isArray(value) ? value.join(", ") : value}`);
  return [hierarchy.builder, ...parts].join(" · ");
}

export function columnList(desk, change, chooseHierarchy) {
  const roles = Object.entries(desk.roles);
  return [
    h("h3", null, `${desk.columns.length} columns`),
    h("ul", { class: "columns" }, desk.columns.map((column) => {
      const offered = column.role && !(column.role in desk.roles)
        ? [...roles, [column.role, "masked; as the file says"]] : roles;
      const listed = column.role ? offered : [["", "no role yet: an error"], ...offered];
      return h("li", { class: `role-${column.role}` },
        h("div", { class: "name" }, h("b", null, column.name), h("small", { class: "soft" }, column.type)),
        choice(`role ${column.name}`, `role of ${column.name}`, column.role ?? "", listed, (value) =>
          change(`${column.name}: ${value}`, [{ path: ["columns", column.name, "role"], value }]), true),
        column.reason ? h("p", { class: "soft reason" },
          column.drafted !== column.role ? `A draft would say ${column.drafted}: ` : "", column.reason) : null,
        column.role === "quasi" ? h("button", {
          type: "button", class: "plain", "data-key": `hierarchy ${column.name}`,
          "aria-label": `Hierarchy of ${column.name}: ${hierarchyText(column.hierarchy)}`,
          onclick: () => chooseHierarchy(column),
        }, hierarchyText(column.hierarchy), " …") : null,
        column.role === "sensitive" || column.semi ? rules(column, change) : null);
    })),
  ];
}

export function policyText(desk) {
  return h("details", { "data-key": "text" }, h("summary", null, `${desk.file} as it would be saved`),
    h("pre", { tabindex: 0 }, desk.text));
}
