import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startFakeImapServer } from '../fakes/imap-server.ts'
import { newKey } from '../new-key.ts'
import { newHome, spawnService } from '../spawn-service.ts'
import { clientOf } from '../start.ts'

test('SIGTERM ends the process while it reads a mailbox whose server never finishes', async () => {
  const imap = await startFakeImapServer()
  imap.troubles.set('LOGIN', 'stall')
  const home = await newHome()
  const key = await newKey(home)
  const running = await spawnService({ ...home.env, ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
  const client = clientOf(running.url, key)
  const agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
  const login = { host: '127.0.0.1', security: 'none', username: 'user', password: 'secret' }
  const connected = await client.request('PUT', `/agents/${agentId}/email/connection`, {
    address: 'support@shop.example',
    smtp: { ...login, port: 1 },
    imap: { ...login, port: imap.port },
  })
  assert.equal(connected.status, 200, JSON.stringify(connected.body))
  await imap.saw('LOGIN')
  assert.equal(await running.kill('SIGTERM'), 0)
  await imap.close()
  await home.remove()
})
