import type { Db } from '../server/platform/db/database.ts'
import { newId } from '../server/platform/db/ids.ts'
import type { AccountId } from '../server/platform/db/tables/columns.ts'

/** Gives a contact a number and an id of a channel, as if the channel had named them. Returns the row of the id. */
export async function addIdentities(
  db: Db,
  owner: { account_id: AccountId; agent_id: string },
  contactId: string,
): Promise<string> {
  const [phone, user, person] = [newId(), newId(), newId()]
  const stated = {
    ...owner,
    contact_id: contactId,
    person,
    channel: 'messaging' as const,
    scope: 'account-1',
    username: null,
    stated_by: 'event-1',
  }
  await db
    .insertInto('contact_identities')
    .values([
      { ...stated, id: phone, kind: 'phone', value: '+46701234567' },
      { ...stated, id: user, kind: 'user', value: 'SE.1234567890' },
    ])
    .execute()
  return user
}
