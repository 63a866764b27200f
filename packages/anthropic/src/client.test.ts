import type { ModelRequest } from "@longhaul/core/models";
import { complete } from "@longhaul/core/models";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ANTHROPIC_WIRES } from "../../../test/wire/anthropic/wires.ts";
import { serveWires } from "../../simulator/src/contract/wire-server.ts";
import { anthropicModel } from "./anthropic-model.ts";

const request: ModelRequest = { messages: [{ role: "user", content: "Hello." }] };
const notFound = (module: string): Error =>
  Object.assign(new Error(`Cannot find package '${module}' imported from here`), {
    code: "ERR_MODULE_NOT_FOUND",
  });

describe("anthropicModel without a client", () => {
  afterEach(() => vi.unstubAllEnvs());

  it("does not load the Anthropic SDK before the first call", () => {
    const loadSdk = vi.fn();
    anthropicModel({ model: "claude-opus-5", loadSdk });
    expect(loadSdk).not.toHaveBeenCalled();
  });

  it("explains how to install a missing SDK, and looks for the SDK again at the next call", async () => {
    const loadSdk = vi.fn<() => Promise<unknown>>().mockRejectedValueOnce(notFound("@anthropic-ai/sdk"));
    const model = anthropicModel({ model: "claude-opus-5", loadSdk });
    await expect(complete(model, request)).rejects.toMatchObject({
      failure: { kind: "sdk-missing", package: "@anthropic-ai/sdk" },
      remedy: expect.stringContaining("npm install @anthropic-ai/sdk"),
    });
    loadSdk.mockResolvedValue({});
    await expect(complete(model, request)).rejects.toMatchObject({
      message: expect.stringContaining("no client"),
    });
    expect(loadSdk).toHaveBeenCalledTimes(2);
  });

  it("tells programs in a bundle to pass a client, because a bundle cannot find an installed SDK", async () => {
    const loadSdk = (): Promise<unknown> =>
      Promise.reject(new TypeError("Failed to resolve module specifier '@anthropic-ai/sdk'"));
    await expect(
      complete(anthropicModel({ model: "claude-opus-5", loadSdk }), request),
    ).rejects.toMatchObject({
      failure: { kind: "sdk-missing" },
      remedy: expect.stringContaining("pass your own `client`"),
    });
  });

  it("prints no part of an unreadable answer unless the user turns on the SDK's log", async () => {
    const torn = 'event: message_start\ndata: {"type":"message_start","message":{"secret words\n\n';
    const headers = { "content-type": "text/event-stream" };
    const server = await serveWires([{ headers, body: torn }]);
    const printed = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const ask = (): Promise<unknown> =>
      complete(anthropicModel({ model: "claude-opus-5", apiKey: "k", baseURL: server.baseUrl }), request);
    await expect(ask()).rejects.toMatchObject({ failure: { kind: "cut-off" } });
    expect(printed).not.toHaveBeenCalled();
    vi.stubEnv("ANTHROPIC_LOG", "error");
    await expect(ask()).rejects.toMatchObject({ failure: { kind: "cut-off" } });
    expect(printed).toHaveBeenCalled();
    printed.mockRestore();
    await server.close();
  });

  it("does not report the SDK as missing when one of its dependencies is missing", async () => {
    const model = anthropicModel({
      model: "claude-opus-5",
      loadSdk: () => Promise.reject(notFound("tslib")),
    });
    await expect(complete(model, request)).rejects.toMatchObject({ failure: { kind: "other" } });
  });

  it("reads the API key and the base URL from the environment", async () => {
    const server = await serveWires([ANTHROPIC_WIRES.text]);
    vi.stubEnv("ANTHROPIC_API_KEY", "from-the-environment");
    vi.stubEnv("ANTHROPIC_BASE_URL", server.baseUrl);
    await complete(anthropicModel({ model: "claude-opus-5" }), request);
    expect(server.requests[0]?.headers.authorization).toBe("Bearer from-the-environment");
    expect(server.requests[0]?.body).toMatchObject({ max_tokens: 128_000 });
    await server.close();
  });

  it("names the variable to set when there is no API key, and sends nothing", async () => {
    const server = await serveWires([ANTHROPIC_WIRES.text]);
    vi.stubEnv("ANTHROPIC_API_KEY", undefined);
    vi.stubEnv("ANTHROPIC_AUTH_TOKEN", undefined);
    vi.stubEnv("HOME", "/nonexistent");
    const model = anthropicModel({ model: "claude-opus-5", baseURL: server.baseUrl });
    await expect(complete(model, request)).rejects.toMatchObject({
      code: "model-authentication",
      remedy: expect.stringContaining("ANTHROPIC_API_KEY"),
    });
    expect(server.requests).toEqual([]);
    await server.close();
  });
});
