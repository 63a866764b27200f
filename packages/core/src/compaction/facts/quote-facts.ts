import type { CountText } from "../../measure/tokens/measure.ts";
import type {
  DirectiveStatus,
  DirectiveType,
  Fact,
  FactAuthor,
  FactKind,
} from "../../messages/fact-ledger.ts";
import { headOf, tailOf } from "../../messages/text.ts";
import { proseSentences, saysRule } from "../summary/readers/readers.ts";
import { factsSection, quotedLines } from "../summary/summary-message.ts";
import { findFacts, isPlain, plainText } from "./find-facts.ts";
import { isReasonFact, reasonLines } from "./reason-facts.ts";
import { operationIn, pathOf } from "./work-facts.ts";

/**
 * Token budget for facts that a summary lacks. The budget is a fiftieth of a usual window, and it is enough
 * for all requests of a long session.
 */
export const FACTS_BUDGET_TOKENS = 4_000;

interface Limit {
  /** Maximum share of the budget. */
  readonly share: number;
  readonly maxTokens: number;
  readonly covers: (fact: Fact) => boolean;
}

/**
 * Limits for causes and decisions, so that there is room for files and the user's words. The first limit is
 * enough for about thirty statements. The second one leaves room for causes and decisions beside plain reasons.
 */
const LIMITS: readonly Limit[] = [
  { share: 0.45, maxTokens: 1_150, covers: isReasonFact },
  {
    share: 0.1,
    maxTokens: 400,
    covers: ({ kind, causeType }) => kind === "cause" && causeType === "reason",
  },
];

/** Tokens of two statements with their labels, which a limit never forbids. */
const SMALLEST_LIMIT_TOKENS = 100;

const limitOf = ({ share, maxTokens }: Limit, { budgetTokens }: QuoteOptions): number =>
  Math.min(maxTokens, Math.max(SMALLEST_LIMIT_TOKENS, budgetTokens * share));

interface QuoteOptions {
  readonly budgetTokens: number;
  readonly countTokens: CountText;
}

interface QuotedFacts {
  /** Text for the end of the summary, or "" if nothing is quoted. */
  readonly text: string;
  /**
   * Facts that a search finds in the text. If the text shows only the ends of a directive, the directive
   * counts as left out.
   */
  readonly quoted: readonly Fact[];
  readonly leftOut: readonly Fact[];
  readonly tokens: number;
}

/**
 * Quotes the facts that a summary lacks, within the budget. `missing` is sorted by importance. Active
 * directives come first. If the budget is small, only their ends are quoted. Texts are shortened before facts
 * are left out.
 */
export function quoteFacts(missing: readonly Fact[], options: QuoteOptions): QuotedFacts {
  const { countTokens, budgetTokens } = options;
  let forms: Map<Fact, Form> = new Map(missing.map((fact) => [fact, "whole"]));
  const isTooMuch = (): boolean => countTokens(quotation(forms)) > budgetTokens;
  const isOver = (limit: Limit): boolean =>
    tokensOf(forms, limit.covers, countTokens) > limitOf(limit, options);
  if (isTooMuch() || LIMITS.some(isOver)) {
    forms = choose(missing, options);
    for (const limit of LIMITS) while (isOver(limit)) shrink(forms, limit.covers);
    while (forms.size > 0 && isTooMuch()) shrink(forms, () => true);
  }
  const text = quotation(forms);
  const found = findFacts(missing, [text]);
  return {
    text,
    quoted: missing.filter(({ id }) => found.has(id)),
    leftOut: missing.filter(({ id }) => !found.has(id)),
    tokens: text === "" ? 0 : countTokens(text),
  };
}

function tokensOf(forms: ReadonlyMap<Fact, Form>, covers: Limit["covers"], countTokens: CountText): number {
  const covered = new Map([...forms].filter(([fact]) => covers(fact)));
  return covered.size === 0 ? 0 : countTokens(factLines(covered));
}

const quotation = (forms: ReadonlyMap<Fact, Form>): string =>
  forms.size === 0 ? "" : factsSection(factLines(forms));

