import { randomBytes } from 'node:crypto'
import type { Config } from '../../config.ts'
import type { Db } from '../../platform/db/database.ts'
import { finishRotation, RotationRefused, rotateKey } from '../../platform/secrets/rotate-key.ts'
import { createSealKey } from '../../platform/secrets/seal.ts'
import { keepKey, MIN_KEY_LENGTH } from '../../platform/secrets/secret-key.ts'
import type { Secrets } from '../../platform/secrets/secrets.ts'
import { CommandFailure, type SecretOperations } from '../command.ts'

type Deps = {
  db: Db
  embedded: boolean
  config: Pick<Config, 'secretKey' | 'dataDir'>
  openSecrets(): Promise<Secrets>
}

/** Returns the operations on the secret key. They throw CommandFailure. */
export const secretOperations = ({ db, embedded, config, openSecrets }: Deps): SecretOperations => ({
  async rotate(secret) {
    if (secret !== null && secret.length < MIN_KEY_LENGTH)
      throw new CommandFailure(`The new key must have at least ${MIN_KEY_LENGTH} characters.`)
    if (secret === null && config.secretKey !== null)
      throw new CommandFailure(
        'The key of this installation is in SECRET_KEY: write a new one to a file and pass it with --key-file.',
      )
    const secrets = await openSecrets()
    const wanted = createSealKey(secret ?? randomBytes(32).toString('base64url'))
    const { to, rewritten, unreadable } = await refusable(() =>
      rotateKey(db, secrets, wanted, secret !== null),
    )
    if (config.secretKey === null) await keepKey(config.dataDir, to.secret)
    // No other process has this database open, and the next start reads the new key from the file.
    const finished = embedded && config.secretKey === null
    if (finished) await refusable(() => finishRotation(db, secrets))
    return { keyId: to.id, rewritten, unreadable, finished }
  },
  async finish() {
    const secrets = await openSecrets()
    return refusable(() => finishRotation(db, secrets))
  },
})

async function refusable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof RotationRefused ? new CommandFailure(error.message) : error
  }
}
