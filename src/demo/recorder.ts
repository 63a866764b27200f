import type { Attachment, Entry, EntryLink, Usage } from "../conversation/entry.ts";
import type { ContentBlock, MessageContent, OpaqueTag } from "../conversation/message.ts";
import type { Random } from "./random.ts";
import { blockTokens, contentTokens, textTokens } from "./size.ts";

const DEMO_MODEL = "claude-sonnet-4-5-20250929";

/** What the system prompt and the tools' schemas take before anybody has said a word. */
const SYSTEM_AND_TOOLS_TOKENS = 18_000;
/** Monday after the clocks went forward in Europe: one of the bugs of the story needs that. */
const START = Date.UTC(2026, 2, 30, 7, 41, 12, 386);
/** After a longer pause the provider has forgotten the prefix and writes it again. */
const CACHE_LIFE_MS = 5 * 60_000;
const MS_PER_OUTPUT_TOKEN = 14;
/** A command that runs longer shows its progress meanwhile. */
const PROGRESS_AFTER_MS = 2_000;

export interface ToolCall {
  readonly name: string;
  readonly input: unknown;
  /** Run when its result is written, so that a later call sees what an earlier one did. */
  readonly run: () => ToolOutcome;
}

export interface ToolOutcome {
  readonly content: string | readonly ContentBlock[];
  readonly toolUseResult: unknown;
  readonly isError?: boolean;
  readonly durationMs?: number;
}

export interface ModelResponse {
  readonly thinking?: string;
  readonly text?: string;
  readonly calls?: readonly ToolCall[];
  /** How parallel calls lie on disk; agents write either, depending on how fast the tools are. */
  readonly layout?: "interleaved" | "contiguous";
}

export interface RecorderOptions {
  readonly random: Random;
  readonly cwd: string;
  readonly gitBranch: string;
  readonly touchedPaths: () => readonly string[];
}

