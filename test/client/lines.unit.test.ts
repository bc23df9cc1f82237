import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { ParleyError } from '../../client/parley-error.ts'
import { createRequests } from '../../client/requests.ts'

const LINES = ['{"type":"user","name":"Ärger"}', '{"type":"end"}']

/** Sends the lines one byte at a time, so that characters and lines arrive in pieces. */
const server = createServer(async ({ url }, response) => {
  if (url !== '/lines') {
    response.writeHead(404, { 'content-type': 'application/json' })
    return response.end('{"error":{"code":"RESOURCE_NOT_FOUND","message":"Nothing is here."}}')
  }
  response.writeHead(200, { 'content-type': 'application/x-ndjson' })
  for (const byte of Buffer.from(LINES.join('\n')))
    await new Promise<void>((resolve) => response.write(Buffer.of(byte), () => resolve()))
  response.end()
})
let baseUrl = ''

before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
after(() => server.close())

test('lines of JSON are read however they are split, including a last one without a line break', async () => {
  const read: unknown[] = []
  for await (const line of createRequests({ baseUrl }).lines('GET', '/lines')) read.push(line)
  assert.deepEqual(
    read,
    LINES.map((line) => JSON.parse(line)),
  )
})

test('an error of the service is thrown before the first line', async () => {
  await assert.rejects(
    () => createRequests({ baseUrl }).lines('GET', '/nothing').next(),
    (error) => error instanceof ParleyError && error.code === 'RESOURCE_NOT_FOUND',
  )
})
