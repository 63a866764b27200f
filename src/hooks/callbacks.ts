import { asList, isRecord } from "../conversation/untrusted.ts";
import type { HookEvent, HookInput } from "./hook.ts";
import { MATCHES_ALL, type Matcher, readMatcher } from "./matcher.ts";
import { readTimeout } from "./settings.ts";

export interface HookCallOptions {
  readonly signal: AbortSignal;
}

/**
 * A hook as the Agent SDK types it. It gives back an answer (`{decision: "block", reason}`, …), words, or
 * nothing. There is no tool here, so the id of its use is always undefined.
 */
export type HookCallback = (
  input: HookInput,
  toolUseId: undefined,
  options: HookCallOptions,
) => unknown | Promise<unknown>;

/** The same for those who come from nowhere: called on every occasion of its event. */
export type HookFunction = (input: HookInput, options: HookCallOptions) => unknown | Promise<unknown>;

export interface CallbackGroup {
  readonly matcher?: string | undefined;
  readonly hooks: readonly HookCallback[];
  /** In seconds. */
  readonly timeout?: number | undefined;
}

export type HookCallbacks = Readonly<
  Partial<Record<HookEvent, readonly (CallbackGroup | HookFunction)[] | undefined>>
>;

export interface InProcessHook {
  readonly kind: "callback" | "function";
  readonly matcher: Matcher;
  /** What makes it the same hook as another. */
  readonly identity: unknown;
  readonly name: string;
  readonly timeoutMs: number | undefined;
  readonly call: (input: HookInput, options: HookCallOptions) => unknown;
}

export function readCallbacks(
  event: HookEvent,
  raw: unknown,
  warn: (warning: string) => void,
): readonly InProcessHook[] {
  const ignore = (reason: string): void => warn(`A callback for ${event} is ignored: ${reason}.`);
  return asList(raw).flatMap((item): readonly InProcessHook[] => {
    if (isFunction(item)) return [hookOf(item, "function", MATCHES_ALL, undefined)];
    const matcher = readMatcher(isRecord(item) ? item.matcher : undefined, ignore);
    if (!isRecord(item) || matcher === undefined) return [];
    const timeoutMs = readTimeout(item.timeout, ignore);
    return asList(item.hooks)
      .filter(isFunction)
      .map((callback) => hookOf(callback, "callback", matcher, timeoutMs));
  });
}

type AnyFunction = (...values: readonly unknown[]) => unknown;

const isFunction = (value: unknown): value is AnyFunction => typeof value === "function";

function hookOf(
  callback: AnyFunction,
  kind: InProcessHook["kind"],
  matcher: Matcher,
  timeoutMs: number | undefined,
): InProcessHook {
  return {
    kind,
    matcher,
    identity: callback,
    name: String(callback.name) || kind,
    timeoutMs,
    call: (input, options) =>
      kind === "callback" ? callback(input, undefined, options) : callback(input, options),
  };
}
