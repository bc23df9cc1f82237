import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Service, startService } from '../../test/start.ts'

let service: Service

before(async () => {
  service = await startService()
})
after(() => service.close())

test('the status page says that it works and nothing of any account', async () => {
  const { accountId } = await service.account({ name: 'Secret name' })
  const response = await fetch(service.url)
  const html = await response.text()
  assert.equal(response.status, 200)
  assert.match(html, /Working/)
  assert.doesNotMatch(html, new RegExp(`Secret name|${accountId}`))
  assert.match(response.headers.get('content-security-policy') ?? '', /default-src 'self'/)
  assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
})

test('the reference and its document are served', async () => {
  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
    openapi: string
    paths: object
  }
  assert.equal(document.openapi, '3.1.0')
  assert.ok('/agents/{agentId}/chat' in document.paths)
  const page = await fetch(`${service.url}/reference/`)
  assert.equal(page.status, 200)
  assert.match(await page.text(), /swagger-ui/)
})

test('an address outside of the API that does not exist is 404 in the same shape', async () => {
  const response = await fetch(`${service.url}/nowhere`)
  assert.equal(response.status, 404)
  assert.equal(((await response.json()) as { error: { code: string } }).error.code, 'ROUTE_NOT_FOUND')
})
