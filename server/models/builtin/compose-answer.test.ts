import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { quotablePassage as passage } from '../../../test/quotable-passage.ts'
import type { Language } from '../../text/languages/language.ts'
import { TALK_WORDS } from '../../text/talk/talk-table.ts'
import { loadWordVectors } from '../static/word-vectors.ts'
import { ANSWER_FROM, CLOSEST_FROM, composeAnswer } from './compose-answer.ts'
import type { QuotablePassage } from './input.ts'
import { phrasesFor } from './phrases/phrases.ts'

const words = loadWordVectors()

const LANGUAGES = Object.keys(TALK_WORDS) as Language[]
const TEXTS = [
  'You can cancel at any time under Settings. It takes effect at the end of the month. Ask Dr. Miller, e.g. by phone.',
  'Refunds take five days. The money goes back to your card. Cheques are not accepted.',
  'Sie können monatlich kündigen. Die Frist beträgt drei Tage, z. B. zum Ende des Monats.',
]

test('a likely answer is quoted with its sources in order', () => {
  const answer = composeAnswer(
    {
      question: 'How can I cancel?',
      confidence: 0.9,
      passages: TEXTS.map((text, i) => passage(text, { score: 0.9 - i / 5 })),
    },
    words,
  )
  assert.equal(answer.band, 'answer')
  assert.deepEqual(answer.cited, [0])
  assert.equal(answer.score, 0.9)
  assert.equal(answer.text, `${TEXTS[0]} [1]`)
})

test('one piece is quoted completely: a list with its introduction, code as code, rows with their header', () => {
  const quoted = (question: string, text: string): string =>
    composeAnswer({ question, confidence: 0.9, passages: [passage(text)] }, words).text
  const steps = 'To descale the kettle:\n\n1. Fill it.\n2. Add the powder.\n3. Boil it twice.\n4. Rinse.'
  const other =
    'The kettle comes with a lid, a filter and a cord; keep the box, since it is needed for the guarantee.'
  assert.equal(quoted('How do I descale the kettle?', `${other}\n\n${steps}`), `${steps} [1]`)
  const code = 'Install the client for the service with this command:\n\n```sh\nnpm install client\n```'
  assert.equal(quoted('How do I install the client?', `${code}\n\n${other}`), `${code}\n\n[1]`)
  const pasted = '1. Install the client.\n2. Paste this line:\n\n```html\n<script src="x.js"></script>\n```'
  assert.equal(quoted('How do I install the client?', `${pasted}\n\n${other}`), `${pasted}\n\n[1]`)
  const command = `1. Open the folder of the client.\n2. Run the command\n\n\`\`\`sh\nclient ${'--verbose '.repeat(60)}\n\`\`\``
  assert.equal(quoted('How do I run the client?', `${command}\n\n${other}`), `${command}\n\n[1]`)
  const run = command.slice(command.indexOf('Run'))
  const once = run.replace(
    'Run the command',
    `Go to the folder in which the client has been installed ${'once, '.repeat(6)}and run the command`,
  )
  assert.equal(quoted('How do I run the client?', `${once}\n\n${other}`), `${once}\n\n[1]`)
  const rows =
    'Light: green; Meaning: ready\nLight: red, blinking fast; Meaning: no water\nLight: red; Meaning: hot'
  assert.equal(
    quoted('What does a red light blinking fast mean?', rows),
    'Light: red, blinking fast; Meaning: no water [1]',
  )
  const lead = 'Each letter has a meaning:'
  const barred =
    'Code | Resource | Meaning\nS | File or folder | is shared\nM | File or folder | is mounted\nW | File | can be written'
  assert.equal(
    quoted('What does the code for mounted mean?', `${lead}\n\n${barred}`),
    `${lead}\n\n| Code | Resource | Meaning |\n| - | - | - |\n| M | File or folder | is mounted |\n\n[1]`,
  )
  const terms =
    '*.pcb | The board with everything.\n*.mod | A part of the board.\n*.brd | A board of old versions.'
  assert.equal(
    quoted('Which file has boards of old versions?', `Files of the editor:\n\n${terms}`),
    '*.brd | A board of old versions. [1]',
  )
  assert.match(quoted('What does it come with?', 'npm install client\n```'), /^```\nnpm install client\n```/)
})

