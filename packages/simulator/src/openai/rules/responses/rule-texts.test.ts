import { describe, expect, it } from "vitest";
import { RESPONSES_TEXTS } from "../../wording/responses-texts.ts";
import { BODY_ROWS, HISTORY_ROWS } from "./body-rows.case.ts";
import { ID_ROWS, ITEM_ROWS } from "./item-rows.case.ts";
import { MODEL_ROWS, TOOL_ROWS } from "./model-rows.case.ts";
import { MEDIA_ROWS, ORDER_ROWS } from "./order-rows.case.ts";
import { type RuleRow, refusalOf, verdictOn } from "./rule-bench.case.ts";

const TABLES: readonly (readonly [name: string, rows: readonly RuleRow[]])[] = [
  ["the body", BODY_ROWS],
  ["the history", HISTORY_ROWS],
  ["the model", MODEL_ROWS],
  ["tools", TOOL_ROWS],
  ["items", ITEM_ROWS],
  ["ids and names", ID_ROWS],
  ["images and files", MEDIA_ROWS],
  ["items that belong together", ORDER_ROWS],
];

describe.each(TABLES)("rules of the Responses API for %s", (_, rows) => {
  it.each(rows)("refuse $rule, in the words of the API", ({ wrong, call, expected }) => {
    const refused = refusalOf(wrong, call);
    const [message, param = null, code = null, status = 400] = expected;
    expect({ message: refused?.message, status: refused?.status, ...refused?.details }).toEqual({
      message,
      status,
      param,
      code,
    });
    expect(refused?.type).toBe("invalid_request_error");
  });

  it.each(rows)("accept the sound neighbor of $rule", ({ sound, call, soundCall = call }) => {
    expect(verdictOn(sound, soundCall)).toBe("accepted");
  });
});

it("every text of the Responses API has a body that leads to it", () => {
  const rows = TABLES.flatMap(([, all]) => all);
  const reached = new Set(rows.map(({ wrong, call }) => refusalOf(wrong, call)?.rule));
  expect(Object.keys(RESPONSES_TEXTS).filter((name) => !reached.has(name))).toEqual([]);
});
