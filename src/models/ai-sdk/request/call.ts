import type { JsonRecord } from "../../../conversation/untrusted.ts";
import { field } from "../../../conversation/untrusted.ts";
import type { ModelRequest, RequestChange } from "../../port.ts";
import { ChangeLog } from "../changes.ts";
import type { Dialect } from "../dialect.ts";
import { mergeOptions } from "../provider-options.ts";
import { type AiSdk, isVersionSeven } from "../sdk.ts";
import { promptMessages } from "./messages.ts";
import { providerOptionsOf } from "./options.ts";
import type { Mapping } from "./prompt.ts";
import { systemMessages } from "./system.ts";
import { thinkingBudget } from "./thinking-options.ts";
import { toolChoiceOf, toolSet } from "./tools.ts";

export interface MappedCall {
  /** Options of `streamText`, without the model and the signal. */
  readonly options: JsonRecord;
  readonly changes: readonly RequestChange[];
}

export interface CallSettings {
  readonly images: boolean;
  /** The user's own options of the provider; they win. */
  readonly providerOptions?: JsonRecord;
}

/** A request in the canonical form as one call of the AI SDK. The request is only read. */
export function mapCall(
  request: ModelRequest,
  dialect: Dialect,
  sdk: AiSdk,
  settings: CallSettings,
): MappedCall {
  const changes = new ChangeLog();
  const mapping: Mapping = {
    dialect,
    changes,
    images: settings.images,
    isVersionSeven: isVersionSeven(sdk),
  };
  const system = systemMessages(request.system, mapping);
  const tools = toolSet(request.tools, (schema) => sdk.jsonSchema(schema), mapping);
  const providerOptions = mergeOptions(providerOptionsOf(request, mapping), settings.providerOptions);
  const options = {
    ...(system.length === 0 ? {} : { [mapping.isVersionSeven ? "instructions" : "system"]: system }),
    messages: promptMessages(request.messages, system.length > 0, mapping),
    // Ours come from the conversation itself; without this the SDK warns or refuses.
    allowSystemInMessages: true,
    ...(tools === undefined ? {} : { tools }),
    ...(request.tool_choice === undefined ? {} : { toolChoice: toolChoiceOf(request.tool_choice) }),
    ...limits(request, dialect),
    ...(providerOptions === undefined ? {} : { providerOptions }),
  };
  return { options, changes: changes.list() };
}

const SAMPLING: Readonly<Record<string, string>> = {
  temperature: "temperature",
  top_p: "topP",
  top_k: "topK",
};

function limits(request: ModelRequest, { flavour }: Dialect): JsonRecord {
  const limits: Record<string, unknown> = {};
  if (request.max_tokens !== undefined) {
    const inside = flavour === "anthropic" ? thinkingBudget(request) : 0;
    limits.maxOutputTokens = Math.max(1, request.max_tokens - inside);
  }
  if (request.stop_sequences !== undefined) limits.stopSequences = [...request.stop_sequences];
  for (const [name, option] of Object.entries(SAMPLING)) {
    const value = field(request, name);
    if (typeof value === "number") limits[option] = value;
  }
  return limits;
}
