/** Returns whether a text says something. Spaces, punctuation and the numbers of citations do not count. */
export const saysSomething = (text: string): boolean => /[^\s\p{P}]/u.test(text.replace(/\[\d+\]/g, ''))
