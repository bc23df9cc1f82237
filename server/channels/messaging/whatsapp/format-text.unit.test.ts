import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { splitText } from '../outbound/split-text.ts'
import { formatText } from './format-text.ts'

const format = (markdown: string) => formatText(markdown, { dropCitations: true })

test('Markdown is converted to what the channel can display', () => {
  assert.equal(format('## Opening **hours**'), '*Opening hours*')
  assert.equal(format('**Bold**, *slanted*, ~~gone~~ and `a*b*c`'), '*Bold*, _slanted_, ~gone~ and `a*b*c`')
  assert.equal(format('See [the page](https://x.example/a) now'), 'See the page (https://x.example/a) now')
  assert.equal(format('[https://x.example](https://x.example)'), 'https://x.example')
  assert.equal(format('![plan](https://x.example/p.png)'), 'plan (https://x.example/p.png)')
  assert.equal(format('[page](https://x.example/a "Its title")'), 'page (https://x.example/a)')
  assert.equal(format('[see [page](https://x.example/a)'), '[see page (https://x.example/a)')
  assert.equal(format('* one\n+ two\n  - three\n1. four'), '- one\n- two\n  - three\n1. four')
  assert.equal(format('| Day | Open |\n| --- | :-: |\n| Mon | 9 |'), 'Day | Open\nMon | 9')
  assert.equal(format('a\n\n---\n\nb'), 'a\n\nb')
  assert.equal(format('```js\nconst a = b[1] * 2\n```'), '```\nconst a = b[1] * 2\n```')
  assert.equal(format('Not \\*bold\\* <br> next'), 'Not *bold* \n next')
})

test('citations are removed from answers and kept in what people write', () => {
  assert.equal(format('From nine [1] to five [2, 3]. Call [1](tel:1)'), 'From nine to five. Call 1 (tel:1)')
  assert.equal(formatText('Item [1] fits', { dropCitations: false }), 'Item [1] fits')
  assert.equal(format('The year [2024] stays'), 'The year [2024] stays')
})

test('any text is formatted quickly, and split without loss', () => {
  const marks = fc.array(
    fc.constantFrom('*', '_', '[', ']', '(', ')', '`', '~', '|', '#', ' ', '\n', 'word', '😀'),
  )
  fc.assert(
    fc.property(marks, fc.integer({ min: 4, max: 40 }), (parts, longest) => {
      const text = format(parts.join(''))
      const pieces = splitText(text, longest)
      assert.ok(pieces.every((piece) => piece.length <= longest && piece.isWellFormed() && piece !== ''))
      assert.equal(pieces.join('').replace(/\s/g, ''), text.replace(/\s/g, ''))
    }),
  )
  const long = `${'['.repeat(20_000)}${'*'.repeat(20_000)}`
  assert.ok(format(long).length > 0)
})

test('adversarial markup, which takes minutes when every position is retried, is formatted quickly', () => {
  for (const length of [10_000, 100_000]) {
    const fill = (part: string) => part.repeat(Math.ceil(length / part.length))
    const unchanged = [
      ...['[', '![', '[](', '[a](b', '[](a ', '[](a "', '[1](', '[1, ', '[](<'].map(fill),
      ...[`[a](${fill('x')}`, `[a](b ${fill('x')}`, `<br${fill(' ')}<`, `[1${fill(',1')}`],
    ]
    for (const text of unchanged) assert.equal(format(text), text.trim())
    assert.equal(format(`* ${fill(' ')}${fill('x')}\u2028x`), `- ${fill('x')}\u2028x`)
    assert.equal(format(`# ${fill(' ')}${fill('x')}\u2028x`), `*${fill('x')}\u2028x*`)
    for (const marks of ['*a', '* ', '**a*', '__a_', '~~a~', '`x', '|x'])
      assert.ok(format(fill(marks)) !== '')
  }
})

test('a long text is split at the end of a paragraph, a line, a sentence or a word', () => {
  assert.deepEqual(splitText('aaaa bbbb\n\ncccc dddd', 14), ['aaaa bbbb', 'cccc dddd'])
  assert.deepEqual(splitText('One is here. Two is here.', 16), ['One is here.', 'Two is here.'])
  assert.deepEqual(splitText('x'.repeat(10), 4), ['xxxx', 'xxxx', 'xx'])
  assert.deepEqual(splitText(' \n ', 4), [])
})
