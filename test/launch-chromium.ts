import { type Browser, chromium } from 'playwright-core'
import { findBrowser } from './find-browser.ts'

/** Starts the Chromium of this machine for a journey. Emulating a graphics card would take more processor time. */
export const launchChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: findBrowser(),
    args: ['--no-sandbox', '--disable-gpu', '--disable-software-rasterizer'],
  })
