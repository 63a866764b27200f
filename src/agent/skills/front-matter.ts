/** The text of a skill, and the fields that stand before it. */
export interface SkillText {
  readonly fields: ReadonlyMap<string, string>;
  readonly body: string;
}

/** More is no front matter, but a text that begins with a line. */
const MOST_LINES = 200;
const FENCE = /^---[ \t]*$/;
const KEY = /^([A-Za-z][\w-]*):(?:[ \t]+(.*))?$/;

/**
 * Reads the texts of a front matter: plain ones, in quotes, over several lines, as blocks. Not YAML: lists and maps are
 * passed over, and what is not understood hurts nothing but itself.
 */
export function readFrontMatter(text: string): SkillText {
  const whole = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  const lines = whole.split("\n");
  const end = FENCE.test(lines[0] ?? "")
    ? lines.slice(0, MOST_LINES).findIndex((line, index) => index > 0 && FENCE.test(line))
    : -1;
  if (end < 0) return { fields: new Map(), body: whole.trim() };
  return {
    fields: fieldsIn(lines.slice(1, end)),
    body: lines
      .slice(end + 1)
      .join("\n")
      .trim(),
  };
}

function fieldsIn(lines: readonly string[]): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (let at = 0; at < lines.length; ) {
    const [, key, value = ""] = KEY.exec(lines[at] ?? "") ?? [];
    const start = at + 1;
    at = start;
    while (at < lines.length && /^(?:[ \t]|$)/.test(lines[at] ?? "")) at++;
    // What is said first holds.
    if (key !== undefined && !fields.has(key)) fields.set(key, textOf(value.trim(), lines.slice(start, at)));
  }
  return fields;
}

function textOf(value: string, below: readonly string[]): string {
  const more = below.map((line) => line.trim());
  if (/^\|[-+]?\d?$/.test(value)) return more.join("\n").trim();
  const joined = [/^>[-+]?\d?$/.test(value) ? "" : value, ...more].filter((line) => line !== "").join(" ");
  return unquoted(joined);
}

function unquoted(text: string): string {
  const [, double, single] = /^(?:"(.*)"|'(.*)')$/s.exec(text) ?? [];
  if (double !== undefined) return double.replaceAll(/\\(["\\])/g, "$1");
  return single?.replaceAll("''", "'") ?? text;
}
