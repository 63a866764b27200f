import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Bundle, bundle, type TARGETS } from "../support/bundles.ts";
import { existing, install, installBinary, installNode } from "../support/installed.ts";
import {
  BUN_VERSION,
  CHROMIUM_VERSION,
  DENO_VERSION,
  NODE_VERSIONS,
  PLAYWRIGHT_VERSION,
  WORKERD_VERSION,
} from "./pins.ts";

/** A runtime that runs the program of `program.mjs` with the packed core. */
export interface Runtime {
  readonly name: string;
  /** Runs the program and returns its facts as JSON. Throws if the program fails. */
  run(place: Place): Promise<string>;
}

export interface Place {
  /** A project in which the packed packages are installed, and `program.mjs`. */
  readonly project: string;
  /** Folder for runtimes. Git ignores it. */
  readonly installed: string;
}

/** A runtime that takes longer counts as hung. All of them need a few seconds. */
const LIMIT_MS = 60_000;

const PRINTING = `import { run } from "./program.mjs";\nconsole.log(JSON.stringify(await run()));\n`;

/** Runs a program that prints the facts. The environment has no variables of ours. */
function printed(binary: string, args: readonly string[], { project }: Place): string {
  writeFileSync(join(project, "main.mjs"), PRINTING);
  const { status, stdout, stderr, error } = spawnSync(binary, [...args, "main.mjs"], {
    cwd: project,
    encoding: "utf8",
    timeout: LIMIT_MS,
    env: { PATH: process.env.PATH ?? "", HOME: mkdtempSync(join(tmpdir(), "longhaul-home-")) },
  });
  if (status !== 0) throw new Error(`${binary} failed: ${error?.message ?? ""} ${stderr.slice(-800)}`);
  return stdout.trim();
}

const node = (version: string): Runtime => ({
  name: `Node ${version}`,
  run: async (place) => printed(installNode(place.installed, version), [], place),
});

const bun: Runtime = {
  name: `Bun ${BUN_VERSION}`,
  run: async (place) => {
    const binary = installBinary(place.installed, {
      name: "bun",
      version: BUN_VERSION,
      scope: "@oven",
      prefix: "bun-",
      program: "bin/bun",
    });
    return printed(binary, ["run"], place);
  },
};

/** Deno runs the program without any permission. So core must not need the environment or files. */
const deno: Runtime = {
  name: `Deno ${DENO_VERSION}, no permissions`,
  run: async (place) => {
    const binary = installBinary(place.installed, {
      name: "deno",
      version: DENO_VERSION,
      scope: "@deno",
      prefix: "",
      program: "deno",
    });
    return printed(binary, ["run", "--no-prompt", "--cached-only", "--node-modules-dir=manual"], place);
  },
};

/** Bundles the program, with nothing left for the runtime to resolve. */
async function bundled(place: Place, code: string, target: keyof typeof TARGETS): Promise<Bundle> {
  const made = await bundle(place.project, code, target);
  if (made.unresolved.length > 0) throw new Error(`unresolved imports: ${made.unresolved.join(", ")}`);
  return made;
}

const WORKER = `import { run } from "./program.mjs";
export default { fetch: async () => Response.json(await run()) };`;

/** The Workers runtime of Cloudflare, without its compatibility layer for Node. */
const workerd: Runtime = {
  name: `workerd ${WORKERD_VERSION}`,
  run: async (place) => {
    const binary = installBinary(place.installed, {
      name: "workerd",
      version: WORKERD_VERSION,
      scope: "@cloudflare",
      prefix: "workerd-",
      program: "bin/workerd",
    });
    const { chunks, entry } = await bundled(place, WORKER, "worker");
    const folder = join(place.project, "worker");
    mkdirSync(folder, { recursive: true });
    for (const { name, code } of chunks) writeFileSync(join(folder, name), code);
    const names = [entry, ...chunks.map(({ name }) => name).filter((name) => name !== entry)];
    const modules = names.map((name) => `(name = "${name}", esModule = embed "${name}")`);
    writeFileSync(join(folder, "config.capnp"), workerConfig(modules));
    return fetchFrom(binary, folder);
  },
};

const workerConfig = (modules: readonly string[]): string => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [${modules.join(", ")}],
  compatibilityDate = "2026-01-01",
);
`;

/** Starts workerd, asks its worker once, and ends it. */
async function fetchFrom(binary: string, folder: string): Promise<string> {
  const child = spawn(binary, ["serve", "--control-fd=3", "config.capnp"], {
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe", "pipe"],
  });
  let errors = "";
  child.stderr?.on("data", (data: Buffer) => {
    errors += data.toString();
  });
  try {
    const port = await new Promise<number>((resolve, reject) => {
      let told = "";
      child.stdio[3]?.on("data", (data: Buffer) => {
        told += data.toString();
        const found = /"port":(\d+)/.exec(told)?.[1];
        if (found !== undefined) resolve(Number(found));
      });
      child.once("exit", () => reject(new Error(`workerd ended: ${errors.slice(-800)}`)));
      setTimeout(() => reject(new Error(`workerd does not listen: ${errors.slice(-800)}`)), LIMIT_MS).unref();
    });
    const response = await fetch(`http://127.0.0.1:${port}`, { signal: AbortSignal.timeout(LIMIT_MS) });
    const text = await response.text();
    if (!response.ok) throw new Error(`the worker failed: ${text} ${errors.slice(-800)}`);
    return text;
  } finally {
    child.kill("SIGKILL");
  }
}

