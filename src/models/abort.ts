import { ModelError } from "./model-error.ts";

export const abortedError = (): ModelError => new ModelError({ kind: "aborted" }, "The call was aborted.");

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortedError();
}
