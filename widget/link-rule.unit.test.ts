import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hostOf, linksTo } from './frame/link-rule.ts'

test('an answer links to its permitted hosts, their subdomains, and plain mail addresses', () => {
  const mayLink = linksTo(['shop.example'])
  for (const href of ['https://shop.example/a', 'http://www.shop.example:8080/', 'mailto:help@other.example'])
    assert.equal(mayLink(href), true, href)
  for (const href of [
    'https://evil.example/?q=secret',
    'https://evilshop.example/',
    'https://shop.example.evil.example/',
    'https://shop.example@evil.example/',
    'mailto:eve@evil.example?body=secret',
  ])
    assert.equal(mayLink(href), false, href)
  assert.deepEqual(
    [hostOf('https://a.example:81/b'), hostOf('no address'), hostOf(null)],
    ['a.example', null, null],
  )
})
