import type { MailPeople } from '../../platform/db/tables/channels.ts'
import type { MailAddress } from '../../platform/mail/mail-address.ts'
import type { ThreadRow } from './enqueue-delivery.ts'

/** Those of a mail thread who get its answers. */
export type ThreadPeople = {
  /** The sender of the first mail, and never an address that only a later mail names. */
  to: MailAddress
  /** The sender of the last mail, if it is somebody else. */
  alsoTo: string | null
  /** The other people whom the last mail was sent to. */
  cc?: MailAddress[]
  /** Those of `cc` to whom answers go that no member has read before. */
  answersCc?: MailAddress[]
}

/** Returns all people of a mail thread, or null for a thread of another channel. */
export function peopleOfThread({ data }: Pick<ThreadRow, 'data'>): MailPeople | null {
  if (!('to' in data)) return null
  const { to, alsoTo, cc = [] } = data as ThreadPeople
  return peopleWith({ to, alsoTo }, cc)
}

/** Returns whom the agent answers: anybody can name others in a forged mail, and no member looks at them first. */
export function answeredByAgent({ data }: Pick<ThreadRow, 'data'>): MailPeople | null {
  if (!('to' in data)) return null
  const { to, alsoTo, answersCc = [] } = data as ThreadPeople
  return peopleWith({ to, alsoTo }, answersCc)
}

function peopleWith({ to, alsoTo }: Pick<ThreadPeople, 'to' | 'alsoTo'>, cc: MailAddress[]): MailPeople {
  const also =
    alsoTo === null ? [] : [cc.find(({ address }) => address === alsoTo) ?? { address: alsoTo, name: null }]
  return withoutRepeated({ to: [to], cc: [...also, ...cc], bcc: [] })
}

/** Each address gets a mail once, in the most visible place. */
export function withoutRepeated({ to, cc, bcc }: MailPeople): MailPeople {
  const seen = new Set<string>()
  const once = (people: MailAddress[]): MailAddress[] =>
    people.filter(({ address }) => !seen.has(address) && seen.add(address))
  return { to: once(to), cc: once(cc), bcc: once(bcc) }
}
