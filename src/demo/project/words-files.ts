type ProjectFile = readonly [path: string, text: string];

const ENGLISH = {
  "booking.confirmed": "Your berth is booked.",
  "booking.empty": "The stay ends before it begins.",
  "booking.full": "This berth is taken at that time.",
  "booking.tooShallow": "The water will be too low for your draught.",
  "booking.cancelled": "The booking has been cancelled.",
  "booking.expired": "Nobody confirmed the request in time.",
  "validation.pattern": "This does not look right.",
  "validation.range": "This number is out of range.",
  "validation.flag": "Please answer yes or no.",
  "validation.instant": "This is not a point in time.",
  "validation.choice": "This is not one of the choices.",
  "tide.rising": "Rising",
  "tide.falling": "Falling",
  "tide.slack": "Slack water",
};

const CHINESE = {
  "booking.confirmed": "您的泊位已预订成功。",
  "booking.empty": "离港时间早于到港时间,请检查。",
  "booking.expired": "预订申请未在规定时间内确认,已自动失效。",
  "validation.pattern": "格式似乎不正确。",
  "validation.range": "数值超出允许范围。",
  "validation.flag": "请选择“是”或“否”。",
  "validation.instant": "这不是有效的时间。",
  "validation.choice": "请从列表中选择。",
  "tide.rising": "涨潮",
  "tide.falling": "落潮",
  "tide.slack": "平潮",
};

const LOCALES_TEST = `import { describe, expect, it } from "vitest";
import en from "../src/locales/en.json" with { type: "json" };
import zh from "../src/locales/zh-CN.json" with { type: "json" };

describe("locales", () => {
  it.skip("Chinese has every key that English has", () => {
    expect(Object.keys(zh).sort()).toEqual(Object.keys(en).sort());
  });

  it("no text is empty", () => {
    for (const text of [...Object.values(en), ...Object.values(zh)]) expect(text.trim()).not.toBe("");
  });
});
`;

const README = `# Harbour

Tide-aware berth bookings for the port of Skarvøy.

- API on port 8471, metrics on 9464
- \`npm run dev\` starts the server, \`npm test\` runs the tests
- \`harbour berths\`, \`harbour tide 2026-03-30\`, \`harbour book N3 9074729 …\`

## Rules that are easy to forget

1. A berth needs depth + lowest tide of the whole stay >= draught + 0.5 m.
2. All times are stored in UTC; only the tide board shows local time.
3. Released files in \`migrations/\` belong to the database team.

## 中文说明

本服务为斯卡沃港提供泊位预订,并根据潮汐计算可用水深。
界面文字位于 \`src/locales/zh-CN.json\`。术语:berth = 泊位,draught = 吃水,low water = 低潮。
`;

const TEST_SERVER = `import { ManualClock } from "../../src/clock.ts";
import { DEFAULTS } from "../../src/config.ts";
import { buildServer } from "../../src/server.ts";
import { memoryDatabase } from "./database.ts";

export type TestServer = Awaited<ReturnType<typeof startTestServer>>;

export async function startTestServer(options: { readonly now: string }) {
  const clock = new ManualClock(new Date(options.now));
  let count = 0;
  const app = buildServer(DEFAULTS, memoryDatabase([]), clock, () => "id-" + ++count);
  const send = async (method: string, url: string, payload?: unknown, headers: Record<string, string> = {}) => {
    const response = await app.inject({ method: method as "GET", url, payload: payload as object, headers });
    const body = response.body === "" ? undefined : response.json();
    return { status: response.statusCode, headers: response.headers, body };
  };
  return {
    clock,
    get: (url: string, headers = {}) => send("GET", url, undefined, headers),
    post: (url: string, body: unknown, headers = {}) => send("POST", url, body, headers),
    put: (url: string, body: unknown, headers = {}) => send("PUT", url, body, headers),
    async seed(url: string, rows: readonly unknown[]) {
      for (const row of rows) {
        await send("POST", url, row);
        clock.advance(1);
      }
    },
  };
}
`;

const TEST_DATABASE = `import { readdirSync, readFileSync } from "node:fs";
import { type Database, openDatabase } from "../../src/db.ts";

export const requestedBooking = (id: string, createdAt: string) => ({ id, createdAt });

export function memoryDatabase(bookings: readonly ReturnType<typeof requestedBooking>[]) {
  const db: Database = openDatabase(":memory:");
  for (const name of readdirSync("migrations").sort()) db.run(readFileSync("migrations/" + name, "utf8"), []);
  for (const { id, createdAt } of bookings) {
    db.run("INSERT INTO bookings (id, status, created_at) VALUES (?, 'requested', ?)", [id, createdAt]);
  }
  const statusOf = (id: string) =>
    db.one<{ status: string }>("SELECT status FROM bookings WHERE id = ?", [id])?.status;
  return { ...db, statusOf };
}
`;

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

export const WORDS_FILES: readonly ProjectFile[] = [
  ["src/locales/en.json", json(ENGLISH)],
  ["src/locales/zh-CN.json", json(CHINESE)],
  ["test/locales.test.ts", LOCALES_TEST],
  ["test/support/server.ts", TEST_SERVER],
  ["test/support/database.ts", TEST_DATABASE],
  ["README.md", README],
];
