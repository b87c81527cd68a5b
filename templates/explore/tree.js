// A dialog with the hierarchies of a column: their trees to click through, and their levels.
import { call } from "./api.js";
import { count, h, percent } from "./dom.js";

const place = () => document.getElementById("tree");
const MOST = 60;

function name(node) {
  const label = node.label === null ? "(few rows)" : node.label;
  return [label, " ", h("small", { class: "soft" },
    `${count(node.values)} ${node.values === 1 ? "value" : "values"}${node.rows === null ? "" : `, ${count(node.rows)} rows`}`)];
}

function branch(node, below) {
  const children = below.get(`${node.level - 1} ${node.node}`) ?? [];
  if (!children.length) return h("li", null, name(node));
  const list = h("ul");
  const opened = h("details", { ontoggle: () => {
    if (list.children.length) return;
    list.append(...children.slice(0, MOST).map((child) => branch(child, below)),
      ...(children.length > MOST ? [h("li", { class: "soft" }, `and ${count(children.length - MOST)} more`)] : []));
  } }, h("summary", null, name(node)), list);
  return h("li", null, opened);
}

function drawn(tree) {
  const below = new Map();
  for (const node of tree.nodes) {
    const key = `${node.level} ${tree.nests ? node.parent : null}`;
    below.set(key, [...(below.get(key) ?? []), node]);
  }
  const top = Math.max(...tree.nodes.map((node) => node.level));
  if (tree.nests) return h("ul", { class: "tree" }, (below.get(`${top} null`) ?? []).map((node) => branch(node, below)));
  return h("p", { class: "soft" }, "Its levels do not nest, so there is no tree.");
}

function levels(column, tree, choose) {
  return h("ul", { class: "levels" }, tree.levels.map((one) => h("li", null,
    h("span", null, `level ${one.level}: ${count(one.nodes)} ${one.nodes === 1 ? "node" : "nodes"}, ${percent(one.loss)} of the column lost`),
    one.choose ? h("button", { type: "button", "data-level": one.level, onclick: () => choose(one.choose, `from level ${one.level}`) },
      one.level === 1 ? "Use all levels" : `Begin with level ${one.level}`) : null)));
}

async function show(column, options, choose, into) {
  into.replaceChildren(h("p", { class: "soft" }, "Building the tree …"));
  try {
    const tree = await call("tree", { column: column.name, hierarchy: options });
    const all = tree.levels.some((one) => one.choose) ? null
      : h("button", { type: "button", "data-level": "all", onclick: () => choose(options, options.builder) }, "Use this hierarchy");
    into.replaceChildren(...[all, levels(column, tree, choose), drawn(tree)].filter(Boolean));
  } catch (error) {
    into.replaceChildren(h("p", { class: "fails" }, error.message));
  }
}

export async function chooseHierarchy(column, change) {
  const dialog = place();
  const close = () => dialog.close();
  const choose = (hierarchy, says) => {
    close();
    change(`${column.name}: ${hierarchy ? `${hierarchy.builder} ${says}` : "no hierarchy"}`, [{ path: ["columns", column.name, "hierarchy"], value: hierarchy }]);
  };
  const list = h("div", { class: "candidates" }, h("p", { class: "soft" }, "Looking for hierarchies that suit the column …"));
  const tree = h("div", { class: "shown" });
  const current = column.hierarchy ? Object.fromEntries(Object.entries(column.hierarchy).filter(([, value]) => value !== null)) : null;
  dialog.replaceChildren(
    h("div", { class: "head" }, h("h2", { id: "tree-head" }, `Hierarchy of ${column.name}`),
      h("button", { type: "button", onclick: close }, "Close")),
    h("div", { class: "candidates" },
      current ? h("button", { type: "button", onclick: () => show(column, current, choose, tree) }, `Now: ${current.builder}`) : null,
      current ? h("button", { type: "button", onclick: () => choose(null, "") }, "No hierarchy") : null),
    list, tree);
  dialog.showModal();
  try {
    const found = await call("hierarchies", { column: column.name });
    list.replaceChildren(...found.map((one) => (one.hierarchy && !one.refused
      ? h("button", { type: "button", "data-builder": one.hierarchy.builder, onclick: () => show(column, one.hierarchy, choose, tree) },
        one.hierarchy.builder, h("small", null, one.reason))
      : h("p", { class: "soft" }, one.refused))));
    if (!found.length) list.replaceChildren(h("p", { class: "soft" }, "None suits it."));
  } catch (error) {
    list.replaceChildren(h("p", { class: "fails" }, error.message));
  }
}
