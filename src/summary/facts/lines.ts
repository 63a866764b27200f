import type { Fact, FactKind } from "../../conversation/facts.ts";
import { LEFT_OUT } from "./forms.ts";

const LABELS: Readonly<Record<Exclude<FactKind, "directive" | "file">, string>> = {
  todo: "Open to-do items:",
  question: "Questions to the user that wait for an answer:",
  decision: "Decided by the user, when asked:",
  error: "Errors met:",
  reference: "References:",
  quantity: "Quantities the user named:",
  command: "Commands run:",
  plan: "Plans the ASSISTANT wrote; no request of the user:",
};

/** The facts as lines, grouped by what they are, in the order in which the groups first come. */
export function factLines(facts: readonly Fact[], isWhole: boolean): string {
  const groups = new Map<FactKind, Fact[]>();
  for (const fact of facts) groups.set(fact.kind, [...(groups.get(fact.kind) ?? []), fact]);
  return [...groups].map(([kind, members]) => groupText(kind, members, isWhole)).join("\n\n");
}

function groupText(kind: FactKind, facts: readonly Fact[], isWhole: boolean): string {
  if (kind === "directive")
    return ["The user said:", ...facts.map((fact) => directiveLines(fact, isWhole))].join("\n");
  if (kind === "file") return ["Files:", ...fileLines(facts)].join("\n");
  return [LABELS[kind], ...facts.map(({ text }) => `- ${text.replace(/\s+/g, " ")}`)].join("\n");
}

function directiveLines(fact: Fact, isWhole: boolean): string {
  const words = isWhole ? fact.text : (fact.needles ?? [fact.text]).join(` ${LEFT_OUT} `);
  return `[${fact.id} ${fact.status ?? "active"}] > ${words.split(/\r\n?|\n/).join("\n> ")}`;
}

function fileLines(facts: readonly Fact[]): readonly string[] {
  const deeds = new Map<string, string[]>();
  for (const { text, needles } of facts) {
    const path = needles?.[0] ?? text;
    const deed = text.slice(0, text.indexOf(" "));
    deeds.set(deed, [...(deeds.get(deed) ?? []), path]);
  }
  return [...deeds].map(([deed, paths]) => `- ${deed}: ${groupedPaths(paths)}`);
}

/** Names that could be taken for a group, or the end of one, stand in full. */
const PLAIN_NAME = /^[^\s{},;"'`()]+$/;

export function groupedPaths(paths: readonly string[]): string {
  const folders = new Map<string, string[]>();
  const single: string[] = [];
  for (const path of paths) {
    const cut = path.lastIndexOf("/") + 1;
    if (cut === 0 || !PLAIN_NAME.test(path)) single.push(path);
    else folders.set(path.slice(0, cut), [...(folders.get(path.slice(0, cut)) ?? []), path.slice(cut)]);
  }
  const grouped = [...folders].map(([folder, names]) =>
    names.length === 1 ? `${folder}${names[0]}` : `${folder}{${names.join(", ")}}`,
  );
  return [...grouped, ...single].join("; ");
}
