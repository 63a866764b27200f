export { type AiSdkModelOptions, aiSdkModel } from "./ai-sdk-model.ts";
export type { AiSdk, AiSdkLanguageModel } from "./sdk.ts";
