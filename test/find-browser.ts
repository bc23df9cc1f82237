import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'

/** A Chromium of this machine; undefined: there is none. */
export const findBrowser = (): string | undefined =>
  [
    process.env.CHROMIUM_PATH ?? '',
    chromium.executablePath(),
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
  ].find((path) => existsSync(path))
