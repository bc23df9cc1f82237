import { readFile } from 'node:fs/promises'
import { recordAudit } from '../../accounts/audit/audit.ts'
import { type Command, CommandFailure, command, sentenceOf } from '../command.ts'

export const secretsRotate = command({
  name: 'secrets rotate',
  usage: '[--key-file FILE]',
  summary: 'Rotates the key that secrets are encrypted with; if it is interrupted, run it again',
  options: { 'key-file': { type: 'string' } },
  async run({ db, secrets }, { values }) {
    const rotated = await secrets.rotate(await keyIn(values['key-file']))
    const action = rotated.finished ? 'secrets.rotate' : 'secrets.rotate-begin'
    await recordAudit(db, { accountId: null, actor: 'operator', action, target: rotated.keyId })
    return rotated
  },
  print({ keyId, rewritten, unreadable, finished }) {
    const lost = unreadable > 0 ? ` ${unreadable} rows could not be read with the old key, either.` : ''
    const next = finished
      ? 'The old key no longer decrypts anything.'
      : 'Both keys are valid. Start every process again with the new key, then run "secrets finish".'
    return `${rewritten} rows have been encrypted with the new key ${keyId}.${lost} ${next}`
  },
})

export const secretsFinish: Command = {
  name: 'secrets finish',
  usage: '',
  summary: 'Completes a key rotation: the old key no longer decrypts anything',
  options: {},
  async run({ db, secrets }) {
    const { keyId } = await secrets.finish()
    await recordAudit(db, { accountId: null, actor: 'operator', action: 'secrets.rotate', target: keyId })
    return { keyId }
  },
  print: ({ keyId }) => `Only the key ${keyId} is valid now.`,
}

async function keyIn(file: string | undefined): Promise<string | null> {
  if (file === undefined) return null
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    throw new CommandFailure(`The key cannot be read: ${sentenceOf(error)}`)
  }
}
