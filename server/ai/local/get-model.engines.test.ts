import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { embeddingFolder } from '../../../test/embedding-folder.ts'
import { type HubServer, startHub } from '../../../test/fakes/hub-server.ts'
import { hubModelOf, realModel } from '../../../test/real-onnx-model.ts'
import { until } from '../../../test/until.ts'
import { createModels } from '../models.ts'
import { fetchedModels } from './fetched-models.ts'
import { GetFailure } from './get-failure.ts'
import { getModel, type Progress } from './get-model.ts'
import type { HubModel } from './hub-models.ts'

/** A real model where Maven has it; elsewhere one of three numbers. */
const real = await realModel()
const tiny = embeddingFolder()
const files =
  real ??
  new Map([
    ['onnx/model_quantized.onnx', readFileSync(join(tiny, 'model.onnx'))],
    ['tokenizer.json', readFileSync(join(tiny, 'tokenizer.json'))],
  ])
const weights = 'onnx/model_quantized.onnx'
const model = hubModelOf('e5-small-v2', files)
const made: string[] = [join(tiny, '..')]
let hub: HubServer
/** The folder of an installation that has fetched the model, with what runs it; null if npm could not install that. */
let whole: string | null = null

before(async () => {
  hub = await startHub(model.repository, model.revision, files)
})
after(async () => {
  await hub.close()
  for (const folder of made) rmSync(folder, { recursive: true, force: true })
})

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-models-'))
  made.push(folder)
  return join(folder, 'models')
}

const get = (folder: string, more: Partial<Parameters<typeof getModel>[0]> = {}): Promise<void> =>
  getModel({ folder, model, hub: hub.url, pauseMs: 1, ...more })

/** Has the connection end when so many bytes of the model are in the folder. */
function cutAfter(after: number, folder: string): void {
  const part = join(folder, model.name, 'model.onnx.part')
  const arrived = () => until('the bytes', () => statSync(part, { throwIfNoEntry: false })?.size === after)
  hub.cut = { after, arrived }
}

