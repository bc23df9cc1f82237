import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

const MB = 1_048_576

/** What an attack needs to know about the service. It is passed by the measuring process. */
export type Target = {
  url: string
  keys: string[]
  agents: { long: string; dying: string; plain: string }
}

/** Resolves once the attack is running. `killModels` ends the model server behind the held streams. */
type Attack = (target: Target, killModels: () => void) => Promise<void>

export const ATTACKS: Record<string, Attack> = {
  '1,000 webhook bodies that stop one byte short': shortBodies,
  '1,000 widget bodies that stop one byte short': shortWidgets,
  '200 JSON bodies of 1 MB with a key that stop one byte short': shortJson,
  '200 readers that stop reading long answers': stoppedReaders,
  '500 uploads of 1 MB at once, and their training': uploads,
  '2,000 streams whose model server dies': dyingModels,
}

/** The attacker is a process of its own, which is killed after the measurement. */
process.on('message', ({ name, target }: { name: string; target: Target }) => {
  const attack = ATTACKS[name] as Attack
  void attack(target, () => process.send?.('kill models')).then(() => process.send?.('begun'))
})

/** Sends requests whose last byte never arrives. */
async function stopShort(url: string, count: number, bytes: number, head: (i: number) => string[]) {
  const { hostname, port } = new URL(url)
  const body = Buffer.alloc(bytes - 1, ' ')
  const sockets: Socket[] = []
  for (let i = 0; i < count; i++) {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {}).resume()
    const [path, ...headers] = head(i)
    const lines = ['host: x', 'content-type: application/json', `content-length: ${bytes}`, ...headers]
    socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
    socket.write(body)
    sockets.push(socket)
  }
  await wait(1_000)
}

function shortBodies({ url }: Target) {
  const signature = `x-hub-signature-256: sha256=${'0'.repeat(64)}`
  return stopShort(url, 1_000, 4 * MB, () => ['/webhooks/messaging/nobody', signature])
}

function shortWidgets({ url, agents }: Target) {
  return stopShort(url, 1_000, 60_000, () => [`/api/widget/agents/${agents.plain}/messages`])
}

function shortJson({ url, keys, agents }: Target) {
  const path = `/api/v2/agents/${agents.plain}/chat`
  return stopShort(url, 200, MB, (i) => [path, `authorization: Bearer ${keys[i % keys.length]}`])
}

/** Opens streams and never reads from them. */
async function streams({ url, keys }: Target, agentId: string, count: number, reads: boolean) {
  const asked = Array.from({ length: count }, (_, i) => {
    const sent = request(`${url}/api/v2/agents/${agentId}/chat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${keys[i % keys.length]}`, 'content-type': 'application/json' },
      agent: false,
    })
    sent
      .on('error', () => {})
      .on('response', (response) => {
        response.on('error', () => {})
        if (reads) response.resume()
      })
    return sent
  })
  for (const [i, sent] of asked.entries()) {
    sent.end(JSON.stringify({ message: `Question ${i}` }))
    if (i % 100 === 99) await wait(100)
  }
}

function stoppedReaders(target: Target) {
  return streams(target, target.agents.long, 200, false)
}

async function dyingModels(target: Target, killModels: () => void) {
  await streams(target, target.agents.dying, 2_000, true)
  await wait(4_000)
  killModels()
}

async function uploads({ url, keys, agents }: Target) {
  const words = 'The parcel of the customer is delivered within three days of the order being paid. '
  const text = words.repeat(Math.ceil(MB / words.length)).slice(0, MB)
  const send = async (i: number): Promise<void> => {
    const form = new FormData()
    form.set('name', `Document ${i}`)
    form.set('file', new Blob([`Document ${i}\n\n${text}`]), `document-${i}.txt`)
    const headers = { authorization: `Bearer ${keys[i % keys.length]}` }
    const answer = await fetch(`${url}/api/v2/agents/${agents.plain}/sources`, {
      method: 'POST',
      headers,
      body: form,
    })
    await answer.text()
  }
  void Promise.all(Array.from({ length: 500 }, (_, i) => send(i).catch(() => {})))
}
