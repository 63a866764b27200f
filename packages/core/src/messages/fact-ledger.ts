import { headOf } from "./text.ts";
import { field, isRecord, listField, numberField, stringField, stringListField } from "./untrusted.ts";

/**
 * A fact of a conversation that must not be lost. The engine finds it without a model and looks for it in the
 * result of a compaction.
 */
export interface Fact {
  /** Id of the fact, which stays the same in all compactions of a session. */
  readonly id: string;
  readonly kind: FactKind;
  /** The text to quote: verbatim, or the head and tail of a long text. */
  readonly text: string;
  /**
   * A message or summary includes the fact if it contains all these strings. If this list is absent, the
   * message or summary must contain `text`.
   */
  readonly needles?: readonly string[];
  /** Set for directives of the user. */
  readonly status?: DirectiveStatus;
  /** Set for directives of the user. Absent in ledgers of earlier versions. */
  readonly type?: DirectiveType;
  /**
   * Number of compactions in a row whose messages did not mention this open item. A request has this number
   * only if the user moved on before the request was seen to be done. See {@link isExpired}.
   */
  readonly unmentioned?: number;
  /**
   * Author of a cause or a decision. Absent for an answered question. A decision of the assistant is not
   * approved by the user.
   */
  readonly by?: FactAuthor;
  /** Set for causes. */
  readonly causeType?: CauseType;
  /** Uuids of transcript entries that contain the fact, the first mention first. */
  readonly entryIds: readonly string[];
}

/** Kinds of facts. Directives and open items come before completed work. */
export const FACT_KINDS = [
  "directive",
  "question",
  "todo",
  "decision",
  "cause",
  "plan",
  "file",
  "command",
  "error",
  "reference",
  "quantity",
] as const;

/**
 * - `directive`: a statement of the user.
 * - `file`: a file and the change to it. `command`: an executed command and its outcome. `error`: an error
 *   text.
 * - `reference`: a URL, commit, issue, version or port. `quantity`: a number that the user stated.
 * - `decision`: an answered question, or a choice with its reason. `question`: an open question. `todo`: an
 *   open item.
 * - `cause`: the cause of a problem, a corrected belief, or another statement with its reason.
 * - `plan`: a plan by the assistant. It is not a directive until the user confirms it.
 */
export type FactKind = (typeof FACT_KINDS)[number];

/** Only a request can be `done`, and only a question can be `answered`. */
export type DirectiveStatus = "active" | "done" | "answered" | "cancelled" | "superseded";

/**
 * - `rule`: applies until the user cancels or replaces it.
 * - `request`: asks for work that can be finished.
 * - `question`: asks for words.
 * - `statement`: tells something and asks for nothing. It applies until the user cancels or replaces it.
 */
export type DirectiveType = "rule" | "request" | "question" | "statement";

/** Author of a statement. */
export type FactAuthor = "user" | "assistant";

/**
 * - `root-cause`: the cause of a problem.
 * - `correction`: a belief that turned out to be wrong, with the right one.
 * - `reason`: any other statement with its reason.
 */
export type CauseType = "root-cause" | "correction" | "reason";

/** Number of compactions without a mention after which an open item expires. */
const EXPIRES_AFTER = 2;

/** Returns true if an open item is so old that a summary no longer lists it. The ledger still does. */
export const isExpired = ({ unmentioned = 0 }: Pick<Fact, "unmentioned">): boolean =>
  unmentioned >= EXPIRES_AFTER;

/**
 * Location of a fact after a compaction:
 * - `summary`: in the original summary.
 * - `kept`: in the kept messages.
 * - `quoted`: quoted, because the summary lacked it.
 * - `restored`: in the restored context.
 * - `recoverable`: only in the transcript.
 * - `gone`: nowhere.
 */
export type Fate = "summary" | "kept" | "quoted" | "restored" | "recoverable" | "gone";

export interface LedgerFact extends Fact {
  readonly fate: Fate;
}

