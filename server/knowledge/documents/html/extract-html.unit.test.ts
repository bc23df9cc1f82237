import assert from 'node:assert/strict'
import { test } from 'node:test'
import { extractDocument } from '../extract-document.ts'

const sectionsOf = async (html: string) =>
  (await extractDocument({ type: 'html', bytes: Buffer.from(html) })).sections
const textOf = async (html: string) =>
  (await sectionsOf(html)).map(({ headingPath, text }) => [...headingPath, text].join('\n')).join('\n\n')
const option = (text: string) => `<option>${text}</option>`
const page = (main: string, around = '') =>
  `<main><h1>Boots</h1><p>They are dry and warm.</p>${main}</main>${around}`

test('the options of a select that name what is on offer are kept with its label', async () => {
  const sizes = ['S (150–165 cm)', 'M (164–178 cm)'].map(option).join('')
  const inside = `<div><label>Size <select>${sizes}</select></label> <label>Colour: <select><option value="">Choose</option>${option('Green')}${option('Red (sold out)')}</select></label> <button>Buy</button></div>`
  assert.match(
    await textOf(page(inside)),
    /^Size: S \(150–165 cm\), M \(164–178 cm\)\nColour: Green, Red \(sold out\)$/m,
  )
  const apart = `<div><label for="s">Size</label></div><div><select id="s"><optgroup label="Adults">${option('42')}${option('43')}</optgroup><optgroup label="Children">${option('28')}</optgroup></select></div>`
  assert.match(await textOf(page(apart)), /^Size: Adults – 42, 43, Children – 28$/m)
  const unmarked = `<h1>Boots</h1>${'<p>They are dry and warm, and they last for many years.</p>'.repeat(9)}${inside}`
  assert.match(await textOf(unmarked), /M \(164–178 cm\)/)
  const booking = `<form><input name="name"><label>Service <select>${option('Cut (30 min, 25 €)')}${option('Colour (90 min, 80 €)')}</select></label></form>`
  assert.match(await textOf(page(booking)), /Service: Cut \(30 min, 25 €\), Colour/)
})

test('the options of a select that are material for a form are left out', async () => {
  const select = (texts: string[], attributes = '') =>
    `<select ${attributes}>${texts.map(option).join('')}</select>`
  const numbers = (first: number, count: number) => Array.from({ length: count }, (_, at) => `${first + at}`)
  const enquiry = select(['Toilet', 'Drain outside'])
  const left = [
    select(numbers(1, 10)),
    select(numbers(1990, 9)),
    select(['09:00', '09:30', '10:00']),
    select(['Austria', 'Italy', 'Spain'], 'name="billing_country"'),
    select(numbers(0, 40).map((number) => `Country ${number}`)),
    select(['Newest', 'Price'], 'id="sort-by"'),
    `<form><input type="tel">${enquiry}</form>`,
    `<form><input type="tel">${select(['Italy (+39)', 'Austria (+43)'])}</form>`,
  ]
  for (const one of left) {
    const found = await textOf(page(one))
    assert.equal(found, 'Boots\nThey are dry and warm.', one)
  }
  const menu = `<header>${select(['Vienna', 'Graz'])}</header>`
  assert.equal(await textOf(page('', menu)), 'Boots\nThey are dry and warm.')
})

test('the long form of an abbreviation follows it once, unless the page says it', async () => {
  const cin = '<abbr title="Codice identificativo nazionale">CIN</abbr>'
  const main = `<h2>Il ${cin}</h2><p>Serve il ${cin}. Il ${cin} è gratuito.</p>`
  assert.match(
    await textOf(page(main)),
    /Il CIN\nServe il CIN \(Codice identificativo nazionale\)\. Il CIN è gratuito\./,
  )
  const said = `<p>Il codice identificativo nazionale, o ${cin}.</p><p>Nato <abbr title="2026-03-01T10:00">ieri</abbr>.</p>`
  assert.match(await textOf(page(said)), /nazionale, o CIN\.\n\nNato ieri\.$/)
})

