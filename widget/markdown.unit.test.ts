import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseInline, safeHref } from './frame/parse-inline.ts'
import { type Block, parseMarkdown } from './frame/parse-markdown.ts'

const text = (words: string) => ({ type: 'text', text: words })
const cite = (number: number, text = `[${number}]`) => ({ type: 'cite', number, text })
const paragraph = (...inline: object[]) => ({ type: 'paragraph', inline })

test('paragraphs, bold, italic, code and line breaks are parsed', () => {
  assert.deepEqual(
    parseMarkdown('Take **two *red* ones**,\nor `a*b*c`.\n\nAnd _this_, not snake_case_name.'),
    [
      paragraph(
        text('Take '),
        {
          type: 'strong',
          inline: [text('two '), { type: 'emphasis', inline: [text('red')] }, text(' ones')],
        },
        text(','),
        { type: 'break' },
        text('or '),
        { type: 'code', text: 'a*b*c' },
        text('.'),
      ),
      paragraph(text('And '), { type: 'emphasis', inline: [text('this')] }, text(', not snake_case_name.')),
    ],
  )
})

test('nested lists and the content of an item are parsed', () => {
  const [list, rest] = parseMarkdown('3. First\n   - inner\n4. Second\n\n   more of it\n\nAfter')
  assert.ok(list?.type === 'list' && list.isOrdered)
  assert.deepEqual([list.start, list.items.length], [3, 2])
  assert.deepEqual(
    list.items.map((blocks) => blocks.map(({ type }) => type)),
    [
      ['paragraph', 'list'],
      ['paragraph', 'paragraph'],
    ],
  )
  assert.deepEqual(rest, paragraph(text('After')))
})

test('code keeps its lines, even before its end has arrived', () => {
  for (const end of ['', '\n```', '\n```\nAfter']) {
    const [code] = parseMarkdown(`\`\`\`js\nconst a = "**b**"\n\nrun(a)${end}`)
    assert.deepEqual(code, { type: 'code', text: 'const a = "**b**"\n\nrun(a)' })
  }
})

test('links lead only to the web or to mail', () => {
  assert.deepEqual(parseInline('[shop](https://example.com/a_(b)) and https://example.com/x.'), [
    { type: 'link', href: 'https://example.com/a_(b)', inline: [text('shop')] },
    text(' and '),
    { type: 'link', href: 'https://example.com/x', inline: [text('https://example.com/x')] },
    text('.'),
  ])
  for (const address of ['javascript:alert(1)', 'data:text/html,x', '/relative', 'file:///etc/passwd']) {
    assert.deepEqual(parseInline(`[words](${address})`), [text('words')])
    assert.equal(safeHref(address), null)
  }
  assert.equal(safeHref('mailto:ada@example.com'), 'mailto:ada@example.com')
})

test('an image becomes its description, a tag becomes text, and a citation marker is removed', () => {
  assert.deepEqual(parseInline('![A lamp](https://example.com/a.png)'), [text('A lamp')])
  assert.deepEqual(parseInline('<img src=x onerror=alert(1)>'), [text('<img src=x onerror=alert(1)>')])
  assert.deepEqual(parseInline('Yes [1], no [2, 3].'), [
    text('Yes'),
    cite(1, ' [1]'),
    text(', no'),
    cite(2, ' [2]'),
    cite(3),
    text('.'),
  ])
  assert.deepEqual(parseInline('argv[2] is there[1]'), [
    text('argv'),
    text('[2]'),
    text(' is there'),
    cite(1),
  ])
  assert.deepEqual(parseInline('1 \\* 2'), [text('1 '), text('*'), text(' 2')])
})

test('parsing any text ends, and no word is lost', () => {
  const pieces = ['**a', '[', '`', '_a', '> ', '- ', '![a](', '\\', '1. x\n  ', '*a **b ', 'https://', '``']
  for (const piece of pieces) {
    for (const said of [piece.repeat(2_000), `${piece.repeat(500)} end`]) {
      const words = wordsOf(parseMarkdown(said))
      assert.ok(lettersOf(words) === lettersOf(said), `${piece} became ${words.slice(0, 200)}`)
    }
  }
})

const lettersOf = (words: string): string => words.replace(/[^a-z]/g, '')

function wordsOf(blocks: Block[]): string {
  const said = JSON.stringify(blocks)
  return [...said.matchAll(/"text":"((?:[^"\\]|\\.)*)"/g)]
    .map(([, one]) => one)
    .join('')
    .trim()
}

test('tables have aligned columns and cells with code and bars, and end with the bars', () => {
  const lines = [
    'Before',
    '| Model | Price |',
    '| :-- | --: |',
    '| `a|b` | **2** |',
    '| c \\| d | 3 | too many |',
    '| short |',
    'After',
  ]
  const [before, table, after] = parseMarkdown(lines.join('\n'))
  assert.deepEqual([before, after], [paragraph(text('Before')), paragraph(text('After'))])
  assert.deepEqual(table, {
    type: 'table',
    aligns: ['start', 'end'],
    rows: [
      [[text('Model')], [text('Price')]],
      [[{ type: 'code', text: 'a|b' }], [{ type: 'strong', inline: [text('2')] }]],
      [[text('c | d')], [text('3')]],
      [[text('short')], []],
    ],
  })
  for (const no of ['a | b\nc | d', '| a |\n| - | - |', 'a\n---'])
    assert.ok(
      parseMarkdown(no).every(({ type }) => type !== 'table'),
      no,
    )
  const hostile = `${'|'.repeat(200_000)}\n${'|-'.repeat(100_000)}`
  assert.equal(parseMarkdown(hostile).length > 0, true)
})