/** A tool result that no model had seen and that did not fit in full beside the summary. */
export interface ShortenedResult {
  readonly toolUseId: string;
  /** Uuid of the transcript entry with the full result. */
  readonly entryId?: string;
  readonly tokens: number;
  readonly keptTokens: number;
}

/** Record of the facts of a compaction, stored on its boundary in the transcript. */
export interface Ledger {
  readonly facts: readonly LedgerFact[];
  /** The messages that the summary replaces. The transcript still has them in full. */
  readonly summarized: {
    readonly messages: number;
    readonly tokens: number;
    /** Uuids of the first and the last message. */
    readonly from?: string;
    readonly to?: string;
  };
  readonly kept: { readonly messages: number; readonly tokens: number };
  readonly restored: readonly { readonly kind: string; readonly name: string; readonly tokens: number }[];
  /** Tool results in the kept messages that were shortened. */
  readonly shortened?: readonly ShortenedResult[];
  /** Items that could not be restored, with the reason. */
  readonly skipped: readonly { readonly kind: string; readonly name: string; readonly reason: string }[];
  /**
   * `PROMPT_VERSION` at the time of the compaction. Absent in ledgers that are computed later from the
   * transcript, in the ledger of a clearing, and in ledgers of older versions.
   */
  readonly promptVersion?: number;
  /** Tokens of the quoted facts. */
  readonly quotedTokens: number;
  /** Number of facts of this compaction that did not fit into the ledger. The transcript contains them. */
  readonly unlisted?: number;
  /**
   * Facts that only the ledgers of earlier compactions list. `boundary` says where to look for them, and
   * `facts` is their number.
   */
  readonly earlier?: { readonly boundary: string; readonly facts: number };
}

/** The part of a ledger that the next compaction needs. */
export interface KnownFacts {
  readonly facts: readonly Fact[];
  readonly earlier?: Ledger["earlier"] | undefined;
}

/** Counts the facts by fate. */
export function countFates(facts: readonly LedgerFact[]): Readonly<Record<Fate, number>> {
  const counts = { summary: 0, kept: 0, quoted: 0, restored: 0, recoverable: 0, gone: 0 };
  for (const { fate } of facts) counts[fate]++;
  return counts;
}

/** Returns true if the agent still has the fact in its context. */
export const isInContext = ({ fate }: Pick<LedgerFact, "fate">): boolean =>
  fate !== "recoverable" && fate !== "gone";

/** Maximum number of facts to read. Our own ledgers contain fewer. The rest of a longer list is ignored. */
const MAX_FACTS = 5_000;
const MAX_ITEMS = 1_000;
const MAX_IDS = 64;
const MAX_CHARS = 6_000;

/**
 * Reads the ledger of any boundary in a file. Skips items of the wrong shape. Returns undefined if there is
 * no ledger.
 */
export function readLedger(boundary: unknown): Ledger | undefined {
  const found = field(field(field(boundary, "compactMetadata"), "longhaul"), "ledger");
  if (!isRecord(found)) return undefined;
  const earlier = readEarlier(found.earlier);
  // Earlier versions of longhaul wrote the second name of each field.
  const summarized = found.summarized ?? found.summarised;
  const unlisted = countField(found, "unlisted") || countField(found, "untold");
  return {
    facts: readFacts(found),
    summarized: {
      ...readSize(summarized),
      ...optionalText("from", summarized),
      ...optionalText("to", summarized),
    },
    kept: readSize(found.kept),
    restored: listItems(found, "restored").flatMap((item) => {
      const named = readNamed(item);
      return named === undefined ? [] : [{ ...named, tokens: countField(item, "tokens") }];
    }),
    skipped: listItems(found, "skipped").flatMap((item) => {
      const named = readNamed(item);
      const reason = shortTextField(item, "reason");
      return named === undefined || reason === undefined ? [] : [{ ...named, reason }];
    }),
    ...readShortened(found),
    ...(countField(found, "promptVersion") === 0
      ? {}
      : { promptVersion: countField(found, "promptVersion") }),
    quotedTokens: countField(found, "quotedTokens"),
    ...(unlisted === 0 ? {} : { unlisted }),
    ...(earlier === undefined ? {} : { earlier }),
  };
}