test('a sidebar with sentences belongs to the page, and facts of a header and a footer to the site', async () => {
  const around = `<aside><h3>What does it earn?</h3><p>Write to us: an estimate takes three working days.</p></aside>
    <aside><h3>Seen with it</h3><ul><li>Basket, 39.90 €</li><li>Lock</li></ul></aside>
    <aside><h4>Newsletter</h4><p>No spam. Readers get 5% off their first order.</p><form><input type="email"></form></aside>
    <section role="complementary"><p>Subscribe for news every week!</p><form><input type="email"></form></section>
    <footer><p>Huber, Hauptstraße 5, Vienna – <a href="/a">Terms</a> – <a href="/b">Shop</a></p>
    <p>The leasing is offered together with the Padus Rent company.</p><p>Terms | Imprint | Contact</p>
    <p>Made by: Huber and Sons in Vienna, Austria</p><p>Updated on 3 March 2026</p>
    <p>The courses are on the notice boards of the shops. / Copyright Huber</p></footer>`
  const header =
    '<header><p>Delivery free from 60 €</p><p>Shoemakers since 1950, in Vienna</p><p>My account, cart (0) 0,00 €</p></header>'
  const main = '<p>The sole is glued and sewn, and so they last for many years.</p>'.repeat(4)
  const sections = (await sectionsOf(`${header}${page(main, around)}`)).slice(1)
  assert.deepEqual(
    sections.map(({ headingPath, text, isContact = false }) => [headingPath.join(' > '), text, isContact]),
    [
      ['Boots > What does it earn?', 'Write to us: an estimate takes three working days.', false],
      [
        'Huber',
        'Delivery free from 60 €\n\n' +
          'Huber, Hauptstraße 5, Vienna\n\nThe leasing is offered together with the Padus Rent company.\n\n' +
          'Made by: Huber and Sons in Vienna, Austria\n\nThe courses are on the notice boards of the shops.',
        true,
      ],
    ],
  )
})

test('the heading of a page in its header is above the headings of its main part', async () => {
  const main = '<main><h2>Arrival</h2><p>The key is in the box.</p></main>'
  const sections = await sectionsOf(
    `<header><h1>Welcome to flat 3</h1><nav><a href="#a">A</a></nav></header>${main}`,
  )
  assert.deepEqual(sections[0]!.headingPath, ['Welcome to flat 3', 'Arrival'])
  const site = await sectionsOf(`<header><h1><a href="/">Huber</a></h1></header>${main}`)
  assert.deepEqual(site[0]!.headingPath, ['Arrival'])
})

test('a line break between Chinese or Japanese characters of a page is no space', async () => {
  assert.equal(
    await textOf('<p>お申し込みはマイペー\n  ジから、\nWi-Fi\nでも。</p>'),
    'お申し込みはマイページから、 Wi-Fi でも。',
  )
})

test('links in paragraphs and list items are kept as Markdown, with their whole addresses', async () => {
  const main = `<p>Fill in the <a href="/returns/form (new).html"> return\n form </a>within <b>30 days</b>, or write to <a href="mailto:shop@example.com">shop@example.com</a>.</p>
    <ul><li><a href="sizes?of=boots">Sizes</a> of all boots</li><li>See <a href="#care">below</a>, <a href="#f1">[1]</a> and <a href="https://example.com/n/2">2</a></li></ul>
    <a href="/sale"><h2>Sale</h2><p>All boots of last winter are cheaper.</p></a>
    <table><tr><th>Boot</th><th>Price</th></tr><tr><td><a href="/boots/7">Seven</a></td><td>70 €</td></tr></table>
    <p><a href="javascript:go()">Go</a> or <a>stay</a>.</p>`
  const html = page(main)
  const shown = async (url?: string) =>
    (await extractDocument({ type: 'html', bytes: Buffer.from(html), ...(url ? { url } : {}) })).sections
      .map(({ text }) => text)
      .join('\n\n')
  assert.equal(
    await shown('https://example.com/shop/boots.html'),
    'They are dry and warm.\n\n' +
      'Fill in the [return form](https://example.com/returns/form%20%28new%29.html) within 30 days, or write to shop@example.com.\n\n' +
      '- [Sizes](https://example.com/shop/sizes?of=boots) of all boots\n- See below, [1] and 2\n\n' +
      'All boots of last winter are cheaper.\n\nBoot: Seven; Price: 70 €\n\nGo or stay.',
  )
  // Where a file was uploaded, nobody knows what the other addresses begin with.
  assert.match(await shown(), /^Fill in the return form within 30 days, or write to shop@example\.com\.$/m)
})

