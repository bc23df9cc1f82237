import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseHTML } from 'linkedom'
import { renderMarkdown, showsNothing } from './render-markdown.ts'

const LINK = (href: string, words: string) =>
  `<a href="${href}" target="_blank" rel="noopener noreferrer nofollow">${words}</a>`

const cases: [string, string][] = [
  ['Hello', '<p>Hello</p>'],
  ['One\nTwo', '<p>One<br />Two</p>'],
  ['One\r\n\r\nTwo', '<p>One</p>\n<p>Two</p>'],
  ['**bold** and *it* and ~~gone~~', '<p><strong>bold</strong> and <em>it</em> and <del>gone</del></p>'],
  ['***both***', '<p><em><strong>both</strong></em></p>'],
  ['__bold__ _it_ snake_case_name', '<p><strong>bold</strong> <em>it</em> snake_case_name</p>'],
  ['2 * 3 * 4', '<p>2 * 3 * 4</p>'],
  ['**open', '<p>**open</p>'],
  ['\\*no\\* \\<b\\>', '<p>*no* &lt;b&gt;</p>'],
  ['`a < b` and `` x`y ``', '<p><code>a &lt; b</code> and <code>x`y</code></p>'],
  ['# Title\ntext', '<h1>Title</h1>\n<p>text</p>'],
  ['Title\n===', '<h1>Title</h1>'],
  ['a\n\n---\n\nb', '<p>a</p>\n<hr />\n<p>b</p>'],
  ['> quoted\n> more', '<blockquote>\n<p>quoted<br />more</p>\n</blockquote>'],
  ['- a\n- b', '<ul>\n<li>a</li>\n<li>b</li>\n</ul>'],
  ['3. a\n4. b', '<ol start="3">\n<li>a</li>\n<li>b</li>\n</ol>'],
  ['- a\n  - b\n- c', '<ul>\n<li>a\n<ul>\n<li>b</li>\n</ul>\n</li>\n<li>c</li>\n</ul>'],
  ['- [ ] open\n- [x] done', '<ul>\n<li>☐ open</li>\n<li>☑ done</li>\n</ul>'],
  ['In\n2026. It was', '<p>In<br />2026. It was</p>'],
  ['```js\na <b> && c\n```', '<pre><code class="language-js">a &lt;b&gt; &amp;&amp; c\n</code></pre>'],
  [
    '| a | b |\n| - | - |\n| 1 | **2** |',
    '<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n<td><strong>2</strong></td>\n</tr>\n</tbody>\n</table>',
  ],
  [
    '| a | b | c | d |\n| - | :- | :-: | -: |\n| 1 | 2 | 3 | 4 |',
    '<table>\n<thead>\n<tr>\n<th>a</th>\n<th align="left">b</th>\n<th align="center">c</th>\n<th align="right">d</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n<td align="left">2</td>\n<td align="center">3</td>\n<td align="right">4</td>\n</tr>\n</tbody>\n</table>',
  ],
  ['~gone~ and in~side~', '<p><del>gone</del> and in<del>side</del></p>'],
  ['~**one** and ~~two~~~', '<p>~<strong>one</strong> and ~~two~~~</p>'],
  [
    '*~a~* ~*b*~ [~c~](https://x.y)',
    `<p><em><del>a</del></em> <del><em>b</em></del> ${LINK('https://x.y', '<del>c</del>')}</p>`,
  ],
  ['~ 5 to ~10, ~a~~ and ~~~b~~~', '<p>~ 5 to ~10, ~a~~ and ~~~b~~~</p>'],
  ['`~a~` \\~b~', '<p><code>~a~</code> ~b~</p>'],
  ['a[^1]\n\n[^1]: note', '<p>a[^1]</p>\n<p>[^1]: note</p>'],
  [
    '[^x]: **why** [ex](https://x.y)\n[^y]: so',
    `<p>[^x]: <strong>why</strong> ${LINK('https://x.y', 'ex')}<br />[^y]: so</p>`,
  ],
  ['> - [^1]: note\n>   more', '<blockquote>\n<ul>\n<li>[^1]: note<br />more</li>\n</ul>\n</blockquote>'],
  ['[^1]: [x](javascript:alert(1))', '<p>[^1]: x</p>'],
  ['[here](https://x.y/a?b=1&c=2)', `<p>${LINK('https://x.y/a?b=1&amp;c=2', 'here')}</p>`],
  ['[w](https://x.y/a_(b) "t")', `<p>${LINK('https://x.y/a_(b)', 'w')}</p>`],
  ['see https://x.y/z. Bye', `<p>see ${LINK('https://x.y/z', 'https://x.y/z')}. Bye</p>`],
  [
    'www.x.y and a@b.co',
    `<p>${LINK('http://www.x.y', 'www.x.y')} and ${LINK('mailto:a@b.co', 'a@b.co')}</p>`,
  ],
  ['<https://x.y>', `<p>${LINK('https://x.y', 'https://x.y')}</p>`],
  ['[a][b]\n\n[b]: https://x.y', `<p>${LINK('https://x.y', 'a')}</p>`],
  ['![photo](https://x.y/p.png)', `<p>${LINK('https://x.y/p.png', 'photo')}</p>`],
  ['[x](javascript:alert(1))', '<p>x</p>'],
  ['[x](JaVaScRiPt&#58;alert(1))', '<p>x</p>'],
  ['[x](data:text/html,1) [y](/inside)', '<p>x y</p>'],
  ['Hi <b>you</b><script>alert(1)</script> there', '<p>Hi you there</p>'],
  ['<script>\nalert(1)\n\nmore\n</script>\nHi', '<p>Hi</p>'],
  ['a<br>b', '<p>a<br />b</p>'],
  ['`<b>` stays', '<p><code>&lt;b&gt;</code> stays</p>'],
  ['1 < 2 > 0 & "q"', '<p>1 &lt; 2 &gt; 0 &amp; "q"</p>'],
  ['&copy; &lt;b&gt; &nothing', '<p>© &lt;b&gt; &amp;nothing</p>'],
  ['<!-- secret --> seen', '<p>seen</p>'],
  ['<<b>script>alert(1)<</b>/script>', '<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>'],
]