function readShortened(ledger: unknown): Pick<Ledger, "shortened"> {
  const shortened = listItems(ledger, "shortened").flatMap((item) => {
    const toolUseId = shortTextField(item, "toolUseId");
    if (toolUseId === undefined) return [];
    const sizes = { tokens: countField(item, "tokens"), keptTokens: countField(item, "keptTokens") };
    return [{ toolUseId, ...optionalText("entryId", item), ...sizes }];
  });
  return shortened.length === 0 ? {} : { shortened };
}

/** Reads each fact once. If an id occurs twice, the first fact counts. */
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
  const id = shortTextField(item, "id");
  const kind = choiceField(FACT_KINDS, item, "kind");
  const fate = choiceField(FATES, item, "fate");
  const text = shortTextField(item, "text");
  if (id === undefined || kind === undefined || fate === undefined || text === undefined) return undefined;
  const needles = shortTexts(item, "needles");
  const status = choiceField(STATUSES, item, "status");
  const type = choiceField(TYPES, item, "type");
  const unmentioned = countField(item, "unmentioned");
  const by = choiceField(AUTHORS, item, "by");
  const causeType = choiceField(CAUSE_TYPES, item, "causeType");
  return {
    id,
    kind,
    text,
    ...(needles.length === 0 ? {} : { needles }),
    ...(status === undefined || kind !== "directive" ? {} : { status }),
    ...(type === undefined || kind !== "directive" ? {} : { type }),
    ...(typeof field(item, "unmentioned") === "number" ? { unmentioned } : {}),
    ...(by === undefined || (kind !== "decision" && kind !== "cause") ? {} : { by }),
    ...(causeType === undefined || kind !== "cause" ? {} : { causeType }),
    entryIds: shortTexts(item, "entryIds"),
    fate,
  };
}

function readEarlier(value: unknown): Ledger["earlier"] {
  const boundary = shortTextField(value, "boundary");
  const facts = countField(value, "facts");
  return boundary === undefined || facts === 0 ? undefined : { boundary, facts };
}

const readSize = (value: unknown): Ledger["kept"] => ({
  messages: countField(value, "messages"),
  tokens: countField(value, "tokens"),
});

function readNamed(item: unknown): { readonly kind: string; readonly name: string } | undefined {
  const [kind, name] = [shortTextField(item, "kind"), shortTextField(item, "name")];
  return kind === undefined || name === undefined ? undefined : { kind, name };
}

const listItems = (value: unknown, name: string): readonly unknown[] =>
  listField(value, name).slice(0, MAX_ITEMS);

const countField = (value: unknown, name: string): number =>
  Math.max(0, Math.round(numberField(value, name)));

function shortTextField(value: unknown, name: string): string | undefined {
  const text = stringField(value, name);
  return text === undefined || text === "" ? undefined : headOf(text, MAX_CHARS);
}

const shortTexts = (value: unknown, name: string): readonly string[] =>
  stringListField(value, name)
    .filter((text) => text !== "")
    .slice(0, MAX_IDS)
    .map((text) => headOf(text, MAX_CHARS));

function optionalText<K extends string>(name: K, value: unknown): { readonly [key in K]?: string } {
  const text = shortTextField(value, name);
  return text === undefined ? {} : ({ [name]: text } as { readonly [key in K]?: string });
}

const FATES: readonly Fate[] = ["summary", "kept", "quoted", "restored", "recoverable", "gone"];
const STATUSES: readonly DirectiveStatus[] = ["active", "done", "answered", "cancelled", "superseded"];
const TYPES: readonly DirectiveType[] = ["rule", "request", "question", "statement"];

const AUTHORS: readonly FactAuthor[] = ["user", "assistant"];
const CAUSE_TYPES: readonly CauseType[] = ["root-cause", "correction", "reason"];

const choiceField = <T extends string>(known: readonly T[], value: unknown, name: string): T | undefined =>
  known.find((one) => one === field(value, name));
