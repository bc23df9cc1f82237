import assert from 'node:assert/strict'
import { test } from 'node:test'
import iconv from 'iconv-lite'
import { readMail } from './read-mail.ts'

const HEAD =
  'From: Ann <ann@example.com>\r\nTo: Shop <support@shop.example>\r\nSubject: Re: Kettle\r\nMIME-Version: 1.0\r\n'
const REPLY = `${HEAD}In-Reply-To: <1@shop.example>\r\n`
const read = (raw: string | Buffer) => readMail(Buffer.from(raw as string))
const plain = (text: string) => `${REPLY}Content-Type: text/plain; charset=utf-8\r\n\r\n${text}`
const html = (text: string) => `${REPLY}Content-Type: text/html; charset=utf-8\r\n\r\n${text}`
const block = (names: string[], date: string) =>
  [
    `${names[0]}: Shop <support@shop.example>`,
    `${names[1]}: ${date}`,
    `${names[2]}: Ann`,
    `${names[3]}: Re: Kettle`,
  ].join('\n')

/** Replies as the named programs write them; everything but "How long?" is quoted. */
const REPLIES: [string, string][] = [
  [
    'Outlook in Danish',
    plain(`How long?\n\n${block(['Fra', 'Sendt', 'Til', 'Emne'], '27. november 2026 12:00')}\n\nOLD`),
  ],
  [
    'Outlook in Dutch',
    plain(
      `How long?\n\n${block(['Van', 'Verzonden', 'Aan', 'Onderwerp'], 'vrijdag 27 november 2026 12:00')}\n\nOLD`,
    ),
  ],
  [
    'Outlook in Finnish, below a line',
    plain(
      `How long?\n\n-----Alkuperäinen viesti-----\n${block(['Lähettäjä', 'Lähetetty', 'Vastaanottaja', 'Aihe'], 'perjantai 27. marraskuuta 2026 12.00')}\n\nOLD`,
    ),
  ],
  [
    'Outlook in Russian',
    plain(`How long?\n\n${block(['От', 'Отправлено', 'Кому', 'Тема'], '27 ноября 2026 г. 12:00')}\n\nOLD`),
  ],
  [
    'Outlook in Japanese',
    plain(`How long?\n\n${block(['差出人', '送信日時', '宛先', '件名'], '2026年11月27日 12:00')}\n\nOLD`),
  ],
  [
    'Gmail in Japanese',
    plain('How long?\n\n2026年11月27日(金) 12:00 Shop <support@shop.example>:\n\n> OLD\n> OLD'),
  ],
  [
    'Gmail in Polish',
    plain('How long?\n\npt., 27 lis 2026 o 12:00 Shop <support@shop.example> napisał(a):\n\n> OLD'),
  ],
  [
    'Gmail in Korean, folded',
    plain('How long?\n\n2026년 11월 27일 (금) 오후 12:00, Shop <\nsupport@shop.example>님이 작성:\n\n> OLD'),
  ],
  [
    'Gmail in Arabic',
    plain(
      'How long?\n\nفي الجمعة، 27 نوفمبر 2026 في 12:00 م تمت كتابة ما يلي بواسطة Shop <support@shop.example>:\n\n> OLD',
    ),
  ],
  [
    'a phone in Turkish that marks nothing',
    plain(
      'How long?\n\nShop <support@shop.example>, 27 Kas 2026 Cum, 12:00 tarihinde şunu yazdı:\n\nOLD words',
    ),
  ],
  [
    'GMX',
    html(
      '<div><div>How long?</div><div>&nbsp;</div><div><div name="quote"><div><b>Gesendet:</b> Freitag, 27. November 2026 um 12:00 Uhr<br/><b>Von:</b> Shop</div><div name="quoted-content">OLD</div></div></div></div>',
    ),
  ],
  [
    'a plain blockquote below a line that says whose it is',
    html('<p>How long?</p><p>Den 27.11.2026 kl. 12:00 skrev Shop:</p><blockquote><p>OLD</p></blockquote>'),
  ],
  [
    'Roundcube',
    html(
      '<p>How long?</p><p id="reply-intro">Pe 27.11.2026 12:00, Shop a scris:</p><blockquote type="cite">OLD</blockquote>',
    ),
  ],
  [
    'a container of another program',
    html(
      '<p>How long?</p><div class="mail-quote-collapse"><div>27 ноября 2026 г., 12:00, Shop:</div><div>OLD</div></div>',
    ),
  ],
  [
    'Outlook in Danish, HTML',
    html(
      `<p>How long?</p><div style="border-top:solid #E1E1E1 1.0pt"><p>${block(['<b>Fra:</b> Shop &lt;support@shop.example&gt;<br><b>Fra', 'Sendt', 'Til', 'Emne'], '27. november 2026 12:00').replaceAll('\n', '<br>')}</p></div><p>OLD</p>`,
    ),
  ],
]
for (const [what, raw] of REPLIES) {
  test(`what ${what} quotes is left out`, async () => {
    assert.equal((await read(raw)).text, 'How long?')
  })
}

