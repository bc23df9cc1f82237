import classes from './mail.module.css'

type Person = { name: string | null; address: string }
export type MailOfMessage = {
  from?: Person | null
  to?: Person[]
  cc?: Person[]
  bcc?: Person[]
  hasHtml?: boolean
}

const TITLES = { from: 'From', to: 'To', cc: 'Cc', bcc: 'Bcc' } as const

/** Says who wrote the mail of a message, and to whom it went. */
export function MailPeople({ mail }: { mail: MailOfMessage }) {
  const lines = (['from', 'to', 'cc', 'bcc'] as const).flatMap((name) => {
    const people = [mail[name] ?? []].flat()
    return people.length > 0 ? [`${TITLES[name]}: ${people.map(nameOf).join(', ')}`] : []
  })
  return (
    lines.length > 0 && (
      <p className={classes.mailPeople} dir="auto">
        {lines.join(' · ')}
      </p>
    )
  )
}

const nameOf = ({ name, address }: Person): string => (name ? `${name} <${address}>` : address)
