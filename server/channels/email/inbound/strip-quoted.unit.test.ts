import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { htmlText } from '../parse/html-text.ts'
import { isForwarded } from './known-clients.ts'
import { stripQuoted } from './strip-quoted.ts'

const REPLY = {
  isReply: true,
  recipients: ['support@shop.example', 'a@shop.example'],
  subject: 'Re: Invoice',
}

/** Written as the named mail clients do it. */
const TEXTS: [string, string, string][] = [
  ['nothing quoted', 'Hello,\n\nwhere is my order?\n', 'Hello,\n\nwhere is my order?'],
  [
    'Gmail',
    'It is 4711.\n\nOn Mon, Jan 5, 2026 at 9:14 AM Shop Support <support+abc@shop.example> wrote:\n\n> What is the number?\n>\n> Shop\n',
    'It is 4711.',
  ],
  [
    'Gmail, folded',
    'Yes please\n\nOn Mon, Jan 5, 2026 at 9:14 AM A Very Long Team Name Of A Shop <\nsupport@shop.example> wrote:\n\n> Shall we?\n',
    'Yes please',
  ],
  [
    'Gmail in German',
    'Danke!\n\nAm Mo., 5. Jan. 2026 um 09:14 Uhr schrieb Shop <support@shop.example>:\n\n> Bitte schön.\n',
    'Danke!',
  ],
  [
    'a phone in German',
    'Ja, gern.\n\nShop <support@shop.example> schrieb am Mo., 5. Jan. 2026, 09:14:\n\n> Passt Dienstag?\n',
    'Ja, gern.',
  ],
  [
    'Thunderbird in German',
    'Stimmt.\n\nAm 05.01.26 um 09:14 schrieb Shop Support:\n> Ist das so?\n',
    'Stimmt.',
  ],
  [
    'Apple Mail',
    'Perfect.\n\n> On 5. Jan 2026, at 09:14, Shop <support@shop.example> wrote:\n> \n> Is it fine?\n',
    'Perfect.',
  ],
  [
    'a phone that does not mark what it quotes',
    'Still broken.\n\nSent from my iPhone\n\nOn 5 Jan 2026, at 09:14, Shop <support@shop.example> wrote:\n\nDid it help?\nShop\n',
    'Still broken.',
  ],
  [
    'Outlook',
    'Attached.\n\nKind regards\nAnn\n\n________________________________\nFrom: Shop <support@shop.example>\nSent: Monday, January 5, 2026 9:14 AM\nTo: Ann <ann@example.com>\nSubject: RE: Invoice\n\nPlease send it.\n',
    'Attached.\n\nKind regards\nAnn',
  ],
  [
    'Outlook in German',
    'Anbei.\n\nVon: Shop <support@shop.example>\nGesendet: Montag, 5. Januar 2026 09:14\nAn: Ann <ann@example.com>\nCc: Bob\nBetreff: AW: Rechnung\n\nBitte senden.\n',
    'Anbei.',
  ],
  [
    'Outlook with stars',
    'See below.\n\n*From:* Shop <support@shop.example>\n*Date:* Monday, 5 January 2026 at 09:14\n*To:* Ann\n*Subject:* Invoice\n\nText\n',
    'See below.',
  ],
  ['an original message', 'Ok.\n\n-----Original Message-----\nFrom: Shop\nSent: today\n\nBye\n', 'Ok.'],
  [
    'an original message in German',
    'Ok.\n\n-----Ursprüngliche Nachricht-----\nVon: Shop\n\nTschüss\n',
    'Ok.',
  ],
  [
    'answers between the lines',
    'On Mon, Jan 5, 2026 at 9:14 AM Shop <a@shop.example> wrote:\n> Which size?\nLarge.\n> Which colour?\nRed.\n',
    'Large.\nRed.',
  ],
  ['an answer below', '> Which size?\n\nLarge, please.\n', 'Large, please.'],
  ['a signature', 'Call me.\n\n-- \nAnn Example\nExample Ltd.\n+49 30 1234\n', 'Call me.'],
  [
    'a signature before a quote',
    'Call me.\n-- \nAnn\n\nAm 05.01.26 um 09:14 schrieb Shop:\n> Wann?\n',
    'Call me.',
  ],
  ['an app that names itself', 'Geht klar\n\nVon meinem iPhone gesendet\n', 'Geht klar'],
  ['an older Gmail', 'Fine.\n\n2026-01-05 9:14 GMT+01:00 Shop <support@shop.example>:\n\n> Ok?\n', 'Fine.'],
  [
    'words that only look like it',
    'On Monday I wrote to you: nothing came.\nFrom: the shop I heard nothing.\nAm Ende schrieb ich: nein.\n',
    'On Monday I wrote to you: nothing came.\nFrom: the shop I heard nothing.\nAm Ende schrieb ich: nein.',
  ],
  ['nothing but a quote', '> all of it\n> is quoted\n', '> all of it\n> is quoted'],
  ['nothing but a signature', '-- \nAnn\n', '--\nAnn'],
]

