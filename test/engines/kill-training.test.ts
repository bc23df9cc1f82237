import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { KILLS, killAfter, moments } from '../kill-service.ts'
import { newKey } from '../new-key.ts'
import { newHome, spawnService } from '../spawn-service.ts'
import { type Client, clientOf } from '../start.ts'

test('no source is lost by kills during training, and each goes live', async () => {
  const home = await newHome()
  const key = await newKey(home)
  const acknowledged: { id: string; word: string }[] = []
  let agent = ''
  for (const [round, moment] of moments.entries()) {
    const service = await spawnService(home.env)
    const client = clientOf(service.url, key)
    agent ||= (await client.request('POST', '/agents', { name: 'A' })).body.id
    const already = acknowledged.length
    const killing = killAfter(service, moment, () => acknowledged.length - already)
    await Promise.allSettled(
      Array.from({ length: 4 }, async (_, i) => {
        const word = `marker${round}x${i}`
        const content = `${'Filler sentence about nothing. '.repeat(60)} The secret ${word} is here.`
        const body = i % 2 ? { type: 'text', name: word, content } : null
        const created = body
          ? await client.request('POST', `/agents/${agent}/sources`, body)
          : await upload(client, agent, word, content)
        if (created.status === 201) acknowledged.push({ id: created.body.id, word })
      }),
    )
    await killing
  }
  assert.ok(acknowledged.length >= KILLS, `only ${acknowledged.length} were acknowledged`)
  const service = await spawnService(home.env)
  const client = clientOf(service.url, key)
  const states = await trained(client, agent, acknowledged.length)
  for (const { id, word } of acknowledged) assert.equal(states.get(id), 'trained', word)
  const { word } = acknowledged.at(-1)!
  const { body } = await client.request('POST', `/agents/${agent}/chat`, {
    message: `Where is ${word}?`,
    stream: false,
  })
  assert.match(body.data.parts[0].text, new RegExp(word))
  await service.kill('SIGKILL')
  await home.remove()
})

async function upload(client: Client, agent: string, name: string, content: string) {
  const form = new FormData()
  form.set('name', name)
  form.set('file', new Blob([content]), `${name}.txt`)
  const response = await client.raw('POST', `/agents/${agent}/sources`, { body: form })
  return { status: response.status, body: await response.json() }
}

/** Returns the status of every source once none is being processed. */
async function trained(client: Client, agent: string, least: number): Promise<Map<string, string>> {
  for (;;) {
    const states = new Map<string, string>()
    let cursor: string | null = null
    do {
      const query: string = `?limit=100${cursor ? `&cursor=${cursor}` : ''}`
      const { body } = await client.request('GET', `/agents/${agent}/sources${query}`)
      for (const { id, status, error } of body.data) states.set(id, error ? `${status}: ${error}` : status)
      cursor = body.pagination.cursor
    } while (cursor)
    assert.ok(states.size >= least)
    if (![...states.values()].some((status) => status === 'untrained' || status === 'updated')) return states
    await wait(500)
  }
}
