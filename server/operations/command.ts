import type { ParseArgsConfig } from 'node:util'
import type { Db } from '../db/database.ts'
import type { Knowledge } from '../knowledge/index/knowledge.ts'
import type { Catalogue } from '../models/catalogue/catalogue.ts'
import type { Models } from '../models/models.ts'
import type { EraseNeeds } from '../privacy/erasing/erase-user.ts'

export type Rotated = { keyId: string; rewritten: number; unreadable: number; finished: boolean }

export type SecretOperations = {
  /** Replaces the secret key by the given one, or by a new one. Resumes a rotation that was interrupted. */
  rotate(secret: string | null): Promise<Rotated>
  /** Finishes a rotation, after which the old key no longer decrypts anything. */
  finish(): Promise<{ keyId: string }>
}

/** The services that commands use; they are the same inside and outside the running service. */
export type Operations = {
  db: Db
  filesDir: string
  /** The URL at which people reach the service, for links. */
  origin: string
  /** Resolves to whether a running service uses this data now. */
  isServed(): Promise<boolean>
  /** Returns when every process has seen the switch. */
  setMaintenance(on: boolean): Promise<void>
  secrets: SecretOperations
  /** Resumes what a restored database was in the middle of; does nothing where no worker runs. */
  resume(): Promise<void>
  /** Returns the search. A command outside of the service creates it on first use. */
  openKnowledge(): Pick<Knowledge, 'search'>
  /** Returns the models, created in the same way. */
  openModels(): { catalogue: Catalogue; models: Models }
  /** What erasing an end user needs besides the database. */
  erasing: Omit<EraseNeeds, 'db'>
}

export type Input = { values: Record<string, string | undefined>; positionals: string[] }
export type Result = Record<string, unknown>

/** One command of the operating interface (contract, section 10). */
export type Command = {
  /** The name as it is typed, such as `account create`. */
  name: string
  /** What follows the name. */
  usage: string
  summary: string
  options: NonNullable<ParseArgsConfig['options']>
  /** How many words follow, and which of them are paths, which are resolved where the command is typed. */
  positionals?: { count: number; paths?: boolean | number[] }
  run(operations: Operations, input: Input): Promise<Result>
  print(result: Result): string
}

/** Why a command did not do its work, as one sentence; the codes are those of sysexits.h. */
export class CommandFailure extends Error {
  override name = 'CommandFailure'
  readonly exitCode: 1 | 64 | 69
  constructor(message: string, exitCode: 1 | 64 | 69 = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

export const usageFailure = (message: string): CommandFailure => new CommandFailure(message, 64)

/** A text option that must be there. */
export function required(input: Input, option: string): string {
  const value = input.values[option]?.trim()
  if (!value) throw usageFailure(`--${option} is required.`)
  return value
}

/** Any other error as one line. */
export function sentenceOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException
  return (message || code || String(error)).split('\n')[0] ?? ''
}
