// Runs a bundled program without the globals of Node, and prints the value that it returns. Arguments: the
// folder of the bundle and the name of its entry. Needs `--experimental-vm-modules`.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import vm from "node:vm";

const [, , folder = "", entry = ""] = process.argv;

/**
 * Globals that the core uses and that every browser and worker has, beside those of the language. All others
 * are absent: no process, no Buffer, no require, no fetch, no TextEncoder, no URL.
 */
const { AbortController, AbortSignal, DOMException, crypto } = globalThis;
const context = vm.createContext({
  AbortController,
  AbortSignal,
  DOMException,
  crypto,
  setTimeout,
  clearTimeout,
  setInterval,
  clearInterval,
});

const modules = new Map<string, vm.SourceTextModule>();

function read(name: string): vm.SourceTextModule {
  const known = modules.get(name);
  if (known !== undefined) return known;
  const module = new vm.SourceTextModule(readFileSync(join(folder, name), "utf8"), {
    context,
    identifier: name,
    importModuleDynamically: async (specifier: string) => evaluated(await linked(specifier)),
  });
  modules.set(name, module);
  return module;
}

async function linked(specifier: string): Promise<vm.SourceTextModule> {
  const module = read(specifier.replace("./", ""));
  if (module.status === "unlinked") await module.link((inner) => read(inner.replace("./", "")));
  return module;
}

async function evaluated(module: vm.SourceTextModule): Promise<vm.SourceTextModule> {
  await module.evaluate();
  return module;
}

const { namespace } = await evaluated(await linked(`./${entry}`));
process.stdout.write(JSON.stringify(await (namespace as { readonly result: unknown }).result));
