import assert from 'node:assert/strict'
import { rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { embeddingFolder, tinyModel } from '../../../test/embedding-folder.ts'
import { embeddingRuntime } from '../../../test/embedding-runtime.ts'
import { ConfigError, readConfig } from '../../config.ts'
import { parseCatalogue } from '../catalogue/catalogue.ts'
import { probeModels } from '../catalogue/probe-models.ts'
import { reachServers } from '../catalogue/reach-servers.ts'
import { ModelFailure } from '../failures/model-failure.ts'
import { createModels, type Models } from '../models.ts'
import { createFolderProcess } from './folder-process.ts'

const runtime = await embeddingRuntime()
const skip = runtime ? false : 'npm could not install the packages that run a model'
const folders: string[] = []
const opened: { close(): Promise<void> }[] = []

after(async () => {
  await Promise.all(opened.map((one) => one.close()))
  for (const folder of folders) rmSync(dirname(folder), { recursive: true })
})

function folderWith(settings: Parameters<typeof embeddingFolder>[0] = {}): string {
  const folder = embeddingFolder({ runtime, ...settings })
  folders.push(folder)
  return folder
}

function modelsOf(env: Record<string, string>) {
  const { catalogue } = readConfig(env)
  const models: Models = createModels({ catalogue, builtin: {} as never })
  opened.push(models)
  return { catalogue, models }
}

const spaceIn = (folder: string, env: Record<string, string> = {}): string =>
  modelsOf({ EMBEDDING_FOLDER: folder, ...env }).models.embedder!.space

/** Returns what the doctor reports about the model in a folder. */
async function told(folder: string, showAddresses = true): Promise<string> {
  const { catalogue, models } = modelsOf({ EMBEDDING_FOLDER: folder })
  const findings = await probeModels(catalogue, models, async () => null, { showAddresses })
  return findings.at(-1)!.sentence
}

const unit = (...numbers: number[]): number[] => numbers.map((one) => one / Math.hypot(...numbers))

function assertNear(vector: Float32Array | undefined, expected: number[]): void {
  assert.equal(vector?.length, expected.length)
  for (const [index, number] of expected.entries())
    assert.ok(Math.abs(vector![index]! - number) < 1e-6, `${vector!.join(' ')} is not ${expected.join(' ')}`)
}

test("a text's vector is the mean of its tokens, with the prefixes for the folder's name", {
  skip,
}, async () => {
  const folder = folderWith({ name: 'e5-tiny', files: { 'config.json': { max_position_embeddings: 5 } } })
  const { embedder } = modelsOf({ EMBEDDING_FOLDER: folder, EMBEDDING_PASSAGE_PREFIX: '""' }).models
  const [lamps, both, long] = await embedder!.embed([
    'Lamps',
    'lamp light',
    // Five tokens are used, including the one that ends each text.
    `lamp lamp light ${'light '.repeat(50_000)}`,
  ])
  assertNear(lamps, unit(4, 1, 6))
  assertNear(both, unit(3, 5, 6))
  assertNear(long, unit(6, 5, 6))
  const [question] = await embedder!.embed(['lamp'], { areQuestions: true })
  assertNear(question, unit(3, 0, 12))
})

test("pooling follows the folder's settings or the model", { skip }, async () => {
  const files = { '1_Pooling/config.json': { word_embedding_dimension: 3, pooling_mode_cls_token: true } }
  const vectors = [
    folderWith({ files }),
    folderWith({ model: tinyModel({ output: 'sentence_embedding', isWhole: true }) }),
  ].map(async (folder) => (await modelsOf({ EMBEDDING_FOLDER: folder }).models.embedder!.embed(['lamp']))[0])
  const [cls, whole] = await Promise.all(vectors)
  assertNear(cls, [0, 0, 1])
  assertNear(whole, unit(3, 0, 4))
})

test('a killed process is replaced, and one that nobody waits for continues', { skip }, async () => {
  const folder = folderWith()
  const { hash } = parseCatalogue({ models: [], embedding: { folder } }, NO_VARIABLES, {}).embedding as {
    hash: string
  }
  const child = createFolderProcess({ folder, hash })
  opened.push(child)
  const signal = AbortSignal.abort()
  await assert.rejects(child.embed('lamp', 'questions', signal), (error) => error instanceof ModelFailure)
  await child.embed('lamp', 'passages')
  const [first] = child.processes()
  process.kill(first!, 'SIGKILL')
  assertNear(await child.embed('lamp', 'questions'), unit(3, 0, 6))
  const [second] = child.processes()
  assert.notEqual(second, first)
  const running = child.embed('light', 'passages')
  process.kill(second!, 'SIGKILL')
  assertNear(await running, unit(0, 5, 6))

  const waiting = Array.from({ length: 300 }, () => child.embed('lamp', 'questions'))
  const ends = await Promise.allSettled(waiting)
  const refused = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as ModelFailure] : []))
  assert.deepEqual([refused.length, refused[0]?.kind], [44, 'rate_limited'])
  const [third] = child.processes()
  const last = assert.rejects(child.embed('lamp', 'passages'), (error) => error instanceof ModelFailure)
  await child.close()
  await last
  assert.throws(() => process.kill(third!, 0), { code: 'ESRCH' })
  await assert.rejects(child.embed('lamp', 'passages'), (error) => error instanceof ModelFailure)
})

