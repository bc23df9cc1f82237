import assert from 'node:assert/strict'
import { type AddressInfo, connect } from 'node:net'
import { after, before, test } from 'node:test'
import { type FastifyInstance, fastify } from 'fastify'
import Type from 'typebox'
import { type Client, type Service, startService } from '../../../../test/start.ts'
import { until } from '../../../../test/until.ts'
import { authorize } from '../../../accounts/keys/keys.ts'
import { lastChangeOf, recordRequest } from '../../../accounts/keys/record-request.ts'
import { requireAgent } from '../../../agents/records/find-agent.ts'
import { Exact, endpoint } from '../contract.ts'
import { route } from '../route.ts'
import { serveRoutes } from '../server/serve.ts'
import { acceptJson } from './storable.ts'

const echo = endpoint({
  method: 'POST',
  path: '/echo',
  name: 'echo',
  tag: 'Test',
  summary: 'Says the text again',
  scope: 'chat',
  body: Exact({ text: Type.String() }),
  success: { status: 200, schema: Exact({ text: Type.String() }) },
  errors: [],
})

let service: Service
let client: Client
let app: FastifyInstance
/** Whether a request still waits for the rest of its body. */
let reading = false
const lines: { level: number; msg: string }[] = []

before(async () => {
  service = await startService()
  client = await service.account()
  const { ctx } = service
  app = fastify({ logger: { level: 'debug', stream: { write: (line) => lines.push(JSON.parse(line)) } } })
  acceptJson(app)
  serveRoutes(app, {
    routes: [route(echo, async ({ body }) => ({ text: body.text }))],
    gate: {
      refuseDuringMaintenance: ctx.maintenance.refuse,
      authenticate: ({ headers }, beforeStranger) =>
        ctx.keys.authenticate(headers.authorization, beforeStranger),
      authorize,
      limiter: ctx.limiter,
      windowOf: () => undefined,
      findAgent: (db, { account }, agentId) => requireAgent(db, { accountId: account.id, agentId }),
      lastChange: lastChangeOf,
      note: recordRequest,
    },
    db: ctx.db,
    strict: true,
  })
  app.addHook('preParsing', async () => {
    reading = true
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
})
after(async () => {
  await app.close()
  await service.close()
})

const ERROR = 50

for (const [how, leave] of [
  ['leaves', 'destroy'],
  ['ends its half', 'end'],
] as const) {
  test(`a client that ${how} in the middle of its body does not cause an error of the service`, async () => {
    lines.length = 0
    reading = false
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write(
      `POST /echo HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${client.key}\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"text"`,
    )
    await until('the request', () => reading)
    socket.resume()[leave]()
    await until('what is noted of it', () => lines.some(({ msg }) => /broke its body off/.test(msg)))
    await until('the end of the request', () => socket.closed)
    assert.deepEqual(
      lines.filter(({ level }) => level >= ERROR),
      [],
    )
  })
}
