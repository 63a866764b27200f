import { headOf } from "./text.ts";
import { field, figureField, isRecord, listField, stringField, stringListField } from "./untrusted.ts";

/** A hard fact of a conversation: found without a model, and looked for in what a compaction leaves. */
export interface Fact {
  /** The same over all compactions of a session. */
  readonly id: string;
  readonly kind: FactKind;
  /** As it would be quoted: verbatim, or the head and the tail of what is huge. */
  readonly text: string;
  /** All of these must stand in a text that holds the fact; the text itself where there are none. */
  readonly needles?: readonly string[];
  /** Of what a person asked for. */
  readonly status?: DirectiveStatus;
  /** Where it can be read: uuids of entries in the transcript, the one that tells it first. */
  readonly entryIds: readonly string[];
}

/** What is asked for before what was done. */
export const FACT_KINDS = [
  "directive",
  "question",
  "todo",
  "decision",
  "plan",
  "file",
  "command",
  "error",
  "reference",
  "quantity",
] as const;

/**
 * - `directive`: what a person said.
 * - `file`: a file and what was done to it. `command`: one that was run, and its outcome. `error`: its text.
 * - `reference`: an address, a commit, an issue, a version, a port. `quantity`: a number in a person's words.
 * - `decision`: a question that was answered. `question`: one that waits. `todo`: an open item.
 * - `plan`: one that the assistant wrote. It is nobody's wish until a person says so.
 */
export type FactKind = (typeof FACT_KINDS)[number];

export type DirectiveStatus = "active" | "done" | "cancelled" | "superseded";

/**
 * Where a fact is after a compaction: in the summary as it was written, in the messages that were kept, quoted
 * because the summary lacked it, in what was put back, only in the transcript, or nowhere.
 */
export type Fate = "summary" | "kept" | "quoted" | "restored" | "recoverable" | "gone";

export interface LedgerFact extends Fact {
  readonly fate: Fate;
}

/** A tool result that no model had seen, and that did not fit whole beside the summary. */
export interface ShortenedResult {
  readonly toolUseId: string;
  /** Uuid of the entry that holds it whole in the transcript. */
  readonly entryId?: string;
  readonly tokens: number;
  readonly keptTokens: number;
}

/** What a compaction did with what there was: on its boundary in the transcript. */
export interface Ledger {
  readonly facts: readonly LedgerFact[];
  /** The messages that the summary stands for; in the transcript they are whole. */
  readonly summarised: {
    readonly messages: number;
    readonly tokens: number;
    /** Uuids of the first and the last of them. */
    readonly from?: string;
    readonly to?: string;
  };
  readonly kept: { readonly messages: number; readonly tokens: number };
  readonly restored: readonly { readonly kind: string; readonly name: string; readonly tokens: number }[];
  /** Results among the kept messages of which a part was left out. */
  readonly shortened?: readonly ShortenedResult[];
  /** What could not be put back, and why. */
  readonly skipped: readonly { readonly kind: string; readonly name: string; readonly reason: string }[];
  /** Tokens that quoting cost. */
  readonly quotedTokens: number;
  /** Facts of this compaction that were too many to be told here; the transcript has them. */
  readonly untold?: number;
  /** Facts of earlier compactions that are told by their ledgers alone: the boundary to look at, and how many. */
  readonly earlier?: { readonly boundary: string; readonly facts: number };
}

/** The part of a ledger that the next compaction continues from. */
export interface KnownFacts {
  readonly facts: readonly Fact[];
  readonly earlier?: Ledger["earlier"] | undefined;
}

/** How many facts are where. */
export function countFates(facts: readonly LedgerFact[]): Readonly<Record<Fate, number>> {
  const counts = { summary: 0, kept: 0, quoted: 0, restored: 0, recoverable: 0, gone: 0 };
  for (const { fate } of facts) counts[fate]++;
  return counts;
}

/** Whether the agent has it before its eyes. */
export const isInContext = ({ fate }: Pick<LedgerFact, "fate">): boolean =>
  fate !== "recoverable" && fate !== "gone";

/** More than any ledger of ours holds; what a file says beyond is not read. */
const MAX_FACTS = 5_000;
const MAX_ITEMS = 1_000;
const MAX_IDS = 64;
const MAX_CHARS = 6_000;

/**
 * What a boundary in a file says of its compaction, for whatever wrote it: an item of the wrong shape is passed
 * over. Undefined where there is no ledger.
 */
