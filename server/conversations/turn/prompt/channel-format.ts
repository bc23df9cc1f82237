import type { channels } from '../../../agents/settings/settings-schema.ts'

const SHORT = 'One to four sentences are usually enough.'
const CHAT = `${SHORT} The answer is shown in a chat: lists, bold text, links, tables and code of Markdown are fine where they help, headings and images are not.`
/** Where numbers of passages are taken out, an address tells where something stands. */
const NO_NUMBERS =
  'The numbers of passages are taken out before it is sent; where the customer should read more, write the address of the passage.'

/** What a model is told about length, Markdown and links, by the channel on which its answer is read. */
const FORMATS: Record<(typeof channels)[number], string> = {
  chat_widget: CHAT,
  help_page: CHAT,
  center_stage: CHAT,
  side_panel: CHAT,
  search: CHAT,
  android_sdk: CHAT,
  ios_sdk: CHAT,
  api: `${SHORT} It is not known whether Markdown is shown, so write text that also reads well without it.`,
  messaging: `A few short sentences are enough, because it is read in a messenger. Bold text and simple lists of Markdown are fine; headings, tables and images are not. Write addresses out. ${NO_NUMBERS}`,
  email: `The answer is sent as a mail, without your greeting, subject or signature. Write short paragraphs, as many as the question needs. Lists, bold text, links and tables of Markdown are fine. ${NO_NUMBERS}`,
  phone:
    'The answer is spoken: one to three sentences as one says them, without Markdown, lists, addresses and symbols.',
}

export const formatFor = (channel: string, isSpoken: boolean): string =>
  isSpoken ? FORMATS.phone : (FORMATS[channel as keyof typeof FORMATS] ?? FORMATS.api)
