import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type MailServer, startMailServer } from '../../../../test/fakes/mail-server.ts'
import { connectTestMailbox, mail, type TestMailbox } from '../../../../test/mailbox.ts'
import { type Service, startService } from '../../../../test/start.ts'
import { until } from '../../../../test/until.ts'

/** Two services whose agents write to each other, each over its own mail server. */
type Side = { service: Service; server: MailServer; box: TestMailbox; address: string }

let sides: [Side, Side]

before(async () => {
  sides = [await startSide('one@one.example'), await startSide('two@two.example')]
})
after(async () => {
  for (const { service, server } of sides) {
    await service.close()
    await server.close()
  }
})

async function startSide(address: string): Promise<Side> {
  const server = await startMailServer()
  const service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
  const box = await connectTestMailbox(service, await service.account(), { smtpPort: server.port, address })
  return { service, server, box, address }
}

/** Delivers the mails of each side to the other until there are no more. Returns their number. */
async function carry(change: (raw: string) => string): Promise<number> {
  const [one, two] = sides
  let carried = 0
  const from = [one.server.mails.length, two.server.mails.length]
  for (let quiet = 0; quiet < 12; ) {
    const before = carried
    for (const [index, [side, other]] of [[one, two] as const, [two, one] as const].entries()) {
      await side.box.send()
      for (const { raw } of side.server.mails.slice(from[index])) {
        from[index] = (from[index] ?? 0) + 1
        carried++
        await other.box.receive(change(raw))
      }
    }
    quiet = carried === before ? quiet + 1 : 0
    await wait(quiet > 0 ? 300 : 0)
  }
  return carried
}

test('two agents who mail each other stop after the first answer', async () => {
  const [one, two] = sides
  await two.box.receive(mail('Hello?', { From: one.address, To: two.address }))
  await until('the answer', async () => (await two.box.deliveries()).length === 1)
  assert.equal(await carry((raw) => raw), 1)
  const [kept] = await one.box.inbound()
  assert.equal(kept?.content.silent, true)
})

test('they also stop when nothing marks the mails as automatic and every mail starts a thread', async () => {
  const [one, two] = sides
  // Deliver many at a time, so that the test ends soon.
  const headers = { From: one.address, To: two.address }
  await Promise.all(Array.from({ length: 9 }, (_, at) => two.box.receive(mail(`Loop ${at}`, headers))))
  await until('the answers', async () => (await two.box.deliveries()).length === 10)
  const bare = (raw: string): string =>
    raw.replace(
      /^(Auto-Submitted|X-Auto-Response-Suppress|In-Reply-To|References):.*(\r\n[ \t].*)*\r\n/gim,
      '',
    )
  const carried = await carry(bare)
  assert.ok(carried > 5 && carried < 60, String(carried))
  const silent = [...(await one.box.inbound()), ...(await two.box.inbound())].filter(
    ({ content }) => content.silent,
  )
  assert.ok(silent.length >= 2)
})
