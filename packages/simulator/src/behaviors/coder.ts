import { contentText, isRecord, type JsonRecord } from "@longhaul/core/internal/messages";
import { createRandom, type Random } from "../demo/random.ts";
import type { Behavior, SeenRequest, Turn, TurnBlock } from "../exchange.ts";
import { chance, hashText } from "./chance.ts";
import { type CoderView, look } from "./coder/coder-view.ts";
import { isHarmless } from "./coder/harmless.ts";
import { type Idea, type IdeaSource, ideaFor, isDelegation } from "./coder/ideas.ts";
import { inputFor } from "./coder/input.ts";
import { type Action, planActions } from "./coder/plan.ts";
import { callId, isPlain, type Progress, readProgress, TURNS_PER_MARK } from "./coder/progress.ts";
import { answerText, closing, type Speaker, textBefore, thoughts } from "./coder/speech.ts";
import { selectTools } from "./coder/tools.ts";
import { OPENING_MESSAGES, pathInside } from "./coder/working-folder.ts";
import { notesRequestIn } from "./notes-protocol.ts";
import { same } from "./schema/schema.ts";
import { valueFor } from "./schema/value.ts";
import { isSpanRequest } from "./spans.ts";
import { answerFormOf, thinkingOf } from "./wishes.ts";

export interface CoderOptions {
  /**
   * Number of turns with tool calls after each human message, before the closing text. With `Infinity`, the
   * coder never ends.
   */
  readonly turns: number;
  /** Seed of all random choices. A different seed plays a different session. */
  readonly seed?: number;
  /** Amount of text, from 0 (calls with almost no text) to 1 (a paragraph before most calls, large files). */
  readonly chattiness?: number;
  /** Percentage of exploring turns that make several calls at once. */
  readonly parallelPercent?: number;
  /**
   * Name of the coder's own folder inside the working folder. The coder writes and edits files only there.
   */
  readonly folder?: string;
  /**
   * Absolute path of the working folder for requests that name no such folder. Without a working folder, the
   * coder writes nothing.
   */
  readonly workingFolder?: string;
  /**
   * Lets the coder invent paths, so that it needs no working folder. Set this only for tools that touch no
   * real files.
   */
  readonly inventsPaths?: boolean;
  /** Allows tools that fetch pages or search the web. */
  readonly web?: boolean;
  /**
   * Selects the tools that the coder may call. Tools that wait for a person are never called. By default,
   * unknown tools are called only if the request has no other tools.
   */
  readonly uses?: (toolName: string) => boolean;
}

type Settings = Required<Omit<CoderOptions, "workingFolder" | "uses">> & CoderOptions;

const DEFAULTS: Omit<Settings, "turns"> = {
  seed: 1,
  chattiness: 0.4,
  parallelPercent: 20,
  folder: "longhaul-sim",
  inventsPaths: false,
  web: false,
};

/** Maximum size of a text at full chattiness. */
const MAX_TEXT_CHARS = 2_400;
const MAX_FILE_CHARS = 12_000;
/**
 * Characters per token of an answer. The figure is low on purpose, so that `max_tokens` does not cut the
 * answer.
 */
const CHARS_PER_TOKEN = 2.5;
/** Share of an answer for thinking, and the same share for text. Tool calls get the rest. */
const SHARE_OF_ROOM = 1 / 4;
/** Maximum attempts to find a call that does not repeat a recent call. */
const TRIES = 6;
const ADAPTIVE_THINKING_PERCENT = 60;

/**
 * Creates a behavior that plays a coding agent with the tools of the request, for the given number of turns.
 * The coder keeps no state between calls. Equal requests get equal answers, and the coder finds its place
 * again after a compaction or a restart. The cost of an answer depends only on the newest messages.
 *
 * A real agent may run the calls, so they are harmless. The coder reads only files inside the client's
 * working folder that tool results have shown. It writes only to its own folder inside the working folder.
 * Its commands only show parts of files that it may read, or list a folder. Its subagents start no further
 * subagents. Without a working folder, it writes nothing and reads only files that tool results have shown.
 * `inventsPaths` lifts these limits, except those on commands. The coder does not answer requests for notes
 * and for span summaries, so the next behavior does.
 */
export function coder(options: CoderOptions): Behavior {
  const settings: Settings = { ...DEFAULTS, ...options };
  return (request) => {
    if (notesRequestIn(request.messages) !== undefined || isSpanRequest(request)) return undefined;
    const progress = readProgress(request.messages);
    const random = createRandom(hashText(`${settings.seed} ${progress.step}`, progress.chain));
    const { tools, isForced, allowsParallel } = selectTools(request, settings.uses);
    const view = look(request, settings.workingFolder);
    const scene: Scene = { request, progress, random, settings, view };
    if (tools.length === 0 || (progress.step > settings.turns && !isForced)) return closingTurn(scene);
    const source = ideaSource(scene);
    const actions = planActions(source, {
      ...settings,
      tools,
      parallelPercent: allowsParallel ? settings.parallelPercent : 0,
      mayDelegate: !isSubagent(request),
      callsUnknown: isForced || settings.uses !== undefined,
    });
    const calls = callsFor(actions, source, isForced);
    return calls.length === 0 ? closingTurn(scene) : workingTurn(scene, calls);
  };
}

/**
 * True if a subagent makes the call. Only the headers of Claude Code name the subagent. For other clients,
 * the text of the task shows it, in the system prompt or in one of the first messages.
 */
function isSubagent({ purpose, system, messages }: SeenRequest): boolean {
  const opening = messages.slice(0, OPENING_MESSAGES).filter(({ content }) => isPlain(content));
  const texts = [system, ...opening.map(({ content }) => contentText(content))];
  return purpose === "subagent" || texts.some(isDelegation);
}

