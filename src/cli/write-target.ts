import type { WriteTarget } from "../host/write-lines.ts";

export interface TargetChoice {
  readonly dryRun?: boolean;
  readonly inPlace?: boolean;
  readonly out?: string;
}

/** Undefined where nothing is to be written. */
export function targetOf({ dryRun, inPlace, out }: TargetChoice): WriteTarget | undefined {
  if (dryRun) return undefined;
  if (inPlace) return { mode: "in-place" };
  return out === undefined ? undefined : { mode: "new-session", path: out };
}
