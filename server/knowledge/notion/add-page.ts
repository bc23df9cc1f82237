import type { Static } from 'typebox'
import type { Context } from '../../context.ts'
import { json } from '../../db/json.ts'
import { ApiError, invalidField } from '../../http/errors.ts'
import { type Account, addSource } from '../add-source.ts'
import type { SourceRow } from '../queries.ts'
import type { CreateSource } from '../schema.ts'
import { isConnected } from './connection.ts'

type NewPage = Extract<Static<typeof CreateSource>, { type: 'notionPage' }>

/**
 * Adds a page of the connected workspace; without a name it is called by its title. Throws PAGES_NOT_CONNECTED,
 * SOURCE_DUPLICATE.
 */
export async function addPage(
  ctx: Pick<Context, 'db' | 'jobs'>,
  account: Account,
  agentId: string,
  { pageId, name }: NewPage,
): Promise<SourceRow> {
  const id = pageIdOf(pageId)
  if (!(await isConnected(ctx.db, account.id, agentId))) throw new ApiError('PAGES_NOT_CONNECTED')
  return addSource(ctx, account, agentId, {
    type: 'notionPage',
    name: name ?? null,
    content: json({ pageId: id }),
    size: 0,
  })
}

const pageForm =
  /^(?:https?:\/\/\S*[/-])?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})(?:[?#]\S*)?$/i

/** A UUID with dashes. Ids come with and without them; the end of a page's web address is one, too. */
function pageIdOf(text: string): string {
  const parts = pageForm.exec(text.trim())
  if (!parts) throw invalidField('pageId', 'Must be the id or the web address of a page.')
  return parts.slice(1).join('-').toLowerCase()
}
