import { useContact } from '../contacts/use-contact.ts'
import { IconButton } from '../ui/button.tsx'
import { Check, Copy } from '../ui/icons.ts'
import { useCopy } from '../ui/use-copy.ts'
import classes from './conversations.module.css'

/** Longer ids are made by programs and tell people nothing. */
const MAX_LENGTH = 24
const TOLD = 6

type VisitorNameProps = { agentId: string; userId: string }

/** Shows who a conversation is with, and copies the whole user id. */
export function VisitorName({ agentId, userId }: VisitorNameProps) {
  const [isCopied, copy] = useCopy()
  const { contact } = useContact(agentId, userId)
  const short = userId.length > MAX_LENGTH ? `Visitor ${userId.slice(-TOLD)}` : userId
  return (
    <span className={classes.visitorName} title={userId}>
      <span dir="auto">{contact?.name || contact?.email || short}</span>
      <IconButton
        icon={isCopied ? Check : Copy}
        label={isCopied ? 'Copied' : 'Copy the user id'}
        onClick={() => void copy(userId)}
      />
    </span>
  )
}
