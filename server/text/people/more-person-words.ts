import { type Lexicon, lexicon } from './lexicon.ts'

const SWEDISH = lexicon({
  language: 'sv',
  talk: 'prata|tala|snacka|chatta|kontakta|kontakt|koppla|kopplas|kopplad|nå|ringa|ring|bli uppringd|vidarebefordra|skicka vidare',
  want: 'vill|skulle vilja|behöver|önskar|ge mig|tack|snälla|kan jag få|får jag',
  person:
    'människa|människor|riktig person|person|någon|medarbetare|handläggare|kundtjänst|kundservice|kundsupport|support|agent|rådgivare|operatör|ert team|personal|kollega',
  human: 'människa|riktig person|medarbetare|handläggare|kundtjänst|kundservice|operatör|rådgivare',
  not: 'inte|ingen|inget|aldrig|utan|nej|istället för',
  about: 'hur|vad|när|var|varför|vilken|vilket|vilka|måste jag|är du|prata om|tala om|nummer|telefonnummer',
  bare: 'en|ett|den|med|till|tack|snälla|riktig|jag|vill|hej|nu|gärna',
  yes: 'ja|jo|japp|gärna|tack|visst|absolut|okej|ok|självklart|gör det|det vore (?:bra|snällt|toppen)|javisst',
})

const DANISH = lexicon({
  language: 'da',
  talk: 'tale|snakke|chatte|kontakte|kontakt|viderestille|viderestilles|stil mig om|stille(?:s)? om|ringe|ring|ringet op|fat i|sende videre',
  want: 'vil|vil gerne|ønsker|har brug for|behøver|giv mig|tak|må jeg|kan jeg få',
  person:
    'menneske(?:r|t)?|rigtig person|person|nogen|en medarbejder|medarbejder(?:e|en)?|kundeservice|kundesupport|support|agent|rådgiver|operatør|jeres team|personale|kollega',
  human: 'menneske|rigtig person|medarbejder|kundeservice|operatør|rådgiver',
  not: 'ikke|ingen|intet|aldrig|uden|nej|i stedet for',
  about:
    'hvordan|hvad|hvornår|hvor|hvorfor|hvilken|hvilket|skal jeg|er du|tale om|snakke om|nummer|telefonnummer',
  bare: 'en|et|den|med|til|tak|rigtigt?|jeg|vil|gerne|hej|nu|venligst',
  yes: 'ja|jo|jep|gerne|tak|okay|ok|selvfølgelig|naturligvis|gør det|det må du gerne|det ville være (?:godt|fint|dejligt)',
})

const NORWEGIAN = lexicon({
  language: 'no',
  talk: 'snakke|prate|tale|chatte|kontakte|kontakt|sette(?:s)? over|sett meg over|koble|ringe|ring|ringt opp|få tak i|sende videre',
  want: 'vil|vil gjerne|ønsker|trenger|gi meg|takk|kan jeg få|får jeg',
  person:
    'menneske(?:r|t)?|ekte person|person|noen|en ansatt|ansatt(?:e)?|medarbeider(?:e|en)?|kundeservice|kundestøtte|kundesenter|support|agent|rådgiver|operatør|teamet|kollega',
  human: 'menneske|ekte person|ansatt|medarbeider|kundeservice|operatør|rådgiver',
  not: 'ikke|ingen|aldri|uten|nei|i stedet for',
  about: 'hvordan|hva|når|hvor|hvorfor|hvilken|hvilket|må jeg|er du|snakke om|prate om|nummer|telefonnummer',
  bare: 'en|et|den|med|til|takk|ekte|jeg|vil|gjerne|hei|nå|vennligst',
  yes: 'ja|jo|jepp|gjerne|takk|okei|ok|selvfølgelig|selvsagt|gjør det|greit|det hadde vært (?:bra|fint|flott)|det ville vært (?:bra|fint|flott)',
})

