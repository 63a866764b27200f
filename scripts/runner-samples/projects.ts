/** Small invented projects, one for each runner, and the commands that run them. */

export interface SampleProject {
  readonly runner: string;
  /** Files that every command needs, by path. */
  readonly files: Readonly<Record<string, string>>;
  /** Files that make the command pass, and files that make it fail. */
  readonly good: Readonly<Record<string, string>>;
  readonly bad: Readonly<Record<string, string>>;
  readonly command: string;
  /** The same command with colors, if an option or a variable turns them on. */
  readonly colored?: string;
  /** Other commands to record as they are, such as one with another reporter. */
  readonly also?: readonly string[];
}

const SUM = "export const sum = (a, b) => a + b;\n";
const WRONG_SUM = "export const sum = (a, b) => a - b;\n";
const MODULE = '{ "type": "module", "scripts": { "test": "vitest run", "mocha": "mocha" } }\n';

const GOOD_RUST = "pub fn sum(a: i32, b: i32) -> i32 {\n    a + b\n}\n";
const RUST_TESTS =
  "\n#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn adds() {\n        assert_eq!(sum(1, 2), 3);\n    }\n    #[test]\n    fn rejects_error_values() {\n        assert!(true);\n    }\n}\n";
const CARGO = '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n';

const JAVA_MAIN = (body: string): string =>
  `package shop;\n\npublic class Sum {\n  public static int sum(int a, int b) {\n    ${body}\n  }\n}\n`;
const JAVA_TEST =
  "package shop;\n\nimport static org.junit.Assert.assertEquals;\nimport org.junit.Test;\n\npublic class SumTest {\n  @Test\n  public void adds() {\n    assertEquals(3, Sum.sum(1, 2));\n  }\n\n  @Test\n  public void rejectsErrors() {\n    assertEquals(1, 1);\n  }\n}\n";
const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>shop</groupId>
  <artifactId>shop</artifactId>
  <version>1.0</version>
  <properties>
    <maven.compiler.source>17</maven.compiler.source>
    <maven.compiler.target>17</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.x</version><scope>test</scope></dependency>
  </dependencies>
