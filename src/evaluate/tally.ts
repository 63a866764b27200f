import { PROBE_KINDS, type Probe, type ProbeKind } from "./probes/probe.ts";
import type { MissingProbe, PolicyEvaluation, Tally } from "./result.ts";

/** Where the probes are: in the context, unless they are among the missing. */
export function tallyProbes(
  probes: readonly Probe[],
  missing: readonly MissingProbe[],
): Pick<PolicyEvaluation, "probes" | "activeDirectives" | "kinds" | "missing"> {
  const tally = (isMeant: (probe: Probe) => boolean): Tally => {
    const total = probes.filter(isMeant).length;
    const out = missing.filter(isMeant);
    const lost = out.filter(({ fate }) => fate === "lost").length;
    return { total, inContext: total - out.length, recoverable: out.length - lost, lost };
  };
  const byKind = PROBE_KINDS.map((kind) => [kind, tally((probe) => probe.kind === kind)] as const);
  return {
    probes: tally(() => true),
    activeDirectives: tally(({ isActive }) => isActive === true),
    kinds: Object.fromEntries(byKind) as Record<ProbeKind, Tally>,
    missing,
  };
}