const KEPT: [string, string, RegExp][] = [
  [
    'details that a customer lists',
    plain('Here they are:\n\nName: Ann\nEmail: ann@example.com\nOrdered: 12.03.2026 10:00\n\nHow long?'),
    /How long\?/,
  ],
  [
    'a blockquote that the customer has made',
    html('<p>Your terms say</p><blockquote>two years</blockquote><p>Is it so?</p>'),
    /two years/,
  ],
  [
    'a form in a mail that answers nothing',
    `${HEAD}Content-Type: text/plain\r\n\r\nNew request\n\nFrom: Ann <ann@example.com>\nDate: 27.11.2026 12:00\nSubject: Kettle\nMessage: How long?`,
    /How long\?/,
  ],
  [
    'a line directly above one that says who wrote and when',
    plain(
      'I will look again soon.\nOp vr 27 nov. 2026 12:00 schreef "Shop" <support@shop.example> het\nvolgende:\n\n> OLD',
    ),
    /^I will look again soon\.$/,
  ],
  [
    'a message of a device',
    plain('On the display it wrote:\n\nE42\n\nHow long does it last?'),
    /E42\n\nHow long/,
  ],
  [
    'an order below a title',
    plain('Mine is\n\n----- Order -----\nNumber: 4711\nDate: 27.11.2026 12:00\nColour: red\n\nHow long?'),
    /red\n\nHow long\?/,
  ],
  [
    'an angle in a mail that answers nothing',
    `${HEAD}Content-Type: text/plain\r\n\r\nI chose\n> Settings > Account\nand it stopped.`,
    /> Settings > Account/,
  ],
  [
    'a sentence with a time',
    plain('I ordered on 27.11.2026 12:00 these things:\n- a kettle\nHow long?'),
    /these things:\n- a kettle/,
  ],
]
for (const [what, raw, wanted] of KEPT) {
  test(`${what} is no quotation`, async () => assert.match((await read(raw)).text, wanted))
}

const related = (disposition: string) =>
  `${HEAD}Content-Type: multipart/related; boundary=r\r\n\r\n--r\r\nContent-Type: multipart/alternative; boundary=a\r\n\r\n--a\r\nContent-Type: text/plain\r\n\r\nDo you ship?\r\n[cid:image001.png@01DC]\r\n--a\r\nContent-Type: text/html\r\n\r\n<p>Do you ship?</p><img src="cid:image001.png@01DC">\r\n--a--\r\n--r\r\nContent-Type: image/png; name=image001.png\r\n${disposition}Content-ID: <image001.png@01DC>\r\n\r\nx\r\n--r--\r\n`

