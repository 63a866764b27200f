/**
 * Typical JSON in agent sessions: API answers, lock files, settings and event lines, compact and indented.
 */
import { type Choices, choices, grow } from "./random.ts";

const FIRST = ["Amelia", "Noah", "Priya", "Lukas", "Chen", "Fatima", "Oliver", "Sofia", "Mateus", "Ingrid"];
const LAST = [
  "Hughes",
  "Novak",
  "Patel",
  "Schneider",
  "Wang",
  "Rahman",
  "Martin",
  "Rossi",
  "Silva",
  "Larsen",
];
const WORDS = [
  "invoice",
  "payment",
  "archive",
  "profile",
  "shipment",
  "review",
  "draft",
  "session",
  "backup",
  "report",
  "webhook",
  "catalog",
];
const PACKAGES = [
  "left-hand",
  "tiny-emitter",
  "date-lines",
  "fast-queue",
  "yaml-lite",
  "color-names",
  "path-globs",
  "retry-soon",
  "string-width",
  "node-fetch",
];

export function uuid(from: Choices): string {
  return `${from.hex(8)}-${from.hex(4)}-4${from.hex(3)}-${from.pick(["8", "9", "a", "b"])}${from.hex(3)}-${from.hex(12)}`;
}

export function timestamp(from: Choices): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = `${from.between(2019, 2026)}-${two(from.between(1, 12))}-${two(from.between(1, 28))}`;
  const time = `${two(from.below(24))}:${two(from.below(60))}:${two(from.below(60))}`;
  return from.chance(0.6) ? `${day}T${time}.${from.digits(3)}Z` : `${day}T${time}Z`;
}

function user(from: Choices): unknown {
  const [first, last] = [from.pick(FIRST), from.pick(LAST)];
  return {
    id: from.between(1, 99999),
    uuid: uuid(from),
    name: `${first} ${last}`,
    email: `${first}.${last}${from.between(1, 99)}@example.com`.toLowerCase(),
    isActive: from.chance(0.7),
    balance: from.between(0, 500000) / 100,
    tags: Array.from({ length: from.below(4) }, () => from.pick(WORDS)),
    address: {
      street: `${from.between(1, 300)} ${from.pick(LAST)} Street`,
      city: "Springfield",
      geo: { lat: from.between(-9000000, 9000000) / 100000, lng: from.between(-18000000, 18000000) / 100000 },
    },
    createdAt: timestamp(from),
    updated_at: from.chance(0.3) ? null : timestamp(from),
  };
}

function lockEntry(from: Choices): [string, unknown] {
  const name = `${from.pick(PACKAGES)}-${from.pick(WORDS)}`;
  const version = `${from.below(12)}.${from.below(30)}.${from.below(20)}`;
  const dependencies = Object.fromEntries(
    Array.from({ length: from.below(4) }, () => [
      from.pick(PACKAGES),
      `^${from.below(9)}.${from.below(20)}.0`,
    ]),
  );
  return [
    `node_modules/${name}`,
    {
      version,
      resolved: `https://packages.example.org/${name}/-/${name}-${version}.tgz`,
      integrity: `sha512-${from.letters(86)}==`,
      dev: true,
      license: "MIT",
      dependencies,
      engines: { node: ">=18" },
    },
  ];
}

function event(from: Choices): unknown {
  return {
    type: from.pick(["push", "issue.opened", "tool_result", "message_delta"]),
    session_id: uuid(from),
    seq: from.below(100000),
    ts: 1.6e12 + from.below(2e9),
    ok: from.chance(0.9),
    payload: {
      sha: from.hex(40),
      ref: `refs/heads/${from.pick(WORDS)}-${from.pick(WORDS)}`,
      durationMs: from.below(100000) / 10,
      path: `/srv/${from.pick(WORDS)}/${from.pick(WORDS)}.json`,
      note: `Could not ${from.pick(["load", "save", "merge"])} the ${from.pick(WORDS)}: it was changed elsewhere.`,
    },
  };
}

export function jsonDocument(from: Choices): string {
  const indent = from.pick([0, 0, 2, 2, 4]);
  switch (from.below(4)) {
    case 0:
      return JSON.stringify(
        {
          page: from.between(1, 40),
          total: from.below(5000),
          data: Array.from({ length: from.between(3, 9) }, () => user(from)),
        },
        null,
        indent,
      );
    case 1:
      return JSON.stringify(
        {
          lockfileVersion: 3,
          packages: Object.fromEntries(Array.from({ length: from.between(3, 8) }, () => lockEntry(from))),
        },
        null,
        2,
      );
    case 2:
      return Array.from({ length: from.between(4, 12) }, () => JSON.stringify(event(from))).join("\n");
    default:
      return JSON.stringify(
        {
          compilerOptions: { target: "es2022", strict: true, paths: { "@/*": ["./src/*"] } },
          series: Array.from({ length: 30 }, () => from.below(100000) / from.pick([1, 10, 1000])),
          labels: Array.from({ length: 8 }, () => `${from.pick(WORDS)}_${from.pick(WORDS)}`),
        },
        null,
        indent,
      );
  }
}

export function jsonCorpus(length: number, seed = 13): string {
  const from = choices(seed);
  return grow(length, "\n", () => jsonDocument(from));
}
