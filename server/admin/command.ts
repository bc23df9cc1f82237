import type { ParseArgsConfig } from 'node:util'
import type { Catalogue } from '../ai/catalogue/catalogue.ts'
import type { Models } from '../ai/models.ts'
import type { Config } from '../config.ts'
import type { Knowledge } from '../knowledge/search/knowledge.ts'
import type { EraseNeeds } from '../people/privacy/erasing/erase-user.ts'
import type { Db } from '../platform/db/database.ts'
import { codeOf, messageOf } from '../platform/unknown-values.ts'

type Rotated = { keyId: string; rewritten: number; unreadable: number; finished: boolean }

export type SecretOperations = {
  /** Replaces the secret key with the given one or a new one. Resumes a rotation that was interrupted. */
  rotate(secret: string | null): Promise<Rotated>
  /** Completes a rotation; from then on, the old key decrypts nothing. */
  finish(): Promise<{ keyId: string }>
}

/** The services that commands use, which are the same inside and outside the running service. */
export type Operations = {
  db: Db
  embedded: boolean
  dataDir: string
  filesDir: string
  /** The URL at which people reach the service, for links. */
  origin: string
  /** Resolves to whether a running service is using this data. */
  isServed(): Promise<boolean>
  /** Resolves when every process has seen the switch. */
  setMaintenance(on: boolean): Promise<void>
  secrets: SecretOperations
  /** Resumes unfinished work of a restored database; does nothing where no worker runs. */
  resume(): Promise<void>
  /** Returns the search. A command outside the service creates it on first use. */
  openKnowledge(): Pick<Knowledge, 'search'>
  /** Returns the models, created in the same way. */
  openModels(): { catalogue: Catalogue; models: Models }
  /** What erasing an end user needs in addition to the database. */
  erasing: Omit<EraseNeeds, 'db'>
}

export type Input = { values: Record<string, string | undefined>; positionals: string[] }
export type Result = Record<string, unknown>

/** One command of the operating interface. */
export type Command<R extends Result = Result> = {
  /** The name as it is typed, such as `account create`. */
  name: string
  /** The arguments after the name. */
  usage: string
  summary: string
  options: NonNullable<ParseArgsConfig['options']>
  /**
   * The number of arguments, or the least and the most of them, and which of them are paths, which are resolved against the
   * directory in which the command was typed.
   */
  positionals?: { count: number; most?: number; paths?: boolean | number[] }
  /** Creates the database of an installation that has lost it, because the command replaces all data. */
  createIfLost?: true
  /** Leaves the database as a former version left it; all other commands upgrade it first. */
  withoutUpgrade?: true
  run(operations: Operations, input: Input): Promise<R>
  print(result: R): string
  /** Whether the result is one that a script should stop at: the exit code is then 1. */
  isFailure?(result: R): boolean
}

/** Gives `print` the type of what `run` returns. */
export const command = <R extends Result>(one: Command<R>): Command => one

/** A command that runs in the process in which it was typed, whether or not there is a database. */
export type LocalCommand = Omit<Command, 'run' | 'createIfLost' | 'withoutUpgrade'> & {
  runHere(config: Config, input: Input, say: (line: string) => void): Promise<Result>
}

/** A failed command, with a one-sentence message and an exit code of sysexits.h. */
export class CommandFailure extends Error {
  override name = 'CommandFailure'
  readonly exitCode: 1 | 64 | 69
  constructor(message: string, exitCode: 1 | 64 | 69 = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

export const usageFailure = (message: string): CommandFailure => new CommandFailure(message, 64)

/** Returns a required text option. */
export function required(input: Input, option: string): string {
  const value = input.values[option]?.trim()
  if (!value) throw usageFailure(`--${option} is required.`)
  return value
}

/** Returns the message of any other error in one line. */
export function sentenceOf(error: unknown): string {
  return (messageOf(error) || codeOf(error) || String(error)).split('\n')[0] ?? ''
}