test('a question about how to do something is answered with the steps of the section and their code', () => {
  const facts = passage(
    'The chat on your website is small: its script is loaded once, and the website keeps it.',
    {
      headingPath: ['The chat on your website'],
    },
  )
  const steps =
    '1. Paste this line:\n\n```html\n<script src="x.js"></script>\n```\n\n2. Publish it:\n\n```sh\npublish\n```'
  const own = passage(steps, { headingPath: ['The chat on your website'], score: 0.88 })
  const other = passage(steps, { headingPath: ['Elsewhere'], score: 0.88 })
  const answered = (question: string, passages: QuotablePassage[]) =>
    composeAnswer({ question, confidence: 0.9, passages }, words)
  for (const question of [
    'How do I put the chat on my website?',
    'Wie bringe ich den Chat auf meine Website?',
  ]) {
    const { text, cited } = answered(question, [facts, other, own])
    assert.deepEqual(cited, [2], question)
    assert.equal(text, `${steps}\n\n[1]`)
  }
  assert.deepEqual(answered('How do I put the chat on my website?', [facts, other]).cited, [0])
  assert.deepEqual(answered('Is the script of the chat on my website small?', [facts, own]).cited, [0])
})

test('an unlikely answer is offered as the closest passages, in the language of the question', () => {
  const passages = [passage(TEXTS[2]!)]
  const answer = composeAnswer({ question: 'Wie kann ich das kündigen?', confidence: 0.3, passages }, words)
  assert.equal(answer.band, 'closest')
  assert.ok(answer.text.startsWith(phrasesFor('de').closest))
  const { sayPerson } = phrasesFor('de')
  assert.match(answer.text, /Sie können monatlich kündigen\..* \[1\]\n\n/)
  assert.ok(answer.text.endsWith(`\n\n${sayPerson}`))
  // That a person can be asked for is not said where there is none, nor twice in a row.
  for (const more of [{ mayOffer: false }, { before: answer.text }]) {
    const input = { question: 'Wie kann ich das kündigen?', confidence: 0.3, passages, ...more }
    assert.ok(!composeAnswer(input, words).text.includes(sayPerson))
  }
})

test('of the closest passages, the first is quoted with its neighbours, and a third only from the same source', () => {
  const paragraphs = [
    'The garden is open from the first of April until the end of September, from eight in the morning until it is dark.',
    'Bikes are parked behind the house, where there is a roof and a rail; the gate is closed at ten, and opened at six.',
    'Dogs stay outside, where they have water and a bench in the shade, and somebody from the house looks after them.',
  ]
  const text = paragraphs.join('\n\n')
  const headingPath = ['Rules']
  const offered = (sourceId: string): QuotablePassage[] => [
    passage(text, { sourceId: 'a', score: 0.4, headingPath }),
    passage(text.replace('the house,', 'the shed,'), { sourceId: 'b', score: 0.3, headingPath }),
    passage(text.replace('the house,', 'the barn,'), { sourceId, score: 0.3, headingPath }),
  ]
  const ask = (third: string, about?: string) =>
    composeAnswer(
      {
        question: 'Where do I park my bike?',
        confidence: 0.4,
        passages: offered(third),
        about,
        mayOffer: false,
      },
      words,
    )
  const first = `${text} [1]`
  const second = `${paragraphs[1]!.replace('house', 'shed')} [2]`
  const last = `${paragraphs[1]!.replace('house', 'barn')} [3]`
  const body = ({ text: all }: { text: string }): string =>
    all.slice(all.indexOf('\n\n') + 2).replaceAll('**Rules**\n\n', '')
  assert.equal(body(ask('c')), `${first}\n\n${second}`)
  assert.equal(body(ask('a')), `${first}\n\n${second}\n\n${last}`)
  // Two passages that are nearly as likely are both quoted in an answer.
  const likely = offered('a').map((one, place) => ({ ...one, score: 0.88 - place / 10 }))
  const answer = composeAnswer(
    { question: 'Where do I park my bike?', confidence: 0.88, passages: likely },
    words,
  )
  assert.deepEqual([answer.band, answer.text], ['answer', `${first}\n\n${second}`])
  // Without a heading, paragraphs that follow each other may be about anything.
  const alone = passage(text, { score: 0.88 })
  assert.equal(
    composeAnswer({ question: 'Where do I park my bike?', confidence: 0.88, passages: [alone] }, words).text,
    `${paragraphs[1]} [1]`,
  )
  // For a follow-up, the order says little, and all passages are quoted alike.
  assert.equal(ask('c', 'What about bikes?').cited.length, 3)
})

