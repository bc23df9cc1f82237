import type { Browser } from 'playwright-core'

const START_MS = 20_000

/**
 * Starts a browser that reaches nothing by itself: no name resolves, and all that it sends goes to a proxy that is not
 * there, loopback and literal addresses included. What its driver leaves unanswered therefore ends here.
 */
const args = [
  '--host-resolver-rules=MAP * ~NOTFOUND',
  '--proxy-server=http://nowhere.invalid:1',
  '--proxy-bypass-list=<-loopback>',
  '--disable-quic',
  '--dns-prefetch-disable',
  '--no-pings',
  // Calls between browsers use UDP, which goes past proxies.
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-gpu',
  '--disable-3d-apis',
  '--disable-notifications',
  '--disable-remote-fonts',
  '--disable-file-system',
  '--deny-permission-prompts',
  '--blink-settings=imagesEnabled=false',
  // Without compiled code most holes of script engines are closed; pages run their scripts once.
  '--js-flags=--jitless --max-old-space-size=512',
]

// Of the driver's own: made for tests of well-meant pages.
const unwanted = [
  '--disable-popup-blocking',
  '--disable-ipc-flooding-protection',
  '--disable-hang-monitor',
  '--enable-unsafe-swiftshader',
  '--disable-renderer-backgrounding',
]

/** Rejects with the driver's Error. `folder` takes all that it writes. */
export async function launchBrowser(executablePath: string, folder: string): Promise<Browser> {
  const { chromium } = await import('playwright-core')
  return chromium.launch({
    executablePath,
    args,
    ignoreDefaultArgs: unwanted,
    // The sandbox cannot be had by root.
    chromiumSandbox: process.getuid?.() !== 0,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: folder, TMPDIR: folder },
    timeout: START_MS,
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  })
}
