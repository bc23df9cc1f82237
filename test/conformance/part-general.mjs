import http from 'node:http'
import { BASE, cli, client, is, J, keysOf, ok, S, sleep } from './lib.mjs'

const rawReq = (opts, body) =>
  new Promise((res, rej) => {
    const u = new URL(BASE)
    const r = http.request({ host: u.hostname, port: u.port, agent: false, ...opts }, (m) => {
      let t = ''
      m.on('data', (d) => (t += d))
      m.on('end', () => {
        let json
        try {
          json = JSON.parse(t)
        } catch {}
        res({ status: m.statusCode, headers: m.headers, text: t, json, code: json?.error?.code })
      })
    })
    r.on('error', rej)
    if (body) r.write(body)
    r.end()
  })
export const check = async (ctx) => {
  const { M, O, F, H, A, B, err } = ctx,
    a = `/agents/${A}`
  const anon = client([])
  // --- authentication
  for (const [m, p, b] of [
    ['GET', '/agents'],
    ['GET', a],
    ['PUT', a, {}],
    ['POST', `${a}/chat`, { message: 'x' }],
    ['GET', `${a}/conversations`],
    ['GET', `${a}/conversations/search`],
    ['GET', `${a}/conversations/export`],
    ['GET', `${a}/conversations/x`],
    ['GET', `${a}/conversations/x/messages`],
    ['GET', `${a}/users/u/conversations`],
    ['POST', `${a}/conversations/x/tool-result`, {}],
    ['GET', `${a}/messaging/templates`],
    ['POST', `${a}/messaging/messages/template`, {}],
    ['POST', `${a}/helpdesk/tickets/1/messages`, {}],
    ['GET', `${a}/sources/x`],
    ['POST', `${a}/train`],
    ['POST', `${a}/clone`],
    ['DELETE', a],
    ['PUT', `${a}/styles`, {}],
    ['PUT', `${a}/auto-retrain`, {}],
  ])
    await S(
      'auth',
      `no Authorization header: ${m} ${p.replace(A, '{agentId}')} gives 401 AUTH_MISSING_API_KEY`,
      async () => err(await anon.v2(m, p, b), 401, 'AUTH_MISSING_API_KEY'),
    )
  await S(
    'auth',
    'health check needs no authentication: GET /health 200 {status:"ok", timestamp}',
    async () => {
      const r = await anon.get('/health')
      is(
        [r.status, r.json.status, typeof r.json.timestamp, keysOf(r.json)],
        [200, 'ok', 'number', ['status', 'timestamp']],
      )
      ok(Math.abs(r.json.timestamp - Date.now() / 1000) < 5, r.text)
    },
  )
  for (const [name, h] of [
    ['unknown key', 'Bearer parley_nope'],
    ['empty bearer', 'Bearer '],
    ['Basic scheme', 'Basic Zm9vOmJhcg=='],
    ['no scheme', M.keys[0]],
    ['empty header', ''],
  ])
    await S(
      'auth',
      `contract: ${name} gives 401 AUTH_INVALID_API_KEY (or MISSING for an empty header)`,
      async () => {
        const r = await anon.get('/agents', { authorization: h })
        ok(
          r.status === 401 &&
            ['AUTH_INVALID_API_KEY', ...(name === 'empty header' ? ['AUTH_MISSING_API_KEY'] : [])].includes(
              r.code,
            ),
          r.text,
        )
      },
    )
  await S('auth', 'the scheme word Bearer is not case-sensitive (HTTP)', async () =>
    is((await anon.get('/agents', { authorization: `bearer ${M.keys[0]}` })).status, 200),
  )
  await S('auth', 'contract: a revoked key gives 401 AUTH_INVALID_API_KEY', async () => {
    const k = cli('keys', 'create', '--account', M.id, '--name', 'gone')
    is((await anon.get('/agents', { authorization: `Bearer ${k.key}` })).status, 200)
    cli('keys', 'revoke', k.id)
    await sleep(1200)
    err(await anon.get('/agents', { authorization: `Bearer ${k.key}` }), 401, 'AUTH_INVALID_API_KEY')
  })
  await S('auth', 'contract: an expired key gives 401 AUTH_EXPIRED_API_KEY', async () => {
    // On a busy machine, a command alone takes many seconds.
    const begun = Date.now()
    cli('account', 'list')
    const expires = new Date(Date.now() + 4000 + 3 * (Date.now() - begun))
    const k = cli('keys', 'create', '--account', M.id, '--name', 'exp', '--expires', expires.toISOString())
    is((await anon.get('/agents', { authorization: `Bearer ${k.key}` })).status, 200)
    await sleep(expires - Date.now() + 300)
    err(await anon.get('/agents', { authorization: `Bearer ${k.key}` }), 401, 'AUTH_EXPIRED_API_KEY')
  })
  for (const [n, c] of [
    ['free', F],
    ['hobby', H],
  ])
    for (const [m, p, b] of [
      ['GET', '/agents'],
      ['POST', `${a}/chat`, { message: 'x' }],
      ['POST', `${a}/helpdesk/tickets/1/messages`, { bad: 1 }],
    ])
      await S(
        'auth',
        `plan ${n}: ${m} ${p.replace(A, '{agentId}')} gives 403 SUBSCRIPTION_API_RESTRICTED_PLAN`,
        async () => err(await c.v2(m, p, b), 403, 'SUBSCRIPTION_API_RESTRICTED_PLAN'),
      )
  await S('auth', 'plan standard has access to version 2', async () =>
    is((await O.get('/agents')).status, 200),
  )
  await S('auth', 'a key gives full access to the workspace by default (contract: /me scopes)', async () => {
    const r = await M.get('/me')
    ok(r.status === 200, r.text)
  })
  await S('auth', 'v1: no key gives 401 with a message that no API key was provided', async () => {
    const r = await anon.v1('POST', '/chat', {})
    is([r.status, r.json], [401, { message: 'No API key provided' }])
  })
  await S('auth', 'v1 uses the same bearer format', async () =>
    is((await M.v1('GET', '/get-chatbots')).status, 200),
  )
  // --- order of checks
  await S('order', 'route before key: unknown path without a key is 404 ROUTE_NOT_FOUND', async () =>
    err(await anon.get('/nowhere'), 404, 'ROUTE_NOT_FOUND'),
  )
  await S(
    'order',
    'route before key: wrong method without a key is 405 METHOD_NOT_ALLOWED with Allow',
    async () => {
      const r = await anon.v2('PATCH', a, {})
      err(r, 405, 'METHOD_NOT_ALLOWED')
      const allow = r.headers.get('allow') ?? ''
      for (const m of ['GET', 'PUT', 'DELETE']) ok(allow.includes(m), `Allow: ${allow}`)
    },
  )
  await S('order', 'key before schema: no key and a broken body is 401', async () =>
    err(await anon.post(`${a}/chat`, '{oops'), 401, 'AUTH_MISSING_API_KEY'),
  )
  await S('order', 'plan before schema: free plan and a bad body is 403', async () =>
    err(await F.post('/agents/x/chat', { message: 5 }), 403, 'SUBSCRIPTION_API_RESTRICTED_PLAN'),
  )
  await S('order', 'schema before resource: unknown agent and a bad body is 400', async () =>
    err(await M.post('/agents/nope/chat', { message: 5 }), 400, 'VALIDATION_INVALID_BODY'),
  )
  await S('order', 'schema before resource: unknown agent and a bad query is 400', async () =>
    err(await M.get('/agents/nope/conversations?limit=0'), 400, 'VALIDATION_INVALID_BODY'),
  )
  await S('order', 'resource before state: unknown conversation in chat is 404', async () => {
    const r = await M.say(A, 'x', { conversationId: crypto.randomUUID() })
    is([r.status, r.code], [404, 'RESOURCE_NOT_FOUND'])
  })
  // --- tenancy
  for (const [m, p, b] of [
    ['GET', ''],
    ['PUT', '', {}],
    ['DELETE', ''],
    ['POST', '/chat', { message: 'x' }],
    ['GET', '/conversations'],
    ['GET', '/conversations/search'],
    ['GET', '/conversations/export'],
    ['GET', '/users/u/conversations'],
    ['GET', '/messaging/templates'],
    ['POST', '/messaging/messages/template', { to: '+4915112345678', template: { name: 'x' } }],
    ['POST', '/helpdesk/tickets/1/messages', { type: 'reply', content: 'x', authorEmail: 'a@b.co' }],
    ['GET', `/sources/${crypto.randomUUID()}`],
    ['POST', '/train'],
    ['POST', '/clone'],
    ['PUT', '/styles', { styles: {} }],
    ['PUT', '/auto-retrain', { enabled: true }],
    ['GET', `/conversations/${crypto.randomUUID()}`],
    ['POST', `/conversations/${crypto.randomUUID()}/tool-result`, { toolCallId: 'x' }],
  ]) {
    await S(
      'tenancy',
      `agent of another account: ${m} /agents/{id}${p.replace(/[0-9a-f-]{36}/, '{id}')} gives 404 AGENT_NOT_FOUND, not 403`,
      async () => err(await M.v2(m, `/agents/${B}${p}`, b), 404, 'AGENT_NOT_FOUND'),
    )
    await S(
      'tenancy',
      `unknown agent: ${m} /agents/{id}${p.replace(/[0-9a-f-]{36}/, '{id}')} gives 404 AGENT_NOT_FOUND`,
      async () => err(await M.v2(m, `/agents/aaaaaaaaaaaaaaaaaaaaa${p}`, b), 404, 'AGENT_NOT_FOUND'),
    )
  }
  await S('tenancy', 'conversation of another account under an own agent: 404 RESOURCE_NOT_FOUND', async () =>
    err(await M.get(`${a}/conversations/${ctx.foreignConv}`), 404, 'RESOURCE_NOT_FOUND'),
  )
  await S('tenancy', 'conversation of another own agent: 404 RESOURCE_NOT_FOUND', async () =>
    err(await M.get(`${a}/conversations/${ctx.pgIds[0]}`), 404, 'RESOURCE_NOT_FOUND'),
  )
  await S('tenancy', 'chat with the conversation of another account: 404', async () =>
    is((await M.say(A, 'x', { conversationId: ctx.foreignConv })).status, 404),
  )
  await S('tenancy', 'export with the conversation of another account: empty page', async () =>
    is((await M.get(`${a}/conversations/export?conversationId=${ctx.foreignConv}`)).json, {
      data: [],
      pagination: { cursor: null, hasMore: false, total: 0 },
    }),
  )
  // --- headers and malformed requests
  await S('headers', 'x-request-id: unknown path outside the API too', async () => {
    const r = await anon.call('GET', '/api/v3/x')
    ok(r.headers.get('x-request-id'), 'none')
    is(r.status, 404)
  })
  await S('headers', 'malformed JSON: 400 VALIDATION_INVALID_JSON with x-request-id', async () => {
    const r = await M.post(`${a}/chat`, '{"message": ')
    err(r, 400, 'VALIDATION_INVALID_JSON')
    ok(r.headers.get('x-request-id'), '')
  })
  await S('headers', 'empty JSON body: 400', async () => {
    const r = await M.post(`${a}/chat`, '', { 'content-type': 'application/json' })
    ok(r.status === 400, r.status + r.text)
  })
  await S('headers', 'JSON array as a body: 400 VALIDATION_INVALID_BODY', async () =>
    err(await M.post(`${a}/chat`, '[]'), 400, 'VALIDATION_INVALID_BODY'),
  )
  await S('headers', 'JSON null as a body: 400', async () => {
    const r = await M.post(`${a}/chat`, 'null')
    is(r.status, 400)
  })
  await S('headers', 'wrong content type: 415 VALIDATION_UNSUPPORTED_MEDIA_TYPE', async () =>
    err(
      await M.post(`${a}/chat`, 'message=x', { 'content-type': 'application/x-www-form-urlencoded' }),
      415,
      'VALIDATION_UNSUPPORTED_MEDIA_TYPE',
    ),
  )
  await S('headers', 'content type with charset is accepted', async () =>
    is(
      (
        await M.post(`${a}/chat`, J({ message: 'x [[tokens:1]]', stream: false }), {
          'content-type': 'application/json; charset=utf-8',
        })
      ).status,
      200,
    ),
  )
  await S('headers', 'body over the limit: 413 VALIDATION_BODY_TOO_LARGE with x-request-id', async () => {
    const r = await M.post(`${a}/chat`, J({ message: 'x'.repeat(1.2e6) }))
    err(r, 413, 'VALIDATION_BODY_TOO_LARGE')
    ok(r.headers.get('x-request-id'), '')
  })
  await S('headers', 'x-request-id sent by the client is echoed when it matches ^[\\w-]{1,64}$', async () =>
    is(
      (await M.get('/agents?limit=1', { 'x-request-id': 'my-id_1' })).headers.get('x-request-id'),
      'my-id_1',
    ),
  )
  await S('headers', 'an x-request-id that does not match is replaced', async () => {
    const r = await M.get('/agents?limit=1', { 'x-request-id': 'bad id!' })
    ok(r.headers.get('x-request-id') && r.headers.get('x-request-id') !== 'bad id!', '')
  })
  await S('headers', 'a 405 carries x-request-id', async () => {
    const r = await M.v2('DELETE', `${a}/conversations`)
    err(r, 405, 'METHOD_NOT_ALLOWED')
    ok(r.headers.get('x-request-id'), '')
  })
  await S('headers', 'an unparsable URL (%ZZ) is answered with the error body and x-request-id', async () => {
    const r = await rawReq({ path: '/api/v2/agents/%ZZ', headers: { authorization: `Bearer ${M.keys[0]}` } })
    ok(r.status >= 400 && r.status < 500 && r.code, `${r.status} ${r.text}`)
    ok(r.headers['x-request-id'], 'no x-request-id')
  })
  await S('headers', 'a malformed request line/headers answer carries x-request-id', async () => {
    const net = await import('node:net')
    const t = await new Promise((res) => {
      const s = net.connect(+new URL(BASE).port, '127.0.0.1')
      let o = ''
      s.on('data', (d) => (o += d))
      s.on('close', () => res(o))
      s.on('error', () => res(o))
      s.write('GET /api/v2/health HTTP/1.1\r\nbad header\r\n\r\n')
      setTimeout(() => s.destroy(), 1500)
    })
    ok(/x-request-id/i.test(t), t.slice(0, 300))
  })
  await S('headers', 'headers over the size limit (431): error body and x-request-id', async () => {
    const r = await rawReq({ path: '/api/v2/health', headers: { 'x-big': 'a'.repeat(20000) } })
    ok(r.headers['x-request-id'] && r.code, `${r.status} ${J(r.headers)} ${r.text}`)
  })
  await S(
    'headers',
    'a URL of 10,000 characters is answered with x-request-id and the error body',
    async () => {
      const r = await rawReq({
        path: `/api/v2/agents/${'a'.repeat(10000)}`,
        headers: { authorization: `Bearer ${M.keys[0]}` },
      })
      ok(r.headers['x-request-id'] && r.code, `${r.status} ${r.text}`)
    },
  )
  await S(
    'headers',
    'Expect: something else (417) and Transfer-Encoding nonsense carry x-request-id',
    async () => {
      const net = await import('node:net')
      const t = await new Promise((res) => {
        const s = net.connect(+new URL(BASE).port, '127.0.0.1')
        let o = ''
        s.on('data', (d) => (o += d))
        s.on('close', () => res(o))
        s.on('error', () => res(o))
        s.write('POST /api/v2/agents HTTP/1.1\r\nhost: x\r\nexpect: banana\r\ncontent-length: 2\r\n\r\n{}')
        setTimeout(() => s.destroy(), 1500)
      })
      ok(/x-request-id/i.test(t), t.slice(0, 300))
    },
  )
  await S('headers', 'HEAD of a GET endpoint is answered (200 or 405) with x-request-id', async () => {
    const r = await M.v2('HEAD', '/health')
    ok([200, 405, 404].includes(r.status) && r.headers.get('x-request-id'), r.status)
  })
  await S('headers', 'a trailing slash or doubled slash is not a 500', async () => {
    for (const p of ['/agents/', '//agents', '/agents//conversations']) {
      const r = await M.get(p)
      ok(r.status < 500, p + r.status)
    }
  })
  await S(
    'headers',
    'agentId with min length 1: an empty path segment is 400 or 404 and never 500',
    async () => {
      const r = await M.get('/agents//conversations')
      ok([400, 404].includes(r.status), r.status + r.text)
    },
  )
  await S('headers', 'NUL in path ids is not a 500', async () => {
    const r = await M.get(`/agents/${A}/conversations/%00`)
    ok(r.status < 500, r.status + r.text)
  })
  await S('headers', 'NUL in a message is not a 500', async () => {
    const r = await M.say(A, 'a\u0000b [[tokens:1]]')
    ok(r.status < 500, r.status + r.text)
  })
  await S('headers', 'lone surrogate in a message is not a 500', async () => {
    const r = await M.post(`${a}/chat`, '{"message":"x \\ud800 [[tokens:1]]","stream":false}')
    ok(r.status < 500, r.status + r.text)
  })
  // --- rate limit
  await S('limits', 'X-RateLimit-Limit is 100', async () =>
    is((await M.get('/agents?limit=1')).headers.get('x-ratelimit-limit'), '100'),
  )
  await S('limits', 'X-RateLimit-Remaining counts down by one per request', async () => {
    await sleep(10500)
    const k = M.keys[7]
    const one = +(await M.get('/health', {}, { key: k })).headers.get('x-ratelimit-remaining')
    const r1 = await M.get('/me', {}, { key: k }),
      r2 = await M.get('/me', {}, { key: k })
    is(+r1.headers.get('x-ratelimit-remaining') - +r2.headers.get('x-ratelimit-remaining'), 1)
    ok(+r1.headers.get('x-ratelimit-remaining') < 100, 'remaining')
    ok(Number.isFinite(one), 'health header')
  })
  await S(
    'limits',
    'X-RateLimit-Reset is Unix time in milliseconds (contract), inside the window',
    async () => {
      const v = +(await M.get('/me')).headers.get('x-ratelimit-reset')
      ok(v > Date.now() - 1000 && v <= Date.now() + 10500, `${v} now ${Date.now()}`)
    },
  )
  await S(
    'limits',
    '100 requests pass in a window and the 101st is 429 RATE_LIMIT_TOO_MANY_REQUESTS with Retry-After',
    async () => {
      await sleep(10500)
      const k = cli('keys', 'create', '--account', M.id, '--name', 'flood').key
      const rs = await Promise.all(Array.from({ length: 104 }, () => M.get('/me', {}, { key: k, raw: true })))
      const n = (s) => rs.filter((r) => r.status === s).length
      is([n(200), n(429)], [100, 4])
      const r = rs.find((r) => r.status === 429)
      is(r.code, 'RATE_LIMIT_TOO_MANY_REQUESTS')
      ok(
        /^\d+$/.test(r.headers.get('retry-after')) &&
          +r.headers.get('retry-after') >= 1 &&
          +r.headers.get('retry-after') <= 10,
        `retry-after ${r.headers.get('retry-after')}`,
      )
      is(r.headers.get('x-ratelimit-remaining'), '0')
      ok(
        rs.filter((r) => r.status === 200).every((r) => !r.headers.has('retry-after')),
        'Retry-After on 200',
      )
      ctx.floodKey = k
    },
  )
  await S('limits', 'the limit is per API key: another key passes meanwhile', async () =>
    is((await M.get('/me', {}, { key: M.keys[0], raw: true })).status, 200),
  )
  await S(
    'limits',
    'contract: v1 counts towards the same window (429 {message: "Rate limit exceeded"})',
    async () => {
      const r = await M.v1('GET', '/get-chatbots', undefined, {}, { key: ctx.floodKey, raw: true })
      is([r.status, r.json], [429, { message: 'Rate limit exceeded' }])
    },
  )
  await S('limits', 'the window slides: after Retry-After seconds requests pass again', async () => {
    const r = await M.get('/me', {}, { key: ctx.floodKey, raw: true })
    const w = +r.headers.get('retry-after') || 0
    await sleep(w * 1000 + 300)
    is((await M.get('/me', {}, { key: ctx.floodKey, raw: true })).status, 200)
  })
  await S('limits', 'rate limit before schema: over the limit a bad body is 429', async () => {
    const k = cli('keys', 'create', '--account', M.id, '--name', 'flood2').key
    await Promise.all(Array.from({ length: 101 }, () => M.get('/me', {}, { key: k, raw: true })))
    const r = await M.post('/agents/nope/chat', { message: 5 }, {}, { key: k, raw: true })
    is(r.status, 429)
  })
  await S(
    'limits',
    'sliding window: 60 at 0 s and 40 at 6 s; at 10.5 s only the first 60 are free again',
    async () => {
      const k = cli('keys', 'create', '--account', M.id, '--name', 'slide').key
      const burst = async (n) =>
        (await Promise.all(Array.from({ length: n }, () => M.get('/me', {}, { key: k, raw: true })))).map(
          (r) => r.status,
        )
      const t0 = Date.now()
      const a = await burst(60)
      await sleep(6000 - (Date.now() - t0))
      const b = await burst(40)
      const t1 = Date.now() - t0
      await sleep(10600 - (Date.now() - t0))
      const c = await burst(66)
      const n = (x, s) => x.filter((v) => v === s).length
      ok(n(a, 200) === 60 && n(b, 200) === 40, 'first bursts')
      ok(n(c, 200) >= 58 && n(c, 200) <= 62, `passed ${n(c, 200)} of 66 (second burst ended at ${t1} ms)`)
      return `third burst: ${n(c, 200)} passed, ${n(c, 429)} refused`
    },
  )
  // --- maintenance
  await S(
    'maintenance',
    'during maintenance every v2 request is 503 SERVICE_UNDER_MAINTENANCE and nothing is written',
    async () => {
      cli('maintenance', 'on')
      try {
        await sleep(1500)
        const r = await M.say(A, 'lost [[tokens:1]]', { userId: 'maint' })
        err(r, 503, 'SERVICE_UNDER_MAINTENANCE')
        ok(r.headers.get('x-request-id') && r.headers.get('x-ratelimit-limit'), 'headers')
        const h = await anon.get('/health')
        is(h.status, 200)
        err(await anon.get('/agents'), 503, 'SERVICE_UNDER_MAINTENANCE')
        err(await anon.get('/nowhere'), 404, 'ROUTE_NOT_FOUND')
        const v = await M.v1('GET', '/get-chatbots')
        ok(v.status === 503 && typeof v.json.message === 'string', v.text)
      } finally {
        cli('maintenance', 'off')
      }
      await sleep(1500)
      is((await M.get(`${a}/users/maint/conversations`)).json.pagination.total, 0)
    },
  )
}
