// The page: a question goes out, its stages come in, an answer is shown.
import { ask, get, kept, query } from "./api.js";
import { $, count, el, say, seconds } from "./dom.js";
import { answerView, problemCard, queryView } from "./result.js";
import { schemaOf, showHistory, showSchema, tabs } from "./side.js";

const form = $("ask"), box = $("question"), view = $("view"), submit = $("submit"), picker = $("database");
let running = null;
let thread = [];  // what was asked on this database, which the next question may point back to

/** What the next question may point back to, and the way to drop it. */
function showThread() {
  const last = thread.at(-1), chip = $("thread");
  chip.hidden = !last;
  if (!last) return;
  const drop = el("button", { type: "button", class: "link small", onclick: () => { thread = []; showThread(); box.focus(); } }, "New topic");
  chip.replaceChildren(el("span", { class: "quiet small follows" }, `You can follow up on “${last}”`), drop);
}

/** What a model gets of a database, by its privacy: said before anything is asked. */
const GETS = {
  local: "The model runs on this server: nothing of this database leaves it.",
  schema: "The model is a service: it gets names and types of this database, no values and no rows.",
  values: "The model is a service: it gets names, types and single values of this database, no rows.",
  rows: "The model is a service: it gets names, types, values and some rows of this database.",
};

const capital = (text) => text[0].toUpperCase() + text.slice(1);

/** The stages of a question as they pass, with the candidates as they come. */
function progressCard(question) {
  const steps = el("ol", { class: "steps" }), coming = el("ul", { class: "coming", hidden: true });
  const clock = el("span", { class: "quiet small" }, "0.0 s"), began = performance.now();
  const card = el("section", { class: "card", "aria-label": "Progress", "aria-busy": "true" },
    el("header", {}, el("h2", {}, question), el("div", { class: "tools" }, clock, el("button", { class: "link", type: "button", onclick: () => running?.abort() }, "Stop"))), steps, coming);
  const items = new Map();
  let at = null;  // the stage under way
  const passed = (since) => seconds((performance.now() - since) / 1000);
  const timer = setInterval(() => {
    clock.textContent = passed(began);
    if (at) at.when.textContent = passed(at.since);
  }, 100);

  function stage(name, detail) {
    const kind = name.startsWith("looking for keys") ? "looking for keys" : name.startsWith("indexing") ? "indexing values" : name;
    for (const [other, item] of items) {
      item.li.classList.remove("now");
      if (other !== kind) item.label.textContent = capital(other);
    }
    if (!items.has(kind)) {
      const label = el("span"), when = el("span", { class: "seconds" }), li = el("li", {}, label, when);
      items.set(kind, { li, label, when, since: performance.now() });
      steps.append(li);
    }
    at = items.get(kind);
    at.li.classList.add("now");
    at.label.textContent = capital(kind) + (detail ? ` (${detail})` : "");
    at.when.textContent = passed(at.since);
    say(at.label.textContent);
  }

  function heard(kind, data) {
    if (kind === "stage" && data.step.startsWith("understood as ")) stage(`understood as “${data.step.slice(14)}”`, "");
    else if (kind === "queued") stage(data.waiting ? `waiting for a turn, ${data.waiting} in the queue` : "starting", "");
    else if (kind === "stage") stage(data.step, data.total > 1 ? `${data.done} of ${data.total}` : "");
    else if (kind === "candidate") {
      coming.hidden = false;
      const outcome = data.error ? el("span", { class: "out bad", title: data.error }, "failed") : el("span", { class: "out" }, count(data.row_count, "row"));
      coming.append(el("li", {}, el("code", { title: data.sql }, data.sql || "(no query)"), outcome));
    }
  }

  return { card, heard, end: () => clearInterval(timer) };
}

async function run(question, earlier = []) {
  running?.abort();
  const own = new AbortController();
  running = own;
  document.body.classList.add("asked-once");
  submit.disabled = true;
  const progress = progressCard(question);
  view.replaceChildren(progress.card);
  const body = { question, database: picker.value, evidence: $("evidence").value, verify: $("verify").checked, earlier: earlier.slice(-8) };
  try {
    const answer = await ask(body, progress.heard, own.signal);
    if (running !== own) return;
    view.replaceChildren(...answerView(answer, (asked) => { thread = []; run(asked); }));
    thread = [...earlier, answer.question];
    showThread();
    if (document.activeElement === box) box.select();  // the next question takes this one's place
    say(`Answered: ${count(answer.row_count, "row")}, ${answer.confidence_in_words}.`);
  } catch (error) {
    if (running !== own) return;
    if (error.name === "AbortError") {
      view.replaceChildren(el("section", { class: "card state" }, el("h2", {}, "Stopped"), el("p", {}, "The question was stopped, on the server too.")));
      say("Stopped.");
    } else {
      view.replaceChildren(problemCard(error, () => run(question, earlier)));
    }
  } finally {
    progress.end();
    if (running === own) {
      running = null;
      submit.disabled = false;
      refreshHistory();
    }
  }
}