for (const [client, mail, wanted] of TEXTS) {
  test(`only the new text of a mail by ${client} remains`, () => {
    assert.equal(stripQuoted(mail, REPLY), wanted)
    assert.equal(stripQuoted(mail.replaceAll('\n', '\r\n'), REPLY), wanted)
  })
}

test('a forwarded mail stays whole', () => {
  const mail = 'FYI\n\nFrom: Bob\nSent: today\nTo: Ann\nSubject: Leak\n\nThe pipe leaks.\n'
  assert.ok(isForwarded('Fwd: Leak') && isForwarded('WG: Leak') && !isForwarded('Re: forward'))
  assert.equal(stripQuoted(mail, { isForward: true }), mail.trim())
})

test('stripping never removes everything, and adds nothing', () => {
  const line = fc.constantFrom(
    '',
    '> q',
    'On a b c wrote:',
    '-- ',
    'From: a',
    'To: b',
    'Hello',
    'Sent: x',
    'Subject: y',
  )
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 30 }), (lines) => {
      const text = lines.join('\n')
      const left = stripQuoted(text)
      assert.equal(left === '', text.trim() === '')
      for (const kept of left.split('\n')) assert.ok(lines.some((own) => own.trim() === kept.trim()))
    }),
  )
})

test('mails with one endless line, and with very many lines, are read quickly', () => {
  assert.equal(stripQuoted(`On ${'wrote '.repeat(100_000)}`).length > 0, true)
  assert.equal(stripQuoted('On a wrote\n'.repeat(50_000)).length > 0, true)
  for (const line of [
    'On 10:30 on at on at a@b.example wrote',
    'From: a@b.example 10:30',
    '--- 10:30 on at wrote ---',
    'Dnia 10:30 :',
  ])
    assert.equal(stripQuoted(`${`${line.repeat(7)}\n`.repeat(400)}\n`.repeat(2), REPLY).length > 0, true)
  for (const rule of ['-', '_', '=-']) {
    const line = `${rule.repeat(100_000)} x`
    assert.equal(stripQuoted(line, REPLY), line)
  }
  assert.equal(
    htmlText(`<p>Yes.</p>${'<blockquote></blockquote>'.repeat(59_000)}`, { isReply: true }),
    'Yes.',
  )
})

const PAGES: [string, string, string][] = [
  ['plain elements', '<p>Hello <b>you</b>,</p><ul><li>one<li>two</ul>', 'Hello you,\n\n- one\n- two'],
  [
    'lines that are blocks',
    '<div>a</div><div>b<br></div><div><br></div><div>c<br>d</div><table><tr><td>x</td><td>y</td></tr></table>',
    'a\nb\n\nc\nd\nx y',
  ],
  ['a link', '<a href="https://x.example/a">here</a>', 'here (https://x.example/a)'],
  ['what is not seen', '<style>p{}</style><script>alert(1)</script><p>Seen</p><!-- no -->', 'Seen'],
  [
    'Gmail',
    '<div dir="ltr">Yes.</div><br><div class="gmail_quote"><div class="gmail_attr">On Mon X wrote:<br></div><blockquote class="gmail_quote">Really?</blockquote></div>',
    'Yes.',
  ],
  ['Apple Mail', 'Fine.<br><blockquote type="cite"><div>On Mon X wrote:</div>Ok?</blockquote>', 'Fine.'],
  [
    'Thunderbird',
    '<p>Ja.</p><div class="moz-cite-prefix">Am 5.1. schrieb X:</div><blockquote type="cite">Nein?</blockquote>',
    'Ja.',
  ],
  [
    'Outlook',
    '<div>Done.</div><div id="appendonsend"></div><hr><div id="divRplyFwdMsg"><b>From:</b> X</div><div>Do it.</div>',
    'Done.',
  ],
  ['nothing but a quote', '<blockquote type="cite">All of it</blockquote>', 'All of it'],
]

for (const [client, page, wanted] of PAGES) {
  test(`only the new text of an HTML mail by ${client} remains`, () => assert.equal(htmlText(page), wanted))
}

test('a page that is too complex to parse is read as bare text', () => {
  assert.equal(htmlText(`${'<div>'.repeat(20_000)}deep &amp; down`), 'deep & down')
})