/** Chooses facts by the tokens of their lines. All lines together are counted afterward. */
function choose(missing: readonly Fact[], options: QuoteOptions): Map<Fact, Form> {
  const { budgetTokens, countTokens } = options;
  const forms = new Map<Fact, Form>();
  const labels = new Set<string>();
  let room = budgetTokens - countTokens(factsSection("-"));
  const limits = LIMITS.map((limit) => ({ covers: limit.covers, room: limitOf(limit, options) }));
  const spend = (fact: Fact, price: number): boolean => {
    const own = limits.filter(({ covers }) => covers(fact));
    if (price > room || own.some((limit) => price > limit.room)) return false;
    room -= price;
    for (const limit of own) limit.room -= price;
    return true;
  };
  const cost = (fact: Fact, form: Form): number => countTokens(`${factLine(fact, form)}\n`);
  const take = (fact: Fact, form: Form): void => {
    const label = labels.has(labelOf(fact)) ? 0 : countTokens(`${labelOf(fact)}\n`);
    const price = cost(fact, form) + label;
    if (!spend(fact, price)) return;
    labels.add(labelOf(fact));
    forms.set(fact, form);
  };
  const lengthen = (fact: Fact, form: Form): void => {
    const now = forms.get(fact);
    const more = now === undefined ? Infinity : cost(fact, form) - cost(fact, now);
    if (spend(fact, more)) forms.set(fact, form);
  };
  const active = missing.filter(({ status }) => status === "active");
  for (const fact of active) take(fact, "ends");
  for (const fact of active) lengthen(fact, "needed");
  const listed = findFacts(missing, [quotation(forms)]);
  for (const fact of missing) if (fact.status !== "active" && !listed.has(fact.id)) take(fact, "needed");
  for (const fact of missing) if (fact.kind === "directive") lengthen(fact, "whole");
  // If some do not fit, the others stay short and share lines.
  const reasons = missing.filter(isReasonFact);
  if (reasons.every((fact) => forms.has(fact))) for (const fact of reasons) lengthen(fact, "whole");
  return forms;
}

/**
 * Shortens the last chosen fact that can be shortened. If none can be shortened, drops the last chosen one.
 */
function shrink(forms: Map<Fact, Form>, isChosen: (fact: Fact) => boolean): void {
  const facts = [...forms.keys()].filter(isChosen);
  const long = facts.findLast(
    (fact) => (fact.kind === "directive" || isReasonFact(fact)) && forms.get(fact) === "whole",
  );
  const last = facts.at(-1);
  if (long !== undefined) forms.set(long, "needed");
  else if (last !== undefined) forms.delete(last);
}

/** Amount of the user's words to show: all that is stored, the needed pieces, or only the ends. */
type Form = "whole" | "needed" | "ends";

const LABELS: Readonly<Record<FactKind, string>> = {
  directive: "User messages, newest first [id status type]:",
  todo: "Open to-do items:",
  question: "Questions to the user without an answer:",
  decision: "Questions → the user's answers:",
  cause: "Said by the ASSISTANT at that time (by the user if they follow the mark >):",
  error: "Errors:",
  file: "Files:",
  reference: "References:",
  quantity: "Quantities the user named:",
  command: "Commands → outcome:",
  plan: "Plans that the ASSISTANT wrote, not the user:",
};

/** Labels of choices with their reasons. The key is the author. */
const DECISION_LABELS: Readonly<Record<FactAuthor, string>> = {
  user: "Decisions in the user's words:",
  assistant: "Choices of the ASSISTANT at that time, not of the user:",
};

const labelOf = ({ kind, by }: Fact): string =>
  kind === "decision" && by !== undefined ? DECISION_LABELS[by] : LABELS[kind];

/** Kinds of short facts that share a line. */
const IN_ONE_LINE: ReadonlySet<FactKind> = new Set(["reference", "quantity"]);

/** Writes the facts in groups with one label each, in the order in which the labels first occur. */
function factLines(forms: ReadonlyMap<Fact, Form>): string {
  const groups = grouped([...forms.keys()], labelOf);
  return [...groups].map(([label, facts]) => groupText(label, facts, forms)).join("\n");
}

