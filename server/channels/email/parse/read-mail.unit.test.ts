import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { unstorable } from '../../../platform/http/bodies/storable.ts'
import { isByProgram } from '../inbound/automatic-mail.ts'
import { readMail } from './read-mail.ts'

const HEAD =
  'From: Ann <ann@example.com>\r\nTo: support@shop.example\r\nSubject: Hi\r\nMessage-ID: <1@example.com>\r\n'
const read = (text: string, encoding: BufferEncoding = 'utf8') => readMail(Buffer.from(text, encoding))
const textOf = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString()

test('sender, recipients, subject and references are read', async () => {
  const mail = await read(
    'From: =?utf-8?q?J=C3=B6rg?= <JOERG@Example.com>\r\nReply-To: desk@example.com\r\nTo: Shop <support+X@shop.example>, b@c.example\r\n' +
      'Delivered-To: inbox@shop.example\r\nSubject: =?utf-8?b?R3LDvMOfZQ==?=\r\nMessage-ID: <2@example.com>\r\n' +
      'In-Reply-To: <1@shop.example>\r\nReferences: <0@example.com>\r\n <1@shop.example>\r\n\r\nHello\r\n',
  )
  assert.deepEqual(
    [mail.from, mail.replyTo, mail.subject, mail.messageId, mail.text],
    [
      { address: 'joerg@example.com', name: 'Jörg' },
      { address: 'desk@example.com', name: null },
      'Grüße',
      '<2@example.com>',
      'Hello',
    ],
  )
  assert.deepEqual(mail.answers, ['<1@shop.example>', '<0@example.com>'])
  assert.deepEqual(mail.recipients, ['support+x@shop.example', 'b@c.example', 'inbox@shop.example'])
  assert.deepEqual([mail.automatic, mail.bounce], [false, null])
})

test('the plain part is preferred; a mail with HTML only is read as text', async () => {
  const both = await read(
    `${HEAD}Content-Type: multipart/alternative; boundary=x\r\n\r\n--x\r\nContent-Type: text/plain\r\n\r\nWhere is *it*?\r\n--x\r\nContent-Type: text/html\r\n\r\n<p>Where is <b>it</b>?</p>\r\n--x--\r\n`,
  )
  assert.equal(both.text, 'Where is *it*?')
  const html = await read(
    `${HEAD}Content-Type: text/html; charset=utf-8\r\n\r\n<p>Wo ist <b>sie</b>?</p><div class="gmail_quote">alt</div>\r\n`,
  )
  assert.equal(html.text, 'Wo ist sie?')
})

test('a return path that is empty but for spaces is a report, and an endless one is read at once', () => {
  const isReport = (path: string): boolean =>
    isByProgram(['return-path'], (name) => (name === 'return-path' ? [path] : []), 'ann@example.com')
  for (const path of ['<>', ' < > ', '<#@[]>', '< #@[] >', '<MAILER-DAEMON@mx.example>', '<\u00a0>'])
    assert.equal(isReport(path), true, path)
  for (const path of ['<ann@example.com>', `<${'\u00a0'.repeat(500_000)}ann`])
    assert.equal(isReport(path), false)
})

test('named, unknown and wrong charsets are read', async () => {
  const named = await read(
    `${HEAD}Content-Type: text/plain; charset=windows-1252\r\n\r\nsch\xf6n \x80\r\n`,
    'latin1',
  )
  assert.equal(named.text, 'schön €')
  const unknown = await read(`${HEAD}Content-Type: text/plain; charset=x-none\r\n\r\nsch\xf6n\r\n`, 'latin1')
  assert.equal(unknown.text, 'schön')
  const wrong = await read(`${HEAD}Content-Type: text/plain; charset=utf-8\r\n\r\nsch\xf6n\r\n`, 'latin1')
  assert.match(wrong.text, /^sch.n$/)
})

