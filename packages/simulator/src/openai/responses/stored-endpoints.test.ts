import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SeenRequest } from "../../exchange.ts";
import { type Simulator, startSimulator } from "../../simulator.ts";
import { call, eventsOf, MODEL, type ResponseBody, refused, respond } from "./client.case.ts";

let simulator: Simulator;
let seen: SeenRequest[];
beforeEach(async () => {
  seen = [];
  simulator = await startSimulator({
    behaviors: [
      (request) => {
        seen.push(request);
        return { blocks: [{ type: "text", text: `Answer ${seen.length}.` }] };
      },
    ],
  });
});
afterEach(() => simulator.close());

const texts = (request: SeenRequest | undefined): unknown =>
  request?.messages.map(({ role, content }) => [
    role,
    typeof content === "string"
      ? content
      : content.map((block) => (block.type === "text" ? block.text : block.type)),
  ]);

describe("stored responses", () => {
  it("a continued response shows the model all earlier items, but not the earlier instructions", async () => {
    const first = await respond(simulator, { input: "One", instructions: "Old rules." });
    const second = await respond(simulator, { input: "Two", previous_response_id: first.id });
    await respond(simulator, { input: "Three", previous_response_id: second.id, instructions: "New rules." });
    expect(texts(seen[2])).toEqual([
      ["user", ["One"]],
      ["assistant", ["Answer 1."]],
      ["user", ["Two"]],
      ["assistant", ["Answer 2."]],
      ["user", ["Three"]],
    ]);
    expect(seen.map(({ system }) => system)).toEqual(["Old rules.", "", "New rules."]);
  });

  it("a response that is not stored cannot be continued or retrieved", async () => {
    const { id } = await respond(simulator, { input: "One", store: false });
    expect(await refused(simulator, `responses/${id}`, {})).toMatchObject({ status: 404 });
    const body = { model: MODEL, input: "Two", previous_response_id: id };
    expect(await refused(simulator, "responses", { method: "POST", body })).toMatchObject({
      status: 400,
      code: "previous_response_not_found",
    });
  });

  it("another key sees no stored response", async () => {
    const { id } = await respond(simulator, { input: "One" });
    expect((await call(simulator, `responses/${id}`)).status).toBe(200);
    expect((await call(simulator, `responses/${id}`, { key: "other" })).status).toBe(404);
  });

  it("a reference is replaced by the item with its id", async () => {
    const { output } = await respond(simulator, { input: "One" });
    const id = output.find(({ type }) => type === "message")?.id;
    await respond(simulator, {
      input: [
        { type: "item_reference", id },
        { role: "user", content: "Two" },
      ],
    });
    expect(texts(seen[1])).toEqual([
      ["assistant", ["Answer 1."]],
      ["user", ["Two"]],
    ]);
  });

  it("input items come in pages, newest first by default", async () => {
    const input = ["One", "Two", "Three"].map((content) => ({ role: "user", content }));
    const { id } = await respond(simulator, { input });
    const path = `responses/${id}/input_items`;
    const { body } = await call(simulator, `${path}?limit=2`);
    expect(body).toMatchObject({
      object: "list",
      has_more: true,
      data: [{ content: [{ text: "Three" }] }, { content: [{ text: "Two" }] }],
    });
    const rest = await call(simulator, `${path}?limit=2&after=${String(body.last_id)}`);
    expect(rest.body).toMatchObject({ has_more: false, data: [{ content: [{ text: "One" }] }] });
    const ascending = await call(simulator, `${path}?order=asc`);
    expect(ascending.body).toMatchObject({ data: [{ content: [{ text: "One" }] }, {}, {}] });
  });

  it("a response in the background is queued, then in progress, then complete", async () => {
    const { id, status } = await respond(simulator, { input: "One", background: true });
    const statuses = [status];
    for (let poll = 0; poll < 3; poll++)
      statuses.push(String((await call(simulator, `responses/${id}`)).body.status));
    expect(statuses).toEqual(["queued", "in_progress", "completed", "completed"]);
  });

  it("a response in the background is complete at the first poll after its whole stream", async () => {
    const events = await eventsOf(simulator, { input: "One", background: true });
    expect(events.at(-1)?.type).toBe("response.completed");
    const response = events[0]?.response as ResponseBody | undefined;
    expect((await call(simulator, `responses/${response?.id}`)).body.status).toBe("completed");
  });

  it("only a response in the background can be cancelled, and it stays cancelled", async () => {
    const background = await respond(simulator, { input: "One", background: true });
    const cancelled = await call(simulator, `responses/${background.id}/cancel`, {
      method: "POST",
      body: {},
    });
    expect(cancelled.body).toMatchObject({ status: "cancelled", output: [] });
    expect((await call(simulator, `responses/${background.id}`)).body.status).toBe("cancelled");
    const plain = await respond(simulator, { input: "One" });
    const error = await refused(simulator, `responses/${plain.id}/cancel`, { method: "POST", body: {} });
    expect(error.status).toBe(400);
  });

  it("a response in the background that is complete cannot be cancelled", async () => {
    const cancel = async (id: unknown): Promise<unknown> =>
      (await call(simulator, `responses/${id}/cancel`, { method: "POST", body: {} })).body.status;
    const streamed = await eventsOf(simulator, { input: "One", background: true });
    const { response } = streamed.at(-1) as { response: ResponseBody };
    expect(await cancel(response.id)).toBe("completed");
    const polled = await respond(simulator, { input: "Two", background: true });
    for (const status of ["in_progress", "completed"])
      expect((await call(simulator, `responses/${polled.id}`)).body.status).toBe(status);
    expect(await cancel(polled.id)).toBe("completed");
  });

  it("a reset forgets all stored responses", async () => {
    const { id } = await respond(simulator, { input: "One" });
    simulator.reset();
    expect((await call(simulator, `responses/${id}`)).status).toBe(404);
  });
});