const failureOf = async (work: Promise<void>): Promise<string> => {
  const error = await work.then(
    () => assert.fail('it was fetched'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof GetFailure, String((error as Error)?.stack ?? error))
  return error.message
}

const modelsIn = (folder: string) =>
  createModels({ catalogue: NOTHING, builtin: {} as never, fetchedInto: folder })
const NOTHING = { entries: [], auto: '', embedding: null, formerEmbedding: null }

test('a model and what runs it are fetched, tried and in use, after the download was cut', async (t) => {
  const folder = newFolder()
  const said: string[] = []
  const seen: Progress[] = []
  const running = modelsIn(folder)
  assert.deepEqual([running.embedding, running.embedder], [null, null])
  const half = Math.floor(files.get(weights)!.length / 2)
  cutAfter(half, folder)
  try {
    await get(folder, { say: (line) => said.push(line), onProgress: (progress) => seen.push(progress) })
  } catch (error) {
    if (error instanceof GetFailure && /^npm could not/.test(error.message)) return t.skip(error.message)
    throw error
  }
  whole = folder
  assert.ok(
    hub.asked.some((path) => /\/blobs\/.* bytes=\d+-$/.test(path) && !path.endsWith('bytes=0-')),
    hub.asked.join('\n'),
  )
  assert.match(said[0]!, /^e5-small-v2 takes \d+ MB .* left to fetch from http:.* 300 MB of memory/)
  assert.deepEqual([...new Set(seen.map(({ step }) => step))], ['model', 'runtime', 'trying'])
  assert.ok(seen.every(({ done }, at) => at === 0 || done >= seen[at - 1]!.done))
  assert.equal(seen.at(-1)?.done, seen.at(-1)?.total)
  const systems = join(folder, 'runtime', 'node_modules', 'onnxruntime-node', 'bin', 'napi-v6')
  const parts = readdirSync(systems).flatMap((system) => readdirSync(join(systems, system)))
  assert.deepEqual(parts, [process.arch], 'only what this system uses is kept')

  assert.equal(running.adoptFetched(), true)
  assert.equal(running.adoptFetched(), false, 'nothing is new')
  assert.equal(running.embedding?.name, 'e5-small-v2')
  const [question] = await running.embedder!.embed(['How do I get my money back?'], { areQuestions: true })
  const [near, far] = await running.embedder!.embed(['Refunds are paid within a week.', 'The sky is blue.'])
  const product = (other: Float32Array): number =>
    other.reduce((sum, one, at) => sum + one * question![at]!, 0)
  if (real) assert.ok(product(near!) > product(far!) + 0.03, `${product(near!)} ${product(far!)}`)
  await running.close()
  const later = modelsIn(folder)
  assert.equal(later.embedder?.space, running.embedder?.space, 'a start finds it')
  await later.close()
})

test('a second attempt fetches only what is missing', async (t) => {
  if (!whole) return t.skip('nothing was installed')
  const before = hub.asked.length
  await get(whole)
  assert.equal(hub.asked.length, before)
  rmSync(join(whole, model.name, 'tokenizer.json'))
  await get(whole)
  assert.deepEqual(
    hub.asked.slice(before).map((path) => path.split('/').at(-1)),
    ['tokenizer.json', 'tokenizer.json'],
  )
})

test('a folder of another installation takes the place of the internet', async (t) => {
  if (!whole) return t.skip('nothing was installed')
  const folder = newFolder()
  const before = hub.asked.length
  await get(folder, { from: whole })
  assert.equal(hub.asked.length, before)
  assert.equal(fetchedModels(folder)[0]?.hash, fetchedModels(whole)[0]?.hash)

  const empty = newFolder()
  mkdirSync(empty, { recursive: true })
  assert.match(await failureOf(get(newFolder(), { from: empty })), /has no e5-small-v2.model\.onnx\. Give/)
  const damaged = newFolder()
  mkdirSync(join(damaged, model.name), { recursive: true })
  for (const { as } of model.files) writeFileSync(join(damaged, model.name, as), 'something else')
  const target = newFolder()
  assert.match(await failureOf(get(target, { from: damaged })), /is not the file that was published/)
  assert.deepEqual(fetchedModels(target), [])
})

test('a file that is not the published one is removed, and a longer one is not fetched to its end', async () => {
  const folder = newFolder()
  const other = Buffer.from(files.get(weights)!)
  other[100] = other[100]! ^ 1
  hub.replaced.set(weights, other)
  assert.match(
    await failureOf(get(folder)),
    /model_quantized\.onnx is not the file that was published: its SHA-256 is [0-9a-f]{64}, and must be [0-9a-f]{64}\. It has been removed\. Try again/,
  )
  assert.deepEqual(readdirSync(join(folder, model.name)), [])
  hub.replaced.set(weights, Buffer.concat([other, other]))
  assert.match(await failureOf(get(folder)), /is not the file that was published: its size is not \d+ bytes/)
  assert.deepEqual(readdirSync(join(folder, model.name)), [])
  hub.replaced.clear()
})

test('a hub that is not there, or refuses, is named with what to do; what was fetched is kept', async () => {
  const folder = newFolder()
  cutAfter(100, folder)
  hub.statusAfterCut = 404
  assert.match(
    await failureOf(get(folder)),
    /cannot be fetched: its server answers with 404\. Check HF_ENDPOINT/,
  )
  assert.match(
    await failureOf(get(folder, { hub: 'http://127.0.0.1:9' })),
    /^http:.*127\.0\.0\.1:9\/.* cannot be reached \(ECONNREFUSED\)\. What has been fetched is kept, .* --from FOLDER\.$/,
  )
  assert.deepEqual(readdirSync(join(folder, model.name)), ['model.onnx.part'])
  hub.status = null
  hub.replaced.set('tokenizer.json', Buffer.from('{}'))
  assert.match(
    await failureOf(get(folder)),
    /tokenizer\.json is not the file that was published: its size is not \d+ bytes/,
  )
  hub.replaced.clear()
  assert.ok(hub.asked.some((path) => path.endsWith(' bytes=100-')))
})

test('too little memory or room, and a folder that cannot be written, are said before anything is fetched', async () => {
  const before = hub.asked.length
  const large: HubModel = { ...model, memoryMb: 780 }
  const folder = newFolder()
  assert.match(
    await failureOf(get(folder, { model: large, memory: 2 ** 30 })),
    /^The service and this model need 1170 MB of memory, and this (machine has|container allows) 1024 MB\. Nothing was fetched\. Give it more, or use an embedding model on a server/,
  )
  const huge: HubModel = {
    ...model,
    files: [{ ...model.files[0]!, bytes: 2 ** 50 }, ...model.files.slice(1)],
  }
  assert.match(
    await failureOf(get(folder, { model: huge })),
    /^The disk of DATA_DIR has room for \d+ MB beside its reserve, and e5-small-v2 needs \d+ MB more\. Nothing was fetched/,
  )
  const file = join(newFolder(), '..', 'file')
  writeFileSync(file, '')
  assert.match(
    await failureOf(get(join(file, 'models'))),
    /^DATA_DIR: the folder .* cannot be used \(ENOTDIR/,
  )
  assert.equal(hub.asked.length, before)
  assert.ok(!existsSync(join(folder, model.name)))
})

test('two attempts at once do not write the same files', async () => {
  const folder = newFolder()
  hub.pauseMs = 5
  const stopping = new AbortController()
  const first = get(folder, { signal: stopping.signal })
  first.catch(() => {})
  assert.match(await failureOf(get(folder)), /^Another process is fetching a model already/)
  stopping.abort()
  hub.pauseMs = 0
  await assert.rejects(first)
})
