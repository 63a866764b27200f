import {
  type Behavior,
  type LoggedRequest,
  type SeenRequest,
  type Simulator,
  startSimulator,
  type TurnBlock,
} from "@longhaul/simulator";
import type { Call, Markers, Step, Turn } from "./script.ts";
import { type Piece, piecesOf } from "./wire.ts";

/**
 * If a prompt has this word, the provider reports a usage that forces an automatic compaction before the next
 * turn.
 */
export const HEAVY_WORD = "heavyweight";
const HEAVY_TOKENS = 110_000;
/** A prompt with this word exceeds the window until the messages before it are compacted. */
export const OVERFLOW_WORD = "overflowing";
const OVERFLOW_TOKENS = 145_000;
const CHARS_PER_TOKEN = 4;

/** Number of request bodies that stay in memory, enough for all requests until the lane ends. */
const KEPT_BODIES = 10_000;

/** The summary sections that Claude Code and longhaul ask for, each with one fact. */
const SUMMARY_SECTIONS: readonly string[] = [
  "Primary Request and Intent",
  "Key Technical Concepts",
  "Files and Code Sections",
  "Errors and fixes",
  "Problem Solving",
  "All user messages",
  "Pending Tasks",
  "Current Work",
  "Optional Next Step",
];

export interface ProviderOptions {
  readonly markers: Markers;
  readonly enforceBinding: boolean;
  /** The window of every model. A prompt with {@link OVERFLOW_WORD} must not fit it. */
  readonly windowTokens: number;
}

/** The simulator of one lane. It plays the model for the turn that the client currently runs. */
export class Provider {
  readonly simulator: Simulator;
  #unexpected: readonly string[] = [];
  readonly #markers: Markers;
  readonly #firstResults = new Map<string, Piece>();
  readonly #firstThoughts = new Map<string, Piece>();
  #facts: readonly (readonly string[])[] = [];
  #steps: readonly Step[] = [];
  #next = 0;
  #subagents: readonly Call[] = [];
  #onTyped: ((text: string) => void) | undefined;

  private constructor(simulator: Simulator, markers: Markers) {
    this.simulator = simulator;
    this.#markers = markers;
  }

  static async start({ markers, enforceBinding, windowTokens }: ProviderOptions): Promise<Provider> {
    let provider: Provider | undefined;
    const play: Behavior = (request) => provider?.answer(request);
    const simulator = await startSimulator({
      behaviors: [play],
      countText,
      windowTokens,
      keepBodies: KEPT_BODIES,
      switches: { enforceBinding, foreignSignatures: "accepted" },
    });
    provider = new Provider(simulator, markers);
    return provider;
  }

  /** Plays this turn next. `onTyped` receives the input that is typed while a step's calls run. */
  play(turn: Turn, onTyped?: (text: string) => void): void {
    this.#steps = turn.steps;
    this.#next = 0;
    this.#subagents = [];
    this.#onTyped = onTyped;
  }

  /** Number of answers of the turn that the client has not requested yet. */
  get remaining(): number {
    return this.#steps.length - this.#next;
  }

  /** Returns the result of a call as the client sent it the first time. */
  firstResult(id: string): Piece | undefined {
    return this.#firstResults.get(id);
  }

  /** Returns the thinking before a call as the client sent it the first time. */
  firstThought(id: string): Piece | undefined {
    return this.#firstThoughts.get(id);
  }

  /**
   * Returns the facts that this provider wrote into the summary, in the order of its sections. Only facts since
   * the last call of this method count. Empty if longhaul wrote the summary.
   */
  takeFacts(summary: string): readonly string[] {
    const written = this.#facts.findLast((facts) => facts.every((fact) => summary.includes(fact)));
    this.#facts = [];
    return written ?? [];
  }

  /** Returns the requests that no script expected. Only requests since the last call of this method count. */
  takeUnexpected(): readonly string[] {
    const taken = this.#unexpected;
    this.#unexpected = [];
    return taken;
  }

