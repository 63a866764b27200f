import { isMissingPackage, loadingProblem } from "@longhaul/core/internal/models";
import { ModelError } from "@longhaul/core/models";

/** The part of a language model object that we read. Fits all SDK versions. */
export interface AiSdkLanguageModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
}

/**
 * The part of the `ai` module that we use. Members are methods, so that the real signatures fit, which are
 * much narrower. The published types must not depend on the package.
 */
export interface AiSdk {
  streamText(options: object): AiSdkStream;
  jsonSchema(schema: object): unknown;
}

/** Result of `streamText`. Version 7 names the stream `stream`, and still has the old name too. */
export interface AiSdkStream {
  readonly stream?: AsyncIterable<unknown>;
  readonly fullStream?: AsyncIterable<unknown>;
}

const PACKAGE = "ai";

/**
 * Imports a package that may be absent. The specifier is a parameter on purpose: a bundler resolves a literal
 * one at build time, and the build would fail in a project without the SDK. The comments ask webpack and Vite
 * not to report the unknown specifier.
 */
const importOptional = (specifier: string): Promise<unknown> =>
  import(/* webpackIgnore: true */ /* @vite-ignore */ specifier);

/** Loads the user's `ai` module on first use, so that importing longhaul loads no SDK. */
export async function loadAiSdk(
  load: () => Promise<unknown> = () => importOptional(PACKAGE),
): Promise<AiSdk> {
  try {
    return (await load()) as AiSdk;
  } catch (cause) {
    const [message, remedy] = isMissingPackage(cause, PACKAGE)
      ? [
          "Cannot use the AI SDK: the package `ai` is not installed.",
          "Install it in your project: npm install ai (on Node 20: npm install ai@6). Or pass the module as `sdk`.",
        ]
      : [
          `Cannot use the AI SDK: the package \`ai\` cannot be loaded: ${loadingProblem(cause)}`,
          "Install a version that your Node can run: npm install ai@7 (on Node 20: npm install ai@6). Or pass the module as `sdk`.",
        ];
    throw new ModelError({ kind: "sdk-missing", package: PACKAGE }, message, { remedy, cause });
  }
}

/**
 * Returns true for version 7, which renamed a helper to `isStepCount`. This name is the most reliable
 * difference between the versions.
 */
export const isVersionSeven = (sdk: AiSdk): boolean => "isStepCount" in sdk;
