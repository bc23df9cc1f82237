import assert from 'node:assert/strict'
import { test } from 'node:test'
import { htmlText } from './html-text.ts'

const MAX_LENGTH = 2_000_000
const many = (text: string): string => text.repeat(Math.floor(MAX_LENGTH / text.length))
const tooMany = '<b>'.repeat(50_001)

/** Each of these would take hours or overflow the stack if the open elements were searched repeatedly. */
const HOSTILE: [string, string, RegExp][] = [
  ['scripts that never end', many('<script>'), /^$/],
  ['styles that never end', `${tooMany}words${many('<style ')}`, /^words/],
  ['tags that never end', `${tooMany}words${many('<')}`, /^words/],
  ['nothing but brackets', many('<'), /^<{2000000}$/],
]
for (const [what, html, wanted] of HOSTILE) {
  test(`HTML is read in linear time: ${what}`, () => {
    assert.match(htmlText(html.slice(0, MAX_LENGTH)), wanted)
  })
}

test('HTML that is too complex is read as bare text, without scripts and styles', () => {
  const words = '<p>One</p>two <style type="a">p {}</style>three<SCRIPT>4 < 5</SCRIPT> &lt;six&gt; 7 < 8'
  assert.equal(htmlText(tooMany + words), 'One two three <six> 7 < 8')
})
