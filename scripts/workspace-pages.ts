import type { Page } from 'playwright-core'
import type { WorkspaceHome } from './workspace-home.ts'

/** The path of a page, and what to do on it before the screenshot. */
type Shown = [path: string, prepare?: (page: Page) => Promise<unknown>]

const ANSWER = [
  '**Five years**, for each Halo lamp [1]. After that ',
  'we repair it for the price of the parts.',
]

/** Returns every page of the workspace with the data of `openWorkspaceHome`, by the name of its screenshots. */
export function workspacePages({ agentId, models, made }: WorkspaceHome): Record<string, Shown> {
  const agent = `/agents/${agentId}`
  return {
    agents: ['/agents'],
    'new-agent': ['/agents/new'],
    overview: [agent],
    playground: [
      `${agent}/playground`,
      async (page) => {
        models.queue.push({ tokens: ANSWER, delayMs: 60, usage: [612, 27] })
        await page.getByLabel('Question').fill('How long is the warranty of a Halo lamp?')
        await page.keyboard.press('Enter')
        await page.getByRole('button', { name: /^Source 1/ }).click()
        await page.getByText('stop', { exact: true }).waitFor()
      },
    ],
    compare: [`${agent}/playground?mode=compare`],
    actions: [`${agent}/actions`, (page) => page.getByRole('link', { name: 'look_up_order' }).waitFor()],
    action: [`${agent}/actions/${made.actionId}`],
    'new-action': [`${agent}/actions/new`],
    procedures: [`${agent}/procedures`, (page) => page.getByRole('link', { name: 'Late order' }).waitFor()],
    procedure: [`${agent}/procedures/${made.procedureId}`],
    'new-procedure': [`${agent}/procedures/new`],
    evaluations: [`${agent}/evaluations`, (page) => page.getByRole('row').nth(2).waitFor()],
    'evaluation-run': [`${agent}/evaluations?tab=runs&run=${made.runId}`],
    sources: [`${agent}/sources`, (page) => page.getByRole('row').nth(4).waitFor()],
    source: [`${agent}/sources/${made.sourceId}?tab=text`, (page) => page.getByText('five years').waitFor()],
    'source-chunks': [`${agent}/sources/${made.sourceId}?tab=chunks`],
    'source-cited': [`${agent}/sources/${made.sourceId}?tab=cited`],
    'source-history': [`${agent}/sources/${made.sourceId}?tab=history`],
    search: [
      `${agent}/search`,
      async (page) => {
        await page.getByLabel('Question').fill('Can I return a used lamp?')
        await page.keyboard.press('Enter')
        await page.getByText('60 days').first().waitFor()
      },
    ],
    instructions: [`${agent}/instructions`],
    draft: [`${agent}/draft`],
    inbox: [
      `${agent}/inbox`,
      async (page) => {
        await page.getByRole('button', { name: /My lamp flickers/ }).click()
        await page.getByText('new driver').waitFor()
      },
    ],
    conversations: [
      `${agent}/conversations`,
      async (page) => {
        await page.getByRole('button', { name: /How long is the warranty/ }).click()
        await page.getByText('for each Halo lamp').waitFor()
      },
    ],
    contacts: [`${agent}/contacts`, (page) => page.getByText('Maya Lindqvist').waitFor()],
    person: [
      `${agent}/contacts`,
      async (page) => {
        await page.getByRole('button', { name: 'Maya Lindqvist' }).click()
        await page.getByRole('dialog').getByText('maya@example.com').first().waitFor()
      },
    ],
    insights: [`${agent}/insights`, (page) => page.getByRole('img', { name: /at most/ }).waitFor()],
    deploy: [
      `${agent}/deploy`,
      (page) => page.frameLocator('iframe').getByText('What would you like to know?').waitFor(),
    ],
    'deploy-api': [`${agent}/deploy?tab=api`],
    'deploy-messaging': [`${agent}/deploy?tab=messaging`],
    'deploy-mail': [`${agent}/deploy?tab=mail`],
    settings: [`${agent}/settings`],
    members: ['/workspace'],
    keys: ['/workspace?tab=keys'],
    usage: ['/workspace?tab=usage'],
    models: ['/workspace?tab=models'],
    audit: ['/workspace?tab=audit'],
    'workspace-data': ['/workspace?tab=general'],
    account: ['/workspace/account'],
  }
}

/** Opens a page and waits until all of its content has been loaded. */
export async function openWorkspacePage(
  page: Page,
  { service }: WorkspaceHome,
  [path, prepare]: Shown,
): Promise<void> {
  await page.goto(service.url + path)
  await page.locator('main h1').first().waitFor()
  await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
  await prepare?.(page)
}
