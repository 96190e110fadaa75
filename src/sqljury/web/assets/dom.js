// Elements without innerHTML: whatever a database or a model wrote stays text.

export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "class") made.className = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** A drawing of one line, in the colour of the text around it. */
export function picture(path) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg"), line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
}

export const count = (number, noun, nouns = `${noun}s`) => `${number.toLocaleString("en")} ${number === 1 ? noun : nouns}`;

export const seconds = (value) => (value < 10 ? `${value.toFixed(1)} s` : `${Math.round(value)} s`);

/** A message of the server as a sentence: a capital at its beginning, a full stop at its end. */
export const sentence = (text) => text && text[0].toUpperCase() + text.slice(1) + (/[.!?:]$/.test(text) ? "" : ".");

export const $ = (id) => document.getElementById(id);

/** Tells people who listen to the page rather than see it. */
export function say(text) {
  $("status").textContent = text;
}

export async function copy(text, button) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Copying failed";
  }
  setTimeout(() => { button.textContent = label; }, 1500);
}

/** Saves content as a file of the reader's. */
export function save(blob, name) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
