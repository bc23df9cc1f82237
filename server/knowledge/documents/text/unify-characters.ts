/**
 * The radicals of the supplement, each before the ideograph that it stands for (Equivalent_Unified_Ideograph of
 * Unicode). Those of the other block have a compatibility decomposition.
 */
const SUPPLEMENT =
  '⺁厂⺂乛⺃乚⺄乙⺅亻⺆冂⺇𠘨⺈刀⺉刂⺊卜⺋㔾⺌小⺍小⺎兀⺏尣⺐尢⺑𡯂⺒巳⺓幺⺔彑⺕彐⺖忄⺗心⺘扌⺙攵⺛旡⺜日⺝月⺞歺' +
  '⺟母⺠民⺡氵⺢氺⺣灬⺤爫⺥爫⺦丬⺧牛⺨犭⺩王⺪𤴔⺫目⺬示⺭礻⺮𥫗⺯糹⺰纟⺱罓⺲罒⺳㓁⺴冗⺵𦉫⺶羊⺷𦍌⺸𦍋⺹耂⺺肀⺻聿' +
  '⺼肉⺽𦥑⺾艹⺿艹⻀艹⻁虎⻂衤⻃覀⻄西⻅见⻆角⻇𧢲⻈讠⻉贝⻊𧾷⻋车⻌辶⻍辶⻎辶⻏邑⻐钅⻑長⻒镸⻓长⻔门⻕𨸏⻖阝⻗雨⻘青' +
  '⻙韦⻚页⻛风⻜飞⻝食⻞𩙿⻟飠⻠饣⻡𩠐⻢马⻣骨⻤鬼⻥鱼⻦鸟⻧卤⻨麦⻩黄⻪黾⻫斉⻬齐⻭歯⻮齿⻯竜⻰龙⻱龜⻲亀⻳龟'
/** Other characters that share a glyph with the one that was written, in fonts of Chinese, Japanese and Korean. */
const LOOK_ALIKES = '‒–∕/\u2329〈\u232a〉'

const ALIKE = new Map(
  [...(SUPPLEMENT + LOOK_ALIKES).matchAll(/(.)(.)/gu)].map(([, from, to]) => [from!, to!]),
)
const TO_UNIFY = /[\u2e80-\u2fd5‒∕‧\u2329\u232a]/gu
/** The radical of which each script has an ideograph of its own. */
const DOOR = '⼾'
const TRADITIONAL = /[\p{Script=Hangul}們這為時說對會過還沒現實產電車門間問題請單費]/u

/**
 * Returns a function that replaces the radicals of Chinese characters by the characters themselves. A PDF names the
 * glyphs of its font, of which some stand for both, and programs choose the radical, so that no word with it would be
 * found. `sample` is text of the document, from which the script is known.
 */
export function characterUnifier(sample: string): (text: string) => string {
  const isJapanese = /[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(sample)
  const door = isJapanese ? '戸' : TRADITIONAL.test(sample) ? '戶' : '户'
  const written = (alike: string): string => {
    if (alike === DOOR) return door
    if (alike === '‧') return isJapanese ? '・' : alike
    return ALIKE.get(alike) ?? alike.normalize('NFKC')
  }
  return (text) => text.replace(TO_UNIFY, written)
}
