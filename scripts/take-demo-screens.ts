import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { createAccount } from '../server/accounts/records/accounts.ts'
import { addDemoAgent, DEMO_QUESTIONS } from '../server/admin/first-run/demo-agent.ts'
import { browserHere } from '../test/find-browser.ts'
import { startService } from '../test/start.ts'

/**
 * Part of `npm run screens`. Asks the demo agent its suggested questions, without a model, and takes pictures of the
 * answers.
 */
const service = await startService()
const agentId = await addDemoAgent(service.ctx, await createAccount(service.ctx.db, 'Default'))
const browser = await chromium.launch({ ...browserHere(), args: ['--no-sandbox'] })
for (const [at, question] of DEMO_QUESTIONS.entries()) {
  const context = await browser.newContext({ viewport: { width: 560, height: 900 }, reducedMotion: 'reduce' })
  const page = await context.newPage()
  await page.goto(`${service.url}/widget/${agentId}`)
  await page.getByRole('button', { name: question }).click()
  await page.getByRole('button', { name: 'Copy the answer', exact: true }).first().waitFor()
  const path = join(import.meta.dirname, `../docs/screens/demo-answer-${at + 1}.png`)
  await page.screenshot({ path, animations: 'disabled' })
  await context.close()
}
await browser.close()
await service.close()
