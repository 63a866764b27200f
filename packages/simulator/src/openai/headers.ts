import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { COMPACT_SUBAGENT } from "./answer/call.ts";
import { refuse } from "./wording/refuse.ts";

/** Facts that the headers of a call name. */
export interface OpenAiHeaders {
  /** Project of the key. Each key has its own project, so that two keys never share a cache. */
  readonly workspace: string;
  readonly subagent: string | undefined;
}

const PROJECT_DIGITS = 24;
/** Characters at both ends of a wrong key that the error text shows. */
const SHOWN_KEY_START = 8;
const SHOWN_KEY_END = 4;

/** Reads the headers. Refuses a call without a key, or with a key that the simulator does not accept. */
export function readOpenAiHeaders(
  headers: IncomingHttpHeaders,
  allowed: readonly string[] | undefined,
): OpenAiHeaders {
  const key = bearerToken(headers);
  if (key === "") refuse("keyMissing");
  if (allowed !== undefined && !allowed.includes(key)) refuse("keyInvalid", null, { key: maskedKey(key) });
  checkContentType(headers);
  const named = [key, headerText(headers, "openai-organization"), headerText(headers, "openai-project")];
  const subagent = headerText(headers, "x-openai-subagent");
  return {
    workspace: projectOf(named.join("\0")),
    subagent: asksForSummary(headers) ? COMPACT_SUBAGENT : subagent === "" ? undefined : subagent,
  };
}

/** True for a call in which codex summarizes the conversation itself. It describes each call in a header. */
const asksForSummary = (headers: IncomingHttpHeaders): boolean =>
  /"request_kind" *: *"compaction"/.test(headerText(headers, "x-codex-turn-metadata"));

const JSON_TYPE = "application/json";

/** Checks the type of a body. A missing type is accepted, because no source says that it is refused. */
function checkContentType(headers: IncomingHttpHeaders): void {
  const given = headerText(headers, "content-type");
  const [type = ""] = given.split(";");
  if (given === "" || type.trim().toLowerCase() === JSON_TYPE) return;
  refuse("contentType", null, { type: given });
}

/** True if the headers belong to a client of OpenAI: a bearer token, and no header of Anthropic. */
export const isForOpenAi = (headers: IncomingHttpHeaders): boolean =>
  headers.authorization !== undefined &&
  headers["x-api-key"] === undefined &&
  headers["anthropic-version"] === undefined;

const bearerToken = (headers: IncomingHttpHeaders): string =>
  /^bearer +(.*)$/i.exec(headerText(headers, "authorization"))?.[1]?.trim() ?? "";

/** Masks a key like the API does. */
function maskedKey(key: string): string {
  if (key.length <= SHOWN_KEY_START + SHOWN_KEY_END) return "*".repeat(key.length);
  const hidden = "*".repeat(key.length - SHOWN_KEY_START - SHOWN_KEY_END);
  return `${key.slice(0, SHOWN_KEY_START)}${hidden}${key.slice(-SHOWN_KEY_END)}`;
}

function headerText(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name];
  return (Array.isArray(value) ? value.join(",") : (value ?? "")).trim();
}

const projectOf = (key: string): string =>
  `proj_${createHash("sha256").update(key).digest("hex").slice(0, PROJECT_DIGITS)}`;
