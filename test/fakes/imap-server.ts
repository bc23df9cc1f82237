import { type AddressInfo, createServer, type Socket } from 'node:net'

/**
 * A small IMAP server with faults that a test sets. Tests of how mailboxes are read use Dovecot
 * (test/imap-server.ts).
 */
export type FakeImapServer = {
  port: number
  /** The mails of the mailbox. The first one has UID 1. */
  mails: string[]
  /**
   * The faults by command, such as `LOGIN`, `UID FETCH`, or `BODY` for fetching a whole mail. 'stall' never completes
   * the command but repeatedly sends that it is in progress, 'refuse' completes it with NO, and 'cut' answers it and
   * then drops the connection.
   */
  troubles: Map<string, 'stall' | 'refuse' | 'cut'>
  /** The UIDs of mails of which the server gives nothing but the head. */
  stalls: Set<number>
  /** Resolves when a client has sent such a command. */
  saw(command: string): Promise<void>
  close(): Promise<void>
}

const OFTEN_MS = 20

/** Starts the server. It does not check passwords. */
export async function startFakeImapServer(): Promise<FakeImapServer> {
  const mails: string[] = []
  const troubles: FakeImapServer['troubles'] = new Map()
  const stalls = new Set<number>()
  const seen = new Set<string>()
  const waiting: { command: string; resolve: () => void }[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    socket.write('* OK here\r\n')
    let rest = ''
    socket.setEncoding('latin1').on('data', (text: string) => {
      const lines = (rest + text).split('\r\n')
      rest = lines.pop() ?? ''
      for (const line of lines) take(socket, line)
    })
  })

  function take(socket: Socket, line: string): void {
    const [, tag = '*', command = ''] = /^(\S+) ((?:UID )?\S+)/.exec(line) ?? []
    const isHead = /BODY\.PEEK\[HEADER/i.test(line)
    const name = isHead ? 'HEAD' : /BODY/i.test(line) ? 'BODY' : command.toUpperCase()
    seen.add(name)
    for (const { command: wanted, resolve } of waiting) if (wanted === name) resolve()
    const isStalled = name === 'BODY' && stalls.has(Number(/FETCH (\d+)/i.exec(line)?.[1]))
    const trouble = isStalled ? 'stall' : troubles.get(name)
    if (trouble === 'stall') {
      const timer = setInterval(() => socket.write('* OK wait\r\n'), OFTEN_MS)
      socket.on('close', () => clearInterval(timer))
      return
    }
    if (trouble === 'refuse') return void socket.write(`${tag} NO not now\r\n`)
    socket.write(`${answerTo(name, line, mails)}${tag} OK done\r\n`, 'latin1', () => {
      if (trouble === 'cut' || name === 'LOGOUT') socket.destroy()
    })
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    mails,
    troubles,
    stalls,
    saw: (command) =>
      seen.has(command) ? Promise.resolve() : new Promise((resolve) => waiting.push({ command, resolve })),
    close: () => {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

function answerTo(command: string, line: string, mails: string[]): string {
  switch (command) {
    case 'CAPABILITY':
      return '* CAPABILITY IMAP4rev1\r\n'
    case 'LIST':
      return '* LIST (\\HasNoChildren) "/" INBOX\r\n'
    case 'EXAMINE':
      return `* ${mails.length} EXISTS\r\n* OK [UIDVALIDITY 1] valid\r\n* OK [UIDNEXT ${mails.length + 1}] next\r\n`
    case 'UID SEARCH': {
      const first = Number(/UID (\d+):/.exec(line)?.[1] ?? 1)
      const uids = mails.flatMap((_, at) => (at + 1 >= first ? at + 1 : []))
      return `* SEARCH ${uids.join(' ')}\r\n`
    }
    case 'HEAD':
    case 'BODY':
    case 'UID FETCH': {
      const uid = Number(/FETCH (\d+)/i.exec(line)?.[1])
      const mail = mails[uid - 1]
      if (mail === undefined) return ''
      const about = `UID ${uid} RFC822.SIZE ${mail.length} INTERNALDATE "${now()}"`
      const head = mail.slice(0, mail.indexOf('\r\n\r\n') + 4)
      const bodies: Record<string, string> = {
        BODY: ` BODY[] {${mail.length}}\r\n${mail}`,
        HEAD: ` BODY[HEADER] {${head.length}}\r\n${head}`,
      }
      const body = bodies[command] ?? ''
      return `* ${uid} FETCH (${about}${body})\r\n`
    }
    default:
      return ''
  }
}

/** Returns the current time in IMAP's format: 05-Jan-2026 09:14:00 +0000. */
const now = (): string =>
  new Date().toUTCString().replace(/^\w+, (\d+) (\w+) (\d+) ([\d:]+) GMT$/, '$1-$2-$3 $4 +0000')
