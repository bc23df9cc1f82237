import { recordAudit } from '../accounts/audit.ts'
import { createMember, membersOf, presenceOf, removeMember } from '../accounts/members.ts'
import { type Command, CommandFailure, required, usageFailure } from './command.ts'
import { accountOf } from './find-account.ts'

const text = { type: 'string' as const }

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

export const memberList: Command = {
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
        presence: presenceOf(row),
      })),
    }
  },
  print: ({ members }) =>
    ((members ?? []) as { id: string; email: string; name: string; presence: string }[])
      .map(({ id, email, name, presence }) => `${id}  ${presence.padEnd(7)}  ${name} <${email}>`)
      .join('\n') || 'The account has no team member.',
}

export const memberRemove: Command = {
  name: 'member remove',
  usage: 'ID',
  summary: 'Removes a team member; their open tickets have no assignee then',
  options: {},
  positionals: { count: 1 },
  run: ({ db }, { positionals: [id = ''] }) =>
    db.transaction().execute(async (trx) => {
      const member = await removeMember(trx, id)
      if (!member) throw new CommandFailure(`There is no member ${id}.`)
      await recordAudit(trx, {
        accountId: member.account_id,
        actor: 'operator',
        action: 'member.remove',
        target: id,
      })
      return { id, removed: true }
    }),
  print: ({ id }) => `${id} is removed.`,
}
