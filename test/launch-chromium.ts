import { type Browser, chromium } from 'playwright-core'
import { browserHere } from './find-browser.ts'

/**
 * Starts the Chromium of this machine for a journey. Emulating a graphics card would take more processor time, and a
 * page is left before optimized code for its scripts would pay off.
 */
export const launchChromium = (): Promise<Browser> =>
  chromium.launch({
    ...browserHere(),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-software-rasterizer',
      '--js-flags=--no-turbofan --no-maglev',
    ],
  })
