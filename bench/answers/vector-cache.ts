import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'

/** The folder with the vectors of former runs, because a model takes minutes for all documents. */
const FOLDER = join(homedir(), '.cache', 'parley-bench')

type Asked = { model: string; input: string[] }

/**
 * Starts a server with OpenAI's API for embeddings that caches the vectors of another one. The service under test sends
 * its requests there, so everything but the model runs as it does in production.
 */
export async function startVectorCache(baseUrl: string): Promise<{ url: string; close(): void }> {
  mkdirSync(FOLDER, { recursive: true })
  const known = new Map<string, Map<string, string>>()
  const fileOf = (model: string): string => join(FOLDER, `${model.replace(/[^\w.-]/g, '_')}.jsonl`)
  const vectorsOf = (model: string): Map<string, string> => {
    let vectors = known.get(model)
    if (!vectors) {
      const lines = existsSync(fileOf(model)) ? readFileSync(fileOf(model), 'utf8').trim().split('\n') : []
      vectors = new Map(lines.filter(Boolean).map((line) => JSON.parse(line) as [string, string]))
      known.set(model, vectors)
    }
    return vectors
  }
  const answer = async ({ model, input }: Asked): Promise<object> => {
    const vectors = vectorsOf(model)
    const keys = input.map((text) => createHash('sha256').update(text).digest('base64'))
    const missing = input.filter((_, i) => !vectors.has(keys[i]!))
    if (missing.length > 0) {
      const response = await fetch(`${baseUrl}/embeddings`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model, input: missing }),
      })
      if (!response.ok) throw new Error(await response.text())
      const { data } = (await response.json()) as { data: { embedding: number[] }[] }
      for (const [i, text] of missing.entries()) {
        const key = keys[input.indexOf(text)]!
        const vector = Buffer.from(Float32Array.from(data[i]!.embedding).buffer).toString('base64')
        vectors.set(key, vector)
        appendFileSync(fileOf(model), `${JSON.stringify([key, vector])}\n`)
      }
    }
    const numbersOf = (key: string): number[] => {
      const bytes = Buffer.from(vectors.get(key)!, 'base64')
      return Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(4 * i))
    }
    return { data: keys.map((key, index) => ({ index, embedding: numbersOf(key) })) }
  }
  const server = createServer(async (request, response) => {
    try {
      const body = JSON.stringify(await answer((await json(request)) as Asked))
      response.writeHead(200, { 'content-type': 'application/json' }).end(body)
    } catch (error) {
      response.writeHead(500).end(String(error))
    }
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
