import { LonghaulError } from "@longhaul/core/errors";
import { MIN_WINDOW_TOKENS } from "@longhaul/core/internal/measure";
import type { ClaudeFeatures } from "@longhaul/core/measure";
import { readRegularFile } from "@longhaul/sessions/internal";
import type {
  CoderOptions,
  Fault,
  FaultConditions,
  ModelOptions,
  SimulatorOptions,
  SimulatorSwitches,
  SpanKind,
  TokenPrices,
} from "@longhaul/simulator";
import {
  BAD_NOTES_KINDS,
  BAD_SUMMARY_KINDS,
  type ConditionalTurn,
  type NotesKind,
  parseScript,
  type SummaryKind,
} from "@longhaul/simulator";
import { LONGEST_DELAY_MS, SPAN_KINDS } from "@longhaul/simulator/internal";
import { z } from "zod";

/**
 * Options of the simulator. Omits functions, because JSON cannot contain them.
 */
type LibraryOptions = Omit<
  SimulatorOptions,
  "behaviors" | "coder" | "summarize" | "clock" | "countText" | "onRequest"
>;

/** All simulator options that JSON can express, with the names of the library. */
export interface SimConfig extends LibraryOptions {
  readonly coder?: Partial<Omit<CoderOptions, "uses">>;
  readonly counter?: "o200k" | "estimate";
  readonly summaries?: SummaryKind | readonly SummaryKind[];
  readonly notes?: NotesKind | readonly NotesKind[];
  readonly spans?: SpanKind | readonly SpanKind[];
  readonly faults?: readonly (Pick<FaultConditions, "probability" | "times"> & {
    readonly fault: Fault | number;
  })[];
}

/** A schema with a key for each option. The type makes the compiler reject a schema that lacks an option. */
type Shape<Options> = Readonly<Record<keyof Options, z.ZodType>>;

const count = z.int().nonnegative();
/** A time that a timer can wait. */
const milliseconds = z.int().min(0).max(LONGEST_DELAY_MS);
const share = z.number().min(0).max(1);

/**
 * Schema for a kind, or for a list of kinds. A single kind applies to all requests. A list has one kind per
 * request, and its last kind applies to all further requests.
 */
const kinds = <Name extends string>(...names: readonly Name[]) => {
  const kind = z.enum(names);
  return z.union([kind, z.array(kind).min(1)]);
};

const features = {
  thinkingModes: z.array(z.enum(["adaptive", "enabled", "disabled", "between_tools"])).optional(),
  thinksByDefault: z.boolean().optional(),
  keepsEarlierThinking: z.boolean().optional(),
  effortLevels: z.array(z.enum(["low", "medium", "high", "xhigh", "max"])).optional(),
  forcedTools: z.boolean().optional(),
  sampling: z.boolean().optional(),
  prefill: z.boolean().optional(),
  systemMessages: z.boolean().optional(),
  stopsAtWindow: z.boolean().optional(),
  compaction: z.boolean().optional(),
  minimumCacheTokens: count.optional(),
  tokenScale: z.number().positive().optional(),
} satisfies Shape<ClaudeFeatures>;

const prices = {
  input: z.number().nonnegative(),
  cached: z.number().nonnegative(),
  output: z.number().nonnegative(),
  written: z.number().nonnegative().optional(),
} satisfies Shape<TokenPrices>;

const model = {
  id: z.string().min(1),
  windowTokens: z.int().positive(),
  maxOutputTokens: z.int().positive().optional(),
  bindsThinking: z.boolean().optional(),
  features: z.strictObject(features).optional(),
  provider: z.enum(["anthropic", "openai"]).optional(),
  efforts: z.array(z.string().min(1)).optional(),
  prices: z.strictObject(prices).optional(),
} satisfies Shape<ModelOptions>;

const switches = {
  consecutiveRoles: z.enum(["merged", "refused"]).optional(),
  requireTools: z.boolean().optional(),
  enforceBinding: z.boolean().optional(),
  foreignSignatures: z.enum(["refused", "accepted"]).optional(),
  cacheEdits: z.boolean().optional(),
  threads: z.enum(["accepted", "refused"]).optional(),
  unknownBetas: z.enum(["accepted", "refused"]).optional(),
  foreignReasoning: z.enum(["refused", "accepted"]).optional(),
  streamedOverflow: z.enum(["event", "status"]).optional(),
  unknownFields: z.enum(["refused", "accepted"]).optional(),
} satisfies Shape<SimulatorSwitches>;

const coder = {
  turns: count.optional(),
  seed: z.int().optional(),
  chattiness: share.optional(),
  parallelPercent: z.number().min(0).max(100).optional(),
  folder: z.string().min(1).optional(),
  workingFolder: z.string().startsWith("/").optional(),
  inventsPaths: z.boolean().optional(),
  web: z.boolean().optional(),
} satisfies Shape<Omit<CoderOptions, "uses">>;