test('with little evidence, it declines and offers a human', () => {
  const passages = TEXTS.map((text) => passage(text))
  const input = { question: 'Who painted the Mona Lisa?', confidence: 0.1, passages }
  assert.deepEqual(composeAnswer(input, words), {
    band: 'decline',
    text: `${phrasesFor('en').decline} ${phrasesFor('en').offer}`,
    cited: [],
    score: 0.1,
  })
  const ofLanguage: [string, string, Language][] = [
    ['Quanto costa Parley?', 'The pool opens at nine and closes at six.', 'it'],
    ['Was kostet Parley?', 'The pool opens at nine and closes at six.', 'de'],
    ['Price?', 'The pool opens at nine and closes at six.', 'en'],
    ['Y a-t-il un sauna ?', 'The pool opens at nine and closes at six.', 'fr'],
    ['Is er een sauna?', 'The pool opens at nine and closes at six.', 'nl'],
    [
      'Vendem café?',
      'Antes de limpar, desligue a máquina da tomada. Não use detergente e deixe secar durante uma hora.',
      'pt',
    ],
  ]
  for (const [question, text, language] of ofLanguage) {
    const declined = composeAnswer({ question, confidence: 0.01, passages: [passage(text)] }, words)
    assert.ok(declined.text.startsWith(phrasesFor(language).decline), question)
  }
  for (const empty of [[], [passage('')], [passage('---\n# Heading')]]) {
    assert.equal(composeAnswer({ question: 'Who?', confidence: 0.9, passages: empty }, words).band, 'decline')
  }
})

test('a stored answer is returned unchanged', () => {
  const stored = passage('We open at nine.\n\nOn Sundays we are closed.', {
    questions: ['Are you open?'],
    score: 1,
  })
  const passages = [passage(TEXTS[0]!), stored]
  const answer = composeAnswer({ question: 'are you OPEN', confidence: 1, passages }, words)
  assert.deepEqual(answer, { band: 'answer', text: `${stored.text} [1]`, cited: [1], score: 1 })
})

test('rows that were asked for are consecutive and form a table with the column names', () => {
  const rows = [
    ['Port 80', 'web', 'open'],
    ['Port 443', 'web', 'open'],
    ['Port 25', 'mail', 'closed | filtered'],
    ['Port 81', 'web', 'open'],
  ]
  const text = rows.map(([port, use, state]) => `Port: ${port}; Use: ${use}; State: ${state}`).join('\n')
  const input = { question: 'Which use is web and state open?', confidence: 0.9 }
  assert.equal(
    composeAnswer({ ...input, passages: [passage(`Ports of the service:\n\n${text}`)] }, words).text,
    'Ports of the service:\n\n| Port | Use | State |\n| - | - | - |\n| Port 80 | web | open |\n| Port 443 | web | open |\n\n[1]',
  )
})

test('a row is chosen by a cell that the question names, and by small words that tell rows apart', () => {
  const rows = [
    'Code: F09; Meaning: Residual current; What to do: restart once',
    'Code: F12; Meaning: Residual current over 30 mA; What to do: as F09; For the technician: as F09',
    'Side: Between two heaters; Clearance: 35 cm',
    'Side: Above the heater; Clearance: 30 cm',
  ]
  const quoted = (question: string, text: string): string =>
    composeAnswer({ question, confidence: 0.9, passages: [passage(text)] }, words).text
  const codes = rows.slice(0, 2).join('\n')
  assert.equal(quoted('What does error code F09 mean and what can I do?', codes), `${rows[0]} [1]`)
  assert.equal(quoted('What does error code F12 mean and what can I do?', codes), `${rows[1]} [1]`)
  const sides = rows.slice(2).join('\n')
  assert.equal(quoted('What is the clearance above the heater?', sides), `${rows[3]} [1]`)
  assert.equal(quoted('What is the clearance between two heaters?', sides), `${rows[2]} [1]`)
})

