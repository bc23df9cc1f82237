// Conformance with the written specification, statement by statement, as an independent client would check it:
// `node test/conformance/run.mjs`, about ten minutes. It starts the service with the embedded database on free ports and
// in a temporary folder, and everything that a client can do goes through HTTP or the command line. Environment:
// PROJECT names another checkout, ONLY is a pattern of the parts to run, FIGURES names a file for the last line.
// A statement is `ok`, `FAIL`, `dec.` (the contract decides otherwise than the specification, and its decision holds) or
// `n.a.` (not testable here). The last line is a JSON object with the figures. Exit code 1: a statement failed or a part
// broke.
import { writeFileSync } from 'node:fs'
import { cli, client, DATA, is, model, ok, PROJECT, results, S, seen, serve, sleep, stop } from './lib.mjs'

const { PGlite } = await import(`${PROJECT}/node_modules/@electric-sql/pglite/dist/index.js`)
const { startMessagingServer } = await import(`${PROJECT}/test/fakes/messaging-server.ts`)
const { fakeTemplate, signatureOf, textWebhook } = await import(`${PROJECT}/test/fakes/messaging-wire.ts`)
const META = [
  'createdAt',
  'id',
  'parentConversationId',
  'parentSummary',
  'status',
  'title',
  'updatedAt',
  'userId',
]
const B64 = /^[A-Za-z0-9+/_-]+={0,2}$/,
  UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
  ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const only = process.env.ONLY ? new RegExp(process.env.ONLY) : null
const err = (r, status, code) => {
  is([r.status, r.code], [status, code], `${r.text.slice(0, 200)}:`)
}
const E = encodeURIComponent
// ---------------------------------------------------------------- set-up
await model()
let svc = await serve()
const account = (plan, n = 1) => {
  const { id } = cli('account', 'create', '--name', `acc ${plan}`, '--plan', plan)
  const keys = Array.from(
    { length: n },
    (_, i) => cli('keys', 'create', '--account', id, '--name', `k${i}`).key,
  )
  return { id, ...client(keys) }
}
const M = account('enterprise', 8),
  O = account('standard'),
  F = account('free'),
  H = account('hobby'),
  L = account('standard'),
  P4 = account('pro')
const member = cli(
    'member',
    'create',
    '--account',
    M.id,
    '--email',
    'Pat.Smith@Example.com',
    '--name',
    'Pat Smith',
  ),
  member2 = cli('member', 'create', '--account', M.id, '--email', 'zoe@example.com', '--name', 'Zoë')
const foreignMember = cli(
  'member',
  'create',
  '--account',
  O.id,
  '--email',
  'spy@example.com',
  '--name',
  'Spy',
)
const newAgent = async (c, name, more = {}) => {
  const r = await c.post('/agents', { name, ...more })
  ok(r.status === 201, r.text)
  return r.json.id
}
const A = await newAgent(M, 'Main'),
  PG = await newAgent(M, 'Paging'),
  D = await newAgent(M, 'Dates'),
  X = await newAgent(M, 'Search'),
  HD = await newAgent(M, 'Desk'),
  MS = await newAgent(M, 'Messaging'),
  NONE = await newAgent(M, 'Nothing'),
  B = await newAgent(O, 'Foreign'),
  LA = await newAgent(L, 'Poor')
for (const a of [A, X])
  for (const name of ['get_order', 'get_weather', 'open_page']) {
    const r = await M.post(`/agents/${a}/actions`, {
      name,
      type: 'client',
      description: `Runs ${name}`,
      inputs: { type: 'object', properties: { number: { type: 'string' } } },
    })
    ok(r.status === 201, r.text)
  }
const cid = (r) => {
  ok(r.status === 200, r.text)
  return r.json.data.metadata.conversationId
}
const mk = async (a, text, more) => cid(await M.say(a, text, more))
// paging agent: 45 conversations, 30 of user u.1, 15 of user U-2; one with 46 messages
const pgIds = []
for (let i = 0; i < 45; i++)
  pgIds.push(await mk(PG, `Paging ${i} [[tokens:1]]`, { userId: i < 30 ? 'u.1' : 'U-2' }))
