/** Common words that one of the two languages spells in its own way. The languages share most of the others. */
const NORWEGIAN = new Set(
  `av bare bli blir bruker bytte deg ditt endre etter fikk gi gjør gjøre ha hva kjøpe lage meg mer mitt mye noe noen nå
  opp passord penger refusjon seg sette si språk tilbake trenger ut uten være å åpningstider`.split(/\s+/),
)
const DANISH = new Set(
  `adgangskode af behøver blive bliver dig dit efter fik gør gøre have hvad kun købe lave meget mere mig mit nogen noget
  nu op penge sig sige sprog sætte tilbage ud uden ændre åbningstider`.split(/\s+/),
)
const NORWEGIAN_SPELLING = /^s?kj|sjon(?:en|er|ene)?$|øy|ei[dlnrst]/u
const DANISH_SPELLING = /tion(?:en|er|erne)?$|øj|æng|ægt/u

/**
 * Distinguishes the two languages by the spelling of folded words. Returns `otherwise` if the spelling does not
 * decide.
 */
export function danishOrNorwegian(words: readonly string[], otherwise: 'da' | 'no'): 'da' | 'no' {
  let norwegian = 0
  for (const word of words) {
    if (NORWEGIAN.has(word) || NORWEGIAN_SPELLING.test(word)) norwegian++
    if (DANISH.has(word) || DANISH_SPELLING.test(word)) norwegian--
  }
  if (norwegian === 0) return otherwise
  return norwegian > 0 ? 'no' : 'da'
}
