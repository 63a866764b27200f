import type { Attachment, Entry } from "../../conversation/entry.ts";
import type { Ledger } from "../../conversation/fact-ledger.ts";
import { attachmentContent } from "../../conversation/flatten/attachment-content.ts";
import { contentText } from "../../conversation/untrusted.ts";
import { wordsIn } from "../../conversation/words-in.ts";
import type { Restored } from "../../restore/restored.ts";
import type { KeptMessages } from "../apply/kept-messages.ts";
import type { CompactionPlan } from "../plan/compaction-plan.ts";
import { extractFacts } from "./extract-facts.ts";
import { findFacts } from "./find-facts.ts";
import {
  makeLedger,
  type PreviousLedger,
  previousLedger,
  previousQuotation,
  withFates,
} from "./make-ledger.ts";
import { FACTS_BUDGET_TOKENS, quoteFacts } from "./quote-facts.ts";

/** Of the room that is left beside summary and kept messages: the rest is for what is put back. */
const QUOTED_SHARE = 0.75;

export interface CheckInput {
  readonly plan: CompactionPlan;
  /** As they will be sent. */
  readonly kept: KeptMessages;
  /** The summary as it will stand in the conversation. */
  readonly summary: string;
  /** Beside the summary and the kept messages. */
  readonly roomTokens: number;
  /** Where the last boundary has none; see `CompactOptions`. */
  readonly previous?: PreviousLedger | undefined;
  /** Whether what was summarised can be read again. */
  readonly hasTranscript: boolean;
}

/** What became of the facts of what was summarised. */
export interface CheckedFacts {
  /** Those that neither the summary nor the kept messages hold, for the end of the summary; "" where there are none. */
  readonly quotation: string;
  /** Their record for the boundary, once it is known what was put back and what hooks said. */
  ledger(restored: Restored, hookOutput: Attachment | undefined): Ledger;
}

/**
 * Whoever wrote the summary, its bytes are searched for each hard fact of what it stands for, and what is missing is
 * quoted. Nothing here can fail a compaction, and no model is asked.
 */
export function checkFacts({
  plan,
  kept,
  summary,
  roomTokens,
  previous,
  hasTranscript,
}: CheckInput): CheckedFacts {
  const { facts, earlier } = extractFacts(plan.summarised, {
    previous: previousLedger(plan.entries) ?? previous ?? previousQuotation(plan.entries),
    following: plan.keptPlace === "after" ? plan.kept : plan.pending,
  });
  const entries = [...kept.entries, ...kept.pending];
  const inSummary = findFacts(facts, [summary]);
  const inKept = findFacts(facts, searched(entries));
  const missing = facts.filter(({ id }) => !inSummary.has(id) && !inKept.has(id));
  const budgetTokens = Math.max(0, Math.min(FACTS_BUDGET_TOKENS, Math.floor(roomTokens * QUOTED_SHARE)));
  const { countTokens } = plan;
  const { text, tokens, quoted, leftOut } = quoteFacts(missing, { budgetTokens, countTokens });
  const ledger: CheckedFacts["ledger"] = (restored, hookOutput) => {
    const attachments = [...restored.items.map(({ attachment }) => attachment), hookOutput];
    const texts = attachments.flatMap((attachment) =>
      attachment === undefined ? [] : withPlainPaths(contentText(attachmentContent(attachment))),
    );
    return makeLedger({
      facts: withFates(facts, [
        ["summary", inSummary],
        ["kept", inKept],
        ["quoted", new Set(quoted.map(({ id }) => id))],
        ["restored", findFacts(leftOut, texts)],
      ]),
      plan,
      kept: { entries, tokens: kept.tokens + kept.pendingTokens },
      restored,
      quotedTokens: tokens,
      earlier,
      hasTranscript,
    });
  };
  return { quotation: text, ledger };
}

/** The words of these entries, to find facts in. */
export const searched = (entries: readonly Entry[]): readonly string[] => withPlainPaths(wordsIn(entries));

/** Paths of Windows stand in facts as other paths do. */
const withPlainPaths = (text: string): readonly string[] =>
  text.includes("\\") ? [text, text.replaceAll("\\", "/")] : [text];