test('several paragraphs or lines in bold are titles, and a single one, a caption or a sentence is not', async () => {
  const titled = (html: string) => sectionsOf(`<main><h1>Boots</h1>${html}</main>`)
  const shown = async (html: string) =>
    (await titled(html)).map(({ headingPath, text }) => [headingPath.at(-1), text])
  assert.deepEqual(
    await shown(
      '<p>They are dry.</p><p><strong>Care</strong></p><p>Wax them.</p><ul><li>Twice a year</li></ul>' +
        '<div><b>Sizes:</b><br>36 to 48</div><p><b>Note</b></p><p>Half sizes are small.</p><h2>Repair</h2><p>Ask us.</p>',
    ),
    [
      ['Boots', 'They are dry.'],
      ['Care', 'Wax them.\n\n- Twice a year'],
      ['Sizes', '36 to 48\n\nNote: Half sizes are small.'],
      ['Repair', 'Ask us.'],
    ],
  )
  const single = '<p><b>Care</b></p><p>Wax them.</p>'
  for (const [html, text] of [
    [single, 'Care\n\nWax them.'],
    [
      `${single}<p><b>Wax them twice a year.</b></p><p>Yes.</p>`,
      'Care\n\nWax them.\n\nWax them twice a year.\n\nYes.',
    ],
    [
      `${single}<p><b>Figure 2.1. A boot</b></p><p>Yes.</p>`,
      'Care\n\nWax them.\n\nFigure 2.1. A boot\n\nYes.',
    ],
    [`${single}<p><b>Wax</b> is in <b>the box</b></p>`, 'Care\n\nWax them.\n\nWax is in the box'],
    [`<ul><li><p><b>One</b></p></li><li><p><b>Two</b></p></li></ul>`, '- One\n- Two'],
  ])
    assert.deepEqual(await shown(html!), [['Boots', text]])
})

test('the link of a heading to itself is left out, but not the number sign of a name', async () => {
  const sections = await sectionsOf(`<main><h1>Clients<a href="#clients">#</a></h1><p>There are three.</p>
    <h2>C#</h2><p>It comes as a package.</p>
    <h2 id="f">F# <a href="#f">¶</a></h2><p>It is the same package.</p>
    <h2>Go #</h2><p>It comes as a module.</p>
    <p><b>J#</b></p><p>It is not supported any more.</p><p><b>Q#</b></p><p>It will follow.</p></main>`)
  const headings = sections.map(({ headingPath }) => headingPath.at(-1))
  assert.deepEqual(headings, ['Clients', 'C#', 'F#', 'Go', 'J#', 'Q#'])
})

test('each answer of a list of questions, and each folded part of a page, is a section', async () => {
  const sections = await sectionsOf(`<main><h1>Help</h1><h2>Orders</h2>
    <dl><dt>Do you ship to Norway?</dt><dd>Yes, in five days.</dd><dt>SKU</dt><dd>The number on the box.</dd></dl>
    <details><summary>Returns</summary><p>Within 30 days.</p></details><p>Write to us for anything else.</p>
    <h2>リード</h2><dl><dt>Q. 1枚から買えますか。</dt><dd>A. はい、1枚から。</dd></dl></main>`)
  assert.deepEqual(
    sections.map(({ headingPath, text }) => [headingPath.join(' > '), text]),
    [
      ['Help > Orders > Do you ship to Norway?', 'Yes, in five days.'],
      ['Help > Orders', 'SKU: The number on the box.'],
      ['Help > Orders > Returns', 'Within 30 days.'],
      ['Help > Orders', 'Write to us for anything else.'],
      ['Help > リード > 1枚から買えますか。', 'はい、1枚から。'],
    ],
  )
})

