import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { type Service, startService } from '../../../../test/start.ts'

let service: Service

before(async () => {
  service = await startService({ RATE_LIMIT: '100/10' })
})
after(() => service.close())

/** Sends the text as it is, and returns the response when the server or the client has closed the connection. */
function exchange(text: string): Promise<{ status: number; headers: Headers; body: string }> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1', () => socket.end(text))
    let received = ''
    socket.setEncoding('utf8').on('data', (piece) => {
      received += piece
    })
    socket.on('error', reject).on('close', () => {
      const [head = '', body = ''] = received.split('\r\n\r\n')
      const [first = '', ...lines] = head.split('\r\n')
      const pairs = lines.map((line) => line.split(/:(.*)/s).slice(0, 2) as [string, string])
      resolve({ status: Number(first.split(' ')[1]), headers: new Headers(pairs), body })
    })
  })
}

const HOST = 'host: x\r\nconnection: close\r\n'
const refused: [what: string, request: string, status: number, code: string][] = [
  [
    'a header without a colon',
    `GET /api/v2/me HTTP/1.1\r\n${HOST}bad header\r\n\r\n`,
    400,
    'REQUEST_MALFORMED',
  ],
  ['a method that does not exist', `BREW /api/v2/me HTTP/1.1\r\n${HOST}\r\n`, 400, 'REQUEST_MALFORMED'],
  ['what is not HTTP', 'hello\r\n\r\n', 400, 'REQUEST_MALFORMED'],
  [
    'two lengths of a body',
    `POST /api/v2/agents HTTP/1.1\r\n${HOST}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n`,
    400,
    'REQUEST_MALFORMED',
  ],
  ['no Host', 'GET /api/v2/me HTTP/1.1\r\nconnection: close\r\n\r\n', 400, 'REQUEST_MALFORMED'],
  [
    'headers over 16 KB',
    `GET /api/v2/me HTTP/1.1\r\n${HOST}x-big: ${'a'.repeat(20_000)}\r\n\r\n`,
    431,
    'REQUEST_HEADERS_TOO_LARGE',
  ],
  [
    'an expectation that nobody can meet',
    `POST /api/v2/agents HTTP/1.1\r\n${HOST}expect: banana\r\ncontent-length: 2\r\n\r\n{}`,
    417,
    'EXPECTATION_FAILED',
  ],
]
for (const [what, request, status, code] of refused) {
  test(`${what} is refused with the error body and a request id`, async () => {
    const answer = await exchange(request)
    assert.equal(answer.status, status, answer.body)
    const { error } = JSON.parse(answer.body)
    assert.equal(error.code, code)
    assert.ok(error.message)
    assert.match(answer.headers.get('content-type') ?? '', /^\s*application\/json/)
    assert.match(answer.headers.get('x-request-id') ?? '', /[\w-]{36}/)
    assert.equal(Number(answer.headers.get('x-ratelimit-limit')), 100)
    assert.equal(answer.headers.get('retry-after'), null)
    assert.ok(answer.headers.get('content-security-policy'))
  })
}

test('the id of a request that expects too much is returned', async () => {
  const id = 'x-request-id: mine-1\r\n'
  const { headers } = await exchange(`GET /api/v2/me HTTP/1.1\r\n${HOST}${id}expect: banana\r\n\r\n`)
  assert.equal(headers.get('x-request-id')?.trim(), 'mine-1')
})

test('what is not HTTP ends a stream that is being sent, and nothing is written into it', async () => {
  const client = await service.account()
  const { id } = (await client.request('POST', '/agents', { name: 'Agent' })).body
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1').setEncoding('utf8')
  let received = ''
  socket.on('data', (piece) => {
    if (received === '') socket.write('hello\r\n\r\n')
    received += piece
  })
  socket.write(
    `GET /api/v2/agents/${id}/helpdesk/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${client.key}\r\n\r\n`,
  )
  await once(socket, 'close')
  assert.match(received, /^HTTP\/1\.1 200 /)
  assert.equal(received.match(/HTTP\/1\.1 /g)?.length, 1, received)
})

test('HTTP/1.0 needs no Host', async () => {
  assert.equal((await exchange('GET /api/v2/health HTTP/1.0\r\n\r\n')).status, 200)
})
