import { basename } from "node:path";
import { loadSession } from "@longhaul/sessions";
import { expect, it } from "vitest";
import { claudeCodeSessions, describeRecorded } from "../../../../test/support/real-sessions.ts";
import { ContextMeter, startCalibration } from "../measure/tokens/context-meter.ts";
import { ESTIMATORS } from "../measure/tokens/estimators.ts";
import { measureEntry } from "../measure/tokens/measure.ts";
import { type AssistantEntry, type Entry, isCompactBoundary, type Usage } from "../messages/entry.ts";
import { inputTokens, reportedUsage } from "../messages/responses.ts";
import { ScriptSample, UsageGuard } from "./usage-trust.ts";

const CLAUDE_RATIO = startCalibration("claude").ratio;
/** A file that starts in the middle of its session. It lacks the first messages that the model read. */
const BEGINS_IN_THE_MIDDLE = "episodic-memory__large-conversation.jsonl";

const MIN_BOUNDED_TOKENS = 4_000;

interface Course {
  readonly responses: number;
  /** Number of responses that are long enough for a lower bound. */
  readonly bounded: number;
  readonly distrusted: readonly number[];
}

/** Judges the usage report of each response by the entries before it. */
function judgeSession(entries: readonly Entry[], report: (usage: Usage) => Usage): Course {
  const [guard, script] = [new UsageGuard(), new ScriptSample()];
  let meter = new ContextMeter();
  const distrusted: number[] = [];
  let [whole, responses, bounded, isTrusted] = [0, 0, 0, true];
  let anchorTokens: number | undefined;
  let lastId: string | undefined;
  for (const entry of entries) {
    // A line without a parent starts another thread. Some files contain several threads.
    if (entry.parentUuid === null) meter = new ContextMeter();
    if (entry.parentUuid === null || isCompactBoundary(entry)) [whole, anchorTokens] = [0, undefined];
    const usage = reportedUsage(entry);
    let seen = entry;
    if (usage !== undefined && entry.type === "assistant") {
      if (entry.message.id !== lastId) {
        responses += 1;
        if (whole >= MIN_BOUNDED_TOKENS) bounded += 1;
        lastId = entry.message.id;
        const { tokens, source } = meter.size();
        const verdict = guard.judge({
          usage: report(usage),
          expectedTokens: source === "usage" ? tokens : whole,
          anchorTokens,
          estimatedRequestTokens: whole,
          minTokens: whole < MIN_BOUNDED_TOKENS ? 0 : whole / script.maxOvercount,
          isOverheadKnown: false,
          maxRatio: script.maxRatio,
          windowTokens: inputTokens(usage) > 200_000 ? 1_000_000 : 200_000,
        });
        isTrusted = verdict.trusted;
        if (verdict.trusted) anchorTokens = verdict.tokens;
        else distrusted.push(responses);
      }
      seen = withUsage(entry, isTrusted ? report(usage) : undefined);
    }
    meter.add(seen);
    script.add(entry);
    whole += measureEntry(entry, ESTIMATORS.o200k) * CLAUDE_RATIO;
  }
  return { responses, bounded, distrusted };
}

function withUsage(entry: AssistantEntry, usage: Usage | undefined): AssistantEntry {
  const { usage: _, ...message } = entry.message;
  return { ...entry, message: usage === undefined ? message : { ...message, usage } };
}

const multiplied =
  (factor: number) =>
  (usage: Usage): Usage => ({
    input_tokens: usage.input_tokens * factor,
    output_tokens: usage.output_tokens * factor,
    cache_read_input_tokens: (usage.cache_read_input_tokens ?? 0) * factor,
    cache_creation_input_tokens: (usage.cache_creation_input_tokens ?? 0) * factor,
  });

/** Returns the entries of the larger thread. In old versions, subagents wrote into the same file. */
async function threadOf(path: string): Promise<readonly Entry[]> {
  const { entries } = await loadSession(path);
  const side = entries.filter((entry) => entry.isSidechain === true);
  return side.length * 2 > entries.length ? side : entries.filter((entry) => entry.isSidechain !== true);
}

describeRecorded("usage reports in recorded sessions", () => {
  const sessions = claudeCodeSessions().map((path) => [basename(path), path] as const);

  it.each(sessions)("trusts every true usage report in %s", async (name, path) => {
    const { distrusted } = judgeSession(await threadOf(path), (usage) => usage);
    if (name === BEGINS_IN_THE_MIDDLE) expect(Math.max(...distrusted)).toBeLessThan(20);
    else expect(distrusted).toEqual([]);
  });

  it.each(sessions)(
    "never distrusts two usage reports in a row if all of them are six times too high in %s",
    async (_, path) => {
      const { distrusted } = judgeSession(await threadOf(path), multiplied(6));
      expect(distrusted.filter((response, at) => response - 1 === distrusted[at - 1])).toEqual([]);
    },
  );

  it.each(sessions)(
    "distrusts most usage reports if all of them lack their cached tokens in %s",
    async (_, path) => {
      const bare = ({ input_tokens, output_tokens }: Usage): Usage => ({ input_tokens, output_tokens });
      const { responses, bounded, distrusted } = judgeSession(await threadOf(path), bare);
      if (responses >= 20) expect(distrusted.length).toBeGreaterThan(bounded * 0.9);
    },
  );
});
