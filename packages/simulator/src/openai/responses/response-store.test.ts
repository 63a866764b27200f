import type { JsonRecord } from "@longhaul/core/internal/messages";
import { expect, it } from "vitest";
import type { ResponseObject } from "./response-object.ts";
import { ResponseStore } from "./response-store.ts";

const MEGABYTE = 1_000_000;

function save(store: ResponseStore, id: string, megabytes: number): void {
  const response = { id, output: [{ id: `msg_of_${id}`, type: "message" }] } as unknown as ResponseObject;
  const input = [{ id: `msg_for_${id}`, type: "message", role: "user", content: "Hi" }];
  store.save("project", { response, input, previousId: undefined, isStreamed: false }, megabytes * MEGABYTE);
}

it("forgets the responses that were unused for the longest time when all of them exceed 200 MB", () => {
  const store = new ResponseStore();
  for (const id of ["first", "second", "third"]) save(store, id, 60);
  expect(store.find("project", "first")).toBeDefined();
  save(store, "fourth", 60);
  const kept = ["first", "second", "third", "fourth"].filter((id) => store.find("project", id) !== undefined);
  expect(kept).toEqual(["first", "third", "fourth"]);
  expect(store.findItem("project", "msg_for_fourth")).toBeDefined();
  expect(store.findItem("project", "msg_of_fourth")).toBeDefined();
  expect(store.findItem("project", "msg_for_first")).toBeUndefined();
});

it("keeps 2,000 small responses", () => {
  const store = new ResponseStore();
  for (let index = 0; index <= 2_000; index++) save(store, `r${index}`, 0.0001);
  expect([store.find("project", "r0"), store.find("project", "r1")?.response.id]).toEqual([undefined, "r1"]);
});

it("an item needs the reasoning of its own turn, also after it came back as input", () => {
  const store = new ResponseStore();
  const { requiredReasoning } = store.memoryOf("p", () => undefined);
  const call = (id: string): JsonRecord => ({ type: "function_call", id });
  const output = { type: "function_call_output", id: "fco_1" };
  store.keepItems("p", [{ type: "reasoning", id: "rs_1" }, call("fc_1"), output, call("fc_2")]);
  expect([requiredReasoning("fc_1"), requiredReasoning("fc_2")]).toEqual(["rs_1", undefined]);
  store.keepItems("p", [call("fc_1"), output]);
  expect(requiredReasoning("fc_1")).toBe("rs_1");
  expect(store.memoryOf("other", () => undefined).requiredReasoning("fc_1")).toBeUndefined();
});
