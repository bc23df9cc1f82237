import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { existsSync, readdirSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { after, before, beforeEach, describe, test } from 'node:test'
import { redirect, startWebSite, page as textPage, type WebSite } from '../../../../test/fakes/web-site.ts'
import { findBrowser } from '../../../../test/find-browser.ts'
import { failsWith } from '../failures/fails-with.ts'
import { createRenderer, type Renderer } from './renderer.ts'

const browserPath = findBrowser()
const skip = browserPath ? false : 'No Chromium was found: install it, or set CHROMIUM_PATH, to render pages.'
const shell = (script: string): string =>
  `<!doctype html><html><head><title>App</title></head><body><div id="root"></div><script>${script}</script></body></html>`
const say = (text: string): string => `document.getElementById('root').textContent = ${text};`
const long = 'A sentence that a script has written. '.repeat(10)

// The option is set on each test and not on a suite, because only then are the tests counted as skipped.
describe('pages that scripts write', () => {
  let site: WebSite
  let other: WebSite
  let renderer: Renderer
  let hasty: Renderer
  const errors: unknown[] = []

  before(async () => {
    site = await startWebSite()
    other = await startWebSite()
    const settings = {
      browserPath: browserPath ?? '',
      allowedPrivateHosts: [site.host, other.host],
      userAgent: 'ParleyTest/1',
      browsers: 1,
      onError: (error: unknown) => errors.push(error),
    }
    // A browser may be slow on a machine that is busy with other tests.
    renderer = createRenderer({ ...settings, timeoutMs: 60_000, patienceMs: 20_000 })
    hasty = createRenderer({ ...settings, timeoutMs: 1_000 })
  })
  after(async () => {
    await renderer?.close()
    await hasty?.close()
    await site?.close()
    await other?.close()
  })
  beforeEach(() => {
    for (const one of [site, other]) {
      one?.pages.clear()
      one?.asked.splice(0)
    }
  })
  /** Returns what a script writes into the page's only element. */
  const render = async (script: string, by = renderer): Promise<string> => {
    const html = await by.render({ url: `${site.url}/app`, html: shell(script) }, { owner: 'a' })
    return /<div id="root">(.*?)<\/div>/s.exec(html)?.[1] ?? html
  }

  test('scripts and their requests are loaded from the site; images, styles and frames are not', {
    skip,
  }, async () => {
    site.pages.set('/app.js', {
      headers: { 'content-type': 'text/javascript' },
      body: `fetch('/api?q=1', { method: 'POST', headers: { 'content-type': 'application/json', 'x-key': 'k' }, body: '{}' })
        .then((answer) => answer.json())
        .then(({ text }) => { ${say('text')} })`,
    })
    let sent: Record<string, unknown> = {}
    site.pages.set('/api?q=1', ({ headers }) => {
      sent = headers
      return {
        headers: { 'content-type': 'application/json', 'set-cookie': 'a=b' },
        body: JSON.stringify({ text: long }),
      }
    })
    const html = await renderer.render(
      {
        url: `${site.url}/app`,
        html: `<link rel="stylesheet" href="/a.css"><div id="root"></div><img src="/a.png"><iframe src="/frame"></iframe><script src="/app.js"></script>`,
      },
      { owner: 'a' },
    )
    assert.match(html, /A sentence that a script has written/)
    assert.deepEqual(site.asked, ['/app.js', '/api?q=1'])
    assert.deepEqual([sent['user-agent'], sent['x-key'], sent.cookie], ['ParleyTest/1', 'k', undefined])
    assert.equal(sent['sec-ch-ua'], undefined)
  })

  test('a script cannot reach an address that the fetcher rejects', { skip }, async (t) => {
    const reached: string[] = []
    const tcp = await listen(reached)
    const udp = createSocket('udp4', () => reached.push('udp')).bind(
      (tcp.address() as AddressInfo).port,
      '127.0.0.1',
    )
    const inner = `127.0.0.1:${(tcp.address() as AddressInfo).port}`
    t.after(() => {
      udp.close()
      tcp.close()
    })
    site.pages.set('/redirect', redirect(`http://${inner}/redirect`))
    site.pages.set('/metadata', redirect('http://[::ffff:a9fe:a9fe]/latest/meta-data/'))
    const html = await render(attacks(inner))
    assert.match(html, /tried all/)
    assert.doesNotMatch(html, /REACHED/)
    assert.deepEqual(reached, [])
    assert.deepEqual([...new Set(site.asked)].sort(), ['/metadata', '/redirect'])
    assert.deepEqual(other.asked, [])
  })

  test('a page of one internal host cannot access another one', { skip }, async () => {
    other.pages.set('/secret', { headers: { 'access-control-allow-origin': '*' }, body: 'REACHED' })
    site.pages.set('/there', redirect(`${other.url}/secret`))
    const html = await render(`
      const tries = ['${other.url}/secret', '/there'].map((url) =>
        fetch(url).then((a) => a.text()).catch(() => 'refused'))
      Promise.all(tries).then((answers) => { ${say(`answers.join(' ') + '${long}'`)} })`)
    assert.match(html, /refused refused/)
    assert.deepEqual(other.asked, [])
  })

  test('a page that navigates, opens windows, shows dialogs or reloads endlessly is read as it is', {
    skip,
  }, async () => {
    const cases = [
      `location.href = '/else'; location.replace('/else'); setInterval(() => location.reload(), 10)`,
      `for (let i = 0; i < 50; i++) open('/else' + i)`,
      `for (let i = 0; i < 300; i++) fetch('/more' + i)`,
      `const a = document.createElement('a'); a.href = '/file'; a.download = 'x'; document.body.append(a); a.click()`,
      `alert(1); confirm(2); prompt(3); onbeforeunload = () => 'stay'`,
      `navigator.serviceWorker?.register('/worker.js').catch(() => {})`,
    ]
    site.rest = () => textPage('Other', 'REACHED')
    for (const attack of cases) {
      const html = await render(`${say(`'${long}'`)} ${attack}`)
      assert.match(html, /A sentence that a script has written/, attack)
      assert.doesNotMatch(html, /REACHED/)
    }
    const asked = site.asked.filter((path) => !path.startsWith('/more'))
    assert.deepEqual(asked, [])
    assert.equal(site.asked.length, 200)
    site.rest = null
  })

  test('endless scripts, and those with too much output, end with a sentence, and the next page is read', {
    skip,
  }, async () => {
    const flood = "const much = 'x'.repeat(1e6); for (;;) console.log(much)"
    const many = `setInterval(() => { for (let i = 0; i < 1000; i++) fetch('/more' + Math.random()) }, 10)`
    for (const endless of ['for (;;) {}', 'for (;;) alert(1)', flood, many])
      await failsWith('timeout', render(endless, hasty))
    await failsWith('too_large', render(say("'x'.repeat(6e6)")))
    assert.match(await render(say(`'${long}'`)), /A sentence that a script has written/)
  })

  test('a page that exceeds its memory ends alone', { skip }, async () => {
    const hungry = render('const kept = []; for (;;) kept.push(new Array(1e6).fill(1.5))')
    await failsWith('browser_failed', hungry)
    assert.equal(errors.length, 1)
    assert.match(await render(say(`'${long}'`)), /A sentence that a script has written/)
  })

  test('a cancelled page ends at once, and closing leaves no folder behind', { skip }, async () => {
    const cancel = new AbortController()
    const endless = renderer.render(
      { url: `${site.url}/`, html: shell('for (;;) {}') },
      { owner: 'a', signal: cancel.signal },
    )
    setTimeout(() => cancel.abort(), 1_000)
    await failsWith('aborted', endless)
    await renderer.close()
    await hasty.close()
    await failsWith('aborted', render(''))
    assert.deepEqual(
      readdirSync(tmpdir()).filter((name) => name.startsWith(`parley-browser-${process.pid}-`)),
      [],
    )
  })

  test('a browser that does not start is reported', async () => {
    for (const path of ['/bin/false', '/nowhere/chromium']) {
      const causes: unknown[] = []
      const broken = createRenderer({
        browserPath: path,
        allowedPrivateHosts: [],
        userAgent: 'x',
        onError: (error) => causes.push(error),
      })
      await failsWith(
        'browser_failed',
        broken.render({ url: 'http://example.com/', html: shell('') }, { owner: 'a' }),
      )
      assert.equal(causes.length, 1)
      await broken.close()
    }
    assert.ok(existsSync('/bin/false'))
  })

  test('the pages of one account wait for each other, and those of another account are interleaved', async () => {
    const failing = createRenderer({
      browserPath: '/bin/false',
      allowedPrivateHosts: [],
      userAgent: 'x',
      onError: () => {},
    })
    const order: string[] = []
    const ask = (owner: string): Promise<void> =>
      failsWith(
        'browser_failed',
        failing.render({ url: 'http://example.com/', html: shell('') }, { owner }),
      ).then(() => void order.push(owner))
    const greedy = Array.from({ length: 4 }, () => ask('greedy'))
    await Promise.all([...greedy, ask('other')])
    assert.ok(order.indexOf('other') <= 1, order.join())
    await failing.close()
  })
})

async function listen(reached: string[]): Promise<Server> {
  const server = createServer((socket) => {
    reached.push('tcp')
    socket.destroy()
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  return server
}

/** A script that tries every way in which a browser can reach the network. */
function attacks(inner: string): string {
  const hosts = [
    inner,
    `localhost:${inner.split(':')[1]}`,
    '169.254.169.254',
    '2852039166',
    '10.0.0.1',
    '[::1]:80',
  ]
  return `
    const hosts = ${JSON.stringify(hosts)}
    const tries = []
    const run = (way) => { try { way() } catch {} }
    const put = (name, set) => run(() => {
      const element = document.createElement(name); set(element); document.body.append(element)
    })
    for (const path of ['/redirect', '/metadata']) tries.push(fetch(path).then((a) => a.text()).then(() => 'REACHED'))
    for (const host of hosts) {
      const url = 'http://' + host + '/'
      tries.push(fetch(url).then(() => 'REACHED'))
      tries.push(fetch(url, { mode: 'no-cors', method: 'POST', body: 'x' }).then(() => 'REACHED'))
      run(() => { const r = new XMLHttpRequest(); r.open('GET', url); r.send() })
      run(() => new WebSocket('ws://' + host + '/'))
      run(() => new EventSource(url))
      run(() => navigator.sendBeacon(url, 'x'))
      run(() => open(url))
      run(() => new WebTransport('https://' + host + '/'))
      for (const rel of ['stylesheet', 'preload', 'prefetch', 'preconnect', 'dns-prefetch', 'prerender', 'icon', 'manifest'])
        put('link', (e) => { e.rel = rel; e.as = 'script'; e.href = url + rel })
      put('script', (e) => { e.src = url })
      put('script', (e) => { e.type = 'module'; e.src = url })
      put('script', (e) => { e.type = 'speculationrules'; e.text = JSON.stringify({ prerender: [{ urls: [url] }], prefetch: [{ urls: [url] }] }) })
      put('iframe', (e) => { e.src = url })
      put('iframe', (e) => { e.srcdoc = '<script>new WebSocket("ws://' + host + '/"); fetch("' + url + '")</' + 'script>' })
      put('object', (e) => { e.data = url })
      put('embed', (e) => { e.src = url })
      put('img', (e) => { e.src = url })
      put('video', (e) => { e.src = url })
      put('audio', (e) => { e.src = url })
      put('form', (e) => { e.action = url; e.method = 'post'; e.submit() })
      put('a', (e) => { e.href = url; e.ping = url; e.download = 'x'; e.click() })
      run(() => {
        const code = 'fetch("' + url + '").catch(() => {}); try { new WebSocket("ws://' + host + '/") } catch {}; try { importScripts("' + url + '") } catch {}'
        const blob = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }))
        new Worker(blob)
        new SharedWorker(blob)
      })
      run(() => {
        const peer = new RTCPeerConnection({ iceServers: [{ urls: ['stun:' + host, 'turn:' + host + '?transport=tcp', 'turn:' + host + '?transport=udp'], username: 'a', credential: 'b' }] })
        peer.createDataChannel('x')
        peer.createOffer().then((offer) => peer.setLocalDescription(offer))
      })
    }
    Promise.allSettled(tries).then((all) => setTimeout(() => {
      ${say("'tried all ' + all.map(({ value }) => value).join(' ') + ' done'.repeat(60)")}
    }, 1500))`
}
