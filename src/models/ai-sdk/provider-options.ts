import { isRecord, type JsonRecord } from "../../conversation/untrusted.ts";

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
