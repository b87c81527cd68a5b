// What costs most, and what one step less of each demand would save.
import { count, h, percent, table } from "./dom.js";
import { reason } from "./verdict.js";

export function why({ desk, change }) {
  const found = desk.why;
  if (!found) return h("p", { class: "soft" }, reason(desk, true));
  const [dearest] = found.columns;
  const said = !dearest || dearest.loss === 0 ? "Nothing is lost: every cell is published as it is."
    : `${dearest.column} costs most: ${percent(dearest.share)} of all that is lost.`;
  const cells = found.cells.map((one) => h("li", null, h("q", null, one.cell ?? "NULL"),
    ` in ${count(one.rows)} rows stands for ${percent(one.share)} of ${one.column}`));
  return [
    h("p", null, h("b", null, said)),
    desk.is_sample ? h("p", { class: "soft" }, "On the sample; compare with the sample's figures above.") : null,
    cells.length ? h("ul", null, cells) : null,
    h("table", { class: "bars" }, h("caption", null, "Information lost, by column"),
      h("tbody", null, found.columns.map((one) => {
        const bar = h("span", { class: "bar" });
        bar.style.width = `${100 * one.loss}%`;
        return h("tr", null, h("th", { scope: "row" }, one.column), h("td", { class: "is" }, bar, h("small", null, percent(one.loss))));
      }))),
    table("One step less of each demand, the largest saving first", ["step", "lost then", "saved", "mean risk then", ""],
      [...found.steps.map((one) => [
        one.says, percent(one.loss), one.problem ? "cannot work" : `${(100 * one.saved).toFixed(1)} points`, percent(one.risk),
        one.problem ? "" : h("button", { type: "button", class: "plain", "data-key": `step ${one.says}`, "aria-label": `Take this step: ${one.says}`, onclick: () => change(one.says, one.edits) }, "take it"),
      ]), ...found.ahead.map((says) => [says, "–", "not tried yet", "–", ""])]),
  ];
}
