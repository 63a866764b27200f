import { formatCount } from "../../view/numbers.ts";

/** 0.4 s · 12 s · 3 min 5 s: as long as somebody waited. */
export function seconds(milliseconds: number): string {
  const whole = Math.max(0, milliseconds) / 1_000;
  if (whole < 10) return `${whole.toFixed(1)} s`;
  const rounded = Math.round(whole);
  if (rounded < 60) return `${rounded} s`;
  return `${formatCount(Math.floor(rounded / 60))} min ${rounded % 60} s`;
}
