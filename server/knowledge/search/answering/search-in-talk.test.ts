import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadWordVectors } from '../../../models/static/word-vectors.ts'
import { createStemmer } from '../../../text/languages/stem.ts'
import { searchTables } from '../search-tables.ts'
import { showChunks } from '../tables/drop-chunks.ts'
import { createTables } from '../tables/tables.ts'
import { writeChunk } from '../tables/write-chunks.ts'
import { refersBack, type Search, searchInTalk } from './search-in-talk.ts'

const SECTIONS: [string[], string][] = [
  [['Minetest'], 'Minetest is a game in which people build worlds of blocks together.'],
  [['Minetest', 'Ports'], 'Redirect UDP port 30000 of the router to the machine on which Minetest runs.'],
  [['What is Mumble for?'], 'Mumble is for talking: people meet in rooms and hear each other.'],
  [['Accounts of the forum'], 'People join with an address.'],
  [['Mumble', 'Ports'], 'Redirect TCP and UDP port 64738 of the router to the machine on which Mumble runs.'],
]
const MANUAL_OF_SERVERS: [string[], string][] = [
  [['Backups', 'On a disk'], 'To make a backup, connect the disk and press Save. The key is F2.'],
  [['Backups', 'On a server'], 'Name the machine in the settings. It needs an account.'],
  [['The web server'], 'The web server is Apache. Make room on the disk before you restart the server.'],
  [['The mail server'], 'The mail server is Postfix. The server puts mail on a disk of its own.'],
  [['The time server'], 'The time server asks another server for the time.'],
  [['Choose a disk'], 'A disk for a backup is twice as large as the disk of the server.'],
]

const LIMIT = 8
const words = loadWordVectors()

function searchIn(sections: [string[], string][]): Search {
  const tables = createTables(words)
  const stem = createStemmer()
  const chunks = sections.map(([headingPath, text], i) => ({
    ...{ id: String(i), sourceId: 'manual', sourceName: 'Manual', url: null, page: null },
    ...{ headingPath, text },
  }))
  showChunks(
    tables,
    chunks.map((chunk) => writeChunk(tables, chunk, stem)),
  )
  return async (question, limit) => searchTables(tables, question, { limit })
}
const search = searchIn(SECTIONS)

test('a message that begins with "and" continues the previous question, however well a passage fits it alone', async () => {
  const before = 'Which ports do I have to redirect for Minetest?'
  const question = 'And what is Mumble for?'
  assert.ok((await search(question, LIMIT)).confidence > 0.9)
  const { found } = await searchInTalk(search, question, before, LIMIT)
  assert.ok(found.confidence <= 0.5)
  const { found: ports } = await searchInTalk(search, 'And for Mumble?', before, LIMIT)
  assert.match(ports.passages[0]!.text, /64738/)
})

test('a follow-up whose words are all in the passage with the earlier answer is answered from there', async () => {
  const rows = (list: string[][]): string =>
    list.map(([country, price]) => `Country: ${country}; Standard: ${price} €; Days: 4`).join('\n')
  const shop = searchIn([
    [
      ['Shipping costs'],
      rows([
        ['Germany', '4.90'],
        ['Austria', '7.90'],
        ['Switzerland', '12.90'],
      ]),
    ],
    [['Returns'], 'Returns from Switzerland are paid by the customer.'],
    ...SECTIONS,
  ])
  const before = 'How much is standard shipping to Austria?'
  const { found } = await searchInTalk(shop, 'And to Switzerland?', before, LIMIT)
  assert.equal(found.passages[0]!.headingPath[0], 'Shipping costs')
  assert.ok(found.confidence >= 0.85 && found.passages[1]!.score <= 0.15)
  const { found: none } = await searchInTalk(shop, 'And to Norway?', before, LIMIT)
  assert.ok(none.confidence <= 0.5)
})

test('a complete question is answered by itself', async () => {
  const { asked } = await searchInTalk(search, 'What is Mumble for?', 'Which ports are for Minetest?', LIMIT)
  assert.equal(asked, 'What is Mumble for?')
})

test('a question with a single word that is not a subject refers to the previous question', async () => {
  const before = 'What is Mumble for?'
  const { confidence } = await search('Who can join?', LIMIT)
  assert.ok(confidence >= 0.75 && confidence < 0.99, String(confidence))
  assert.equal((await searchInTalk(search, 'Who can join?', before, LIMIT)).asked, `${before} Who can join?`)
})

test('a question about something else is declined after any other question', async () => {
  for (const question of [
    'How do I prune a rose bush in spring?',
    'Who wrote Hamlet?',
    'Is there a train to Kiel?',
  ]) {
    const { asked, found } = await searchInTalk(search, question, 'Which ports are for Minetest?', LIMIT)
    assert.equal(asked, question)
    assert.ok(found.confidence < 0.15, `${question} ${found.confidence}`)
    assert.deepEqual(found, await search(question, LIMIT))
  }
})

