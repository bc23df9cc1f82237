// helpers of the conformance check

import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
export const PROJECT = resolve(process.env.PROJECT ?? join(import.meta.dirname, '../..'))
export const DATA = mkdtempSync(join(tmpdir(), 'conformance-'))
const freePorts = async (n) => {
  const servers = Array.from({ length: n }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((s) => new Promise((r) => s.once('listening', r))))
  const ports = servers.map((s) => s.address().port)
  await Promise.all(servers.map((s) => new Promise((r) => s.close(r))))
  return ports
}
const [PORT, MODEL] = await freePorts(2)
export const BASE = `http://127.0.0.1:${PORT}`
export const sleep = (ms) => new Promise((r) => setTimeout(r, ms))
const started = []
export const env = {
  ...process.env,
  DATA_DIR: DATA,
  PORT: String(PORT),
  HOST: '127.0.0.1',
  SEED_DEMO: '0',
  ALLOWED_PRIVATE_HOSTS: '127.0.0.1,localhost',
  OPENAI_BASE_URL: `http://127.0.0.1:${MODEL}/v1`,
  OPENAI_API_KEY: 'k',
  OPENAI_MODEL: 'mock',
  LOG_LEVEL: 'warn',
}
export function run(cmd, args, e, cwd) {
  const p = spawn(cmd, args, { cwd, env: e, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  p.out = ''
  p.stdout.on('data', (d) => (p.out += d))
  p.stderr.on('data', (d) => (p.out += d))
  started.push(p)
  return p
}
export async function stop(p) {
  try {
    process.kill(-p.pid, 'SIGTERM')
  } catch {}
  for (let i = 0; i < 300 && p.exitCode === null && p.signalCode === null; i++) await sleep(50)
}
process.on('exit', () => {
  for (const p of started)
    try {
      process.kill(-p.pid, 'SIGKILL')
    } catch {}
  rmSync(DATA, { recursive: true, force: true, maxRetries: 5 })
})
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130))
export async function serve(more = {}) {
  const p = run('npm', ['start'], { ...env, ...more }, PROJECT)
  const t0 = Date.now()
  while (!/listening on http/.test(p.out)) {
    if (p.exitCode !== null || Date.now() - t0 > 60000) throw new Error(`did not start: ${p.out.slice(-800)}`)
    await sleep(50)
  }
  return p
}
export const cli = (...a) =>
  JSON.parse(
    execFileSync('npm', ['run', '-s', 'parley', '--', ...a, '--json'], {
      cwd: PROJECT,
      env,
      encoding: 'utf8',
    }),
  )
export const model = async () => {
  const p = run(
    process.execPath,
    [join(import.meta.dirname, 'model.mjs')],
    { ...process.env, PORT: String(MODEL), TOKENS: '4' },
    import.meta.dirname,
  )
  for (let i = 0; i < 100 && !p.out; i++) await sleep(30)
  return p
}
// ---- results
export const results = []
export async function S(area, statement, f) {
  let r
  try {
    const v = await f()
    const note = typeof v === 'string' ? v : ''
    r = { area, statement, state: /^(n\.a\.|dec\.)/.exec(note)?.[0] ?? 'ok', note }
  } catch (e) {
    r = { area, statement, state: 'FAIL', note: String(e?.message ?? e).slice(0, 700) }
  }
  results.push(r)
  console.log(`${r.state.padEnd(4)} [${area}] ${statement}${r.note ? ` :: ${r.note}` : ''}`)
}
export const J = (v) => JSON.stringify(v)
const canon = (v) =>
  Array.isArray(v)
    ? v.map(canon)
    : v && typeof v === 'object'
      ? Object.fromEntries(
          Object.keys(v)
            .sort()
            .map((k) => [k, canon(v[k])]),
        )
      : v