const deep = pgIds[44]
for (let i = 0; i < 22; i++)
  ok((await M.say(PG, `Deep ${i} [[tokens:1]]`, { conversationId: deep })).status === 200, 'deep')
// dates agent
const dates = {
  before: '2026-03-09T23:59:59.999Z',
  first: '2026-03-10T00:00:00.000Z',
  noon: '2026-03-10T12:00:00.000Z',
  last: '2026-03-10T23:59:59.999Z',
  after: '2026-03-11T00:00:00.000Z',
  feb: '2026-02-28T12:00:00.000Z',
}
const dId = {}
for (const k of Object.keys(dates)) dId[k] = await mk(D, `Date ${k} [[tokens:1]]`, { userId: 'd' })
// search agent
const x = {}
const sx = async (k, text, more) => (x[k] = await mk(X, text, more))
await sx(
  'refund',
  'I want a refund for the zephyrine kettle please [[say:Your refund of the zephyrine kettle is under way.]]',
  { userId: 'ann' },
)
await sx('email', 'A question about saffron invoices [[tokens:1]]', { userId: 'bob' })
await sx('widget', 'Saffron and pepper delivered broken [[tokens:1]]', { userId: 'ann' })
await sx('old', 'Ancient walrus story [[tokens:1]]')
await sx('edgeIn', 'Border walrus inside [[tokens:1]]')
await sx('edgeOut', 'Border walrus outside [[tokens:1]]')
await sx('ended', 'Please close this xylophone [[tokens:1]]')
await sx('paused', 'Pause this xylophone [[tokens:1]]')
await sx('taken', 'Human for this xylophone [[tokens:1]]')
await sx('toolOk', 'order [[tool:get_order {"number":"1"}]]')
await sx('toolPending', 'weather [[tool:get_weather {"number":"2"}]]')
await sx('toolIgnored', 'weather [[tool:get_weather {"number":"3"}]]')
await sx('html', 'Do you sell <b>bold</b> & "quoted" quokka things? [[tokens:1]]')
await sx('rated', 'rate me [[tokens:1]]')
await sx('ratedNeg', 'rate me badly [[tokens:1]]')
{
  const m = (await M.get(`/agents/${X}/conversations/${x.rated}`)).json.data.messages.at(-1).id
  ok(
    (
      await M.v2('PATCH', `/agents/${X}/conversations/${x.rated}/messages/${m}/feedback`, {
        feedback: 'positive',
      })
    ).status === 200,
    'rate',
  )
}
{
  const m = (await M.get(`/agents/${X}/conversations/${x.ratedNeg}`)).json.data.messages.at(-1).id
  ok(
    (
      await M.v2('PATCH', `/agents/${X}/conversations/${x.ratedNeg}/messages/${m}/feedback`, {
        feedback: 'negative',
      })
    ).status === 200,
    'rate',
  )
}
const pending = async (agent, c) =>
  (await M.get(`/agents/${agent}/conversations/${c}`)).json.data.messages
    .flatMap((m) => m.parts)
    .filter((p) => p.type === 'tool-call')
{
  const [p] = await pending(X, x.toolOk)
  ok(
    (
      await M.post(`/agents/${X}/conversations/${x.toolOk}/tool-result`, {
        toolCallId: p.toolCallId,
        output: { state: 'shipped', secretInternal: 'zz' },
      })
    ).status === 200,
    'result',
  )
  ok((await M.say(X, undefined, { conversationId: x.toolOk })).status === 200, 'continue')
}
ok((await M.say(X, 'never mind [[tokens:1]]', { conversationId: x.toolIgnored })).status === 200, 'ignored')
ok((await M.post(`/agents/${X}/conversations/${x.ended}/end`)).status === 200, 'end')
ok((await M.v2('PATCH', `/agents/${X}/conversations/${x.paused}`, { paused: true })).status === 200, 'pause')
const takenX = await M.post(`/agents/${X}/conversations/${x.taken}/takeover`, { memberId: member.id })
ok(takenX.status === 200, takenX.text)
// expired call, foreign sources
const expired = await mk(A, 'order [[tool:get_order {"number":"9"}]]')
const [expiredCall] = await pending(A, expired)
const nonApi = await mk(A, 'From the widget [[tokens:1]]', { userId: 'nonapi' }),
  nonApi2 = await mk(A, 'From mail [[tokens:1]]', { userId: 'nonapi' }),
  keptApi = await mk(A, 'From the API [[tokens:1]]', { userId: 'nonapi' })
