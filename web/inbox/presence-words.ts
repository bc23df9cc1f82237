type Presence = 'online' | 'away' | 'offline'

/** Whether a member is there. Who has not said so is away, like somebody who has left. */
export const isThere = (presence: Presence): boolean => presence === 'online'

export const presenceWord = (presence: Presence): string => (isThere(presence) ? 'Available' : 'Away')
