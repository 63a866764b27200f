import type { Fact, FactKind } from "../../conversation/fact-ledger.ts";
import { headOf, tailOf } from "../../conversation/text.ts";
import { plainText } from "./check.ts";
import { deedIn, pathOf } from "./file-facts.ts";
import { LEFT_OUT } from "./forms.ts";
import { commonFolder, groupedPaths } from "./paths.ts";

/** How much of a person's words is shown: all that is kept of them, what a check asks for, or their ends alone. */
export type Form = "whole" | "needed" | "ends";

const LABELS: Readonly<Record<FactKind, string>> = {
  directive: "Said by the user, newest first [id status]:",
  todo: "Open to-do items:",
  question: "Asked of the user, no answer yet:",
  decision: "Asked → answered by the user:",
  error: "Errors:",
  file: "Files:",
  reference: "References:",
  quantity: "Quantities the user named:",
  command: "Commands → outcome:",
  plan: "Plans of the ASSISTANT, which the user did not write:",
};

/** Short ones share a line. */
const IN_ONE_LINE: ReadonlySet<FactKind> = new Set(["reference", "quantity"]);

export const labelOf = (kind: FactKind): string => LABELS[kind];

/** The facts in groups by what they are, in the order in which the groups first come. */
export function factLines(facts: readonly Fact[], formOf: (fact: Fact) => Form): string {
  const groups = new Map<FactKind, Fact[]>();
  for (const fact of facts) {
    const group = groups.get(fact.kind);
    if (group) group.push(fact);
    else groups.set(fact.kind, [fact]);
  }
  return [...groups].map(([kind, group]) => groupText(kind, group, formOf)).join("\n");
}

function groupText(kind: FactKind, facts: readonly Fact[], formOf: (fact: Fact) => Form): string {
  const label = LABELS[kind];
  if (IN_ONE_LINE.has(kind)) return `${label} ${facts.map(({ text }) => plainText(text)).join("; ")}`;
  if (kind === "file") return fileGroups(facts);
  return [label, ...facts.map((fact) => factLine(fact, formOf(fact)))].join("\n");
}

/** As it stands in its group, alone. */
export function factLine(fact: Fact, form: Form): string {
  if (fact.kind === "directive") return directiveLines(fact, form);
  return IN_ONE_LINE.has(fact.kind) ? `; ${plainText(fact.text)}` : `- ${plainText(fact.text)}`;
}

const ENDS_HEAD_CHARS = 60;
const ENDS_TAIL_CHARS = 40;

/** Every line has a mark, so that no word of a person can pass for one of ours. */
function directiveLines(fact: Fact, form: Form): string {
  // An id may come from a file that somebody else wrote.
  return `[${plainText(fact.id)} ${fact.status ?? "active"}] > ${wordsOf(fact, form)
    .split(/\r\n?|\n/)
    .join("\n> ")}`;
}

function wordsOf(fact: Fact, form: Form): string {
  if (form === "whole") return fact.text;
  const needed = (fact.needles ?? [fact.text]).map(plainText).join(` ${LEFT_OUT} `);
  if (form === "needed" || needed.length <= ENDS_HEAD_CHARS + ENDS_TAIL_CHARS) return needed;
  return `${headOf(needed, ENDS_HEAD_CHARS).trim()} ${LEFT_OUT} ${tailOf(needed, ENDS_TAIL_CHARS).trim()}`;
}

/** A dot follows each kind of deed; `withPathsInFull` reads it. */
function fileGroups(facts: readonly Fact[]): string {
  const deeds = new Map<string, string[]>();
  for (const fact of facts) {
    const path = plainText(pathOf(fact));
    const paths = deeds.get(deedIn(fact));
    if (paths) paths.push(path);
    else deeds.set(deedIn(fact), [path]);
  }
  const base = commonFolder([...deeds.values()].flat());
  const told = [...deeds].map(([deed, paths]) => `${deed} ${groupedPaths(paths, base)}`).join(". ");
  return base === "" ? `Files: ${told}` : `Files under ${base}: ${told}`;
}