test('what a button or a tab opens is read under its name, and menus are not', async () => {
  const button = (name: string, panel: string) =>
    `<button aria-expanded="false" aria-controls="${panel}"><span>${name}</span></button>`
  const sections = await sectionsOf(`<main><h1>Help</h1><p>Ask us.</p>
    <h2>${button('Do you ship to Norway?', 'a')}</h2><div id="a" hidden><p>Yes, in five days.</p></div>
    <div>${button('Can I return it?', 'b')}</div><div id="b" hidden><p>Within 30 days.</p></div>
    <div hidden><p>Your cart is empty.</p></div><button>Buy</button><p hidden="until-found">It weighs 2 kg.</p>
    <div role="tablist"><button role="tab" aria-controls="c">Care</button><button role="tab" aria-controls="d">Size</button></div>
    <div id="c" role="tabpanel"><p>Wash it by hand.</p></div><div id="d" role="tabpanel" hidden><p>40 cm</p></div></main>
    <header>${button('Menu', 'e')}<ul id="e" hidden><li>Lamps</li></ul></header>`)
  assert.deepEqual(
    sections.map(({ headingPath, text }) => [headingPath.slice(1).join(' > '), text]),
    [
      ['', 'Ask us.'],
      ['Do you ship to Norway?', 'Yes, in five days.'],
      ['Do you ship to Norway? > Can I return it?', 'Within 30 days.'],
      ['Do you ship to Norway?', 'It weighs 2 kg.'],
      ['Do you ship to Norway? > Care', 'Wash it by hand.'],
      ['Do you ship to Norway? > Size', '40 cm'],
    ],
  )
})

test('a control that contains what it opens is left as it is', async () => {
  const text = await textOf(
    page(
      '<div aria-expanded="false" aria-controls="a">Delivery<div id="a" hidden><p>In five days.</p></div></div><p>Ask us.</p>',
    ),
  )
  assert.match(text, /Delivery\s+In five days\./)
  assert.match(text, /Ask us\./)
})

test('a raised number is no digit of the number or letter of the word before it', async () => {
  const html = '<p>The warranty<sup>1</sup> covers 20 m<sup>2</sup> and 10<sup>3</sup> hours.</p>'
  const table =
    '<table><tr><td>Price</td><td>9<sup>99</sup> €</td></tr><tr><td>Place</td><td>1<sup>st</sup></td></tr></table>'
  assert.match(
    await textOf(page(html + table)),
    /The warranty¹ covers 20 m² and 10³ hours\.\n\nPrice \| 9⁹⁹ €\nPlace \| 1st$/,
  )
})

test('a heading that is a picture has its name', async () => {
  const sections = await sectionsOf(
    page(
      '<h2><img src="care.png" alt="Care"></h2><p>Brush them.</p><h2>Sizes <img alt="ruler"></h2><p>36 to 46</p>',
    ),
  )
  assert.deepEqual(
    sections.map(({ headingPath }) => headingPath.at(-1)),
    ['Boots', 'Care', 'Sizes'],
  )
})

test('the text of a component that the server has rendered is read', async () => {
  const html =
    '<x-card><template shadowrootmode="open"><p>It has a warranty of two years.</p></template></x-card>'
  assert.match(
    await textOf(page(`${html}<template><p>Not shown.</p></template>`)),
    /warm\.\n\nIt has a warranty of two years\.$/,
  )
})

test('a section within another keeps its titles and its anchor, and none is made inside of a list item', async () => {
  const sections = await sectionsOf(`<main><h1>Shop</h1><h2 id="faq">FAQ</h2><p>Ask us.</p>
    <details id="ship"><summary>Shipping</summary><details><summary>Austria</summary><p>3 days</p></details></details>
    <details><summary>Returns</summary><h4>Austria</h4><p>14 days</p></details>
    <ol><li>Open the lid.</li><li>Press start. <details><summary>Where?</summary>On the left.</details></li></ol></main>`)
  assert.deepEqual(
    sections.map(({ headingPath, text, anchor }) => [headingPath.slice(2).join(' > '), text, anchor]),
    [
      ['', 'Ask us.', 'faq'],
      ['Shipping > Austria', '3 days', 'ship'],
      ['Returns > Austria', '14 days', undefined],
      ['', '1. Open the lid.\n2. Press start.\nWhere?\nOn the left.', 'faq'],
    ],
  )
})

