// Columns of the evaluation. Only this file knows the shape of its result.

export const evaluationHead = [
  "compactions",
  "in context",
  "recoverable",
  "lost",
  "false",
  "summary",
  "+ facts",
  "all",
  "tokens",
  "cost",
];

/** Returns the cells of a policy's evaluation, in the order of the head. */
export function evaluationCells(evaluation) {
  const { compactions, probes, scores, tokens, cost } = evaluation;
  const percent = (count) => (probes.total === 0 ? "—" : `${((100 * count) / probes.total).toFixed(1)}%`);
  return [
    String(compactions),
    percent(probes.inContext),
    percent(probes.recoverable),
    percent(probes.lost),
    String(scores.withFacts.false),
    scoreCell(scores.summary),
    scoreCell(scores.withFacts),
    scoreCell(scores.context),
    tokens.mean.toLocaleString("en"),
    `$${cost.total.toFixed(2)}`,
  ];
}

/** A score: answers minus false statements, as a share of the asked probes. "—" if there is no such text. */
const scoreCell = ({ held, false: lies, asked }) => (asked === 0 ? "—" : ((held - lies) / asked).toFixed(2));
