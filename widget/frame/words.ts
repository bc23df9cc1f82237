import { ar } from './words/ar.ts'
import { de } from './words/de.ts'
import { es } from './words/es.ts'
import { fr } from './words/fr.ts'
import { it } from './words/it.ts'
import { ja } from './words/ja.ts'
import { nl } from './words/nl.ts'
import { pl } from './words/pl.ts'
import { pt } from './words/pt.ts'
import { tr } from './words/tr.ts'
import { zh } from './words/zh.ts'

/** What the controls say, in English. `{0}` stands for what is put in. */
export const ENGLISH = {
  chat: 'Chat',
  assistant: 'AI assistant',
  you: 'You',
  agent: 'Assistant',
  isAnswering: '{0} is answering',
  personAnswers: 'A person is answering',
  teamReplies: 'Our team will reply here',
  teamKnows: 'Our team has been told',
  back: 'Back to the chat',
  history: 'Earlier conversations',
  new: 'New conversation',
  close: 'Close chat',
  details: 'Leave your details',
  person: 'Talk to a person',
  message: 'Message',
  placeholder: 'Write a message …',
  send: 'Send',
  sending: 'Sending …',
  stop: 'Stop answering',
  copy: 'Copy the answer',
  copied: 'Copied',
  good: 'Good answer',
  bad: 'Bad answer',
  sources: 'Sources',
  source: 'Source {0}: {1}',
  page: 'page {0}',
  open: 'Open',
  table: 'Table',
  conversation: 'Conversation',
  newest: 'To the newest message',
  suggestions: 'Suggestions',
  welcome: 'Hello! How can I help?',
  canHelp: 'What can you help me with?',
  ended: 'This conversation has ended. Your next message begins a new one.',
  waiting: 'Our team has been told. Somebody will join you here.',
  away: 'Nobody is here right now. You will find the answer in this chat.',
  awayUntil: 'Nobody is here right now. The team is back {0}; you will find the answer in this chat.',
  joined: '{0} has joined the conversation',
  unsure: 'Not what you were looking for?',
  lost: 'The connection was lost. Trying again …',
  offline: 'You are offline. Waiting …',
  loading: 'Loading the conversation',
  writing: 'Writing an answer',
  acting: 'Working on this page',
  retry: 'Retry',
  askAgain: 'Ask again',
  discard: 'Discard',
  notSent: 'Your message was not sent.',
  unreachable: 'The chat cannot be reached at the moment.',
  youAreOffline: 'You are offline.',
  shortBreak: 'The chat is taking a short break.',
  ourSide: 'Something went wrong on our side.',
  didNotWork: 'This did not work.',
  dismiss: 'Dismiss the notice',
  name: 'Name',
  email: 'E-mail',
  phone: 'Phone',
  optional: 'optional',
  reachYou: 'Tell us how we can reach you, and our team will get back to you.',
  oneIsEnough: 'Your e-mail address or phone number is enough.',
  giveOne: 'Please give your e-mail address or phone number.',
  checkEmail: 'Please check your e-mail address.',
  thanks: 'Thank you',
  willReach: 'Our team has your details and will get back to you.',
  untitled: 'Untitled conversation',
  endedShort: 'ended',
  withTeam: 'with our team',
  noConversations: 'Your conversations will be listed here.',
  notAvailable: 'This chat is not available',
  notAvailableWhy: 'It was moved or switched off. Please reach the team behind this site in another way.',
  notReachable: 'The chat cannot be reached',
  tryLater: 'Please try again in a moment.',
  dictate: 'Dictate',
  stopDictating: 'Stop dictating',
  talk: 'Talk instead of typing',
  listening: 'Listening …',
  thinking: 'One moment …',
  speaking: 'Speaking …',
  interrupt: 'Interrupt',
  stopTalking: 'Stop talking',
  micRefused: 'The microphone is not allowed for this chat.',
  notHeard: 'Speech could not be recognised.',
  noAnswer: 'There was no answer to this.',
  brokeOff: 'The answer broke off.',
  attach: 'Attach files',
  attaching: 'Uploading {0} …',
  attached: '{0} is attached',
  removeFile: 'Remove {0}',
  fileTooLarge: '{0} is larger than {1} MB.',
  fileRefused: 'Files like {0} cannot be sent.',
  fileFailed: '{0} could not be uploaded.',
  tooManyFiles: 'At most {0} files can be sent with a message.',
  dropFiles: 'Drop files here',
}

export type Word = keyof typeof ENGLISH
export type Words = Record<Word, string>

const TRANSLATIONS: Record<string, Words> = { en: ENGLISH, ar, de, es, fr, it, ja, nl, pl, pt, tr, zh }

const RIGHT_TO_LEFT = /^(ar|fa|he|iw|ur)\b/

let shown: Words = ENGLISH

/** The controls speak the language of the page around the chat, else that of the browser, else English. */
export function speakLanguage(ofPage: string | null): void {
  const wanted = [ofPage, ...navigator.languages].filter((one) => one !== null)
  const found = wanted.map(codeOf).find((code) => code in TRANSLATIONS) ?? 'en'
  shown = TRANSLATIONS[found] ?? ENGLISH
  document.documentElement.lang = found
  document.documentElement.dir = RIGHT_TO_LEFT.test(found) ? 'rtl' : 'ltr'
}

export const codeOf = (language: string): string => language.toLowerCase().split(/[-_]/)[0] ?? ''

/** The word in the language of the controls. */
export const word = (name: Word, ...values: (string | number)[]): string =>
  shown[name].replace(/\{(\d)\}/g, (_, place) => String(values[Number(place)] ?? ''))

/** For dates and times. */
export const shownLanguage = (): string => document.documentElement.lang || 'en'
