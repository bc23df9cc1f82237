import type { TalkWords } from './talk-words.ts'

export const NORTHERN_WORDS = {
  sv: {
    greeting: `{hej|hejsan|hallå|tjena|tja|god {dag|morgon|kväll|eftermiddag}|goddag|godmorgon|hej hej|tjenare|hej igen}{| alla
      | allihopa| där| på er| på dig| igen}|hur {mår du|är det|står det till|går det}{| idag}|läget`,
    thanks: `tack|{tack|tackar} {så mycket|så hemskt mycket|för det|igen|ändå|på förhand|snälla|ska du ha}|tackar|{stort|många|tusen}
      tack|{det |}{hjälpte|hjälper}{| mig}{| mycket}|{mycket |väldigt |}hjälpsamt|{vad |så |}snällt`,
    goodbye: `hej då|hejdå|adjö|vi {ses|hörs}|ha {det|en} {bra|så bra|fint|bra dag|fin dag|trevlig dag|trevlig helg|bra helg|fin kväll}
      |trevlig {helg|kväll|dag}|god natt|godnatt|{med |}{vänliga|vänlig|bästa|varma} {hälsningar|hälsning}|mvh|hälsningar|detsamma|tack
      detsamma`,
    yes: 'ja|jo|japp|jajamän|ja {tack|gärna|snälla|visst|absolut}|gärna|gärna det|visst|absolut|självklart|det vore {bra|snällt|toppen}',
    acknowledgement: `okej|bra|mycket bra|jättebra|toppen|perfekt|utmärkt|fint|härligt|underbart|kanon|jag {förstår|fattar}|förstår|förstått
      |uppfattat|då förstår jag|det {är|låter} {bra|okej|ok|lugnt|perfekt|klart}|inga problem|ingen fara|det gör inget|lugnt|stämmer|det
      stämmer|precis|exakt|just det|jaha|aha|ah|ok då|okej då|varsågod|förlåt|ursäkta|intressant|bra att veta|test|jag provar|jag ska testa`,
    refusal: `nej|nä|nej {tack|det {var|är} {allt|bra}|inte nu|tack det är bra|det behövs inte|inget mer}|inte {nu|än|idag|nödvändigt}|det
      {var|är} {allt|bra så|det|bra}|det behövs inte|inget{| mer| annat}|ingenting{| mer}|inga {fler |}frågor|senare|kanske senare|strunt i
      det|glöm det|behövs inte|jag har inga fler frågor`,
    help: `hjälp|hjälp mig|jag {behöver|vill ha|söker} {lite |din |er |}{hjälp|information|råd}|{kan|skulle} {du|ni|någon} {kunna |}hjälpa
      {mig|till|oss}|jag har {en|några|ett par|en till|två} {kort |liten |snabb |}{fråga|frågor}{| till}|jag har ett {problem|ärende}|{en |}fråga
      |{kan|får} jag {fråga|ställa} {om |}{en sak|något|en fråga}|jag {undrar|vill fråga} {en sak|om en sak|över en sak}|hur fungerar det{| här}
      |information|info`,
    identity: `är {du|ni|detta|det här|det} {en |ett |verkligen en |}{bot|robot|människa|maskin|person|ai|chatbot|riktig människa|riktig person
      |riktig|där|kvar|dator|bott}|{pratar|talar|chattar} jag med {en |ett |}{bot|robot|människa|maskin|person|riktig människa|riktig person|ai
      |chatbot}|vem {är du|är det|pratar jag med|chattar jag med}|vad {är du|heter du|är ditt namn}|vad kan {du|ni} {göra|svara på|hjälpa mig
      med|hjälpa till med|}|{hur|vad} kan du hjälpa mig{| med}|vad kan jag fråga{| dig| om}|är {det |}någon {där|här}|finns {det |}någon
      {där|här}|någon där|{robot eller människa|människa eller robot|robot|bot}`,
    complaint: `{det|det här|detta} {är|var|stämmer} {fel|inte|inte {rätt|sant|korrekt|hjälpsamt|till hjälp|svar på min fråga|det jag {frågade|menade
      |undrade|vill veta}{| om}|vad jag {frågade|menade}{| om}}|inget svar|nonsens|löjligt|värdelöst|dåligt|ett skämt|felaktigt}|fel{| svar}|stämmer
      inte|{det |det här |detta |}{hjälper|hjälpte} {mig |}inte{| alls| mig}|du {svarade|svarar|förstår|lyssnar} {inte|mig inte}{| på min fråga| min
      fråga| mig}|du har inte {svarat|förstått}{| på min fråga| min fråga}|jag förstår {inte|ingenting}|du är {värdelös|dum|korkad}|{dumma|dålig} {bot
      |robot}|det har jag redan {frågat|sagt|testat}|det har du redan sagt|tack för ingenting|skit|fan|jag är {missnöjd|inte nöjd|arg|besviken}|jag vill
      klaga|va|va sa du`,
    beside:
      'snälla|då|nu|så|och|men|mycket|också|verkligen|idag|allt|alla|just nu|för nu|ju|här|igen|ah|oh|nog|tack',
    thanksFor: 'för',
    contact: 'kontakt telefon telefonnummer e-post kundtjänst',
  },
  da: {
    greeting: `{hej|hejsa|hallo|halløj|goddag|god {dag|morgen|aften|eftermiddag}|godmorgen|godaften|davs|hej hej|dav}{| alle| alle sammen| med
      dig| med jer| igen| der}|hvordan {går det|har du det}{| i dag}|hvad så`,
    thanks: `tak|{mange|tusind|tusinde} tak|tak {skal du have|for det|igen|alligevel|på forhånd|skal i have|for nu}|mange tak {skal du have|for
      hjælpen}|det {hjalp|hjælper}{| mig}{| meget}|{meget |}hjælpsomt`,
    goodbye: `farvel|hej hej|vi {ses|høres}|hav {en|det} {god|dejlig|fortsat god} {dag|aften|weekend}|ha det {godt|en god dag}|hav det godt|god
      {weekend|aften|nat}|godnat|{med |}{venlig|bedste|venlige|kærlig} {hilsen|hilsner}|mvh|hilsen|i lige måde`,
    yes: 'ja|jo|jep|ja {tak|gerne|da|selvfølgelig}|gerne|meget gerne|selvfølgelig|naturligvis|det ville være {godt|fint|dejligt}',
    acknowledgement: `okay|godt|meget godt|fint|perfekt|dejligt|fedt|super godt|skønt|fremragende|jeg forstår|forstået|modtaget|det {er|lyder} {fint
      |godt|okay|ok|perfekt|i orden|klart}|i orden|intet problem|ingen problem|det gør ikke noget|det stemmer|præcis|nemlig|netop|javel|nå|nåh|aha|ah
      |ok så|det var så lidt|undskyld|beklager|interessant|godt at vide|test|jeg prøver`,
    refusal: `nej|næ|nej {tak|det {var|er} {alt|det|fint}|ikke nu|ellers tak|ikke mere}|ikke {nu|endnu|i dag|nødvendigt}|det {var|er} {alt|det hele|det
      |bare det}|det behøves ikke|ikke {andet|mere}|ingenting|ingen {flere |}spørgsmål|senere|måske senere|glem det|ellers tak`,
    help: `hjælp|hjælp mig|jeg {har brug for|søger|vil gerne have|behøver} {lidt |din |jeres |}{hjælp|information|råd}|{kan|kunne|vil} {du|i|nogen}
      hjælpe{| mig| os}{| med noget}|jeg har {et|nogle|et par|et til|to|lige et} {kort |lille |hurtigt |}{spørgsmål|problem}|{et |}spørgsmål|{kan|må} jeg
      {spørge|stille} {om noget|dig om noget|et spørgsmål}|jeg vil {gerne |}{spørge om noget|vide noget}|hvordan {virker|fungerer} det|information|info`,
    identity: `er {du|i|det|dette|det her} {en |et |virkelig en |}{bot|robot|menneske|maskine|person|ai|chatbot|rigtigt menneske|rigtig person|rigtig|der
      |her|computer}|{taler|snakker|chatter|skriver} jeg med {en |et |}{bot|robot|menneske|maskine|person|rigtigt menneske|rigtig person|ai|chatbot}|hvem
      {er du|er det|taler jeg med|snakker jeg med}|hvad {er du|hedder du|er dit navn}|hvad kan {du|i} {gøre|svare på|hjælpe med|hjælpe mig med|}|hvordan kan
      du hjælpe{| mig}|hvad kan jeg spørge{| dig| om| dig om}|er der nogen{| her| der}|nogen der|{robot eller menneske|menneske eller robot|robot|bot}`,
    complaint: `{det|det her|dette} {er|var|passer} {forkert|ikke|ikke {rigtigt|sandt|korrekt|nyttigt|svar på mit spørgsmål|det jeg {spurgte om|mente|vil
      vide}}|ikke et svar|intet svar|noget vrøvl|latterligt|ubrugeligt|dårligt}|forkert{| svar}|{det |det her |dette |}{hjælper|hjalp} {mig |}ikke{| mig|
      noget}|du {svarede|svarer|forstår|lytter} {ikke|mig ikke}{| på mit spørgsmål| mit spørgsmål| mig}|du har ikke {svaret|forstået}{| på mit spørgsmål|
      mit spørgsmål}|jeg forstår {det |}{ikke|ingenting}|du er {ubrugelig|dum}|{dumme|dårlig} {bot|robot}|det har jeg {allerede |}{spurgt om|sagt|prøvet}
      {| allerede}|tak for ingenting|lort|jeg er {utilfreds|ikke tilfreds|vred|skuffet}|jeg vil klage|hvad`,
    beside:
      'venligst|så|nu|og|men|meget|også|virkelig|i dag|alt|alle|lige nu|for nu|jo|her|igen|ah|åh|nok|tak',
    thanksFor: 'for',
    contact: 'kontakt telefon telefonnummer e-mail kundeservice',
  },
  no: {
    greeting: `{hei|heisann|hallo|hallaien|god {dag|morgen|kveld|ettermiddag}|goddag|godmorgen|heia|morn|hei hei|hei igjen}{| alle| alle sammen| der
      | på deg| igjen| dere}|hvordan {går det|har du det|står det til}{| i dag}|hva skjer`,
    thanks: `takk|{tusen|mange|hjertelig} takk|takk {skal du ha|for det|igjen|likevel|på forhånd|skal dere ha|for nå}|tusen takk skal du ha|det {hjalp
      |hjelper}{| meg}{| mye| veldig}|{veldig |}{hjelpsomt|nyttig}`,
    goodbye: `ha det|hadet|ha det {bra|fint|godt}|farvel|vi {ses|snakkes|høres}|snakkes|ha en {fin|god|flott|fortsatt fin} {dag|kveld|helg|uke}|god {helg
      |kveld|natt}|{med |}{vennlig|beste|hjertelig} {hilsen|hilsener}|mvh|hilsen|i like måte|likeså`,
    yes: 'ja|jo|jepp|japp|ja {takk|gjerne|visst|selvfølgelig}|gjerne|veldig gjerne|selvfølgelig|selvsagt|det ville vært {fint|bra|flott}',
    acknowledgement: `okei|bra|veldig bra|fint|flott|kjempebra|perfekt|supert|utmerket|nydelig|herlig|jeg {forstår|skjønner}|forstått|skjønner|skjønt|den
      er grei|greit|det {er|høres} {greit|fint|bra|ok|flott|perfekt|i orden}{| ut}|i orden|ikke noe problem|ingen problem|det går bra|det gjør ikke noe|det
      stemmer|stemmer|nettopp|akkurat|nemlig|javel|jaha|aha|ah|ok da|bare hyggelig|vær så god|unnskyld|beklager|interessant|godt å vite|test|jeg prøver`,
    refusal: `nei|nei {takk|det {var|er} {alt|det|greit}|ikke nå|ellers takk|ikke noe mer|det går bra}|ikke {nå|ennå|i dag|nødvendig}|det {var|er} {alt|det
      |det hele|bare det}|det trengs ikke|trengs ikke|ikke noe {mer|annet}|ingenting{| mer}|ingen {flere |}spørsmål|senere|kanskje senere|glem det|ellers takk`,
    help: `hjelp|hjelp meg|jeg {trenger|vil ha|ønsker} {litt |din |deres |}{hjelp|informasjon|råd}|{kan|kunne|vil} {du|dere|noen} hjelpe{| meg| oss}{| med noe}
      |jeg har {et|noen|et par|et til|to|ett} {kort |lite |raskt |}{spørsmål|problem}{| til}|{et |}spørsmål|{kan|får} jeg {spørre|stille} {om noe|deg om noe|et
      spørsmål}|jeg {vil|lurer på} {gjerne |}{spørre om noe|en ting|noe}|hvordan {virker|fungerer} det{| te}|informasjon|info`,
    identity: `er {du|dere|det|dette} {en |et |virkelig en |}{bot|robot|menneske|maskin|person|ai|chatbot|ekte menneske|ekte person|ekte|der|her|datamaskin}
      |{snakker|prater|chatter|skriver} jeg med {en |et |}{bot|robot|menneske|maskin|person|ekte menneske|ekte person|ai|chatbot}|hvem {er du|er det|snakker jeg
      med}|hva {er du|heter du|er navnet ditt}|hva kan {du|dere} {gjøre|svare på|hjelpe med|hjelpe meg med|}|hvordan kan du hjelpe{| meg}|hva kan jeg spørre{| deg
      | om| deg om}|er det noen {her|der}|noen {her|der}|{robot eller menneske|menneske eller robot|robot|bot}`,
    complaint: `{det|dette|det her} {er|var|stemmer} {feil|galt|ikke|ikke {riktig|sant|korrekt|nyttig|svar på spørsmålet mitt|det jeg {spurte om|mente|vil
      vite}}|ikke et svar|ikke noe svar|tull|latterlig|ubrukelig|dårlig}|feil{| svar}|{det |dette |}{hjelper|hjalp} {meg |}ikke{| meg| noe}|du {svarte|svarer
      |forstår|hører} {ikke|meg ikke}{| på spørsmålet mitt| spørsmålet mitt| meg| etter}|du har ikke {svart|forstått}{| på spørsmålet mitt| spørsmålet mitt}|jeg
      {forstår|skjønner} {det |}{ikke|ingenting}|du er {ubrukelig|dum}|{dumme|dårlig} {bot|robot}|det har jeg {allerede |}{spurt om|sagt|prøvd}{| allerede}
      |takk for ingenting|dritt|faen|jeg er {misfornøyd|ikke fornøyd|sint|skuffet}|jeg vil klage|hva`,
    beside:
      'vennligst|da|nå|så|og|men|mye|også|virkelig|i dag|alt|alle|akkurat nå|for nå|jo|her|igjen|ah|åh|nok|takk',
    thanksFor: 'for',
    contact: 'kontakt telefon telefonnummer e-post kundeservice',
  },
  fi: {
    greeting: `{hei|moi|moikka|terve|heippa|moro|hei hei|hyvää {päivää|huomenta|iltaa|iltapäivää}|päivää|huomenta|iltaa|tervehdys|hei taas}{| kaikki
      | kaikille| taas| vaan| siellä}|{mitä kuuluu|miten menee|kuinka voit|miten voit}{| tänään}`,
    thanks: `kiitos|kiitti|kiitos {paljon|oikein paljon|vielä|samoin|etukäteen|sinulle|teille|kuitenkin|tiedosta|avusta|vastauksesta|infosta|nopeasta
      vastauksesta|kovasti}|kiitoksia{| paljon}|{paljon|suuret|iso|tuhannet} {kiitoksia|kiitokset|kiitos}|siitä oli {apua|paljon apua}|tämä auttoi|auttoi
      |hyödyllistä|ystävällistä`,
    goodbye: `näkemiin|hei hei|heippa|moi moi|moikka|nähdään|kuulemiin|{hyvää|mukavaa|kivaa|hyvää päivän} {päivänjatkoa|viikonloppua|päivää|jatkoa|iltaa|yötä}
      |samoin|{ystävällisin|parhain|terveisin|lämpimin} {terveisin|tervehdyksin}|terveisin|t`,
    yes: 'kyllä|joo|juu|jep|kyllä {kiitos|haluan|mielellään}|mielellään|toki|totta kai|tietysti|ehdottomasti|se olisi {hyvä|hienoa|mukavaa}|haluan',
    acknowledgement: `selvä|selvä {homma|juttu}|hyvä|oikein hyvä|hienoa|mahtavaa|loistavaa|loistava|erinomaista|kiva|mainiota|täydellistä|ymmärrän|ymmärsin
      |ymmärretty|asia selvä|sopii|kaikki {hyvin|selvää|ok}|ei {hätää|haittaa|se mitään|ongelmaa}|pitää paikkansa|juuri niin|aivan|niin|aha|ahaa|vai niin|ole
      hyvä|anteeksi|pahoittelut|kiinnostavaa|hyvä tietää|testi|kokeilen|no niin`,
    refusal: `ei|ei {kiitos|muuta|kiitos ei muuta|tarvitse|nyt|vielä|ole|ole muuta|enää|ole muuta kysyttävää}|{siinä|se} {kaikki|oli kaikki|olikin kaikki|on
      kaikki}|siinä se|ei {mitään|enempää}{| muuta}|ei lisää kysymyksiä|myöhemmin|ehkä myöhemmin|unohda|antaa olla|en {tarvitse|halua}{| kiitos| muuta}`,
    help: `apua|auta|auttakaa|{tarvitsen|kaipaan|haluaisin} {vähän |}{apua|tietoa|neuvoa|lisätietoa}|{voitko|voitteko|voisitko|voisitteko|voiko joku} auttaa{| minua
      | mua}|minulla {on|olisi} {yksi |pieni |nopea |toinen |pari |muutama |}{kysymys|kysymystä|ongelma|asia}|on kysymys|kysymys|{saanko|voinko} kysyä{| jotain| jotakin
      | kysymyksen| yhtä asiaa}|haluaisin kysyä{| jotain| yhtä asiaa}|miten tämä toimii|info|tietoa`,
    identity: `{oletko|oletteko|onko tämä|ootko} {sinä |te |}{botti|robotti|ihminen|kone|tekoäly|chatbotti|chattibotti|oikea|oikea ihminen|oikea henkilö|siellä|paikalla|ihminen
      vai robotti|robotti vai ihminen}|{puhunko|keskustelenko|chattaanko} {minä |}{botin|robotin|ihmisen|koneen|oikean ihmisen|tekoälyn} kanssa|kuka {olet|sinä olet|siellä
      |on siellä|olet sinä}|mikä {olet|sinä olet|nimesi on|sinun nimesi on}|kenen kanssa {puhun|keskustelen}|mitä {osaat|voit|sinä osaat|sinä voit} {tehdä|vastata|}|miten voit
      auttaa{| minua}|mitä voin kysyä{| sinulta}|onko {siellä |}{ketään|kukaan|joku} {paikalla|siellä|}|{robotti vai ihminen|ihminen vai robotti|robotti|botti}`,
    complaint: `{se|tämä|tuo} {on|oli|ei ole|ei ollut|ei} {väärin|väärä|virhe|oikein|totta|hyödyllinen|hyödyllistä|vastaus|mitä kysyin|se mitä kysyin|auta|auttanut|auta minua|vastaa
      kysymykseeni|vastannut kysymykseeni|pidä paikkaansa|naurettavaa|hyödytön|turhaa}|väärin|väärä vastaus|ei {auta|auttanut|pidä paikkaansa}|{et|ette} {vastannut|ymmärrä|vastaa
      |kuuntele|ymmärtänyt|auta}{| kysymykseeni| minua| kysymystäni}|en {ymmärrä|ymmärtänyt}{| mitään}|olet {turha|tyhmä|hyödytön}|{tyhmä|huono} {botti|robotti}|kysyin jo{| sitä
      | tätä}|sanoit jo|kiitos ei mistään|paska|olen {tyytymätön|pettynyt|vihainen}|haluan valittaa|mitä|häh`,
    beside:
      'ole hyvä|olkaa hyvä|nyt|sitten|ja|mutta|paljon|myös|todella|tänään|kaikki|kaikesta|vielä|tässä|taas|no|ihan|oikein|kiitos',
    thanksFor: '',
    contact: 'yhteystiedot puhelin puhelinnumero sähköposti asiakaspalvelu',
  },
} satisfies Record<string, TalkWords>