const IN_PAGE = `import { run } from "./program.mjs";
run().then((facts) => { globalThis.facts = JSON.stringify(facts); }, (error) => { globalThis.failure = String(error?.stack); });`;
const IN_WORKER = `import { run } from "./program.mjs";
run().then((facts) => postMessage({ facts: JSON.stringify(facts) }), (error) => postMessage({ failure: String(error?.stack) }));`;
const WORKER_PAGE = `const worker = new Worker("./program.js", { type: "module" });
worker.onerror = (event) => { globalThis.failure = event.message; };
worker.onmessage = ({ data }) => Object.assign(globalThis, data);`;

/** Browsers trust a page from 127.0.0.1 as one over HTTPS, but no page from this host. It leads to 127.0.0.1. */
const HOST_WITHOUT_HTTPS = "longhaul.example";

/** A page of a real Chromium without HTTPS, and a worker of a page that the browser trusts. */
const chromium = (where: "page without HTTPS" | "web worker"): Runtime => ({
  name: `Chromium (@sparticuz/chromium ${CHROMIUM_VERSION}), ${where}`,
  run: async (place) => {
    const made = await bundled(place, where === "page without HTTPS" ? IN_PAGE : IN_WORKER, "browser");
    const files = new Map(made.chunks.map(({ name, code }) => [`/${name}`, code]));
    const script =
      where === "page without HTTPS"
        ? `<script type="module" src="/program.js"></script>`
        : `<script>${WORKER_PAGE}</script>`;
    // A program that fails while it loads never sets anything, so the page records the error.
    const watch = `<script>addEventListener("error", ({ message }) => { globalThis.failure ??= message; });</script>`;
    files.set("/", `<!doctype html><title>longhaul</title>${watch}${script}`);
    const server = await serve(files);
    try {
      const host = where === "web worker" ? "127.0.0.1" : HOST_WITHOUT_HTTPS;
      return await inChromium(place, `http://${host}:${(server.address() as AddressInfo).port}/`);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  },
});

function serve(files: ReadonlyMap<string, string>): Promise<Server> {
  const server = createServer((request, response) => {
    const text = files.get(request.url ?? "");
    const type = request.url === "/" ? "text/html" : "text/javascript";
    response.writeHead(text === undefined ? 404 : 200, { "content-type": `${type}; charset=utf-8` });
    response.end(text ?? "");
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

/** The parts of playwright-core and of the Chromium package that a run needs. */
interface Browsers {
  readonly chromium: {
    launch(options: object): Promise<{
      newPage(): Promise<{
        goto(url: string): Promise<unknown>;
        waitForFunction(code: string, argument: undefined, options: object): Promise<unknown>;
        evaluate(code: string): Promise<unknown>;
      }>;
      close(): Promise<void>;
    }>;
  };
}

async function inChromium({ installed }: Place, url: string): Promise<string> {
  const folder = install(installed, "playwright-core", PLAYWRIGHT_VERSION, [
    `@sparticuz/chromium@${CHROMIUM_VERSION}`,
  ]);
  const moduleAt = (path: string): string => pathToFileURL(existing(join(folder, "node_modules", path))).href;
  const playwright = (await import(moduleAt("playwright-core/index.mjs"))) as Browsers;
  const { default: packed } = (await import(moduleAt("@sparticuz/chromium/build/index.js"))) as {
    readonly default: { readonly args: readonly string[]; executablePath(): Promise<string> };
  };
  const browser = await playwright.chromium.launch({
    executablePath: await packed.executablePath(),
    args: [...packed.args, `--host-resolver-rules=MAP ${HOST_WITHOUT_HTTPS} 127.0.0.1`],
    headless: true,
  });
  try {
    const page = await browser.newPage();
    await page.goto(url);
    await page.waitForFunction("globalThis.facts ?? globalThis.failure", undefined, { timeout: LIMIT_MS });
    const failure = await page.evaluate("globalThis.failure");
    if (failure !== undefined) throw new Error(`the page failed: ${String(failure)}`);
    return String(await page.evaluate("globalThis.facts"));
  } finally {
    await browser.close();
  }
}

export const RUNTIMES: readonly Runtime[] = [
  ...NODE_VERSIONS.map(node),
  bun,
  deno,
  workerd,
  chromium("page without HTTPS"),
  chromium("web worker"),
];

/** Copies the program into the project. */
export function placeIn(project: string, installed: string): Place {
  cpSync(join(import.meta.dirname, "program.mjs"), join(project, "program.mjs"));
  return { project, installed };
}
