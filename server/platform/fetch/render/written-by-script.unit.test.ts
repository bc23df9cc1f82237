import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isWrittenByScript } from './written-by-script.ts'

const text = 'A sentence of the page itself. '.repeat(8)

test('a page needs a browser when it has scripts, and hardly any text without them', () => {
  const needy = [
    '<html><head><title>App</title><script src="/app.js"></script></head><body><div id="root"></div></body></html>',
    `<div id="app">Loading…</div><script type=module src=app.js></script>`,
    `<noscript>${text}</noscript><style>${text}</style><script>const a = "${text}"</script>`,
    `<!-- ${text} --><script src="a.js"></script><template>${text}</template>`,
    `<script>"${text}"`,
  ]
  for (const html of needy) assert.equal(isWrittenByScript(html), true, html)
  const others = [
    '',
    text,
    '<div id="root"></div>',
    `<p>${text}</p><script src="a.js"></script>`,
    `<script src="a.js"></script><p>${text}</p>`,
    `<script type="application/ld+json">{"text": "${text}"}</script>`,
    '<p>Short, and no script but data.<script type="application/json">{}</script>',
  ]
  for (const html of others) assert.equal(isWrittenByScript(html), false, html)
})

test('broken markup is read to its end', () => {
  for (const piece of ['<', '<!--', '<script', '<script>', '<style>', '<a b="', '</'])
    assert.equal(typeof isWrittenByScript(piece.repeat(100_000)), 'boolean')
})
