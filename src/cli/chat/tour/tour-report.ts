import type { Agent } from "../../../agent/options.ts";
import { wordsIn } from "../../../conversation/words-in.ts";
import { openRecall } from "../../../recall/recall.ts";
import type { RequestLog } from "../../../testing/simulator/server/log.ts";
import type { Witness } from "./witness.ts";

/** What a tour came to: the figures of its closing table. */
export interface TourReport {
  readonly windowTokens: number;
  /** Model calls of the conversation itself. */
  readonly turns: number;
  /** All calls that reached the simulator, those of subagents, notes and summaries included. */
  readonly requests: number;
  /** Refused, or against a rule of the API. */
  readonly refused: number;
  /** The fullest that the window was. */
  readonly peakTokens: number;
  readonly compactions: { readonly memory: number; readonly full: number; readonly partial: number };
  /** Of the full ones, those whose summary had been written in the background. */
  readonly fromBackground: number;
  readonly resultsCleared: number;
  readonly notesUpdates: number;
  readonly recalls: number;
  readonly subagents: number;
  readonly tokens: {
    readonly input: number;
    readonly cacheRead: number;
    readonly cacheWrite: number;
    readonly output: number;
  };
  /** What the person said: still in the context word for word, or found by recall, or neither. */
  readonly said: {
    readonly total: number;
    readonly inContext: number;
    readonly recoverable: number;
    readonly lost: readonly string[];
  };
  /** Codes of runs that ended without an answer. */
  readonly failures: readonly string[];
  /** Nothing was refused, nothing failed, and nothing is lost. */
  readonly isSound: boolean;
}

export async function tourReport(
  agent: Pick<Agent, "prompts" | "conversation" | "sessionPath" | "reading">,
  seen: Witness,
  requests: RequestLog,
): Promise<TourReport> {
  const said = await whatBecameOfWords(agent);
  const { totals, invalid, all } = requests;
  const refused = all.filter((request) => request.error !== undefined || invalid.includes(request)).length;
  const compacted = seen.all("compacted");
  const ofTier = (wanted: string): number => compacted.filter(({ tier }) => tier === wanted).length;
  const sum = (figures: readonly number[]): number => figures.reduce((total, figure) => total + figure, 0);
  return {
    windowTokens: agent.reading.thresholds.size,
    turns: seen.turns,
    requests: totals.requests,
    refused,
    peakTokens: seen.peakTokens,
    compactions: { memory: ofTier("memory"), full: ofTier("full"), partial: ofTier("partial") },
    fromBackground: seen.fromBackground,
    resultsCleared: sum(seen.all("results-cleared").map(({ results }) => results)),
    notesUpdates: seen.all("notes-updated").length,
    recalls: seen.calls.get("recall") ?? 0,
    subagents: seen.subagents.size,
    tokens: {
      input: totals.inputTokens,
      cacheRead: totals.cacheReadTokens,
      cacheWrite: totals.cacheWriteTokens,
      output: totals.outputTokens,
    },
    said,
    failures: seen.failures,
    isSound: refused === 0 && said.lost.length === 0 && seen.failures.length === 0,
  };
}

async function whatBecameOfWords(
  agent: Pick<Agent, "prompts" | "conversation" | "sessionPath">,
): Promise<TourReport["said"]> {
  const context = spaced(wordsIn(agent.conversation));
  const recall = openRecall(agent.sessionPath, { indexPath: null });
  const texts = [...new Set((await agent.prompts()).map(({ text }) => text))];
  const gone = texts.filter((text) => !context.includes(spaced(text)));
  const lost: string[] = [];
  for (const text of gone) {
    const { hits } = await recall.search({ exact: text, all: true });
    if (hits.length === 0) lost.push(text);
  }
  return {
    total: texts.length,
    inContext: texts.length - gone.length,
    recoverable: gone.length - lost.length,
    lost,
  };
}

/** How a text is broken into lines tells nothing. */
const spaced = (text: string): string => text.replace(/\s+/g, " ");
