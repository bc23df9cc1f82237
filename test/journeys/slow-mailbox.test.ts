import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startFakeImapServer } from '../fakes/imap-server.ts'
import { newHome, parley, spawnService } from '../spawn-service.ts'
import { clientOf } from '../start.ts'

test('SIGTERM ends the process while it reads a mailbox whose server never finishes', async () => {
  const imap = await startFakeImapServer()
  imap.troubles.set('LOGIN', 'stall')
  const home = await newHome()
  const running = await spawnService({ ...home.env, ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
  const account = JSON.parse((await parley(['account', 'create', '--name', 'A', '--json'], home.env)).stdout)
  const made = await parley(['keys', 'create', '--account', account.id, '--name', 'k', '--json'], home.env)
  const client = clientOf(running.url, JSON.parse(made.stdout).key)
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