const ended = await mk(A, 'ended [[tokens:1]]')
await M.post(`/agents/${A}/conversations/${ended}/end`)
const errored = await mk(A, 'order [[tool:get_order {"number":"8"}]]')
const foreignConv = cid(await O.say(B, 'foreign [[tokens:1]]', { userId: 'f' }))
const poorConv = cid(await L.say(LA, 'poor [[tokens:1]]'))
// a real widget visitor
const pub = await newAgent(M, 'Public', { visibility: 'public' })
const visitor = `Bearer ${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url')}`
const widgetWrite = (page) =>
  M.call(
    'POST',
    `/api/widget/agents/${pub}/messages`,
    { messageId: crypto.randomUUID(), message: 'hello widget [[tokens:1]]', ...(page ? { page } : {}) },
    { authorization: visitor },
  )
const w1 = await widgetWrite('https://shop.example.com/products/lamp?utm=1#top'),
  w2 = await widgetWrite('https://shop.example.com'),
  w3 = await widgetWrite()
await sleep(1500)
await stop(svc)
const db = await PGlite.create({ dataDir: `${DATA}/database` })
const q = (s, p) => db.query(s, p)
const now = new Date(),
  first = new Date(Date.UTC(now.getUTCFullYear() - 1, now.getUTCMonth(), 1)),
  day = (d) => d.toISOString().slice(0, 10)
await q(
  `update conversations set created_at = '2026-06-01T10:00:00.123Z', updated_at = '2026-06-02T10:00:00.456Z' where agent_id = $1`,
  [PG],
)
await q(`update messages set created_at = '2026-06-01T10:00:00.123Z' where conversation_id = $1`, [deep])
for (const [k, t] of Object.entries(dates))
  await q(`update conversations set created_at = $2, updated_at = $2 where id = $1`, [dId[k], t])
const setX = (id, sql, p = []) => q(`update conversations set ${sql} where id = $1`, [id, ...p])
await setX(x.email, `source = 'Email', sentiment = 'positive'`)
await setX(
  x.widget,
  `source = 'Widget or Iframe', sentiment = 'negative', embed_origin = 'https://shop.example.com/p'`,
)
await setX(
  x.refund,
  `sentiment = 'neutral', has_voice = true, updated_at = '2026-05-05T05:05:05Z', created_at = '2026-05-05T05:00:00Z'`,
)
await setX(x.old, 'created_at = $2', [new Date(Date.UTC(now.getUTCFullYear() - 2, 0, 5))])
await setX(x.edgeIn, 'created_at = $2', [first])
await setX(x.edgeOut, 'created_at = $2', [new Date(first - 1)])
await setX(nonApi, `source = 'Widget or Iframe'`)
await setX(nonApi2, `source = 'Email'`)
for (const [id, name] of [
  [x.refund, 'Refunds'],
  [x.email, 'Billing'],
  [x.widget, 'Refunds'],
])
  await q(
    `insert into conversation_topics (account_id, agent_id, conversation_id, name) values ($1,$2,$3,$4)`,
    [M.id, X, id, name],
  )
for (const [id, name, status] of [
  [x.refund, 'Return flow', 'completed'],
  [x.email, 'Return flow', 'failed'],
  [x.widget, 'Billing flow', 'completed'],
  [x.html, 'Billing flow', 'running'],
])
  await q(
    `insert into procedure_runs (id, account_id, agent_id, conversation_id, name, status) values ($1,$2,$3,$4,$5,$6)`,
    [crypto.randomUUID(), M.id, X, id, name, status],
  )
