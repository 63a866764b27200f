import { join } from "node:path";
import { ask, clientEnv, type Place } from "./client.ts";
import type { CellResult } from "./matrix.ts";
import { changesBetween, fingerprints, writeProject } from "./project.ts";
import { readLines, sessionPath } from "./session-file.ts";
import type { SimProcess } from "./sim-process.ts";
import type { Json } from "./wire.ts";

export interface SimRowOptions {
  readonly row: string;
  readonly column: string;
  readonly sim: SimProcess;
  /** A separate, empty folder. */
  readonly folder: string;
  readonly place: Omit<Place, "home" | "workspace" | "url">;
  /** Sends the prompt and returns the id of the session. */
  readonly talk?: (place: Place, prompt: string) => Promise<string>;
}

/**
 * Runs the client with the built-in coder. Checks that no request is refused and that nothing outside the
 * client's workspace changes.
 */
export async function simRow({
  row,
  column,
  sim,
  folder,
  place,
  talk = askOnce,
}: SimRowOptions): Promise<CellResult> {
  const home = join(folder, "home");
  const workspace = join(folder, "workspace");
  const canary = join(folder, "canary");
  for (const one of [home, workspace, canary]) writeProject(one);
  const outside = [canary, join(home, "src")];
  const before = fingerprints(outside);
  const from = sim.requests.length;
  const whole: Place = { ...place, home, workspace, url: sim.url };
  const cell = { row, column, messages: 0, pairs: 0, markers: 0 };
  const prompt = `Improve this project. ${join(canary, "src", "index.ts")} shows the style that I like.`;
  try {
    const lines = readLines(sessionPath(home, await talk(whole, prompt)));
    const pairs = pairsIn(lines);
    const faults = [
      ...refusalsOf(sim.calls(from)),
      ...(pairs === 0 ? ["no tool was called"] : []),
      ...changesBetween(before, fingerprints(outside)),
      ...writesOutside(lines, workspace),
    ];
    return { ...cell, messages: sim.calls(from).length, pairs, markers: before.size, faults };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { ...cell, faults: [...refusalsOf(sim.calls(from)), message] };
  }
}

/** Sends two prompts. The second request contains the history with its tool calls. */
async function askOnce(place: Place, prompt: string): Promise<string> {
  const { sessionId } = await ask(place, prompt);
  const second = await ask(place, "Go on.", ["--resume", sessionId]);
  if (second.isError) throw new Error(`The client failed: ${second.text}`);
  return second.sessionId;
}

interface AgentSdk {
  query(call: { readonly prompt: string; readonly options: Json }): AsyncIterable<Json>;
}

/** Sends the same two prompts through the Claude Agent SDK. */
export function talkWith(sdk: AgentSdk): (place: Place, prompt: string) => Promise<string> {
  return async (place, prompt) => {
    const say = async (text: string, more: Json = {}): Promise<string> => {
      const options = {
        cwd: place.workspace,
        env: clientEnv(place),
        model: place.model,
        pathToClaudeCodeExecutable: place.binary,
        permissionMode: "bypassPermissions",
        allowDangerouslySkipPermissions: true,
        ...more,
      };
      let result: Json | undefined;
      for await (const message of sdk.query({ prompt: text, options })) {
        if (message.type === "result") result = message;
      }
      if (result === undefined || result.is_error === true)
        throw new Error(`The SDK failed: ${result?.result}`);
      return String(result.session_id);
    };
    const sessionId = await say(prompt);
    return say("Go on.", { resume: sessionId });
  };
}

/** Lists the model calls that the simulator refused. */
export const refusalsOf = (calls: readonly Json[]): readonly string[] =>
  calls.filter(({ error }) => error !== null).map(({ error }) => `refused: ${(error as Json).message}`);

function blocksIn(lines: readonly Json[]): readonly Json[] {
  return lines.flatMap(({ message }) => {
    const content = (message as Json | undefined)?.content;
    return Array.isArray(content) ? (content as Json[]) : [];
  });
}

function pairsIn(lines: readonly Json[]): number {
  const blocks = blocksIn(lines);
  const answered = new Set(blocks.map((block) => block.tool_use_id));
  return blocks.filter((block) => block.type === "tool_use" && answered.has(block.id)).length;
}

const WRITERS: ReadonlySet<unknown> = new Set(["Write", "Edit", "NotebookEdit"]);

/** Lists writes outside the workspace. Failed writes count too. */
function writesOutside(lines: readonly Json[], workspace: string): readonly string[] {
  return blocksIn(lines)
    .filter(({ type, name }) => type === "tool_use" && WRITERS.has(name))
    .map(({ input }) => String((input as Json).file_path ?? (input as Json).notebook_path))
    .filter((path) => path.startsWith("/") && !path.startsWith(`${workspace}/`))
    .map((path) => `writes outside the workspace: ${path}`);
}