test('the doctor describes a folder, or reports what is wrong with it', { skip }, async () => {
  const folder = folderWith()
  assert.equal(await told(folder), `Embeddings "tiny" at ${folder} answers with vectors of 3 numbers.`)
  const { catalogue, models } = modelsOf({ EMBEDDING_FOLDER: folder })
  const [, ready] = await reachServers(catalogue, models.embedder)
  assert.match(ready!.sentence, /^Embeddings "tiny" at .* runs in a process of this service\.$/)

  const hidden = 'Embeddings "tiny" cannot be run. The operator sees why with doctor.'
  assert.equal(await told(folderWith({ model: 'no model' }), false), hidden)
  const image = tinyModel({ inputs: ['input_ids', 'pixel_values'] })
  const weights = { 'modules.json': [{ type: 'sentence_transformers.models.Dense' }] }
  const maximum = { '1_Pooling/config.json': { pooling_mode_max_tokens: true } }
  const faults: [string, RegExp][] = [
    [folderWith({ model: 'no model' }), /has a model that fails: .*protobuf/i],
    [
      folderWith({ model: image }),
      /has a model with the inputs input_ids, pixel_values\. An embedding model/,
    ],
    [folderWith({ files: { 'tokenizer.json': { version: '1.0' } } }), /has a tokenizer that fails/],
    [folderWith({ files: maximum }), /asks for max_tokens\. It can be mean_tokens or cls_token\.$/],
    [folderWith({ files: weights }), /has the layer sentence_transformers\.models\.Dense\. Take its variant/],
    [folderWith({ model: tinyModel({ isWhole: true }) }), /has a model with the outputs last_hidden_state\./],
  ]
  const sentences = await Promise.all(faults.map(([each]) => told(each)))
  for (const [i, [each, expected]] of faults.entries()) {
    assert.match(sentences[i]!, expected)
    assert.ok(sentences[i]!.startsWith(`Embeddings "tiny" at ${each} `))
  }

  const changed = folderWith()
  const { models: before } = modelsOf({ EMBEDDING_FOLDER: changed })
  writeFileSync(join(changed, 'config.json'), '{}')
  await assert.rejects(before.embedder!.embed(['lamp']), (error) => {
    assert.ok(error instanceof ModelFailure && error.kind === 'rejected')
    return /has changed since the service was started/.test((error.cause as Error).message)
  })
})

