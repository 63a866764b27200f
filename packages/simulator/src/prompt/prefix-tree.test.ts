import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { blockParts } from "./block-equality.ts";
import { type PrefixNode, PrefixTree } from "./prefix-tree.ts";

describe("PrefixTree, which stores all prompts as a tree of blocks", () => {
  it("PrefixTree returns the same node for the same blocks in the same order", () => {
    const { root } = new PrefixTree();
    const walk = (...texts: readonly string[]) =>
      texts.reduce((node, text) => node.block(blockParts({ type: "text", text })), root);
    expect(walk("a", "b")).toBe(walk("a", "b"));
    expect(walk("a", "b")).not.toBe(walk("b", "a"));
    expect(walk("a", "b").parent).toBe(walk("a"));
  });

  it("PrefixTree returns different nodes for the same block in different roles", () => {
    const { root } = new PrefixTree();
    const parts = blockParts({ type: "text", text: "a" });
    expect(root.block(parts, "U")).not.toBe(root.block(parts, "A"));
  });

  it("PrefixTree finds each of 200 child nodes again", () => {
    const { root } = new PrefixTree();
    const nodes = Array.from({ length: 200 }, (_, index) => root.child("t", { index }));
    expect(nodes.map((_, index) => root.child("t", { index }))).toEqual(nodes);
    expect(new Set(nodes).size).toBe(200);
  });

  it("PrefixTree returns the same node for values with the same key", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { maxLength: 30 }), (values) => {
        const { root } = new PrefixTree();
        const byKey = new Map<string, unknown>();
        for (const value of values.map((one) => JSON.parse(JSON.stringify(one)) as unknown)) {
          const node = root.child("j", value, "any");
          const known = byKey.get(node.key);
          if (known !== undefined) expect(node).toBe(known);
          byKey.set(node.key, node);
        }
      }),
    );
  });

  it("when PrefixTree exceeds its size limit, it drops old conversations and keeps cached and recent ones", () => {
    const tree = new PrefixTree({ limitCharacters: 10_000 });
    const say = (name: string) =>
      tree.root.child("t", name.padEnd(100)).child("t", `${name} more`.padEnd(100));
    const cached = say("cached");
    cached.held = 1;
    const old = say("old");
    for (let call = 0; call < 2_000; call++) {
      tree.beginCall();
      say(String(call));
    }
    const recent = say("1999");
    expect(tree.characters).toBeLessThan(200_000);
    tree.root.prune();
    expect(say("cached")).toBe(cached);
    expect(say("1999")).toBe(recent);
    expect(say("old")).not.toBe(old);
  });

  it("PrefixTree releases cached conversations only if it is still too large without all others", () => {
    const cached: PrefixNode[] = [];
    const tree = new PrefixTree({
      limitCharacters: 20_000,
      heldLimitCharacters: 100_000,
      release: () => {
        const oldest = cached.splice(0, Math.ceil(cached.length / 2));
        for (const node of oldest) node.held = 0;
        return oldest.length > 0;
      },
    });
    let most = 0;
    for (let call = 0; call < 5_000; call++) {
      tree.beginCall();
      const node = tree.root.child("t", String(call).padEnd(100));
      node.held = 1;
      cached.push(node);
      most = Math.max(most, tree.characters);
      if (call === 500) expect(cached).toHaveLength(501);
    }
    expect(most).toBeLessThan(210_000);
    expect(cached.length).toBeGreaterThan(400);
  });

  it("PrefixTree can drop a conversation of a hundred thousand blocks", () => {
    const tree = new PrefixTree({ limitCharacters: 1_000 });
    let node = tree.root;
    for (let block = 0; block < 100_000; block++) node = node.child("t", "x");
    for (let call = 0; call < 300; call++) tree.beginCall();
    tree.root.prune();
    expect(tree.characters).toBe(0);
  });
});