test('a picture of the HTML and a signature are parts of the mail, an attached file is not', async () => {
  for (const disposition of ['', 'Content-Disposition: inline; filename=image001.png\r\n']) {
    const mail = await read(related(disposition))
    assert.equal(mail.text, 'Do you ship?')
    assert.deepEqual(
      mail.files.map(({ name, isPartOfMail }) => [name, isPartOfMail]),
      [['image001.png', true]],
    )
  }
  const signed = await read(
    `${HEAD}Content-Type: multipart/signed; boundary=s\r\n\r\n--s\r\nContent-Type: text/plain\r\n\r\nHi\r\n--s\r\nContent-Type: application/pgp-signature; name=signature.asc\r\n\r\nx\r\n--s\r\nContent-Type: image/jpeg; name=a.jpg\r\n\r\nx\r\n--s--\r\n`,
  )
  assert.deepEqual(
    signed.files.map(({ isPartOfMail }) => isPartOfMail ?? false),
    [true, false],
  )
})

const body = (type: string, text: string) => `${HEAD}Content-Type: ${type}\r\n\r\n${text}`
const multi = (type: string, ...parts: string[]) =>
  body(`${type}; boundary=x`, `${parts.map((part) => `--x\r\n${part}\r\n`).join('')}--x--\r\n`)

test('mails without words and mails that cannot be read are recognised', async () => {
  const cases: [string, string | null, boolean][] = [
    [body('image/jpeg; name=IMG_1.jpg', 'x'), null, false],
    [body('text/plain', 'Sent from my iPhone'), null, false],
    [body('text/plain', '👍'), null, true],
    [body('application/pkcs7-mime; smime-type=enveloped-data; name=smime.p7m', 'x'), 'encrypted', false],
    [
      multi(
        'multipart/encrypted; protocol="application/pgp-encrypted"',
        'Content-Type: application/pgp-encrypted\r\n\r\nVersion: 1',
        'Content-Type: application/octet-stream\r\n\r\nx',
      ),
      'encrypted',
      false,
    ],
    [body('text/plain', '-----BEGIN PGP MESSAGE-----\n\nabc\n-----END PGP MESSAGE-----'), 'encrypted', true],
    [
      `${HEAD}Content-Type: multipart/mixed; boundary=right\r\n\r\n--wrong\r\nContent-Type: text/plain\r\n\r\nHow long?\r\n--wrong--\r\n`,
      'unreadable',
      false,
    ],
    [body('text/plain', 'How long?'), null, true],
  ]
  for (const [raw, unread, hasWords] of cases) {
    const mail = await read(raw)
    assert.deepEqual([mail.unread, mail.hasWords], [unread, hasWords], raw)
  }
})

test('answers of a calendar are automatic, an invitation is not; both files have names', async () => {
  for (const [method, isAutomatic] of [
    ['REPLY', true],
    ['COUNTER', true],
    ['CANCEL', true],
    ['REQUEST', false],
  ] as const) {
    const mail = await read(
      multi(
        'multipart/alternative',
        'Content-Type: text/plain\r\n\r\nx',
        `Content-Type: text/calendar; method=${method}\r\n\r\nBEGIN:VCALENDAR`,
      ),
    )
    assert.deepEqual([mail.automatic, mail.files[0]?.name], [isAutomatic, 'invitation.ics'], method)
  }
})

test('a plain version that only points to the HTML is not the text', async () => {
  const mail = await read(
    multi(
      'multipart/alternative',
      'Content-Type: text/plain\r\n\r\nYour program cannot display this message.',
      'Content-Type: text/html\r\n\r\n<p>How long is the warranty?</p>',
    ),
  )
  assert.equal(mail.text, 'How long is the warranty?')
})