test('files are kept with safe names, including nested mails and formats of a single program', async () => {
  const mail = await read(
    `${HEAD}Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/plain\r\n\r\nSee\r\n` +
      '--x\r\nContent-Type: application/pdf; name="../../etc/a.pdf"\r\nContent-Transfer-Encoding: base64\r\n\r\nSGVsbG8=\r\n' +
      '--x\r\nContent-Type: application/ms-tnef; name="winmail.dat"\r\nContent-Transfer-Encoding: base64\r\n\r\neJ8+\r\n' +
      '--x\r\nContent-Type: message/rfc822\r\n\r\nFrom: b@c.example\r\nSubject: in\r\n\r\ninner words\r\n--x--\r\n',
  )
  assert.deepEqual(
    mail.files.map(({ name, mediaType }) => [name, mediaType]),
    [
      ['.._.._etc_a.pdf', 'application/pdf'],
      ['winmail.dat', 'application/ms-tnef'],
      ['message-3.eml', 'message/rfc822'],
    ],
  )
  assert.equal(textOf(mail.files[0]?.bytes), 'Hello')
  assert.match(textOf(mail.files[2]?.bytes), /inner words/)
  assert.equal(mail.text, 'See')
})

test('whatever is readable in broken mails is read, and the rest is kept as it came', async () => {
  const cut = await read(
    `${HEAD}Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/plain\r\n\r\nHalf\r\n--x\r\nContent-Type: image/png; name=a.png\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!notbase64`,
  )
  assert.equal(cut.text, 'Half')
  assert.equal(cut.files.length, 1)
  const noBoundary = await read(`${HEAD}Content-Type: multipart/mixed\r\n\r\nJust words\r\n`)
  assert.match(noBoundary.text + textOf(noBoundary.files[0]?.bytes), /Just words/)
  for (const garbage of ['', '\0\0\0', 'no headers at all', `X: ${'a'.repeat(600_000)}\r\n\r\nx`, deep()]) {
    const mail = await read(garbage)
    assert.deepEqual([mail.from, mail.automatic, mail.files.length], [null, true, 1], garbage.slice(0, 20))
    assert.equal(textOf(mail.files[0]?.bytes), garbage)
    assert.match(mail.messageId, /^sha256:/)
  }
})

function deep(): string {
  const opened = Array.from(
    { length: 60 },
    (_, at) => `Content-Type: multipart/mixed; boundary=b${at}x\r\n\r\n--b${at}x\r\n`,
  )
  return `${HEAD}${opened.join('')}\r\nx`
}

test('a very long text is cut and attached as a file', async () => {
  const mail = await read(`${HEAD}\r\n${'word '.repeat(60_000)}`)
  assert.ok(mail.text.length < 101_000)
  assert.equal(mail.files[0]?.name, 'message.txt')
  assert.ok((mail.files[0]?.bytes.length ?? 0) >= 299_000)
})

test('of very many files, including mails, the first are kept and the rest is counted', async () => {
  const part = '--x\r\n\r\nFrom: b@c.example\r\n\r\ninner\r\n'
  const digest = await read(
    `${HEAD}Content-Type: multipart/digest; boundary=x\r\n\r\n${part.repeat(3_000)}--x--\r\n`,
  )
  assert.deepEqual([digest.files.length, digest.files[0]?.mediaType], [100, 'message/rfc822'])
  assert.match(
    digest.text,
    /^\[Left out, because a mail may have 100 files: message-101\.eml, .* and 2880 more\]$/,
  )
})

test('the beginning of an oversized mail is read', async () => {
  const start = `${HEAD}Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/plain\r\n\r\nSee\r\n--x\r\nContent-Type: video/mp4; name=a.mp4\r\nContent-Transfer-Encoding: base64\r\n\r\nSGVs`
  const mail = await readMail(Buffer.from(start), { bytes: 90 * 1_048_576 })
  assert.deepEqual(
    [mail.text, mail.files],
    ['See\n\n[The mail has 90 MB: its attachments were left out.]', []],
  )
})

