// Run by Node beside the official SDK: the guide's blocks, as printed. Says what came of them.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const given = JSON.parse(readFileSync(0, 'utf-8'));
const require = createRequire(process.env.UC_SDK + '/package.json');
const { UltraContext } = await import(pathToFileURL(require.resolve('ultracontext')).href);
const send = globalThis.fetch;
globalThis.fetch = (url, options) =>
  send(String(url).replace('https://api.ultracontext.ai', process.env.UC_URL), options);

const created = [];
const create = UltraContext.prototype.create;
UltraContext.prototype.create = async function (input) {
  const made = await create.call(this, input);
  created.push(made.id);
  return made;
};
const uc = new UltraContext({ apiKey: process.env.ULTRACONTEXT_API_KEY });
globalThis.uc = uc;
globalThis.contextId = given.context_id;
globalThis.generate = async (id, options) => {
  const text = `an answer of ${options?.model}`;
  await uc.append(id, { role: 'assistant', content: text });
  return text;
};
const contents = async (id) => (await uc.get(id)).data.map((m) => m.content);
const found = {};
for (const [name, code] of Object.entries(given.blocks)) {
  created.length = 0;
  const file = join(process.env.UC_SDK, `guide-${process.pid}-${name}.mts`);
  writeFileSync(file, code);
  const module = await import(pathToFileURL(file).href);
  Object.assign(globalThis, module);
  found[name] = await Promise.all(created.map(contents));
}

const source = (await uc.create()).id;
await uc.append(source, [{ content: 'first' }, { content: 'second' }]);
found.step = await globalThis.safeAgentStep(source, async () => 'done');
found['after step'] = await contents(source);
const back = await globalThis.safeAgentStep(source, async () => { throw new Error('no'); });
found['rolled back'] = (await contents(back.rolledBackTo)).length === 3;
found['rolled back success'] = back.success;
const branches = [];
for (let n = 0; n < given.branches; n += 1) {
  branches.push(await globalThis.branchFromMessage(source, (n % 2) + 1));
}
found.branch = await contents(branches[1]);
const listed = await globalThis.getBranches(source);
found.branches = listed.filter((row) => branches.includes(row.id)).length;
console.log(JSON.stringify(found));
