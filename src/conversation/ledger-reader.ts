import type { CompactBoundaryEntry } from "./entry.ts";
import { type DirectiveStatus, FACT_KINDS } from "./facts.ts";
import { field, figureField, listField, stringField, stringListField } from "./fields.ts";
import type { Fate, Ledger, LedgerFact } from "./ledger.ts";
import { headOf } from "./text.ts";
import { isRecord } from "./untrusted.ts";

/** More than any ledger of ours holds; what a file says beyond is not read. */
const MAX_FACTS = 5_000;
const MAX_ITEMS = 1_000;
const MAX_IDS = 64;
const MAX_CHARS = 6_000;

/**
 * What a boundary in a file says of its compaction, for whatever wrote it: an item of the wrong shape is passed
 * over. Undefined where there is no ledger.
 */
export function readLedger(boundary: CompactBoundaryEntry): Ledger | undefined {
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