/** Writes the session as the agent would: links, times, ids and the usage that the provider reports. */
export class Recorder {
  readonly entries: Entry[] = [];
  readonly sessionId: string;
  readonly #options: RecorderOptions;
  #parentUuid: string | null = null;
  #time = START;
  #turnStart = START;
  #lastResponse = START;
  #contextTokens = SYSTEM_AND_TOOLS_TOKENS;
  #cachedTokens = 0;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.sessionId = options.random.uuid();
  }

  /** What the provider would be sent now; after a final response, what its usage adds up to. */
  get contextTokens(): number {
    return this.#contextTokens;
  }

  pause(minutes: number): void {
    this.#time += Math.round(minutes * 60_000) + this.#options.random.between(150, 9_000);
  }

  human(content: MessageContent): void {
    const uuid = this.#options.random.uuid();
    this.#snapshot(uuid);
    this.#turnStart = this.#time;
    this.user(content, { uuid, permissionMode: "acceptEdits" });
  }

  user(content: MessageContent, fields: Readonly<Record<string, unknown>> = {}): void {
    this.#contextTokens += contentTokens(content);
    this.#push({ type: "user", message: { role: "user", content }, ...this.#link(), ...fields });
  }

  attachment(attachment: Attachment): void {
    this.#contextTokens += textTokens(JSON.stringify(attachment));
    this.#push({ type: "attachment", attachment, ...this.#link() });
  }

  /** Text typed while the agent works: it waits in the queue, then reaches the model without a user entry. */
  queued(prompt: string): void {
    const stamp = { timestamp: this.#stamp(), sessionId: this.sessionId };
    this.#unlinked("queue-operation", { operation: "enqueue", ...stamp, content: prompt });
    this.#time += 3_000;
    this.#unlinked("queue-operation", { operation: "remove", ...stamp, timestamp: this.#stamp() });
    const origin = { commandMode: "prompt", origin: { kind: "human" } };
    this.attachment({
      type: "queued_command",
      prompt,
      source_uuid: this.#options.random.uuid(),
      ...origin,
      timestamp: stamp.timestamp,
    });
  }

  endTurn(): void {
    const turn = {
      subtype: "turn_duration" as OpaqueTag,
      durationMs: this.#time - this.#turnStart,
      isMeta: false,
    };
    this.#push({ type: "system", ...turn, ...this.#link() });
  }

  respond(response: ModelResponse): void {
    const { random } = this.#options;
    const identity = { id: `msg_01${random.base62(22)}`, requestId: `req_011${random.base62(21)}` };
    const calls = (response.calls ?? []).map((call) => ({ call, id: `toolu_01${random.base62(22)}` }));
    const blocks = [
      ...spokenBlocks(response, random),
      ...calls.map(
        ({ call, id }): ContentBlock => ({ type: "tool_use", id, name: call.name, input: call.input }),
      ),
    ];
    const usage = this.#inputUsage();
    const results: (() => void)[] = [];
    let outputTokens = 0;
    for (const [index, block] of blocks.entries()) {
      outputTokens += blockTokens(block);
      this.#time += blockTokens(block) * MS_PER_OUTPUT_TOKEN + random.between(180, 900);
      const isLast = index === blocks.length - 1;
      const stopReason = isLast ? (calls.length > 0 ? "tool_use" : "end_turn") : null;
      const uuid = this.#assistantLine(
        identity,
        block,
        { ...usage, output_tokens: outputTokens },
        stopReason,
      );
      const asked = calls.find(({ id }) => block.type === "tool_use" && block.id === id);
      if (asked === undefined) continue;
      results.push(() => this.#result(asked.call, asked.id, uuid));
      // A sibling hangs on the sibling before it, not on the result in between.
      if (response.layout !== "contiguous" && !isLast) {
        results.pop()?.();
        this.#parentUuid = uuid;
      }
    }
    for (const answer of results) answer();
    this.#contextTokens += outputTokens;
    this.#lastResponse = this.#time;
  }

  #assistantLine(
    identity: { readonly id: string; readonly requestId: string },
    block: ContentBlock,
    usage: Usage,
    stopReason: string | null,
  ): string {
    const message = {
      model: DEMO_MODEL,
      id: identity.id,
      type: "message",
      role: "assistant" as const,
      content: [block],
      stop_reason: stopReason,
      stop_sequence: null,
      usage,
    };
    const link = this.#link();
    this.#push({ type: "assistant", message, requestId: identity.requestId, ...link });
    return link.uuid;
  }

  #result(call: ToolCall, toolUseId: string, askedBy: string): void {
    const outcome = call.run();
    const durationMs = outcome.durationMs ?? this.#options.random.between(20, 260);
    if (durationMs > PROGRESS_AFTER_MS) this.#progress(call, toolUseId, askedBy, durationMs);
    this.#time += durationMs;
    const block: ContentBlock = {
      type: "tool_result",
      tool_use_id: toolUseId,
      content: outcome.content,
      ...(outcome.isError === undefined ? {} : { is_error: outcome.isError }),
    };
    this.#parentUuid = askedBy;
    this.user([block], { toolUseResult: outcome.toolUseResult, sourceToolAssistantUUID: askedBy });
  }

  #progress(call: ToolCall, toolUseId: string, askedBy: string, durationMs: number): void {
    const elapsedTimeSeconds = Math.floor(durationMs / 1_000);
    const data =
      call.name === "Task"
        ? { type: "agent_progress", message: { type: "user" }, normalizedMessages: [], agentId: "a41c9e7" }
        : { type: "bash_progress", output: "", fullOutput: "", elapsedTimeSeconds, totalLines: 0 };
    this.#parentUuid = askedBy;
    const ids = { toolUseID: `progress-${toolUseId.slice(-6)}`, parentToolUseID: toolUseId };
    this.#push({ type: "progress", data, ...ids, ...this.#link() });
  }

  /** Cached tokens are read again, what came since is written; a few at the end are in neither. */
  #inputUsage(): Omit<Usage, "output_tokens"> & Readonly<Record<string, unknown>> {
    const isCold = this.#time - this.#lastResponse > CACHE_LIFE_MS;
    const read = isCold ? 0 : this.#cachedTokens;
    const input = this.#options.random.between(2, 6);
    const created = this.#contextTokens - read - input;
    this.#cachedTokens = read + created;
    return {
      input_tokens: input,
      cache_creation_input_tokens: created,
      cache_read_input_tokens: read,
      cache_creation: { ephemeral_5m_input_tokens: created, ephemeral_1h_input_tokens: 0 },
      service_tier: "standard",
    };
  }

  #snapshot(messageId: string): void {
    const trackedFileBackups = Object.fromEntries(
      this.#options.touchedPaths().map((path) => [path, { version: 1, backupTime: this.#stamp() }]),
    );
    const snapshot = { messageId, trackedFileBackups, timestamp: this.#stamp() };
    this.#unlinked("file-history-snapshot", { messageId, snapshot, isSnapshotUpdate: false });
  }

  #unlinked(type: string, fields: Readonly<Record<string, unknown>>): void {
    this.entries.push({ type: type as OpaqueTag, ...fields });
  }

  #link(): EntryLink & { readonly userType: string } {
    const { cwd, gitBranch, random } = this.#options;
    return {
      parentUuid: this.#parentUuid,
      isSidechain: false,
      userType: "external",
      cwd,
      sessionId: this.sessionId,
      version: "2.1.81",
      gitBranch,
      uuid: random.uuid(),
      timestamp: this.#stamp(),
    };
  }

  #push(entry: Entry & EntryLink): void {
    this.entries.push(entry);
    this.#parentUuid = entry.uuid;
  }

  #stamp(): string {
    return new Date(this.#time).toISOString();
  }
}

function spokenBlocks(response: ModelResponse, random: Random): readonly ContentBlock[] {
  const blocks: ContentBlock[] = [];
  if (response.thinking !== undefined) {
    const signature = `${random.base62(random.between(300, 620))}==`;
    blocks.push({ type: "thinking", thinking: response.thinking, signature });
  }
  if (response.text !== undefined) blocks.push({ type: "text", text: response.text });
  return blocks;
}
