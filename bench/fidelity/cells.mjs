// Columns of the evaluation. Only this file knows the shape of its result.

export const evaluationHead = [
  "compactions",
  "in context",
  "recoverable",
  "lost",
  "false",
  "score",
  "tokens",
  "cost",
];

/** Returns the cells of a policy's evaluation, in the order of the head. */
export function evaluationCells(evaluation) {
  const { compactions, probes, tokens, cost } = evaluation;
  const percent = (count) => (probes.total === 0 ? "—" : `${((100 * count) / probes.total).toFixed(1)}%`);
  return [
    String(compactions),
    percent(probes.inContext),
    percent(probes.recoverable),
    percent(probes.lost),
    optional(evaluation.falseStatements),
    optional(evaluation.score),
    tokens.mean.toLocaleString("en"),
    `$${cost.total.toFixed(2)}`,
  ];
}

/** Figures that not every version of the evaluation has. */
const optional = (figure) => (typeof figure === "number" ? String(Number(figure.toFixed(3))) : "—");
