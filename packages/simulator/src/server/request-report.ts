import type { JsonRecord } from "@longhaul/core/internal/messages";
import type { LoggedRequest } from "./request-log.ts";

/** Describes a request as JSON, without its body and without headers. */
export function requestReport(request: LoggedRequest): JsonRecord {
  return {
    index: request.index,
    requestId: request.requestId,
    provider: request.provider,
    method: request.method,
    path: request.path,
    endpoint: request.endpoint,
    status: request.status ?? null,
    outcome: request.outcome,
    version: request.version ?? null,
    betas: request.betas,
    unknownBetas: request.unknownBetas,
    purpose: request.purpose ?? null,
    model: request.model ?? null,
    stream: request.isStream,
    bytes: request.bytes,
    inputTokens: request.inputTokens ?? null,
    usage: request.usage ?? null,
    costDollars: request.costDollars ?? null,
    stopReason: request.stopReason ?? null,
    appliedEdits: request.appliedEdits,
    fault: request.fault ?? null,
    error: request.error ?? null,
    findings: request.findings ?? [],
    durationMs: Math.round(request.durationMs * 10) / 10,
  };
}
