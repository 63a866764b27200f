import type { FactKind, Fate, Ledger, LedgerFact } from "../../conversation/fact-ledger.ts";
import type { CompactionLedgerReport } from "../ledger-report.ts";
import type { Terminal } from "../terminal.ts";
import { formatCount } from "./numbers.ts";
import { tellingLength } from "./prompts-view.ts";
import type { Column } from "./table.ts";
import { fitText, foldText, oneLine, textWidth } from "./text-width.ts";
import { titled } from "./titled-table.ts";

const ROWS_SHOWN = 15;
const LABEL_WIDTH = 21;

export interface LedgerViewOptions {
  /** Every fact, however many there are. */
  readonly all: boolean;
  /** Only facts of this kind are listed. */
  readonly kind?: FactKind | undefined;
  /** The session, as commands take it. */
  readonly session: string;
}

export const KIND_NAMES: Readonly<Record<FactKind, string>> = {
  directive: "directives",
  question: "questions",
  todo: "to-dos",
  decision: "decisions",
  plan: "plans",
  file: "files",
  command: "commands",
  error: "errors",
  reference: "references",
  quantity: "quantities",
};

/** What is not in the context, or every fact, with the message that it can be read in. */
export function factsSection(
  { counts, inThisFile }: CompactionLedgerReport,
  { facts }: Ledger,
  { all, kind, session }: LedgerViewOptions,
  terminal: Terminal,
): string {
  const { colours, width } = terminal;
  if (facts.length === 0) return counts.facts === 0 ? "" : foldText(noneListed(kind, all), width);
  const shown = all ? facts : facts.slice(0, ROWS_SHOWN);
  const idLength = tellingLength([...new Set(shown.flatMap(({ entryIds }) => entryIds[0] ?? []))]);
  const labels = shown.map((fact) => labelOf(fact, all));
  const room = width - idLength - Math.max(...labels.map(textWidth)) - 6;
  const rows = shown.map((fact, nth) => [
    colours.cyan(fitText((fact.entryIds[0] ?? "").slice(0, idLength), idLength)),
    labels[nth] ?? "",
    factText(fact, room),
  ]);
  const title = all
    ? "Facts"
    : counts.gone > 0
      ? "Not in the context"
      : "Not in the context, but in the transcript";
  const columns: Column[] = [
    { title: "message" },
    { title: all ? "where it is" : "kind" },
    { title: "fact" },
  ];
  return [
    titled(`${title} ${colours.dim(`(${formatCount(facts.length)})`)}`, columns, rows, terminal),
    ...(facts.length > shown.length
      ? [colours.dim(`  and ${formatCount(facts.length - shown.length)} more: --all lists every fact`)]
      : []),
    ...(facts.some(({ fate }) => fate === "recoverable")
      ? [colours.dim(foldText(`  ${howToRead(inThisFile, session)}`, width, "  "))]
      : []),
  ].join("\n");
}

const howToRead = (inThisFile: boolean, session: string): string =>
  inThisFile
    ? `Read one whole: longhaul recall ${oneLine(session)} --id MESSAGE`
    : "They stand in the session that this one was made from; its summary says where that is.";

function noneListed(kind: FactKind | undefined, all: boolean): string {
  if (all) return `There are no ${KIND_NAMES[kind ?? "directive"]} among the facts.`;
  return kind === undefined
    ? "Every fact is in the context."
    : `None of the ${KIND_NAMES[kind]} is missing from the context.`;
}

/** Of a file what was done to it and the end of its path, which tell most. */
function factText({ kind, text }: LedgerFact, room: number): string {
  const [, deed = "", path = ""] = (kind === "file" && /^(\w+ )(.+)$/s.exec(text)) || [];
  return path === "" ? fitText(text, room) : `${deed}${fitText(path, room - deed.length, "front")}`;
}

const FATE_NAMES: Readonly<Record<Fate, string>> = {
  summary: "summary",
  kept: "kept",
  quoted: "quoted",
  restored: "put back",
  recoverable: "transcript",
  gone: "gone",
};

function labelOf({ kind, status, fate }: LedgerFact, all: boolean): string {
  const name = status === undefined || status === "active" ? kind : `${status} ${kind}`;
  return fitText(all || fate === "gone" ? `${kind}, ${FATE_NAMES[fate]}` : name, LABEL_WIDTH);
}
