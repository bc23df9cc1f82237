import type { Channel } from './channel.ts'

/** Every channel of this installation. */
export const channels: Channel[] = []