const fault = z.union([
  z.int().min(400).max(599),
  z.discriminatedUnion("kind", [
    z.strictObject({
      kind: z.literal("status"),
      status: z.int().min(400).max(599),
      retryAfter: z.number().nonnegative().nullable().optional(),
      spendLimit: z.boolean().optional(),
      type: z.string().optional(),
      message: z.string().optional(),
    }),
    z.strictObject({ kind: z.literal("overload-in-stream"), afterEvents: count.optional() }),
    z.strictObject({ kind: z.literal("malformed-stream"), afterEvents: count.optional() }),
    z.strictObject({ kind: z.literal("cut"), afterBytes: count.optional() }),
    z.strictObject({ kind: z.literal("silence") }),
    z.strictObject({
      kind: z.literal("slow"),
      firstByteMs: milliseconds.optional(),
      betweenEventsMs: milliseconds.optional(),
    }),
  ]),
]);

const config = {
  port: z.int().min(0).max(65_535).optional(),
  windowTokens: z.int().min(MIN_WINDOW_TOKENS).optional(),
  models: z.array(z.strictObject(model)).optional(),
  switches: z.strictObject(switches).optional(),
  apiKeys: z.array(z.string().min(1)).optional(),
  latency: z
    .union([
      milliseconds,
      z.strictObject({ firstByteMs: milliseconds.optional(), betweenEventsMs: milliseconds.optional() }),
    ])
    .optional(),
  seed: z.int().optional(),
  keepBodies: count.optional(),
  keepRequests: count.optional(),
  counter: z.enum(["o200k", "estimate"]).optional(),
  coder: z.strictObject(coder).optional(),
  summaries: kinds("good", ...BAD_SUMMARY_KINDS).optional(),
  notes: kinds("good", "one-by-one", "nothing", ...BAD_NOTES_KINDS).optional(),
  spans: kinds(...SPAN_KINDS).optional(),
  faults: z
    .array(z.strictObject({ fault, probability: share.optional(), times: z.int().positive().optional() }))
    .optional(),
} satisfies Shape<SimConfig>;

/** Keys of the file. A key inside an object is written as the key of the object, a dot and the inner key. */
export const SIM_CONFIG_KEYS: readonly string[] = Object.entries({ ...config, switches, coder }).flatMap(
  ([key, value]) =>
    value === switches || value === coder ? Object.keys(value).map((name) => `${key}.${name}`) : [key],
);

/**
 * Checks the parsed JSON of a configuration file. JSON contains no undefined values, so the cast to
 * `SimConfig` is safe.
 */
export function parseSimConfig(json: unknown, path: string): SimConfig {
  const { success, data, error } = z.strictObject(config).safeParse(json);
  if (success) return data as SimConfig;
  const problems = error.issues.map(problem).join("; ");
  throw new LonghaulError("simulator-config-invalid", `Invalid configuration ${path}: ${problems}.`, {
    remedy: `Use only these keys: ${Object.keys(config).join(", ")}. docs/simulator.md describes them.`,
    facts: { path },
  });
}

function problem(issue: z.core.$ZodIssue): string {
  const at = issue.path.join(".");
  if (issue.code === "unrecognized_keys") {
    const names = issue.keys.map((key) => `"${at === "" ? key : `${at}.${key}`}"`);
    return `unknown key ${names.join(", ")}`;
  }
  return `${at === "" ? "the file" : `"${at}"`}: ${issue.message}`;
}

export async function readSimConfig(path: string): Promise<SimConfig> {
  const json = await readJson(
    path,
    (why, cause) =>
      new LonghaulError("simulator-config-invalid", `Invalid configuration ${path}: ${why}.`, {
        remedy: "Pass a JSON file that contains one object. docs/simulator.md describes its keys.",
        facts: { path },
        cause,
      }),
  );
  return parseSimConfig(json, path);
}

export async function readScript(path: string): Promise<readonly ConditionalTurn[]> {
  const json = await readJson(
    path,
    (why, cause) =>
      new LonghaulError("simulator-script-invalid", `Invalid script ${path}: ${why}.`, {
        remedy:
          "Pass a JSON file that contains a list of turns. Each turn is a string, or an object with blocks.",
        facts: { path },
        cause,
      }),
  );
  return parseScript(json);
}

async function readJson(
  path: string,
  invalid: (why: string, cause: unknown) => LonghaulError,
): Promise<unknown> {
  const text = await readRegularFile(path).catch((error: unknown) => {
    throw invalid(`longhaul cannot read the file (${(error as Error).message})`, error);
  });
  try {
    // Some editors on Windows write a byte order mark.
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw invalid("it is not valid JSON", error);
  }
}
