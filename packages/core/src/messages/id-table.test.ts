import fc from "fast-check";
import { expect, it } from "vitest";
import { IdTable } from "./id-table.ts";

const idArbitrary = fc.option(fc.oneof(fc.string({ maxLength: 3 }), fc.uuid()), { nil: undefined });

it("an id table finds the last position of every id, like a Map", () => {
  fc.assert(
    fc.property(fc.array(idArbitrary), fc.array(fc.string({ maxLength: 3 })), (ids, others) => {
      const map = new Map<string, number>();
      const table = new IdTable(ids, (id) => id);
      for (const [position, id] of ids.entries()) {
        if (id === undefined) continue;
        expect(table.set(id, position)).toBe(map.get(id));
        map.set(id, position);
      }
      for (const id of [...map.keys(), ...others]) {
        expect(table.get(id)).toBe(map.get(id));
        expect(table.has(id)).toBe(map.has(id));
      }
    }),
  );
});

it("an id table can find the first position of every id", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 2 })), (ids) => {
      const table = new IdTable(ids, (id) => id);
      for (const [position, id] of ids.entries()) expect(table.firstWith(id, position)).toBe(ids.indexOf(id));
    }),
  );
});
