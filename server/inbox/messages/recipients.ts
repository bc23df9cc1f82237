import type { MailPeople } from '../../platform/db/tables/channels.ts'
import { invalidField } from '../../platform/http/errors.ts'
import type { Details } from '../../platform/http/input/validate.ts'
import { type MailAddress, mailAddress } from '../../platform/mail/mail-address.ts'
import { withoutRepeated } from '../deliveries/mail-people.ts'
import type { ReplyChannel } from './reply-channel.ts'

/** The most recipients of one mail, which many servers limit. */
const MAX_RECIPIENTS = 50
const FIELDS = ['to', 'cc', 'bcc'] as const

/** The recipients as they were requested. What is missing stays as it would be without a choice. */
export type ChosenPeople = { to?: string[]; cc?: string[]; bcc?: string[] }

/** Leaves out what was not requested. */
export const chosenIn = ({ to, cc, bcc }: ChosenPeople): ChosenPeople => ({
  ...(to === undefined ? {} : { to }),
  ...(cc === undefined ? {} : { cc }),
  ...(bcc === undefined ? {} : { bcc }),
})

/** Returns the problems of addresses, by their places. */
export function problemsOfPeople(chosen: ChosenPeople): Details {
  const problems: Record<string, string> = {}
  for (const field of FIELDS)
    for (const [at, text] of (chosen[field] ?? []).entries())
      if (mailAddress(text) === null)
        problems[`${field}.${at}`] = 'Must be an e-mail address like ann@example.com.'
  const count = FIELDS.reduce((sum, field) => sum + (chosen[field]?.length ?? 0), 0)
  if (count > MAX_RECIPIENTS) problems.to = `A mail can go to at most ${MAX_RECIPIENTS} addresses.`
  return problems
}

/** Returns the recipients of a mail; null if the reply is no mail. Throws VALIDATION_INVALID_BODY. */
export function chosenPeople(way: ReplyChannel | null, chosen: ChosenPeople): MailPeople | null {
  const field = FIELDS.find((name) => chosen[name] !== undefined)
  if (!way?.people) {
    if (field === undefined) return null
    throw invalidField(field, 'Recipients can only be chosen for a ticket whose customer is reached by mail.')
  }
  const known = [...way.people.to, ...way.people.cc]
  const listed = (name: 'to' | 'cc' | 'bcc'): MailAddress[] =>
    chosen[name] === undefined ? (way.people?.[name] ?? []) : addressesOf(chosen[name], known)
  const people = withoutRepeated({ to: listed('to'), cc: listed('cc'), bcc: listed('bcc') })
  if (people.to.length === 0) throw invalidField('to', 'Must name somebody.')
  return people
}

/** Names are taken from the people who are known already. */
function addressesOf(texts: string[], known: MailAddress[]): MailAddress[] {
  return texts.flatMap((text) => {
    const address = mailAddress(text)
    return address === null ? [] : [known.find((one) => one.address === address) ?? { address, name: null }]
  })
}
