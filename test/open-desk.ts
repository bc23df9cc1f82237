import assert from 'node:assert/strict'
import { createMember } from '../server/accounts/records/members.ts'
import { customerWrites } from './customer-writes.ts'
import type { Client, Service } from './start.ts'
import { takeIn } from './take-in.ts'

/** An account with an agent and members, for tests of the help desk. */
export type Desk = {
  client: Client
  agentId: string
  /** The ids of the members by name. Each has the email address name@example.com. */
  members: Record<string, string>
  owner: { accountId: Client['accountId']; agentId: string }
  call(method: string, path: string, body?: object): ReturnType<Client['request']>
  /** Opens a ticket and returns the body of the response. */
  open(fields?: object): Promise<{ ticketNumber: number } & Record<string, unknown>>
}

export async function openDesk(service: Service, names: string[] = ['ann', 'bob']): Promise<Desk> {
  const client = await service.account()
  const agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
  const members: Record<string, string> = {}
  for (const name of names) {
    const account = { id: client.accountId, plan: 'unlimited' }
    const made = await createMember(service.ctx.db, account, { email: `${name}@example.com`, name })
    members[name] = (made as { id: string }).id
  }
  const call: Desk['call'] = (method, path, body) =>
    client.request(method, `/agents/${agentId}/helpdesk${path}`, body)
  return {
    client,
    agentId,
    members,
    owner: { accountId: client.accountId, agentId },
    call,
    async open(fields = {}) {
      const body = {
        subject: 'Late',
        description: 'Where is it?',
        customer: { email: 'eve@example.org' },
        ...fields,
      }
      const answer = await call('POST', '/tickets', body)
      assert.equal(answer.status, 201, JSON.stringify(answer.body))
      return answer.body
    },
  }
}

/** Receives a customer's message on a channel, processes it at once and returns the id of its conversation. */
export async function write(
  service: Service,
  { owner }: Desk,
  text: string,
  peer = '+12025550100',
): Promise<string> {
  const { db } = service.ctx
  // The agent does not answer it, because these tests are about people.
  const { threadId } = await customerWrites(service, owner, text, { peer, silent: true })
  await takeIn(service, owner.agentId)
  const { id } = await db
    .selectFrom('conversations')
    .select('id')
    .where('thread_id', '=', threadId)
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()
  return id
}
