import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endLeftovers, RUN_MARK, runClient } from "./client-process.ts";
import type { CellResult } from "./matrix.ts";
import { changesBetween, fingerprints, writeProject } from "./project.ts";
import { Relay, type RelayedCall } from "./relay.ts";
import type { ClientPlace, SimClient } from "./sim-clients.ts";
import { SimProcess } from "./sim-process.ts";
import { refusalsOf } from "./sim-rows.ts";
import { type AnsweredCall, answeredCalls } from "./tool-calls.ts";
import type { Json } from "./wire.ts";

/** Time limit of one process of a client. Some clients need 10 seconds to start on a slow machine. */
const LIMIT_MS = 120_000;
/**
 * Number of requests after which a client counts as running away. Two prompts need about 14 requests, and
 * clients add a few of their own, such as for a title.
 */
const MAX_REQUESTS = 60;
const MIN_CALLS = 10;
const MIN_TOOLS = 2;
/** Folder in which the coder works. */
const CODER_FOLDER = "longhaul-sim";
/** A text that only the scripted session contains. */
const SCRIPTED_END = "The scripted session ends here: 4711.";
/** A text that only the file contains that the scripted session reads. */
const SECRET_WORD = "It adds numbers.";

export interface ClientRow {
  readonly cells: readonly CellResult[];
  /** All requests of the client that the simulator answered. */
  readonly calls: readonly RelayedCall[];
}

export interface ClientRowOptions {
  readonly client: SimClient;
  readonly column: string;
  /** A separate, empty folder. */
  readonly folder: string;
  /** A proxy that refuses everything. */
  readonly proxy: string;
}

/** Runs a client with the built-in coder, then with a script. */
export async function clientRow(options: ClientRowOptions): Promise<ClientRow> {
  const { client, folder } = options;
  const row = `sim: ${client.name}`;
  const worked = await converse({ ...options, folder: join(folder, "coder") }, [], prompts);
  const scripted = await converse({ ...options, folder: join(folder, "script") }, scriptFlags, () => [
    "Read the file.",
  ]);
  const facts = factsOf(worked.calls);
  return {
    cells: [
      {
        row,
        column: options.column,
        messages: worked.calls.length,
        pairs: facts.calls.length,
        markers: worked.watched,
        faults: [...worked.faults, ...tooFew(facts.calls, client)],
        notes: [worked.summary],
      },
      scriptedCell(`${row}, scripted`, options.column, scripted),
    ],
    calls: worked.calls,
  };
}

/** Builds the prompts of the coder's conversation. The first one names a file that no client may change. */
const prompts = ({ canary }: Folders): readonly string[] => [
  `Improve this project. ${join(canary, "src", "index.ts")} shows the style that I like.`,
  "Go on.",
];

/** Writes a script of two turns: a call that reads a file, and an end. Returns the flags of the simulator. */
function scriptFlags(client: SimClient, { workspace, root }: Folders): readonly string[] {
  const call = client.reads(join(workspace, "README.md"));
  const script = [{ blocks: ["I read the file.", { type: "tool_use", ...call }] }, SCRIPTED_END];
  const path = join(root, "script.json");
  writeFileSync(path, JSON.stringify(script));
  return ["--script", path];
}

function scriptedCell(row: string, column: string, run: Conversation): CellResult {
  const { calls } = factsOf(run.calls);
  const faults = [
    ...run.faults,
    ...(run.output.includes(SCRIPTED_END)
      ? []
      : [`the client did not show the last scripted text: ${run.output.slice(-300)}`]),
    ...(calls.some(({ result }) => result.includes(SECRET_WORD))
      ? []
      : ["the client did not return the file"]),
  ];
  return { row, column, messages: run.calls.length, pairs: calls.length, markers: run.watched, faults };
}

interface Folders {
  readonly root: string;
  readonly home: string;
  readonly workspace: string;
  readonly canary: string;
}

interface Conversation {
  readonly calls: readonly RelayedCall[];
  readonly output: string;
  /** Number of files whose content was compared. */
  readonly watched: number;
  readonly faults: readonly string[];
  readonly summary: string;
}

