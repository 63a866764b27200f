import { describe, expect, it } from "vitest";
import { ApiRefusal } from "../../../exchange.ts";
import {
  anything,
  boolean,
  integer,
  list,
  number,
  object,
  oneOf,
  required,
  shortString,
  string,
  tagged,
} from "../../../shape/shape-check.ts";
import type { OpenAiRequest, OpenAiSwitches } from "../../request.ts";
import { type Check, filledList, Inspection, union } from "./inspection.ts";

const SWITCHES: OpenAiSwitches = { foreignReasoning: "refused", unknownFields: "refused" };

function refusalBy(
  check: Check,
  value: unknown,
  {
    endpoint = "responses",
    switches = SWITCHES,
  }: { endpoint?: OpenAiRequest["endpoint"]; switches?: OpenAiSwitches } = {},
): unknown {
  const request: OpenAiRequest = {
    endpoint,
    body: {},
    bytes: 0,
    model: undefined,
    earlier: [],
    workspace: "w",
    startedAt: 0,
  };
  try {
    check(value, new Inspection(request, switches));
  } catch (error) {
    if (error instanceof ApiRefusal) return { message: error.message, ...error.details };
    throw error;
  }
  return "accepted";
}

const body = object({
  items: list(tagged({ note: { text: required(string), count: integer(1, 5) } })),
  share: number(0, 2),
  flag: boolean,
  name: shortString(3),
  filled: filledList(string),
  level: oneOf("low", "medium", "high"),
  text: union({ string: anything, "array of objects": list(object({})), null: anything }),
});

describe("faults of single values in the words of OpenAI", () => {
  it.each([
    [
      { items: 1 },
      "Invalid type for 'items': expected an array, but got an integer instead.",
      "items",
      "invalid_type",
    ],
    [
      { items: [{ type: "note" }] },
      "Missing required parameter: 'items[0].text'.",
      "items[0].text",
      "missing_required_parameter",
    ],
    [
      { items: [{}] },
      "Missing required parameter: 'items[0].type'.",
      "items[0].type",
      "missing_required_parameter",
    ],
    [
      { items: [{ type: "x" }] },
      "Invalid value: 'x'. Supported values are: 'note'.",
      "items[0].type",
      "invalid_value",
    ],
    [
      { items: [{ type: "note", text: "", more: 1 }] },
      "Unknown parameter: 'items[0].more'.",
      "items[0].more",
      "unknown_parameter",
    ],
    [
      { items: [{ type: "note", text: "", count: 0 }] },
      "Invalid 'items[0].count': integer below minimum value. Expected a value >= 1, but got 0 instead.",
      "items[0].count",
      "integer_below_min_value",
    ],
    [
      { items: [{ type: "note", text: "", count: 6 }] },
      "Invalid 'items[0].count': integer above maximum value. Expected a value <= 5, but got 6 instead.",
      "items[0].count",
      "integer_above_max_value",
    ],
    [
      { share: -0.5 },
      "Invalid 'share': decimal below minimum value. Expected a value >= 0, but got -0.5 instead.",
      "share",
      "decimal_below_min_value",
    ],
    [
      { share: 2.5 },
      "Invalid 'share': decimal above maximum value. Expected a value <= 2, but got 2.5 instead.",
      "share",
      "decimal_above_max_value",
    ],
    [
      { flag: null },
      "Invalid type for 'flag': expected a boolean, but got null instead.",
      "flag",
      "invalid_type",
    ],
    [
      { name: "long" },
      "Invalid 'name': string too long. Expected a string with maximum length 3, but got a string with length 4 instead.",
      "name",
      "string_above_max_length",
    ],
    [
      { filled: [] },
      "Invalid 'filled': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      "filled",
      "empty_array",
    ],
    [
      { text: {} },
      "Invalid type for 'text': expected one of a string, array of objects or null, but got an object instead.",
      "text",
      "invalid_type",
    ],
    [{ more: 1 }, "Unknown parameter: 'more'.", "more", "unknown_parameter"],
    [
      { items: [{ type: "note", text: "", count: 1.5 }] },
      "Invalid type for 'items[0].count': expected an integer, but got a decimal number instead.",
      "items[0].count",
      "invalid_type",
    ],
    [
      { level: {} },
      "Invalid type for 'level': expected one of 'low', 'medium', or 'high', but got an object instead.",
      "level",
      "invalid_type",
    ],
    [
      { text: 1.5 },
      "Invalid type for 'text': expected one of a string, array of objects or null, but got a decimal number instead.",
      "text",
      "invalid_type",
    ],
  ])("refuses %j with the text, the parameter and the code of the API", (value, message, param, code) => {
    expect(refusalBy(body, value)).toEqual({ message, param, code });
  });

  it("names an unknown field of the body differently in chat completions", () => {
    expect(refusalBy(body, { more: 1 }, { endpoint: "chat_completions" })).toEqual({
      message: "Unrecognized request argument supplied: more",
      param: null,
      code: null,
    });
  });

  it("accepts unknown fields at every depth if the switch accepts them", () => {
    const switches = { ...SWITCHES, unknownFields: "accepted" } as const;
    const value = { more: 1, items: [{ type: "note", text: "", more: 1 }] };
    expect(refusalBy(body, value, { switches })).toBe("accepted");
  });

  it("shows only the beginning of a long wrong value", () => {
    const refused = refusalBy(body, { items: [{ type: "x".repeat(100_000) }] });
    expect(JSON.stringify(refused).length).toBeLessThan(500);
  });
});
