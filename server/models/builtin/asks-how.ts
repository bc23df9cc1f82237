/** The beginnings of questions that ask for steps, by language, after the question was folded and split. */
const ASKS_HOW =
  /^(?:how (?:do|can|could|should|would|to)|how does one|wie (?:kann|konnen|kannst|muss|mussen|soll|sollte|mache|macht|wird)|wie \S+ (?:ich|man|wir)|comment|como|come (?:si|posso|faccio|fare|possiamo)|hoe (?:kan|kun|moet|maak|doe)|hoe \S+ (?:ik|je|we)|как|jak|hur (?:kan|gor)|hvordan|nasil)(?: |$)/

/** Returns whether a question asks how something is done, so that steps and code answer it rather than facts. */
export const asksHow = (words: readonly string[]): boolean => ASKS_HOW.test(words.slice(0, 6).join(' '))
