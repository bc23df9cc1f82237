import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withQuestions } from './question-sections.ts'

const divided = (text: string, headingPath: string[] = ['Help']): [string, string][] =>
  withQuestions([{ headingPath, page: 2, text }]).map((one) => {
    assert.equal(one.page, 2)
    return [one.headingPath.join(' > '), one.text]
  })

test('questions with marked answers are sections of their own, in many languages', () => {
  const cases: [text: string, question: string, answer: string][] = [
    [
      'Q: Do you ship abroad?\nA: To Austria.\n\nQ2. Is it free\nA2. From 50 euros.',
      'Do you ship abroad?',
      'To Austria.',
    ],
    ['**F: Wohin liefern Sie?**\n\n**A:** Nach Österreich.', 'Wohin liefern Sie?', 'Nach Österreich.'],
    ['Frage 3: Wohin liefern Sie\nAntwort: Nach Österreich.', 'Wohin liefern Sie', 'Nach Österreich.'],
    ['P: ¿Envían al extranjero? R: Sí, a Austria.', '¿Envían al extranjero?', 'Sí, a Austria.'],
    ['Вопрос: Куда вы доставляете?\nОтвет: В Австрию.', 'Куда вы доставляете?', 'В Австрию.'],
    ['问：运费是多少？答：十元。', '运费是多少？', '十元。'],
    ['Q. 営業時間は？\nA. 午前10時からです。', '営業時間は？', '午前10時からです。'],
    ['س: هل توصلون إلى عمان؟\nج: نعم، خلال يومين.', 'هل توصلون إلى عمان؟', 'نعم، خلال يومين.'],
  ]
  for (const [text, question, answer] of cases) {
    const [first] = divided(`What people ask.\n\n${text}`).slice(1)
    assert.deepEqual(first, [`Help > ${question}`, answer], text)
  }
  assert.deepEqual(divided('A: It is dry.\n\nAnd warm.', ['Help', 'Q: Is it dry?']), [
    ['Help > Is it dry?', 'It is dry.\n\nAnd warm.'],
  ])
})

test('paragraphs that are questions divide a section if there are several', () => {
  const two = '**Do you ship abroad?**\n\nTo Austria.\n\n- Parcels\n- Letters\n\nIs it free?\nFrom 50 euros.'
  assert.deepEqual(divided(`Before.\n\n${two}`), [
    ['Help', 'Before.'],
    ['Help > Do you ship abroad?', 'To Austria.\n\n- Parcels\n- Letters'],
    ['Help > Is it free?', 'From 50 euros.'],
  ])
  for (const text of [
    'You want more?\n\nWrite to us.',
    'Have you a key?\n\nHave you a car?',
    '- Is it dry?\n\nYes.\n\n- Is it warm?\n\nYes.',
    '```\nIs it?\n\nYes.\n\nIs it?\n\nYes.\n```',
    'A. Lamps are old.\n\nB. Bulbs are new.',
    `${'Is it very long, and longer? '.repeat(9)}\n\nYes.\n\n${'Is it very long, and longer? '.repeat(9)}\n\nYes.`,
    '',
  ])
    assert.deepEqual(divided(text), [['Help', text]])
})

test('among sections whose headings ask, a single question is one, too', () => {
  const sections = [
    { headingPath: ['Is it dry?'], text: 'Yes.' },
    { headingPath: ['Help'], text: 'You want more?\n\nWrite to us.' },
  ]
  assert.deepEqual(
    withQuestions(sections).map(({ headingPath, text }) => [headingPath.join(' > '), text]),
    [
      ['Is it dry?', 'Yes.'],
      ['Help > You want more?', 'Write to us.'],
    ],
  )
})

test('a question has at most 200 characters', () => {
  const asked = (length: number): string => `${'x'.repeat(length - 1)}?`
  assert.deepEqual(divided(`Q: ${asked(200)}\nA: Yes.`), [[`Help > ${asked(200)}`, 'Yes.']])
  assert.equal(divided(`Q: ${asked(201)}\nA: Yes.`)[0]?.[0], 'Help')
})

test('each row of a table of questions and answers is a section, with its other cells', () => {
  assert.deepEqual(
    divided(
      'Number: 1; Question: Is it dry?; Answer: Yes; when waxed.; Group: Boots\nNumber: 2; Question: Is it warm?; Answer: No.',
    ),
    [
      ['Help > Is it dry?', 'Yes; when waxed.\n\nNumber: 1; Group: Boots'],
      ['Help > Is it warm?', 'No.\n\nNumber: 2'],
    ],
  )
  assert.deepEqual(divided('Question: Is it dry?; Boot: Seven\nQuestion: Is it warm?; Boot: Nine'), [
    ['Help > Is it dry?', 'Boot: Seven'],
    ['Help > Is it warm?', 'Boot: Nine'],
  ])
  const table = 'Boot: Seven; Dry: yes\nBoot: Nine; Dry: maybe?'
  assert.deepEqual(divided(table), [['Help', table]])
})

test('long texts, and marks with endless spaces, are divided in time that grows with their length', () => {
  const lines = Array.from({ length: 100_000 }, (_, at) => `Line ${at} is here.`).join('\n\n')
  assert.equal(divided(lines).length, 1)
  for (const text of [`Q${' '.repeat(200_000)}x\nA: b`, `Is it?${' '.repeat(200_000)}A`, '?'.repeat(200_000)])
    assert.equal(divided(text).length, 1)
})

test('letters of ordinary text are no marks, and no question and no answer is lost', () => {
  assert.deepEqual(divided('Q: Is it open?\nA:'), [['Help > Is it open?', 'A:']])
  assert.deepEqual(divided('A. Smith founded it', ['Who founded it?']), [
    ['Who founded it?', 'A. Smith founded it'],
  ])
  assert.deepEqual(divided('A. Allgemeines', ['V. Haftung']), [['V. Haftung', 'A. Allgemeines']])
  const dosage = 'D. Dosage\n\nC. difficile needs more.'
  assert.deepEqual(divided(dosage), [['Help', dosage]])
  assert.deepEqual(divided('Question: Which is first?; Answer: A.\nQuestion: Which is third?; Answer: C)'), [
    ['Help > Which is first?', 'A.'],
    ['Help > Which is third?', 'C)'],
  ])
})

test('in Japanese and Chinese, a paragraph that ends with a particle is a question only if it is one sentence', () => {
  const asked = '予約は必要ですか。\n\nはい、前日までに。\n\n駐車場はありますか。\n\n三台分あります。'
  assert.deepEqual(
    divided(asked).map(([path]) => path),
    ['Help > 予約は必要ですか。', 'Help > 駐車場はありますか。'],
  )
  const prose =
    '創業から30年です。一緒に歩んでいきませんか。\n\n給与は月20万円です。\n\n疲れていませんか。\n\n残業がありません。'
  assert.deepEqual(divided(prose), [['Help', prose]])
})
