import assert from 'node:assert/strict'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { failsWith } from '../failures/fails-with.ts'
import { FetchFailure } from '../failures/fetch-failure.ts'
import { createGuardedFetcher } from './guarded-fetcher.ts'
import type { ResolveHost } from './pinned-connector.ts'

let visits = 0
const server = http.createServer((_request, response) => {
  visits += 1
  response.end('secret')
})
await new Promise<void>((resolve) => server.listen(0, resolve))
const { port } = server.address() as AddressInfo
const strict = createGuardedFetcher({ allowedPrivateHosts: [], userAgent: 'ParleyTest/1' })
const limits = { maxBytes: 1_000, timeoutMs: 5_000 }

after(async () => {
  await strict.close()
  server.closeAllConnections()
  server.close()
})

test('loopback, private and metadata addresses are blocked in every notation', async () => {
  const hosts = [
    `127.0.0.1:${port}`,
    `localhost:${port}`,
    `LOCALHOST:${port}`,
    `127.0.0.1.:${port}`,
    `127.1:${port}`,
    `2130706433:${port}`,
    `0x7f000001:${port}`,
    `0x7f.0.0.1:${port}`,
    `0177.0.0.1:${port}`,
    `017700000001:${port}`,
    `0:${port}`,
    `%31%32%37.0.0.1:${port}`,
    `１２７.０.０.１:${port}`,
    `127。0。0。1:${port}`,
    `[::1]:${port}`,
    `[::]:${port}`,
    `[0:0:0:0:0:0:0:1]:${port}`,
    `[::127.0.0.1]:${port}`,
    `[::ffff:127.0.0.1]:${port}`,
    `[::FFFF:7F00:1]:${port}`,
    '[::ffff:a9fe:a9fe]',
    '[64:ff9b::a9fe:a9fe]',
    '[64:ff9b:1::a9fe:a9fe]',
    '[2002:7f00:1::]',
    '[2001:0:7f00:1::]',
    '[fd00:ec2::254]',
    '[fe80::1]',
    '169.254.169.254',
    '2852039166',
    '0xA9FEA9FE',
    '10.1.2.3',
    '192.168.0.1',
    '100.100.100.200',
    '224.0.0.1',
    '255.255.255.255',
  ]
  for (const host of hosts) {
    const failure = await failsWith('blocked_address', strict.fetch(`http://${host}/secret`, limits))
    assert.doesNotMatch(failure.message, /\d+\.\d+|::/, host)
  }
  // Whether this name exists depends on the system.
  const dotted = await strict.fetch(`http://localhost.:${port}/`, limits).catch((error: unknown) => error)
  assert.ok(dotted instanceof FetchFailure && ['blocked_address', 'dns_failed'].includes(dotted.code))
  assert.equal(visits, 0)
})

test('a name whose address changes after the check gains nothing', async () => {
  let asked = 0
  const rebinding: ResolveHost = async () => {
    asked += 1
    // 2d00::/8 is not allocated: it is public by rule, and this test sends no request to a third party.
    return asked === 1 ? [{ address: '2d00::1', family: 6 }] : [{ address: '127.0.0.1', family: 4 }]
  }
  const settings = { allowedPrivateHosts: [], userAgent: 'x', resolve: rebinding, connectTimeoutMs: 300 }
  const victim = createGuardedFetcher(settings)
  const first = await victim.fetch(`http://rebind.test:${port}/`, limits).catch((error: unknown) => error)
  assert.ok(
    first instanceof FetchFailure && ['connect_failed', 'timeout'].includes(first.code),
    String(first),
  )
  assert.equal(asked, 1)
  await failsWith('blocked_address', victim.fetch(`http://rebind.test:${port}/`, limits))
  assert.equal(visits, 0)
  await victim.close()
})