  get requests(): readonly LoggedRequest[] {
    return this.simulator.requests.messages;
  }

  /** Returns the refused requests since this index, without the overflow that a scenario forces. */
  refusals(from: number): readonly string[] {
    const isForced = ({ body }: LoggedRequest): boolean => JSON.stringify(body).includes(OVERFLOW_WORD);
    return this.requests
      .slice(from)
      .filter((request) => request.error !== undefined && !isForced(request))
      .map(({ error }) => `${error?.status} ${error?.message}`);
  }

  answer(request: SeenRequest): { readonly blocks: readonly TurnBlock[] } {
    const pieces = piecesOf(request.body.messages);
    const text = lastUserText(pieces);
    if (text.includes("<summary>")) return { blocks: [{ type: "text", text: this.#summary() }] };
    const started = this.#subagents.find(({ subagent }) => isSubagentOf(subagent?.marker, pieces));
    if (started !== undefined) return { blocks: [{ type: "text", text: started.subagent?.answer ?? "" }] };
    if (request.tools.length === 0) return { blocks: [{ type: "text", text: "Nothing to add." }] };
    this.#remember(pieces);
    const step = this.#steps[this.#next];
    if (step === undefined) {
      this.#unexpected = [...this.#unexpected, `request without a script: ${text.slice(-100)}`];
      return { blocks: [{ type: "text", text: "The script has ended." }] };
    }
    this.#next++;
    this.#subagents = (step.calls ?? []).filter(({ subagent }) => subagent !== undefined);
    if (step.typed !== undefined) this.#onTyped?.(step.typed);
    return { blocks: blocksOf(step) };
  }

  #remember(pieces: readonly Piece[]): void {
    for (const piece of pieces) {
      if (piece.kind !== "tool_result" && piece.kind !== "tool_use") continue;
      if (piece.kind === "tool_result") {
        if (!this.#firstResults.has(piece.id)) this.#firstResults.set(piece.id, piece);
        continue;
      }
      const thought = pieces.find(({ kind, message }) => kind === "thinking" && message === piece.message);
      if (thought !== undefined && !this.#firstThoughts.has(piece.id))
        this.#firstThoughts.set(piece.id, thought);
    }
  }

  #summary(): string {
    const facts = SUMMARY_SECTIONS.map(() => this.#markers.next("fact"));
    this.#facts = [...this.#facts, facts];
    const sections = SUMMARY_SECTIONS.map(
      (name, at) => `${at + 1}. ${name}:\n   - The record says ${facts[at]}.`,
    );
    return `<analysis>\nRead in order.\n</analysis>\n\n<summary>\n${sections.join("\n\n")}\n</summary>`;
  }
}

function blocksOf({ thinking, text, calls = [] }: Step): readonly TurnBlock[] {
  return [
    ...(thinking === undefined ? [] : [{ type: "thinking", thinking } as const]),
    ...(text === undefined ? [] : [{ type: "text", text } as const]),
    ...calls.map(({ id, name, input }) => ({ type: "tool_use", id, name, input: { ...input } }) as const),
  ];
}

/**
 * Returns true for a subagent's conversation, which starts with its task. The main conversation has the task
 * only in a call.
 */
function isSubagentOf(marker: string | undefined, pieces: readonly Piece[]): boolean {
  return pieces.some(
    ({ role, kind, message, markers }) =>
      role === "user" && kind === "text" && message === 0 && marker !== undefined && markers.includes(marker),
  );
}

function lastUserText(pieces: readonly Piece[]): string {
  const last = pieces.findLast(({ role }) => role === "user")?.message;
  return pieces.findLast(({ kind, message }) => kind === "text" && message === last)?.text ?? "";
}

function countText(text: string): number {
  const heavy = text.includes(HEAVY_WORD) ? HEAVY_TOKENS : 0;
  const overflow = text.includes(OVERFLOW_WORD) ? OVERFLOW_TOKENS : 0;
  return Math.ceil(text.length / CHARS_PER_TOKEN) + heavy + overflow;
}
