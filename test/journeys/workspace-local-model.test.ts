import assert from 'node:assert/strict'
import { readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { tendSpaces } from '../../server/knowledge/vectors/fill-space.ts'
import { brokenRules } from '../broken-rules.ts'
import { embeddingFolder } from '../embedding-folder.ts'
import { embeddingRuntime } from '../embedding-runtime.ts'
import { type HubServer, startHub } from '../fakes/hub-server.ts'
import { findBrowser } from '../find-browser.ts'
import { launchChromium } from '../launch-chromium.ts'
import { hubModelOf, realModel } from '../real-onnx-model.ts'
import { type Client, type Service, startService } from '../start.ts'
import { trained, until } from '../until.ts'
import { memberOf, type Worker } from '../workspace.ts'
import { pageOf } from '../workspace-page.ts'

const skip = !findBrowser()
  ? 'No Chromium was found: install it, or set CHROMIUM_PATH, to test the workspace in a browser.'
  : (await embeddingRuntime()) === null && 'npm could not install the packages that run a model'

describe('the owner of the installation fetches the embedding model', { skip }, () => {
  let service: Service
  let hub: HubServer
  let browser: Browser
  let client: Client
  let owner: Worker
  let page: Page
  const tiny = embeddingFolder()
  const endpoint = process.env.HF_ENDPOINT

  before(async () => {
    const files =
      (await realModel()) ??
      new Map([
        ['onnx/model_quantized.onnx', readFileSync(join(tiny, 'model.onnx'))],
        ['tokenizer.json', readFileSync(join(tiny, 'tokenizer.json'))],
      ])
    const model = hubModelOf('e5-small-v2', files)
    hub = await startHub(model.repository, model.revision, files)
    process.env.HF_ENDPOINT = hub.url
    service = await startService({}, undefined, { hubModels: [model] })
    client = await service.account()
    owner = await memberOf(service, client.accountId, 'owner')
    browser = await launchChromium()
    page = await pageOf(browser, service, owner)
  })
  after(async () => {
    await browser?.close()
    await service?.close()
    await hub?.close()
    rmSync(dirname(tiny), { recursive: true })
    if (endpoint === undefined) delete process.env.HF_ENDPOINT
    else process.env.HF_ENDPOINT = endpoint
  })

  const offer = () => page.getByRole('heading', { name: 'Search by meaning, runs on this machine' })
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  const state = async (worker = owner) => (await worker.request('GET', '/models/local')).body
  const models = async () => (await client.request('GET', '/models')).body
  let agentId = ''

  test('the first run offers it; without internet it says so, and works as before', async () => {
    assert.equal((await service.anonymous('GET', '/health?details=true')).body.embedding, 'none')
    agentId = (await client.request('POST', '/agents', { name: 'Lumi' })).body.id
    const text =
      'Refunds are paid within a week. Parcels are sent on workdays. The Halo lamp is made of brass.'
    const { id } = (
      await client.request('POST', `/agents/${agentId}/sources`, {
        type: 'text',
        name: 'Lumi',
        content: text,
      })
    ).body
    await trained(service, id)
    hub.status = 403
    await page.goto(`${service.url}/agents/${agentId}/start`)
    await offer().waitFor()
    await page.getByText(/^Downloads 17\d\.?\d* MB, takes \d+\.?\d* MB of disk/).waitFor()
    assert.deepEqual(await brokenRules(page, { iframes: false }), [])
    await press('Download and use it')
    await page
      .getByRole('alert')
      .getByText(/cannot be fetched: its server answers with 403/)
      .waitFor()
    await page.getByLabel('Question').fill('Of what is the lamp made?')
    await page.keyboard.press('Enter')
    await page.getByRole('log').getByText('brass').first().waitFor()
  })

  test('its progress is there after a reload, and the model is in use without a restart', async () => {
    hub.status = null
    hub.pauseMs = 10
    await press('Try again')
    await page.getByText('Step 1 of 3').waitFor()
    await page.reload()
    await page.getByText('Step 1 of 3').waitFor()
    await page.getByRole('progressbar', { name: 'What has been fetched' }).waitFor()
    // What another click, or another tab, asks for meanwhile begins nothing.
    const again = await owner.request('POST', '/models/local', {})
    assert.deepEqual([again.status, again.body.fetching.model], [202, 'e5-small-v2'])
    hub.pauseMs = 0
    await until('the model', async () => (await state()).inUse)
    await offer().waitFor({ state: 'detached' })
    // The service does this at once.
    await tendSpaces(service.ctx)
    await page.goto(`${service.url}/workspace?tab=models`)
    await page.getByText('Embeddings: e5-small-v2.').waitFor()
    const { embedding, embeddingProblem } = await models()
    assert.deepEqual([embedding, embeddingProblem], ['e5-small-v2', null])
    assert.equal((await service.anonymous('GET', '/health?details=true')).body.embedding, undefined)
    assert.equal((await client.request('POST', '/models/test')).body.findings.at(-1).ok, true)

    await until('the vectors', async () => {
      const { vector_space } = await service.ctx.db
        .selectFrom('agents')
        .select('vector_space')
        .where('id', '=', agentId)
        .executeTakeFirstOrThrow()
      return vector_space === service.ctx.models.embedder?.space
    })
  })

  test('only an owner of the only account may fetch', async () => {
    const refused = async (who: Pick<Worker, 'request'>) =>
      (await who.request('POST', '/models/local', {})).status
    const [admin, viewer] = [
      await memberOf(service, client.accountId, 'admin'),
      await memberOf(service, client.accountId, 'viewer'),
    ]
    assert.deepEqual([await refused(admin), await refused(viewer), await refused(client)], [403, 403, 403])
    assert.equal((await state(admin)).mayFetch, false)
    assert.equal((await owner.request('POST', '/models/local', { model: 'other' })).status, 400)
    await service.account()
    assert.equal(await refused(owner), 403)
    assert.deepEqual((await state()).mayFetch, false)
  })
})