async function converse(
  { client, folder, proxy }: ClientRowOptions,
  flags: readonly string[] | typeof scriptFlags,
  promptsOf: (folders: Folders) => readonly string[],
): Promise<Conversation> {
  const folders = makeFolders(folder);
  const outside = [folders.canary, join(folders.home, "src"), folders.workspace];
  const before = fingerprints(outside);
  const sim = await SimProcess.start(typeof flags === "function" ? flags(client, folders) : flags);
  const relay = await Relay.start(sim.url, MAX_REQUESTS);
  const place: ClientPlace = { ...folders, url: relay.url };
  const faults: string[] = [];
  let output = "";
  try {
    const command = client.install();
    client.configure?.(place);
    const env = { ...environment(folders, proxy), ...client.env(place) };
    for (const args of client.processes(promptsOf(folders))) {
      const all = [...command.args, ...args];
      const run = { file: command.file, args: all, cwd: folders.workspace, env, limitMs: LIMIT_MS };
      const end = await runClient({ ...run, signal: relay.excess });
      output += end.output;
      if (relay.excess.aborted) faults.push(`the client ran away: more than ${MAX_REQUESTS} requests`);
      else if (end.code !== 0) faults.push(`the client ended with ${end.code}: ${end.output.slice(-800)}`);
      if (faults.length > 0) break;
    }
  } catch (error) {
    faults.push(error instanceof Error ? error.message : String(error));
  }
  const left = endLeftovers(folders.root);
  relay.close();
  const requests = sim.calls(0);
  sim.stop();
  writeFileSync(join(folders.root, "output.txt"), output);
  const changed = changesBetween(before, fingerprints(outside)).filter((change) => !isOwn(change, folders));
  const refused = refusalsOf(requests);
  const summary = summaryOf(relay.calls, requests, { refused, changed, left });
  return {
    calls: relay.calls,
    output,
    watched: before.size,
    faults: [...refused, ...faults, ...changed, ...findingsOf(requests)],
    summary,
  };
}

function makeFolders(root: string): Folders {
  const folders = {
    root,
    home: join(root, "home"),
    workspace: join(root, "workspace"),
    canary: join(root, "canary"),
  };
  for (const one of [folders.home, folders.workspace, folders.canary]) writeProject(one);
  return folders;
}

/** Returns the environment of every client: nothing of the user's, and no way to the internet. */
function environment({ root, home }: Folders, proxy: string): Record<string, string> {
  const temp = join(home, "tmp");
  mkdirSync(temp, { recursive: true });
  return {
    [RUN_MARK]: root,
    PATH: process.env.PATH ?? "",
    LANG: "C.UTF-8",
    TERM: "dumb",
    CI: "1",
    HOME: home,
    TMPDIR: temp,
    XDG_CONFIG_HOME: join(home, ".config"),
    XDG_DATA_HOME: join(home, ".local/share"),
    XDG_STATE_HOME: join(home, ".local/state"),
    XDG_CACHE_HOME: join(home, ".cache"),
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    http_proxy: proxy,
    https_proxy: proxy,
    NO_PROXY: "127.0.0.1,localhost",
    no_proxy: "127.0.0.1,localhost",
    npm_config_registry: proxy,
    DO_NOT_TRACK: "1",
  };
}

const isOwn = (change: string, { workspace }: Folders): boolean =>
  change.startsWith(`${join(workspace, CODER_FOLDER)}/`);

const factsOf = (calls: readonly RelayedCall[]): { readonly calls: readonly AnsweredCall[] } => ({
  calls: answeredCalls(calls.flatMap(({ body }) => (body === undefined ? [] : [body]))),
});

function tooFew(calls: readonly AnsweredCall[], { minTools = MIN_TOOLS }: SimClient): readonly string[] {
  const tools = new Set(calls.map(({ name }) => name)).size;
  if (calls.length >= MIN_CALLS && tools >= minTools) return [];
  return [`only ${calls.length} tool calls of ${tools} tools, expected ${MIN_CALLS} of ${minTools}`];
}

/** Lists what the request checkers of the packages find in accepted requests. */
function findingsOf(requests: readonly Json[]): readonly string[] {
  const found = requests.flatMap(({ findings }) => (Array.isArray(findings) ? (findings as Json[]) : []));
  return [...new Set(found.map(({ rule, path }) => `finding of the request checker: ${rule} at ${path}`))];
}

function summaryOf(
  calls: readonly RelayedCall[],
  requests: readonly Json[],
  more: { readonly refused: readonly string[]; readonly changed: readonly string[]; readonly left: number },
): string {
  const { calls: answered } = factsOf(calls);
  const counts = new Map<string, number>();
  for (const { name } of answered) counts.set(name, (counts.get(name) ?? 0) + 1);
  const tools = [...counts].map(([name, count]) => `${name} ${count}`).join(", ");
  const betas = [...new Set(requests.flatMap(({ unknownBetas }) => unknownBetas as string[]))];
  const purposes = requests.filter(({ purpose }) => purpose !== "conversation").map(({ purpose }) => purpose);
  return [
    `${calls.length} requests`,
    `${answered.length} tool calls (${tools})`,
    `${more.refused.length} refused`,
    `unknown betas: ${betas.join(" ") || "none"}`,
    `calls beside the conversation: ${purposes.length}`,
    `${more.changed.length} files changed outside ${CODER_FOLDER}`,
    `${more.left} processes left behind and ended`,
  ].join("; ");
}
