import { field, isRecord, type JsonRecord } from "@longhaul/core/internal/messages";
import type { RequestChange } from "@longhaul/core/models";
import type { Dialect } from "./dialect.ts";

/** Knowledge that every mapping of a request needs. */
export interface Mapping {
  readonly dialect: Dialect;
  readonly changes: ChangeLog;
  readonly images: boolean;
  /** The names of parts differ between versions 6 and 7. */
  readonly isVersionSeven: boolean;
}

/** Collects what a request could not say to this provider; each thing is named once. */
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

/** A prompt-cache mark as an option of Anthropic's; other providers have none and cache by themselves. */
export function markOptions(block: unknown, { dialect, changes }: Mapping): JsonRecord | undefined {
  const mark = field(block, "cache_control");
  if (!isRecord(mark)) return undefined;
  if (dialect.flavour === "anthropic") return { anthropic: { cacheControl: mark } };
  changes.notSupported("cache_control");
  return undefined;
}

/** Options of several origins in one: by namespace, the later ones winning field by field. */
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