test('a row is chosen by the words that only it has, in the right one of two tables, and never the names', () => {
  const quoted = (question: string, text: string): string =>
    composeAnswer({ question, confidence: 0.95, passages: [passage(text)] }, words).text
  const stock = [
    'Article: Ash bucket with lid; Price: 34 €; State: in stock',
    'Article: Cold ash vacuum 1200 W; Price: 89 €; State: sold out',
    'Article: Pellet scoop; Price: 12 €; State: in stock',
  ]
  assert.equal(quoted('ash vacuum in stock?', stock.join('\n')), `${stock[1]} [1]`)
  const rooms = [
    'Room: Standard; Low season: 26; High season: 31',
    'Room: The Loft; Low season: 45; High season: 54',
  ]
  const extras = [
    'Room: Daily photo; Low season: 2; High season: 2; Remark: Loft: included',
    'Room: Bed hire; Low season: 3; High season: 3; Remark: per night',
  ]
  const list = `Rates\n\n${rooms.join('\n')}\n\nExtras\n\n${extras.join('\n')}`
  assert.equal(quoted('What does The Loft cost per night in low season?', list), `${rooms[1]} [1]`)
  const barred = 'Uptime of a month | Service days given back | Form\n99 | 3 | A1\nbelow 97 | 30 | A2'
  assert.equal(
    quoted('How many service days are given back for an uptime below 97 in a month?', barred),
    '| Uptime of a month | Service days given back | Form |\n| - | - | - |\n| below 97 | 30 | A2 |\n\n[1]',
  )
})

test('an answer that lacks a number of the question is only offered', () => {
  const ask = (question: string, text: string, more: Partial<QuotablePassage> = {}) =>
    composeAnswer({ question, confidence: 0.95, passages: [passage(text, { score: 0.95, ...more })] }, words)
  const row = 'The mouthpiece 4C for clarinets costs 35 euros.'
  assert.equal(ask('What does the mouthpiece 4C cost?', row).band, 'answer')
  const { band, score } = ask('What does the mouthpiece of the clarinet E13 cost?', row)
  assert.equal(band, 'closest')
  assert.ok(score < ANSWER_FROM)
  // The number may be in the heading or in the name of the document.
  assert.equal(
    ask('What does the clarinet E13 weigh?', 'It weighs 800 g.', { headingPath: ['E13'] }).band,
    'answer',
  )
  assert.equal(
    ask('What were the fees in 2024?', 'They were 3 %.', { sourceName: 'fees-2024.pdf' }).band,
    'answer',
  )
})

test('a small table is offered whole unless the question names one of its rows', () => {
  const rows = ['Card: Debit; Fee: 1.5 %', 'Card: Business; Fee: 2.6 %', 'Card: American Express; Fee: 2.7 %']
  const offered = (question: string): string =>
    composeAnswer({ question, confidence: 0.4, passages: [passage(rows.join('\n'))], mayOffer: false }, words)
      .text
  assert.ok(
    offered('And what is the fee for Amex?').endsWith(
      '| Card | Fee |\n| - | - |\n| Debit | 1.5 % |\n| Business | 2.6 % |\n| American Express | 2.7 % |\n\n[1]',
    ),
  )
  assert.ok(offered('What is the fee for debit?').endsWith('\n\nCard: Debit; Fee: 1.5 % [1]'))
})

test('a small table whose first row fits best is quoted whole, because the row may be the column names', () => {
  const text =
    'Notice before the day | Refund of the price\nmore than 30 days | all of it\n8 to 14 days | a half'
  const question = 'What is the refund of the price for a notice ten days before the day?'
  const answer = composeAnswer({ question, confidence: 0.95, passages: [passage(text)] }, words)
  assert.equal(answer.text, `${text} [1]`)
})

test('a product that is called like a word of another language does not change the language', () => {
  const passages = [
    passage('The Tej 5K inverter is sold with the Deepak Plus loan, which takes 12 months to pay back.'),
  ]
  for (const question of ['tej 5k rust', 'deepak plus emi']) {
    const { text } = composeAnswer({ question, confidence: 0.01, passages }, words)
    assert.ok(text.startsWith(phrasesFor('en').decline), question)
  }
})

