// The evidence: groups of candidates side by side, what failed, rows that tell two apart, and the cost.
import { count, el, seconds, sentence } from "./dom.js";
import { broken, highlighted } from "./sql.js";
import { smallTable } from "./table.js";

const SELECTORS = {
  consistency: "votes", light: "the light judge", first: "taking the first that runs", random: "chance", ranker: "a ranker", tournament: "a tournament of comparisons", bracket: "a tournament of comparisons",
  critic: "a critic that read all results", "critic-independent": "a critic that read each result", rerank: "tests on small databases", "rerank-votes": "tests on small databases, then votes",
};

function summary(answer) {
  const all = answer.candidates.length, votes = answer.groups.find((group) => group.chosen)?.votes ?? 0;
  if (all < 2) return !answer.groups.length ? "One query was written, and it could not be run." : "One query was written, so there is nothing to compare it with.";
  if (!answer.groups.length) return `None of the ${all} queries that were written could be run.`;
  const others = answer.groups.length - 1;
  const dissent = others ? `${count(others, "other result")} came out` : "no other result came out";
  const failed = answer.failed.length ? `, ${answer.failed.length} failed` : "";
  return `${votes} of ${all} queries return this result; ${dissent}${failed}. Chosen by ${SELECTORS[answer.choice?.selector] ?? answer.choice?.selector ?? "votes"}.`;
}

function share(answer) {
  const parts = [...answer.groups.map((group) => [group.votes, group.chosen ? "chosen" : ""]), [answer.failed.length, "failed"]];
  const bar = el("div", { class: "share", role: "img", "aria-label": summary(answer) });
  for (const [votes, kind] of parts) {
    if (!votes) continue;
    const part = el("i", { class: kind });
    part.style.flexGrow = votes;
    bar.append(part);
  }
  return bar;
}

function groupCard(group, answer, use) {
  const [first, ...others] = group.queries;
  const label = group.chosen ? "The answer" : `Result ${group.group + 1}`;
  const rows = group.rows.length ? smallTable(group.columns, group.rows) : el("p", { class: "quiet" }, "No rows.");
  const cut = group.row_count > group.rows.length ? `The first ${group.rows.length} of ${group.row_count.toLocaleString("en")} rows.` : "";
  return el("article", { class: `group${group.chosen ? " chosen" : ""}` },
    el("header", {}, el("h3", {}, label), el("span", { class: "votes" }, `${group.votes} of ${answer.candidates.length}`)),
    rows, cut ? el("p", { class: "quiet small" }, cut) : null, highlighted(broken(first)),
    others.length ? el("details", { class: "more" }, el("summary", {}, `${count(others.length, "other query", "other queries")} with this result`), ...others.map((sql) => highlighted(broken(sql)))) : null,
    el("button", { class: "link small", type: "button", onclick: (event) => use(first, event.currentTarget) }, "Show this result above"));
}

/** With one result only, its rows stand above already: other spellings of its query remain. */
function spellings(group) {
  const others = group.queries.slice(1);
  return others.length ? el("details", { class: "more" }, el("summary", {}, `${count(others.length, "other query", "other queries")} with the same result`), ...others.map((sql) => highlighted(broken(sql)))) : null;
}

/** Queries with what went wrong, each once; `title` stands on the line that opens them. */
export function failures(failed, title) {
  if (!failed.length) return null;
  const times = new Map();
  for (const one of failed) {
    const key = JSON.stringify([one.sql, one.error]);
    times.set(key, { ...one, times: (times.get(key)?.times ?? 0) + 1 });
  }
  return el("details", { class: "more" }, el("summary", {}, title),
    el("ul", { class: "failures" }, ...[...times.values()].map((one) => el("li", {}, one.sql ? highlighted(broken(one.sql)) : null,
      el("p", {}, sentence(one.error ?? ""), one.times > 1 ? ` (${one.times} times)` : "")))));
}

const OUTCOMES = {
  agreed: "All queries return the same, so no rival had to be compared.",
  together: "No small example was found on which the answer and its strongest rival differ.",
};

function apart(verified) {
  if (!verified) return null;
  if (!verified.test) return el("section", { class: "apart" }, el("h3", {}, "Answer against rival"), el("p", {}, OUTCOMES[verified.outcome] ?? sentence(`They could not be compared: ${verified.why}`)));
  const { tables, results } = verified.test;
  return el("section", { class: "apart" }, el("h3", {}, "Rows that tell the answer from its rival"),
    el("p", {}, "On this small example the two queries return different things. Which result is what you mean?"),
    ...Object.entries(tables).map(([name, table]) => el("div", {}, el("p", { class: "small" }, name), smallTable(table.columns, table.rows))),
    el("div", { class: "groups" }, ...results.map((result, index) => el("article", { class: `group${index ? "" : " chosen"}` },
      el("h3", {}, index ? `Rival (result ${verified.rival + 1})` : "The answer"),
      result.rows.length ? smallTable(result.columns, result.rows) : el("p", { class: "quiet" }, "No rows.")))));
}

/** What a service may have got of the database, by the answer's privacy; null where the models run on the server. */
const SHARED = { schema: "names and types only", values: "names, types and single values", rows: "names, types and rows" };

function cost(answer) {
  const { calls, prompt_tokens: read, completion_tokens: written, cached_tokens: cached, seconds: took } = answer.cost;
  const facts = [["Time", seconds(took)], ["Model calls", calls], ["Tokens read", read.toLocaleString("en") + (cached ? ` (${cached.toLocaleString("en")} cached)` : "")], ["Tokens written", written.toLocaleString("en")], ["A service may see", SHARED[answer.privacy] ?? "nothing, the model is local"], ["Request", answer.id]];
  return el("dl", { class: "facts" }, ...facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", { class: name === "Request" ? "id" : null }, value))));
}

/** `use(sql, button)` shows the result of a group in the place of the answer's. */
export function why(answer, use) {
  const several = answer.candidates.length > 1;
  const repairs = answer.candidates.reduce((sum, one) => sum + one.fixes.length, 0);
  return el("section", { class: "card", "aria-label": "Why" },
    el("header", {}, el("h2", {}, answer.groups.length ? "Why this answer" : "What was tried")),
    el("p", {}, summary(answer) + (repairs ? ` ${count(repairs, "repair")} made to queries.` : "")),
    several ? share(answer) : null,
    answer.groups.length > 1 ? el("div", { class: "groups" }, ...answer.groups.map((group) => groupCard(group, answer, use))) : answer.groups.length ? spellings(answer.groups[0]) : null,
    failures(answer.failed, `${count(answer.failed.length, "query", "queries")} failed`), apart(answer.verified), cost(answer));
}