const AUTOMATIC: [string, boolean][] = [
  ['Auto-Submitted: auto-replied', true],
  ['Auto-Submitted: no', false],
  ['Precedence: bulk', true],
  ['Precedence: first-class', false],
  ['X-Autoreply: yes', true],
  ['X-AutoReply-From: ann@example.com', true],
  ['X-Auto-Response: vacation', true],
  ['X-Precedence: bulk', true],
  ['Return-Path: <MAILER-DAEMON@relay.example>', true],
  ['Return-Path: <#@[]>', true],
  // MS-OXOMSG: it says what the sender does not want to get.
  ['X-Auto-Response-Suppress: DR, OOF, AutoReply', false],
  ['List-Unsubscribe: <mailto:u@example.com>', true],
  ['In-Reply-To: <1@shop.example>\r\nList-Unsubscribe: <mailto:u@crm.example>', false],
  ['List-Id: <news.example.com>', true],
  ['Return-Path: <>', true],
  ['Return-Path: <ann@example.com>', false],
  ['Reply-To: no-reply@example.com', false],
  ['X-Mailer: Auto 2.0', false],
]
for (const [header, wanted] of AUTOMATIC) {
  test(`a mail with ${header} is ${wanted ? 'never' : 'possibly'} answered`, async () => {
    assert.equal((await read(`${HEAD}${header}\r\n\r\nx\r\n`)).automatic, wanted)
  })
}

test('a delivery report names the failed mail and the reason; a report of a delay is ignored', async () => {
  const report = (action: string) =>
    'From: MAILER-DAEMON@mx.example\r\nSubject: Undelivered\r\nContent-Type: multipart/report; report-type=delivery-status; boundary=x\r\n\r\n' +
    '--x\r\nContent-Type: text/plain\r\n\r\nSorry\r\n--x\r\nContent-Type: message/delivery-status\r\n\r\n' +
    `Reporting-MTA: dns; mx.example\r\n\r\nFinal-Recipient: rfc822; ann@example.com\r\nAction: ${action}\r\nStatus: 5.1.1\r\nDiagnostic-Code: smtp; 550 5.1.1 User\r\n unknown\r\n` +
    '--x\r\nContent-Type: message/rfc822\r\n\r\nMessage-ID:\r\n <9@shop.example>\r\nSubject: Re: Hi\r\n\r\nMessage-ID: <no@no>\r\n--x--\r\n'
  const { bounce, automatic, text } = await read(report('failed'))
  assert.deepEqual(bounce, {
    messageIds: ['<9@shop.example>'],
    reason: 'It could not be delivered: 550 5.1.1 User unknown',
  })
  assert.deepEqual([automatic, text], [true, 'Sorry'])
  assert.equal((await read(report('delayed'))).bounce, null)
})

test('any input is read without an error, and the result can be stored', async () => {
  const pieces = fc.constantFrom(
    'From: Ann <ann@example.com>',
    'From: a\0b@c\0d.example',
    'Reply-To: \ud800@x.example',
    'Subject: =?utf-8?b?AAAA?= =?utf-16?q?=D8=00?=',
    'Message-ID: <a\0b@c>',
    'References: <\0> <x@y> <',
    'Content-Type: multipart/mixed; boundary=x',
    'Content-Type: multipart/report; boundary=x',
    'Content-Type: text/html; charset=utf-16',
    'Content-Type: message/delivery-status',
    'Content-Type: text/rfc822-headers; name="\0=?x?"',
    'Content-Transfer-Encoding: base64',
    'Content-Transfer-Encoding: quoted-printable',
    'Action: failed',
    'Diagnostic-Code: \0',
    '<p>\0&#0;&#xd800;<a href="https://x/\ud800">',
    '=00=D8 AAAA',
    '--x',
    '--x--',
    '',
  )
  const mails = fc.array(fc.oneof(pieces, fc.string({ unit: 'binary', maxLength: 20 })), { maxLength: 25 })
  await fc.assert(
    fc.asyncProperty(mails, fc.constantFrom('\r\n', '\n'), async (lines, end) => {
      const mail = await read(lines.join(end))
      const { files, ...rest } = mail
      assert.equal(unstorable({ rest, names: files.map(({ name, mediaType }) => [name, mediaType]) }), null)
    }),
    { numRuns: 2_000 },
  )
})
