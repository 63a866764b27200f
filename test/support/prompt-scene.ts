import { beforeEach } from "vitest";
import { type Body, createScene, type Scene } from "../../packages/simulator/src/prompt/scene.case.ts";

/** Another one for each test of the file that imports it. */
export let scene: Scene;
beforeEach(async () => {
  scene = await createScene();
});

/** Tokens before a position. */
export const upTo = (body: Body, index: number): number => scene.prompt(body).positions[index]?.tokens ?? 0;
