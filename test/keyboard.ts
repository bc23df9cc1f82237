import assert from 'node:assert/strict'
import type { Locator, Page } from 'playwright-core'
import { until } from './until.ts'

/** The most presses of Tab that are needed from one element of the workspace to another. */
const MAX_PRESSES = 150
const MAX_CHOICES = 150

/**
 * The position of the focus relative to the element: 'here' or 'hidden' when the element has it and its focus ring is
 * or is not visible, otherwise 'before' or 'after' it. On a page where nothing has been focused yet it is 'nowhere',
 * later 'lost'.
 */
const WHERE = new Function(
  'element',
  `
  const { activeElement: focused, body } = document
  if (focused === element) {
    globalThis.wasReached = true
    const isDrawn = ({ outlineStyle, outlineWidth, boxShadow }) =>
      (outlineStyle !== 'none' && parseFloat(outlineWidth) > 0) || /inset|0px 0px 0px [\\d.]+px/.test(boxShadow)
    const around = [element, element.parentElement, element.parentElement?.parentElement]
    const isShown = around.some((one) => one && (isDrawn(getComputedStyle(one)) || isDrawn(getComputedStyle(one, '::after'))))
    const { width, height } = element.getBoundingClientRect()
    return isShown && width > 0 && height > 0 ? 'here' : 'hidden'
  }
  if (!focused || focused === body) return globalThis.wasReached ? 'lost' : 'nowhere'
  return focused.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING ? 'before' : 'after'`,
) as (element: unknown) => string

const FOCUSED = `(() => {
  const { activeElement: focused } = document
  return focused ? focused.outerHTML.slice(0, 160) : 'nothing'
})()`

/** Uses a page like somebody without a pointing device. */
export function keyboardOf(page: Page) {
  const press = (key: string): Promise<void> => page.keyboard.press(key)

  const whereIs = (target: Locator): Promise<string> => target.evaluate(WHERE)
  const fail = async (key: string, target: Locator): Promise<never> =>
    assert.fail(`${key} does not reach ${target}, but ${await page.evaluate<string>(FOCUSED)}`)

  /**
   * Presses Tab until the element has the focus. Fails if the focus was lost, if Tab does not reach the element, or
   * if the focus is not visible.
   */
  async function reach(target: Locator): Promise<void> {
    await target.waitFor()
    await until(`the focus, which was lost before ${target},`, async () => (await whereIs(target)) !== 'lost')
    let key = ''
    for (let presses = 0; presses <= MAX_PRESSES; presses++) {
      const where = await whereIs(target)
      if (where === 'here') return
      // The focus ring of a field may be animated.
      if (where === 'hidden')
        await until(`the ring around ${target}`, async () => (await whereIs(target)) === 'here')
      key ||= where === 'after' ? 'Shift+Tab' : 'Tab'
      await press(key)
    }
    await fail(key, target)
  }

  /** Presses Enter on a button, a link or a summary, or Space on a checkbox. */
  async function use(target: Locator, key = 'Enter'): Promise<void> {
    await reach(target)
    await press(key)
  }

  /** Replaces the content of a field. */
  async function write(target: Locator, text: string): Promise<void> {
    await reach(target)
    await press('Control+a')
    await page.keyboard.type(text)
  }

  /** Selects an option of a native select by its first letters. */
  async function choose(target: Locator, option: string): Promise<void> {
    await reach(target)
    await page.keyboard.type(option)
    const chosen = await target.locator('option:checked').textContent()
    assert.ok(chosen?.startsWith(option), `${target} has ${chosen} instead of ${option}`)
  }

  /** Presses an arrow until the element has the focus, as in menus, tabs and groups of radio buttons. */
  async function arrow(key: string, target: Locator): Promise<void> {
    await target.waitFor()
    for (let presses = 0; presses < MAX_CHOICES; presses++) {
      if ((await whereIs(target)) === 'here') return
      await press(key)
    }
    await fail(key, target)
  }

  /** Opens a row of a list that is navigated with the arrow keys. */
  async function pick(rows: Locator, target: Locator): Promise<void> {
    await reach(rows.locator('[tabindex="0"]'))
    await arrow((await whereIs(target)) === 'before' ? 'ArrowDown' : 'ArrowUp', target)
    await press('Enter')
  }

  /** Opens a menu and selects an item. */
  async function menu(button: Locator, choice: string): Promise<void> {
    await use(button)
    await page.getByRole('menu').waitFor()
    await arrow('ArrowDown', page.getByRole('menuitem', { name: choice }))
    await press('Enter')
    await page.getByRole('menu').waitFor({ state: 'detached' })
  }

  /** Selects a tab, which opens as soon as it has the focus. */
  async function tab(name: string): Promise<void> {
    const wanted = page.getByRole('tab', { name, exact: true })
    const list = page.getByRole('tablist').filter({ has: wanted })
    await reach(list.getByRole('tab', { selected: true }))
    await arrow('ArrowRight', wanted)
  }

  /** Opens a page of the workspace from its menu. */
  const go = (name: string): Promise<void> =>
    use(page.getByRole('navigation', { name: 'Workspace' }).getByRole('link', { name, exact: true }))

  return { press, reach, use, write, choose, arrow, pick, menu, tab, go }
}
