import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Scenario, WireAnswer } from "@longhaul/simulator";
import { FAILURE_SCENARIOS, REPLY_SCENARIOS } from "../../packages/simulator/src/contract/subject.ts";

/** Status codes of answers that are not streams. A folder may override them. */
const STATUS: Readonly<Partial<Record<Scenario, number>>> = {
  "too-long": 400,
  "too-long-without-numbers": 400,
  "too-large": 413,
  overloaded: 503,
  "rate-limited": 429,
  authentication: 401,
  "unknown-model": 404,
  "server-error": 500,
};

const SCENARIOS: readonly Scenario[] = [...REPLY_SCENARIOS, ...FAILURE_SCENARIOS, "hang"];

/**
 * Reads one answer. The answers are written from the provider's documentation, because no provider could be
 * called. `<name>.sse` is a stream, `<name>.body` a plain answer.
 */
export function wireOf(folder: string, name: string, answer: Omit<WireAnswer, "body"> = {}): WireAnswer {
  const path = join(import.meta.dirname, folder, name);
  const isStream = existsSync(`${path}.sse`);
  const contentType = isStream ? "text/event-stream; charset=utf-8" : "application/json";
  return {
    ...answer,
    headers: { "content-type": contentType, ...answer.headers },
    body: readFileSync(`${path}${isStream ? ".sse" : ".body"}`, "utf8"),
  };
}

/** Reads all scenarios for which a folder has an answer. `special` overrides the status. */
export function wiresOf(
  folder: string,
  special: Readonly<Partial<Record<Scenario, Omit<WireAnswer, "body">>>> = {},
): Readonly<Partial<Record<Scenario, WireAnswer>>> {
  const wires: Partial<Record<Scenario, WireAnswer>> = {};
  for (const scenario of SCENARIOS) {
    const path = join(import.meta.dirname, folder, scenario);
    if (!existsSync(`${path}.sse`) && !existsSync(`${path}.body`)) continue;
    const status = existsSync(`${path}.body`) ? STATUS[scenario] : undefined;
    wires[scenario] = wireOf(folder, scenario, {
      ...(status === undefined ? {} : { status }),
      ...(scenario === "hang" ? { hang: true } : {}),
      ...special[scenario],
    });
  }
  const early = wires["ended-early"];
  if (early !== undefined) wires["cut-off"] = { ...early, cutAfterBytes: Buffer.byteLength(early.body) };
  return wires;
}
