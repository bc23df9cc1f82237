import { recordAudit } from '../../accounts/audit/audit.ts'
import { activeKeysBy } from '../../accounts/keys/keys.ts'
import { createLink, linkTo } from '../../accounts/links/links.ts'
import { createMember, membersOf, presenceOf, removeMember } from '../../accounts/records/members.ts'
import { removeIdentity, removeSecondFactor } from '../../accounts/sign-in/passwords/logins.ts'
import type { Trx } from '../../platform/db/database.ts'
import { isId } from '../../platform/db/ids.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { type Command, CommandFailure, command, required, usageFailure } from '../command.ts'
import { accountOf } from './find-account.ts'

const text = { type: 'string' as const }

const noMember = (id: string): CommandFailure => new CommandFailure(`There is no member ${id}.`)

async function accountOfMember(trx: Trx, id: string): Promise<AccountId> {
  const member = isId(id)
    ? await trx.selectFrom('members').select('account_id').where('id', '=', id).executeTakeFirst()
    : undefined
  if (!member) throw noMember(id)
  return member.account_id
}

export const memberCreate: Command = {
  name: 'member create',
  usage: '[--account ID] --email E --name N',
  summary: 'Adds a team member',
  options: { account: text, email: text, name: text },
  async run({ db }, input) {
    const email = required(input, 'email')
    if (!/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email)) throw usageFailure(`"${email}" is no e-mail address.`)
    const name = required(input, 'name')
    const account = await accountOf(db, input)
    const member = await createMember(db, account, { email, name })
    if (member === 'taken') throw new CommandFailure(`The account already has a member ${email}.`)
    if (member === 'full') throw new CommandFailure('The account has as many members as its plan allows.')
    return member
  },
  print: ({ id }) => String(id),
}

export const setUpLink: Command = {
  name: 'setup-link',
  usage: '[--account ID]',
  summary:
    'Creates a link with which somebody becomes an owner of the account; it works once, within 24 hours',
  options: { account: text },
  async run({ db, origin }, input) {
    const account = await accountOf(db, input)
    return db.transaction().execute(async (trx) => {
      // An earlier link must stop working.
      await trx
        .deleteFrom('login_links')
        .where('account_id', '=', account.id)
        .where('kind', '=', 'set-up')
        .execute()
      const wanted = { accountId: account.id, kind: 'set-up', createdBy: 'operator' } as const
      const { row, token } = await createLink(trx, wanted)
      await recordAudit(trx, {
        accountId: account.id,
        actor: 'operator',
        action: 'account.setup-link',
        target: account.id,
      })
      return { link: linkTo(origin, 'set-up', token), expiresAt: row.expires_at.toISOString() }
    })
  },
  print: ({ link, expiresAt }) => `${link}\n(works once, until ${expiresAt})`,
}

export const memberResetLink: Command = {
  name: 'member reset-link',
  usage: 'ID',
  summary: 'Creates a link with which a member chooses a new password; it works once, within an hour',
  options: {},
  positionals: { count: 1 },
  run: ({ db, origin }, { positionals: [id = ''] }) =>
    db.transaction().execute(async (trx) => {
      const accountId = await accountOfMember(trx, id)
      await trx.deleteFrom('login_links').where('kind', '=', 'reset').where('member_id', '=', id).execute()
      const wanted = { accountId, kind: 'reset', createdBy: 'operator', memberId: id } as const
      const { row, token } = await createLink(trx, wanted)
      await recordAudit(trx, { accountId, actor: 'operator', action: 'member.reset-link', target: id })
      return { link: linkTo(origin, 'reset', token), expiresAt: row.expires_at.toISOString() }
    }),
  print: ({ link, expiresAt }) => `${link}\n(works once, until ${expiresAt})`,
}

export const memberList = command({
  name: 'member list',
  usage: '[--account ID]',
  summary: "Lists an account's team members",
  options: { account: text },
  async run({ db }, input) {
    const account = await accountOf(db, input)
    const members = await membersOf(db, account.id)
    return {
      members: members.map((row) => ({
        id: row.id,
        email: row.email,
        name: row.name,
        role: row.role,
        presence: presenceOf(row),
      })),
    }
  },
  print: ({ members }) =>
    members
      .map(
        ({ id, email, name, role, presence }) =>
          `${id}  ${role.padEnd(7)}  ${presence.padEnd(7)}  ${name} <${email}>`,
      )
      .join('\n') || 'The account has no team member.',
})

export const memberRemove = command({
  name: 'member remove',
  usage: 'ID',
  summary: 'Removes a team member; their open tickets lose their assignee',
  options: {},
  positionals: { count: 1 },
  run: ({ db }, { positionals: [id = ''] }) =>
    db.transaction().execute(async (trx) => {
      const accountId = await accountOfMember(trx, id)
      if (!(await removeMember(trx, accountId, id))) throw noMember(id)
      await recordAudit(trx, { accountId, actor: 'operator', action: 'member.remove', target: id })
      const activeKeys = await activeKeysBy(trx, accountId, `member:${id}`)
      return { id, removed: true, activeKeys }
    }),
  print: ({ id, activeKeys }) =>
    [
      `${id} is removed.`,
      ...activeKeys.map((key) => `A key that they created still works; revoke it with: keys revoke ${key}`),
    ].join('\n'),
})

export const memberRemoveSecondFactor: Command = {
  name: 'member remove-second-factor',
  usage: 'ID',
  summary: 'Removes the second factor of a member who has lost it; then the password alone is enough',
  options: {},
  positionals: { count: 1 },
  run: ({ db }, { positionals: [id = ''] }) =>
    db.transaction().execute(async (trx) => {
      const accountId = await accountOfMember(trx, id)
      if (!(await removeSecondFactor(trx, id))) throw new CommandFailure('The member has no second factor.')
      const entry = { actor: 'operator', action: 'second-factor.remove', target: id }
      await recordAudit(trx, { accountId, ...entry })
      return { id, removed: true }
    }),
  print: ({ id }) => `${id} now signs in with the password alone. Their sessions have ended.`,
}

export const memberRemoveIdentity: Command = {
  name: 'member remove-identity',
  usage: 'ID',
  summary:
    'Unlinks a member from their identity at the provider; the next person there with their address is linked',
  options: {},
  positionals: { count: 1 },
  run: ({ db }, { positionals: [id = ''] }) =>
    db.transaction().execute(async (trx) => {
      const accountId = await accountOfMember(trx, id)
      if (!(await removeIdentity(trx, id)))
        throw new CommandFailure('The member is not linked to an identity of the provider.')
      const entry = { actor: 'operator', action: 'identity.remove', target: id }
      await recordAudit(trx, { accountId, ...entry })
      return { id, removed: true }
    }),
  print: ({ id }) =>
    `The sessions of ${id} have ended. The next person whom the identity provider knows by their address can sign in.`,
}