export function readLedger(boundary: unknown): Ledger | undefined {
  const found = field(field(field(boundary, "compactMetadata"), "longhaul"), "ledger");
  if (!isRecord(found)) return undefined;
  const earlier = readEarlier(found.earlier);
  return {
    facts: readFacts(found),
    summarised: {
      ...readSize(found.summarised),
      ...optionalText("from", found.summarised),
      ...optionalText("to", found.summarised),
    },
    kept: readSize(found.kept),
    restored: items(found, "restored").flatMap((item) => {
      const named = readNamed(item);
      return named === undefined ? [] : [{ ...named, tokens: amount(item, "tokens") }];
    }),
    skipped: items(found, "skipped").flatMap((item) => {
      const named = readNamed(item);
      const reason = shortText(item, "reason");
      return named === undefined || reason === undefined ? [] : [{ ...named, reason }];
    }),
    ...readShortened(found),
    quotedTokens: amount(found, "quotedTokens"),
    ...(amount(found, "untold") === 0 ? {} : { untold: amount(found, "untold") }),
    ...(earlier === undefined ? {} : { earlier }),
  };
}

function readShortened(ledger: unknown): Pick<Ledger, "shortened"> {
  const shortened = items(ledger, "shortened").flatMap((item) => {
    const toolUseId = shortText(item, "toolUseId");
    if (toolUseId === undefined) return [];
    const sizes = { tokens: amount(item, "tokens"), keptTokens: amount(item, "keptTokens") };
    return [{ toolUseId, ...optionalText("entryId", item), ...sizes }];
  });
  return shortened.length === 0 ? {} : { shortened };
}

/** Each fact once: where an id comes twice, the first counts. */
function readFacts(ledger: unknown): readonly LedgerFact[] {
  const facts = new Map<string, LedgerFact>();
  for (const item of listField(ledger, "facts")) {
    if (facts.size >= MAX_FACTS) break;
    const fact = readFact(item);
    if (fact !== undefined && !facts.has(fact.id)) facts.set(fact.id, fact);
  }
  return [...facts.values()];
}

function readFact(item: unknown): LedgerFact | undefined {
  const id = shortText(item, "id");
  const kind = oneOf(FACT_KINDS, item, "kind");
  const fate = oneOf(FATES, item, "fate");
  const text = shortText(item, "text");
  if (id === undefined || kind === undefined || fate === undefined || text === undefined) return undefined;
  const needles = shortTexts(item, "needles");
  const status = oneOf(STATUSES, item, "status");
  return {
    id,
    kind,
    text,
    ...(needles.length === 0 ? {} : { needles }),
    ...(status === undefined || kind !== "directive" ? {} : { status }),
    entryIds: shortTexts(item, "entryIds"),
    fate,
  };
}

function readEarlier(value: unknown): Ledger["earlier"] {
  const boundary = shortText(value, "boundary");
  const facts = amount(value, "facts");
  return boundary === undefined || facts === 0 ? undefined : { boundary, facts };
}

const readSize = (value: unknown): Ledger["kept"] => ({
  messages: amount(value, "messages"),
  tokens: amount(value, "tokens"),
});

function readNamed(item: unknown): { readonly kind: string; readonly name: string } | undefined {
  const [kind, name] = [shortText(item, "kind"), shortText(item, "name")];
  return kind === undefined || name === undefined ? undefined : { kind, name };
}

const items = (value: unknown, name: string): readonly unknown[] =>
  listField(value, name).slice(0, MAX_ITEMS);

const amount = (value: unknown, name: string): number => Math.max(0, Math.round(figureField(value, name)));

function shortText(value: unknown, name: string): string | undefined {
  const text = stringField(value, name);
  return text === undefined || text === "" ? undefined : headOf(text, MAX_CHARS);
}

const shortTexts = (value: unknown, name: string): readonly string[] =>
  stringListField(value, name)
    .filter((text) => text !== "")
    .slice(0, MAX_IDS)
    .map((text) => headOf(text, MAX_CHARS));

function optionalText<K extends string>(name: K, value: unknown): { readonly [key in K]?: string } {
  const text = shortText(value, name);
  return text === undefined ? {} : ({ [name]: text } as { readonly [key in K]?: string });
}

const FATES: readonly Fate[] = ["summary", "kept", "quoted", "restored", "recoverable", "gone"];
const STATUSES: readonly DirectiveStatus[] = ["active", "done", "cancelled", "superseded"];

const oneOf = <T extends string>(known: readonly T[], value: unknown, name: string): T | undefined =>
  known.find((one) => one === field(value, name));
