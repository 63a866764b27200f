import type { Compaction } from "../compaction/compact.ts";
import type { Finding } from "../conversation/check/rule.ts";
import { formatCount } from "../conversation/text.ts";
import { LonghaulError } from "../errors.ts";
import { type CacheMarkOptions, withCacheMarks } from "../models/anthropic/prompt-cache-marks.ts";
import type { ModelRequest } from "../models/port.ts";
import { type Thresholds, type WindowState, windowState } from "../window/thresholds.ts";
import type { SkipReason } from "./events.ts";
import { remedyWithoutAutoCompact } from "./guards.ts";
import type { Message, Turn } from "./options.ts";
import type { Needs } from "./parts.ts";
import { sendingFrame } from "./planning.ts";
import { leaveOutMisplacedThinking } from "./rewrite.ts";

export interface Outcome {
  readonly compaction?: Compaction | undefined;
  readonly cleared?: number;
  readonly skipped?: SkipReason | undefined;
  readonly problem?: LonghaulError | undefined;
}

type Answered = Needs<"thread" | "frame" | "gauge" | "turn" | "options" | "modules" | "reporter">;
type Sending = Answered & Needs<"cache" | "pace" | "newLink" | "transcript">;

/** What the host gets for its turn: a call follows. */
export function turnToSend<T extends Message>(parts: Sending, outcome: Outcome): Turn<T> {
  leaveOutMisplacedThinking(parts);
  noteSending(parts);
  return turnResult(parts, outcome);
}

/** What the host gets between two calls. */
export function turnResult<T extends Message>(parts: Answered, outcome: Outcome): Turn<T> {
  const { gauge, reporter } = parts;
  const { tokens } = gauge.size();
  const window = windowState(tokens, gauge.thresholds);
  const problem =
    outcome.problem ??
    (window.isAtBlockingLimit ? windowFull(tokens, gauge.thresholds) : reporter.nextProblem());
  return new TurnResult<T>(parts, outcome, { problem, tokens, window });
}

/** The response will be compared with this. */
function noteSending({ frame, options, thread, turn, cache }: Sending): void {
  const { system, tools } = frame.current ?? {};
  const { modelName: model } = options;
  thread.noteSent();
  turn.sent();
  cache.sent({ system, tools, model, caller: turn.caller, messages: thread.sent.length });
}

type TurnFigures = Pick<Turn, "problem" | "tokens" | "window">;

class TurnResult<T extends Message> implements Turn<T> {
  readonly id: string;
  readonly messages: readonly T[];
  readonly tokens: number;
  readonly thresholds: Thresholds;
  readonly window: WindowState;
  readonly compaction: Compaction | undefined;
  readonly cleared: number;
  readonly skipped: SkipReason | undefined;
  readonly findings: readonly Finding[];
  readonly problem: LonghaulError | undefined;
  readonly #makeRequest: () => ModelRequest;
  #request: ModelRequest | undefined;

  constructor(parts: Answered, outcome: Outcome, { problem, tokens, window }: TurnFigures) {
    this.id = parts.turn.id;
    this.messages = parts.thread.handBack(parts.turn.given) as readonly T[];
    this.tokens = tokens;
    this.thresholds = parts.gauge.thresholds;
    this.window = window;
    this.compaction = outcome.compaction;
    this.cleared = outcome.cleared ?? 0;
    this.skipped = outcome.compaction === undefined ? outcome.skipped : undefined;
    this.findings = parts.turn.findings;
    this.problem = problem;
    this.#makeRequest = requestMaker(parts);
  }

  /** Made when it is asked for: marks are looked for in the whole conversation, and not every host sends this. */
  get request(): ModelRequest {
    this.#request ??= this.#makeRequest();
    return this.#request;
  }
}

/** Holds on to what is sent now: the conversation goes on before the request may be asked for. */
function requestMaker(parts: Answered): () => ModelRequest {
  const messages = parts.thread.outbox();
  const frame = sendingFrame(parts);
  const { capabilities, cacheTtl } = parts.options;
  const marks: CacheMarkOptions = cacheTtl === undefined ? {} : { ttl: cacheTtl };
  return () => {
    const request: ModelRequest = { ...frame, messages: messages() };
    return capabilities.promptCache ? withCacheMarks(request, marks) : request;
  };
}

function windowFull(tokens: number, thresholds: Thresholds): LonghaulError {
  const { headroomBy } = thresholds;
  const isSwitchedOff = headroomBy === "manual" || headroomBy === "nobody";
  return new LonghaulError(
    "window-full",
    `The conversation has about ${formatCount(tokens)} tokens of the ${formatCount(thresholds.blocking)} that can still be called with.`,
    {
      remedy: isSwitchedOff
        ? `${remedyWithoutAutoCompact({ compactEnabled: headroomBy === "manual" })} You can also go back a few messages. Nothing has been lost.`
        : "Compact it by hand, or go back a few messages. A call may fail; nothing has been lost.",
      facts: { tokens, limit: thresholds.blocking },
    },
  );
}
