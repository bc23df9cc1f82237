import { execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

export type ImapServer = {
  port: number
  username: string
  password: string
  /** Adds a mail to the inbox, as a delivery would. */
  deliver(raw: string | Buffer): void
  /** Recreates the mailbox with the same mails, which changes UIDVALIDITY and the UIDs. */
  remake(): void
  /** Returns the file names of the inbox, which contain the flags of the mails. */
  files(): string[]
  close(): Promise<void>
}

const PROGRAM = '/usr/sbin/dovecot'

const hasDovecot = (): boolean => existsSync(PROGRAM)

/**
 * Starts Dovecot without privileges on a free port, with a mailbox for one test. Returns the reason as a sentence if
 * there is no Dovecot.
 */
export async function startImapServer(): Promise<ImapServer | string> {
  const isRoot = process.getuid?.() === 0
  if (!hasDovecot()) return 'No Dovecot was found: apt-get install dovecot-imapd.'
  const folder = mkdtempSync(join(tmpdir(), 'parley-imap-'))
  const idOf = (flag: string): number =>
    isRoot
      ? Number(execFileSync('id', [flag, 'dovecot'], { encoding: 'utf8' }))
      : Number(execFileSync('id', [flag]))
  const [uid, gid] = [idOf('-u'), idOf('-g')]
  const user = execFileSync('id', ['-un', String(uid)], { encoding: 'utf8' }).trim()
  const group = execFileSync('id', ['-gn', String(uid)], { encoding: 'utf8' }).trim()
  const port = await freePort()
  const inbox = join(folder, 'mail')
  for (const part of ['', 'cur', 'new', 'tmp']) own(join(inbox, part))
  own(join(folder, 'run'))
  own(folder)
  const version = execFileSync(PROGRAM, ['--version'], { encoding: 'utf8' })
  const options = { folder, port, uid, gid, user, group }
  const config = join(folder, 'dovecot.conf')
  writeFileSync(config, /^2\.[0-3]\./.test(version) ? config23(options) : config24(options))
  const child = spawn(PROGRAM, ['-F', '-c', config], {
    stdio: 'ignore',
    ...(isRoot ? { uid, gid } : {}),
  })
  let ended = false
  const exit = new Promise<void>((resolve) => child.on('exit', () => resolve()))
  void exit.then(() => {
    ended = true
  })
  const close = async (): Promise<void> => {
    if (!ended) child.kill('SIGTERM')
    await Promise.race([exit, wait(2_000)])
    if (!ended) child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  for (let looks = 0; !(await answers(port)); looks++) {
    if (ended || looks > 100) {
      const log = existsSync(join(folder, 'log')) ? readFileSync(join(folder, 'log'), 'utf8').slice(-500) : ''
      await close()
      return `Dovecot ${version.trim()} did not start. ${log}`
    }
    await wait(100)
  }

  function own(path: string): void {
    mkdirSync(path, { recursive: true })
    chmodSync(path, 0o700)
    if (isRoot) chownSync(path, uid, gid)
  }
  let count = 0
  return {
    port,
    username: 'someone',
    password: 'secret',
    deliver(raw) {
      // Dovecot assigns UIDs in the order of the file names.
      const name = `${Math.floor(Date.now() / 1000)}.${String(count++).padStart(6, '0')}.${randomUUID()}`
      const unfinished = join(inbox, 'tmp', name)
      writeFileSync(unfinished, raw)
      if (isRoot) chownSync(unfinished, uid, gid)
      renameSync(unfinished, join(inbox, 'new', name))
    },
    remake() {
      for (const name of listed(inbox)) if (name.startsWith('dovecot')) rmSync(join(inbox, name))
    },
    files: () => [...listed(join(inbox, 'new')), ...listed(join(inbox, 'cur'))],
    close,
  }
}

const listed = (folder: string): string[] =>
  execFileSync('ls', ['-A', folder], { encoding: 'utf8' }).split('\n').filter(Boolean)

type Options = { folder: string; port: number; uid: number; gid: number; user: string; group: string }

const shared = ({ folder, port, user, group }: Options): string => `
base_dir = ${folder}/run
log_path = ${folder}/log
listen = 127.0.0.1
default_internal_user = ${user}
default_internal_group = ${group}
default_login_user = ${user}
first_valid_uid = 1
first_valid_gid = 1
ssl = no
auth_failure_delay = 0
service anvil {
  chroot =
}
service imap-login {
  chroot =
  inet_listener imap {
    port = ${port}
  }
  inet_listener imaps {
    port = 0
  }
}
`

const config23 = (options: Options): string => `
protocols = imap
${shared(options)}
disable_plaintext_auth = no
mail_location = maildir:${options.folder}/mail
passdb {
  driver = static
  args = password=secret
}
userdb {
  driver = static
  args = uid=${options.uid} gid=${options.gid} home=${options.folder}/mail
}
`

const config24 = (options: Options): string => `
dovecot_config_version = 2.4.0
dovecot_storage_version = 2.4.0
protocols {
  imap = yes
}
${shared(options)}
auth_allow_cleartext = yes
mail_driver = maildir
mail_path = ${options.folder}/mail
passdb static {
  password = secret
}
userdb static {
  fields {
    uid = ${options.uid}
    gid = ${options.gid}
    home = ${options.folder}/mail
  }
}
`

export function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('data', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
