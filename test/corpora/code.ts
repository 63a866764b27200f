/** TypeScript as people write it, and JavaScript as a minifier writes it. */
import { type Choices, choices, fill, grow } from "./random.ts";

const SLOTS = {
  Type: [
    "Invoice",
    "UserAccount",
    "SearchResult",
    "RetryPolicy",
    "FileEntry",
    "SessionState",
    "HttpClient",
    "CacheOptions",
  ],
  type: [
    "string",
    "number",
    "boolean",
    "Date",
    "Uint8Array",
    "readonly string[]",
    "Map<string, number>",
    "unknown",
  ],
  verb: ["load", "create", "parse", "validate", "merge", "resolve", "update", "format", "collect", "encode"],
  noun: [
    "Invoice",
    "Account",
    "Entries",
    "Header",
    "Message",
    "Settings",
    "Path",
    "Token",
    "Range",
    "Timeout",
  ],
  field: [
    "id",
    "createdAt",
    "displayName",
    "retryCount",
    "items",
    "status",
    "parentId",
    "isHidden",
    "maxAge",
    "payload",
  ],
  value: [
    "0",
    "null",
    "undefined",
    "true",
    "[]",
    '"pending"',
    "Date.now()",
    "60_000",
    "`${prefix}-${index}`",
    "new Map()",
  ],
  module: [
    "./client.ts",
    "../types/message.ts",
    "node:fs/promises",
    "zod",
    "../errors.ts",
    "./format-duration.ts",
    "@acme/shared",
  ],
  reason: [
    "the server may answer out of order",
    "callers rely on the identity of this array",
    "an empty list is a valid answer",
    "Windows paths use backslashes",
    "this runs on every keystroke",
  ],
} as const;

const TYPESCRIPT = [
  'import { {verb}{noun}, type {Type} } from "{module}";',
  'import type { {Type} } from "{module}";',
  "/** Why: {reason}. */\nexport interface {Type} {\n  readonly {field}: {type};\n  readonly {field}?: {type};\n  {verb}{noun}(input: {type}): Promise<{Type}>;\n}",
  'export type {noun}State =\n  | { readonly kind: "idle" }\n  | { readonly kind: "loading"; readonly since: {type} }\n  | { readonly kind: "failed"; readonly error: Error };',
  "export async function {verb}{noun}(client: {Type}, {field}: {type}): Promise<{Type} | undefined> {\n  const response = await client.get(`/api/{field}/${encodeURIComponent(String({field}))}`);\n  if (!response.ok) {\n    throw new {noun}Error(`cannot {verb} {field}: ${response.status}`);\n  }\n  // {reason}\n  const { {field}, ...rest } = await response.json();\n  return rest as {Type};\n}",
  "function {verb}{noun}(items: readonly {Type}[]): Map<string, {Type}> {\n  const result = new Map<string, {Type}>();\n  for (const item of items) {\n    if (item.{field} === {value}) continue;\n    result.set(item.{field}, { ...item, {field}: {value} });\n  }\n  return result;\n}",
  "export class {Type}Store {\n  #entries: {Type}[] = [];\n\n  constructor(private readonly {field}: {type} = {value}) {}\n\n  {verb}(entry: {Type}): this {\n    this.#entries.push(entry);\n    return this;\n  }\n\n  get size(): number {\n    return this.#entries.filter((entry) => entry.{field} !== {value}).length;\n  }\n}",
  'const {verb}{noun} = ({field}: {type}, limit = {value}): string => {field}.map((x) => x.toString().padStart(2, "0")).slice(0, limit).join(", ");',
  'describe("{verb}{noun}", () => {\n  it("keeps {field} when {reason}", async () => {\n    const subject = {verb}{noun}({ {field}: {value}, {field}: {value} });\n    expect(subject.{field}).toEqual({value});\n    await expect({verb}{noun}(subject)).rejects.toThrow(/{field}/);\n  });\n});',
  'export const {Type}Schema = z.object({\n  {field}: z.string().min(1),\n  {field}: z.number().int().nonnegative().optional(),\n  {field}: z.enum(["draft", "sent", "archived"]),\n});',
  'switch (state.kind) {\n  case "loading":\n    return <Spinner label="{verb} {field}" onCancel={() => set{noun}({value})} />;\n  default:\n    return null;\n}',
  "export const DEFAULT_{noun}_LIMIT = 128;\nlet pending{noun}: ReturnType<typeof setTimeout> | undefined;",
];

