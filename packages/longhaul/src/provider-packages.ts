import type { AiSdk } from "@longhaul/ai-sdk";
import { field, stringField } from "@longhaul/core/internal/messages";
import { isMissingPackage, loadingProblem } from "@longhaul/core/internal/models";
import { ModelError } from "@longhaul/core/models";
import { installedManifest, installRemedy, type RunningProgram } from "./install-command.ts";

/**
 * The key is the name of an AI SDK provider, which the user writes before a colon. The value is the major
 * version of the provider's package for `ai` 6. The next major version is for `ai` 7.
 */
const MAJOR_FOR_AI_6: Readonly<Record<string, number>> = {
  "amazon-bedrock": 4,
  anthropic: 3,
  azure: 3,
  cerebras: 2,
  cohere: 3,
  deepinfra: 2,
  deepseek: 2,
  fireworks: 2,
  google: 3,
  "google-vertex": 4,
  groq: 3,
  mistral: 3,
  openai: 3,
  "openai-compatible": 2,
  perplexity: 3,
  togetherai: 2,
  xai: 3,
};

export const AI_SDK_PROVIDERS: readonly string[] = Object.keys(MAJOR_FOR_AI_6);

const AI = "ai";

/** Major versions of `ai` that longhaul works with: the peer range of its manifest. */
const OLDEST_AI = 6;
const NEWEST_AI = 7;

/** Major version of Node that the newest `ai` and its providers need. */
const NODE_FOR_NEWEST_AI = 22;

/**
 * `ai` 6 runs providers that depend on `@ai-sdk/provider` 3 or older. `ai` 7 runs providers that depend on
 * version 4 or older.
 */
const AI_MINUS_PROVIDER_BASE = 3;

export interface ProviderModules {
  readonly sdk: AiSdk;
  /** The exports of the provider's package. */
  readonly provider: object;
}

/** Loads a package by its name. Tests replace it. */
export type ImportPackage = (name: string) => Promise<unknown>;

const importPackage: ImportPackage = (name) => import(name);

/**
 * Loads `ai` and the package of a provider. Checks both packages before it loads one, so that one message can
 * name everything to install.
 */
export async function loadProvider(
  provider: string,
  program: RunningProgram,
  load: ImportPackage = importPackage,
): Promise<ProviderModules> {
  const packageName = packageOf(provider);
  const problem = providerProblem(provider, program);
  if (problem !== undefined) throw problem;
  const loadOne = (name: string): Promise<unknown> =>
    load(name).catch((cause: unknown) => {
      throw providerProblem(provider, program, { name, cause }) ?? cause;
    });
  const [sdk, exported] = [await loadOne(AI), await loadOne(packageName)];
  return { sdk: sdk as AiSdk, provider: exported as object };
}

/** Creates the error for an installed provider package that is unusable. */
export const unusableProvider = (provider: string, cause: unknown, program: RunningProgram): unknown =>
  providerProblem(provider, program, { name: packageOf(provider), cause });

const packageOf = (provider: string): string => `@ai-sdk/${provider}`;

interface FailedLoad {
  readonly name: string;
  readonly cause: unknown;
}

interface Installed {
  readonly name: string;
  readonly manifest: unknown;
}

/**
 * Returns the error that names everything to install. Undefined if both packages exist in compatible
 * versions.
 */
function providerProblem(
  provider: string,
  program: RunningProgram,
  failed?: FailedLoad,
): ModelError | undefined {
  const newestHere = majorOf(program.nodeVersion) >= NODE_FOR_NEWEST_AI ? NEWEST_AI : OLDEST_AI;
  const ai: Installed = { name: AI, manifest: installedManifest(AI, program) };
  const own: Installed = {
    name: packageOf(provider),
    manifest: installedManifest(packageOf(provider), program),
  };

  const aiProblem = whyNotLoaded(ai, program, failed) ?? whyUnsupported(ai);
  const aiMajor = aiProblem === undefined ? majorOf(versionOf(ai)) : newestHere;
  const ownProblem = whyNotLoaded(own, program, failed) ?? whyTooNew(own, aiMajor);
  if (aiProblem === undefined && ownProblem === undefined) return undefined;

  const ownMajor = (MAJOR_FOR_AI_6[provider] ?? 0) + Math.min(aiMajor, newestHere) - OLDEST_AI;
  const wrong = [
    ...(aiProblem === undefined ? [] : [{ ...ai, problem: aiProblem, wanted: `${AI}@${newestHere}` }]),
    ...(ownProblem === undefined ? [] : [{ ...own, problem: ownProblem, wanted: `${own.name}@${ownMajor}` }]),
  ];
  const absent = wrong.filter(({ problem }) => problem === ABSENT).map(({ name }) => name);
  const others = wrong.filter(({ problem }) => problem !== ABSENT).map(({ problem }) => problem);
  const problems = [...(absent.length === 0 ? [] : [notInstalled(absent)]), ...others].join(" ");
  const remedy = installRemedy(
    wrong.map(({ wanted }) => wanted),
    program,
  );
  const missing = failed?.name ?? wrong[0]?.name ?? AI;
  return new ModelError(
    { kind: "sdk-missing", package: missing },
    `Cannot use models of ${provider}: ${problems}`,
    { remedy, ...(failed === undefined ? {} : { cause: failed.cause }) },
  );
}

const ABSENT = "absent";

const notInstalled = (names: readonly string[]): string =>
  names.length === 1
    ? `the package ${names[0]} is not installed.`
    : `the packages ${names.join(" and ")} are not installed.`;

function whyNotLoaded(
  { name, manifest }: Installed,
  { nodeVersion }: RunningProgram,
  failed: FailedLoad | undefined,
): string | undefined {
  if (failed?.name !== name) return manifest === undefined ? ABSENT : undefined;
  if (isMissingPackage(failed.cause, name)) return ABSENT;
  // An SDK that requires a newer Node often runs on an older Node too. So the requirement counts only if
  // loading has failed.
  const neededNode = majorOf(stringField(field(manifest, "engines"), "node") ?? "");
  return neededNode > majorOf(nodeVersion)
    ? `${name} ${versionOf({ name, manifest })} needs Node ${neededNode} or newer, and this is Node ${nodeVersion}.`
    : `${name} cannot be loaded: ${loadingProblem(failed.cause)}`;
}

function whyUnsupported(ai: Installed): string | undefined {
  const major = majorOf(versionOf(ai));
  if (major >= OLDEST_AI && major <= NEWEST_AI) return undefined;
  return `longhaul works with ${AI} ${OLDEST_AI} and ${NEWEST_AI}, but version ${versionOf(ai)} is installed.`;
}

/**
 * Returns the reason if a provider is too new for `ai`. A provider that is older than `ai` works, because
 * `ai` adapts it.
 */
function whyTooNew(own: Installed, aiMajor: number): string | undefined {
  const base = stringField(field(own.manifest, "dependencies"), "@ai-sdk/provider") ?? "";
  if (majorOf(base) + AI_MINUS_PROVIDER_BASE <= aiMajor) return undefined;
  return `${own.name} ${versionOf(own)} does not work with ${AI} ${aiMajor}.`;
}

const versionOf = ({ manifest }: Installed): string => stringField(manifest, "version") ?? "0";

/** Returns the first number of a version or of a range such as `>=22`. Zero if there is none. */
const majorOf = (version: string): number => Number(/\d+/.exec(version)?.[0] ?? 0);