test('the first row of a table names the columns if nothing marks it, but the rows below are of another kind', async () => {
  const table = (...rows: string[][]) =>
    `<table>${rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('')}</table>`
  const rowsOf = async (...rows: string[][]) => (await textOf(page(table(...rows)))).split('\n\n').at(-1)
  assert.equal(
    await rowsOf(
      ['Part', 'Warranty', 'Condition'],
      ['Pump', '24 months', 'dry'],
      ['Tank', '15 years', 'level'],
    ),
    'Part: Pump; Warranty: 24 months; Condition: dry\nPart: Tank; Warranty: 15 years; Condition: level',
  )
  assert.equal(
    await rowsOf(['', 'Low', 'High'], ['Standard', '26', '31'], ['Large', '32', '38']),
    'Standard; Low: 26; High: 31\nLarge; Low: 32; High: 38',
  )
  assert.equal(
    await rowsOf(['Notice', 'Refund'], ['30 days before', 'all'], ['7 days before', 'nothing']),
    'Notice: 30 days before; Refund: all\nNotice: 7 days before; Refund: nothing',
  )
  for (const rows of [
    [
      ['Name', 'Peter'],
      ['Phone', '044 123'],
      ['Born', '1980'],
    ],
    [
      ['Anna', 'Sales', 'Berne'],
      ['Bo', 'Support', 'Basle'],
      ['Cy', 'Sales', 'Chur'],
    ],
    [
      ['Monday', 'closed', 'by appointment'],
      ['Tuesday', '9–12', '14–18'],
      ['Friday', '9–13', '15–18'],
    ],
    [
      ['Kinder', 'frei'],
      ['6–14 Jahre', '5 €'],
      ['ab 15 Jahre', '9 €'],
    ],
    [
      ['Basic', 'free', 'one user'],
      ['Team', '12 €', '10 users'],
      ['Max', '30 €', '99 users'],
    ],
    [
      ['Monday', '9–12', '14–18'],
      ['Tuesday', '9–12', '14–18'],
      ['Friday', '9–12', 'closed'],
    ],
  ])
    assert.equal(await rowsOf(...rows), rows.map((row) => row.join(' | ')).join('\n'))
})

test('a short list between paragraphs is kept on a page that marks no main part', async () => {
  const long =
    'We mend lamps of all kinds. If one stops working within two years, we mend it for free in our shop.'
  for (const count of [2, 4, 6, 8]) {
    const items = Array.from({ length: count }, (_, at) => `<li>Service ${at + 1}</li>`).join('')
    const text = await textOf(
      `<h1>Lamps</h1><h2>Offer</h2><p>${long}</p><ul>${items}</ul><h2>Where</h2><p>${long}</p>`,
    )
    for (let at = 1; at <= count; at += 1) assert.ok(text.includes(`Service ${at}`), `${at} of ${count}`)
  }
})

test('the depth of a page is that of its tree: what closes itself and the text of scripts count nothing', async () => {
  const icons = '<svg viewBox="0 0 9 9"><g><path d="M0 0"/><circle r="1"/></g></svg>'.repeat(300)
  const script = `<script>document.write("${'<div><span>'.repeat(300)}")</script>`
  assert.match(await textOf(page(`<p>Returns are free.</p>${icons}${script}`)), /Returns are free/)
  await assert.rejects(sectionsOf('<b>'.repeat(300)), { code: 'too_large' })
})

