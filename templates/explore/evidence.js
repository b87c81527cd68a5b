// What is handed over: the report, pages of evidence with their fields, and an approval.
import { call } from "./api.js";
import { h } from "./dom.js";

let chosen = null;

// Buttons in the head of the page; what there cannot be is grey, and says why beneath.
export function handing({ desk, make, approve }) {
  const { reasons } = desk.handover;
  return [
    h("button", { type: "button", "data-key": "report", disabled: Boolean(reasons.report), "aria-describedby": "grey", onclick: () => make("html", null) }, "Report"),
    h("button", { type: "button", "data-key": "evidence", onclick: () => document.getElementById("evidence-head").focus() }, "Evidence"),
    h("button", { type: "button", "data-key": "approve", disabled: Boolean(reasons.approve), "aria-describedby": "grey", onclick: approve }, "Approve"),
  ];
}

export function grey(desk) {
  const { report, approve } = desk.handover.reasons;
  return h("p", null, [report && `No report: ${report}. `, approve && `No approval: ${approve}.`].filter(Boolean).join(""));
}

function field({ field: name, says, value }, change) {
  const label = name.replace("_", " ");
  const set = (given) => change(`${label}: ${given === null ? "open" : "stated"}`, [{ path: ["context", name], value: given }]);
  const texts = (text) => (name === "controls" ? text.split("\n").map((line) => line.trim()).filter(Boolean) : text.trim());
  const control = name === "acceptable_risk"
    ? h("input", { type: "number", min: 0, max: 1, step: "any", value: value ?? "", onchange: (event) => {
      if (event.target.reportValidity()) set(event.target.value === "" ? null : Number(event.target.value));
    } })
    : h("textarea", { rows: 2, value: Array.isArray(value) ? value.join("\n") : value ?? "", onchange: (event) => {
      const given = texts(event.target.value);
      set(given.length ? given : null);
    } });
  control.dataset.key = `context ${name}`;
  const open = value === null || value === undefined;
  return h("label", { class: `field${open ? " open" : ""}` }, `${open ? "Open: " : ""}${says}${name === "controls" ? " (one per line)" : ""}`, control);
}

export function evidence({ desk, change, make, redraw }) {
  const { standards, reasons, papers } = desk.handover;
  const offered = standards.filter((one) => !one.refused);
  const now = offered.find((one) => one.name === chosen) ?? offered.find((one) => one.name === "gdpr") ?? offered[0];
  const left = now.fields.filter((one) => one.value === null || one.value === undefined).length;
  const button = (form, says, why) => h("button", { type: "button", "data-key": `page ${form}`, disabled: Boolean(why), "aria-describedby": "page-grey", onclick: () => make(form, now.name) }, says);
  return [
    h("label", { class: "field" }, "standard", h("select", { "data-key": "standard", onchange: (event) => { chosen = event.target.value; redraw(); } },
      standards.map((one) => h("option", { value: one.name, selected: one === now, disabled: Boolean(one.refused) },
        one.refused ? `${one.title}: ${one.refused}` : one.title)))),
    h("p", { class: "soft" }, `${left} of ${now.fields.length} fields that the policy can state are open. They are kept in its context, and saved with it. Judgements and signatures stay open on the page.`),
    h("div", { class: "grid" }, now.fields.map((one) => field(one, change))),
    h("div", { class: "actions" }, button("html", "Make the page", reasons.report), button("docx", "Make a text document (DOCX)", reasons.report ?? reasons.docx)),
    h("p", { class: "soft", id: "page-grey" }, reasons.report ? `No page yet: ${reasons.report}.`
      : reasons.docx ? `No text document: ${reasons.docx}.` : "To make a PDF, open the page and print it."),
    papers.length ? h("ul", { class: "papers" }, papers.map((name) => h("li", null,
      h("a", { href: `papers/${name}`, target: "_blank", rel: "noopener", "data-key": `paper ${name}` }, `Open ${name}`), " ",
      h("a", { href: `papers/${name}`, download: name }, `Download ${name}`)))) : null,
  ];
}

// A dialog with the risks that are accepted, by whom, and until when.
export async function askApproval(done) {
  const dialog = document.getElementById("tree");
  const risks = await call("risks");
  const text = (name, says, type) => h("label", { class: "field" }, says, h("input", { name, type, required: name !== "note" }));
  const said = h("p", { class: "fails", role: "alert" });
  const form = h("form", { method: "dialog", onsubmit: async (event) => {
    event.preventDefault();
    try {
      const says = await call("approve", Object.fromEntries(new FormData(form)));
      dialog.close();
      done(says);
    } catch (error) {
      said.textContent = error.message;
    }
  } }, h("div", { class: "controls" }, text("by", "who accepts the risks", "text"), text("until", "until, the last day", "date"), text("note", "note", "text")),
  said, h("div", { class: "actions" }, h("button", { type: "submit", class: "main" }, "Approve"),
    h("button", { type: "button", onclick: () => dialog.close() }, "Close")));
  dialog.replaceChildren(h("h2", { id: "tree-head" }, "Approve the remaining risks"), h("ul", null, risks.map((one) => h("li", null, one))), form);
  dialog.showModal();
}