test('the paragraph with the value that is asked for is quoted, whatever words it has', () => {
  const english = [
    'Day passes cost 18 euros at the desk. A fixed desk is 229 a month with coffee and internet.',
    'Members come in around the clock with a key card. Who has a day pass comes from 8 am to 8 pm on weekdays.',
    'The small room is booked in the app, for 24 hours at most, and seats four people at one table.',
    'A broken key card is replaced within three working days, and nobody is locked out until then.',
  ]
  const german = [
    'Die Tageskarte gibt es am Empfang oder online; wer sie verliert, bekommt am selben Tag keine neue.',
    'Eine Tageskarte kostet 18 Euro, mit Kaffee und Internet, und ein fester Platz 229 Euro im Monat.',
  ]
  const cases: [question: string, texts: string[], at: number][] = [
    ['How much is a day pass?', english, 0],
    ['opening hours on saturday', english, 1],
    ['How long does it take to replace a key card?', english, 3],
    ['Preis der Tageskarte', german, 1],
  ]
  for (const [question, texts, at] of cases) {
    const passages = [passage(texts.join('\n\n'))]
    assert.equal(
      composeAnswer({ question, confidence: 0.9, passages }, words).text,
      `${texts[at]} [1]`,
      question,
    )
  }
})

test('a list of terms, and definitions under several names, are not tables', () => {
  const list = 'The shop is:\n\n— open : it has no door.\n— free : it has no till, and nobody asks.'
  const named = '-q: Quiet.\n-v: Writes more.\n-x: Stops at once.'
  for (const text of [list, named]) {
    const { text: quoted } = composeAnswer(
      { question: 'Is the shop open and free?', confidence: 0.9, passages: [passage(text)] },
      words,
    )
    assert.ok(!quoted.includes('|'), quoted)
  }
})

const LINE = fc
  .array(fc.constantFrom('cancel', 'money', 'card', 'Frist', 'phone', 'lid', 'now'), {
    minLength: 1,
    maxLength: 24,
  })
  .map((list) => list.join(' '))
const linesOf = (mark: (line: string, at: number) => string) =>
  fc.array(LINE, { minLength: 1, maxLength: 4 }).map((lines) => lines.map(mark).join('\n'))
const BLOCK = fc.oneof(
  LINE.map((line) => `${line}.`),
  LINE.map((line) => `${line}:`),
  linesOf((line) => `- ${line}`),
  linesOf((line, at) => `${at + 1}. ${line}`),
  linesOf((line) => `Name: ${line}; Value: ${line.length}`),
  LINE.map((line) => `\`\`\`\n${line}\n  ${line}\n\`\`\``),
  fc.constantFrom('---', '## Card', '.'),
)

