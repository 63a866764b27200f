import type { PolicyReplay, ReplayPolicyName } from "./result.ts";

/** What this library costs beside the others, at what is left of the session. */
export interface Comparison {
  /** The cheapest other policy that keeps as many probes within the window; null where none does. */
  readonly equal: Rival | null;
  /** The other policy that keeps the most probes within the window, be it more than ours or fewer; null where there is none. */
  readonly fullest: Rival | null;
  /** Keeping everything, which takes a larger window; null where it was not replayed. */
  readonly everything: Rival | null;
  /** The cheapest other policy, however little it keeps; null where there is none. */
  readonly cheapest: Rival | null;
}

export interface Rival {
  readonly policy: ReplayPolicyName;
  /** Cost of `longhaul` relative to it. */
  readonly ratio: number;
  readonly probesKept: number;
}

const OURS: ReadonlySet<ReplayPolicyName> = new Set(["longhaul", "longhaul-built-in"]);

/** Null where there is nothing to compare, or nothing to compare with. */
export function compare(policies: readonly PolicyReplay[]): Comparison | null {
  const ours = policies.find(({ policy }) => policy === "longhaul");
  const others = policies.filter(({ policy }) => !OURS.has(policy));
  if (ours === undefined || others.length === 0) return null;
  const rival = ({ policy, cost, probesKept }: PolicyReplay): Rival => ({
    policy,
    ratio: cost.total === 0 ? 1 : ours.cost.total / cost.total,
    probesKept,
  });
  const cheapestOf = (some: readonly PolicyReplay[]): Rival | null => {
    const [first] = some.toSorted((one, other) => one.cost.total - other.cost.total);
    return first === undefined ? null : rival(first);
  };
  const inWindow = others.filter(({ policy }) => policy !== "everything");
  // A call that is refused is not paid, and the agent would have stopped there: that is no way to be cheap.
  const fitting = inWindow.filter(({ refusedCalls }) => refusedCalls <= ours.refusedCalls);
  const most = Math.max(...fitting.map(({ probesKept }) => probesKept));
  return {
    equal: cheapestOf(fitting.filter(({ probesKept }) => probesKept >= ours.probesKept)),
    fullest: cheapestOf(fitting.filter(({ probesKept }) => probesKept === most)),
    everything: cheapestOf(others.filter(({ policy }) => policy === "everything")),
    cheapest: cheapestOf(inWindow),
  };
}
