import { estimateO200k } from "../../measure/tokens/estimate/o200k.ts";
import type { CountText } from "../../measure/tokens/measure.ts";
import { countFates, isInContext, type Ledger, type LedgerFact } from "../../messages/fact-ledger.ts";
import { clip, oneLine } from "../summary/clip.ts";

export interface LedgerTextOptions {
  /**
   * Token budget of the text, 500 by default. The first sentences are included even if they exceed the
   * budget.
   */
  readonly maxTokens?: number | undefined;
  readonly countTokens?: CountText | undefined;
  /** Name of the tool that reads old messages, if the agent has one. */
  readonly recallTool?: string | undefined;
}

const MAX_TOKENS = 500;
const LINE_CHARS = 160;

/**
 * Describes a ledger for the agent. Says which facts are in its context, which are not, and how to read the
 * missing ones.
 */
export function ledgerText(ledger: Ledger, options: LedgerTextOptions = {}): string {
  const { maxTokens = MAX_TOKENS, countTokens = estimateO200k } = options;
  const absent = ledger.facts.filter((fact) => !isInContext(fact));
  const opening = openingOf(ledger);
  const hasTranscript = absent.every(({ fate }) => fate !== "gone");
  const heading = absent.length === 0 ? [] : [hasTranscript ? howToGet(options) : "Not in your context:"];
  const lines: string[] = [];
  let tokens = countTokens([opening, ...heading].join("\n"));
  for (const fact of absent) {
    const line = lineOf(fact);
    // Reserve tokens for the line that counts the facts that do not fit.
    tokens += countTokens(line) + 1;
    if (tokens + REST_TOKENS > maxTokens) break;
    lines.push(line);
  }
  const rest = absent.length - lines.length + (ledger.unlisted ?? 0) + (ledger.earlier?.facts ?? 0);
  const more = lines.length > 0 ? `- and ${rest} more` : `- ${rest}`;
  const restLine = hasTranscript ? `${more}, only in the transcript.` : `${more}, without a transcript.`;
  return [opening, ...heading, ...lines, ...(rest === 0 ? [] : [restLine])].join("\n");
}

const REST_TOKENS = 24;

function openingOf({ facts, summarized, restored, shortened = [] }: Ledger): string {
  const counts = countFates(facts);
  const inContext = facts.filter(isInContext).length;
  const sentences = [
    `The summary replaced ${summarized.messages} messages of this conversation (about ${summarized.tokens} tokens).`,
    facts.length === 0
      ? "They contain no facts to check."
      : `Facts found in them: ${facts.length}. In your context: ${inContext} (${counts.summary} in the summary, ${counts.kept} in kept messages, ${counts.quoted} quoted, ${counts.restored} in restored content).`,
    ...(counts.recoverable === 0 ? [] : [`Only in the transcript: ${counts.recoverable}.`]),
    counts.gone === 0 ? "Nothing is lost." : `Lost, because there is no transcript of them: ${counts.gone}.`,
    ...(shortened.length === 0
      ? []
      : [`Shortened tool results: ${listOf(shortened.map(({ toolUseId }) => toolUseId))}.`]),
    ...(restored.length === 0 ? [] : [`Restored: ${listOf(restored.map(({ name }) => name))}.`]),
  ];
  return sentences.join(" ");
}

const NAMES_SHOWN = 8;

function listOf(all: readonly string[]): string {
  const names = all.slice(0, NAMES_SHOWN).map((name) => clip(oneLine(name), LINE_CHARS / 2));
  const more = all.length - names.length;
  return `${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

const howToGet = ({ recallTool }: LedgerTextOptions): string =>
  recallTool === undefined
    ? "Not in your context (with the id of the message in the transcript):"
    : `Not in your context. Call \`${recallTool}\` with an id to read the message:`;

function lineOf({ kind, status, text, fate, entryIds }: LedgerFact): string {
  const id = fate === "gone" ? "lost" : (entryIds[0] ?? "no id");
  const label = status === undefined ? kind : `${kind}, ${status}`;
  return `- [${label}] ${clip(oneLine(text), LINE_CHARS)} (${id})`;
}
