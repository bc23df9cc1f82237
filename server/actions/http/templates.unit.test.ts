import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ToolProblem } from '../tools/tool-problem.ts'
import { fillBody, refuseBody } from './body-template.ts'
import { textOf } from './template.ts'
import { fillUrl, refuseUrl } from './url-template.ts'

const value = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '..',
    '.',
    '%2e%2e',
    '../../admin',
    'a/b',
    '?x=1',
    '#',
    '\\',
    '@evil.example',
    '//evil.example/',
    '&a=b',
  ),
)

test('no value changes the host, the path or the number of parameters of a URL', () => {
  const template = 'https://api.example.com:8443/v1/{{a}}/items/x{{b}}.json?q={{c}}&fixed=1#{{d}}'
  fc.assert(
    fc.property(value, value, value, value, (a, b, c, d) => {
      const values: Record<string, string> = { a, b, c, d }
      let filled: URL
      try {
        filled = new URL(fillUrl(template, (slot) => textOf(values[slot])))
      } catch (error) {
        assert.ok(error instanceof ToolProblem, String(error))
        assert.match(a, /^$|^(\.|%2e){1,2}$/i)
        return
      }
      assert.equal(filled.origin, 'https://api.example.com:8443')
      const segments = filled.pathname.split('/').map(decodeURIComponent)
      assert.deepEqual(segments, ['', 'v1', a.toWellFormed(), 'items', `x${b.toWellFormed()}.json`])
      assert.deepEqual(
        [...filled.searchParams],
        [
          ['q', c.toWellFormed()],
          ['fixed', '1'],
        ],
      )
    }),
  )
})

test('slots are allowed in path, query and fragment, but not before', () => {
  for (const url of ['https://a.example/{{x}}', 'http://a.example?x={{x}}', 'https://a.example:8/#{{x}}'])
    assert.equal(refuseUrl(url), null, url)
  const wrong = [
    '{{x}}',
    '{{x}}://a.example/',
    'https://{{x}}/',
    'https://{{x}}.example/',
    'https://a.example{{x}}/',
    'https://a.example:{{x}}/',
    'https:/{{x}}',
    'https:///{{x}}',
    'https:\\\\a.example/{{x}}',
    'https://a.example\\@b.example/',
    'https://a.example\t.b/{{x}}',
    'https://user:secret@a.example/',
    'https://a.example/../{{x}}',
    'https://a.example/%2e%2E/{{x}}',
    'https://a.example/a b',
    'https://a.example/a\\b',
    'file:///etc/passwd',
    'https://',
    'https://%zz/',
    '/relative',
  ]
  for (const url of wrong) assert.notEqual(refuseUrl(url), null, url)
})

test('a JSON body keeps its structure whatever the values are', () => {
  const template = '{"text": "Dear {{a}}, {{b}}", "{{a}}": [1, {{b}} , {{a}}], "n": -1}'
  assert.equal(refuseBody(template, undefined), null)
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.jsonValue(), (a, b) => {
      const values: Record<string, unknown> = { a, b }
      const filled = JSON.parse(fillBody(template, 'application/json; charset=utf-8', (slot) => values[slot]))
      const [text, list, n] = [filled.text, filled[a.toWellFormed()], filled.n]
      if (!['text', 'n', '__proto__'].includes(a)) {
        assert.equal(text, `Dear ${textOf(a)}, ${textOf(b)}`)
        assert.deepEqual(list, [1, JSON.parse(JSON.stringify(b)), a])
        assert.equal(n, -1)
      }
    }),
  )
})

test('a JSON body that its slots could break is rejected, and so are slots in other formats', () => {
  const broken = [
    '{"a": 1{{x}}}',
    '{"a": "\\{{x}}"}',
    '{"a": "\\u00{{x}}"}',
    '{"a": tr{{x}}}',
    '{{{x}}: 1}',
    '{"a":',
  ]
  for (const body of broken) assert.match(refuseBody(body, undefined) ?? '', /not JSON/, body)
  assert.equal(refuseBody('{{x}}', 'application/problem+json'), null)
  assert.equal(refuseBody('<a/>', 'application/xml'), null)
  assert.match(refuseBody('<a>{{x}}</a>', 'application/xml') ?? '', /only allowed in JSON/)
  assert.match(refuseBody('{{x}}', 'nonsense') ?? '', /only allowed in JSON/)
})

test('in a form, a value remains a single field', () => {
  const type = 'application/x-www-form-urlencoded'
  const filled = fillBody('a={{x}}&b={{y}}', type, (slot) => (slot === 'x' ? 'q&b=2 ü' : undefined))
  assert.deepEqual(
    [...new URLSearchParams(filled)],
    [
      ['a', 'q&b=2 ü'],
      ['b', ''],
    ],
  )
})