test('a follow-up with a new word finds it near the answer to the question before', async () => {
  const before = 'How do I make a backup on a disk?'
  const { found } = await searchInTalk(searchIn(MANUAL_OF_SERVERS), 'And on a server?', before, LIMIT)
  const headings = found.passages.slice(0, 2).map(({ headingPath }) => headingPath.join(' / '))
  assert.ok(headings.includes('Backups / On a server'), String(headings))
})

test('a question refers back if it continues, points back or has too few words of its own', () => {
  const pairs: [earlier: string, question: string][] = [
    ['How do I add a title?', 'Why?'],
    ['Wie lösche ich ein Konto?', 'Wie lange dauert das?'],
    ['Comment supprimer un tableau ?', 'Et seulement son contenu ?'],
    ['¿Qué espacio necesita Plasma?', '¿Y LXDE?'],
    ['Come si importa un progetto da Eagle?', 'E da CADSTAR?'],
    ['Hoe verwijder ik een tabel?', 'Kan dat ook anders?'],
    ['Como ajusto o gradiente de um objeto?', 'E a transparência?'],
    ['كم مدة حفظ التقارير المخبرية؟', 'والفواتير؟'],
    ['كم ساعة أصوم لفحص الإنسولين؟', 'وللحديد والمخزون؟'],
    ['كم رسوم السحب المنزلي داخل عمّان؟', 'ومتى تصير مجانية؟'],
  ]
  for (const [earlier, question] of pairs) assert.ok(refersBack(question, earlier), question)
  const complete: typeof pairs = [
    ['How do I add a title?', 'Is there an app for the new iPad?'],
    ['Wie lösche ich ein Konto?', 'Wie wird das Wetter am Wochenende in Hamburg?'],
    ['Comment supprimer un tableau ?', 'Puis-je changer de stable pour testing ?'],
    ['Como ajusto o gradiente de um objeto?', 'O que é a barra de status do documento?'],
    ['Hoe verwijder ik een tabel?', 'draaitabel vernieuwen'],
    ['كم مدة حفظ التقارير المخبرية؟', 'وصفة الطبيب إلزامية لفحص المخدرات؟'],
  ]
  for (const [earlier, question] of complete) assert.ok(!refersBack(question, earlier), question)
})

const SHOPS: Record<string, [string[], string][]> = {
  zh: [
    [['营业时间'], '湖滨店周一至周五九点开门。周六十点开门，周日休息。'],
    [['发票'], '电子发票在付款后三天内发到您的邮箱。发票抬头可以在网上修改。'],
    [['寄件地址'], '维修的机器请寄到杭州仓库，运费由我们承担。'],
  ],
  ja: [
    [['営業時間'], '平日は午前九時から開店します。土曜日は十時から、日曜日は休みです。'],
    [['領収書'], '領収書はお支払いの後にメールで届きます。宛名は変更できます。'],
    [['修理'], '修理する品物は札幌の倉庫に送ってください。送料は無料です。'],
  ],
  ko: [
    [['영업시간'], '평일에는 오전 아홉 시에 문을 엽니다. 토요일에는 열 시에 열고 일요일은 휴무입니다.'],
    [['영수증'], '영수증은 결제 후 메일로 보내 드립니다. 받는 사람 이름을 바꿀 수 있습니다.'],
    [['수리'], '수리할 물건은 대구 창고로 보내 주세요. 배송비는 무료입니다.'],
  ],
}
const FOLLOW_UPS = [
  ['zh', '湖滨店工作日几点开门？', ['那周六呢？', '周日呢', '它周六几点开？'], /周六十点/],
  ['zh', '電子發票什麼時候寄出？', ['那抬頭呢？'], null],
  ['ja', '平日は何時に開店しますか。', ['では日曜日は？', 'それは日曜日も同じですか。'], /土曜日は十時/],
  [
    'ko',
    '평일에는 몇 시에 문을 여나요?',
    ['토요일은요?', '그럼 일요일은 어때요?', '일요일이면요?'],
    /토요일에는 열 시/,
  ],
] as const

for (const [language, before, questions, expected] of FOLLOW_UPS) {
  test(`short follow-ups in ${language} depend on "${before}"`, async () => {
    const ask = searchIn(SHOPS[language]!)
    for (const question of questions) {
      const { asked, found } = await searchInTalk(ask, question, before, LIMIT)
      assert.equal(asked, `${before} ${question}`, question)
      // The documents are in simplified characters, which those of this question do not match.
      if (expected) assert.match(found.passages[0]!.text, expected, question)
    }
  })
}

test('a question with a subject of its own is searched alone in scripts without spaces, too', async () => {
  for (const [language, before, question] of [
    ['zh', '湖滨店工作日几点开门？', '维修的机器要寄到哪个仓库地址？'],
    ['zh', '湖滨店工作日几点开门？', '杭州到北京坐高铁要几个小时？'],
    ['ja', '平日は何時に開店しますか。', '修理する品物はどこの倉庫に送りますか。'],
    ['ko', '평일에는 몇 시에 문을 여나요?', '수리할 물건은 어느 창고로 보내야 하나요?'],
  ] as const) {
    const { asked } = await searchInTalk(searchIn(SHOPS[language]!), question, before, LIMIT)
    assert.equal(asked, question)
  }
})
