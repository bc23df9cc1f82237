import { test } from 'node:test'
import assert from 'node:assert/strict'
import { newHome, parley as cli, spawnService } from './spawn-service.ts'
import { startModelServer } from './fakes/model-server.ts'
import { tokens } from './fakes/reply.ts'
import { createParley } from '../client/parley.ts'
for (const signal of ['SIGTERM','SIGKILL'] as const) test(signal, async () => {
  const models = await startModelServer()
  const home = await newHome()
  const env = { ...home.env, OPENAI_BASE_URL: models.url + '/v1', OPENAI_API_KEY: 'x', OPENAI_MODEL: 'm', ALLOWED_PRIVATE_HOSTS: '127.0.0.1' }
  const first = await spawnService(env)
  const acc = JSON.parse((await cli(['account','create','--name','x','--json'], env)).stdout)
  const key = JSON.parse((await cli(['keys','create','--account',acc.id,'--name','k','--json'], env)).stdout).key
  const port = new URL(first.url).port
  const h = { authorization: `Bearer ${key}`, 'content-type':'application/json' }
  const agent = await (await fetch(first.url + '/api/v2/agents', { method:'POST', headers: h, body: JSON.stringify({name:'A'})})).json() as any
  const parley = createParley({ baseUrl: first.url + '/api/v2', headers: h })
  models.queue.push({ tokens: tokens(300), delayMs: 60 })
  let text = '', killed: Promise<unknown> | undefined, second: any
  const t0 = Date.now()
  const types: string[] = []
  for await (const { event } of await parley.chat(agent.id, { message: 'hi' })) {
    if (event.type !== 'text-delta') { types.push(event.type); console.log(Date.now()-t0, JSON.stringify(event)) } else text += event.delta
    if (!killed && text.includes('token40 ')) killed = first.kill(signal).then(async (c) => { console.log('ended', c, Date.now()-t0); second = await spawnService({ ...env, PORT: port }); console.log('again', Date.now()-t0) })
  }
  await killed
  console.log(text.length, text.slice(-30), types.join())
  assert.ok(tokens(300).join('').startsWith(text))
  await second.kill('SIGKILL'); await models.close(); await home.remove()
})
