import { asList, field, stringField } from "../../../conversation/untrusted.ts";
import { headerDelayMs } from "../../retry-after.ts";
import type { ErrorFacts } from "./read-error.ts";

/** How long the provider asks to wait: by header, by Google's own detail, or in words. */
export function delayIn(facts: ErrorFacts): number | undefined {
  return headerDelayMs((name) => facts.headers[name]) ?? retryInfo(facts) ?? spokenDelay(facts.message);
}

function retryInfo({ body }: ErrorFacts): number | undefined {
  for (const detail of asList(field(body, "details"))) {
    const delay = stringField(detail, "retryDelay");
    if (delay !== undefined) return duration(delay);
  }
  return undefined;
}

function spokenDelay(message: string): number | undefined {
  const said = /(?:try again|retry) in ((?:[\d.]+ ?(?:ms|s|m|h)[a-z]* ?)+)/i.exec(message);
  return said === null ? undefined : duration(said[1] ?? "");
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Such as `7m12.5s`, `34.07s`, `20ms`, `5 seconds`. */
function duration(text: string): number | undefined {
  let total = 0;
  let found = false;
  for (const [, amount, unit = ""] of text.toLowerCase().matchAll(/([\d.]+) ?(ms|s|m|h)/g)) {
    const value = Number(amount);
    if (!Number.isFinite(value)) return undefined;
    total += value * (UNIT_MS[unit] ?? 0);
    found = true;
  }
  return found ? Math.ceil(total) : undefined;
}
