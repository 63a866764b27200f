import { claudeFeatures, findModel } from "@longhaul/core/measure";
import { ApiRefusal } from "../../exchange.ts";
import type { SimulatedModel, SimulatedRequest, Switches } from "../request.ts";
import { KNOWN_BETAS } from "../wording/betas.ts";
import { validate } from "./validate.ts";

export const SWITCHES: Switches = {
  consecutiveRoles: "merged",
  requireTools: false,
  enforceBinding: true,
  foreignSignatures: "accepted",
  cacheEdits: false,
  threads: "accepted",
  unknownBetas: "refused",
};

export function modelNamed(id: string): SimulatedModel {
  const { windowTokens, maxOutputTokens, bindsThinking = false } = findModel(id);
  return { id, windowTokens, maxOutputTokens, bindsThinking, features: claudeFeatures(id) };
}

export interface CallFields {
  readonly model?: string;
  readonly version?: SimulatedRequest["version"];
  readonly betas?: readonly string[];
  readonly endpoint?: SimulatedRequest["endpoint"];
  readonly bytes?: number;
  readonly switches?: Partial<Switches>;
}

/**
 * Creates a call with every beta, in the form that the rules get from the server. The body has the required
 * fields and the given fields.
 */
export function callWith(body: object, call: CallFields = {}): SimulatedRequest {
  const { model = "claude-sonnet-4-5", endpoint = "messages", bytes = 0 } = call;
  const needed = endpoint === "messages" ? { model, max_tokens: 2_048 } : { model };
  return {
    endpoint,
    version: call.version ?? "2026-10-21",
    betas: call.betas === undefined ? KNOWN_BETAS : new Set(call.betas),
    body: JSON.parse(JSON.stringify({ ...needed, messages: [{ role: "user", content: "go" }], ...body })),
    bytes,
    model: model.startsWith("claude") ? modelNamed(model) : undefined,
    client: {},
    workspace: "w",
    startedAt: 0,
  };
}

/**
 * Returns the text of the refusal. If the status is not 400, the text includes it. Returns "accepted" for a
 * valid request.
 */
export function refusalOf(body: object, call: CallFields = {}): string {
  try {
    validate(callWith(body, call), { ...SWITCHES, ...call.switches });
  } catch (error) {
    if (!(error instanceof ApiRefusal)) throw error;
    const code = error.details?.error_code;
    return [
      ...(error.status === 400 ? [] : [`${error.status} ${error.type}`]),
      error.message,
      ...(code === undefined ? [] : [`(${String(code)})`]),
    ].join(" ");
  }
  return "accepted";
}

export const user = (content: unknown = "go"): object => ({ role: "user", content });
export const assistant = (content: unknown): object => ({ role: "assistant", content });
export const system = (content: unknown = "rule"): object => ({ role: "system", content });
export const text = (value: string, more: object = {}): object => ({ type: "text", text: value, ...more });
export const use = (id: string): object => ({ type: "tool_use", id, name: "Read", input: {} });
export const result = (id: string, content: unknown = "out"): object => ({
  type: "tool_result",
  tool_use_id: id,
  content,
});
export const thinking: object = { type: "thinking", thinking: "hm", signature: "s" };
export const search: object = { type: "server_tool_use", id: "srvtoolu_X", name: "web_search", input: {} };
export const short: object = { cache_control: { type: "ephemeral" } };
export const long: object = { cache_control: { type: "ephemeral", ttl: "1h" } };
export const image: object = { type: "image", source: { type: "url", url: "https://example.com/a.png" } };
export const compaction = (more: object = {}): object => ({ type: "compaction", content: "so far", ...more });
