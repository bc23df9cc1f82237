import type { Static } from 'typebox'
import type { Db } from '../../../platform/db/database.ts'
import { json } from '../../../platform/db/statements/json.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import type { Jobs } from '../../../platform/jobs/jobs.ts'
import { type Account, addSource } from '../../sources/add-source.ts'
import type { SourceRow } from '../../sources/queries.ts'
import type { CreateSource } from '../../sources/schema.ts'
import { isConnected } from '../connection.ts'
import { pageIdOf } from './page-id.ts'

type NewPage = Extract<Static<typeof CreateSource>, { type: 'notionPage' }>

/**
 * Adds a page of the connected workspace. Without a name, it gets the name of its title. Throws PAGES_NOT_CONNECTED,
 * SOURCE_DUPLICATE.
 */
export async function addPage(
  ctx: { db: Db; jobs: Jobs },
  account: Account,
  agentId: string,
  { pageId, name }: NewPage,
): Promise<SourceRow> {
  if (!(await isConnected(ctx.db, { accountId: account.id, agentId })))
    throw new ApiError('PAGES_NOT_CONNECTED')
  return addSource(ctx, account, agentId, {
    type: 'notionPage',
    name: name ?? null,
    content: json({ pageId: pageIdOf(pageId) }),
    size: 0,
  })
}
