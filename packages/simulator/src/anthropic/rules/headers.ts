import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { ApiVersion } from "@longhaul/core/internal/messages";
import type { ClientMarks } from "../../exchange.ts";
import type { Switches } from "../request.ts";
import { KNOWN_BETAS } from "../wording/betas.ts";
import { refuse } from "../wording/refuse.ts";

export interface HeaderOptions {
  /** Accepted API keys. If undefined, any key is accepted, but a request must have a key. */
  readonly apiKeys?: readonly string[];
  readonly unknownBetas: Switches["unknownBetas"];
}

export interface RequestHeaders {
  readonly version: ApiVersion;
  readonly betas: ReadonlySet<string>;
  /** Names in `betas` that no known SDK or client sends. */
  readonly unknownBetas: readonly string[];
  /** Workspace of the API key. Each key has its own workspace, so that two keys never share a cache. */
  readonly workspace: string;
  readonly client: ClientMarks;
}

const VERSIONS: readonly ApiVersion[] = ["2023-06-01", "2026-10-21"];
const JSON_TYPE = "application/json";
const WORKSPACE_DIGITS = 24;

/** Reads the headers. Checks in this order: the key, the version, the content type, the betas. */
export function readHeaders(headers: IncomingHttpHeaders, options: HeaderOptions): RequestHeaders {
  const key = readKey(headers, options.apiKeys);
  const version = readVersion(headers);
  checkContentType(headers);
  const betas = readBetas(headers);
  const unknownBetas = [...betas].filter((beta) => !KNOWN_BETAS.has(beta));
  if (unknownBetas.length > 0 && options.unknownBetas === "refused") {
    refuse("betaUnknown", { values: unknownBetas.map((beta) => `\`${beta}\``).join(", ") });
  }
  return { version, betas, unknownBetas, workspace: workspaceOf(key), client: readMarks(headers) };
}

function readKey(headers: IncomingHttpHeaders, allowed: readonly string[] | undefined): string {
  const key = headerText(headers, "x-api-key") || bearerToken(headers);
  if (key === "") return refuse("keyMissing");
  if (allowed !== undefined && !allowed.includes(key)) return refuse("keyInvalid");
  return key;
}

function bearerToken(headers: IncomingHttpHeaders): string {
  return /^bearer +(.*)$/i.exec(headerText(headers, "authorization"))?.[1]?.trim() ?? "";
}

function readVersion(headers: IncomingHttpHeaders): ApiVersion {
  const given = headerText(headers, "anthropic-version");
  if (given === "") return refuse("versionMissing");
  return VERSIONS.find((version) => version === given) ?? refuse("versionUnknown", { version: given });
}

/** Checks the content type. A call without a body needs no content type. */
function checkContentType(headers: IncomingHttpHeaders): void {
  const hasBody =
    headers["transfer-encoding"] !== undefined || Number(headerText(headers, "content-length")) > 0;
  if (!hasBody) return;
  const [type = ""] = headerText(headers, "content-type").split(";");
  if (type.trim().toLowerCase() !== JSON_TYPE) refuse("contentType");
}

function readBetas(headers: IncomingHttpHeaders): ReadonlySet<string> {
  const values = headerText(headers, "anthropic-beta").split(",");
  return new Set(values.map((value) => value.trim()).filter((value) => value !== ""));
}

function readMarks(headers: IncomingHttpHeaders): ClientMarks {
  const sessionId = headerText(headers, "x-claude-code-session-id");
  const agentId = headerText(headers, "x-claude-code-agent-id");
  return { ...(sessionId !== "" && { sessionId }), ...(agentId !== "" && { agentId }) };
}

/** Joins a repeated header into one list. */
function headerText(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name];
  return (Array.isArray(value) ? value.join(",") : (value ?? "")).trim();
}

function workspaceOf(key: string): string {
  return `wrkspc_${createHash("sha256").update(key).digest("hex").slice(0, WORKSPACE_DIGITS)}`;
}
