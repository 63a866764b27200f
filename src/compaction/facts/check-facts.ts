import type { Attachment, Entry } from "../../conversation/entry.ts";
import type { Ledger } from "../../conversation/fact-ledger.ts";
import { attachmentContent } from "../../conversation/flatten/attachment-content.ts";
import { wordsIn } from "../../conversation/flatten/flatten.ts";
import { contentText } from "../../conversation/untrusted.ts";
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
  /** Used if the last boundary has no ledger; see `CompactOptions`. */
  readonly previous?: PreviousLedger | undefined;
  /** True if the summarized messages can be read again. */
  readonly hasTranscript: boolean;
}

/** The facts of the summarized messages after the check. */
export interface CheckedFacts {
  /** Quotes facts that neither the summary nor the kept messages hold, for the end of the summary; "" if there are none. */
  readonly quotation: string;
  /** Their record for the boundary, once it is known what was put back and what hooks said. */
  ledger(restored: Restored, hookOutput: Attachment | undefined): Ledger;
}

/**
 * Searches the bytes of a summary, whoever wrote it, for each hard fact of the messages it stands for, and quotes the
 * missing ones. Nothing here can fail a compaction, and no model is asked.
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