test('the names of columns that have no values are kept', async () => {
  const table =
    '<table><tr><th>Name</th><th>Size</th><th>Signature</th></tr><tr><td>Lamp</td><td>3 m</td><td></td></tr></table>'
  const form = '<table><tr><th>Date</th><th>Place</th></tr><tr><td></td><td></td></tr></table>'
  const { sections } = await extractDocument({
    type: 'html',
    bytes: Buffer.from(`<h1>Order</h1><p>What is ordered:</p>${table}<p>Where:</p>${form}`),
  })
  assert.match(
    sections.map(({ text }) => text).join('\n'),
    /Signature\nName: Lamp; Size: 3 m[\s\S]*Date \| Place/,
  )
})

test('a page of headings alone is read', async () => {
  const { sections } = await extractDocument({
    type: 'html',
    bytes: Buffer.from('<h1>Statement</h1><h2>From January to March</h2><h2>From April</h2>'),
  })
  assert.deepEqual(
    sections.map(({ text }) => text),
    ['From January to March', 'From April'],
  )
})

test('what is left out of a page is listed with its words, and stays if nothing is to be left out', async () => {
  const page = `<title>Lamps</title><nav><a href="/a">Our lamps</a> <a href="/b">Our bulbs</a></nav>
    <main><h1>Lamps</h1><p>Lamps can be returned within 30 days.</p></main>
    <aside><p>Offers</p><a href="/c">Ten percent off all bulbs</a></aside><footer>All rights reserved</footer>`
  const read = (wholePage: boolean) => extractDocument({ type: 'html', bytes: Buffer.from(page), wholePage })
  const { sections, gaps } = await read(false)
  assert.deepEqual(
    sections.map(({ text }) => text),
    ['Lamps can be returned within 30 days.'],
  )
  assert.deepEqual(gaps, [
    { kind: 'parts', place: 'navigation', count: 4 },
    { kind: 'parts', place: 'sidebar', count: 6 },
    { kind: 'parts', place: 'footer', count: 3 },
  ])
  const whole = await read(true)
  assert.deepEqual(whole.gaps, [])
  assert.match(
    whole.sections.map(({ text }) => text).join(' '),
    /Our lamps[\s\S]*30 days[\s\S]*Ten percent[\s\S]*rights/,
  )
})

test('nothing is left out of a page for its name or place, and what its site repeats only if it is told so', async () => {
  const page = (name: string, own: string) => `<title>${name}</title>
    <form><div class="sidebar menu">Shoes and boots<br>Call us at noon</div>
    <p><a href="/a">Prices</a> | <a href="/b">Sizes</a></p>
    <h1>${name}</h1><p>${own}</p><h2>Details</h2><table><tr><td>Weight</td><td>${own} kg</td></tr></table>
    <h3>Partners</h3><ul><li>Trade association</li></ul></form>`
  const read = (repeated: string[]) =>
    extractDocument({ type: 'html', bytes: Buffer.from(page('Boots', 'Soft')), repeated })
  const whole = await read([])
  const said = ({ sections }: typeof whole) =>
    sections.map(({ headingPath, text }) => [...headingPath, text].join('\n')).join('\n')
  assert.match(
    said(whole),
    /Shoes and boots\nCall us[\s\S]*Prices[\s\S]*Sizes[\s\S]*Soft[\s\S]*Trade association/,
  )
  assert.deepEqual(whole.gaps, [])
  const other = await extractDocument({ type: 'html', bytes: Buffer.from(page('Hats', 'Felt')) })
  const repeated = whole.blocks!.filter((block) => other.blocks!.includes(block))
  const own = await read(repeated)
  assert.equal(said(own), 'Boots\nSoft\nBoots\nDetails\nWeight | Soft kg')
  assert.deepEqual(own.gaps, [
    { kind: 'parts', place: 'on most pages', count: 9 },
    { kind: 'parts', place: 'Partners', count: 2 },
  ])
})

test('the number of a telephone link is kept unless its text already tells it', async () => {
  const text = await textOf(
    page(
      '<p>Call <a href="tel:+431234567">our shop</a> or <a href="tel:+439876543">Tel. 9 87 65 43</a> today.</p>',
    ),
  )
  assert.match(text, /\[our shop\]\(tel:\+431234567\)/)
  assert.match(text, /or Tel\. 9 87 65 43 today/)
})
