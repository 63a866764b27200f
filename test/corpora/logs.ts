/** Logs: syslog, access logs, structured lines, stack traces, test runs and package installs. */
import { timestamp, uuid } from "./json.ts";
import { type Choices, choices, grow } from "./random.ts";

const SERVICES = ["auth", "billing", "gateway", "indexer", "mailer", "scheduler", "uploads"];
const FUNCTIONS = [
  "handleRequest",
  "processQueue",
  "loadSettings",
  "Object.parse",
  "Socket.onData",
  "renderPage",
  "verifyToken",
  "Pool.acquire",
];
const MESSAGES = [
  "connection reset by peer",
  "request completed",
  "cache miss for key",
  "retrying in 500ms",
  "user not found",
  "slow query detected",
  "worker started",
  "invalid signature",
  "flushing buffers to disk",
  "rate limit exceeded",
];
const AGENTS = [
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36",
  "curl/8.7.1",
  "python-requests/2.31.0",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_4) AppleWebKit/605.1.15",
];

const address = (from: Choices): string =>
  [from.between(1, 223), from.below(256), from.below(256), from.between(1, 254)].join(".");
const clock = (from: Choices): string => timestamp(from).slice(11, 19);

const LINES: readonly ((from: Choices) => string)[] = [
  (from) =>
    `Mar ${String(from.between(1, 28)).padStart(2)} ${clock(from)} node-${from.between(1, 9)} ${from.pick(["kernel", "sshd", "systemd", "cron"])}[${from.between(100, 32000)}]: ${from.pick(MESSAGES)} from ${address(from)} port ${from.between(1024, 65535)}`,
  (from) =>
    `${address(from)} - - [${from.between(10, 28)}/Apr/2025:${clock(from)} +0000] "${from.pick(["GET", "POST", "PUT"])} /api/v2/${from.pick(SERVICES)}/${from.between(1, 9999)}?page=${from.between(1, 30)} HTTP/1.1" ${from.pick([200, 201, 304, 404, 502])} ${from.below(60000)} "-" "${from.pick(AGENTS)}"`,
  (from) =>
    JSON.stringify({
      level: from.pick([30, 40, 50]),
      time: 1.7e12 + from.below(1e9),
      pid: from.between(1, 40000),
      hostname: `${from.pick(SERVICES)}-${from.hex(9)}`,
      reqId: uuid(from),
      responseTime: from.below(1e6) / 1000,
      msg: from.pick(MESSAGES),
    }),
  (from) =>
    `${timestamp(from)} ${from.pick(["INFO ", "WARN ", "ERROR", "DEBUG"])} [${from.pick(SERVICES)}] ${from.pick(MESSAGES)} key=${from.pick(SERVICES)}:${from.hex(12)} attempt=${from.between(1, 5)} elapsed=${from.below(9000)}ms`,
  (from) =>
    `TypeError: Cannot read properties of undefined (reading '${from.pick(["id", "length", "headers"])}')\n${Array.from({ length: from.between(3, 6) }, () => `    at ${from.pick(FUNCTIONS)} (/app/src/${from.pick(SERVICES)}/${from.pick(["index", "client", "store"])}.ts:${from.between(1, 900)}:${from.between(1, 60)})`).join("\n")}`,
  (from) =>
    ` ✓ src/${from.pick(SERVICES)}/${from.pick(["parse", "store", "client"])}.test.ts (${from.between(1, 40)} tests) ${from.between(2, 900)}ms\n ❯ test/${from.pick(SERVICES)}.test.ts > ${from.pick(MESSAGES)}\n   → expected ${from.below(100)} to be ${from.below(100)} // Object.is equality`,
  (from) =>
    `[${String(from.below(100000))}.${from.digits(6)}] ${from.pick(SERVICES)}: fault at 0x${from.hex(16)} ip 0x${from.hex(12)} sp 0x${from.hex(12)} error ${from.between(1, 8)}`,
  (from) =>
    `npm warn deprecated ${from.pick(SERVICES)}-utils@${from.below(9)}.${from.below(20)}.${from.below(20)}: this version is no longer supported\nadded ${from.between(10, 900)} packages, and audited ${from.between(10, 900)} packages in ${from.between(1, 40)}s`,
  (from) =>
    `commit ${from.hex(40)}\nAuthor: Dana Whitfield <dana@example.com>\nDate:   Tue Apr ${from.between(1, 28)} ${clock(from)} 2025 +0200\n\n    fix(${from.pick(SERVICES)}): ${from.pick(MESSAGES)}\n`,
  (from) =>
    `-rw-r--r--  1 deploy staff ${String(from.below(900000)).padStart(8)} Apr ${from.between(10, 28)} ${clock(from).slice(0, 5)} ${from.pick(SERVICES)}-${from.hex(8)}.js.map`,
];

export function logLines(from: Choices, length: number): string {
  return grow(length, "\n", () => from.pick(LINES)(from));
}

/** Writes runs of lines in one format, like real log files. The format is picked again for each run. */
export function logsCorpus(length: number, seed = 14): string {
  const from = choices(seed);
  return grow(length, "\n", () => {
    const line = from.pick(LINES);
    return Array.from({ length: from.between(5, 25) }, () => line(from)).join("\n");
  });
}
