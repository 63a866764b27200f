/** Chinese in several registers, simplified and traditional, and Chinese mixed with English terms. */
import { choices, grow } from "./random.ts";

const SLOTS = {
  人: ["小林", "王老师", "我的邻居", "那位工程师", "张经理", "奶奶", "李明", "他妹妹"],
  地: ["上海", "火车站", "图书馆", "山脚下的村子", "会议室", "菜市场", "杭州西湖边", "医院门口"],
  物: ["一封信", "雨伞", "旧照片", "手机", "一本词典", "热茶", "钥匙"],
  数: ["三", "十二", "几十", "2023", "百分之八", "两百多", "1.5亿"],
  题: ["新能源汽车", "人工智能", "农村教育", "房地产市场", "气候变化", "芯片产业", "养老保险"],
  技: ["数据库", "缓存", "消息队列", "调度器", "前端页面", "登录接口", "日志系统"],
} as const;

const SIMPLIFIED = [
  "{人}站在{地}，手里拿着{物}，半天没有说话。",
  "天刚亮，{地}就已经热闹起来了，卖早点的吆喝声此起彼伏。",
  "“你怎么不早说呢？”{人}叹了口气，把{物}放在桌上。",
  "那一年的冬天特别冷，河面结了厚厚的冰，孩子们整天在上面滑来滑去。",
  "据新华社报道，{题}相关政策将于下月正式实施，预计惠及{数}万人。",
  "专家认为，{题}的发展离不开基础研究的长期投入，也需要完善的法律法规作为保障。",
  "国家统计局公布的数据显示，今年上半年{题}领域投资同比增长{数}个百分点。",
  "当请求量突然增加时，{技}会出现明显的延迟，严重时甚至导致服务不可用。",
  "建议先检查{技}的配置，确认连接数没有超过上限，然后再重启服务。",
  "这个函数的作用是把用户输入的字符串解析成结构化数据，如果格式不正确则抛出异常。",
  "修复方法很简单：在写入之前先加锁，写完之后立即释放，避免两个进程同时修改同一个文件。",
  "哈哈哈笑死我了，你昨天说的那个事到底怎么样了？",
  "今天好累啊，不想做饭，要不我们点外卖吧，你想吃什么？",
  "麻烦帮我看一下这段代码为什么一直报错，我已经试了好几种办法都不行。",
  "学而时习之，不亦说乎？有朋自远方来，不亦乐乎？",
  "春眠不觉晓，处处闻啼鸟。夜来风雨声，花落知多少。",
  "故天将降大任于是人也，必先苦其心志，劳其筋骨，饿其体肤。",
  "双方本着平等互利的原则，经友好协商，就上述事项达成如下协议。",
  "{人}从{地}回来以后，整个人都变了，话也少了，常常一个人坐着发呆。",
  "请在使用本产品之前仔细阅读说明书，并妥善保管，以备日后查阅。",
  "患者主诉头晕乏力{数}天，伴轻度咳嗽，无发热，既往体健。",
];

const TRADITIONAL = [
  "請先確認網路連線是否正常，再重新整理頁面；若問題仍然存在，請聯絡系統管理員。",
  "這家餐廳的牛肉麵真的很好吃，每次去都要排隊，不過還是值得。",
  "行政院今天宣布，明年起將調高基本工資，預計有超過兩百萬名勞工受惠。",
  "他把窗戶打開，夜風吹了進來，帶著一點海的味道。",
  "軟體更新後，部分使用者反映無法登入，開發團隊正在積極處理中。",
];

const MIXED_SLOTS = {
  名: [
    "React",
    "Kubernetes",
    "PostgreSQL",
    "useEffect",
    "TypeScript",
    "Docker",
    "webhook",
    "API key",
    "git rebase",
    "Redis",
    "npm install",
    "JSON",
  ],
  文: [
    "src/index.ts",
    "package.json",
    "`tsconfig.json`",
    "README.md",
    "utils/format.ts",
    "docker-compose.yml",
  ],
} as const;

const MIXED = [
  "我们用 {名} 重写了整个模块，性能提升了大约 30%，但是 bundle size 也变大了。",
  "请打开 {文}，把 `timeout` 改成 5000，然后运行 npm test 看看结果。",
  "这个 bug 的原因是 {名} 在 async 函数里没有 await，导致 Promise 一直 pending。",
  "部署之前记得先 merge 到 main 分支，CI 通过以后再打 tag，例如 v1.4.2。",
  "{名}和{名}的区别在于，前者是同步的，后者支持stream，适合处理大文件。",
  "PR 已经提了，麻烦 review 一下，主要改动在 {文} 里面。",
  "用户点击 Submit 之后，前端会发送一个 POST 请求到 /api/v1/orders，返回 HTTP 201。",
  "Error: connect ECONNREFUSED 127.0.0.1:5432，说明数据库没有启动，请检查 {名} 的配置。",
  "He said the deadline is next Friday，所以我们得抓紧时间了。",
  "TODO：把 {文} 里的硬编码字符串抽到 i18n 资源里。",
];

export function chineseCorpus(length: number, seed = 18): string {
  const from = choices(seed);
  return grow(length, "\n", () => {
    const bank = from.chance(0.2) ? TRADITIONAL : SIMPLIFIED;
    return Array.from({ length: from.between(2, 6) }, () =>
      fillHan(from.pick(bank), SLOTS, seed + from.below(1e6)),
    ).join("");
  });
}

export function chineseEnglishCorpus(length: number, seed = 19): string {
  const from = choices(seed);
  return grow(length, "\n", () =>
    Array.from({ length: from.between(1, 4) }, () =>
      from.chance(0.25)
        ? fillHan(from.pick(SIMPLIFIED), SLOTS, seed + from.below(1e6))
        : fillHan(from.pick(MIXED), MIXED_SLOTS, seed + from.below(1e6)),
    ).join(""),
  );
}

/**
 * Fills a template whose slots have Chinese names. `fill` accepts only ASCII word characters in the name of a
 * slot.
 */
function fillHan(template: string, slots: Readonly<Record<string, readonly string[]>>, seed: number): string {
  const from = choices(seed);
  return template.replace(/\{(.)\}/gu, (whole, name: string) =>
    slots[name] ? from.pick(slots[name]) : whole,
  );
}
