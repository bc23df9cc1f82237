import type { Browser as Chromium, Page } from 'playwright-core'
import type { Service } from './start.ts'
import type { Browser } from './workspace.ts'

/** Journeys run beside other work, so they wait for a long time before they fail. */
const PATIENCE_MS = 120_000

/** Opens a page of the workspace in a separate browser, signed in with the given cookies. */
export async function pageOf(
  chromium: Chromium,
  service: Pick<Service, 'url'>,
  signedIn?: Pick<Browser, 'cookies'>,
): Promise<Page> {
  const context = await chromium.newContext({ viewport: { width: 1280, height: 860 } })
  context.setDefaultTimeout(PATIENCE_MS)
  await context.addCookies(
    [...(signedIn?.cookies ?? [])].map(([name, value]) => ({ name, value, url: service.url })),
  )
  return context.newPage()
}

/** Presses a key twice where the focus is, before the page can show what the first press has done. */
export const pressTwice = (page: Page, key: string): Promise<void> =>
  page.evaluate(`for (const _ of [1, 2])
    document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: '${key}', bubbles: true, cancelable: true }))`)

/** Chooses the last option of each list and returns what each shows in the same event, for `evaluate`. */
export const CHOSEN = new Function(
  'lists',
  `return lists.map((list) => {
    list.value = [...list.options].at(-1).value
    list.dispatchEvent(new Event('change', { bubbles: true }))
    return list.value
  })`,
) as (lists: unknown[]) => string[]

/** Clicks a checkbox and returns what it shows in the same event, for `evaluate`. */
export const CLICKED = new Function('box', 'box.click(); return box.checked') as (box: unknown) => boolean
