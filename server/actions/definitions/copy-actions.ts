import type { AgentReactions } from '../../agents/records/agent-reactions.ts'
import type { Trx } from '../../platform/db/database.ts'
import { newId } from '../../platform/db/ids.ts'
import { json } from '../../platform/db/statements/json.ts'
import { placeOfHeader } from '../../platform/secrets/sealed-columns.ts'
import type { Secrets } from '../../platform/secrets/secrets.ts'
import type { ActionRow } from './action-queries.ts'

/** Copies an agent's actions, with their headers encrypted anew, and its procedures to its clone. */
export const copyActions =
  ({ secrets }: { secrets: Secrets }): AgentReactions['copyActions'] =>
  async (trx, accountId, fromAgentId, toAgentId) => {
    const actions = await trx
      .selectFrom('actions')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('agent_id', '=', fromAgentId)
      .orderBy('created_at')
      .orderBy('id')
      .execute()
    if (actions.length > 0) {
      const copies = await eachInTurn(actions, async (row) => {
        const id = newId()
        return {
          ...row,
          id,
          agent_id: toAgentId,
          channels: json(row.channels),
          inputs: json(row.inputs),
          http: json(row.http && { ...row.http, headers: await copyHeaders(secrets, trx, row, id) }),
        }
      })
      await trx.insertInto('actions').values(copies).execute()
    }
    const procedures = await trx
      .selectFrom('procedures')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('agent_id', '=', fromAgentId)
      .orderBy('created_at')
      .orderBy('id')
      .execute()
    if (procedures.length > 0) {
      const copies = procedures.map((row) => ({
        ...row,
        id: newId(),
        agent_id: toAgentId,
        steps: json(row.steps),
      }))
      await trx.insertInto('procedures').values(copies).execute()
    }
  }

async function copyHeaders(
  secrets: Secrets,
  trx: Trx,
  { id, http }: ActionRow,
  copyId: string,
): Promise<Record<string, string>> {
  const headers = Object.entries(http?.headers ?? {})
  const copies = await eachInTurn(headers, async ([name, text]) => {
    const value = await secrets.decrypt(text, placeOfHeader(id, name), trx)
    return [name, await secrets.encrypt(trx, value, placeOfHeader(copyId, name))] as const
  })
  return Object.fromEntries(copies)
}

async function eachInTurn<T, R>(values: T[], work: (value: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (const value of values) results.push(await work(value))
  return results
}