const FINNISH = lexicon({
  language: 'fi',
  talk: 'puhua|jutella|keskustella|chatata|yhteyttä|yhteys|yhdistä(?:ä|kää)?|yhdistätkö|soittaa|soittakaa|soita|tavoittaa|välitä|välittää|siirrä',
  want: 'haluan|haluaisin|tarvitsen|tahdon|kiitos|saisinko|saanko|voisinko|voinko',
  person:
    'ihmi(?:nen|sen|selle|stä|sten)|oikea(?:n|lle)? (?:ihmi(?:nen|sen|selle)|henkilö(?:n|lle)?)|henkilö(?:n|lle|ä)?|jonkun|jollekin|joku|asiakaspalvelija(?:n|lle|a)?|asiakaspalvelu(?:n|un|a)?|työntekijä(?:n|lle|ä)?|neuvoja(?:n|lle)?|virkailija(?:n|lle)?|tuki(?:henkilön|henkilölle)?',
  human:
    'ihmi(?:nen|sen|selle)|asiakaspalvelija(?:n|lle|a)?|asiakaspalvelu(?:n|un)?|virkailija(?:n|lle)?|työntekijä(?:n|lle)?',
  not: 'en|ei|älä|älkää|ilman|sijaan',
  about: 'miten|kuinka|mitä|mikä|milloin|missä|miksi|pitääkö|oletko|puhelinnumero|numero',
  bare: 'oikea|oikean|kanssa|kiitos|nyt|hei|haluan|minä|yksi',
  yes: 'kyllä|joo|juu|jep|kiitos|ok|okei|selvä|toki|mielellään|tietysti|totta kai|ehdottomasti|välitä|haluan|sopii|se olisi (?:hyvä|hienoa)',
})

const CZECH = lexicon({
  language: 'cs',
  talk: 'mluvit|promluvit|hovořit|popovídat|chatovat|kontaktovat|kontakt|spojit|spojte|přepojit|přepojte|přepoj|spoj|zavolat|zavolejte|předat|předejte|obrátit',
  want: 'chci|chtěl bych|chtěla bych|potřebuji|potřebuju|přeji si|prosím|dejte mi|mohu|můžu',
  person:
    'člověk(?:em|a|u)?|živ(?:ým|ého) (?:člověkem|člověka)|skutečn(?:ou osobou|ým člověkem)|osobou|někým|někdo|operátor(?:em|a|ka|kou)?|pracovník(?:em|a)?|zaměstnanc(?:em|e)|zákaznick(?:ou|á) (?:podporou|podpora|linkou|linka)|podpor(?:ou|u)|asistent(?:em|a)|specialist(?:ou|u)|kolegou|vaším týmem',
  human:
    'člověk(?:em|a)?|operátor(?:em|a|kou)?|pracovník(?:em|a)?|zaměstnanc(?:em|e)|zákaznick(?:ou|á) (?:podporou|podpora)',
  not: 'ne|nechci|není|bez|nikdy|místo|nepotřebuji',
  about: 'jak|co|kdy|kde|proč|který|která|které|kolik|musím|jste|jsi|mluvit o|číslo',
  bare: 's|se|na|k|prosím|živým|skutečným|chci|dobrý den|ahoj|teď',
  yes: 'ano|jo|jasně|prosím|ok|dobře|samozřejmě|určitě|rád|ráda|souhlasím|předejte|jistě|to by bylo (?:dobré|skvělé|fajn)',
})

const UKRAINIAN = lexicon({
  language: 'uk',
  talk: "поговорити|говорити|поспілкуватися|спілкуватися|зв'язатися|зв'яжіть|з'єднайте|з'єднати|з'єднай|переключіть|переведіть|передайте|передай|покличте|зателефонуйте|передзвоніть|дайте",
  want: 'хочу|хотів би|хотіла б|потрібен|потрібна|потрібно|треба|будь ласка|прошу|можна|можу',
  person:
    'людин(?:ою|а|у|і)|жив(?:ою|у|а) людин(?:ою|у|а)|кимось|хтось|оператор(?:ом|а|у)?|співробітник(?:ом|а)?|менеджер(?:ом|а)?|спеціаліст(?:ом|а)?|консультант(?:ом|а)?|представник(?:ом|а)?|служб(?:ою|у) підтримки|підтримк(?:ою|у)',
  human:
    'людин(?:ою|а|у)|оператор(?:ом|а)?|співробітник(?:ом|а)?|консультант(?:ом|а)?|спеціаліст(?:ом|а)?|менеджер(?:ом|а)?',
  not: 'не|ні|без|ніколи|замість',
  about: 'як|що|коли|де|чому|який|яка|які|скільки|чи треба|ви людина|ти людина|номер',
  bare: 'з|із|зі|живою|справжньою|реальною|будь ласка|мені|хочу|привіт|вітаю|зараз|терміново',
  yes: 'так|ага|добре|гаразд|звичайно|звісно|будь ласка|давайте|давай|ок|окей|згоден|згодна|хочу|передайте|авжеж',
})

/** The lexicons of the languages in which fewer people ask. */
export const MORE_LEXICONS: readonly Lexicon[] = [SWEDISH, DANISH, NORWEGIAN, FINNISH, CZECH, UKRAINIAN]
