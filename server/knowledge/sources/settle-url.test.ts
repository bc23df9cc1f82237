import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createSecure } from 'node:https'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { startBesideWebsite } from '../../../test/beside-website.ts'
import { page, startWebSite } from '../../../test/fakes/web-site.ts'

const { site, newAgent, close } = await startBesideWebsite()
after(close)

const secure = site.url.replace('http:', 'https:')

test('a URL without a scheme of its own becomes that with http where https cannot be connected to', async () => {
  const { web } = await newAgent()
  site.pages.set('/', page('Lamps', 'The marker larkspur.', ['/care']))
  site.pages.set('/care', page('Care', 'The marker milkwort.'))
  const source = await web.crawled(secure, { allowHttp: true })
  assert.deepEqual([source.status, source.name, source.error], ['trained', `${site.url}/`, null])
  assert.deepEqual((await web.ask('What about milkwort?')).sources[0]?.url, `${site.url}/care`)
  const one = await web.crawled(`${secure}/care`, { linkType: 'individual', allowHttp: true })
  assert.deepEqual([one.status, one.name], ['trained', `${site.url}/care`])
})

test('https stays where it was typed, and where http cannot be read either', async () => {
  const { web } = await newAgent()
  site.pages.set('/', page('Lamps', 'The marker nettle.'))
  const typed = await web.crawled(`${secure}/typed`)
  assert.deepEqual([typed.status, typed.name], ['failed', `${secure}/typed`])
  assert.equal(
    typed.error,
    `No page could be read. ${site.host} has no valid certificate for a secure connection.`,
  )
  assert.deepEqual(site.asked, [])
  // Nothing listens here: the first request after the failure tries both again.
  const closed = await startWebSite()
  await closed.close()
  const neither = await web.crawled(`https://localhost:${new URL(closed.url).port}`, { allowHttp: true })
  assert.match(neither.name, /^https:/)
  assert.match(neither.error, /^No page could be read\. localhost:\d+ refused the connection\.$/)
})

test('both schemes pass the guard', async (t) => {
  const forbidden = await startWebSite()
  t.after(() => forbidden.close())
  const { web } = await newAgent()
  forbidden.pages.set('/', page('Inside', 'Not for everybody.'))
  const source = await web.crawled(forbidden.url.replace('http:', 'https:'), { allowHttp: true })
  assert.match(source.error, /its host is not on the public internet/)
  assert.deepEqual(forbidden.asked, [])
})

test('https stays where it answers, even with an error', { skip: withoutOpenssl() }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-certificate-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const wanted = '-x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost'
  const name = 'subjectAltName=DNS:localhost'
  const files = ['-addext', name, '-keyout', key, '-out', cert]
  execFileSync('openssl', ['req', ...wanted.split(' '), ...files], { stdio: 'ignore' })
  const trusted = getCACertificates('default')
  setDefaultCACertificates([...trusted, readFileSync(cert, 'utf8')])
  t.after(() => setDefaultCACertificates(trusted))
  const locked = createSecure({ key: readFileSync(key), cert: readFileSync(cert) }, (_request, response) =>
    response.writeHead(403).end(),
  )
  // One port serves both, as 443 and 80 of one host do.
  const port = createServer((socket) =>
    socket.once('data', (first) => {
      const target = first[0] === 0x16 ? locked.address() : Number(new URL(site.url).port)
      const inside = connect(typeof target === 'number' ? target : (target as AddressInfo).port, '127.0.0.1')
      inside.write(first)
      socket.pipe(inside).pipe(socket)
      for (const one of [socket, inside]) one.on('error', () => {})
    }),
  )
  for (const server of [locked, port])
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', () => ready()))
  t.after(() => {
    locked.closeAllConnections()
    locked.close()
    port.close()
  })
  const { web } = await newAgent()
  site.pages.set('/', page('Lamps', 'The marker oxlip.'))
  const url = `https://localhost:${(port.address() as AddressInfo).port}/`
  const source = await web.crawled(url, { allowHttp: true })
  assert.deepEqual(
    [source.name, source.error],
    [url, 'No page could be read. The page answered with HTTP 403 (Forbidden).'],
  )
  assert.deepEqual(site.asked, [])
})

function withoutOpenssl(): string | false {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' })
    return false
  } catch {
    return 'needs openssl'
  }
}
