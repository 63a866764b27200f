import { contentText, field, isRecord, type JsonRecord, stringField } from "@longhaul/core/internal/messages";
import { claudeFeatures } from "@longhaul/core/measure";
import { createRandom, type Random } from "../demo/random.ts";
import type { Behaviour, SeenRequest, Turn, TurnBlock } from "../exchange.ts";
import { chance, hashText } from "./chance.ts";
import { type Idea, type IdeaSource, ideaFor, isDelegation } from "./coder/ideas.ts";
import { inputFor } from "./coder/input.ts";
import { type Action, planActions } from "./coder/plan.ts";
import { callId, type Progress, readProgress, TURNS_PER_MARK } from "./coder/progress.ts";
import { look, type Sight } from "./coder/sight.ts";
import { answerInWords, closing, type Speaker, textBefore, thoughts } from "./coder/speech.ts";
import { selectTools } from "./coder/tools.ts";
import { pathInside } from "./coder/working-folder.ts";
import { notesRequestIn } from "./notes-protocol.ts";
import { same } from "./schema/schema.ts";
import { valueFor } from "./schema/value.ts";
import { isSpanRequest } from "./spans.ts";

export interface CoderOptions {
  /** Turns with calls after each human message; then it closes with a text. `Infinity` never ends. */
  readonly turns: number;
  /** Another seed plays another session. */
  readonly seed?: number;
  /** From 0 (calls with hardly a word) to 1 (a paragraph before most calls, large files). */
  readonly chattiness?: number;
  /** How many of a hundred turns of looking around make several calls at once. */
  readonly parallelPercent?: number;
  /** Name of its own folder inside the working folder. It writes and edits files nowhere else. */
  readonly folder?: string;
  /** Working folder when the request names none: an absolute path. Without any it writes nothing. */
  readonly workingFolder?: string;
  /** For tools that touch no real files: it makes up paths too, and needs no working folder. */
  readonly inventsPaths?: boolean;
  /** Lets it call tools that fetch pages or search the web. */
  readonly web?: boolean;
  /**
   * Which of the request's tools it may call; those that wait for a person it never does by itself. Unless given, it
   * calls tools that it does not know only where the request has no others.
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

/** The largest text and file of a session at full chattiness. */
const MAX_TEXT_CHARS = 2_400;
const MAX_FILE_CHARS = 12_000;
/** A cautious figure: what is made must not be cut off by `max_tokens`. */
const CHARS_PER_TOKEN = 2.5;
/** Of an answer's room: a quarter for thoughts, a quarter for words, the rest for calls. */
const SHARE_OF_ROOM = 1 / 4;
/** Calls that came up a moment ago are made up anew, so often at most. */
const TRIES = 6;
const ADAPTIVE_THINKING_PERCENT = 60;

/**
 * Plays a coding agent with whatever tools the request brings, for as many turns as asked. It keeps nothing
 * between calls: the same request gets the same answer, and it finds its place again after a compaction or
 * a restart. Its cost is that of the newest messages, however long the history is.
 *
 * A real agent may carry its calls out, so they are harmless. It reads files that results have shown inside the
 * folder that the client says it works in. It writes only into a folder of its own in there. Its commands show parts
 * of such files. Its subagents start no others. Where no folder is named it writes nothing and reads only files that
 * results have shown. `inventsPaths` lifts these limits, except those on commands. Requests for notes and for the
 * summary of a span are left to the next behaviour.
 */
export function coder(options: CoderOptions): Behaviour {
  const settings: Settings = { ...DEFAULTS, ...options };
  return (request) => {
    if (notesRequestIn(request.messages) !== undefined || isSpanRequest(request)) return undefined;
    const progress = readProgress(request.messages);
    const random = createRandom(hashText(`${settings.seed} ${progress.step}`, progress.chain));
    const { tools, isForced, allowsParallel } = selectTools(request, settings.uses);
    const sight = look(request, settings.workingFolder);
    const scene: Scene = { request, progress, random, settings, sight };
    if (tools.length === 0 || (progress.step > settings.turns && !isForced)) return closingTurn(scene);
    const source = ideaSource(scene);
    const actions = planActions(source, {
      ...settings,
      tools,
      parallelPercent: allowsParallel ? settings.parallelPercent : 0,
      mayDelegate: !isSubagent(request),
      callsUnknown: isForced || settings.uses !== undefined,
    });
    return actions.length === 0 ? closingTurn(scene) : workingTurn(scene, actions, source);
  };
}

/** Clients other than Claude Code do not say it: there the words of the request tell. */
function isSubagent({ purpose, messages }: SeenRequest): boolean {
  return purpose === "subagent" || isDelegation(contentText(messages[0]?.content));
}

interface Scene {
  readonly request: SeenRequest;
  readonly progress: Progress;
  readonly random: Random;
  readonly settings: Settings;
  readonly sight: Sight;
}

function ideaSource({ request, progress, random, settings, sight }: Scene): IdeaSource {
  const room = request.maxTokens * CHARS_PER_TOKEN * SHARE_OF_ROOM;
  const contentChars = Math.min(room, MAX_FILE_CHARS * (0.25 + 0.75 * settings.chattiness));
  const { step, topic } = progress;
  const { folder, inventsPaths } = settings;
  const ownFolder = sight.root === undefined ? undefined : pathInside(sight.root, folder);
  const madeUpFolder = inventsPaths ? (ownFolder ?? folder) : undefined;
  return { sight, random, step, topic, ownFolder: ownFolder ?? madeUpFolder, madeUpFolder, contentChars };
}

function workingTurn(scene: Scene, actions: readonly Action[], source: IdeaSource): Turn {
  const { progress, random, settings } = scene;
  const calls: Call[] = [];
  for (const action of actions) {
    const call = freshCall(action, source, calls);
    if (call !== undefined) calls.push(call);
  }
  const ideas = calls.map((call) => call.idea);
  const isMarked = progress.isNewTask || progress.step % TURNS_PER_MARK === 0;
  const hasFailed = scene.sight.calls.some((call) => call.isNew && call.isError);
  const speaks = isMarked || hasFailed || chance(random, Math.round(100 * settings.chattiness));
  const blocks: TurnBlock[] = thinkingBlocks(scene, ideas);
  if (speaks) blocks.push({ type: "text", text: textBefore(speaker(scene), ideas) });
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

/** One that is not among the latest calls; undefined when that cannot be had for a further call of a turn. */
function freshCall(action: Action, source: IdeaSource, earlier: readonly Call[]): Call | undefined {
  const { name } = action.tool;
  const taken = [...earlier, ...source.sight.calls].filter((call) => call.name === name);
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
      ? answerInWords(speaker(scene))
      : closing(speaker(scene), progress.step - 1);
  const text = structuredAnswer(request, random) ?? finalWords();
  return { blocks: [...blocks, { type: "text", text }] };
}

/** Claude Code takes a structured answer as the call of this tool, once. */
const STRUCTURED_OUTPUT_TOOL = "StructuredOutput";

function structuredOutputCall({ request, progress, random, sight }: Scene): TurnBlock | undefined {
  const tool = request.tools.find(({ name }) => name === STRUCTURED_OUTPUT_TOOL);
  if (tool === undefined || sight.calls.some(({ name }) => name === STRUCTURED_OUTPUT_TOOL)) return undefined;
  const input = valueFor(tool.input_schema, { random });
  const id = callId(progress.step, 0, progress.chain);
  return { type: "tool_use", id, name: STRUCTURED_OUTPUT_TOOL, input: isRecord(input) ? input : {} };
}

/** A request for JSON gets JSON. */
function structuredAnswer({ body }: SeenRequest, random: Random): string | undefined {
  const format = field(field(body, "output_config"), "format") ?? field(body, "output_format");
  if (stringField(format, "type") !== "json_schema") return undefined;
  return JSON.stringify(valueFor(field(format, "schema"), { random }));
}

function speaker({ request, progress, sight, random, settings }: Scene): Speaker {
  const room = request.maxTokens * CHARS_PER_TOKEN * SHARE_OF_ROOM;
  // Most texts are short and a few are long.
  const share = random.pick([0.02, 0.04, 0.04, 0.08, 0.15, 0.3, 1]);
  return {
    progress,
    sight,
    random,
    characters: Math.min(room, MAX_TEXT_CHARS * settings.chattiness * share),
  };
}

function thinkingBlocks(scene: Scene, ideas: readonly Idea[]): TurnBlock[] {
  if (!thinks(scene)) return [];
  return [{ type: "thinking", thinking: thoughts(speaker(scene), ideas) }];
}

function thinks({ request, progress, random }: Scene): boolean {
  const type = stringField(field(request.body, "thinking"), "type");
  if (type === "disabled") return false;
  // A turn with tools has to begin with thinking there.
  if (type === "enabled") return true;
  if (type === "between_tools") return !progress.isNewTask && chance(random, ADAPTIVE_THINKING_PERCENT);
  if (type === undefined && !claudeFeatures(request.model).thinksByDefault) return false;
  return chance(random, ADAPTIVE_THINKING_PERCENT);
}
