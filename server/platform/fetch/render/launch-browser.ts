import type { Browser } from 'playwright-core'

const START_MS = 20_000

/**
 * Starts a browser that cannot reach anything by itself: no name resolves, and everything that it sends, including
 * requests to loopback and literal addresses, goes to a proxy that does not exist. A request that its driver does not
 * answer therefore fails.
 */
const args = [
  '--host-resolver-rules=MAP * ~NOTFOUND',
  '--proxy-server=http://nowhere.invalid:1',
  '--proxy-bypass-list=<-loopback>',
  '--disable-quic',
  '--dns-prefetch-disable',
  '--no-pings',
  // WebRTC uses UDP, which bypasses proxies.
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-gpu',
  '--disable-3d-apis',
  '--disable-notifications',
  '--disable-remote-fonts',
  '--disable-file-system',
  '--deny-permission-prompts',
  '--blink-settings=imagesEnabled=false',
  // Most vulnerabilities of script engines are in compiled code, and pages run their scripts only once.
  '--js-flags=--jitless --max-old-space-size=512',
]

// Default arguments of the driver that are meant for tests of trusted pages.
const unwanted = [
  '--disable-popup-blocking',
  '--disable-ipc-flooding-protection',
  '--disable-hang-monitor',
  '--enable-unsafe-swiftshader',
  '--disable-renderer-backgrounding',
]

/** Rejects with the driver's Error. `folder` receives everything that the browser writes. */
export async function launchBrowser(executablePath: string, folder: string): Promise<Browser> {
  const { chromium } = await import('playwright-core')
  return chromium.launch({
    executablePath,
    args,
    ignoreDefaultArgs: unwanted,
    // The sandbox is not available to root.
    chromiumSandbox: process.getuid?.() !== 0,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: folder, TMPDIR: folder },
    timeout: START_MS,
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  })
}
