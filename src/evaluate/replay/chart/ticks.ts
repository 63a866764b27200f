/** How many steps an axis has, about. */
const STEPS = 6;

/** Round numbers from 0 up to `most`, evenly spaced. */
export function ticksTo(most: number): readonly number[] {
  if (!(most > 0)) return [0];
  const rough = most / STEPS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5].find((factor) => factor * power >= rough) ?? 10) * power;
  const ticks: number[] = [];
  for (let count = 0; count * step <= most * 1.000_001; count++) ticks.push(count * step);
  return ticks;
}

export function shortTokens(tokens: number): string {
  if (tokens < 1_000) return String(Math.round(tokens));
  return tokens < 1_000_000 ? `${trimmed(tokens / 1_000)}K` : `${trimmed(tokens / 1_000_000)}M`;
}

export const shortDollars = (dollars: number): string =>
  `$${dollars >= 100 ? Math.round(dollars) : dollars.toFixed(2)}`;

const trimmed = (value: number): string => String(Number(value.toFixed(value < 10 ? 1 : 0)));
