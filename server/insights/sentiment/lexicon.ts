/**
 * The weight of words for a customer's mood, -3 to 3; an asterisk stands for any ending. Words that only name a subject
 * of support (problem, error, Fehler) have little weight, because most people who use them are calm.
 */
const ENGLISH = `
3 amazing awesome brilliant delighted excellent fantastic flawless love loved loving outstanding perfect perfectly superb
3 thrilled wonderful*
2 best glad great happy helped helpful impressed impressive nice nicely pleased recommend solved superbly thankful works
2 worked yay yes! grateful appreciate* appreciated enjoy* satisfied smooth smoothly
1 clear easy fast good better cool kind friendly useful
0.8 thanks thank thx fine quick quickly
-0.7 bug complain* concern* confus* delay* error fail* fault* hard issue late missing problem* refund slow stuck unclear
-1 wait* wrong difficult expensive lost worried worry crash* hang* sadly unfortunately
-2 annoy* bad badly broke broken disappoint* fed frustrat* ignored impossible lied nonsense poor poorly rude sad
-2 unacceptable unhappy unhelpful upset useless waste wasted worse worthless complaint complaints angry sick tired
-3 awful crap disgust* disgrac* fraud furious hate hated horrible horribly nightmare outrag* pathetic ridiculous scam
-3 scammed shit stupid terrible terribly worst bullshit rubbish garbage lawyer sue
`
const GERMAN = `
3 begeistert fantastisch* großartig* hervorragend* perfekt* spitze super toll* wunderbar* ausgezeichnet* genial*
2 dankbar freue freut froh gefreut geholfen gelöst glücklich klasse prima zufrieden hilfreich* empfehle empfehlen liebe
2 beste besten funktioniert klappt geklappt
0.8 danke dank schnell*
1 einfach freundlich* gut gute guten guter gutes nett* schön* besser angenehm*
-0.7 fehler fehlt fehlen kaputt langsam* leider problem probleme schwer schwierig* spät verspät* verlor* warte wartet
-1 kompliziert* unklar* teuer* falsch* störung* sorge
-2 ärger* beschwer* enttäusch* genervt nervt nervig* mies* sauer schlecht* schlimm* unbrauchbar* unfreundlich* unmöglich*
-2 unverschämt* unzufrieden* verärgert* wütend nutzlos* sinnlos* zumutung blöd* satt ungenügend* mangelhaft*
-3 abzocke betrug betrüger* frechheit furchtbar* grauenhaft* hasse katastroph* saftladen scheiß* scheiss* schrecklich*
-3 skandal unterirdisch* verarscht anwalt mist
`

/** Phrases whose meaning differs from that of their words; matched against folded words. */
const PHRASES: readonly [RegExp, number][] = [
  [/\b(not|isn t|doesn t|does not|don t|won t|never|stopped|stops) (work|working|works)\b/g, -3],
  [/\b(doesn t|does not|didn t|did not|isn t|no|not) (help|helping|helped|helpful)\b/g, -3],
  [/\b(no one|nobody|never) (answers|answered|replies|replied|responds|responded|helps|helped|cares)\b/g, -3],
  [/\bwaste of (time|money)\b/g, -3],
  [/\b(fed up|sick of|had enough|give up|last time)\b/g, -2],
  [/\b(still|again) (not|no|nothing|broken|waiting|wrong)\b/g, -2],
  [/\b(speak|talk) to (a |an )?(human|person|manager|real person|agent)\b/g, -1],
  [/\bfor the (second|third|fourth|fifth|tenth|hundredth) time\b/g, -2],
  [/\b(funktioniert|klappt|geht|läuft|hilft) (\p{L}+ )?(nicht|nie)\b/gu, -3],
  [/\b(keine|niemand) (antwort|antwortet|reaktion|hilfe|hilft)\b/g, -2],
  [/\b(immer noch|schon wieder|seit wochen|seit tagen|zum (zweiten|dritten|vierten|x ten) mal)\b/g, -1.5],
  [/\bnicht zu fassen\b/g, -3],
]

const SIGNS: readonly [RegExp, number][] = [
  [/[😀😃😄😁😊🙂😍🥰🤩👍🎉❤💚🙏]|(?<!\S)[:;]-?[)D](?!\S)|<3/gu, 2],
  [/[😠😡🤬😞😢😭👎💩🙄😤☹]|(?<!\S):-?[(/](?!\S)/gu, -2],
]

/** Words that negate the next three words. */
const NEGATIONS = new Set(
  `not no never nothing neither nor cannot without hardly barely isn wasn aren weren don doesn didn won wouldn can couldn
  nicht nie niemals kein keine keinen keinem keiner keines nichts ohne kaum weder`
    .split(/\s+/)
    // "can" is part of "can't" as well as a word of its own.
    .filter((word) => word !== 'can'),
)
const INTENSIFIERS = new Set(
  `very really so extremely absolutely totally completely too incredibly utterly super sehr wirklich total absolut völlig
  extrem unglaublich echt überhaupt so richtig`.split(/\s+/),
)
const DIMINISHERS = new Set(
  `slightly somewhat bit little rather quite etwas ziemlich bisschen eher`.split(/\s+/),
)

export type Lexicon = {
  /** 0 for a neutral word. */
  weightOf(word: string): number
  phrases: typeof PHRASES
  signs: typeof SIGNS
  negations: ReadonlySet<string>
  /** The factor by which a word changes the weight of the next one. */
  factorOf(word: string): number
}

export function createLexicon(): Lexicon {
  const exact = new Map<string, number>()
  const beginnings = new Map<string, number>()
  for (const line of [...GERMAN.trim().split('\n'), ...ENGLISH.trim().split('\n')]) {
    const [weight = '0', ...words] = line.trim().split(/\s+/)
    for (const word of words) {
      if (word.endsWith('*')) beginnings.set(word.slice(0, -1), Number(weight))
      else exact.set(word, Number(weight))
    }
  }
  return {
    weightOf(word) {
      const found = exact.get(word)
      if (found !== undefined) return found
      for (let length = word.length; length >= 3; length--) {
        const weight = beginnings.get(word.slice(0, length))
        if (weight !== undefined) return weight
      }
      return 0
    },
    phrases: PHRASES,
    signs: SIGNS,
    negations: NEGATIONS,
    factorOf: (word) => (INTENSIFIERS.has(word) ? 1.5 : DIMINISHERS.has(word) ? 0.6 : 1),
  }
}
