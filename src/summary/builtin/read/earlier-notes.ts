import { fencedLines, type SectionName } from "../../sections.ts";

/**
 * Where the sections of a session's notes stand in a summary; "" is for those of a user's own template. What shares a
 * section stands in the order in which it can be missed least: concepts give way from the end, the rest from the front.
 */
const PLACES: readonly (readonly [name: string, place: SectionName])[] = [
  ["session title", "Primary Request and Intent"],
  ["task specification", "Primary Request and Intent"],
  ["current state", "Current Work"],
  ["files and functions", "Files and Code Sections"],
  ["errors & corrections", "Errors and Fixes"],
  ["workflow", "Key Technical Concepts"],
  ["", "Key Technical Concepts"],
  ["codebase and system documentation", "Key Technical Concepts"],
  ["worklog", "Problem Solving"],
  ["learnings", "Problem Solving"],
  ["key results", "Problem Solving"],
];

const NAMES: ReadonlySet<string> = new Set(PLACES.map(([name]) => name));
/** A person's own words, as we note them. */
const MESSAGE = /^- (?:\(after interrupting the assistant\) )?(?:"|\(\d+ lines\)\n)/;

/** What notes say, sorted into the sections of a summary. `splitItems` takes a body apart. */
export function itemsOfNotes(
  text: string,
  splitItems: (body: string) => readonly string[],
): ReadonlyMap<SectionName, readonly string[]> {
  const { preface, bodies } = cutAtHeadings(text);
  const items = new Map<SectionName, readonly string[]>();
  const add = (place: SectionName, more: readonly string[]): void => {
    if (more.length > 0) items.set(place, [...(items.get(place) ?? []), ...more]);
  };
  // Where the whole notes are, and what a person wrote above them.
  add("Primary Request and Intent", splitItems(preface));
  for (const [name, place] of PLACES) {
    const found = (bodies.get(name) ?? []).flatMap((body) => splitItems(body));
    const messages = found.filter((item) => MESSAGE.test(item));
    if (place !== "Primary Request and Intent") add(place, found);
    else {
      add("All User Messages", messages);
      // The newest is the request that was current.
      add(place, [...messages.slice(-1), ...found.filter((item) => !MESSAGE.test(item))]);
    }
  }
  return items;
}

interface CutNotes {
  readonly preface: string;
  /** By the names of {@link PLACES}. */
  readonly bodies: ReadonlyMap<string, readonly string[]>;
}

function cutAtHeadings(text: string): CutNotes {
  const lines = text.split("\n");
  const isCode = fencedLines(lines);
  const preface: string[] = [];
  const bodies = new Map<string, string[][]>();
  let open = preface;
  for (const [index, line] of lines.entries()) {
    const title = isCode(index) ? undefined : /^#[ \t]+(\S.*)$/.exec(line)?.[1]?.trim();
    if (title === undefined) {
      open.push(line);
      continue;
    }
    const name = title.toLowerCase();
    // A name of the user's own tells what its items are about.
    open = NAMES.has(name) ? [] : [`${title}:`, ""];
    const key = NAMES.has(name) ? name : "";
    bodies.set(key, [...(bodies.get(key) ?? []), open]);
  }
  const joined = [...bodies].map(([name, parts]) => [name, parts.map((part) => part.join("\n"))] as const);
  return { preface: preface.join("\n"), bodies: new Map(joined) };
}
