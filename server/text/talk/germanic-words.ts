import type { TalkWords } from './talk-words.ts'

export const GERMANIC_WORDS = {
  en: {
    greeting: `{hi|hello|hey|helo|good {morning|afternoon|evening|day}}{| there| everyone| everybody| all| again
      | team| dear team| guys| folks| sir| madam| friend}|hiya|howdy|greetings|g day|dear {sir|madam}
      |dear {sir or madam|sirs|team|sir madam|all}|to whom it may concern|how are you{| doing}{| today}|how s it going
      |how do you do|nice to meet you|what s up|whats up|sup|hope you {are|re} {well|doing well}
      |i hope you are {well|doing well}|i hope this {message|email|mail} finds you well`,
    thanks: `thanks|thank you|thankyou|thank u|ty|tysm|cheers|many thanks|thnaks|thank|thanks {a lot|a million|again
      |anyway|so much|very much|all the same}|thank you {so much|very much|again|anyway|kindly}|much appreciated
      |i {really |}appreciate {it|that|your help}|appreciate it|appreciated|{that is|that s|that was} {very |so |really |}
      {kind|nice|helpful}{| of you}|{very|so|really|super} helpful|{that|this} {helped|helps}{| me}{| a lot}|you helped
      {| me}{| a lot}`,
    goodbye: `goodbye|good bye|good night|see you{| later| soon| then}|see ya|cya|take care|farewell|so long
      |have a {good|nice|great|lovely} {day|evening|weekend|one|night|time}|you too|{kind|best|warm} regards|regards
      |best wishes|yours {sincerely|faithfully}|sincerely|best`,
    yes: `yes|yeah|yep|yup|ya|yes please|please do|sure|of course|certainly|absolutely|definitely|go ahead
      |that would be {great|good|nice|helpful|lovely}|i do|yes i do`,
    acknowledgement: `alright|all right|right|fine|good|great|excellent|awesome|amazing|wonderful|brilliant|lovely|nice
      |fantastic|good to know|got it|i got it|gotcha|i see|understood|i understand|makes sense|that makes sense|noted
      |no {problem|worries}|sounds good|{that s|that is|this is|it s|all} {good|great|fine|perfect|ok
      |okay|clear|right|correct|excellent|awesome|cool|super}|works for me|well done|good {job|bot|answer}|great {answer|job}
      |ah|ah ok|aha|oh|oh ok|hmm|hm|mhm|exactly|true|interesting|you are welcome|you re welcome|my mistake|my bad|wrong chat
      |just {testing|looking|browsing}|test|testing|test test|i will try {that|it|this}|i ll try {that|it|this}|let me try`,
    refusal: `no|nope|nah|no {thanks|thank you|thx|need|more questions|further questions|more}|not {now|yet|today|really
      |necessary|needed|at the moment|right now}|nothing{| else| more}|{that s|that is|thats|that was|that will be|that ll be}
      {it|all|everything}{| for now| for today| from me}|all {good|done|set|clear}|i m {good|fine|ok|okay|all set|done}
      |i am {good|fine|ok|okay|all set|done}|i don t{| want to| need it| need anything}{| else}|no i don t|please don t|don t
      |do not|i don t want {that|it|to}|forget it|leave it|never mind|nevermind|maybe later|later|not interested|no i m {good|fine|ok}`,
    help: `help|help me|help please|{i|we} need {some |your |}{help|assistance|support|information|info|advice}|need help
      |{can|could|would|will} {you|someone|anyone|anybody|somebody} {please |}{help|assist}{| me}{| out}{| with something}
      |{i|we} {have|ve got|got} {a|another|one|one more|some|a few|two} {quick |short |small |general |more |other |}
      {question|questions|query}|i have {a|another|one} {problem|issue|request|enquiry|inquiry}|quick question|a question
      |question|another question|one more question|{can|may|could} i ask {you |}{something|a question|a quick question
      |another question|you something|you a question}|i {want|would like|d like|need} to ask {you |}{something|a question}
      |i want to know something|i need to know something|{i m|i am} {looking for|in need of} {help|information}|sos
      |how does this work|where do i start|get started|info|information`,
    identity: `are you {a |}{|real|really} {|a }{bot|robot|human|person|machine|computer|ai|chatbot|real|real person|live person
      |human being|real human|alive|there|still there|an ai}|am i {talking|speaking|chatting|writing} {to|with} {a |an |}
      {bot|robot|human|person|machine|computer|ai|real person|human being|chatbot}|is this {a |an |}{bot|robot|human|chatbot
      |real person|person|machine|ai|automated}|{bot or human|human or bot|bot|robot}|who are you|what are you|who is this
      |who am i {talking|speaking|chatting} {to|with}|what s your name|what is your name|do you have a name|your name
      |what can you {do|help me with|help with|answer|tell me}{| for me}|what do you {do|know}|what can i ask{| you}
      |how can you help{| me}|what are you {for|good for|able to do}|is {|there }{anyone|anybody|someone|somebody}{| there| here| home| online}
      |{anyone|anybody|someone} {there|here|home}|are you chatgpt|who {made|built|created} you|introduce yourself
      |tell me about yourself`,
    complaint: `not {what i {asked|meant|wanted}{| for| to know}|the answer}|{that|this|it} {is|s|was} {wrong|incorrect|not {right|correct|true|helpful|useful|an answer|my question|it|what i
      {asked|meant|wanted|need|was asking|am looking for|want}{| for| to know}}|no help|useless|unhelpful|ridiculous|nonsense
      |rubbish|stupid|a joke|terrible|bullshit|crap|annoying|frustrating}|thats {wrong|not {right|helpful|what i {asked|meant}}}
      |wrong|incorrect|wrong answer|not {really |very |at all |}helpful|{that|this|it} {isn t|wasn t|is not} {right|correct|true
      |helpful|what i {asked|meant|wanted}{| for}|it|an answer|useful}|useless|unhelpful|{this|that|it|you} {does not|doesn t
      |didn t|did not|don t|doesnt|didnt} {help|answer {my|the} question|answer{| me| that| it}|make sense|makes sense}
      {| me}{| at all}|{you|that|this} {have not|haven t|hasn t} answered{| my question| the question| me}|you {are not|aren t
      |re not} {helping|helpful|listening|answering{| my question}|understanding{| me}}|you {don t|do not|didn t|did not}
      {understand|get it|listen|know anything|get me}{| me| my question}|you {are|re} {useless|stupid|wrong|dumb|an idiot
      |no help|terrible|not helpful}|that makes no sense|{stupid|bad|dumb|useless} {bot|robot|answer}|{i|we} already {asked|said
      |told you|read|tried}{| that| this| it}|you already {said|told me} {that|this|so}|same {answer|thing}{| again}|what a joke
      |thanks for nothing|wtf|fuck{| you| off}|shit|damn|{i m|i am} {not happy|unhappy|not satisfied|angry|frustrated|annoyed
      |disappointed}|i {want|would like|wish} to {complain|make a complaint}|i have a complaint|this is not good enough
      |i still don t {know|understand|get it}|i don t {understand|get it}|i do not understand|what{|s that supposed to mean}|huh`,
    beside: `please|pls|plz|then|now|so|well|and|but|very much|much|again|all|today|just|really|for now|anyway|you|dear|sir
      |madam|mate|man|oh|at all|one|for me|my friend|everyone|everybody|team|too|indeed|here`,
    thanksFor: 'for',
    contact: 'contact phone number email address customer service',
  },
  de: {
    greeting: `{hallo|hallöchen|halloo|guten {tag|morgen|abend}|moin|moinsen|moin moin|servus|grüß {gott|dich|euch}|gruss gott
      |grüezi|grüessech|grüß sie|huhu|tach|mahlzeit|hi|hey|guten}{| zusammen| ihr| du| alle| team| liebes team| leute|
      an alle| nochmal| noch mal| wieder| an das team}|schönen guten {tag|morgen|abend}|wie geht {es|s} {|dir|ihnen|euch}
      {| heute}|wie gehts{| dir| ihnen| euch}|alles {gut|klar} bei {dir|ihnen|euch}|sehr geehrte damen und herren
      |liebes {team|kundenservice team|service team}|sehr geehrtes team|grüße|grüß dich`,
    thanks: `danke|danke {schön|sehr|dir|ihnen|euch|vielmals|nochmal|nochmals|trotzdem|auch|vorab|im voraus}|dankeschön|dankesehr
      |{vielen|besten|herzlichen|lieben|tausend} dank{| im voraus| vorab| nochmal| nochmals}|dank dir|dank ihnen|merci
      |ich {danke|bedanke mich}{| dir| ihnen| euch}|das {hilft|hat geholfen|hat mir geholfen|hilft mir}{| sehr| weiter| mir weiter
      | mir sehr}|sehr {hilfreich|nett|freundlich|lieb}{| von {dir|ihnen|euch}}|hilfreich`,
    goodbye: `tschüss|tschüß|tschau|ciao|auf {wiedersehen|wiederhören|wiederschauen}|bis {bald|dann|später|morgen|demnächst}
      |{schönen|einen schönen|ihnen einen schönen|noch einen schönen|dir noch einen schönen|ihnen noch einen schönen}
      {tag|abend|feierabend|tag noch}|schönes wochenende|ein schönes wochenende|gute nacht|mach s gut|machs gut|alles gute
      |ade|{mit |}{freundlichen|besten|herzlichen|vielen|lieben} grüßen|{viele|liebe|beste|herzliche|schöne} grüße|mfg|lg|vg
      |gruß|gleichfalls|ebenfalls|ebenso`,
    yes: `ja|jap|jo|jawohl|ja {bitte|gerne|gern|klar|genau|natürlich|unbedingt}|gerne|gern|sehr gerne|klar|na klar|natürlich
      |auf jeden fall|unbedingt|selbstverständlich|das wäre {gut|nett|toll|super|schön}|bitte ja`,
    acknowledgement: `{alles |ist |alles schon |geht |na |geht schon |passt schon |schon |}{klar|gut}|gut|sehr gut|prima|toll
      |klasse|perfekt|wunderbar|großartig|ausgezeichnet|hervorragend|spitze|fein|schön|schön zu wissen|gut zu wissen|verstanden
      |verstehe|ich verstehe|habe verstanden|ich habe verstanden|hab ich verstanden|in ordnung|geht in ordnung|einverstanden
      |passt|passt so|das passt|stimmt|richtig|genau|das {ist|war} {gut|super|toll|prima|perfekt|klar|richtig|in ordnung|okay|ok}|macht nichts|kein problem|kein thema|alles {gut|bestens|okay|super}|aha|ach so|achso|ah|hm|hmm|mhm|interessant
      |nicht schlimm|egal|schon gut|bitte|bitteschön|gern geschehen|entschuldigung|verzeihung|tut mir leid|falscher chat|test
      |jetzt verstehe ich|ich probiere {es|das} {aus|mal}|ich versuche {es|das}{| mal}`,
    refusal: `nein|nee|nö|ne|nein {danke|das {war|ist} {s|alles|es}}|nein {vielen |}dank|lieber nicht|nicht nötig|nicht jetzt|jetzt
      nicht|momentan nicht|im moment nicht|später|vielleicht später|nichts{| mehr| weiter}|{das|dies} {war|wars|wär|wäre|ist}
      {s|alles|es}{| schon| auch schon| für heute}|das wars|das wärs|das ist alles|mehr nicht|keine{| weiteren| fragen
      | weiteren fragen| mehr}|ich habe keine{| weiteren} fragen{| mehr}|brauche ich nicht|nicht notwendig|bitte nicht|kein
      bedarf|kein interesse|hat sich erledigt|erledigt|schon erledigt|nein das {passt|reicht}|das reicht|vergiss es|lass {es
      |mal}|passt schon`,
    help: `hilfe|hilf mir|bitte {um |}hilfe|{ich|wir} {brauche|bräuchte|benötige|brauchen|suche} {mal |bitte |dringend |etwas |ihre
      |deine |eure |}{hilfe|unterstützung|informationen|infos|rat|auskunft|eine auskunft}|{können|könnten} sie mir {bitte |mal
      |vielleicht |}{helfen|weiterhelfen|behilflich sein}|{kannst|könntest} du mir {bitte |mal |}{helfen|weiterhelfen}|{kann
      |könnte} mir {jemand|hier jemand} {helfen|weiterhelfen}|{ich|wir} {habe|hab|hätte|haben|hätten} {da |}{mal |noch |}{eine|ne
      |noch eine|eine andere|eine weitere|ein paar|einige|zwei|weitere|noch} {kurze |kleine |allgemeine |andere |weitere |}
      {frage|fragen|bitte}|ich {habe|hätte} {ein|noch ein} {problem|anliegen}|{kurze |eine |noch eine |}frage|{darf|kann|dürfte}
      ich {mal |sie |dich |dir |ihnen |}{was|etwas|eine frage|eine kurze frage} {fragen|stellen}|ich {möchte|würde gerne|will
      |wollte} {mal |}{etwas|was} {fragen|wissen}|wie {funktioniert|geht} das{| hier}|womit fange ich an|infos|information`,
    identity: `{bist du|sind sie|seid ihr} {ein|eine|n|echt|wirklich|} {|ein |eine |echter |richtiger |echte |ein echter }{bot|roboter
      |chatbot|mensch|maschine|ki|person|computer|echt|da|noch da|real}|{spreche|rede|schreibe|chatte} ich {hier |gerade |jetzt |}mit
      {einem|einer|n|nem} {echten |richtigen |}{bot|roboter|chatbot|menschen|mensch|maschine|ki|person|computer}|ist das {hier |}
      {ein|eine} {bot|roboter|chatbot|mensch|maschine|ki|echter mensch}|{bot oder mensch|mensch oder bot|bot|roboter}|wer {bist du
      |sind sie|seid ihr|ist da|ist das}|was {bist du|sind sie}|mit wem {spreche|rede|schreibe|chatte} ich{| hier| denn}|wie
      {heißt du|heißen sie|ist {dein|ihr} name}|hast du einen namen|was {kannst du|können sie}{| alles| so| denn| hier} {machen
      |tun|beantworten|}{| für mich}|{wobei|womit|wie} {kannst du|können sie} mir {helfen|weiterhelfen}|was {weißt du|wissen sie}
      {| alles}|was kann ich {dich|sie} {alles |}fragen|ist {hier |da |}{jemand|wer}{| da| hier| online| erreichbar}|{jemand|wer} da
      |noch da|bist du chatgpt|wer hat dich {gemacht|gebaut|programmiert}|stell dich vor`,
    complaint: `{das|dies|es} {ist|war} {falsch|nicht {richtig|korrekt|hilfreich|wahr|das was ich {wissen wollte|gefragt habe|meine
      |suche|meinte}|was ich {wissen wollte|gefragt habe|meine|suche|meinte}|meine frage|die antwort}|keine {antwort|hilfe}
      |unsinn|quatsch|blödsinn|lächerlich|ein witz|schlecht|mist|frech|unverschämt|nutzlos|sinnlos}|falsch|falsche antwort|nicht
      {richtig|hilfreich|korrekt}|{das|dies} {hilft|hat} {mir |}{nicht|nichts|gar nicht|überhaupt nicht|leider nicht}{| weiter
      | geholfen| mir nicht weiter}|{das|dies} {beantwortet|beantwortete|hat} {meine|die} frage {nicht|leider nicht|nicht
      beantwortet}|{du hast|sie haben|ihr habt} meine frage {nicht|leider nicht} beantwortet|{du verstehst|sie verstehen} {mich|es
      |das|meine frage} nicht|{du hast|sie haben} {mich|das|meine frage} {nicht|falsch} verstanden|{das|es} {stimmt|passt} {nicht
      |so nicht|doch nicht|gar nicht}|stimmt {nicht|so nicht}|{das|es} {ergibt|macht} keinen sinn|so ein {quatsch|mist|blödsinn}
      |{du bist|sie sind|ihr seid} {nutzlos|dumm|doof|blöd|unfähig|keine hilfe}|{blöder|dummer|doofer|scheiß} bot|das {habe|hab} ich
      {schon|bereits} {gefragt|gesagt|gelesen|versucht}|das {hast du|haben sie} {schon|bereits} {gesagt|geschrieben}|schon wieder
      |danke für nichts|scheiße|mist|so ein mist|quatsch|blödsinn|unsinn|nutzlos|{ich verstehe|verstehe|verstehe ich} {das |es |}
      nicht|ich bin {unzufrieden|nicht zufrieden|sauer|verärgert|enttäuscht}|ich {möchte|will} mich beschweren|hä|wie bitte`,
    beside: `bitte|mal|dann|jetzt|nun|so|und|aber|sehr|sehr geehrte|sehr geehrter|herr|frau|nochmals|noch mal|nochmal|alles|heute
      |auch|doch|ja|halt|leider|erstmal|erst mal|trotzdem|soweit|zusammen|an alle|ihr|gut|schon|liebe|lieber|na|also|denn|hier`,
    thanksFor: 'für|fürs',
    contact: 'Kontakt Telefon Telefonnummer E-Mail Kundenservice',
  },
  nl: {
    greeting: `{hallo|hoi|hoi hoi|hey|goedemorgen|goedemiddag|goedenmiddag|goedenavond|goedendag|goeiemorgen|goeiedag|goede {morgen|middag
      |avond}|dag|hallootjes|heey}{| allemaal| iedereen| team| daar| weer| mevrouw| meneer| samen}|hoe {gaat het|is het|gaat ie}{| met je
      | met jou| met u| ermee}|{geachte|beste} {heer mevrouw|heer|mevrouw|team|lezer|allen}|alles goed`,
    thanks: `bedankt|dank|dank {je|u|jullie}{| wel}{| hoor| voor de moeite}|dankjewel|dankuwel|dankje|dank je wel|{hartelijk|heel erg|erg
      |alvast|nogmaals|ontzettend} {bedankt|dank}|bedankt {alvast|hoor|nogmaals}|{heel |super |}erg bedankt|veel dank|merci|{dat|dit} helpt{
      | me}{| enorm}|{heel |erg |zeer |}{behulpzaam|vriendelijk|aardig|fijn}{| van je| van u}`,
    goodbye: `doei|doeg|dag hoor|tot ziens|tot {later|straks|snel|morgen|gauw|dan}|{een |nog een |}{fijne|prettige|goede|mooie} {dag|avond
      |middag|weekend|dag nog|dag verder}|{een |}fijn weekend|welterusten|{met |}{vriendelijke|hartelijke|beste} {groet|groeten}|groeten
      |groetjes|mvg|insgelijks|hetzelfde|jij ook|u ook`,
    yes: `ja|jazeker|ja {graag|hoor|alstublieft|alsjeblieft|zeker|natuurlijk}|graag|heel graag|zeker|natuurlijk|doe maar|dat zou {fijn|mooi
      |goed|handig} zijn`,
    acknowledgement: `oké|prima|goed|heel goed|mooi|fijn|geweldig|perfect|uitstekend|fantastisch|duidelijk|{dat|het} is {goed|prima|duidelijk
      |fijn|perfect|oké|ok|mooi|helder}|helder|begrepen|ik begrijp het|snap ik|ik snap het|akkoord|in orde|komt goed|is goed|klopt|dat
      klopt|precies|inderdaad|juist|geen {probleem|dank}|geeft niet|{maakt|geeft} niet uit|maakt niks uit|graag gedaan|sorry|pardon|excuses
      |interessant|goed om te weten|aha|ah|oh|hm|hmm|top|lekker|tof|leuk|test|ik ga het proberen|ik probeer het`,
    refusal: `nee|neen|nee {bedankt|dank je|dank u|dank je wel|dank u wel|hoor|hoeft niet|dat {was|is} {het|alles}|niet nodig|laat maar|nu niet
      |nee}|nu niet|niet {nu|nodig|echt|meer|vandaag}|hoeft niet|{dat|dit} {was|is} {het|alles}{| wel| voor nu}|niets{| meer| anders}|niks{
      | meer| anders}|verder niets|verder niks|{ik heb |}geen {vragen|vragen meer|verdere vragen|interesse}|later|misschien later|laat maar
      |liever niet|nog niet|op dit moment niet|ik hoef niets`,
    help: `help|hulp|help me|{ik|we|wij} {heb|hebben} {hulp|informatie|advies|ondersteuning} nodig|ik heb {even |}hulp nodig|{kun|kan|kunt|zou|kunnen
      |wil|zouden} {je|u|jij|jullie|iemand} {me|mij|ons} {even |misschien |aub |alstublieft |alsjeblieft |kunnen |}{helpen|verder helpen}|{ik|we}
      {heb|had|hebben} {een|nog een|een andere|even een|twee|wat|enkele|een paar|nog} {korte |kleine |andere |}{vraag|vragen|vraagje}|ik heb een
      {probleem|verzoek}|{een |nog een |korte |}{vraag|vraagje}|{mag|kan} ik {je |u |jullie |}{iets|wat|een vraag} {vragen|stellen}|ik {wil|wilde
      |zou} {graag |}{iets|wat} {vragen|weten}|ik zoek {hulp|informatie}|hoe werkt {dit|het|dat}|informatie|info`,
    identity: `{ben je|bent u|ben jij|is dit|zijn jullie|is dat} {een |echt een |nou een |}{bot|robot|mens|machine|computer|ai|chatbot|echt|echt
      persoon|echt mens|persoon|mens of een robot|robot of een mens|er|er nog|daar}|{praat|spreek|chat} ik {nu |hier |}met een {bot|robot|mens
      |machine|computer|ai|echt persoon|echt mens|persoon|chatbot}|wie {ben je|bent u|ben jij|is dit|zijn jullie}|wat {ben je|bent u|ben jij}|met
      wie {spreek|praat|chat} ik|{hoe heet|wat is} {je|jij|u|jouw naam|uw naam|je naam}|wat {kun|kan|kunt|weet} {je|jij|u}{| allemaal| zoal} {doen
      |beantwoorden|}{| voor mij| voor me}|{waarmee|hoe|waar} {kun|kan|kunt} {je|u|jij} {me|mij} {mee |}helpen|wat kan ik {je |u |}vragen|is {er
      |daar |hier |}iemand{| aanwezig| daar| online}|iemand{| daar| aanwezig}|{robot of mens|mens of robot|robot|bot}`,
    complaint: `{dat|dit|het} {is|klopt|was|is helemaal} {fout|niet|onjuist|niet {juist|waar|goed|correct|behulpzaam|nuttig|wat ik {vroeg|bedoel
      |bedoelde|zoek|wil weten|wilde weten}|mijn vraag|het antwoord}|geen antwoord|onzin|belachelijk|nutteloos|een grap|verkeerd|waardeloos|slecht}
      |fout|verkeerd{| antwoord}|fout antwoord|klopt niet|niet behulpzaam|{dat|dit} {helpt|hielp} {me |mij |}{niet|niets|niet verder|helemaal niet
      }|{dat|dit} {beantwoordt|is geen antwoord op} mijn vraag{| niet}|{je|u} {hebt|heeft|beantwoordt|begrijpt|snapt|luistert} {mijn vraag |me |mij |
      het |}niet{| beantwoord| begrepen}|{ik begrijp|ik snap|begrijp|snap} {het |dit |je |}niet|{je|u} {bent|is} {nutteloos|dom|waardeloos}|{stomme
      |domme} {bot|robot}|dat {heb|had} ik al {gevraagd|gezegd|gelezen|geprobeerd}|dat {heb je|zei je|hebt u} al{| gezegd}|bedankt voor niets|wat een
      onzin|onzin|shit|kut|ik ben {niet tevreden|ontevreden|boos|teleurgesteld}|ik wil {klagen|een klacht indienen}|hè|wat`,
    beside: `aub|alstublieft|alsjeblieft|svp|dan|nu|en|maar|heel|erg|ook|echt|mevrouw|meneer|nou|ah|oh|alles|allemaal|vandaag|voor nu|even|hoor|zeg
      |u|je|hier|wel|nog`,
    thanksFor: 'voor',
    contact: 'contact telefoon telefoonnummer e-mail klantenservice',
  },
} satisfies Record<string, TalkWords>