export function typescriptCode(from: Choices, length: number): string {
  return grow(length, "\n\n", () => fill(from.pick(TYPESCRIPT), SLOTS, from));
}

export function typescriptCorpus(length: number, seed = 15): string {
  return typescriptCode(choices(seed), length);
}

const SHORT = [..."abcdefghijklmnopqrstuvwxyzETNSA_$", "te", "ne", "rr", "Xe", "s1", "ot"];
const NAMES = [
  "length",
  "prototype",
  "push",
  "call",
  "default",
  "Promise",
  "then",
  "props",
  "children",
  "current",
  "addEventListener",
  "querySelector",
  "className",
  "hasOwnProperty",
  "toString",
  "apply",
  "value",
  "onChange",
  "createElement",
  "exports",
  "forEach",
  "indexOf",
  "style",
  "nodeType",
  "parentNode",
];
const STRINGS = [
  "object",
  "function",
  "click",
  "div",
  "use strict",
  "undefined",
  "Invalid argument: ",
  "data-id",
  "https://example.com/docs",
  "px",
  "aria-hidden",
  "react.element",
];

const MINIFIED: readonly ((name: () => string, from: Choices) => string)[] = [
  (n, from) =>
    `function ${n()}(${n()},${n()}){return ${n()}.${from.pick(NAMES)}(${n()})||${n()}[${from.below(9)}]}`,
  (n, from) =>
    `var ${n()}=${n()}(${from.below(9999)}),${n()}=${n()}.n(${n()}),${n()}=Object.assign({},${n()},{${from.pick(NAMES)}:!0});`,
  (n, from) =>
    `if("${from.pick(STRINGS)}"===typeof ${n()}&&null!==${n()}.${from.pick(NAMES)})for(var ${n()}=0;${n()}<${n()}.length;${n()}++)${n()}.${from.pick(NAMES)}.${from.pick(NAMES)}(${n()},${n()});`,
  (n, from) =>
    `${n()}.${from.pick(NAMES)}=function(${n()}){var ${n()}=this;return ${n()}?(${n()}.${from.pick(NAMES)}=${n()},void 0):new ${n()}(((${n()},${n()})=>{${n()}(${n()}.${from.pick(NAMES)})}))};`,
  (n, from) =>
    `(0,${n()}.jsx)("${from.pick(STRINGS)}",{className:${n()}()("${from.pick(STRINGS)}-${from.pick(STRINGS)}",${n()}),${from.pick(NAMES)}:()=>${n()}(!${n()})}),`,
  (n, from) =>
    `const{${from.pick(NAMES)}:${n()},${from.pick(NAMES)}:${n()}=${from.below(1000)}}=${n()};${n()}=${n()}<<${from.below(9)}|${n()}>>>${from.between(10, 31)},${n()}^=0x${from.hex(6)};`,
  (n, from) =>
    `${from.between(100, 9999)}:(${n()},${n()},${n()})=>{"use strict";${n()}.d(${n()},{${n()}:()=>${n()}});let ${n()}=${n()}(${from.between(100, 9999)});throw Error("${from.pick(STRINGS)}"+${n()})},`,
  (n, from) =>
    `try{${n()}=JSON.parse(${n()}.getItem("${from.pick(STRINGS)}"))}catch(${n()}){console.error(${n()}),${n()}="${from.pick(STRINGS)}"}switch(${n()}.${from.pick(NAMES)}){case ${from.below(20)}:return ${n()};default:break}`,
];

export function minifiedCorpus(length: number, seed = 16): string {
  const from = choices(seed);
  return grow(length, "", () => from.pick(MINIFIED)(() => from.pick(SHORT), from));
}
