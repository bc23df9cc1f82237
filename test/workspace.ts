import assert from 'node:assert/strict'
import { createMember } from '../server/accounts/records/members.ts'
import { hashOfPassword } from '../server/accounts/sign-in/passwords/logins.ts'
import { newId } from '../server/platform/db/ids.ts'
import type { Role } from '../server/platform/db/tables/accounts.ts'
import type { AccountId } from '../server/platform/db/tables/columns.ts'
import type { Answer, Service } from './start.ts'

/** The password of the members that tests sign in. */
export const PASSWORD = 'correct horse battery staple'

export type Browser = {
  /** The values of the cookies by their names. */
  cookies: Map<string, string>
  /** Sends a request as a page of the workspace does. `headers` override the usual ones. */
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
}

let browsers = 0

/** Returns a browser, which has its own client address if the service trusts a proxy. */
export function browserOf(service: Pick<Service, 'url' | 'anonymous'>): Browser {
  const cookies = new Map<string, string>()
  const address = `10.77.${++browsers >> 8}.${browsers & 255}`
  return {
    cookies,
    async request(method, path, body, headers = {}) {
      const answer = await service.anonymous(method, path, body, {
        origin: service.url,
        'x-parley-session': '1',
        'x-forwarded-for': address,
        ...(cookies.size === 0
          ? {}
          : { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') }),
        ...headers,
      })
      for (const line of answer.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        if (value === '' || /max-age=0/i.test(line)) cookies.delete(name)
        else cookies.set(name, value)
      }
      return answer
    },
  }
}

export async function signIn(browser: Browser, email: string, password = PASSWORD): Promise<Answer> {
  return browser.request('POST', '/sign-in', { email, password })
}

export type Worker = Browser & { memberId: string; email: string; role: Role }

let hash: Promise<string> | null = null

/** Creates a member of the account and signs them in. */
export async function memberOf(
  service: Service,
  accountId: AccountId,
  role: Role,
  {
    agentIds = null,
    email = `${role}-${newId()}@example.com`,
  }: { agentIds?: string[] | null; email?: string } = {},
): Promise<Worker> {
  const { db } = service.ctx
  const made = await createMember(
    db,
    { id: accountId, plan: 'unlimited' },
    { email, name: role, role, agentIds },
  )
  assert.ok(typeof made === 'object')
  hash ??= hashOfPassword(PASSWORD)
  const loginId = newId()
  await db
    .insertInto('logins')
    .values({ id: loginId, member_id: made.id, email, name: role, email_verified: true })
    .execute()
  await db
    .insertInto('login_credentials')
    .values({
      id: newId(),
      login_id: loginId,
      provider_id: 'credential',
      subject: loginId,
      password: await hash,
    })
    .execute()
  const browser = browserOf(service)
  const answer = await signIn(browser, email)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return { ...browser, memberId: made.id, email, role }
}
