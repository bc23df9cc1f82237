import type { Language } from './language.ts'

const ENGLISH = `a about above after again all also am an and any anybody anyone anything are aren as at be because
been before being below between both but by can cannot could couldn d did didn do does doesn doing don down during
each else ever every few for from further get gets getting got had hadn has hasn have haven having he hello her here
hers herself hey hi him himself his how i if in into is isn it its itself just let like ll m me might more most much
must mustn my myself need no nor not now of off ok okay on once only onto or other our ours ourselves out over own
please re really s same shall she should shouldn so some somebody someone something such t tell than thank thanks that
the their theirs them themselves then there these they this those through to too under until up us ve very want was
wasn we were weren what when where whether which while who whom whose why will with within without wonder wondering
would wouldn you your yours yourself yourselves`

const GERMAN = `aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes auch auf
aus bei beim bin bis bist bitte da dabei damit dann das dass dazu dein deine deinem deinen deiner dem den denn der
deren des dessen dich die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer
eines einige er es etwas euch euer eure eurem euren eurer für gegen gern gerne gibt haben habe habt hallo hat hatte
hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im in ins irgendwie ist ja jede jedem jeden
jeder jedes jetzt kann kannst kein keine keinem keinen keiner können könnt könnte könnten man mehr mein meine meinem
meinen meiner mich mir mit möchte möchten müssen muss nach nein nicht noch nun nur ob oder ohne schon sehr sein seine
seinem seinen seiner selbst sich sie sind so soll sollen sollte sondern sonst über um und uns unser unsere unserem
unseren unserer unter vom von vor wann war waren warum was weil welche welchem welchen welcher welches wenn wer werde
werden wie wieder will wir wird wo wofür wollen womit worden wurde wurden zu zum zur zwar zwischen danke`

const SETS: Record<Language, ReadonlySet<string>> = {
  en: new Set(ENGLISH.split(/\s+/)),
  de: new Set(GERMAN.split(/\s+/)),
  other: new Set(),
}

/** Whether a folded word says nothing about the subject of a text in this language. */
export function isStopWord(word: string, language: Language): boolean {
  return SETS[language].has(word)
}

/** Whether the word is a stop word of one of the known languages and of no other. */
export function isStopWordOnlyOf(word: string, language: Language): boolean {
  return SETS[language].has(word) && !(language === 'en' ? SETS.de : SETS.en).has(word)
}
