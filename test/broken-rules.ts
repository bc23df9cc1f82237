import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Result } from 'axe-core'
import type { Frame, Page } from 'playwright-core'

/** The short version of the checker, which a browser reads in half the time. */
const CHECKER = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** Without this, a message that is still fading in is checked in colours that nobody reads. */
const FINISH_ANIMATIONS = `document.getAnimations()
  .filter((animation) => Number.isFinite(animation.effect.getComputedTiming().endTime))
  .forEach((animation) => animation.finish())`

/**
 * Returns the accessibility rules that a document breaks. Only what broke a rule is described: a page passes thousands
 * of checks, and nobody reads their descriptions.
 */
export async function brokenRules(where: Page | Frame, { iframes = true } = {}): Promise<Result[]> {
  if (await where.evaluate('!globalThis.axe')) await where.evaluate(CHECKER)
  await where.evaluate(FINISH_ANIMATIONS)
  const options = JSON.stringify({ iframes, resultTypes: ['violations'], selectors: false })
  const { passes, violations } = await where.evaluate<{ passes: number; violations: Result[] }>(
    `axe.run(document, ${options}).then(({ passes, violations }) => ({ passes: passes.length, violations }))`,
  )
  assert.ok(passes > 5)
  return violations
}
