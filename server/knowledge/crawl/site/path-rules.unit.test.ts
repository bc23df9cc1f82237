import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { linearPattern } from '../../../platform/text/safety/linear-pattern.ts'
import { pathPattern } from './path-pattern.ts'
import { pathRules } from './path-rules.ts'
import { refusePatterns } from './refuse-patterns.ts'

const at = (path: string) => new URL(`https://example.com${path}`)
const repeats = '[a-z]*a[a-z/-]{300}[0-9]'

test('plain patterns match what the regular expression would match', () => {
  const piece = fc.constantFrom('a', 'b', '/', '-', '\\.', '\\/', '%20', 'ü', '=')
  const pattern = fc
    .tuple(
      fc.constantFrom('', '^'),
      fc.array(piece, { minLength: 1, maxLength: 4 }),
      fc.constantFrom('', '$'),
    )
    .map(([start, pieces, end]) => start + pieces.join('') + end)
  const path = fc.array(fc.constantFrom('a', 'b', '/', '-', '.', '%20', '='), { maxLength: 8 })
  fc.assert(
    fc.property(pattern, path, (text, pieces) => {
      const url = at(`/${pieces.join('')}`)
      const plain = pathPattern(text)
      assert.equal(plain.size, 0)
      assert.equal(plain.matches(url), linearPattern(text).test(url.pathname + url.search))
    }),
  )
})

test('patterns that are too large together are rejected by their field', () => {
  const plain = Array.from({ length: 100 }, (_, n) => `^/archive/of-the-year-${n}/with-a-long-name/`)
  assert.deepEqual(refusePatterns({ excludePaths: plain, includeOnlyPaths: plain }), {})
  assert.deepEqual(refusePatterns({ excludePaths: [repeats, repeats, repeats] }), {})
  const details = refusePatterns({
    excludePaths: [repeats, repeats],
    includeOnlyPaths: ['/ok', repeats, repeats],
  })
  assert.deepEqual(Object.keys(details), ['includeOnlyPaths.2'])
  assert.match(String(details['includeOnlyPaths.2']), /too large/)
})

test('an address that would take too long to match is left out', async () => {
  const rules = pathRules({ excludePaths: [repeats, repeats, '/plain'], includeOnlyPaths: [] })
  const long = at(`/${'b'.repeat(1_900)}`)
  await rules.prepare([long])
  assert.match(rules.against(long) ?? '', /too long for the patterns/)
  assert.equal(rules.against(at('/short')), null)
  assert.match(rules.against(at('/plain')) ?? '', /excludePaths/)
})

test('an address that repeats its folders is left out, unless the owner names it', () => {
  const none = pathRules({ excludePaths: [], includeOnlyPaths: [] })
  const reasonFor = (path: string) => none.against(new URL(path, 'https://example.com'))
  for (const path of ['/a/www/x/www/x/www/x/p.html', '/docs/docs/docs/', '/de/a/b/c/a/b/c/a/b/c'])
    assert.match(reasonFor(path) ?? '', /repeats the same folders/, path)
  for (const path of ['/', '/docs/docs/', '/2011/11/11/11/post', '/a/b/a/c/a/d', '/en/a/en/b/en/c'])
    assert.equal(reasonFor(path), null, path)
  const named = pathRules({ excludePaths: [], includeOnlyPaths: ['/docs/'] })
  assert.equal(named.against(new URL('https://example.com/docs/docs/docs/')), null)
})
