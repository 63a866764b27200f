import { asStream, evaluateStream, sessionStream, totalOf } from "@longhaul/lab";
import { loadSession } from "@longhaul/sessions";
import { createDemoSession } from "@longhaul/simulator/internal";
import { policies as ours } from "./longhaul.ts";

/** Numbers of compactions in a row. */
export const CHAINS = [1, 10];
/** Model of the generated session. */
const DEMO_MODEL = "claude-sonnet-4-5";

/**
 * Evaluates all policies on each session, once for each number of compactions. Without paths of sessions, uses
 * the generated session.
 */
export async function evaluateAll(paths, createPeers, onProgress) {
  const runs = [];
  for (const compactions of CHAINS) {
    for (const path of paths.length === 0 ? [undefined] : paths) {
      onProgress(`${compactions} compactions, ${path ?? "generated session"}`);
      runs.push(await evaluateOne(path, compactions, createPeers));
    }
  }
  return CHAINS.flatMap((compactions) => rowsOf(runs.filter((run) => run.compactions === compactions)));
}

async function evaluateOne(path, compactions, createPeers) {
  const session = path === undefined ? { id: "generated", model: DEMO_MODEL } : await loadSession(path);
  const policies = [...ours, ...createPeers].map((create) => create(session.model));
  const options = { policies, compactions: [compactions] };
  const stream = path === undefined ? asStream(createDemoSession()) : sessionStream(session);
  const evaluation = await evaluateStream(session, stream, options);
  return { compactions, policies, evaluation };
}

/** Returns a row for each policy: the sum over the sessions. */
function rowsOf(runs) {
  const evaluations = runs.map(({ evaluation }) => withoutUnsendable(evaluation));
  const [total] = totalOf(evaluations);
  return total.policies.map((evaluation, at) => {
    const { name, version, description } = runs[0].policies[at];
    const records = runs.map(({ policies }) => policies[at].record);
    const sum = (countOf) => records.reduce((all, record) => all + countOf(record), 0);
    return {
      ...{ chain: total.compactions, name, version, description, evaluation },
      sessions: runs.length,
      fitting: runs.filter(({ evaluation }) => fits(evaluation, evaluation.chains[0].policies[at])).length,
      stillFull: sum(({ stillFull }) => stillFull),
      problems: mergeCounts(records.map(({ problems }) => problems)),
      failures: [...new Set(records.flatMap(({ failures }) => failures))],
    };
  });
}

const fits = ({ window }, { tokens }) => tokens.last <= window.size;

/** An API refuses a context that exceeds the window. The agent then knows nothing, so all probes are lost. */
function withoutUnsendable(evaluation) {
  const chains = evaluation.chains.map((chain) => ({
    ...chain,
    policies: chain.policies.map((policy) => (fits(evaluation, policy) ? policy : allLost(policy))),
  }));
  return { ...evaluation, chains };
}

/** Moves all probes of each tally to the lost ones, and takes the points of each score. */
function allLost(value) {
  if (Array.isArray(value)) return value;
  if (typeof value !== "object" || value === null) return value;
  if ("inContext" in value) return { ...value, inContext: 0, recoverable: 0, lost: value.total };
  if ("held" in value) return { ...value, held: 0 };
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, allLost(item)]));
}

function mergeCounts(list) {
  const sums = {};
  for (const counts of list) {
    for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
  }
  return sums;
}