/** The text in the charset as bytes. */
const CHARSETS: [string, string, Buffer][] = [
  [
    'no charset, windows-1252',
    '',
    Buffer.from('Gr\xfc\xdfe aus K\xf6ln, wie lange gilt die Garantie?', 'latin1'),
  ],
  [
    'an unknown charset, UTF-8',
    '; charset=unknown-8bit',
    Buffer.from('Grüße aus Köln, wie lange gilt die Garantie?'),
  ],
  [
    'iso-8859-1, but UTF-8',
    '; charset=iso-8859-1',
    Buffer.from('Grüße aus Köln, wie lange gilt die Garantie?'),
  ],
  [
    'utf-8, but windows-1252',
    '; charset="utf-8"',
    Buffer.from('Gr\xfc\xdfe aus K\xf6ln, wie lange gilt die Garantie?', 'latin1'),
  ],
]
for (const [what, charset, bytes] of CHARSETS) {
  test(`text is readable with ${what}`, async () => {
    const raw = Buffer.concat([
      Buffer.from(`${HEAD}Content-Type: text/plain${charset}\r\nContent-Transfer-Encoding: 8bit\r\n\r\n`),
      bytes,
    ])
    assert.equal((await read(raw)).text, 'Grüße aus Köln, wie lange gilt die Garantie?')
    const qp = [...bytes]
      .map((byte) => (byte > 127 ? `=${byte.toString(16).toUpperCase()}` : String.fromCharCode(byte)))
      .join('')
    const encoded = `${HEAD}Content-Type: text/plain${charset}\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n${qp}`
    assert.equal((await read(encoded)).text, 'Grüße aus Köln, wie lange gilt die Garantie?')
  })
}

test('Cyrillic and Japanese without a charset are guessed, and so is a subject in raw bytes', async () => {
  const russian = [...'Сколько длится гарантия на чайник?'].map((letter) => {
    const code = letter.codePointAt(0) ?? 0
    return code < 128 ? code : code - 0x410 + 0xc0
  })
  assert.equal(
    (await read(Buffer.concat([Buffer.from(`${HEAD}\r\n`), Buffer.from(russian)]))).text,
    'Сколько длится гарантия на чайник?',
  )
  const japanese = Buffer.from('95db8fd88afa8ad482cd82c782cc82ad82e782a282c582b782a98148', 'hex')
  assert.equal(
    (await read(Buffer.concat([Buffer.from(`${HEAD}\r\n`), japanese]))).text,
    '保証期間はどのくらいですか?'.replace('?', '？'),
  )
  const subject = Buffer.from('From: ann@example.com\r\nSubject: Gr\xfc\xdfe aus K\xf6ln\r\n\r\nx', 'latin1')
  assert.equal((await read(subject)).subject, 'Grüße aus Köln')
})

const RUSSIAN = 'Сколько длится гарантия на чайник?'
const CHINESE = '这个水壶的保修期有多长？请告诉我。'
const CZECH = 'Jak dlouhá je záruka na žlutý čajník?'
/** The declared charset, the real one, and the text. */
const DECLARED: [string, string, string][] = [
  ['gb2312', 'utf-8', CHINESE],
  ['gb2312', 'gbk', CHINESE],
  ['gb2312', 'gbk', '一'],
  ['big5', 'utf-8', CHINESE],
  ['cp936', 'gbk', CHINESE],
  ['iso-2022-jp', 'utf-8', '保証期間はどのくらいですか？'],
  ['iso-8859-2', 'utf-8', CZECH],
  ['iso-8859-2', 'iso-8859-2', CZECH],
  ['koi8-r', 'koi8-r', RUSSIAN],
  ['iso-8859-1', 'windows-1251', RUSSIAN],
  ['us-ascii', 'windows-1251', RUSSIAN],
  ['utf-8', 'windows-1251', RUSSIAN],
  ['cp850', 'cp850', 'Grüße aus Köln, wie lange gilt die Garantie?'],
]
for (const [declared, real, text] of DECLARED) {
  test(`${real} that is declared as ${declared} is readable: ${text}`, async () => {
    const head = (type: string) =>
      Buffer.from(
        `Content-Type: text/${type}; charset=${declared}\r\nContent-Transfer-Encoding: base64\r\n\r\n`,
      )
    const encoded = (words: string) => Buffer.from(iconv.encode(words, real).toString('base64'))
    const start = Buffer.from(HEAD)
    assert.equal((await read(Buffer.concat([start, head('plain'), encoded(text)]))).text, text)
    assert.equal((await read(Buffer.concat([start, head('html'), encoded(`<p>${text}</p>`)]))).text, text)
  })
}

