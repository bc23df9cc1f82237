import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { answers, freePort } from './imap-server.ts'
import {
  dovecotConfig,
  oauthConfig,
  postfixConfig,
  quotas,
  type ServerOptions,
} from './mail-server-configs.ts'

/** Real servers of one machine for the domains test.example and people.example: Postfix sends, Dovecot keeps. */
export type MailServers = {
  folder: string
  ports: ServerOptions['ports']
  /** The certificate of the authority that has signed those of the servers, for localhost and 127.0.0.1. */
  authority: string
  /** Names are the local parts of the addresses; all have the same password. */
  password: string
  /** Gives everybody another password. */
  changePassword(password: string): Promise<void>
  /** Uses another certificate from now on: `trusted`, `self-signed`, `other-name` or `expired`. */
  installCertificate(kind: string): Promise<void>
  stopSending(): void
  startSending(): Promise<void>
  stopReceiving(): Promise<void>
  startReceiving(): Promise<void>
  close(): Promise<void>
}

const DOVECOT = '/usr/sbin/dovecot'
const POSTFIX = '/usr/sbin/postfix'

/** Starts both servers with folders of their own. Returns the reason as a sentence if they cannot be started. */
export async function startMailServers({
  introspectionUrl,
}: Pick<ServerOptions, 'introspectionUrl'> = {}): Promise<MailServers | string> {
  if (!existsSync(DOVECOT)) return 'No Dovecot was found: apt-get install dovecot-imapd.'
  if (!existsSync(POSTFIX)) return 'No Postfix was found: apt-get install postfix.'
  if (process.getuid?.() !== 0) return 'Postfix can only be started by root.'
  const version = execFileSync(DOVECOT, ['--version'], { encoding: 'utf8' })
  if (!/^2\.[0-3]\./.test(version)) return `The configuration is that of Dovecot 2.3, not ${version.trim()}.`
  const folder = mkdtempSync(join(tmpdir(), 'parley-mail-'))
  const idOf = (flag: string): number => Number(execFileSync('id', [flag, 'dovecot'], { encoding: 'utf8' }))
  const [uid, gid] = [idOf('-u'), idOf('-g')]
  const [smtp, submission, smtps, imap, imaps] = await Promise.all(Array.from({ length: 5 }, freePort))
  if (!smtp || !submission || !smtps || !imap || !imaps) return 'No free port was found.'
  const options: ServerOptions = {
    folder,
    introspectionUrl,
    uid,
    gid,
    password: 'secret',
    ports: { smtp, submission, smtps, imap, imaps },
  }
  chmodSync(folder, 0o755)
  for (const name of ['mail', 'run', 'data', 'spool', 'postfix', 'certificates'])
    mkdirSync(join(folder, name))
  for (const name of ['mail', 'run']) chownSync(join(folder, name), uid, gid)
  const postfixUser = Number(execFileSync('id', ['-u', 'postfix'], { encoding: 'utf8' }))
  chownSync(join(folder, 'data'), postfixUser, postfixUser)
  makeCertificates(join(folder, 'certificates'))
  writeFileSync(join(folder, 'dovecot.conf'), dovecotConfig(options))
  writeFileSync(join(folder, 'quotas'), quotas(options))
  if (introspectionUrl) writeFileSync(join(folder, 'oauth2.conf'), oauthConfig(introspectionUrl))
  for (const [name, text] of Object.entries(postfixConfig(options)))
    writeFileSync(join(folder, 'postfix', name), text)

  const postfix = (command: string): void =>
    void execFileSync(POSTFIX, ['-c', join(folder, 'postfix'), command], { stdio: 'ignore' })
  let ended: Promise<void> = Promise.resolve()
  let end = (): void => {}
  const startDovecot = async (): Promise<void> => {
    const child = spawn(DOVECOT, ['-F', '-c', join(folder, 'dovecot.conf')], { stdio: 'ignore', uid, gid })
    ended = new Promise((resolve) => child.on('exit', () => resolve()))
    end = () => void child.kill('SIGTERM')
    await answersSoon(imap)
  }
  const startSending = async (): Promise<void> => {
    postfix('start')
    await answersSoon(submission)
  }
  const stopReceiving = async (): Promise<void> => {
    end()
    await ended
  }
  const servers: MailServers = {
    folder,
    ports: options.ports,
    authority: readFileSync(join(folder, 'certificates', 'authority.pem'), 'utf8'),
    password: options.password,
    async changePassword(password) {
      servers.password = password
      writeFileSync(join(folder, 'dovecot.conf'), dovecotConfig({ ...options, password }))
      await stopReceiving()
      await startDovecot()
    },
    async installCertificate(kind) {
      installCertificate(join(folder, 'certificates'), kind)
      await stopReceiving()
      await startDovecot()
      postfix('stop')
      await startSending()
    },
    stopSending: () => postfix('stop'),
    startSending,
    stopReceiving,
    startReceiving: startDovecot,
    async close() {
      try {
        postfix('stop')
      } catch {
        // It has been stopped by a test.
      }
      await stopReceiving()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  try {
    await startDovecot()
    await startSending()
    return servers
  } catch (error) {
    const logs = ['run/dovecot.log', 'postfix.log'].map((name) =>
      existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8').slice(-500) : '',
    )
    await servers.close()
    return `The mail servers did not start: ${error instanceof Error ? error.message : error} ${logs.join('\n')}`
  }
}

async function answersSoon(port: number): Promise<void> {
  for (let looks = 0; !(await answers(port)); looks++) {
    if (looks > 150) throw new Error(`Nothing answers on port ${port}.`)
    await wait(100)
  }
}

/** Makes an authority, and a certificate and key for each kind, and uses the trusted one. */
function makeCertificates(folder: string): void {
  const run = (...args: string[]): void =>
    void execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' })
  const fresh = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-days',
    '30',
  ]
  const named = (name: string): string => `subjectAltName=${name}`
  run(...fresh, '-subj', '/CN=Parley test authority', '-keyout', 'authority.key', '-out', 'authority.pem')
  const kinds = [
    { kind: 'trusted', name: 'DNS:localhost,IP:127.0.0.1', days: '30' },
    { kind: 'other-name', name: 'DNS:mail.other.example', days: '30' },
    { kind: 'expired', name: 'DNS:localhost,IP:127.0.0.1', days: '-1' },
  ]
  for (const { kind, name, days } of kinds) {
    writeFileSync(join(folder, 'extensions'), named(name))
    run(
      'req',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-subj',
      '/CN=mail',
      '-keyout',
      `${kind}.key`,
      '-out',
      'request.pem',
    )
    run(
      'x509',
      '-req',
      '-in',
      'request.pem',
      '-CA',
      'authority.pem',
      '-CAkey',
      'authority.key',
      '-CAcreateserial',
      '-days',
      days,
      '-extfile',
      'extensions',
      '-out',
      `${kind}.pem`,
    )
  }
  run(
    ...fresh,
    '-subj',
    '/CN=localhost',
    '-addext',
    named('DNS:localhost,IP:127.0.0.1'),
    '-keyout',
    'self-signed.key',
    '-out',
    'self-signed.pem',
  )
  installCertificate(folder, 'trusted')
}

function installCertificate(folder: string, kind: string): void {
  for (const ending of ['pem', 'key']) {
    const path = join(folder, `used.${ending}`)
    writeFileSync(path, readFileSync(join(folder, `${kind}.${ending}`)))
    // Dovecot runs as its own user.
    chmodSync(path, 0o644)
  }
}
