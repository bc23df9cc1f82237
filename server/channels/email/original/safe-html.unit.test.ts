import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasRemoteImages, safeHtml } from './safe-html.ts'

const shown = (html: string, withImages = false) =>
  safeHtml(html, { withImages, pictureOf: (id) => (id === 'logo@x' ? '/attachments/1' : null) })

test('nothing that runs, loads or asks is left', () => {
  const hostile = [
    '<script>alert(1)</script>',
    '<img src=x onerror="alert(1)">',
    '<a href="javascript:alert(1)">a</a>',
    '<iframe src="https://evil.example"></iframe>',
    '<form action="https://evil.example"><input name="p"></form>',
    '<svg><script>alert(1)</script></svg>',
    '<style>body{background:url(https://evil.example/t.gif)}</style>',
    '<meta http-equiv="refresh" content="0;url=https://evil.example">',
    '<base href="https://evil.example/">',
    '<object data="https://evil.example"></object>',
  ].join('\n')
  const left = shown(hostile, true)
  assert.doesNotMatch(left, /script|onerror|javascript:|iframe|form|input|svg|style|meta|base|object|evil/i)
})

test('what a mail looks like stays, and its links open elsewhere', () => {
  const left = shown(
    '<table width="600"><tr><td style="color:red" colspan="2"><a href="https://a.example/b">B</a></td></tr></table>',
  )
  assert.match(left, /<td style="color:red" colspan="2">/)
  assert.match(
    left,
    /<a href="https:\/\/a\.example\/b" target="_blank" rel="noopener noreferrer nofollow">B<\/a>/,
  )
})

test('hostile HTML is searched for pictures in a time that grows with its length alone', () => {
  const LENGTH = 300_000
  const spaces = ' '.repeat(LENGTH)
  assert.equal(hasRemoteImages(`<p style="background:url(${spaces}">`), false)
  assert.equal(hasRemoteImages(`<p style="${'url('.repeat(LENGTH / 4)}">`), false)
  assert.equal(hasRemoteImages('<img '.repeat(LENGTH / 5)), false)
  assert.equal(hasRemoteImages(`<img src=${spaces}>url(${spaces}`), false)
})

test('of HTML that is nested without end only the text is shown', () => {
  const deep = `${'<b>'.repeat(5_000)}<img src="https://a.example/t.gif">1 &lt; 2 <script>alert(1)</script>`
  assert.equal(shown(deep).replace(/\s+/g, ' '), '<p style="white-space: pre-wrap"> 1 &lt; 2 </p>')
  assert.equal(hasRemoteImages(deep), false)
  assert.doesNotMatch(shown(`${'<b>'.repeat(5_000)}<img src=x onerror=alert(1)`), /<img/)
})

test('backgrounds are pictures as well; words about them are none', () => {
  assert.equal(hasRemoteImages(`<td style="background: url( 'https://a.example/b.png')">x</td>`), true)
  assert.equal(hasRemoteImages(`<img alt="x" SRC=' HTTP://a.example/b.png'>`), true)
  assert.equal(hasRemoteImages('<p>Write url(https://a.example/b.png)</p><img src="cid:logo@x">'), false)
})

test('pictures of other servers wait until they are asked for; those of the mail are shown', () => {
  const html = '<img src="https://a.example/t.gif" alt="T"><img src="cid:logo@x"><img src="cid:gone@x">'
  assert.equal(hasRemoteImages(html), true)
  assert.equal(shown(html), '<img alt="T" /><img src="/attachments/1" /><img />')
  assert.match(shown(html, true), /src="https:\/\/a\.example\/t\.gif"/)
})