test('a quote is one run of lines of its source; a table keeps its introduction and column names', () => {
  const bare = (text: string): string => text.replace(/[\s|;]|```/g, '')
  fc.assert(
    fc.property(
      LINE,
      fc.array(BLOCK, { maxLength: 8 }),
      fc.constantFrom(0.3, 0.9),
      (question, blocks, confidence) => {
        const text = blocks.join('\n\n')
        const answer = composeAnswer(
          { question, confidence, passages: [passage(text, { score: confidence })], mayOffer: false },
          words,
        )
        if (answer.cited.length === 0) return
        const body = answer.band === 'closest' ? answer.text.slice(answer.text.indexOf('\n\n')) : answer.text
        const quote = body.replace(/\s*\[1\]$/, '').replaceAll('| Name | Value |\n| - | - |\n', '')
        const isIn = (part: string): boolean =>
          bare(text)
            .replace(/Name:|Value:/g, '')
            .includes(bare(part).replace(/Name:|Value:/g, ''))
        // A run of rows may follow the lead of their table, whose other rows are left out.
        const [lead, rows] = quote.trim().split('\n\n')
        const hasLead = rows !== undefined && text.includes(`${lead}\n\nName: `)
        assert.ok(isIn(quote) || (hasLead && isIn(rows)), answer.text)
      },
    ),
  )
})

test('from a paragraph without spaces, the sentence that answers is quoted', () => {
  const japanese =
    '当店の営業時間は午前10時から午後7時までです。商品の返品は購入日から30日以内に受け付けます。送料は全国一律500円で、5000円以上のご注文は無料です。保証期間は購入日から2年間です。お支払いはクレジットカードをご利用いただけます。'
  const chinese =
    '本店营业时间为上午十点到晚上七点。商品自购买之日起三十天内可以退货。运费全国统一为十元，满一百元免运费。保修期为购买之日起两年。'
  const cases: [question: string, text: string, sentence: number][] = [
    ['何時まで営業していますか？', japanese, 0],
    ['返品は何日以内にできますか？', japanese, 1],
    ['送料はいくらですか？', japanese, 2],
    ['保証期間はどのくらいですか？', japanese, 3],
    ['クレジットカードは使えますか？', japanese, 4],
    ['运费是多少？', chinese, 2],
    ['可以退货吗？', chinese, 1],
  ]
  for (const [question, text, sentence] of cases) {
    const answer = composeAnswer({ question, confidence: 0.9, passages: [passage(text)] }, words)
    assert.equal(answer.text, `${text.split('。')[sentence]}。 [1]`, question)
  }
  const both = composeAnswer(
    { question: '返品と送料について', confidence: 0.9, passages: [passage(japanese)] },
    words,
  )
  assert.match(both.text, /^商品の返品.*無料です。 \[1\]$/)
  const none = composeAnswer(
    { question: '駐車場はありますか？', confidence: 0.9, passages: [passage(japanese)] },
    words,
  )
  assert.equal(none.text, `${japanese} [1]`)
})

test('an answer consists of passages and fixed phrases only', () => {
  const word = fc.constantFrom(
    'cancel',
    'money',
    'card',
    'kündigen',
    'Frist',
    'how',
    'xyz',
    'Settings',
    'phone',
    'the',
  )
  const anything = fc.oneof(
    fc.array(word, { maxLength: 8 }).map((list) => list.join(' ')),
    fc.string(),
  )
  const text = fc.oneof(fc.constantFrom(...TEXTS), fc.string({ unit: 'grapheme', maxLength: 200 }))
  const passages = fc.array(fc.tuple(text, fc.double({ min: 0, max: 1, noNaN: true })), { maxLength: 4 })
  fc.assert(
    fc.property(
      anything,
      passages,
      fc.double({ min: 0, max: 1, noNaN: true }),
      (question, given, confidence) => {
        const offered = given.map(([one, score]) => passage(one, { score }))
        const answer = composeAnswer({ question, confidence, passages: offered }, words)
        const phrases = LANGUAGES.flatMap((language) => Object.values(phrasesFor(language)))
        let left = answer.text
        for (const phrase of phrases) left = left.replace(phrase, '')
        const source = offered
          .map((one) => one.text)
          .join(' ')
          .replace(/\s+/g, '')
        for (const sentence of left.split(/(?<=[.!?。])\s+|\n+/)) {
          const said = sentence.replace(/^- [“„]|[“”]? \[\d\]$/g, '').replace(/\s+|\[\d\]$/g, '')
          assert.ok(source.includes(said), `"${sentence}" is not in the passages`)
        }
        answer.cited.forEach((passageIndex, i) => {
          assert.ok(offered[passageIndex] && answer.text.includes(`[${i + 1}]`))
        })
        if (confidence < CLOSEST_FROM) assert.ok(answer.cited.length === 0)
        if (answer.band === 'answer') assert.ok(confidence >= ANSWER_FROM)
      },
    ),
    // A word in Devanagari makes the decline a Hindi one.
    { examples: [['', [['क़', 0]], 0]] },
  )
})

test('a number that stands only in the heading is quoted with it', () => {
  const text = 'Tout le ramonage simple, plus le nettoyage complet du poêle et de la vitre.'
  const answer = (heading: string) =>
    composeAnswer(
      {
        question: 'Quel est le prix du ramonage du poêle ?',
        confidence: 0.95,
        passages: [passage(text, { headingPath: ['Forfaits', heading] })],
      },
      words,
    ).text
  assert.equal(answer('Ramonage du poêle – 165 € TTC'), `**Ramonage du poêle – 165 € TTC**\n\n${text} [1]`)
  assert.equal(answer('3.2 Ramonage du poêle'), `${text} [1]`)
})
