import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { recoverLine } from "./entry-reader.ts";

const entry = (uuid: string, text = "x"): object => ({ parentUuid: null, type: "user", uuid, text });

describe("recoverLine", () => {
  it("recovers all objects that were glued together on one line", () => {
    const objects = fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { minLength: 1 });
    fc.assert(
      fc.property(objects, (values) => {
        const text = values.map((value) => JSON.stringify(value)).join("");
        expect(recoverLine(text)).toEqual({
          values: values.map((value) => JSON.parse(JSON.stringify(value))),
          lostBytes: 0,
        });
      }),
    );
  });

  it("recovers the entry that follows an unfinished entry on the same line", () => {
    const whole = entry("b");
    const torn = JSON.stringify(entry("a", 'said "}{" and {"type":"text"}')).slice(0, -8);
    const { values, lostBytes } = recoverLine(torn + JSON.stringify(whole));
    expect(values).toEqual([whole]);
    expect(lostBytes).toBe(torn.length);
  });

  it("does not treat a content block inside an unreadable entry as an entry", () => {
    const message = {
      role: "assistant",
      content: [
        { type: "text", text: "inside" },
        { type: "thinking", thinking: "" },
      ],
    };
    const torn = JSON.stringify({ message, type: "assistant", uuid: "a" }).slice(0, -3);
    expect(recoverLine(torn).values).toEqual([]);
  });

  it("counts the bytes around a recovered object as lost, except white space", () => {
    expect(recoverLine(`// ${JSON.stringify(entry("a"))} \r`)).toEqual({
      values: [entry("a")],
      lostBytes: 2,
    });
  });

  it("gives up on a line of garbage in linear time", () => {
    const garbage = '{"type":'.repeat(200_000);
    expect(recoverLine(garbage)).toEqual({ values: [], lostBytes: garbage.length });
  });
});
