import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { type ModelServer, startModelServer } from '../fakes/model-server.ts'
import { findBrowser } from '../find-browser.ts'
import { launchChromium } from '../launch-chromium.ts'
import { lookAt } from '../look-at.ts'
import { type Client, type Service, startService } from '../start.ts'
import { trained, until } from '../until.ts'
import { memberOf } from '../workspace.ts'
import { pageOf } from '../workspace-page.ts'

const skip = findBrowser()
  ? false
  : 'No Chromium was found: install it, or set CHROMIUM_PATH, to test the workspace in a browser.'

describe('the draft of an agent', { skip }, () => {
  let models: ModelServer
  let service: Service
  let browser: Browser
  let client: Client
  let page: Page
  let agentId: string
  let sourceId: string

  before(async () => {
    models = await startModelServer()
    models.otherwise(({ body }) => ({
      tokens: [
        JSON.stringify(body).includes('repair takes ten days') ? 'It takes ten days [1].' : 'I do not know.',
      ],
    }))
    service = await startService(models.settings)
    browser = await launchChromium()
    client = await service.account()
    const owner = await memberOf(service, client.accountId, 'owner')
    const agent = { name: 'Shop', instructions: 'Be kind.\nBe brief.' }
    agentId = (await client.request('POST', '/agents', agent)).body.id
    const source = { type: 'text', name: 'Repairs', content: 'A repair takes five days.' }
    sourceId = (await client.request('POST', `/agents/${agentId}/sources`, source)).body.id
    await trained(service, sourceId)
    const inputs = { type: 'object', properties: {} }
    const action = { name: 'find_order', type: 'client', description: 'Finds an order.', inputs }
    await client.request('POST', `/agents/${agentId}/actions`, action)
    const procedure = { name: 'Late order', trigger: 'An order is late.', steps: ['Use @find_order.'] }
    await client.request('POST', `/agents/${agentId}/procedures`, procedure)
    page = await pageOf(browser, service, owner)
  })
  after(async () => {
    await browser?.close()
    await service?.close()
    await models?.close()
  })

  const go = (path: string) => page.goto(`${service.url}/agents/${agentId}${path}`)
  const read = async (path: string) => (await client.request('GET', `/agents/${agentId}${path}`)).body
  const section = (title: string) =>
    page.locator('section').filter({ has: page.getByRole('heading', { name: title, exact: true }) })

  test('instructions, actions, procedures and sources are changed without touching the live agent', async () => {
    await go('/draft')
    await page.getByText('There is no draft.').waitFor()
    await section('Instructions and model')
      .getByLabel('Instructions')
      .fill('Be kind.\nSay how long it takes.')
    await section('Instructions and model').getByRole('button', { name: 'Save in the draft' }).click()
    await page.getByText('Begun').waitFor()
    await section('Actions').getByLabel('find_order', { exact: true }).uncheck()
    await section('Procedures').getByRole('button', { name: 'Edit Late order' }).click()
    const procedure = page.getByRole('dialog')
    await procedure.getByLabel('Situation').fill('An order is very late.')
    await lookAt(page, 'draft-procedure')
    await procedure.getByRole('button', { name: 'Save in the draft' }).click()
    await procedure.waitFor({ state: 'detached' })
    await section('Sources').getByRole('button', { name: 'Change Repairs' }).click()
    const text = page.getByRole('dialog')
    assert.equal(await text.getByLabel('Text', { exact: true }).inputValue(), 'A repair takes five days.')
    await text.getByLabel('Text', { exact: true }).fill('A repair takes ten days.')
    await text.getByRole('button', { name: 'Save in the draft' }).click()
    await text.waitFor({ state: 'detached' })
    await section('Sources').getByText('not live').waitFor()
    assert.equal(await section('Sources').getByLabel('Repairs', { exact: true }).isChecked(), false)
    await lookAt(page, 'draft-edit')
    const live = await read('')
    assert.deepEqual(
      [live.instructions, (await read('/sources')).pagination.total],
      ['Be kind.\nBe brief.', 1],
    )
    await until('the training', async () => (await read('/draft')).reading.waiting === 0)
  })

  test('the difference is shown, and the draft is tried in the playground', async () => {
    await go('/draft?tab=changes')
    await page.getByRole('heading', { name: 'Action find_order: state' }).waitFor()
    await page.getByText('Say how long it takes.').waitFor()
    await page.getByRole('heading', { name: 'Source Repairs: replaced' }).waitFor()
    await page.getByText('A repair takes five days.').waitFor()
    await page.getByText('A repair takes ten days.').waitFor()
    await lookAt(page, 'draft-changes')
    await page.getByRole('link', { name: 'Try it' }).click()
    await page.getByLabel('Question').fill('How long does a repair take?')
    await page.keyboard.press('Enter')
    const answer = page.getByRole('article', { name: 'Answer of the draft' })
    await answer.getByText('It takes ten days').waitFor()
    await lookAt(page, 'draft-playground')
    await page.getByText('Settings of the run').click()
    await page.getByLabel('Version').selectOption('live')
    await page.getByLabel('Question').fill('How long does a repair take now?')
    await page.keyboard.press('Enter')
    await page.getByRole('article', { name: 'Answer', exact: true }).getByText('I do not know.').waitFor()
  })

  test('it is published after its changes were named, and rolled back', async () => {
    await go('/draft')
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('heading', { name: 'Procedure Late order: situation' }).waitFor()
    await lookAt(page, 'draft-publish')
    // Somebody changes the live agent while the dialog is open.
    await client.request('PUT', `/agents/${agentId}`, { temp: 0.3 })
    await dialog.getByRole('button', { name: /^Publish \d/ }).click()
    await dialog
      .getByRole('alert')
      .getByText(/has been changed/)
      .waitFor()
    await dialog.getByText('The live agent has been changed since the draft was begun: Temperature').waitFor()
    await dialog.getByRole('button', { name: /^Publish \d/ }).click()
    await dialog.waitFor({ state: 'detached' })
    assert.match((await read('')).instructions, /how long/)
    await page.getByRole('tab', { name: 'Versions' }).click()
    await page.getByText(/owner published/).waitFor()
    await lookAt(page, 'draft-versions')
    await page.getByRole('button', { name: /^Compare with/ }).click()
    const back = page.getByRole('dialog')
    await back.getByRole('heading', { name: 'Instructions' }).waitFor()
    await lookAt(page, 'draft-roll-back')
    await back.getByRole('button', { name: 'Roll back' }).click()
    await back.waitFor({ state: 'detached' })
    assert.equal((await read('')).instructions, 'Be kind.\nBe brief.')
    await page.getByText(/owner rolled back/).waitFor()
    const { data } = await read('/sources')
    assert.deepEqual(
      data.map(({ id }: { id: string }) => id),
      [sourceId],
    )
  })

  test('a draft is discarded', async () => {
    await client.request('PUT', `/agents/${agentId}/draft`, { instructions: 'Hm.' })
    await go('/draft')
    await page.getByRole('button', { name: 'Discard', exact: true }).click()
    await page.getByRole('button', { name: 'Discard it' }).click()
    await page.getByText('There is no draft.').waitFor()
    assert.equal((await read('/draft')).instructions, 'Be kind.\nBe brief.')
  })
})