for (const [markdown, html] of cases) {
  test(JSON.stringify(markdown), () => assert.equal(renderMarkdown(markdown), html))
}

test('content that renders empty is detected', () => {
  const nothing = [
    '<script>alert(1)</script>',
    '<!-- a -->',
    '<div></div>',
    '[a]: https://x.y',
    '&nbsp;',
    '\u200b',
    '---',
    '[](https://x.y)',
    '```\n```',
    '> ',
    '<img src=x onerror=alert(1)>',
  ]
  for (const markdown of nothing) assert.equal(showsNothing(renderMarkdown(markdown)), true, markdown)
  for (const markdown of ['a', '`x`', '- a', '😀', '0']) {
    assert.equal(showsNothing(renderMarkdown(markdown)), false, markdown)
  }
})

const ALLOWED = new Set(
  'P BR STRONG EM DEL CODE PRE A H1 H2 H3 H4 H5 H6 HR BLOCKQUOTE UL OL LI TABLE THEAD TBODY TR TH TD'.split(
    ' ',
  ),
)
const snippets = fc.constantFrom(
  ...[
    '<script>',
    '</script>',
    '<a href="javascript:x">',
    '<img src=x onerror=y>',
    '<',
    '>',
    '"',
    "'",
    '&',
    '&#x3c;',
  ],
  ...[
    '[',
    ']',
    '(',
    ')',
    '](javascript:alert(1))',
    '](https://x.y" onclick="z)',
    '!',
    '`',
    '```',
    '\n',
    '\n\n',
    '    ',
  ],
  ...[
    '*',
    '**',
    '_',
    '~~',
    '~',
    '[^1]',
    '[^1]: ',
    '| -: |',
    '- ',
    '1. ',
    '> ',
    '# ',
    '|',
    '| - |',
    '\\',
    'https://x.y/',
    'www.',
    'a@b.co',
    '<!--',
    '-->',
    'word',
    ' ',
  ],
)

test('whatever is written, only permitted tags and safe links are rendered', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(snippets, fc.string({ maxLength: 6 })), { maxLength: 60 }), (parts) => {
      const { document } = parseHTML(`<html><body>${renderMarkdown(parts.join(''))}</body></html>`)
      for (const element of document.body.querySelectorAll('*')) {
        assert.ok(ALLOWED.has(element.tagName), element.tagName)
        for (const { name, value } of [...element.attributes]) {
          assert.ok(['href', 'target', 'rel', 'class', 'start', 'align'].includes(name), name)
          if (name === 'href') assert.match(value, /^(https?:\/\/|mailto:|tel:)/i)
        }
      }
    }),
    { numRuns: 400 },
  )
})

// Exponential time would exceed the timeout of the test.
test('ten thousand characters of anything are rendered in time and stay within a page', {
  timeout: 120_000,
}, () => {
  for (const piece of [
    '*',
    '[',
    '](',
    '`',
    '<',
    '- ',
    '> ',
    '**a',
    '_a*',
    '![',
    '<a ',
    '|',
    '\\',
    'a@',
    '[a](',
    '~~',
    '~',
    'a~',
    '[^1]',
    '[^1]: ',
    '<!--',
    '1. ',
    '*a_b**c~~',
  ]) {
    for (const text of [
      piece.repeat(10_000 / piece.length),
      `${piece}\n`.repeat(10_000 / (piece.length + 1)),
    ])
      assert.ok(renderMarkdown(text).length < 500_000, piece)
  }
})
