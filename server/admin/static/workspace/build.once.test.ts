import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { buildWorkspace } from './build.ts'

let parent = ''
let folder = ''
before(async () => {
  parent = await mkdtemp(join(tmpdir(), 'parley-web-'))
  folder = join(parent, 'dist')
})
after(() => rm(parent, { recursive: true, force: true }))

const manifest = () => join(folder, 'built.json')

test('a build is kept until one of its sources has changed', async () => {
  const built = await buildWorkspace(folder)
  for (const name of built.files) assert.ok(existsSync(join(folder, name)), name)
  const text = await readFile(manifest(), 'utf8')
  // Each further file takes a round trip before the first page is shown.
  assert.ok(built.preload.length <= 2, built.preload.join())
  // A page renders Markdown with the parser of the widget.
  assert.ok(JSON.parse(text).sources.includes('widget/frame/parse-markdown.ts'))
  const old = new Date(0)
  await utimes(manifest(), old, old)
  assert.deepEqual(await buildWorkspace(folder), built)
  assert.equal((await stat(manifest())).mtimeMs, 0)
  await writeFile(manifest(), text.replace(/"fingerprint":"\w{4}/, '"fingerprint":"0000'))
  assert.deepEqual(await buildWorkspace(folder), built)
  assert.equal(await readFile(manifest(), 'utf8'), text)
  for (const name of built.files) assert.ok(existsSync(join(folder, name)), name)
})
