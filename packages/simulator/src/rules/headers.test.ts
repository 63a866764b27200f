import type { IncomingHttpHeaders } from "node:http";
import { describe, expect, it } from "vitest";
import { ApiRefusal } from "../exchange.ts";
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

describe("the headers of a call", () => {
  it("name a version, betas and a workspace", () => {
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

  it("carry the key in x-api-key or as a bearer token, and x-api-key wins", () => {
    const { "x-api-key": _, ...keyless } = sound;
    const bearer = readHeaders({ ...keyless, authorization: "Bearer key-2" }, STRICT);
    const both = readHeaders({ ...sound, authorization: "Bearer key-2" }, STRICT);
    expect(bearer.workspace).not.toBe(both.workspace);
    expect(both.workspace).toBe(readHeaders(sound, STRICT).workspace);
  });

  it("let any key in unless the keys are given", () => {
    expect(refusalOf(sound)).toBe("accepted");
    expect(refusalOf(sound, ["key-1"])).toBe("accepted");
    expect(refusalOf(sound, ["key-2"])).toBe("401 authentication_error: invalid x-api-key");
  });

  it("need no type of content when there is no content", () => {
    expect(refusalOf({ "x-api-key": "key-1", "anthropic-version": "2023-06-01" })).toBe("accepted");
    expect(refusalOf({ ...sound, "content-type": "application/json; charset=utf-8" })).toBe("accepted");
  });

  it("may carry an unknown beta, which is listed, unless unknown betas are refused", () => {
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
      "another type of content",
      { ...sound, "content-type": "text/plain" },
      `${invalid}content-type: Input should be 'application/json'`,
    ],
    [
      "an unknown beta",
      { ...sound, "anthropic-beta": "compact-2026-09-04,x" },
      `${invalid}Unexpected value(s) \`x\` for the \`anthropic-beta\` header. Please consult our documentation at platform.claude.com/docs or try again without the header.`,
    ],
  ])("refuse %s", (_, headers, expected) => expect(refusalOf(headers)).toBe(expected));
});
