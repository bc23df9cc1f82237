#!/usr/bin/env node
// A deterministic OpenAI-compatible model server for measurements. No dependencies.
// Directives in the newest user message: [[tokens:N]] [[delay:MS]] [[ttft:MS]] [[tool:NAME {json}]] [[fail:STATUS]] [[drop:N]] (cut the socket after N tokens) [[say:TEXT]]
// Env: PORT (4010), TOKENS (300), DELAY (0 ms between tokens), TTFT (0 ms).
import http from 'node:http'

const PORT = +(process.env.PORT ?? 4010),
  TOKENS = +(process.env.TOKENS ?? 300),
  DELAY = +(process.env.DELAY ?? 0),
  TTFT = +(process.env.TTFT ?? 0)
let seen = 0,
  live = 0,
  peak = 0
const log = []
const sleep = (ms) => (ms > 0 ? new Promise((r) => setTimeout(r, ms)) : Promise.resolve())
const text = (c) => (typeof c === 'string' ? c : (c ?? []).map((p) => p.text ?? '').join(''))
const directive = (s, name) => {
  const m = [...s.matchAll(new RegExp(`\\[\\[${name}:([^\\]]*)\\]\\]`, 'g'))].at(-1)
  return m?.[1]
}
function embed(s, dim = 384) {
  const v = new Float64Array(dim)
  for (const w of s.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    let h = 2166136261
    for (const ch of w) h = Math.imul(h ^ ch.codePointAt(0), 16777619)
    v[(h >>> 0) % dim] += 1
  }
  const n = Math.hypot(...v) || 1
  return Array.from(v, (x) => x / n)
}
http
  .createServer(async (req, res) => {
    const body = await new Promise((r) => {
      let b = ''
      req.on('data', (d) => (b += d))
      req.on('end', () => r(b))
    })
    const json = (code, o) => {
      res.writeHead(code, { 'content-type': 'application/json' })
      res.end(JSON.stringify(o))
    }
    if (req.url.endsWith('/stats')) return json(200, { seen, live, peak, log: log.slice(-20) })
    if (req.url.endsWith('/models'))
      return json(200, { object: 'list', data: [{ id: 'mock', object: 'model' }] })
    let b
    try {
      b = JSON.parse(body)
    } catch {
      return json(400, { error: { message: 'bad json' } })
    }
    if (req.url.endsWith('/embeddings')) {
      const input = [].concat(b.input)
      return json(200, {
        object: 'list',
        model: b.model,
        data: input.map((s, index) => ({
          object: 'embedding',
          index,
          embedding: embed(String(s), b.dimensions ?? 384),
        })),
        usage: { prompt_tokens: input.length, total_tokens: input.length },
      })
    }
    if (!req.url.endsWith('/chat/completions'))
      return json(404, { error: { message: `no such route ${req.url}` } })
    seen++
    live++
    peak = Math.max(peak, live)
    res.on('close', () => live--)
    const msgs = b.messages ?? [],
      last = msgs.at(-1) ?? {},
      user = text(msgs.findLast((m) => m.role === 'user')?.content ?? '')
    log.push({
      roles: msgs.map((m) => m.role).join(','),
      model: b.model,
      tools: (b.tools ?? []).map((t) => t.function?.name),
      user: user.slice(0, 200),
      system: text(msgs.find((m) => m.role === 'system')?.content ?? '').slice(0, 4000),
    })
    const fail = directive(user, 'fail')
    if (fail) return json(+fail, { error: { message: 'mock failure', type: 'mock' } })
    const n = +(directive(user, 'tokens') ?? TOKENS),
      delay = +(directive(user, 'delay') ?? DELAY),
      ttft = +(directive(user, 'ttft') ?? TTFT),
      drop = +(directive(user, 'drop') ?? -1),
      isTitle = /write a title/i.test(text(msgs.find((m) => m.role === 'system')?.content ?? '')),
      say = isTitle ? 'A short title' : directive(user, 'say')?.replace(/<(\d)>/g, '[$1]')
    const tools = last.role === 'tool' ? [] : [...user.matchAll(/\[\[tool:(\S+?)\s*(\{.*?\})?\]\]/gs)]
    const tool = tools[0]
    const fin = directive(user, 'finish') ?? 'stop'
    const id = `chatcmpl-${seen}`,
      base = { id, object: 'chat.completion.chunk', created: 1700000000, model: b.model }
    const words = say ? say.split(/(?<= )/) : Array.from({ length: n }, (_, i) => `word${i} `)
    const usage = { prompt_tokens: 100, completion_tokens: words.length, total_tokens: 100 + words.length }
    await sleep(ttft)
    if (!b.stream) {
      const message = tool
        ? {
            role: 'assistant',
            content: null,
            tool_calls: [
              {
                id: `call_${seen}`,
                type: 'function',
                function: { name: tool[1], arguments: tool[2] ?? '{}' },
              },
            ],
          }
        : { role: 'assistant', content: words.join('') }
      return json(200, {
        ...base,
        object: 'chat.completion',
        choices: [{ index: 0, message, finish_reason: tool ? 'tool_calls' : 'stop' }],
        usage,
      })
    }
    res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
    const send = (o) => res.write(`data: ${JSON.stringify(o)}\n\n`),
      choice = (delta, finish_reason = null) =>
        send({ ...base, choices: [{ index: 0, delta, finish_reason }] })
    choice({ role: 'assistant', content: '' })
    if (tool) {
      if (say) choice({ content: say })
      for (const [index, t] of tools.entries()) {
        choice({
          tool_calls: [
            {
              index,
              id: `call_${seen}_${index}`,
              type: 'function',
              function: { name: t[1], arguments: '' },
            },
          ],
        })
        for (const part of (t[2] ?? '{}').match(/.{1,8}/gs)) {
          choice({ tool_calls: [{ index, function: { arguments: part } }] })
          await sleep(delay)
        }
      }
      choice({}, 'tool_calls')
    } else {
      for (let i = 0; i < words.length; i++) {
        if (i === drop) return res.destroy()
        choice({ content: words[i] })
        if (delay) await sleep(delay)
      }
      choice({}, fin)
    }
    send({ ...base, choices: [], usage })
    res.end('data: [DONE]\n\n')
  })
  .listen(PORT, '127.0.0.1', () => console.log(`mock model on 127.0.0.1:${PORT}`))