</project>
`;
/** Uses the plugins of the Debian packages maven-debian-helper and libsurefire-java. */
const MAVEN_OFFLINE = "-o\n-Dmaven.repo.local=/usr/share/maven-repo\n";
const GRADLE =
  "apply plugin: 'java'\ncompileJava.options.encoding = 'UTF-8'\ndependencies { testCompile files('/usr/share/java/junit4.jar', '/usr/share/java/hamcrest-core.jar') }\n";

const jsProject = (
  runner: string,
  command: string,
  test: string,
  rest: Partial<SampleProject>,
): SampleProject => ({
  runner,
  command,
  files: { "package.json": MODULE, [test.includes("/") ? test : `test/${test}`]: "" },
  good: { "src/sum.js": SUM },
  bad: { "src/sum.js": WRONG_SUM },
  ...rest,
});

const withTest = (project: SampleProject, path: string, code: string): SampleProject => ({
  ...project,
  files: { ...project.files, [path]: code },
});

const DESCRIBED = `describe("sum", () => {
  it("adds numbers", () => { expect(sum(1, 2)).toBe(3); });
  it("throws an error for a missing value", () => { expect(1).toBe(1); });
});
`;
const IMPORT_SUM = 'import { sum } from "../src/sum.js";\n';
const ASSERTED = (open: string): string =>
  `${open}import assert from "node:assert";\n${IMPORT_SUM}describe("sum", () => {
  it("adds numbers", () => { assert.equal(sum(1, 2), 3); });
  it("throws an error for a missing value", () => {});
});
`;

export const SAMPLE_PROJECTS: readonly SampleProject[] = [
  withTest(
    jsProject("vitest", "npx vitest run", "sum.test.js", {
      colored: "FORCE_COLOR=1 npx vitest run",
      also: ["npm test", "npx vitest run --reporter=verbose", "npx vitest run test/none.test.js"],
    }),
    "test/sum.test.js",
    `import { describe, expect, it } from "vitest";\n${IMPORT_SUM}${DESCRIBED}`,
  ),
  {
    runner: "jest",
    command: "npx jest",
    colored: "FORCE_COLOR=1 npx jest --colors",
    also: ["npx jest --verbose", "npx jest -t nothing"],
    files: {
      "package.json": '{ "scripts": { "test": "jest" } }\n',
      "test/sum.test.js": `const { sum } = require("../src/sum.js");\n${DESCRIBED}`,
    },
    good: { "src/sum.js": "exports.sum = (a, b) => a + b;\n" },
    bad: { "src/sum.js": "exports.sum = (a, b) => a - b;\n" },
  },
  withTest(
    jsProject("mocha", "npx mocha", "sum.js", {
      colored: "npx mocha --color",
      also: ["npx mocha --reporter dot", "npm run mocha"],
    }),
    "test/sum.js",
    ASSERTED(""),
  ),
  withTest(
    jsProject("node-test", "node --test --test-reporter=spec", "sum.test.js", {
      colored: "FORCE_COLOR=1 node --test --test-reporter=spec",
      also: ["node --test --test-reporter=tap"],
    }),
    "test/sum.test.js",
    ASSERTED('import { describe, it } from "node:test";\n'),
  ),
  withTest(
    jsProject("playwright", "npx playwright test", "sum.spec.js", {
      colored: "FORCE_COLOR=1 npx playwright test",
      also: ["npx playwright test --reporter=list", "npx playwright test --reporter=dot"],
    }),
    "test/sum.spec.js",
    `import { expect, test } from "@playwright/test";\n${IMPORT_SUM}test("adds numbers", () => { expect(sum(1, 2)).toBe(3); });\ntest("shows an error message", () => {});\n`,
  ),
  {
    runner: "pytest",
    command: "python3 -m pytest",
    colored: "python3 -m pytest --color=yes",
    also: ["python3 -m pytest -q", "python3 -m pytest -v", "python3 -m pytest -k nothing"],
    files: {
      "test_shop.py":
        "from shop import total\n\ndef test_adds():\n    assert total(1, 2) == 3\n\ndef test_raises_error():\n    assert True\n",
    },
    good: { "shop.py": "def total(a, b):\n    return a + b\n" },
    bad: { "shop.py": "def total(a, b):\n    return a - b\n" },
  },
  {
    runner: "unittest",
    command: "python3 -m unittest",
    also: ["python3 -m unittest -v"],
    files: {
      "test_shop.py":
        "import unittest\nfrom shop import total\n\nclass TestShop(unittest.TestCase):\n    def test_adds(self):\n        self.assertEqual(total(1, 2), 3)\n    def test_raises_error(self):\n        pass\n",
    },
    good: { "shop.py": "def total(a, b):\n    return a + b\n" },
    bad: { "shop.py": "def total(a, b):\n    return a - b\n" },
  },
  {
    runner: "go-test",
    command: "go test ./...",
    also: ["go test -v ./...", "go test -run Nothing ./...", "go vet ./..."],
    files: {
      "go.mod": "module example.com/shop\n\ngo 1.19\n",
      "cart/cart.go": "package cart\n\nfunc Count() int { return 1 }\n",
      "cart/cart_test.go":
        'package cart\n\nimport "testing"\n\nfunc TestCount(t *testing.T) {\n\tif Count() != 1 {\n\t\tt.Fatal("wrong")\n\t}\n}\n',
      "sum/sum_test.go":
        'package sum\n\nimport "testing"\n\nfunc TestAdds(t *testing.T) {\n\tif got := Sum(1, 2); got != 3 {\n\t\tt.Errorf("got %d, want 3", got)\n\t}\n}\n\nfunc TestErrorValue(t *testing.T) {}\n',
    },
    good: { "sum/sum.go": "package sum\n\nfunc Sum(a, b int) int { return a + b }\n" },
    bad: { "sum/sum.go": "package sum\n\nfunc Sum(a, b int) int { return a - b }\n" },
  },
  {
    runner: "go-build",
    command: "go build ./...",
    also: ["go test ./...", "go vet ./..."],
    files: {
      "go.mod": "module example.com/shop\n\ngo 1.19\n",
      "sum_test.go": 'package shop\n\nimport "testing"\n\nfunc TestAdds(t *testing.T) {}\n',
    },
    good: { "sum.go": "package shop\n\nfunc Sum(a, b int) int { return a + b }\n" },
    bad: { "sum.go": "package shop\n\nfunc Sum(a, b int) int { return total }\n" },
  },
  {
    runner: "cargo-test",
    command: "cargo test",
    colored: "cargo test --color=always",
    also: ["cargo test -q", "cargo test nothing"],
    files: { "Cargo.toml": CARGO },
    good: { "src/lib.rs": `${GOOD_RUST}${RUST_TESTS}` },
    bad: { "src/lib.rs": `${GOOD_RUST.replace("a + b", "a - b")}${RUST_TESTS}` },
  },
  {
    runner: "cargo-build",
    command: "cargo build",
    colored: "cargo build --color=always",
    also: ["cargo clippy -- -D warnings", "cargo check", "cargo test"],
    files: { "Cargo.toml": CARGO },
    good: { "src/lib.rs": GOOD_RUST },
    bad: { "src/lib.rs": "pub fn sum(a: i32) -> i32 {\n    a + missing\n}\n" },
  },
  {
    runner: "rspec",
    command: "rspec",
    colored: "rspec --force-color",
    also: ["rspec --format documentation", "rspec -e nothing"],
    files: {
      "spec/sum_spec.rb":
        'require_relative "../sum"\n\nRSpec.describe "sum" do\n  it("adds numbers") { expect(sum(1, 2)).to eq 3 }\n  it("raises an error for nil") { expect(1).to eq 1 }\nend\n',
    },
    good: { "sum.rb": "def sum(a, b) = a + b\n" },
    bad: { "sum.rb": "def sum(a, b) = a - b\n" },
  },
  {
    runner: "phpunit",
    command: "phpunit tests",
    colored: "phpunit --colors=always tests",
    also: ["phpunit --testdox tests", "phpunit --filter nothing tests"],
    files: {
      "tests/SumTest.php":
        '<?php\nuse PHPUnit\\Framework\\TestCase;\nrequire_once __DIR__ . "/../sum.php";\n\nfinal class SumTest extends TestCase {\n    public function testAdds(): void { $this->assertSame(3, total(1, 2)); }\n    public function testThrowsError(): void { $this->assertTrue(true); }\n}\n',
    },
    good: { "sum.php": "<?php\nfunction total($a, $b) { return $a + $b; }\n" },
    bad: { "sum.php": "<?php\nfunction total($a, $b) { return $a - $b; }\n" },
  },
  {
    runner: "ctest",
    command: "cmake -B build >/dev/null && cmake --build build >/dev/null; ctest --test-dir build",
    also: [
      "cmake -B build >/dev/null; cd build && ctest --output-on-failure",
      "cmake -B build >/dev/null; ctest --test-dir build -R nothing",
    ],
    files: {
      "CMakeLists.txt":
        "cmake_minimum_required(VERSION 3.20)\nproject(shop NONE)\nenable_testing()\ninclude(checks.cmake)\nadd_test(NAME error_message COMMAND true)\n",
    },
    good: { "checks.cmake": "add_test(NAME adds COMMAND true)\n" },
    bad: { "checks.cmake": "add_test(NAME adds COMMAND false)\n" },
  },
  {
    runner: "make",
    command: "make test",
    also: ["make test -k", "make"],
    files: { "check.sh": "test -f good.txt\n" },
    good: { "good.txt": "", Makefile: "build:\n\ttrue\ntest: build\n\tsh check.sh\n" },
    bad: { Makefile: "build:\n\ttrue\ntest: build\n\tsh check.sh\n" },
  },
  {
    runner: "prove",
    command: "prove t",
    also: ["prove -v t"],
    files: {
      "t/sum.t":
        'use Test::More tests => 2;\nrequire "./sum.pl";\nis(sum(1, 2), 3, "adds numbers");\nok(1, "dies with an error");\n',
    },
    good: { "sum.pl": "sub sum { return $_[0] + $_[1]; }\n1;\n" },
    bad: { "sum.pl": "sub sum { return $_[0] - $_[1]; }\n1;\n" },
  },
  {
    runner: "tsc",
    command: "npx tsc --noEmit",
    colored: "npx tsc --noEmit --pretty",
    also: ["npx tsc -p . --noEmit"],
    files: {
      "tsconfig.json":
        '{ "compilerOptions": { "strict": true, "outDir": "out", "types": [] }, "include": ["src"] }\n',
    },
    good: { "src/sum.ts": "export const sum = (a: number, b: number): number => a + b;\n" },
    bad: {
      "src/sum.ts":
        "export const sum = (a: number, b: number): string => a + b;\nexport const rest = total;\n",
    },
  },
  {
    runner: "eslint",
    command: "npx eslint src",
    colored: "npx eslint --color src",
    also: ["npx eslint --max-warnings 0 src"],
    files: {
      "package.json": '{ "type": "module" }\n',
      "eslint.config.js":
        'export default [{ rules: { "no-unused-vars": "error", "prefer-const": "warn" } }];\n',
    },
    good: { "src/sum.js": SUM },
    bad: { "src/sum.js": "let kept = 1;\nconst unused = kept;\n" },
  },
  {
    runner: "biome",
    command: "npx biome check src",
    colored: "npx biome check --colors=force src",
    also: ["npx biome lint src"],
    files: { "biome.json": "{}\n" },
    good: { "src/sum.js": "export const sum = (a, b) => a + b;\n" },
    bad: { "src/sum.js": "debugger;\nexport const sum = (a,b) => a + b\n" },
  },
  {
    runner: "ruff",
    command: "ruff check .",
    also: ["ruff format --check .", "mypy shop.py"],
    files: {},
    good: { "shop.py": "def total(a: int, b: int) -> int:\n    return a + b\n" },
    bad: { "shop.py": "import os\ndef total(a: int, b: int) -> str:\n    return a + b\n" },
  },
  {
    runner: "gradle",
    command: "gradle --offline --no-daemon --console=plain test",
    also: ["gradle --offline --no-daemon test", "gradle --offline --no-daemon -q test"],
    files: {
      "build.gradle": GRADLE,
      "settings.gradle": "rootProject.name = 'shop'\n",
      "src/test/java/shop/SumTest.java": JAVA_TEST,
    },
    good: { "src/main/java/shop/Sum.java": JAVA_MAIN("return a + b;") },
    bad: { "src/main/java/shop/Sum.java": JAVA_MAIN("return a - b;") },
  },
  {
    runner: "maven",
    command: "mvn test",
    also: ["mvn -q test", "mvn -B test"],
    files: {
      "pom.xml": POM,
      ".mvn/maven.config": MAVEN_OFFLINE,
      "src/test/java/shop/SumTest.java": JAVA_TEST,
    },
    good: { "src/main/java/shop/Sum.java": JAVA_MAIN("return a + b;") },
    bad: { "src/main/java/shop/Sum.java": JAVA_MAIN("return a - b;") },
  },
];
