import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { type ModelServer, startModelServer } from '../fakes/model-server.ts'
import { findBrowser } from '../find-browser.ts'
import { launchChromium } from '../launch-chromium.ts'
import { type Client, type Service, startService } from '../start.ts'
import { memberOf } from '../workspace.ts'
import { pageOf } from '../workspace-page.ts'

const skip = findBrowser()
  ? false
  : 'No Chromium was found: install it, or set CHROMIUM_PATH, to test the workspace in a browser.'

describe('what a model wrote leads the team nowhere', { skip }, () => {
  let models: ModelServer
  let service: Service
  let browser: Browser
  let client: Client

  before(async () => {
    models = await startModelServer()
    service = await startService(models.settings)
    browser = await launchChromium()
    client = await service.account()
  })
  after(async () => {
    await browser?.close()
    await service?.close()
    await models?.close()
  })

  test('a conversation shows the addresses of its answers as text, and no pictures', async () => {
    const owner = await memberOf(service, client.accountId, 'owner')
    const { id } = (await client.request('POST', '/agents', { name: 'Shop' })).body
    models.queue.push({
      tokens: [
        'Look [here](https://evil.example/?q=1), at https://evil.example/x and ![it](https://evil.example/p.png).',
      ],
    })
    const body = { stream: false, message: 'Look at https://own.example/lamp.' }
    const { data } = (await client.request('POST', `/agents/${id}/chat`, body)).body
    const page = await pageOf(browser, service, owner)
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.goto(`${service.url}/agents/${id}/conversations?open=${data.metadata.conversationId}`)
    const answer = page.getByRole('article').filter({ hasText: 'Look here' })
    await answer.waitFor()
    assert.match((await answer.textContent()) ?? '', /here \(https:\/\/evil\.example\/\?q=1\)/)
    assert.equal(await answer.getByRole('link').count(), 0)
    // What a customer wrote is theirs.
    assert.equal(await page.getByRole('link', { name: 'https://own.example/lamp' }).count(), 1)
    assert.deepEqual(
      asked.filter((url) => url.includes('evil.example')),
      [],
    )
  })
})