function refreshHistory() {
  if (!$("panel-history").hidden) showHistory(open);
}

/** An answer of before as it was given; false where the server has it no more. */
async function showKept(entry) {
  running?.abort();
  running = null;
  submit.disabled = false;
  let answer;
  try {
    answer = await get(`/v1/history/${encodeURIComponent(entry.id)}`);
  } catch (error) {
    if (error.problem?.code === "unknown-answer") return false;
    throw error;
  }
  if (running) return true;  // another question was asked meanwhile
  const again = el("button", { class: "link small", type: "button", onclick: () => run(entry.question) }, "Ask again");
  const when = new Date(entry.time * 1000).toLocaleString();
  const shown = answerView(answer, (asked) => { thread = []; run(asked); });
  view.replaceChildren(el("p", { class: "small quiet", role: "status" }, `Answered ${when}; rows may have changed since. `, again), ...shown);
  thread = [answer.question];
  showThread();
  return true;
}

/** Something asked before: a query is run again; of a question the answer is shown, or it is asked again. */
async function open(entry) {
  if ([...picker.options].some((one) => one.value === entry.database)) choose(entry.database);
  $("side").classList.remove("open");
  $("side-toggle").setAttribute("aria-expanded", "false");
  document.body.classList.add("asked-once");
  if ($("side").offsetParent === null) box.focus();  // the panel has closed over what had the focus
  if (entry.question) box.value = entry.question;
  thread = [];
  showThread();
  try {
    if (entry.kind !== "query") {
      if (!entry.kept || !(await showKept(entry))) run(entry.question);
      return;
    }
    view.replaceChildren(...queryView(await query({ sql: entry.sql, database: entry.database }), entry.sql, entry.database));
  } catch (error) {
    view.replaceChildren(problemCard(error, () => open(entry)));
  }
}

/** Questions that any database can answer, about its own tables, until the reader has better ones. */
function ideas(schema) {
  if (!schema || document.body.classList.contains("asked-once")) return;
  const tables = schema.tables.filter((table) => table.kind === "table");
  const largest = [...tables].sort((one, other) => other.columns.length - one.columns.length);
  const dated = largest.find((table) => table.columns.some((column) => /date|_on$|_at$|year/i.test(column.name)));
  const spoken = (table) => table.name.replaceAll("_", " ");
  const texts = [
    largest[0] && `How many rows does ${spoken(largest[0])} have?`,
    dated && `How many entries of ${spoken(dated)} are there in each year?`,
    largest[1] && `Show ten rows of ${spoken(largest[1])}.`,
  ].filter(Boolean);
  view.replaceChildren(el("div", { class: "ideas" }, ...texts.map((text) => el("button", { type: "button", onclick: () => { box.value = text; run(text); } }, text))));
}

function choose(database) {
  if (picker.value === database) return;
  picker.value = database;
  picker.dispatchEvent(new Event("change"));
}

async function changed() {
  const name = picker.value;
  try { localStorage.setItem("database", name); } catch { /* storage may be closed to pages */ }
  thread = [];
  showThread();
  $("privacy").textContent = GETS[picker.selectedOptions[0].dataset.privacy];
  await showSchema(name, (value) => { box.value = `${box.value.trimEnd()} ${value}`.trimStart(); box.focus(); });
  if (picker.value === name && !running && !view.querySelector(".card")) ideas(await schemaOf(name).catch(() => null));
}

function theme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try { localStorage.setItem("theme", root.dataset.theme); } catch { /* it holds for this page then */ }
}

function start() {
  $("theme").addEventListener("click", theme);
  if (!picker) {
    form.hidden = true;
    return;
  }
  try { choose([...picker.options].map((one) => one.value).find((name) => name === localStorage.getItem("database")) ?? picker.value); } catch { /* the first one */ }
  picker.addEventListener("change", changed);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (running) say("A question is under way; Esc stops it.");  // a second Enter would begin it anew
    else if (box.value.trim()) run(box.value.trim(), thread);
  });
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); form.requestSubmit(); }
  });
  document.addEventListener("keydown", (event) => {
    const field = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "");
    if (event.key === "Escape" && (!field || document.activeElement === box)) running?.abort();  // elsewhere Esc empties or closes the field
    if (event.key === "/" && !field) { event.preventDefault(); box.focus(); }
  });
  $("side-toggle").addEventListener("click", () => {
    const opened = $("side").classList.toggle("open");
    $("side-toggle").setAttribute("aria-expanded", opened);
  });
  tabs((name) => { if (name === "history") showHistory(open); });
  changed();
  const asked = new URLSearchParams(location.search).get("q") || kept();
  if (asked) box.value = asked.slice(0, box.maxLength);
}

start();
