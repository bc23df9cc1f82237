import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * A model server without any latency: every request gets the same tokens, prepared once, in one write. With a
 * second argument it takes so many milliseconds for each of them.
 */
const tokens = Number(process.argv[2] ?? 100)
const pace = Number(process.argv[3] ?? 0)
const chunk = (delta: object, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'b', object: 'chat.completion.chunk', created: 1, model: 'bench', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
const pieces = [
  chunk({ role: 'assistant', content: '' }),
  ...Array.from({ length: tokens }, (_, i) => chunk({ content: `word${i} ` })),
  `${chunk({}, 'stop')}data: [DONE]\n\n`,
]
const body = Buffer.from(pieces.join(''))

function speak(response: ServerResponse, next: number): void {
  if (next === pieces.length) response.end()
  else if (!response.destroyed) {
    response.write(pieces[next])
    setTimeout(speak, pace, response, next + 1)
  }
}

const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (pace > 0) speak(response, 0)
    else response.end(body)
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
