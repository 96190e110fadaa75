// A chart of a result: the proposed one, and what the reader makes of it. Vega comes with the first chart.
import { count, el, save } from "./dom.js";

const FILES = ["vega.min.js", "vega-lite.min.js", "vega-embed.min.js"];
const KINDS = { bar: "Bars", line: "Line", area: "Area", point: "Points" };
let loading = null;

function script(name) {
  return new Promise((done, failed) => {
    const made = el("script", { src: new URL(`./${name}`, import.meta.url).href, onload: done, onerror: () => failed(new Error("its code did not load; try again")) });
    document.head.append(made);
  });
}

function vega() {
  loading ??= FILES.reduce((before, name) => before.then(() => script(name)), Promise.resolve()).catch((error) => { loading = null; throw error; });
  return loading;
}

/** Colours and type of the page, light or dark. */
function config() {
  const style = getComputedStyle(document.documentElement);
  const [ink, quiet, line, accent] = ["ink", "quiet", "line", "accent"].map((name) => style.getPropertyValue(`--${name}`).trim());
  const dark = style.colorScheme === "dark";
  return {
    background: "transparent", font: getComputedStyle(document.body).fontFamily,
    mark: { color: accent }, point: { filled: true, size: 45, opacity: .75 }, line: { strokeWidth: 2.5 }, area: { opacity: .35, line: true },
    bar: { cornerRadiusEnd: 3 }, range: { category: { scheme: dark ? "set2" : "dark2" } }, view: { stroke: null },
    axis: { labelColor: quiet, titleColor: ink, gridColor: line, domainColor: line, tickColor: line, labelFontSize: 12, titleFontSize: 12, titleFontWeight: 600, labelLimit: 130, titleLimit: 300, titlePadding: 10 },
    axisX: { grid: false }, legend: { labelColor: quiet, titleColor: ink, labelFontSize: 12, labelLimit: 160, orient: "top" },
  };
}

/** The proposed specification with the reader's kind and axes, and the rows. */
function specOf(result, chosen) {
  const { chart } = result, columns = chart.usermeta.columns;
  const { x, y, color } = chart.encoding, proposed = chosen.x === x.field && chosen.y === y.field;
  const channel = (field) => columns.find((one) => one.field === field);
  const across = chosen.x === x.field ? { ...x } : { ...channel(chosen.x) };
  const data = { ...chart.data, values: result.rows.map((row) => Object.fromEntries(row.map((cell, index) => [`c${index}`, cell]))) };
  if (chosen.kind === "bar" && across.type === "temporal") {  // bars of times stand side by side, each called as the result has it
    Object.assign(across, { type: "ordinal", scale: {}, axis: { labelAngle: -40, labelOverlap: true } });
    data.format = { parse: Object.fromEntries(Object.entries(chart.data.format.parse).filter(([field]) => field !== across.field)) };
  }
  if (across.type === "nominal") across.axis = { labelAngle: result.rows.length > 4 ? -40 : 0 };
  if (across.type === "nominal" && !across.sort) across.sort = chosen.kind === "bar" ? "-y" : null;
  const up = { ...channel(chosen.y), ...(chosen.kind === "point" ? { scale: { zero: false } } : {}) };
  if (chosen.kind === "point" && across.type === "quantitative") across.scale = { zero: false };
  return {
    ...chart, width: "container", height: 320, autosize: { type: "fit", contains: "padding" },
    description: `${KINDS[chosen.kind]}: ${up.title} by ${across.title}`,
    mark: { ...chart.mark, type: chosen.kind, tooltip: true },
    encoding: { x: across, y: up, ...(color && proposed ? { color } : {}) },
    data, config: config(),
  };
}

function picker(label, options, value, changed) {
  const box = el("select", { "aria-label": label, onchange: () => changed(box.value) }, ...options.map(([key, text]) => el("option", { value: key, selected: key === value }, text)));
  return el("label", { class: "axis" }, el("span", { class: "quiet small" }, label), box);
}

export async function chartView(result) {
  await vega();
  const { chart } = result, names = chart.usermeta.columns.map((one) => [one.field, one.title]);
  const chosen = { kind: chart.mark.type, x: chart.encoding.x.field, y: chart.encoding.y.field };
  const place = el("div", { class: "chart" }), box = el("figure", { class: "drawn" });
  let view = null, drawing = 0;

  async function draw() {
    const own = ++drawing;
    const made = await globalThis.vegaEmbed(place, specOf(result, chosen), { mode: "vega-lite", ast: true, actions: false, renderer: "svg", defaultStyle: false, tooltip: { disableDefaultStyle: true } });
    if (own !== drawing) { made.finalize(); return; }
    view?.finalize();
    view = made;
  }

  const change = (key) => (value) => { chosen[key] = value; draw(); };
  const svg = el("button", { class: "link", type: "button", "aria-label": "Download SVG", onclick: async () => save(new Blob([await view.view.toSVG()], { type: "image/svg+xml" }), "chart.svg") }, "↓ SVG");
  const seen = new MutationObserver(() => { if (box.isConnected) draw(); else seen.disconnect(); });
  seen.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  const cut = result.row_count > result.rows.length || result.limit_reached ? el("figcaption", { class: "quiet small" }, `Drawn from the first ${count(result.rows.length, "row")}.`) : null;
  box.append(el("div", { class: "axes" }, picker("Chart", Object.entries(KINDS), chosen.kind, change("kind")), picker("X axis", names, chosen.x, change("x")), picker("Y axis", names, chosen.y, change("y")), svg), place, ...(cut ? [cut] : []));
  requestAnimationFrame(draw);  // its width is that of the page, once it is there
  return box;
}
