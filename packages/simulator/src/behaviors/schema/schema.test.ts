import { expect, it } from "vitest";
import { conforms } from "./schema.ts";

it.each(["toString", "constructor", "__proto__"])(
  "schema validation does not accept an inherited %s of an object as a required property",
  (name) => {
    const schema = { type: "object", required: [name] };
    expect(conforms({}, schema)).toBe(false);
    expect(conforms(JSON.parse(`{"${name}": 1}`), schema)).toBe(true);
  },
);