describe("conversations on the server", () => {
  it("a conversation collects the items of its responses and shows them to the model", async () => {
    const items = [{ role: "user", content: "Zero" }];
    const created = await call(simulator, "conversations", {
      method: "POST",
      body: { items, metadata: { a: "b" } },
    });
    expect(created.body).toMatchObject({ object: "conversation", metadata: { a: "b" } });
    const id = String(created.body.id);
    const response = await respond(simulator, { input: "One", conversation: id });
    expect(response.conversation).toEqual({ id });
    await respond(simulator, { input: "Two", conversation: { id } });
    expect(texts(seen[1])).toEqual([
      ["user", ["Zero", "One"]],
      ["assistant", ["Answer 1."]],
      ["user", ["Two"]],
    ]);
    const listed = await call(simulator, `conversations/${id}/items?order=asc`);
    expect(listed.body.data).toMatchObject([
      { role: "user" },
      { role: "user" },
      { role: "assistant" },
      { role: "user" },
      { role: "assistant" },
    ]);
  });

  it("a deleted item or conversation is gone", async () => {
    const body = { items: [{ role: "user", content: "Zero" }] };
    const id = String((await call(simulator, "conversations", { method: "POST", body })).body.id);
    const { data } = (await call(simulator, `conversations/${id}/items`)).body as { data: { id: string }[] };
    const path = `conversations/${id}/items/${data[0]?.id}`;
    await call(simulator, path, { method: "DELETE" });
    expect((await call(simulator, path)).status).toBe(404);
    await call(simulator, `conversations/${id}`, { method: "DELETE" });
    expect((await call(simulator, `conversations/${id}`)).status).toBe(404);
  });

  const message = { role: "user", content: "Hi" };
  it.each([
    ["conversations", { items: "Hi" }, "items", "invalid_type"],
    ["conversations", { items: [{ type: "nothing" }] }, "items[0]", "invalid_value"],
    ["conversations", { metadata: 5 }, "metadata", "invalid_type"],
    ["conversations", { topic: "weather" }, "topic", "unknown_parameter"],
    ["conversations/{id}", {}, "metadata", "missing_required_parameter"],
    ["conversations/{id}/items", {}, "items", "missing_required_parameter"],
    [
      "conversations/{id}/items",
      { items: [{ ...message, tone: "kind" }] },
      "items[0].tone",
      "unknown_parameter",
    ],
  ])("a POST to %s with %j is refused at %s", async (path, body, param, code) => {
    const { id } = (await call(simulator, "conversations", { method: "POST", body: {} })).body;
    const refusal = await refused(simulator, path.replace("{id}", String(id)), { method: "POST", body });
    expect(refusal).toMatchObject({ status: 400, param, code });
  });

  it.each([
    ["limit=0", "limit"],
    ["limit=101", "limit"],
    ["limit=many", "limit"],
    ["order=newest", "order"],
  ])("a page of items with the parameter %s is refused", async (query, param) => {
    const { id } = (await call(simulator, "conversations", { method: "POST", body: {} })).body;
    expect(await refused(simulator, `conversations/${id}/items?${query}`, {})).toMatchObject({
      status: 400,
      param,
    });
  });

  it("creates a conversation without a body, but refuses a body that is not JSON", async () => {
    const create = async (body: string): Promise<number> =>
      (
        await fetch(`${simulator.openAiUrl}/conversations`, {
          method: "POST",
          headers: { authorization: "Bearer any", "content-type": "application/json" },
          body,
        })
      ).status;
    expect([await create(""), await create("{}"), await create("{oops"), await create("[]")]).toEqual([
      200, 200, 400, 400,
    ]);
  });
});
