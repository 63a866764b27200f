import { field, isRecord, type JsonRecord } from "@longhaul/core/internal/messages";
import type { RequestChange } from "@longhaul/core/models";
import type { Dialect } from "./dialect.ts";

/** Information that every mapping of a request needs. */
export interface Mapping {
  readonly dialect: Dialect;
  readonly changes: ChangeLog;
  readonly images: boolean;
  /** True for version 7 of the SDK. It uses other part names than version 6. */
  readonly isVersionSeven: boolean;
}

/** Collects the parts of a request that this provider does not support, each one once. */
export class ChangeLog {
  readonly #unsupported = new Set<string>();
  readonly #thinking = new Map<string, number>();

  notSupported(what: string): void {
    this.#unsupported.add(what);
  }

  thinkingLeftOut(reason: string): void {
    this.#thinking.set(reason, (this.#thinking.get(reason) ?? 0) + 1);
  }

  list(): readonly RequestChange[] {
    return [
      ...Array.from(
        this.#thinking,
        ([reason, blocks]) => ({ type: "thinking-left-out", blocks, reason }) as const,
      ),
      ...Array.from(this.#unsupported, (what) => ({ type: "not-supported", what }) as const),
    ];
  }
}

/**
 * Converts a prompt-cache mark into an option of Anthropic's provider. Other providers have no marks and
 * cache automatically.
 */
export function markOptions(block: unknown, { dialect, changes }: Mapping): JsonRecord | undefined {
  const mark = field(block, "cache_control");
  if (!isRecord(mark)) return undefined;
  if (dialect.flavor === "anthropic") return { anthropic: { cacheControl: mark } };
  changes.notSupported("cache_control");
  return undefined;
}

/** Merges options by namespace. Later fields override earlier ones. */
export function mergeOptions(...all: readonly (JsonRecord | undefined)[]): JsonRecord | undefined {
  const merged: Record<string, JsonRecord> = {};
  for (const options of all) {
    for (const [namespace, fields] of Object.entries(options ?? {})) {
      merged[namespace] = { ...merged[namespace], ...(isRecord(fields) ? fields : {}) };
    }
  }
  return Object.keys(merged).length > 0 ? merged : undefined;
}

export const withOptions = (options: JsonRecord | undefined): { readonly providerOptions?: JsonRecord } =>
  options === undefined ? {} : { providerOptions: options };
