import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPrivateHostAllowed, parsePrivateHosts } from './private-hosts.ts'

const hosts = parsePrivateHosts(['Wiki.Intern', 'model:11434', 'web:80', '::1', '[fd00::2]:9000', '10.0.0.5'])
const allowed = (url: string) => isPrivateHostAllowed(hosts, new URL(url))

test('an entry exempts exactly its host and port', () => {
  for (const url of [
    'http://wiki.intern/',
    'https://WIKI.intern.:8443/',
    'http://model:11434/v1',
    'http://web/',
    'http://[::1]:5000/',
    'http://[FD00:0::2]:9000/',
    'http://10.0.0.5:3000/',
    'http://0xa000005/',
  ])
    assert.equal(allowed(url), true, url)
  for (const url of [
    'http://intern/',
    'http://a.wiki.intern/',
    'http://wiki.intern.example.com/',
    'http://model/',
    'https://web/',
    'http://[fd00::2]/',
    'http://10.0.0.6/',
  ])
    assert.equal(allowed(url), false, url)
})

test('a malformed entry is named', () => {
  for (const entry of ['http://x', 'x/y', 'x:y', 'x:99999', '', 'a b', 'user@x', '10.0.0.0/8'])
    assert.throws(
      () => parsePrivateHosts([entry]),
      (error: Error) => error.message.includes(`"${entry}"`),
      entry,
    )
})
