import type { Channel } from './channel.ts'
import { emailChannel } from './email/email-channel.ts'
import { messagingChannel } from './messaging/send.ts'

/** Every channel of this installation. */
export const channels: Channel[] = [messagingChannel, emailChannel]