await q(
  `update tool_calls set expires_at = now() - interval '1 minute', created_at = now() - interval '25 hours' where id = $1`,
  [expiredCall.toolCallId],
)
const poor = await q(`update credit_usage set used = 10000 where owner_id = $1`, [L.id])
const poorRows = poor.affectedRows
const [{ id: leadId } = {}] = [{ id: crypto.randomUUID() }]
for (const [i, t] of [
  '2026-04-01T00:00:00.000Z',
  '2026-04-01T23:59:59.999Z',
  '2026-04-02T00:00:00.000Z',
].entries())
  await q(
    `insert into leads (id, account_id, agent_id, name, email, phone, created_at) values ($1,$2,$3,$4,$5,$6,$7)`,
    [i ? crypto.randomUUID() : leadId, M.id, A, `Lead ${i}`, `lead${i}@example.com`, '+4915112345678', t],
  )
await db.close()
svc = await serve()
await sleep(3000)
console.log('set-up done')
let broken = false
const ctx = {
  M,
  O,
  F,
  H,
  L,
  P4,
  A,
  PG,
  D,
  X,
  HD,
  MS,
  NONE,
  B,
  LA,
  member,
  member2,
  foreignMember,
  pgIds,
  deep,
  dates,
  dId,
  x,
  pending,
  expired,
  expiredCall,
  nonApi,
  nonApi2,
  keptApi,
  ended,
  errored,
  foreignConv,
  poorConv,
  pub,
  w1,
  w2,
  w3,
  first,
  day,
  poorRows,
  leadId,
  mk,
  cid,
  err,
  E,
  META,
  B64,
  UUID,
  ISO,
  newAgent,
  startMessagingServer,
  fakeTemplate,
  signatureOf,
  textWebhook,
  takenX,
  account,
}
for (const part of [
  'general',
  'lists',
  'chat',
  'stream',
  'search',
  'desk',
  'messaging',
  'agents',
  'v1',
  'last',
]) {
  if (only && !only.test(part)) continue
  try {
    const { check } = await import(`./part-${part}.mjs`)
    await check(ctx)
  } catch (e) {
    broken = true
    console.log('!! part', part, 'broke:', e.stack)
  }
}
// ---- invariants over every response
await S(
  'headers',
  `x-request-id on every response (${seen.all} responses, v1, v2, errors, unknown paths)`,
  () => ok(!seen.noId.length, seen.noId.slice(0, 6)),
)
await S('headers', 'every x-request-id is unique', () => ok(!seen.dupId.length, seen.dupId.slice(0, 3)))
await S('headers', `X-RateLimit-Limit/-Remaining/-Reset on every v2 response (${seen.v2})`, () =>
  ok(!seen.noRate.length, seen.noRate.slice(0, 6)),
)
await S('headers', 'Retry-After appears only on 429 responses', () =>
  ok(!seen.retryOnOther.length, seen.retryOnOther.slice(0, 3)),
)
await S('errors', 'every v2 error body is {error: {code, message, details?}} with string details', () =>
  ok(!seen.badErr.length, seen.badErr.slice(0, 4)),
)
await S('v1', 'every v1 error body is {message: string}', () =>
  ok(!seen.badV1.length, seen.badV1.slice(0, 4)),
)
const count = (s) => results.filter((r) => r.state === s).length
for (const r of results.filter((r) => r.state !== 'ok'))
  console.log(`${r.state} [${r.area}] ${r.statement} :: ${r.note}`)
await stop(svc)
const figures = JSON.stringify({
  statements: results.length,
  ok: count('ok'),
  fail: count('FAIL'),
  decided: count('dec.'),
  notTestable: count('n.a.'),
  broken,
})
if (process.env.FIGURES) writeFileSync(process.env.FIGURES, `${figures}\n`)
console.log(figures)
process.exit(count('FAIL') || broken ? 1 : 0)
