import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { KILLS, killAfter, moments, newKey } from '../kill-service.ts'
import { newHome, parley, spawnService } from '../spawn-service.ts'
import { clientOf } from '../start.ts'

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
  const client = clientOf(service.url, key)
  for (const conversationId of begun) {
    const path = `/agents/${agent}/conversations/${conversationId}/messages?limit=100`
    const answer = await client.request('GET', path)
    for (const { id, parts } of answer.body.data) messages.set(id, parts[0]?.text)
  }
  for (const { id, text } of acknowledged) assert.equal(messages.get(id), text)
  const last = acknowledged.at(-1)!.conversationId
  // On PostgreSQL a killed process's lease has to run out first; its conversations are free after that.
  for (let tries = 0; ; tries++) {
    const { status } = await client.request('POST', `/agents/${agent}/chat`, {
      message: 'Still there?',
      conversationId: last,
      stream: false,
    })
    if (status === 200) break
    assert.ok(tries < 120, `still ${status}`)
    await wait(1_000)
  }
  const { stdout } = await parley(['reconcile', '--json'], home.env)
  assert.deepEqual(JSON.parse(stdout), { balanced: true, difference: 0 })
  await service.kill('SIGKILL')
  await home.remove()
})
