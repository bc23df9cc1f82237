/** Returns whether a text says something. Spaces, punctuation and the numbers of citations do not count. */
export const containsWords = (text: string): boolean => /[^\s\p{P}]/u.test(text.replace(/\[\d+\]/g, ''))
