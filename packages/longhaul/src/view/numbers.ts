import { formatCount } from "@longhaul/core/internal/messages";
import { oneLine } from "./text-width.ts";

export { formatCount };

/**
 * Number of characters that are shown of an id. They are enough to distinguish entries, sessions and steps in
 * practice. Other commands accept the shortened id.
 */
export const ID_SHOWN = 8;

/** Formats 812 · 18.4K · 1.2M, for narrow columns. */
export function formatShort(count: number): string {
  if (count < 1_000) return String(Math.round(count));
  const [value, unit] = count < 999_500 ? [count / 1_000, "K"] : [count / 1_000_000, "M"];
  return `${value < 10 ? value.toFixed(1).replace(/\.0$/, "") : Math.round(value)}${unit}`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  const [value, unit] = bytes < 1_048_576 ? [bytes / 1_024, "KB"] : [bytes / 1_048_576, "MB"];
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}

export const formatPercent = (share: number): string => `${Math.round(share * 100)}%`;

export function plural(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export function formatAge(milliseconds: number): string {
  if (milliseconds < MINUTE_MS) return "just now";
  if (milliseconds < HOUR_MS) return `${Math.floor(milliseconds / MINUTE_MS)} min ago`;
  if (milliseconds < 2 * DAY_MS) return `${Math.floor(milliseconds / HOUR_MS)} h ago`;
  return `${Math.floor(milliseconds / DAY_MS)} days ago`;
}

/** Formats the age of a timestamp. Empty if a file has no valid time. */
export function ageWords(timestamp: string | undefined, now: number): string {
  const at = Date.parse(timestamp ?? "");
  return Number.isNaN(at) ? "" : formatAge(now - at);
}

/** Formats a waiting time: 0.4 s · 12 s · 3 min 5 s. */
export function formatSeconds(milliseconds: number): string {
  const whole = Math.max(0, milliseconds) / 1_000;
  if (whole < 10) return `${whole.toFixed(1)} s`;
  const rounded = Math.round(whole);
  if (rounded < 60) return `${rounded} s`;
  return `${formatCount(Math.floor(rounded / 60))} min ${rounded % 60} s`;
}

/** Formats a time to the minute. Empty if there is none. */
export const formatTime = (timestamp: unknown): string =>
  oneLine(String(timestamp ?? ""))
    .slice(0, 16)
    .replace("T", " ");

/**
 * Formats dollars. Amounts below one dollar get four decimals, because cents are too coarse for single calls.
 * Larger amounts get two decimals, because four are too many for a long run.
 */
export const formatDollars = (amount: number): string => `$${amount.toFixed(amount < 1 ? 4 : 2)}`;