export function is(a, b, what = '') {
  if (J(canon(a)) !== J(canon(b))) throw new Error(`${what} got ${J(a)} expected ${J(b)}`)
}
export function ok(c, what) {
  if (!c) throw new Error(typeof what === 'string' ? what : J(what))
}
export const keysOf = (o) => Object.keys(o).sort()
// ---- every response is looked at
export const seen = {
  all: 0,
  v2: 0,
  noId: [],
  dupId: [],
  noRate: [],
  badErr: [],
  badV1: [],
  ids: new Set(),
  retryOnOther: [],
}
export function look(method, path, r, text) {
  seen.all++
  const id = r.headers.get('x-request-id')
  if (!id) seen.noId.push(`${method} ${path} ${r.status}`)
  else {
    if (seen.ids.has(id)) seen.dupId.push(`${id} ${method} ${path}`)
    seen.ids.add(id)
  }
  if (path.startsWith('/api/v2')) {
    seen.v2++
    for (const h of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'])
      if (!r.headers.has(h)) seen.noRate.push(`${h}: ${method} ${path} ${r.status}`)
    if (r.status !== 429 && r.headers.has('retry-after'))
      seen.retryOnOther.push(`${method} ${path} ${r.status}`)
    if (r.status >= 400 && method !== 'HEAD') {
      let j
      try {
        j = JSON.parse(text)
      } catch {}
      const e = j?.error
      if (
        !e ||
        J(Object.keys(j)) !== '["error"]' ||
        typeof e.code !== 'string' ||
        typeof e.message !== 'string' ||
        Object.keys(e).some((k) => !['code', 'message', 'details'].includes(k)) ||
        (e.details !== undefined &&
          (typeof e.details !== 'object' || Object.values(e.details).some((v) => typeof v !== 'string')))
      )
        seen.badErr.push(`${method} ${path} ${r.status} ${text.slice(0, 200)}`)
    }
  } else if (path.startsWith('/api/v1') && r.status >= 400 && method !== 'HEAD') {
    let j
    try {
      j = JSON.parse(text)
    } catch {}
    if (typeof j?.message !== 'string') seen.badV1.push(`${method} ${path} ${r.status} ${text.slice(0, 200)}`)
  }
}
export function client(keys) {
  let n = 0
  const call = async (method, path, body, headers = {}, opt = {}) => {
    for (;;) {
      const key = opt.key === undefined ? (keys?.length ? keys[n++ % keys.length] : undefined) : opt.key
      const h = {
        ...(key ? { authorization: `Bearer ${key}` } : {}),
        ...(body !== undefined && !(body instanceof FormData) ? { 'content-type': 'application/json' } : {}),
        ...headers,
      }
      for (const k of Object.keys(h)) if (h[k] === null) delete h[k]
      const r = await fetch(BASE + path, {
        method,
        headers: h,
        body:
          body === undefined || body instanceof FormData
            ? body
            : typeof body === 'string' || body instanceof Uint8Array
              ? body
              : JSON.stringify(body),
        signal: opt.signal,
      })
      const text = await r.text()
      look(method, path.split('?')[0], r, text)
      if (r.status === 429 && !opt.raw) {
        await sleep(300 + 1000 * (+r.headers.get('retry-after') || 1))
        continue
      }
      let json
      try {
        json = JSON.parse(text)
      } catch {}
      return {
        status: r.status,
        headers: r.headers,
        text,
        json,
        code: json?.error?.code,
        details: json?.error?.details,
      }
    }
  }
  const v2 = (m, p, b, h, o) => call(m, `/api/v2${p}`, b, h, o),
    v1 = (m, p, b, h, o) => call(m, `/api/v1${p}`, b, h, o)
  const get = (p, h, o) => v2('GET', p, undefined, h, o)
  const post = (p, b, h, o) => v2('POST', p, b, h, o)
  const say = async (agent, message, more = {}) => {
    const r = await post(`/agents/${agent}/chat`, {
      ...(message === undefined ? {} : { message }),
      stream: false,
      ...more,
    })
    return r
  }
  const stream = async (path, body, h) => {
    const r = await post(path, body, h)
    return { ...r, ...parse(r.text) }
  }
  return { call, v2, v1, get, post, say, stream, keys }
}
export function parse(text) {
  const blocks = text.split('\n\n').filter((b) => b.trim())
  const events = [],
    raw = []
  for (const b of blocks) {
    const lines = b.split('\n')
    const data = lines
      .filter((l) => l.startsWith('data:'))
      .map((l) => l.slice(5).replace(/^ /, ''))
      .join('\n')
    const ev = lines
      .find((l) => l.startsWith('event:'))
      ?.slice(6)
      .trim()
    const id = lines
      .find((l) => l.startsWith('id:'))
      ?.slice(3)
      .trim()
    raw.push({ lines, data, ev, id })
    if (data && data !== '[DONE]') events.push(JSON.parse(data))
  }
  return { raw, events, types: events.map((e) => e.type), done: raw.at(-1)?.data === '[DONE]' }
}
export const walk = async (c, path, limit, extra = '') => {
  const items = [],
    pages = []
  let cursor = null
  for (let i = 0; i < 400; i++) {
    const r = await c.get(
      `${path}?limit=${limit}${extra}${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`,
    )
    if (r.status !== 200) throw new Error(`walk ${r.status} ${r.text}`)
    items.push(...r.json.data)
    pages.push(r.json)
    cursor = r.json.pagination.cursor
    if (!r.json.pagination.hasMore) {
      if (cursor !== null) throw new Error('last page has a cursor')
      return { items, pages }
    }
    if (typeof cursor !== 'string') throw new Error('hasMore without a cursor')
  }
  throw new Error('endless')
}
