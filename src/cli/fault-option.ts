import { InvalidArgumentError } from "commander";
import type { Fault } from "../testing/simulator/server/faults.ts";

/** `--fault 529:0.05`: what, and how often. */
export interface FaultOption {
  readonly fault: Fault;
  /** Undefined strikes every request. */
  readonly probability: number | undefined;
}

const STATUSES = [401, 403, 413, 429, 500, 504, 529] as const;
/** Long enough to be felt by a person who watches. */
const SLOW: Fault = { kind: "slow", firstByteMs: 3_000, betweenEventsMs: 300 };
/** In the middle of most answers. */
const CUT: Fault = { kind: "cut", afterBytes: 1_000 };

const FAULTS: ReadonlyMap<string, Fault> = new Map<string, Fault>([
  ...STATUSES.map((status): [string, Fault] => [String(status), { kind: "status", status }]),
  ["overload", { kind: "overload-in-stream" }],
  ["cut", CUT],
  ["silence", { kind: "silence" }],
  ["slow", SLOW],
  ["malformed", { kind: "malformed-stream" }],
]);

export const FAULT_NAMES: string = [...FAULTS.keys()].join(", ");

/** Collects: the option may be given several times. */
export function parseFault(text: string, before: readonly FaultOption[] = []): readonly FaultOption[] {
  const [name = "", share, ...rest] = text.split(":");
  const fault = FAULTS.get(name);
  if (fault === undefined) {
    throw new InvalidArgumentError(`It must be one of ${FAULT_NAMES}, with a share if wanted: 529:0.05.`);
  }
  const probability = share === undefined ? undefined : Number(share);
  const isShare = probability === undefined || (share !== "" && probability > 0 && probability <= 1);
  if (!isShare || rest.length > 0)
    throw new InvalidArgumentError("The share must be above 0 and at most 1: 529:0.05.");
  return [...before, { fault, probability }];
}
