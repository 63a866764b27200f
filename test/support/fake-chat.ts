import type { Agent, AgentEvent } from "@longhaul/agent";
import { computeThresholds, windowState } from "@longhaul/core/measure";
import { createColors } from "picocolors";
import type { Choice, Chosen, Screen } from "../../packages/longhaul/src/chat/screen/screen.ts";

/** A screen that records its output. */
export interface FakeScreen extends Screen {
  /** Texts in the scrollback. A streamed text counts as one. */
  readonly printed: readonly string[];
  readonly suggested: readonly string[];
  readonly asked: readonly Choice[];
  /** Returns the current live lines. */
  activity(): readonly string[];
  status(): string;
}

export function fakeScreen(
  options: {
    readonly width?: number;
    readonly isColored?: boolean;
    readonly chosen?: readonly (Chosen | undefined)[];
  } = {},
): FakeScreen {
  const { width = 80, isColored = false } = options;
  const chosen = [...(options.chosen ?? [])];
  const printed: string[] = [];
  const suggested: string[] = [];
  const asked: Choice[] = [];
  let coming = "";
  let activity: (width: number) => readonly string[] = () => [];
  let status: (width: number) => string = () => "";
  return {
    printed,
    suggested,
    asked,
    width,
    colors: createColors(isColored),
    activity: () => activity(width),
    status: () => status(width),
    print: (text) => void printed.push(text),
    stream: (text) => {
      coming += text;
    },
    endStream: () => {
      if (coming !== "") printed.push(coming);
      coming = "";
    },
    dropStream: () => {
      coming = "";
    },
    setActivity: (lines) => {
      activity = lines;
    },
    setStatus: (line) => {
      status = line;
    },
    suggest: (text) => void suggested.push(text),
    choose: async (choice) => {
      asked.push(choice);
      return chosen.shift();
    },
    close: () => undefined,
  };
}

const THRESHOLDS = computeThresholds({ windowTokens: 200_000, maxOutputTokens: 32_000 });

export const readingOf = (tokens: number): Agent["reading"] => ({
  tokens,
  thresholds: THRESHOLDS,
  window: windowState(tokens, THRESHOLDS),
});

/** Creates an agent that has only the parts that a test names. */
export const fakeAgent = (parts: Partial<Agent> = {}): Agent =>
  ({
    sessionId: "3fa9c1d0",
    sessionPath: "/nowhere/3fa9c1d0.jsonl",
    cwd: "/project",
    model: { name: "claude-sonnet-5-5" },
    conversation: [],
    reading: readingOf(0),
    todos: [],
    isPlanMode: false,
    permissionMode: "default",
    isWideFolder: false,
    notes: "off",
    agents: { list: () => [], types: [] },
    close: async () => undefined,
    ...parts,
  }) as Agent;

/** Creates a run that yields these events and ends with this result. */
export async function* runOf(
  events: readonly AgentEvent[],
  result: Extract<AgentEvent, { type: "ended" }> = { type: "ended", reason: "answered", text: "", turns: 1 },
): ReturnType<Agent["run"]> {
  yield* events;
  yield result;
  return result;
}
