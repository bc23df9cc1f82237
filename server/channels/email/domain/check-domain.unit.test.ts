import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { checkDomain } from './check-domain.ts'

/** A name server that knows these TXT records and leaves questions about silent.example unanswered. */
const records = new Map<string, string[]>()
const server = createSocket('udp4')
const asked: string[] = []

server.on('message', (question, { port, address }) => {
  const labels: string[] = []
  let at = 12
  while (question[at]) {
    const length = question[at] ?? 0
    labels.push(question.toString('latin1', at + 1, at + 1 + length))
    at += length + 1
  }
  const name = labels.join('.').toLowerCase()
  asked.push(name)
  if (name.endsWith('silent.example')) return
  const texts = records.get(name)
  const answers = (texts ?? []).map((text) => {
    const data =
      text
        .match(/.{1,255}/g)
        ?.map((part) => Buffer.from(`${String.fromCharCode(part.length)}${part}`, 'latin1')) ?? []
    const value = Buffer.concat(data)
    const head = Buffer.from([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60, value.length >> 8, value.length & 0xff])
    return Buffer.concat([head, value])
  })
  const head = Buffer.from([0, 0, 0x81, texts ? 0x80 : 0x83, 0, 1, 0, answers.length, 0, 0, 0, 0])
  question.copy(head, 0, 0, 2)
  server.send(Buffer.concat([head, question.subarray(12, at + 5), ...answers]), port, address)
})

let resolver: Resolver
before(async () => {
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  resolver = new Resolver({ timeout: 200, tries: 1 })
  resolver.setServers([`127.0.0.1:${server.address().port}`])
})
after(() => server.close())

const check = async (domain: string, selector: string | null = null) => {
  const findings = await checkDomain(resolver, domain, { host: 'smtp.host.example', selector })
  return Object.fromEntries(findings.map(({ check, ...rest }) => [check, rest]))
}

test('a domain with all records is in order', async () => {
  records.set('good.example', ['v=spf1 include:_spf.host.example -all', 'other=1'])
  records.set('s1._domainkey.good.example', [`v=DKIM1; k=rsa; p=${'A'.repeat(400)}`])
  records.set('_dmarc.good.example', ['v=DMARC1; p=reject'])
  const { spf, dkim, dmarc } = await check('good.example', 's1')
  assert.deepEqual([spf?.result, dkim?.result, dmarc?.result], ['ok', 'ok', 'ok'])
  const below = await check('mail.good.example', 's1')
  assert.deepEqual([below.dmarc?.result, below.dmarc?.name], ['ok', '_dmarc.good.example'])
})

test('what is missing is named with a record to enter', async () => {
  const { spf, dkim, dmarc } = await check('bare.example', 's1')
  assert.deepEqual([spf?.result, dkim?.result, dmarc?.result], ['missing', 'missing', 'missing'])
  assert.equal(spf?.suggestion, 'v=spf1 mx a:smtp.host.example ~all')
  assert.deepEqual([dmarc?.name, dmarc?.suggestion?.slice(0, 9)], ['_dmarc.bare.example', 'v=DMARC1;'])
  assert.match((await check('bare.example')).dkim?.advice ?? '', /Enter the selector/)
})

test('records that do not help are problems', async () => {
  records.set('weak.example', ['v=spf1 +all'])
  records.set('s1._domainkey.weak.example', ['v=DKIM1; p='])
  records.set('_dmarc.weak.example', ['v=DMARC1; p=nothing'])
  const { spf, dkim, dmarc } = await check('weak.example', 's1')
  assert.deepEqual([spf?.result, dkim?.result, dmarc?.result], ['problem', 'problem', 'problem'])
  records.set('two.example', ['v=spf1 -all', 'v=spf1 mx ~all'])
  assert.match((await check('two.example')).spf?.advice ?? '', /several/)
})

test('name servers that do not answer leave the result open', async () => {
  const { spf, dmarc } = await check('silent.example', 's1')
  assert.deepEqual([spf?.result, dmarc?.result], ['unknown', 'unknown'])
  assert.match(spf?.advice ?? '', /did not answer in time/)
})

test('of a long name, only the domains that an organisation can have are asked for DMARC', async () => {
  records.set('_dmarc.long.example', ['v=DMARC1; p=reject'])
  asked.length = 0
  const { dmarc } = await check(`${'a.'.repeat(60)}x.y.long.example`)
  assert.deepEqual([dmarc?.result, dmarc?.name], ['ok', '_dmarc.long.example'])
  assert.equal(asked.filter((name) => name.startsWith('_dmarc.')).length, 5)
})

test('name servers that take too long together are waited for no longer', async () => {
  const patient = new Resolver({ timeout: 60_000, tries: 1 })
  patient.setServers([`127.0.0.1:${server.address().port}`])
  const settings = { host: 'smtp.host.example', selector: null, maxMs: 100 }
  const findings = await checkDomain(patient, 'silent.example', settings)
  assert.deepEqual(
    findings.map(({ result }) => result),
    ['unknown', 'unknown', 'unknown'],
  )
})
