import { beforeEach } from "vitest";
import {
  type Body,
  createScene,
  type Scene,
} from "../../packages/simulator/src/anthropic/prompt/scene.case.ts";

/** The scene of the current test. */
export let scene: Scene;
beforeEach(async () => {
  scene = await createScene();
});

/** Returns the number of tokens of a prompt up to a position. */
export const upTo = (body: Body, index: number): number => scene.prompt(body).positions[index]?.tokens ?? 0;
