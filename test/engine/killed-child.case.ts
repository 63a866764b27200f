import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { FROM_SOURCE } from "../support/from-source.ts";
import type { Orders, Report, ReportOf } from "./killed-report.case.ts";

const PROGRAM = fileURLToPath(new URL("./killed-process.case.ts", import.meta.url));

/** A working process and its reports so far. */
export class Child {
  readonly reports: Report[] = [];
  errors = "";
  /** Exit code of the process. Null if it was killed. */
  readonly ended: Promise<number | null>;
  readonly #process: ChildProcess;
  #listeners: ((report: Report) => void)[] = [];

  constructor(orders: Orders) {
    const child = spawn(process.execPath, [...FROM_SOURCE, PROGRAM, JSON.stringify(orders)]);
    this.#process = child;
    let rest = "";
    child.stdout.setEncoding("utf8").on("data", (data: string) => {
      const lines = (rest + data).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#take(JSON.parse(line) as Report);
    });
    child.stderr.setEncoding("utf8").on("data", (data: string) => {
      this.errors += data;
    });
    this.ended = new Promise((resolve) => child.on("close", resolve));
  }

  reportsOf<Type extends Report["type"]>(type: Type): readonly ReportOf<Type>[] {
    return this.reports.filter((report): report is ReportOf<Type> => report.type === type);
  }

  /** Resolves when the next matching report arrives. */
  next(isTarget: (report: Report) => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#listeners.push((report) => {
        if (isTarget(report)) resolve();
      });
    });
  }

  /** Resolves when the process has ended. */
  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.ended;
  }

  #take(report: Report): void {
    this.reports.push(report);
    for (const listener of this.#listeners) listener(report);
  }
}
