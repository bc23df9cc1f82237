import MailComposer from 'nodemailer/lib/mail-composer'
import { withNotice } from '../../../inbox/deliveries/enqueue-delivery.ts'
import { renderMarkdown } from '../../../inbox/messages/render/render-markdown.ts'
import type { MailPeople } from '../../../platform/db/tables/channels.ts'
import type { DeliveryContent } from '../../../platform/db/tables/deliveries.ts'
import type { MailAddress } from '../../../platform/mail/mail-address.ts'
import { domainOf, oneLine } from '../../../platform/mail/mail-address.ts'
import { escapeHtml } from '../../../platform/text/safety/escape-html.ts'
import { linksTo, withoutForeignLinks } from '../../../platform/text/safety/foreign-links.ts'
import { markedAddress, messageIdOf, ownReferenceOf } from '../connection/thread-marks.ts'
import type { MailFile } from '../parse/parsed-mail.ts'
import type { MailThread } from './mail-threads.ts'

type Outgoing = {
  deliveryId: string
  from: MailAddress
  key: Buffer
  /** The mailbox accepts mail to name+anything@. */
  plusAddressing: boolean
  peer: string
  thread: MailThread
  people: MailPeople
  /** Markdown, or HTML that a person wrote and that was sanitised when it was received. */
  text: string
  html: string | undefined
  /** The hosts that links may lead to; undefined allows all. */
  linkHosts: string[] | undefined
  notice: DeliveryContent['notice']
  signature?: string | undefined
  files: MailFile[]
  /** The agent and not a person wrote it. */
  automatic: boolean
}

/** Returns the mail with its envelope and its Message-ID, which is the same whenever the delivery is composed. */
export async function composeMail(mail: Outgoing): Promise<{
  raw: Buffer
  envelope: { from: string; to: string[] }
  messageId: string
}> {
  const { from, key, peer, thread, people, automatic, notice } = mail
  const ids = [key, mail.deliveryId, peer, domainOf(from.address)] as const
  const messageId = messageIdOf(...ids)
  const replyTo = mail.plusAddressing ? markedAddress(key, from.address, peer) : null
  const mayLink = mail.linkHosts && linksTo(mail.linkHosts)
  const named = ({ address, name }: MailAddress) => ({ address, name: oneLine(name ?? '', 200) })
  const node = new MailComposer({
    from: named(from),
    to: people.to.map(named),
    cc: people.cc.map(named),
    ...(replyTo ? { replyTo: named({ address: replyTo, name: from.name }) } : {}),
    subject: oneLine(thread.subject, 500) || 'Your message',
    // Mail programs know a signature by its first line (RFC 3676, 4.3).
    text:
      withNotice(mayLink ? withoutForeignLinks(mail.text, mayLink) : mail.text, notice) +
      (mail.signature ? `\n\n-- \n${mail.signature}` : ''),
    html: page(
      withNotice(
        mail.html ?? renderMarkdown(mail.text, mayLink),
        notice && { ...notice, text: `<p>${escapeHtml(notice.text)}</p>` },
      ) + (mail.signature ? `\n<div class="signature">-- <br />${renderMarkdown(mail.signature)}</div>` : ''),
    ),
    attachments: mail.files.map(({ name, mediaType, bytes }) => ({
      filename: name,
      contentType: mediaType,
      contentDisposition: 'attachment',
      content: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    })),
    messageId,
    ...(thread.lastReceived?.startsWith('<') ? { inReplyTo: thread.lastReceived } : {}),
    references: [...thread.references.filter((id) => id.startsWith('<')), ownReferenceOf(...ids)],
    // `All` would suppress non-delivery reports as well (MS-OXOMSG 2.2.1.77).
    headers: automatic
      ? { 'Auto-Submitted': 'auto-replied', 'X-Auto-Response-Suppress': 'DR, RN, NRN, OOF, AutoReply' }
      : {},
    disableFileAccess: true,
    disableUrlAccess: true,
  }).compile()
  // People in Bcc are recipients of the envelope and in no header.
  const to = [...people.to, ...people.cc, ...people.bcc].map(({ address }) => address)
  return { raw: await node.build(), envelope: { from: from.address, to }, messageId }
}

const page = (html: string): string =>
  `<!doctype html><html><head><meta charset="utf-8"></head><body>${html}</body></html>`
