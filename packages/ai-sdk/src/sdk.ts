import { isMissingPackage, loadingProblem } from "@longhaul/core/internal/models";
import { ModelError } from "@longhaul/core/models";

/** A language model object of the AI SDK, of whichever version: what we read of it. */
export interface AiSdkLanguageModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
}

/**
 * The `ai` module, as far as it is used. Methods, so that the real, much narrower signatures fit: the
 * published types must not need the package.
 */
export interface AiSdk {
  streamText(options: object): AiSdkStream;
  jsonSchema(schema: object): unknown;
}

/** Version 7 calls the stream `stream`, and keeps the old name for a while. */
export interface AiSdkStream {
  readonly stream?: AsyncIterable<unknown>;
  readonly fullStream?: AsyncIterable<unknown>;
}

const PACKAGE = "ai";

/** Loads the user's own `ai`, when it is first needed: importing longhaul loads no SDK. */
export async function loadAiSdk(load: () => Promise<unknown> = () => import("ai")): Promise<AiSdk> {
  try {
    return (await load()) as AiSdk;
  } catch (cause) {
    const [message, remedy] = isMissingPackage(cause, PACKAGE)
      ? [
          "aiSdkModel needs the package `ai` (the AI SDK), which is not installed.",
          "Install it in your project: npm install ai (on Node 20: npm install ai@6). Or pass the module as `sdk`.",
        ]
      : [
          `The AI SDK (the package \`ai\`) cannot be loaded: ${loadingProblem(cause)}`,
          "Install a version that your Node can run: npm install ai@7 (on Node 20: npm install ai@6). Or pass the module as `sdk`.",
        ];
    throw new ModelError({ kind: "sdk-missing", package: PACKAGE }, message, { remedy, cause });
  }
}

/** Version 7 renamed this helper; nothing else tells the versions apart as surely. */
export const isVersionSeven = (sdk: AiSdk): boolean => "isStepCount" in sdk;
