import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { brokenRules } from '../broken-rules.ts'
import { page as htmlPage, startWebSite, type WebSite } from '../fakes/web-site.ts'
import { findBrowser } from '../find-browser.ts'
import { launchChromium } from '../launch-chromium.ts'
import { type Client, type Service, startService } from '../start.ts'
import { until } from '../until.ts'
import { memberOf } from '../workspace.ts'
import { pageOf } from '../workspace-page.ts'

const skip = findBrowser()
  ? false
  : 'No Chromium was found: install it, or set CHROMIUM_PATH, to test the workspace in a browser.'

describe('the first agent of somebody whose website cannot be read', { skip }, () => {
  let service: Service
  let site: WebSite
  let browser: Browser
  let client: Client
  let page: Page

  before(async () => {
    site = await startWebSite()
    service = await startService({ ALLOWED_PRIVATE_HOSTS: `${site.host},localhost` })
    client = await service.account()
    browser = await launchChromium()
    page = await pageOf(browser, service, await memberOf(service, client.accountId, 'owner'))
  })
  after(async () => {
    await browser?.close()
    await service?.close()
    await site?.close()
  })

  const title = (name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor()
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  const agents = async (name: string) => {
    const { data } = (await client.request('GET', '/agents?limit=100')).body
    return (data as { id: string; name: string }[]).filter((one) => one.name === name)
  }
  const sourcesOf = async (name: string) => {
    const [agent] = await agents(name)
    const { data } = (await client.request('GET', `/agents/${agent?.id}/sources`)).body
    return (data as { name: string; status: string }[])
      .filter(({ status }) => status !== 'toBeDeleted')
      .map((one) => [one.name, one.status])
  }

  async function create(name: string, address: string): Promise<void> {
    await page.goto(`${service.url}/agents`)
    await page.getByRole('link', { name: 'New agent' }).click()
    await page.getByLabel('Name').fill(name)
    await page.getByLabel('Address of the website').fill(address)
    await press('Create the agent')
  }

  test('an address without a scheme is read with http where there is no https', async () => {
    site.pages.set('/', htmlPage('Lamps', 'The Halo lamp has a warranty of five years.'))
    await create('Plain', site.host)
    await title('Your agent is ready')
    await page.getByText('Everything is live').waitFor()
    await page.getByLabel('Training').getByText(`${site.url}/`).waitFor()
    await page.getByLabel('Question').fill('How long is the warranty?')
    await page.keyboard.press('Enter')
    await page.getByRole('log').getByText('five years').first().waitFor()
    await page.getByRole('link', { name: 'Put it on your website' }).waitFor()
  })

  test('the page says why, goes on with the same agent, and reads the corrected address', async () => {
    site.pages.set('/shut', { status: 403, body: 'No.' })
    await create('Lumi', `${site.url}/shut`)
    await title('The website could not be read')
    await page.getByText('The page answered with HTTP 403 (Forbidden).').waitFor()
    assert.equal(await page.getByRole('link', { name: 'Put it on your website' }).count(), 0)
    assert.deepEqual(await brokenRules(page, { iframes: false }), [])

    // A reload, a second tab and the Back button show the same agent.
    const address = page.url()
    await page.reload()
    await title('The website could not be read')
    const second = await page.context().newPage()
    await second.goto(address)
    await second.getByText('The page answered with HTTP 403 (Forbidden).').waitFor()
    await second.close()
    await page.getByRole('link', { name: 'Open the agent' }).click()
    await title('Lumi')
    await page.goBack()
    await title('The website could not be read')
    await page.goBack()
    await title('Agents')
    const card = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'Lumi' }) })
    await card.getByText('Its website could not be read').waitFor()
    await card.getByRole('link', { name: 'Lumi' }).click()

    await press('Try again')
    await until('another try', () => site.asked.filter((path) => path === '/shut').length === 2)
    await title('The website could not be read')
    await press('Correct the address')
    await page.getByLabel('Address of the website').fill(site.host)
    await press('Read this address')
    await title('Your agent is ready')
    assert.deepEqual(await sourcesOf('Lumi'), [[`${site.url}/`, 'trained']])
    assert.equal((await agents('Lumi')).length, 1)
  })

  test('a text can take the place of the website, which is left out', async () => {
    await create('Bulb', 'nowhere.invalid')
    await title('The website could not be read')
    await page.getByText('The host name nowhere.invalid could not be found. Check the spelling.').waitFor()
    await press('Write a text')
    await page.getByLabel('Name').fill('Hours')
    await page.getByLabel('Text', { exact: true }).fill('Open from nine to five.')
    await press('Add')
    await title('Part of it could not be read')
    await press('Go on without it')
    await title('Your agent is ready')
    assert.deepEqual(await sourcesOf('Bulb'), [['Hours', 'trained']])
  })

  test('what is refused at once is said, and the agent opens without a source', async () => {
    await create('Dim', 'not an address')
    await title('Your agent has nothing to read')
    await page.getByText('not an address: Must be a whole URL').waitFor()
    await page.getByRole('button', { name: 'Upload files' }).waitFor()
    await page.getByRole('link', { name: 'Open the agent' }).click()
    await title('Dim')

    site.pages.set('/robots.txt', {
      body: 'User-agent: *\nDisallow: /',
      headers: { 'content-type': 'text/plain' },
    })
    await create('Robot', `${site.url}/hidden`)
    await page.getByText("The site's robots.txt does not allow it to be read.").waitFor()
    await press('Go on without it')
    await title('Robot')
    assert.deepEqual(await sourcesOf('Robot'), [])
  })
})
