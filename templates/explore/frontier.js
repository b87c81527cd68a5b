// Risk against loss: the points around the policy; each can be chosen, by mouse or keyboard.
import { call } from "./api.js";
import { count, h, percent, svg, table } from "./dom.js";
import { reason } from "./verdict.js";

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT] = [560, 330, 88, 56, 16, 24];

function scale(values, from, to) {
  const most = Math.max(...values) * 1.08 || 1;
  return [(value) => from + ((to - from) * value) / most, most];
}

function ticks(most) {
  const step = [0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5].find((one) => most / one <= 5) ?? 1;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, at) => at * step);
}

// Points that lie on each other share a name, which stands where it covers no other.
const PLACES = [-8, 24, -32, 48, -56, 72].flatMap((down) => [[false, down], [true, down]]);

function labels(points, x, y) {
  const made = [];
  for (const point of points) {
    const [cx, cy] = [x(point.risk), y(point.loss)];
    const name = point.now ? `${point.name} (now)` : point.name;
    const same = made.find((one) => Math.abs(one.cx - cx) < 10 && Math.abs(one.cy - cy) < 10);
    if (same) same.text += `, ${name}`;
    else made.push({ point, cx, cy, text: name });
  }
  const taken = [];
  return new Map(made.map(({ point, cx, cy, text }) => {
    const width = 12 * text.length;  // (as on a narrow screen, where letters are larger)
    const boxes = PLACES.map(([before, down]) => ({ before, left: before ? cx - 12 - width : cx + 12, at: cy + down }));
    const fits = ({ left, at }) => left >= LEFT && left + width <= WIDTH && at > TOP && at < HEIGHT - BOTTOM
      && taken.every((one) => left >= one.right || left + width <= one.left || Math.abs(at - one.at) >= 24);
    const { before, left, at } = boxes.find(fits) ?? boxes[0];
    taken.push({ left, right: left + width, at });
    return [point, svg("text", { x: before ? cx - 12 : cx + 12, y: at, "text-anchor": before ? "end" : "start" }, text)];
  }));
}

export function chart(points, change) {
  const [x, mostX] = scale(points.map((one) => one.risk), LEFT, WIDTH - RIGHT);
  const [y, mostY] = scale(points.map((one) => one.loss), HEIGHT - BOTTOM, TOP);
  const front = points.filter((one) => one.best).sort((a, b) => a.risk - b.risk);
  const named = labels(points, x, y);
  const choose = (point) => change(point.name, point.edits);
  return svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": "Points of risk and loss; each is a button that chooses it" },
    ticks(mostX).map((value) => svg("g", { class: "tick" },
      svg("line", { x1: x(value), x2: x(value), y1: TOP, y2: HEIGHT - BOTTOM }),
      svg("text", { x: x(value), y: HEIGHT - BOTTOM + 22, "text-anchor": "middle" }, percent(value, 0)))),
    ticks(mostY).map((value) => svg("g", { class: "tick" },
      svg("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value) }),
      svg("text", { x: LEFT - 8, y: y(value) + 4, "text-anchor": "end" }, percent(value, 0)))),
    svg("text", { class: "axis", x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 6, "text-anchor": "middle" }, "mean risk of re-identification"),
    svg("text", { class: "axis", transform: `translate(18 ${(HEIGHT - BOTTOM + TOP) / 2}) rotate(-90)`, "text-anchor": "middle" }, "information lost"),
    svg("polyline", { class: "front", points: front.map((one) => `${x(one.risk)},${y(one.loss)}`).join(" ") }),
    points.map((point) => svg("g", {
      class: point.now ? "point now" : point.holds ? "point" : "point fails",
      ...(point.now ? { role: "img" } : { role: "button", tabindex: 0 }),
      "data-key": `point ${point.name}`,
      "aria-label": `${point.name}: mean risk ${percent(point.risk)}, ${percent(point.loss)} lost${point.now ? ", the policy as it is" : ""}`,
      onclick: () => point.now || choose(point),
      onkeydown: (event) => {
        if (!point.now && (event.key === "Enter" || event.key === " ")) { event.preventDefault(); choose(point); }
      },
    },
    svg("circle", { class: "target", cx: x(point.risk), cy: y(point.loss), r: 14 }),
    svg("circle", { class: "dot", cx: x(point.risk), cy: y(point.loss), r: point.now ? 8 : 5.5 }),
    named.get(point))));
}

export function frontier({ desk, change }) {
  const found = desk.frontier;
  if (!found) return h("p", { class: desk.busy ? "soft pending" : "soft" }, reason(desk, true));
  const points = found.points.filter((one) => one.risk !== null && one.loss !== null);
  const failed = found.points.filter((one) => one.problem);
  const rows = found.points.filter((one) => !one.problem).map((one) => [
    one.now ? h("b", null, `${one.name} (now)`) : h("button", { type: "button", class: "plain", "data-key": `row ${one.name}`, onclick: () => change(one.name, one.edits) }, one.name),
    percent(one.risk), percent(one.loss), percent(one.suppressed),
    h("span", { class: one.holds ? "holds" : "fails" }, one.holds ? (one.best ? "holds, on the frontier" : "holds") : "does not hold"),
  ]);
  return [
    h("p", { class: "soft" }, desk.is_sample ? "On the sample. " : "", "Choose a point to make it the policy. ",
      found.done < found.of ? `${found.done} of ${found.of} points.` : ""),
    points.length ? h("div", { class: "chart" }, chart(points, change)) : null,
    h("details", { "data-key": "points" }, h("summary", null, "The points as a table"),
      table("", ["point", "mean risk", "lost", "left out", "verdict"], rows),
      failed.length ? h("ul", null, failed.map((one) => h("li", null, `${one.name} cannot work: ${one.problem}`))) : null),
  ];
}

// The lattice of the hierarchies: the nodes that no other beats in both k and loss.
export function lattice({ desk, failed }) {
  const into = h("div");
  const refused = desk.table.no_lattice;
  const look = async () => {
    into.replaceChildren(h("p", { class: "soft", role: "status" }, "Every node is being judged on the whole table."));
    try {
      const found = await call("lattice");
      const lost = (share) => {
        const bar = h("span", { class: "bar" });
        bar.style.width = `${4 * share}rem`;
        return h("span", { class: "is" }, bar, percent(share));
      };
      const says = (one) => (one.optimum ? "holds, and loses least" : one.holds ? "holds" : "does not hold");
      into.replaceChildren(
        h("p", null, `${count(found.nodes)} nodes, of which ${count(found.holding)} hold. Those that no other beats in both k and loss, without leaving out rows:`),
        h("div", { class: "wide", tabindex: 0, role: "group", "aria-label": "the front of the lattice" },
          table("Levels of the hierarchies; 0 is as it was", ["node", "lost", "verdict", ...found.columns], found.front.map((one) => [
            `k=${count(one.k)}`, lost(one.ncp), h("span", { class: one.holds ? "holds" : "fails" }, says(one)),
            ...found.columns.map((name) => count(one.levels[name]))]))));
    } catch (error) {
      into.replaceChildren();
      failed(error);
    }
  };
  return [
    h("p", { class: "soft", id: "no-lattice" }, refused ? `There is none: ${refused}` : "Full-domain generalization: every column on one level of its hierarchy."),
    h("button", { type: "button", "data-key": "lattice", disabled: Boolean(refused), "aria-describedby": "no-lattice", onclick: look }, "Look at the lattice"), into,
  ];
}
