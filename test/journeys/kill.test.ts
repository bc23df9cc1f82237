import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { newHome, parley, type Running, spawnService } from '../spawn-service.ts'
import { type Client, clientOf } from '../start.ts'

const KILLS = 20

async function newKey(env: Record<string, string>): Promise<string> {
  const { stdout } = await parley(['account', 'create', '--name', 'K', '--json'], env)
  const key = await parley(
    ['keys', 'create', '--account', JSON.parse(stdout).id, '--name', 'k', '--json'],
    env,
  )
  return JSON.parse(key.stdout).key
}

/**
 * When to kill, the same in every run, counted from what was acknowledged, so that a slow machine kills at the same
 * places as a fast one: after the nth answer of the round, and so many milliseconds.
 */
const moments = Array.from({ length: KILLS }, (_, i) => ({ after: 1 + (i % 3), ms: (i * 37) % 100 }))

test('twenty kills during training lose no source, and every one goes live', async () => {
  const home = await newHome()
  const key = await newKey(home.env)
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
        const content = `${'Filler sentence about nothing. '.repeat(200)} The secret ${word} is here.`
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

async function killAfter(
  service: Running,
  moment: { after: number; ms: number },
  answered: () => number,
): Promise<void> {
  while (answered() < moment.after) await wait(1)
  await wait(moment.ms)
  await service.kill('SIGKILL')
}

/** The status of every source, once none is being processed. */
async function trained(client: Client, agent: string, least: number): Promise<Map<string, string>> {
  for (;;) {
    const states = new Map<string, string>()
    let cursor: string | null = null
    do {
      const query: string = `?limit=100${cursor ? `&cursor=${cursor}` : ''}`
      const { body } = await client.request('GET', `/agents/${agent}/sources${query}`)
      for (const { id, status } of body.data) states.set(id, status)
      cursor = body.pagination.cursor
    } while (cursor)
    assert.ok(states.size >= least)
    if (![...states.values()].some((status) => status === 'untrained' || status === 'updated')) return states
    await wait(500)
  }
}

test('twenty kills during chat lose no acknowledged message, leave nothing busy, and the ledger balances', async () => {
  const home = await newHome()
  const key = await newKey(home.env)
  const acknowledged: { conversationId: string; id: string; text: string }[] = []
  const begun = new Set<string>()
  let agent = ''
  for (const moment of moments) {
    const service = await spawnService(home.env)
    const client = clientOf(service.url, key)
    agent ||= (await client.request('POST', '/agents', { name: 'A' })).body.id
    const already = acknowledged.length
    let killed = false
    const killing = killAfter(service, moment, () => acknowledged.length - already).then(() => {
      killed = true
    })
    await Promise.allSettled(
      Array.from({ length: 3 }, async () => {
        let conversationId: string | undefined
        for (let turn = 0; turn < 8 && !killed; turn++) {
          const message = `Hello ${turn}`
          const { status, body } = await client.request('POST', `/agents/${agent}/chat`, {
            message,
            conversationId,
            stream: false,
          })
          if (status !== 200) continue
          conversationId = body.data.metadata.conversationId as string
          begun.add(conversationId)
          acknowledged.push({ conversationId, id: body.data.id, text: body.data.parts[0].text })
        }
      }),
    )
    await killing
  }
  assert.ok(acknowledged.length >= KILLS, `only ${acknowledged.length} were acknowledged`)
  const service = await spawnService(home.env)
  const messages = new Map<string, string>()
  const clients = [clientOf(service.url, key), clientOf(service.url, await newKeyOf(home.env))]
  for (const conversationId of begun) {
    let client = clients[0]!
    let answer = await client.request(
      'GET',
      `/agents/${agent}/conversations/${conversationId}/messages?limit=100`,
    )
    if (answer.status === 429) {
      client = clients[1]!
      await wait(10_000)
      answer = await client.request(
        'GET',
        `/agents/${agent}/conversations/${conversationId}/messages?limit=100`,
      )
    }
    for (const { id, parts } of answer.body.data) messages.set(id, parts[0]?.text)
  }
  for (const { id, text } of acknowledged) assert.equal(messages.get(id), text)
  const last = acknowledged.at(-1)!.conversationId
  // On PostgreSQL a killed process's lease has to run out first; its conversations are free after that.
  for (let tries = 0; ; tries++) {
    const { status } = await clients[0]!.request('POST', `/agents/${agent}/chat`, {
      message: 'Still there?',
      conversationId: last,
      stream: false,
    })
    if (status === 200) break
    assert.ok(tries < 30, `still ${status}`)
    await wait(1_000)
  }
  const { stdout } = await parley(['reconcile', '--json'], home.env)
  assert.deepEqual(JSON.parse(stdout), { balanced: true, difference: 0 })
  await service.kill('SIGKILL')
  await home.remove()
})

async function newKeyOf(env: Record<string, string>): Promise<string> {
  const { stdout } = await parley(['account', 'list', '--json'], env)
  const [account] = JSON.parse(stdout).accounts
  const key = await parley(['keys', 'create', '--account', account.id, '--name', 'second', '--json'], env)
  return JSON.parse(key.stdout).key
}
