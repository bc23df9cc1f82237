import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { brokenRules } from '../broken-rules.ts'
import { findBrowser } from '../find-browser.ts'
import { launchChromium } from '../launch-chromium.ts'
import { type Client, type Service, startService } from '../start.ts'
import { trained } from '../until.ts'
import { memberOf } from '../workspace.ts'
import { pageOf } from '../workspace-page.ts'

const skip = findBrowser()
  ? false
  : 'No Chromium was found: install it, or set CHROMIUM_PATH, to test the workspace in a browser.'

const QUESTION = 'What does a parcel cost?'

describe('passages that are excluded and pinned', { skip }, () => {
  let service: Service
  let browser: Browser
  let client: Client
  let page: Page
  let agentId: string
  let sourceId: string

  before(async () => {
    service = await startService()
    browser = await launchChromium()
    client = await service.account()
    agentId = (await client.request('POST', '/agents', { name: 'Shop' })).body.id
    const content = '# Parcels\n\nA parcel costs 4 euros.\n\n# History\n\nIn 1999 a parcel cost 7 marks.'
    const source = { type: 'text', name: 'Shop', content }
    sourceId = (await client.request('POST', `/agents/${agentId}/sources`, source)).body.id
    await trained(service, sourceId)
    page = await pageOf(browser, service, await memberOf(service, client.accountId, 'owner'))
    page.setDefaultTimeout(30_000)
  })
  after(async () => {
    await browser?.close()
    await service?.close()
  })

  const search = async () => {
    await page.goto(`${service.url}/agents/${agentId}/search`)
    await page.getByLabel('Question').fill(QUESTION)
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    await passage(1).waitFor()
  }
  const passage = (place: number) => page.getByRole('article', { name: `Passage ${place}` })
  const chunk = (text: string) => page.getByRole('listitem').filter({ hasText: text }).first()
  const found = async (): Promise<string[]> => {
    const { body } = await client.request('POST', `/agents/${agentId}/retrieval-test`, { question: QUESTION })
    return body.passages.map(({ text }: { text: string }) => text)
  }

  test('a passage is excluded where it is found, and included again by Undo or on the page of its source', async () => {
    await search()
    const [best] = await found()
    await passage(1).getByRole('button', { name: 'Exclude' }).click()
    await passage(1).getByText('Excluded: no answer uses it').waitFor()
    assert.ok(!(await found()).includes(best!))
    assert.deepEqual(await brokenRules(page, { iframes: false }), [])
    await page.getByRole('button', { name: /^Undo/ }).click()
    await passage(1).getByRole('button', { name: 'Exclude' }).waitFor()
    assert.equal((await found())[0], best)

    await passage(1).getByRole('button', { name: 'Exclude' }).click()
    await passage(1).getByText('Excluded: no answer uses it').waitFor()
    await page.goto(`${service.url}/agents/${agentId}/sources/${sourceId}?tab=chunks`)
    await chunk(best!).getByText('Excluded: no answer uses it').waitFor()
    await chunk(best!).getByRole('button', { name: 'Include again' }).click()
    await chunk(best!).getByRole('button', { name: 'Exclude' }).waitFor()
    assert.equal((await found())[0], best)
  })

  test('a passage is pinned with the keyboard to what was asked or to a typed question, and unpinned', async () => {
    await search()
    const [, second] = await found()
    await passage(2).getByRole('button', { name: 'Pin to this question' }).focus()
    await page.keyboard.press('Enter')
    await passage(2).getByText(`First for “${QUESTION}”`).waitFor()
    assert.equal((await found())[0], second)
    await search()
    await passage(1).getByText('Stored or pinned for this question').waitFor()
    assert.deepEqual(await brokenRules(page, { iframes: false }), [])
    await passage(1)
      .getByRole('button', { name: `Unpin from “${QUESTION}”` })
      .click()
    await passage(1).getByText('First for').waitFor({ state: 'detached' })
    assert.equal((await found())[1], second)

    await page.goto(`${service.url}/agents/${agentId}/sources/${sourceId}?tab=chunks`)
    await chunk(second!).getByRole('button', { name: 'Pin to a question' }).click()
    await page.getByRole('dialog').getByLabel('Question').fill('parcel cost')
    await page.keyboard.press('Enter')
    await chunk(second!).getByText('First for “parcel cost”').waitFor()
    assert.equal((await found())[0], second)
  })
})
