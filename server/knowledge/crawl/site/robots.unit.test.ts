import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseRobots } from './robots.ts'

const allows = (text: string, path: string): boolean =>
  parseRobots(text, 'parley').isAllowed(new URL(`https://example.com${path}`))

test('the longest rule wins, and of two equally long rules the one that allows', () => {
  const text = 'User-agent: *\nDisallow: /shop\nAllow: /shop/help\nDisallow: /page\nAllow: /page\n'
  const cases: [string, boolean][] = [
    ['/', true],
    ['/shop', false],
    ['/shopping', false],
    ['/shop/cart', false],
    ['/shop/help/returns', true],
    ['/page', true],
  ]
  for (const [path, expected] of cases) assert.equal(allows(text, path), expected, path)
})

test('wildcards, end markers and escapes are supported', () => {
  const cases: [string, string, boolean][] = [
    ['/*.pdf$', '/a/b.pdf', false],
    ['/*.pdf$', '/a/b.pdf?x=1', true],
    ['/*?sort=', '/list?sort=up', false],
    ['/a*b*c', '/a1b2c3', false],
    ['/a*b*c', '/a1c2b3', true],
    ['/exact$', '/exact', false],
    ['/exact$', '/exactly', true],
    ['/a%7eb', '/a~b', false],
    ['/caf%C3%A9', '/café', false],
    ['/über', '/%C3%BCber', false],
    ['/ab*ab$', '/ab', true],
    ['', '/anything', true],
  ]
  for (const [rule, path, expected] of cases)
    assert.equal(allows(`User-agent: *\nDisallow: ${rule}`, path), expected, `${rule} ${path}`)
})

test('a group for our own name is used alone, combining all of its groups', () => {
  const text = [
    'User-agent: other\nUser-agent: Parley/2.0\nDisallow: /one # said twice',
    'User-agent: *\nDisallow: /\nCrawl-delay: 9',
    'user-agent: PARLEY\nDISALLOW: /two\ncrawl-delay: 0.5',
  ].join('\r\n\r\n')
  assert.deepEqual(
    ['/one', '/two', '/three'].map((path) => allows(text, path)),
    [false, false, true],
  )
  assert.equal(parseRobots(text, 'parley').delayMs, 500)
  assert.equal(parseRobots(text, 'nobody').delayMs, 9_000)
})

test('an HTML page in place of the file allows everything, and no text breaks the parser', () => {
  assert.ok(allows('<!doctype html><html><body>Disallow: /</body></html>', '/'))
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.webPath(), (text, path) => {
      assert.equal(typeof allows(`User-agent: *\nDisallow: /${text}`, path || '/'), 'boolean')
    }),
  )
})

test('rules designed to be slow are matched quickly', () => {
  const text = `User-agent: *\nDisallow: /${'*a'.repeat(5_000)}b$`
  assert.ok(allows(text, `/${'a'.repeat(2_000)}`))
})
