// Run by Node beside the official SDK: every method that its version has, and every fault.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(process.env.UC_SDK + '/package.json');
const { UltraContext, UltraContextHttpError } = await import(
  pathToFileURL(require.resolve('ultracontext')).href
);
const { UC_URL: baseUrl, UC_KEY: apiKey, UC_OTHER } = process.env;
const uc = new UltraContext({ apiKey, baseUrl });
const other = new UltraContext({ apiKey: UC_OTHER, baseUrl });
const UNKNOWN = 'ctx_' + '0'.repeat(24);
const newer = typeof uc.deleteMany === 'function';
let seen = 0;

const same = (found, wanted) => { assert.deepEqual(found, wanted); seen += 1; };
const contents = (answer) => answer.data.map((m) => m.content);
async function fault(status, text, work) {
  try {
    await work();
  } catch (error) {
    assert.ok(error instanceof UltraContextHttpError, String(error));
    assert.equal(error.status, status, error.bodyText);
    assert.deepEqual(JSON.parse(error.bodyText), { error: text });
    seen += 1;
    return;
  }
  assert.fail(`no fault: ${text}`);
}

const empty = await uc.create();
same(Object.keys(empty).sort(), ['created_at', 'id', 'metadata']);
const made = await uc.create({ metadata: { source: 'js', n: [1, null] } });
same(made.metadata, { source: 'js', n: [1, null] });
assert.ok(!Number.isNaN(new Date(made.created_at).getTime()));
const id = made.id;
same((await uc.append(id, { role: 'user', content: 'a', metadata: { m: 1 } })).data[0].index, 0);
same((await uc.append(id, [{ content: 'b' }, { content: 'c' }])).data.map((m) => m.index), [1, 2]);
same(contents(await uc.get(id)), ['a', 'b', 'c']);
let changed = await uc.update(id, { index: 0, content: 'A' }, { metadata: { why: 'x' } });
same([changed.version, changed.data[0].content], [1, 'A']);
changed = await uc.update(id, { id: changed.data[1].id, content: 'B' });
same(contents(changed), ['A', 'B', 'c']);
changed = await uc.update(id, [{ index: -1, content: 'C' }, { index: 0, extra: null }]);
same([changed.data[2].content, changed.data[0].extra], ['C', null]);
const history = await uc.get(id, { history: true });
same(history.versions.map((v) => v.operation), ['create', 'update', 'update', 'update']);
same(history.versions[1].metadata, { why: 'x' });
same(contents(await uc.get(id, { version: 0, at: 1 })), ['a', 'b']);
same(contents(await uc.get(id, { before: new Date(2 ** 41).toISOString() })), ['A', 'B', 'C']);
const fork = await uc.create({ from: id, version: 0, at: 0, metadata: { f: 1 } });
same(contents(await uc.get(fork.id)), ['a']);
const gone = await uc.delete(id, 0);
same(contents(gone), ['B', 'C']);
same((await uc.delete(id, [gone.data[0].id, -1], { metadata: { d: 1 } })).data, []);
const rows = await uc.get();
assert.ok([id, fork.id, empty.id].every((one) => rows.data.some((row) => row.id === one)));
same((await uc.get({ limit: 2 })).data.length, 2);

await fault(404, 'Context not found', () => uc.get(UNKNOWN));
await fault(404, 'Context not found', () => other.get(id));
await fault(404, 'Context not found', () => uc.append(UNKNOWN, { a: 1 }));
await fault(404, 'Source context not found', () => other.create({ from: id }));
await fault(404, 'Version not found', () => uc.get(id, { version: 99 }));
await fault(404, 'Index out of range', () => uc.get(id, { at: 99 }));
await fault(400, 'Invalid timestamp format', () => uc.get(id, { before: 'x' }));
await fault(400, 'version, at, and before require from', () => uc.create({ at: 1 }));
await fault(400, 'Cannot specify both id and index', () => uc.update(id, { id: 'x', index: 0 }));
await fault(400, 'Either id or index required', () => uc.update(id, { content: 'x' }));
await fault(400, 'Index out of range: 9', () => uc.delete(id, 9));
await fault(404, 'Message not found: x', () => uc.delete(id, 'x'));
const nobody = new UltraContext({ apiKey: 'uc_live_nobody', baseUrl });
await fault(401, 'Unauthorized', () => nobody.get());

if (newer) {
  const words = 'Body must contain "ids" (delete messages) or {"permanent": true}' +
    ' (delete entire context)';
  await fault(400, words, () => uc.delete(id));
  await fault(400, words, () => uc.delete(id, undefined));
  await fault(400, 'Invalid after timestamp', () => uc.get({ after: 'x' }));
  same((await uc.get({ source: 'js', after: '2020-01-01', before: '2035-01-01' })).data.length, 1);
  same((await uc.get({ session_id: 'none', host: 'h', user_id: 'u', project_path: 'p' })).data, []);
  same(await uc.delete(id, { permanent: true, metadata: { by: 'js' } }),
    { deleted: true, id, metadata: { by: 'js' } });
  await fault(404, 'Context not found', () => uc.delete(id, { permanent: true }));
  const some = await uc.deleteMany([fork.id, id]);
  same([some.deleted_count, some.results[1].error], [1, 'Not found']);
  same((await uc.deleteMany([id])).deleted_count, 0);
  await fault(400, 'ids must contain at most 100 items', () => uc.deleteMany(Array(101).fill('x')));
}
console.log(JSON.stringify({ seen, newer }));