test('a mail that is attached stays as it is, whatever charset its texts declare', async () => {
  const inner = 'Subject: Old\r\nContent-Type: text/plain; charset=iso-8859-1\r\n\r\nGr\xfc\xdfe'
  const parts = [
    'Content-Type: text/plain; charset=iso-8859-1\r\n\r\nSch\xf6ne Gr\xfc\xdfe',
    `Content-Type: message/rfc822\r\n\r\n${inner}`,
  ].map((part) => `--b\r\n${part}\r\n`)
  const raw = `${HEAD}Content-Type: multipart/mixed; boundary=b\r\n\r\n${parts.join('')}--b--\r\n`
  const { text, files } = await read(Buffer.from(raw, 'latin1'))
  assert.equal(text, 'Schöne Grüße')
  assert.match(
    Buffer.from(files[0]?.bytes ?? []).toString('latin1'),
    /charset=iso-8859-1\r?\n\r?\nGr\xfc\xdfe/,
  )
})

test('a text with a damaged character stays in the charset that it declares', async () => {
  const bytes = Buffer.concat([Buffer.from('Сколько длится гарантия'), Buffer.of(0xaa)])
  const head = `${HEAD}Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n`
  assert.match((await read(head + bytes.toString('base64'))).text, /^Сколько длится гарантия/)
})

test('what is written into the line above a quotation, or between quotations, is the answer', async () => {
  const thunderbird = html(
    '<div class="moz-cite-prefix">Do you ship to Austria?</div><div class="moz-cite-prefix">On 27.11.26 12:00, Shop wrote:<br></div><blockquote type="cite">Old words</blockquote>',
  )
  assert.equal((await read(thunderbird)).text, 'Do you ship to Austria?')
  const gmail = html(
    '<div>See below.</div><div class="gmail_quote gmail_quote_container"><div dir="ltr" class="gmail_attr">On Fri, 27 Nov 2026 at 12:00, Shop wrote:</div><blockquote class="gmail_quote">Which lamp?</blockquote><div>The blue one.</div><blockquote class="gmail_quote">Which size?</blockquote><div>Small.</div></div>',
  )
  assert.equal((await read(gmail)).text, 'See below.\nThe blue one.\nSmall.')
})

test('a word that stands in place of the text is none', async () => {
  const parts = [
    'Content-Type: text/plain\r\n\r\ntest',
    'Content-Type: text/html\r\n\r\n<p>How long is the warranty?</p>',
  ]
  assert.equal((await read(multi('multipart/alternative', ...parts))).text, 'How long is the warranty?')
})

test('a subject and a name in UTF-8 that are declared as something else are readable', async () => {
  const { subject, from } = await read(
    'From: =?iso-8859-1?Q?J=C3=B6rg?= <j@example.com>\r\nSubject: =?windows-1252?B?R3LDvMOfZQ==?=\r\n\r\nx',
  )
  assert.deepEqual([subject, from?.name], ['Grüße', 'Jörg'])
})

test('a subject without anything after it is all that there is', async () => {
  const mail = await read('From: ann@example.com\r\nSubject: How long is the warranty?')
  assert.deepEqual([mail.unread, mail.subject, mail.files], [null, 'How long is the warranty?', []])
})

test('ids without angle brackets are ids, and the newest server tells the time', async () => {
  const mail = await read(
    `${HEAD}In-Reply-To: 1@shop.example\r\nReferences: 0@shop.example, <1@shop.example>\r\nReceived: from a by b; Mon, 06 Mar 2023 11:00:00 +0000\r\nReceived: from c by a; Mon, 06 Mar 2023 10:59:00 +0000\r\n\r\nx`,
  )
  assert.deepEqual(
    [mail.inReplyTo, mail.answers],
    ['<1@shop.example>', ['<1@shop.example>', '<0@shop.example>']],
  )
  assert.equal(mail.passedOnAt?.toISOString(), '2023-03-06T11:00:00.000Z')
})