test('a missing runtime is reported with the command that installs it, and may be installed later', async () => {
  const folder = folderWith({ runtime: null })
  const { catalogue, models } = modelsOf({ EMBEDDING_FOLDER: folder })
  const said = async (): Promise<string> => {
    const findings = await probeModels(catalogue, models, async () => null)
    return findings.at(-1)!.sentence
  }
  assert.equal(
    await said(),
    `Embeddings "tiny" at ${folder} lacks what runs it. Run: npm install --ignore-scripts --prefix "${folder}" onnxruntime-node@1.30.0 tokenizers@0.23.2`,
  )
  if (runtime) symlinkSync(runtime, join(folder, 'node_modules'))
  if (runtime) assert.match(await said(), /answers with vectors of 3 numbers\.$/)
})

test('a missing file, or contradicting settings, stop the start with an error', () => {
  const problems = (env: Record<string, string>): string => {
    try {
      readConfig(env)
    } catch (error) {
      assert.ok(error instanceof ConfigError)
      return error.message
    }
    return ''
  }
  const folder = folderWith()
  assert.equal(problems({ EMBEDDING_FOLDER: folder }), '')
  assert.match(problems({ EMBEDDING_FOLDER: folder, EMBEDDING_MODEL: 'e' }), /only one of them can be set\.$/)
  rmSync(join(folder, 'tokenizer.json'))
  assert.equal(
    problems({ EMBEDDING_FOLDER: folder }),
    `EMBEDDING_FOLDER: the folder ${folder} has no tokenizer.json.`,
  )
  rmSync(join(folder, 'model.onnx'))
  assert.match(problems({ EMBEDDING_FOLDER: folder }), /has no model\.onnx, nor onnx.model\.onnx\.$/)
  assert.match(problems({ EMBEDDING_FOLDER: `${folder}/none` }), /does not exist\.$/)

  const inFile = (embedding: object): string => {
    const file = join(folder, 'models.json')
    writeFileSync(file, JSON.stringify({ models: [], embedding }))
    return problems({ MODELS_FILE: file })
  }
  assert.match(inFile({ name: 'e' }), /embedding needs name and baseUrl, or a folder\.$/)
  const other = folderWith()
  assert.equal(inFile({ folder: other }), '')
  assert.match(
    inFile({ folder: other, dimensions: 3 }),
    /has a folder, beside which dimensions has no effect\.$/,
  )
})

test('the vector space is named after the files, whatever the name of the folder', () => {
  const space = spaceIn(folderWith())
  assert.match(space, /^folder@[0-9a-f]{16}$/)
  assert.equal(spaceIn(folderWith({ name: 'moved' })), space)
  assert.notEqual(spaceIn(folderWith({ files: { 'config.json': {} } })), space)
  assert.notEqual(spaceIn(folderWith({ model: tinyModel({ inputs: ['input_ids'] }) })), space)

  const folder = folderWith({ name: 'e5-small' })
  const prefixed = spaceIn(folder)
  assert.ok(prefixed.startsWith(`${space}~`))
  // Questions are asked with the former prefixes until the vectors with the new ones are complete.
  const none = { EMBEDDING_QUERY_PREFIX: '""', EMBEDDING_PASSAGE_PREFIX: '""' }
  const { models } = modelsOf({ EMBEDDING_FOLDER: folder, ...none })
  assert.deepEqual([models.embedder?.space, models.embedderOf(prefixed)?.space], [space, prefixed])
  const other = folderWith({ files: { 'config.json': {} } })
  assert.equal(modelsOf({ EMBEDDING_FOLDER: other }).models.embedderOf(space), null)
  const file = join(other, 'models.json')
  writeFileSync(
    file,
    JSON.stringify({ models: [], embedding: { folder: other }, formerEmbedding: { folder } }),
  )
  assert.equal(modelsOf({ MODELS_FILE: file }).models.embedderOf(prefixed)?.space, prefixed)
})

const NO_VARIABLES = { baseUrl: null, apiKey: null, model: null, embeddingModel: null }
