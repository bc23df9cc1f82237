import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * A model server without latency: every request gets the same prepared tokens in one write. With a second argument,
 * each token takes that many milliseconds, or, with `singly`, each token is a write of its own and a title has
 * three.
 */
const tokens = Number(process.argv[2] ?? 100)
const singly = process.argv[3] === 'singly'
const pace = singly ? 0 : Number(process.argv[3] ?? 0)
const chunk = (delta: object, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'b', object: 'chat.completion.chunk', created: 1, model: 'bench', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
const piecesOf = (words: string[]): string[] => [
  chunk({ role: 'assistant', content: '' }),
  ...words.map((content) => chunk({ content })),
  `${chunk({}, 'stop')}data: [DONE]\n\n`,
]
const pieces = piecesOf(Array.from({ length: tokens }, (_, i) => `word${i} `))
const title = piecesOf(['A ', 'short ', 'title'])
const body = Buffer.from(pieces.join(''))

function speak(response: ServerResponse, said: string[], next: number): void {
  if (next === said.length) response.end()
  else if (!response.destroyed) {
    response.write(said[next])
    if (singly) setImmediate(speak, response, said, next + 1)
    else setTimeout(speak, pace, response, said, next + 1)
  }
}

const server = createServer((request, response) => {
  const asked: Buffer[] = []
  request.on('data', (part: Buffer) => asked.push(part))
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const isTitle = singly && Buffer.concat(asked).includes('Write a title')
    if (pace > 0 || singly) speak(response, isTitle ? title : pieces, 0)
    else response.end(body)
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
