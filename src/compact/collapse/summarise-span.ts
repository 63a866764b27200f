import {
  ask,
  isTruncated,
  messagesToSummarise,
  NoSummaryError,
  ownRequest,
} from "../../compaction/write/ask-model.ts";
import type { ApiMessage } from "../../conversation/message.ts";
import { contentText } from "../../conversation/untrusted.ts";
import { LonghaulError } from "../../errors.ts";
import { untilAborted } from "../../models/abortable.ts";
import type { WindowOf } from "../../models/output-limit.ts";
import type { Model, ModelReply, ModelUsage } from "../../models/port.ts";
import { summarise } from "../../summary/builtin/summarise.ts";
import { SUMMARY_HEADING } from "../../summary/format.ts";
import type { CountText } from "../../tokens/measure.ts";
import type { SpanPlan } from "./plan-span.ts";
import { condensedIn, SPAN_SYSTEM_PROMPT, spanPrompt } from "./prompt.ts";
import { wordsMissingIn } from "./spoken-words.ts";

/** Of the room for a summary: what a person said and the model left out gets the rest. */
const MODEL_SHARE = 0.75;
/** A cautious figure; names and code have more. */
const TOKENS_PER_WORD = 1.5;

export interface SpanSummaryOptions {
  /** Without one, and where it fails, the built-in summariser writes. */
  readonly model?: Model | undefined;
  /** As the provider would count. */
  readonly countTokens: CountText;
  /** The model's window, where the host knows it better than the table of models. */
  readonly windowOf?: WindowOf | undefined;
  /** Milliseconds that each attempt waits for the first event of the answer. */
  readonly firstByteMs?: number | undefined;
  /** Where the messages can be read; the summary says so. */
  readonly transcriptPath?: string | undefined;
  /** Ends the model's part, and then the built-in summariser writes. */
  readonly signal?: AbortSignal | undefined;
  /** Told why the model's answer is not taken. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
}

export interface SpanSummary {
  /** What will stand in the place of the messages. */
  readonly text: string;
  readonly tokens: number;
  readonly by: "direct" | "built-in";
  readonly usage: ModelUsage | undefined;
}

/** What a span becomes. Fails with `no-summary` only where there is nothing that would be smaller. */
export async function summariseSpan(plan: SpanPlan, options: SpanSummaryOptions): Promise<SpanSummary> {
  const { model, onFailure } = options;
  if (model !== undefined) {
    try {
      return await askForSummary(model, plan, options);
    } catch (error) {
      onFailure?.(error);
    }
  }
  return writeBuiltIn(plan, options);
}

async function askForSummary(
  model: Model,
  plan: SpanPlan,
  options: SpanSummaryOptions,
): Promise<SpanSummary> {
  const { countTokens, signal, windowOf, firstByteMs } = options;
  const room = roomFor(plan, options);
  const prompt = spanPrompt(Math.floor((room * MODEL_SHARE) / TOKENS_PER_WORD));
  const messages: readonly ApiMessage[] = [
    ...messagesToSummarise(plan.entries),
    { role: "user", content: [{ type: "text", text: prompt }] },
  ];
  const request = ownRequest(model, messages, { system: SPAN_SYSTEM_PROMPT, maxOutputTokens: room });
  // A model may not heed the signal.
  const asking = ask(model, request, { signal, countTokens, windowOf, firstByteMs });
  const reply = await untilAborted(signal, asking);
  const text = summaryIn(reply);
  const missing = wordsMissingIn(text, plan.entries, { countTokens, budgetTokens: room - countTokens(text) });
  const whole = wrapped([text, missing].filter(Boolean).join("\n\n"), plan, options);
  const tokens = countTokens(whole);
  if (tokens > plan.budgetTokens) throw new NoSummaryError(reply, "its answer is not small enough");
  return { text: whole, tokens, by: "direct", usage: reply.usage };
}

function summaryIn(reply: ModelReply): string {
  const text = condensedIn(contentText(reply.content));
  if (text) return text;
  if (isTruncated(reply)) throw new NoSummaryError(reply, "it reached its output limit");
  throw new NoSummaryError(reply, text === "" ? "there is nothing in it" : "its answer lacks the tags");
}

/** Deterministic, and within its budget; where even the headings have no room there is nothing to gain. */
function writeBuiltIn(plan: SpanPlan, options: SpanSummaryOptions): SpanSummary {
  const { countTokens } = options;
  const budgetTokens = roomFor(plan, options);
  const { text } = summarise(plan.entries, { countTokens, budgetTokens, variant: "up-to" });
  const whole = wrapped(text.replace(`${SUMMARY_HEADING}\n`, ""), plan, options);
  const tokens = countTokens(whole);
  if (tokens <= plan.budgetTokens) return { text: whole, tokens, by: "built-in", usage: undefined };
  throw new LonghaulError("no-summary", "A summary of this part would not be small enough.", {
    facts: { tokens, budgetTokens: plan.budgetTokens },
  });
}

const roomFor = (plan: SpanPlan, options: SpanSummaryOptions): number =>
  Math.max(0, plan.budgetTokens - options.countTokens(wrapped("", plan, options)));

function wrapped(text: string, { messages }: SpanPlan, { transcriptPath }: SpanSummaryOptions): string {
  const what = messages === 1 ? "1 earlier message" : `${messages} earlier messages`;
  const where =
    transcriptPath === undefined
      ? ""
      : ` What they said exactly can be read in the transcript: ${transcriptPath}`;
  return `[These notes stand for ${what} of this conversation, taken out to make room.${where}]\n\n${text}`;
}
