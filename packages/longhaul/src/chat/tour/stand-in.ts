import { join, relative } from "node:path";
import { contentBlocks, contentText, isCleared, type JsonRecord } from "@longhaul/core/internal/messages";
import { isContinuation } from "@longhaul/core/internal/summary";
import type { ApiMessage } from "@longhaul/core/messages";
import type { Behavior, SeenRequest, Turn } from "@longhaul/simulator";
import type { TokenCounter } from "@longhaul/simulator/internal";

interface Place {
  readonly scene: Scene;
  /** Number of the next answer. */
  readonly step: number;
}

const ID = /^toolu_tour_([a-z]+)_(\d+)_/;

/**
 * Simulates a model that plays scenes with the tools of the request. The ids of its own calls show its
 * position in a scene, so cleared results and compactions do not matter. If a compaction has removed all of
 * these calls, the model continues after its last action. If a prompt belongs to no scene, the next behavior
 * answers it.
 */
export function standIn(scenes: readonly Scene[], counter: TokenCounter): Behavior {
  let last: Place | undefined;
  return (request) => {
    const found = placeIn(request.messages, scenes);
    const place = found === "only-a-summary" ? last : found;
    if (place === undefined) return undefined;
    const { turn, isLast } = play(place, request, look(request, counter));
    last = isLast ? undefined : { ...place, step: place.step + 1 };
    return turn;
  };
}

function play(
  { scene, step }: Place,
  request: SeenRequest,
  sight: ModelView,
): { readonly turn: Turn; readonly isLast: boolean } {
  const { name, steps, enough, answer } = scene;
  const next = steps[step];
  if (next === undefined || (enough !== undefined && step >= enough.from && enough.is(sight))) {
    return { turn: { blocks: [{ type: "text", text: answer(sight) }] }, isLast: true };
  }
  const { say, calls } = typeof next === "function" ? next(sight) : next;
  const blocks: Turn["blocks"] = [
    ...(say === undefined ? [] : [{ type: "text" as const, text: say }]),
    ...calls.map(({ tool, input }, index) => ({
      type: "tool_use" as const,
      // The number of the request keeps the id unique, even after an undo and a repeated prompt.
      id: `toolu_tour_${name}_${step}_${index}_${request.index}`,
      name: tool,
      input,
    })),
  ];
  return { turn: { blocks }, isLast: false };
}

/**
 * Finds the position in a scene. Searches back from the newest message for a call of this model or a message
 * of the person.
 */
function placeIn(
  messages: readonly ApiMessage[],
  scenes: readonly Scene[],
): Place | "only-a-summary" | undefined {
  for (const { role, content } of messages.toReversed()) {
    const blocks = contentBlocks(content);
    if (role === "assistant") return placeOfCalls(blocks, scenes);
    const texts = blocks.flatMap((block) => (block.type === "text" ? [block.text.trim()] : []));
    const scene = scenes.find(({ prompt }) => texts.includes(prompt));
    if (scene !== undefined) return { scene, step: 0 };
    if (texts.some(isContinuation)) return "only-a-summary";
    const isAnswered = blocks.some(({ type }) => type === "tool_result");
    if (!isAnswered && texts.some((text) => text !== "" && !isReminder(text))) return undefined;
  }
  return undefined;
}

function placeOfCalls(blocks: ReturnType<typeof contentBlocks>, scenes: readonly Scene[]): Place | undefined {
  for (const block of blocks) {
    const [, name, step] = block.type === "tool_use" ? (ID.exec(block.id) ?? []) : [];
    const scene = scenes.find((one) => one.name === name);
    if (scene !== undefined) return { scene, step: Number(step) + 1 };
  }
  return undefined;
}

