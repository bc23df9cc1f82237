import { rm } from 'node:fs/promises'
import type { Context } from '../context.ts'
import type { AccountId } from '../platform/db/tables/columns.ts'
import type { Task } from '../platform/jobs/jobs.ts'
import { safePath } from './pictures/safe-path.ts'

export const REMOVE_FILES = 'remove-files'
/** The path below the files folder: an account's, an agent's or a source's. */
export type RemoveFiles = { folder: string }

/** The background job that deletes everything of a deleted agent and stops its running replies. */
export const EMPTY_AGENT = 'empty-agent'
export type EmptyAgent = { accountId: AccountId; agentId: string; generationIds: string[] }

/** Removes uploaded files after the rows that named them are gone. */
const removeFiles = ({ filesDir }: Pick<Context, 'filesDir'>): Task<RemoveFiles> => ({
  name: REMOVE_FILES,
  concurrency: 1,
  retries: 10,
  async run({ folder }) {
    await rm(safePath(filesDir, folder), { recursive: true, force: true })
  },
})

export const agentJobs = (ctx: Pick<Context, 'filesDir'>): Task<never>[] => [removeFiles(ctx)]
