import { commit, conclude, runTests, type Stage } from "./stage.ts";

const CHINESE_KEYS: readonly (readonly [key: string, text: string])[] = [
  ["booking.full", "非常抱歉,该泊位在您选择的时段已被预订,请更换时段或泊位。"],
  ["booking.tooShallow", "很抱歉,停泊期间的潮位不足以满足贵船的吃水,请调整到港时间。"],
  ["booking.cancelled", "您的预订已取消,期待您再次光临。"],
];

/** A request in Chinese, a skipped test that is switched on and fails first. */
export function chineseTexts(stage: Stage): void {
  const { recorder, tools } = stage;
  recorder.pause(7);
  recorder.human(
    "请把中文界面缺少的提示补上:泊位已满、潮位不足、预订已取消。语气要礼貌,注意“泊位”不要写成“码头”。另外把 locales 测试里跳过的那一项打开,以后缺了翻译就要报错。",
  );
  recorder.respond({
    text: "好的。我先看中文文件和那个被跳过的测试。",
    calls: [tools.read("src/locales/zh-CN.json"), tools.read("test/locales.test.ts")],
  });
  const path = "test/locales.test.ts";
  const error = "expected [ 'booking.confirmed', …(10) ] to deeply equal [ 'booking.cancelled', …(13) ]";
  const missing = CHINESE_KEYS.map(([key]) => `-   "${key}",`).sort();
  const title = "locales > Chinese has every key that English has";
  const failure = {
    path,
    title,
    error,
    difference: ["  [", ...missing, "  ]"],
    at: "expect(Object.keys(zh)",
  };
  recorder.respond({
    calls: [tools.edit(path, "it.skip(", "it("), runTests(stage, [path], [failure])],
  });
  const anchor = '  "booking.expired"';
  const added = CHINESE_KEYS.map(
    ([key, text]) => `  ${JSON.stringify(key)}: ${JSON.stringify(text)},\n`,
  ).join("");
  recorder.respond({
    calls: [
      tools.edit("src/locales/zh-CN.json", anchor, added + anchor),
      tools.edit("README.md", "low water = 低潮。", "low water = 低潮。请勿将“泊位”译作“码头”。"),
      runTests(stage, [path]),
    ],
    layout: "contiguous",
  });
  recorder.respond({
    calls: [commit(stage, "feat(locales): complete the Chinese texts", ["src/locales", path, "README.md"])],
  });
  conclude(
    stage,
    "已补上三条中文提示,并启用了之前跳过的测试:今后中文缺少任何键都会失败。README 的术语一节也注明了“泊位”不译作“码头”。",
  );
}

const CAVEAT =
  "<local-command-caveat>Caveat: what follows was produced by the user running local commands. Do not answer it unless they ask you to.</local-command-caveat>";

/** A slash command that never reaches the model's work, but does reach its context. */
export function costCommand(stage: Stage): void {
  const { recorder } = stage;
  recorder.pause(1);
  recorder.user(CAVEAT, { isMeta: true });
  recorder.user(
    "<command-name>/cost</command-name>\n<command-message>cost</command-message>\n<command-args></command-args>",
  );
  recorder.user(
    "<local-command-stdout>Total cost: $3.87\nTotal duration (API): 16m 4s\nTotal code changes: 412 lines added, 131 lines removed</local-command-stdout>",
  );
}

/** Asked for, stopped in the middle, and taken back. */
export function cancelledUpgrade(stage: Stage): void {
  const { recorder, tools } = stage;
  recorder.pause(5);
  recorder.human("Let's upgrade fastify to 5 today after all, the changelog looks harmless.");
  recorder.respond({
    text: "That lifts the pin you set this morning. I look at what 5 changes for us before I touch package.json, then install it.",
    calls: [
      tools.grep("fastify", "src/http/", ".ts"),
      tools.cancelled("npm install fastify@5 --save-exact", "Install fastify 5"),
    ],
  });
  recorder.user([{ type: "text", text: "[Request interrupted by user for tool use]" }]);
  recorder.pause(0.5);
  recorder.human(
    "Stop. Forget the upgrade, I just heard that operations froze dependencies until the summer release. We stay on fastify 4.28.1.",
  );
  recorder.respond({
    calls: [
      tools.bash("git status --short && git diff --stat", "See that nothing changed", () => "", 0.2),
      tools.grep('"fastify"', "package.json"),
    ],
  });
  conclude(
    stage,
    "Nothing was installed: package.json still says 4.28.1 and the working tree is clean. The upgrade is off until the summer release.",
  );
}

/** The human edits a file by hand; the harness tells the agent. */
export function editedByHand(stage: Stage): void {
  const { recorder, tools, workspace } = stage;
  const path = "src/config.ts";
  workspace.edit(path, "poolSize: 8,", "poolSize: 12,");
  const line = workspace.lineOf(path, "poolSize: 12,");
  recorder.pause(2);
  recorder.human("I raised the pool size in src/config.ts by hand. Leave it at 12, please.");
  recorder.attachment({
    type: "edited_text_file",
    filename: tools.absolute(path),
    snippet: `${line}\t  poolSize: 12,`,
  });
  recorder.respond({ calls: [tools.read(path)] });
  conclude(stage, "Seen: `poolSize` is 12 now. I leave it.");
}