function grouped<T, K>(items: readonly T[], keyOf: (item: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

function groupText(label: string, facts: readonly Fact[], forms: ReadonlyMap<Fact, Form>): string {
  const [first] = facts;
  if (first === undefined) return label;
  if (isReasonFact(first)) return `${label}\n${reasonLines(facts, (fact) => forms.get(fact) === "needed")}`;
  const { kind } = first;
  if (IN_ONE_LINE.has(kind)) return `${label} ${facts.map(({ text }) => plainText(text)).join("; ")}`;
  if (kind === "file") return fileGroups(facts);
  return [label, ...facts.map((fact) => factLine(fact, forms.get(fact) ?? "needed"))].join("\n");
}

/** Writes the line of a single fact. */
function factLine(fact: Fact, form: Form): string {
  if (fact.kind === "directive") return directiveLines(fact, form);
  if (isReasonFact(fact)) return reasonLines([fact], () => form === "needed");
  return IN_ONE_LINE.has(fact.kind) ? `; ${plainText(fact.text)}` : `- ${plainText(fact.text)}`;
}

const ENDS_HEAD_CHARS = 60;
const ENDS_TAIL_CHARS = 40;

/**
 * Writes the mark `>` before every line of a directive, so that no user text can look like longhaul's own
 * text.
 */
function directiveLines(fact: Fact, form: Form): string {
  // Put the id on one line, because the id may come from a foreign file.
  const type = fact.type === undefined ? "" : ` ${fact.type}`;
  return `[${plainText(fact.id)} ${fact.status ?? "active"}${type}] > ${wordsOf(fact, form)
    .split(/\r\n?|\n/)
    .join("\n> ")}`;
}

function wordsOf(fact: Fact, form: Form): string {
  if (form === "whole") return fact.text;
  const needed = (fact.needles ?? [fact.text]).map(plainText).join(` ${LEFT_OUT} `);
  if (form === "needed" || needed.length <= ENDS_HEAD_CHARS + ENDS_TAIL_CHARS) return needed;
  return `${headOf(needed, ENDS_HEAD_CHARS).trim()} ${LEFT_OUT} ${tailOf(needed, ENDS_TAIL_CHARS).trim()}`;
}

/**
 * Lists files by operation. A period separates the operations, because `withPathsInFull` relies on this
 * period.
 */
function fileGroups(facts: readonly Fact[]): string {
  const operations = [...grouped(facts, operationIn)].map(([operation, group]) => ({
    operation,
    paths: group.map((fact) => plainText(pathOf(fact))),
  }));
  const base = commonFolder(operations.flatMap(({ paths }) => paths));
  const listed = operations
    .map(({ operation, paths }) => `${operation} ${groupedPaths(paths, base)}`)
    .join(". ");
  return base === "" ? `Files: ${listed}` : `Files under ${base}: ${listed}`;
}

/**
 * Returns the folder that makes the list shortest if the list names this folder only once. Returns "" if no
 * folder makes the list shorter.
 */
function commonFolder(paths: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const path of paths) {
    if (!isPlain(path)) continue;
    for (let cut = path.indexOf("/", 1); cut !== -1; cut = path.indexOf("/", cut + 1)) {
      const folder = path.slice(0, cut + 1);
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
    }
  }
  let best = "";
  let saved = 0;
  for (const [folder, count] of counts) {
    const saves = (count - 1) * folder.length;
    if (saves > saved) [best, saved] = [folder, saves];
  }
  return best;
}

/** Groups paths by folder. `base`: common folder, which the line already names. */
function groupedPaths(paths: readonly string[], base: string): string {
  const places = paths.map((path) => {
    const canShare = isPlain(path);
    const shown = canShare && base !== "" && path.startsWith(base) ? path.slice(base.length) : path;
    const cut = canShare ? shown.lastIndexOf("/") + 1 : 0;
    return { folder: shown.slice(0, cut), name: shown.slice(cut) };
  });
  return [...grouped(places, ({ folder }) => folder)]
    .map(([folder, group]) => {
      const names = group.map(({ name }) => name);
      return folder === "" || names.length === 1
        ? names.map((name) => `${folder}${name}`).join(", ")
        : `${folder}{${names.join(", ")}}`;
    })
    .join(", ");
}

/**
 * Mark for text that is left out between two pieces of the user's words. The mark is on a separate line or
 * within a line. The pieces themselves are verbatim.
 */
const LEFT_OUT = "[…]";

interface Lengths {
  /** Maximum length of a text that is shown whole. */
  readonly whole: number;
  readonly head: number;
  readonly tail: number;
  /** Number of rules between head and tail, and the length of each. */
  readonly rules: number;
  readonly rule: number;
}

/**
 * Maximum lengths of the pieces of a directive in the ledger. A quotation uses the same lengths if its budget
 * is large enough. A closed directive gets less text than an active one.
 */
const KEPT_ACTIVE: Lengths = { whole: 2_400, head: 1_400, tail: 700, rules: 8, rule: 200 };
const KEPT_PAST: Lengths = { whole: 700, head: 400, tail: 200, rules: 0, rule: 0 };
/**
 * Maximum lengths of the needed pieces of a directive. If a text contains these pieces, the directive counts
 * as found. If the budget is small, only these pieces are quoted.
 */
const NEEDED_ACTIVE: Lengths = { whole: 240, head: 130, tail: 80, rules: 3, rule: 110 };
const NEEDED_PAST: Lengths = { whole: 140, head: 80, tail: 50, rules: 0, rule: 0 };

/** Number of characters to scan for rules. The rest of a longer message is usually a pasted document. */
const SCANNED_CHARS = 40_000;

/** Returns the whole text, or its ends and rules with a mark at each omission. */
export function quotedForm(text: string, isActive: boolean, entryId: string | undefined): string {
  const [head = "", ...others] = piecesOf(text.trim(), isActive ? KEPT_ACTIVE : KEPT_PAST);
  if (others.length === 0) return head;
  const where = entryId === undefined ? LEFT_OUT : `[… full text in entry ${entryId} …]`;
  return `${head}\n${where}\n${others.join(`\n${LEFT_OUT}\n`)}`;
}

/**
 * Returns the pieces of a directive that a text must contain, or undefined if the text must contain the whole
 * directive.
 */
export function neededPieces(text: string, isActive: boolean): readonly string[] | undefined {
  const pieces = piecesOf(text, isActive ? NEEDED_ACTIVE : NEEDED_PAST);
  return pieces.length <= 1 ? undefined : pieces;
}

function piecesOf(text: string, lengths: Lengths): readonly string[] {
  if (text.length <= lengths.whole) return [text];
  const head = startOf(text, lengths.head);
  const tail = endOf(text, lengths.tail);
  const middle = text.slice(head.length, text.length - tail.length);
  return [head.trim(), ...rulesIn(middle, lengths), tail.trim()].filter((piece) => piece !== "");
}

function rulesIn(middle: string, { rules, rule }: Lengths): readonly string[] {
  if (rules === 0) return [];
  const scanned = headOf(middle, SCANNED_CHARS);
  const found = proseSentences(scanned)
    .filter(saysRule)
    .slice(0, 2 * rules);
  // Skip sentences whose white space was normalized, because the match must be exact.
  const verbatim = found.filter((sentence) => scanned.includes(sentence));
  return [...new Set(verbatim.map((sentence) => startOf(sentence, rule).trim()))].slice(0, rules);
}

/**
 * Returns the start of the text. If the cut may split the last word, that word is left out, unless it is
 * longer than half of the start.
 */
function startOf(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const head = headOf(text, maxChars);
  const space = head.search(/\s\S*$/);
  return space > head.length / 2 ? head.slice(0, space) : head;
}

function endOf(text: string, maxChars: number): string {
  const tail = tailOf(text, maxChars);
  const space = tail.search(/\s/);
  return space !== -1 && space < tail.length / 2 ? tail.slice(space) : tail;
}

/** Earlier versions wrote no type. */
const FIRST_LINE =
  /^\[(\S+) (active|done|answered|cancelled|superseded)(?: (rule|request|question|statement))?\] >(?: (.*))?$/s;
const NEXT_LINE = /^>(?: (.*))?$/s;

/**
 * Reads the quoted directives from a summary, newest first. A host that has only messages and no boundary
 * needs this function. Every quoted line has a mark, so the words are read exactly as they were written.
 */
export function quotedDirectives(summaryText: string): readonly Fact[] {
  const found: {
    readonly id: string;
    readonly status: DirectiveStatus;
    readonly type: DirectiveType | undefined;
    readonly words: string[];
  }[] = [];
  let isOpen = false;
  for (const line of quotedLines(summaryText)) {
    const first = FIRST_LINE.exec(line);
    const next: RegExpExecArray | null = isOpen ? NEXT_LINE.exec(line) : null;
    isOpen = first !== null || next !== null;
    const [, id = "", status, type, words = ""] = first ?? [];
    if (first !== null)
      found.push({
        id,
        status: status as DirectiveStatus,
        type: type as DirectiveType | undefined,
        words: [words],
      });
    else if (next !== null) found.at(-1)?.words.push(next[1] ?? "");
  }
  return found.map(({ id, status, type, words }): Fact => {
    const text = words.join("\n");
    const needles = neededPieces(text, status === "active");
    return {
      id,
      kind: "directive",
      text,
      status,
      ...(type === undefined ? {} : { type }),
      entryIds: [],
      ...(needles === undefined ? {} : { needles }),
    };
  });
}
