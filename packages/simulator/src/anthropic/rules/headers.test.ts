import type { IncomingHttpHeaders } from "node:http";
import { describe, expect, it } from "vitest";
import { ApiRefusal } from "../../exchange.ts";
import { readHeaders } from "./headers.ts";

const sound: IncomingHttpHeaders = {
  "x-api-key": "key-1",
  "anthropic-version": "2023-06-01",
  "content-type": "application/json",
  "content-length": "20",
};

const STRICT = { unknownBetas: "refused" } as const;

function refusalOf(headers: IncomingHttpHeaders, apiKeys?: readonly string[]): string {
  try {
    readHeaders(headers, apiKeys === undefined ? STRICT : { ...STRICT, apiKeys });
  } catch (error) {
    if (error instanceof ApiRefusal) return `${error.status} ${error.type}: ${error.message}`;
    throw error;
  }
  return "accepted";
}

describe("readHeaders, which checks the headers of a request", () => {
  it("reads the version, betas and workspace from the headers", () => {
    const headers = {
      ...sound,
      "anthropic-version": "2026-10-21",
      "anthropic-beta": "compact-2026-09-04, context-management-2025-06-27",
    };
    const read = readHeaders(headers, STRICT);
    expect(read.version).toBe("2026-10-21");
    expect([...read.betas]).toEqual(["compact-2026-09-04", "context-management-2025-06-27"]);
    expect(read.workspace).toMatch(/^wrkspc_[0-9a-f]{24}$/);
  });

  it("reads the key from x-api-key or a bearer token, and prefers x-api-key", () => {
    const { "x-api-key": _, ...keyless } = sound;
    const bearer = readHeaders({ ...keyless, authorization: "Bearer key-2" }, STRICT);
    const both = readHeaders({ ...sound, authorization: "Bearer key-2" }, STRICT);
    expect(bearer.workspace).not.toBe(both.workspace);
    expect(both.workspace).toBe(readHeaders(sound, STRICT).workspace);
  });

  it("accepts any API key unless the valid keys are configured", () => {
    expect(refusalOf(sound)).toBe("accepted");
    expect(refusalOf(sound, ["key-1"])).toBe("accepted");
    expect(refusalOf(sound, ["key-2"])).toBe("401 authentication_error: invalid x-api-key");
  });

  it("requires no content-type header for a call without a body", () => {
    expect(refusalOf({ "x-api-key": "key-1", "anthropic-version": "2023-06-01" })).toBe("accepted");
    expect(refusalOf({ ...sound, "content-type": "application/json; charset=utf-8" })).toBe("accepted");
  });

  it('accepts and lists an unknown beta header if unknownBetas is "accepted"', () => {
    const headers = { ...sound, "anthropic-beta": "compact-2026-09-04,not-known-2030-01-01" };
    const read = readHeaders(headers, { unknownBetas: "accepted" });
    expect([...read.betas]).toEqual(["compact-2026-09-04", "not-known-2030-01-01"]);
    expect(read.unknownBetas).toEqual(["not-known-2030-01-01"]);
  });

  const { "anthropic-version": _version, ...versionless } = sound;
  const invalid = "400 invalid_request_error: ";
  it.each<[string, IncomingHttpHeaders, string]>([
    ["no key", { ...sound, "x-api-key": "" }, "401 authentication_error: x-api-key header is required"],
    ["no version", versionless, `${invalid}anthropic-version: header is required`],
    [
      "an unknown version",
      { ...sound, "anthropic-version": "2020-01-01" },
      `${invalid}anthropic-version: "2020-01-01" is not a valid version`,
    ],
    [
      "another content type",
      { ...sound, "content-type": "text/plain" },
      `${invalid}content-type: Input should be 'application/json'`,
    ],
    [
      "an unknown beta",
      { ...sound, "anthropic-beta": "compact-2026-09-04,x" },
      `${invalid}Unexpected value(s) \`x\` for the \`anthropic-beta\` header. Please consult our documentation at platform.claude.com/docs or try again without the header.`,
    ],
  ])("refuses headers with %s", (_, headers, expected) => expect(refusalOf(headers)).toBe(expected));
});
