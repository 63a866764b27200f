import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..");

it("the API reports in packages/*/api match the built types", () => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--import", "tsx", join("scripts", "api-report.ts")],
    { cwd: ROOT, encoding: "utf8" },
  );
  expect(status, stdout + stderr).toBe(0);
});
