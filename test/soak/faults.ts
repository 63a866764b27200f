import type { TranscriptPort } from "@longhaul/core";
import type { TranscriptWriter } from "@longhaul/sessions";
import type { Fault } from "@longhaul/simulator";
import { FAULT_STATUSES } from "../../packages/simulator/src/anthropic/answer/status-faults.ts";
import type { Chance } from "./chance.ts";
import type { World } from "./world.ts";

type FaultOf<Kind extends Fault["kind"]> = Extract<Fault, { readonly kind: Kind }>;
type Draw<Result> = (chance: Chance, windowTokens: number) => Result;

/** Draws a fault of each type. The compiler requires an entry for each new type of the simulator. */
const FAULTS: { readonly [Kind in Fault["kind"]]: Draw<FaultOf<Kind>> } = {
  status: (chance, windowTokens) =>
    chance.is(0.25) ? tooLong(chance, windowTokens) : statusFault(chance.pick(FAULT_STATUSES), chance),
  "overload-in-stream": (chance) => ({ kind: "overload-in-stream", afterEvents: chance.between(0, 8) }),
  cut: (chance) => ({ kind: "cut", afterBytes: chance.pick([0, 1, 300, 900, 4_000]) }),
  silence: () => ({ kind: "silence" }),
  slow: (chance) => ({
    kind: "slow",
    firstByteMs: chance.pick([0, 5_000, 59_000, 90_000]),
    betweenEventsMs: chance.pick([10, 1_000, 20_000]),
  }),
  "malformed-stream": (chance) => ({ kind: "malformed-stream", afterEvents: chance.between(0, 8) }),
};

const KINDS = Object.keys(FAULTS) as Fault["kind"][];

export function drawFault(chance: Chance, windowTokens: number): Fault {
  return FAULTS[chance.pick(KINDS)](chance, windowTokens);
}

/** Creates the API's error message, with a plausible figure. The stated window is the real one. */
function tooLong(chance: Chance, windowTokens: number): FaultOf<"status"> {
  const tokens = Math.round((windowTokens * chance.between(101, 140)) / 100);
  return {
    kind: "status",
    status: 400,
    type: "invalid_request_error",
    message: `prompt is too long: ${tokens} tokens > ${windowTokens} maximum`,
  };
}

function statusFault(status: number, chance: Chance): FaultOf<"status"> {
  if (status !== 429) return { kind: "status", status };
  return chance.is(0.2)
    ? { kind: "status", status, spendLimit: true }
    : { kind: "status", status, retryAfter: chance.pick([null, 0, 7, 200]) };
}

/** The usage figures that reach `after`. A proxy or another provider may have distorted them. */
export interface Usage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_creation_input_tokens?: number | null;
  readonly cache_read_input_tokens?: number | null;
}

const scaled = (usage: Usage, factor: number): Usage => ({
  ...usage,
  input_tokens: Math.round(usage.input_tokens * factor),
  cache_creation_input_tokens: Math.round((usage.cache_creation_input_tokens ?? 0) * factor),
  cache_read_input_tokens: Math.round((usage.cache_read_input_tokens ?? 0) * factor),
});

/**
 * Ways in which a usage report can be wrong. The key is a name, the value turns a correct report into a wrong
 * one.
 */
export const WRONG_USAGE: Readonly<Record<string, (usage: Usage) => Usage | null | undefined>> = {
  missing: () => undefined,
  null: () => null,
  zero: (usage) => scaled(usage, 0),
  low: (usage) => scaled(usage, 0.1),
  half: (usage) => scaled(usage, 0.5),
  double: (usage) => scaled(usage, 2),
  high: (usage) => scaled(usage, 12),
  negative: (usage) => scaled(usage, -1),
  "not a number": (usage) => scaled(usage, Number.NaN),
  "without the cache": ({ input_tokens, output_tokens }) => ({ input_tokens, output_tokens }),
};

export const WRONG_USAGE_KINDS: readonly string[] = Object.keys(WRONG_USAGE);

/** Share of the accesses to the session file that fail. The next number is the share that hang. */
const FAILURES = 0.25;
const HANGS = 0.08;

/**
 * Creates a port to the session file. Depending on the setup, the port works, fails at times, or hangs at
 * times.
 */
export function faultyPort(world: World, path: string, writer: () => TranscriptWriter): TranscriptPort {
  const { time, chance, setup } = world;
  const through = async <T>(work: () => Promise<T>): Promise<T> => {
    if (setup.transcript === "fails at times" && chance.is(FAILURES)) {
      throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
    }
    if (setup.transcript === "hangs at times" && chance.is(HANGS)) {
      return await new Promise<never>(() => undefined);
    }
    return await time.hold(work);
  };
  return {
    path,
    append: (entries) => through(() => writer().append(entries)),
    read: (uuids) => through(() => writer().read(uuids)),
    stepBack: (choice) => through(() => writer().stepBack(choice)),
  };
}
