import { type Simulator, startSimulator } from "@longhaul/simulator";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { recordedRequests } from "../real-clients/record.ts";
import { PLACEHOLDERS } from "../real-clients/scrub.ts";

/**
 * `npm run test:clients -- --record` writes these requests. They have the fields, types, roles and schemas that
 * real clients send, with words of ours in place of all texts.
 */

const REQUESTS = recordedRequests();
/** Size limit of the fixture, so that the repository stays small. */
const MAX_BYTES = 150_000;

describe("recorded requests of real clients", () => {
  let simulator: Simulator;
  beforeAll(async () => {
    simulator = await startSimulator({
      switches: { enforceBinding: false, foreignSignatures: "accepted", foreignReasoning: "accepted" },
    });
  });
  afterAll(() => simulator.close());

  it.each(REQUESTS.map((one, index) => [`${one.client}, ${one.path}, line ${index + 1}`, one] as const))(
    "the simulator accepts the recorded request of %s",
    async (_, { path, headers, body }) => {
      const response = await fetch(`${simulator.url}${path}`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(path.startsWith("/v1/messages") ? { "x-api-key": "any" } : { authorization: "Bearer any" }),
          ...headers,
        },
        body: JSON.stringify(body),
      });
      const answer = await response.text();
      expect([response.status, response.status === 200 ? "" : answer]).toEqual([200, ""]);
      const { findings, unknownBetas } = simulator.requests.last ?? {};
      expect({ findings, unknownBetas }).toEqual({ findings: [], unknownBetas: [] });
    },
  );

  it("recorded requests of real clients come from every kind of client", () => {
    const clients = new Set(REQUESTS.map(({ client }) => client.replace(/ [\d.]+.*/, "")));
    for (const name of ["Claude Code", "qwen-code", "opencode", "pi", "cline", "codex", "LangChain"])
      expect(clients).toContain(name);
  });

  it("recorded requests of real clients contain no text of a client, and stay small", () => {
    const ours: ReadonlySet<string> = new Set(Object.values(PLACEHOLDERS));
    const foreign = REQUESTS.flatMap(({ body }) => strings(body)).filter(
      (text) => /\s/.test(text.trim()) && !ours.has(text),
    );
    expect(foreign).toEqual([]);
    expect(
      Math.max(...REQUESTS.flatMap(({ body }) => strings(body)).map((text) => text.length)),
    ).toBeLessThan(400);
    expect(JSON.stringify(REQUESTS).length).toBeLessThan(MAX_BYTES);
  });
});

function strings(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return [...(Array.isArray(value) ? [] : Object.keys(value)), ...Object.values(value).flatMap(strings)];
}
