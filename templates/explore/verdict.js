// The verdict, which stays in sight, and the reason for everything that is not there yet.
import { words } from "./api.js";
import { count, figure, h, percent } from "./dom.js";

const FEW = 20;  // classes of k rows that a sample needs to say something about k

function waiting({ sample, is_sample: sampled, table: { k } }) {
  if (!sample) return "waiting for the sample";
  const on = sampled ? "the sample" : "a first try";
  if (sample.holds) return `It holds on ${on}; waiting for the whole table.`;
  if (sampled && k && sample.rows < FEW * k) return `The sample is too small for k = ${count(k)}; waiting for the whole table.`;
  return `It does not hold on ${on}, which loses more than the table does; waiting for the whole table.`;
}

// What is known of the policy: its kind (good, warn, bad, wait), and one sentence.
export function judgement(desk) {
  const { whole } = desk;
  const bare = desk.table.unprotected;
  if (whole?.problems.length) return ["bad", "It cannot run as it is."];
  if (whole && !whole.holds) return ["bad", "It does not hold: run would publish nothing."];
  if (whole?.little.length) return ["warn", "Every guarantee holds, and little is left."];
  if (whole && desk.table.k === null && !desk.table.classless) return ["warn", "Every guarantee holds, and no k is among them: classes are as small as the rules allow."];
  if (whole && bare.length) return ["warn", `Every guarantee holds, and no rule protects ${bare.join(", ")}.`];
  if (whole) return ["good", "Every guarantee holds."];
  if (desk.stopped) return ["warn", "Stopped: nothing is known of the whole table. The next change begins again."];
  if (desk.progress === null && !desk.busy) return ["warn", "The whole table could not be tried: nothing is known of it."];
  return ["wait", waiting(desk)];
}

export function verdict(desk) {
  const [kind, says] = judgement(desk);
  return h("p", { class: `verdict ${kind}` }, says);
}

// Beside the verdict: how far the whole table is, and then its main figures.
export function progress({ desk, stop }) {
  const { whole } = desk;
  if (whole?.measures) {
    const figures = { risk: whole.largest_risk, lost: whole.loss, "left out": whole.measures.suppressed_share };
    return Object.entries(figures).map(([name, value]) => h("span", null, h("span", { class: "soft" }, `${name} `), h("b", null, percent(value))));
  }
  if (desk.progress === null) return [];
  return [
    h("progress", { max: 1, value: desk.progress, "aria-label": "progress on the whole table" }),
    h("span", null, `${Math.round(100 * desk.progress)} % of ${count(desk.rows)} rows`),
    h("button", { type: "button", "data-key": "stop", onclick: stop }, "Stop"),
  ];
}

// What an outcome breaks, line by line.
export function broken({ problems, checks, limit, measures, little, holds }) {
  if (problems.length) return problems.map(words);
  if (holds) return little;
  const said = checks.filter((check) => !check.passed).map((check) =>
    `${check.name}${check.column ? ` of ${check.column}` : ""}: required ${figure(check.required)}, achieved ${figure(check.achieved)}`);
  if (measures.suppressed_share > limit) said.push(`left out: ${percent(measures.suppressed_share)}, at most ${percent(limit)}`);
  return said;
}

// Why a part of the page is empty. `sampled`: only the sample has it.
export function reason(desk, sampled) {
  const { sample, whole } = desk;
  if (desk.table.classless) return `None: ${desk.table.algorithm.name} forms no classes.`;
  const [problem] = (whole ?? sample)?.problems ?? [];
  if (sample?.problems.length && sampled) return `None: the sample cannot be tried. ${words(sample.problems[0])}`;
  if (desk.busy) return sample?.problems.length ? "Waiting for the whole table: the sample cannot be tried." : "Waiting: being computed on the sample.";
  if (problem) return `None: ${words(problem)}`;
  return desk.stopped ? "None: the computation was stopped." : "None was found.";
}
