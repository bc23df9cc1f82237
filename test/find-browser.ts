import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'

/** Returns the path of a Chromium on this machine, or undefined if there is none. */
export const findBrowser = (): string | undefined =>
  [
    process.env.CHROMIUM_PATH ?? '',
    chromium.executablePath(),
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
  ].find((path) => existsSync(path))
