// The policy: k, the algorithm, the limit, and every column with its role and rules.
import { h, percent } from "./dom.js";

function number(key, label, value, properties, changed) {
  return h("label", { class: "field" }, label, h("input", {
    type: "number", value: value ?? "", "data-key": key, ...properties,
    onchange: (event) => {
      // (what is no number has no value, and would be taken for an emptied field)
      if (!event.target.reportValidity()) {
        event.target.onblur = () => { event.target.value = value ?? ""; };  // the figures are not for what was typed
        return;
      }
      const given = event.target.value.trim();
      changed(given === "" ? null : Number(given));
    },
  }));
}

// A label of which a screen reader reads the column as well.
const of = (says, name) => [says, h("span", { class: "aside" }, ` of ${name}`)];

// A number field with a slider for the usual values; the field takes any.
function slider(key, label, value, [min, max], refused, changed, says = label) {
  const range = h("input", {
    type: "range", min, max: Math.max(max, value ?? 0), value: value ?? min, "data-key": `${key} slider`,
    "aria-label": `${says}, as a slider`, "aria-valuetext": value === null ? "none" : null, disabled: Boolean(refused),
    oninput: () => { field.querySelector("input").value = range.value; range.removeAttribute("aria-valuetext"); },
    onchange: () => changed(Number(range.value)),
  });
  const field = number(key, label, value, { min, step: 1, disabled: Boolean(refused), placeholder: "none" }, changed);
  return h("div", { class: "slider" }, field, range, refused ? h("small", { class: "soft" }, refused) : null);
}

const LONG = 70;
const shortly = (text) => (text.length > LONG ? `${text.slice(0, LONG)} …` : text);

// What cannot be chosen is grey, and says why.
function choice(key, label, value, options, changed, { hidden = false, refused = {} } = {}) {
  return h("label", { class: "field" }, hidden ? h("span", { class: "aside" }, label) : label,
    h("select", { "data-key": key, onchange: (event) => changed(event.target.value) },
      options.map(([name, says]) => h("option", { value: name, selected: name === value, disabled: name in refused, title: refused[name] ?? says },
        name in refused ? `${name}: ${shortly(refused[name])}` : name))));
}

function reasons(refused) {
  const listed = Object.entries(refused);
  if (!listed.length) return null;
  return h("details", { class: "wide", "data-key": "refused" }, h("summary", null, `${listed.length === 1 ? "1 algorithm" : `${listed.length} algorithms`} cannot be chosen: why`),
    h("ul", null, listed.map(([name, why]) => h("li", null, h("b", null, name), `: ${why}`))));
}

export function tableControls(desk, change) {
  const { table, algorithms } = desk;
  const name = table.algorithm.name;
  const refused = desk.refused?.algorithms ?? {};
  return h("div", { class: "controls" },
    slider("k", "k (smallest class)", table.k, [2, 50], table.k === null && desk.refused?.k.k, (value) =>
      change(`k: ${value ?? "none"}`, [{ path: ["privacy", "k_anonymity"], value }])),
    choice("algorithm", "algorithm", name, Object.entries(algorithms), (value) =>
      change(`algorithm: ${value}`, [{ path: ["algorithm"], value: { name: value } }]), { refused }),
    number("limit", "left out, at most (%)", 100 * table.suppression_limit, { min: 0, max: 100, step: "any" }, (value) =>
      change(`left out: ${value ?? 0} %`, [{ path: ["suppression_limit"], value: (value ?? 0) / 100 }])),
    h("p", { class: "soft wide" }, algorithms[name],
      table.person ? ` Guarantees count persons (${table.person}).` : "",
      table.ledger ? " The ledger is compared by run, not here." : ""),
    reasons(refused));
}

function rules(column, change, bare, refused = {}) {
  const protect = column.protect ?? {};
  const at = ["columns", column.name, "protect"];
  const l = typeof protect.l_diversity === "number" ? protect.l_diversity : null;
  const t = protect.t_closeness?.t ?? null;
  const others = Object.entries(protect)
    .filter(([name, value]) => value !== null && !["l_diversity", "t_closeness", "default_level"].includes(name))
    .map(([name]) => name);
  return h("div", { class: "rules" },
    bare ? h("p", { class: "open" }, "No rule: a class may hold one value only, and whoever finds the class knows it.") : null,
    slider(`l ${column.name}`, of("l (different values)", column.name), l, [2, 10], refused.l, (value) =>
      change(`${column.name}: l ${value ?? "none"}`, [{ path: [...at, "l_diversity"], value }]), `l of ${column.name}`),
    number(`t ${column.name}`, of("t (distance)", column.name), t, { min: 0, max: 1, step: "any", disabled: Boolean(refused.t), placeholder: "none" }, (value) =>
      change(`${column.name}: t ${value ?? "none"}`, [value === null
        ? { path: [...at, "t_closeness"], value }
        : { path: [...at, "t_closeness", "t"], value }])),
    refused.t ? h("p", { class: "soft" }, `t: ${refused.t}`) : null,
    others.length ? h("p", { class: "soft" }, `also: ${others.join(", ")}`) : null);
}

