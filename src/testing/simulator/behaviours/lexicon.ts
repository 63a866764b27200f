import type { Random } from "../../../demo/random.ts";

/** The words that the coder's projects, texts and made-up values are put together from. */
const AREAS = [
  "billing",
  "catalogue",
  "checkout",
  "exports",
  "filters",
  "imports",
  "inventory",
  "ledger",
  "mailer",
  "orders",
  "reports",
  "sessions",
  "shipping",
  "webhooks",
] as const;

const THINGS = [
  "address",
  "batch",
  "bucket",
  "cursor",
  "discount",
  "envelope",
  "invoice",
  "journal",
  "lease",
  "manifest",
  "partition",
  "payload",
  "quota",
  "receipt",
  "schedule",
  "snapshot",
  "ticket",
  "token",
  "voucher",
  "window",
] as const;

const VERBS = [
  "apply",
  "build",
  "check",
  "collect",
  "drain",
  "expire",
  "fold",
  "group",
  "index",
  "load",
  "merge",
  "parse",
  "renew",
  "resolve",
  "settle",
  "sort",
  "split",
  "trace",
  "unpack",
  "verify",
] as const;

const QUALITIES = [
  "empty",
  "expired",
  "foreign",
  "late",
  "missing",
  "nested",
  "open",
  "partial",
  "repeated",
  "stale",
  "unsorted",
  "zero",
] as const;

export const area = (random: Random): string => random.pick(AREAS);
export const thing = (random: Random): string => random.pick(THINGS);
const verb = (random: Random): string => random.pick(VERBS);
export const quality = (random: Random): string => random.pick(QUALITIES);

export const capitalised = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** Such as `resolveStaleCursor`. */
export function functionName(random: Random): string {
  return `${verb(random)}${capitalised(quality(random))}${capitalised(thing(random))}`;
}

/** Three to six words that read like a note. */
export function phrase(random: Random): string {
  const start = `${verb(random)} the ${quality(random)} ${thing(random)}`;
  return random.between(0, 1) === 0 ? start : `${start} of ${area(random)}`;
}

/** True in so many of a hundred cases. */
export const chance = (random: Random, percent: number): boolean => random.between(1, 100) <= percent;