/** Everything that the simulated model knows: only the current request. */
export interface ModelView {
  /** Tokens of the whole request. The simulator counts a few more for the structure of the request. */
  readonly tokens: number;
  /** Number of cleared results. */
  readonly cleared: number;
  /**
   * Returns true if a message of the person is exactly this text. Returns false after a compaction, because
   * the context then contains the message only as a quotation.
   */
  isQuotedExactly(words: string): boolean;
  /** Returns the newest remaining result of this tool. Empty if there is none. */
  result(tool: string): string;
  /** Returns the first match in everything readable: messages, results, summary, notes. */
  find(pattern: RegExp): string | undefined;
}

/** Returns true for a reminder: a text between messages that only the model sees and that no person wrote. */
const isReminder = (text: string): boolean => /^\s*<system-reminder>/.test(text);

function look({ messages, system, tools }: SeenRequest, counter: TokenCounter): ModelView {
  const blocks = messages.flatMap(({ content }) => contentBlocks(content));
  const names = new Map(
    blocks.flatMap((block) => (block.type === "tool_use" ? [[block.id, block.name] as const] : [])),
  );
  const results = blocks.flatMap((block) => (block.type === "tool_result" ? [block] : []));
  return {
    tokens:
      counter.text(system) +
      sum(tools.map((tool) => counter.tool(tool))) +
      sum(blocks.map((block) => counter.block(block as unknown as JsonRecord))),
    cleared: results.filter(isCleared).length,
    isQuotedExactly: (words) => blocks.some((block) => block.type === "text" && block.text.trim() === words),
    result: (tool) => {
      const newest = results.findLast(({ tool_use_id }) => names.get(tool_use_id) === tool);
      return newest === undefined ? "" : contentText(newest.content);
    },
    find: (pattern) => {
      for (const block of blocks) {
        const text = block.type === "text" ? block.text : resultText(block);
        const match = pattern.exec(text);
        if (match !== null) return match[1] ?? match[0];
      }
      return undefined;
    },
  };
}

const resultText = (block: ReturnType<typeof contentBlocks>[number]): string =>
  block.type === "tool_result" ? contentText(block.content) : "";

const sum = (figures: readonly number[]): number => figures.reduce((total, figure) => total + figure, 0);

/** One answer with tool calls. */
export interface Step {
  readonly say?: string;
  readonly calls: readonly Call[];
}

export interface Call {
  readonly tool: string;
  readonly input: JsonRecord;
}

/** A prompt of the person and the work on it. The ids of the calls show which steps are done. */
export interface Scene {
  /** Name of the scene. It contains only letters, because it is a part of the ids of calls. */
  readonly name: string;
  readonly prompt: string;
  readonly steps: readonly (Step | ((sight: ModelView) => Step))[];
  /** Condition that ends the scene early. It is checked from the step `from` on. */
  readonly enough?: { readonly from: number; is(sight: ModelView): boolean };
  readonly answer: (sight: ModelView) => string;
}

export const call = (tool: string, input: JsonRecord): Call => ({ tool, input });

const PATH_FIELDS: readonly string[] = ["file_path", "path"];

/**
 * Makes the paths of a behavior absolute, because tools need absolute paths. Also keeps all paths in the
 * folder, because the agent would ask the person about a path outside it.
 */
export function insideOf(folder: string, behavior: Behavior): Behavior {
  return (request) => {
    const turn = behavior(request);
    if (turn === undefined) return undefined;
    const blocks = turn.blocks.map((block) =>
      block.type === "tool_use" ? { ...block, input: withPathsIn(folder, block.input) } : block,
    );
    return { ...turn, blocks };
  };
}

function withPathsIn(folder: string, input: JsonRecord): JsonRecord {
  const entries = Object.entries(input).map(([name, value]) =>
    PATH_FIELDS.includes(name) && typeof value === "string" ? [name, inside(folder, value)] : [name, value],
  );
  return Object.fromEntries(entries);
}

/** Returns an absolute path in the folder. Treats a path outside the folder as relative to the folder. */
const inside = (folder: string, path: string): string =>
  path.startsWith(folder) && !relative(folder, path).startsWith("..")
    ? path
    : join(folder, join("/", path).slice(1));