function hierarchyText(hierarchy) {
  if (!hierarchy) return "no hierarchy";
  const parts = Object.entries(hierarchy)
    .filter(([name, value]) => name !== "builder" && value !== null && name !== "values" && name !== "nested")
    .map(([name, value]) => `${name} ${Array.isArray(value) ? value.join(", ") : value}`);
  return [hierarchy.builder, ...parts].join(" · ");
}

// The options of a mask; of those that exclude each other the others are taken away.
function mask(column, { options, either }, change) {
  const set = (name, value) => change(`${column.name}: ${name} ${value ?? "default"}`, [{ path: ["columns", column.name, name], value },
    ...either.filter((other) => value !== null && other !== name && column.mask[other] !== null)
      .map((other) => ({ path: ["columns", column.name, other], value: null }))]);
  const typed = (text) => (text.trim() === "" ? null : Number.isFinite(Number(text)) ? Number(text) : text.trim());
  return h("div", { class: "rules" }, Object.entries(options).map(([name, allowed]) => (allowed
    ? choice(`${name} ${column.name}`, of(name, column.name), column.mask[name] ?? allowed[0], allowed.map((one) => [one, one]), (value) => set(name, value))
    : h("label", { class: "field" }, of(name.replace("_", " "), column.name), h("input", {
      type: "text", value: column.mask[name] ?? "", placeholder: "none", "data-key": `${name} ${column.name}`,
      onchange: (event) => set(name, typed(event.target.value)),
    })))));
}

// Which rows ask for their cell to be sensitive: those that a column of yes and no marks.
function when(column, flags, change, why) {
  const at = (name, value) => ({ path: ["columns", column.name, name], value });
  const others = [...new Set(["never", ...flags.filter((one) => one !== column.name), ...(column.when ? [column.when] : [])])];
  const refused = why ? Object.fromEntries(flags.map((one) => [one, why])) : {};
  return h("div", { class: "rules" }, choice(`when ${column.name}`, of("sensitive where", column.name), column.when ?? "never", others.map((one) => [one, one]), (value) =>
    change(`${column.name}: sensitive where ${value}`, value === "never" ? [at("sensitive_when", null), at("protect", null)]
      : [at("sensitive_when", value), ...(column.protect ? [] : [at("protect", { l_diversity: 2 })])]), { refused }));
}

function cost(name, loss, lost, sampled) {
  const share = lost ? loss / lost : 0;
  const bar = h("span", { class: "bar" });
  bar.style.width = `${50 * share}%`;
  return h("p", { class: "cost is", "data-cost": name }, bar,
    h("small", null, `${percent(share)} of what is lost${sampled ? ", on the sample" : ""}`));
}

export function columnList(desk, change, chooseHierarchy) {
  const roles = Object.entries(desk.roles);
  const losses = desk.sample?.losses ?? {};
  const lost = Object.values(losses).reduce((sum, one) => sum + one, 0);
  const refused = desk.refused ?? { roles: {}, rules: {}, when: {} };
  return [
    h("h3", null, `${desk.columns.length} columns`),
    h("ul", { class: "columns" }, desk.columns.map((column) => {
      const listed = column.role ? roles : [["", "no role yet: an error"], ...roles];
      const bare = desk.table.unprotected.includes(column.name);
      return h("li", { class: `role-${column.role}${bare ? " bare" : ""}${column.role in desk.masks ? " masked" : ""}` },
        h("div", { class: "name" }, h("b", null, column.name), h("small", { class: "soft" }, column.type)),
        choice(`role ${column.name}`, `role of ${column.name}`, column.role ?? "", listed, (value) =>
          change(`${column.name}: ${value}`, [{ path: ["columns", column.name, "role"], value },
            ...Object.entries(column.begin[value] ?? {}).map(([option, begin]) => ({ path: ["columns", column.name, option], value: begin }))]), { hidden: true, refused: refused.roles[column.name] }),
        column.reason ? h("p", { class: "soft reason" },
          column.drafted !== column.role ? `A draft would say ${column.drafted}: ` : "", column.reason) : null,
        column.role === "quasi" ? h("button", {
          type: "button", class: "plain", "data-key": `hierarchy ${column.name}`,
          "aria-label": `Hierarchy of ${column.name}: ${hierarchyText(column.hierarchy)}`,
          onclick: () => chooseHierarchy(column),
        }, column.hierarchy ? "hierarchy: " : "", hierarchyText(column.hierarchy)) : null,
        column.name in losses ? cost(column.name, losses[column.name], lost, desk.is_sample) : null,
        column.role in desk.masks ? mask(column, desk.masks[column.role], change) : null,
        column.role === "quasi" && (desk.flags.length || column.when) ? when(column, desk.flags, change, refused.when?.[column.name]) : null,
        column.role === "sensitive" || column.when ? rules(column, change, bare, refused.rules[column.name]) : null);
    })),
  ];
}

export function policyText(desk) {
  return h("details", { "data-key": "text" }, h("summary", null, `${desk.file} as it would be saved`),
    h("pre", { tabindex: 0 }, desk.text));
}