interface Scene {
  readonly request: SeenRequest;
  readonly progress: Progress;
  readonly random: Random;
  readonly settings: Settings;
  readonly view: CoderView;
}

function ideaSource({ request, progress, random, settings, view }: Scene): IdeaSource {
  const room = request.maxTokens * CHARS_PER_TOKEN * SHARE_OF_ROOM;
  const contentChars = Math.min(room, MAX_FILE_CHARS * (0.25 + 0.75 * settings.chattiness));
  const { step, topic } = progress;
  const { folder, inventsPaths } = settings;
  const ownFolder = view.root === undefined ? undefined : pathInside(view.root, folder);
  const madeUpFolder = inventsPaths ? (ownFolder ?? folder) : undefined;
  return { view, random, step, topic, ownFolder: ownFolder ?? madeUpFolder, madeUpFolder, contentChars };
}

function workingTurn(scene: Scene, calls: readonly Call[]): Turn {
  const { progress, random, settings } = scene;
  const ideas = calls.map((call) => call.idea);
  const isMarked = progress.isNewTask || progress.step % TURNS_PER_MARK === 0;
  const hasFailed = scene.view.calls.some((call) => call.isNew && call.isError);
  const speaks = isMarked || hasFailed || chance(random, Math.round(100 * settings.chattiness));
  const blocks: TurnBlock[] = thinkingBlocks(scene, ideas);
  // A required form applies to every text of a reply, and some clients parse each text. The call ids keep the step.
  if (speaks && answerFormOf(scene.request).kind === "text")
    blocks.push({ type: "text", text: textBefore(speaker(scene), ideas) });
  calls.forEach(({ name, input }, index) => {
    blocks.push({ type: "tool_use", id: callId(progress.step, index, progress.chain), name, input });
  });
  return { blocks };
}

interface Call {
  readonly name: string;
  readonly input: JsonRecord;
  readonly idea: Idea;
}

/** Makes the calls of a turn. Leaves out calls that could do harm, unless the request forces a call. */
function callsFor(actions: readonly Action[], source: IdeaSource, isForced: boolean): readonly Call[] {
  const calls: Call[] = [];
  for (const action of actions) {
    const call = freshCall(action, source, calls);
    if (call === undefined) continue;
    if (isForced || isHarmless(action.tool, call.input, call.idea, source)) calls.push(call);
  }
  return calls;
}

/**
 * Makes a call that differs from the latest calls. If every attempt repeats one of them, the result depends
 * on `earlier`, the calls of this turn. If there are none, returns the repeated call. Otherwise returns
 * undefined.
 */
function freshCall(action: Action, source: IdeaSource, earlier: readonly Call[]): Call | undefined {
  const { name } = action.tool;
  const taken = [...earlier, ...source.view.calls].filter((call) => call.name === name);
  let call: Call | undefined;
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const idea = ideaFor(action.kind, source);
    call = { name, input: inputFor(action.tool, idea, source.random), idea };
    const { input } = call;
    if (!taken.some((other) => same(other.input, input))) return call;
  }
  return earlier.length === 0 ? call : undefined;
}

function closingTurn(scene: Scene): Turn {
  const { request, progress, random, settings } = scene;
  const blocks = thinkingBlocks(scene, []);
  const output = structuredOutputCall(scene);
  if (output !== undefined) return { blocks: [...blocks, output] };
  const finalWords = (): string =>
    progress.isNewTask && settings.turns > 0
      ? answerText(speaker(scene))
      : closing(speaker(scene), progress.step - 1);
  const text = structuredAnswer(request, random, finalWords) ?? finalWords();
  return { blocks: [...blocks, { type: "text", text }] };
}

/** Tool for structured answers. Claude Code expects such an answer as one call of this tool. */
const STRUCTURED_OUTPUT_TOOL = "StructuredOutput";

function structuredOutputCall({ request, progress, random, view }: Scene): TurnBlock | undefined {
  const tool = request.tools.find(({ name }) => name === STRUCTURED_OUTPUT_TOOL);
  if (tool === undefined || view.calls.some(({ name }) => name === STRUCTURED_OUTPUT_TOOL)) return undefined;
  const input = valueFor(tool.input_schema, { random });
  const id = callId(progress.step, 0, progress.chain);
  return { type: "tool_use", id, name: STRUCTURED_OUTPUT_TOOL, input: isRecord(input) ? input : {} };
}

/** Returns JSON in the requested form, or undefined if the request does not ask for JSON. */
function structuredAnswer(request: SeenRequest, random: Random, words: () => string): string | undefined {
  const form = answerFormOf(request);
  if (form.kind === "text") return undefined;
  return JSON.stringify(form.kind === "json" ? { answer: words() } : valueFor(form.schema, { random }));
}

function speaker({ request, progress, view, random, settings }: Scene): Speaker {
  const room = request.maxTokens * CHARS_PER_TOKEN * SHARE_OF_ROOM;
  // Most texts are short and a few are long.
  const share = random.pick([0.02, 0.04, 0.04, 0.08, 0.15, 0.3, 1]);
  return {
    progress,
    view,
    random,
    characters: Math.min(room, MAX_TEXT_CHARS * settings.chattiness * share),
  };
}

function thinkingBlocks(scene: Scene, ideas: readonly Idea[]): TurnBlock[] {
  if (!thinks(scene)) return [];
  return [{ type: "thinking", thinking: thoughts(speaker(scene), ideas) }];
}

function thinks({ request, progress, random }: Scene): boolean {
  const wish = thinkingOf(request);
  if (wish === "never" || wish === "always") return wish === "always";
  if (wish === "between-tools" && progress.isNewTask) return false;
  return chance(random, ADAPTIVE_THINKING_PERCENT);
}
