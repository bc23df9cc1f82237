import { type Lexicon, lexicon } from './lexicon.ts'
import { MORE_LEXICONS } from './more-person-words.ts'

const ENGLISH = lexicon({
  language: 'en',
  talk: 'talk|speak|chat|connect me|connect us|transfer me|transfer this|switch me|put me (?:through|on|in touch|in contact)|get me|get (?:hold of|through to|in touch with)|reach|contact|escalate|hand (?:me|this|it) over|(?:pass|forward) (?:me|this|it|my (?:question|request|case))|(?:call|ring|phone) me|call(?:ed)? back|help from',
  want: "want|need|wanna|would like|'d like|like|give me|bring me|is there|are there|get me|please|pls|could i have|can i have|let me have",
  person:
    'humans?(?! (?:resources?|rights?|errors?|readable|beings? rights))|(?<!in |per |each |one |first |third |second |missing |contact )persons?|real people|someone|somebody|anyone|anybody|agents?|representatives?|reps?|operators?|advisors?|advisers?|employees?|colleagues?|supervisors?|managers?|specialists?|(?:your|the|support|sales|service|help) (?:team|staff|people)|staff member|team member|member of (?:staff|the team|your team)|customer (?:service|support|care)|support',
  human:
    'humans?(?! (?:resources?|rights?|errors?|readable))|(?:real|actual|live|human|physical) (?:person|people|agent|being|operator)|(?:live|human|service|support|customer) (?:agent|rep|representative|support|operator)|operator|representative|(?:staff|team) member|member of (?:staff|the team|your team)|agent|someone (?:real|human|from)',
  not: "don'?t|do not|doesn'?t|not|no|never|without|rather than|instead of|stop|avoid|won'?t|cannot|can'?t(?! i)|needn'?t|wasn'?t|isn'?t",
  about:
    "how|what|what's|when|where|which|whether|who is|who are|why(?! can't i)|if i|if we|does|did|do (?:i|we|you need|users|customers|they)|are (?:you|they|we|your)|will|should|must|(?:phone |telephone |contact )?numbers?|manual|guide|(?:opening )?hours|e-?mail|(?:talk|speak|chat|say) about|create|build|make|add|configure|set up|wants|talked|spoke|spoken|chatted|contacted",
  bare: 'an?|the|real|live|actual|human|to|with|please|pls|now|just|some|any|here|asap|me|i|get|give|hello|hi|hey|want|need|right|immediately|service|support|customer|someone|somebody|from|your|team',
  yes: "yes|yeah|yep|yup|ya|sure|ok|okay|k|alright|all right|please|pls|please do|go ahead|do it|do that|do so|of course|certainly|absolutely|definitely|sounds good|that would be (?:great|good|nice|helpful|lovely)|i would|i'd (?:like|love|appreciate) (?:that|it)|why not|gladly|correct|fine|great|perfect",
})

const GERMAN = lexicon({
  language: 'de',
  talk: 'sprechen|reden|chatten|telefonieren|verbinden(?: sie)?|verbinde|verbunden werden|weiterleiten|weitergeleitet|leiten sie|leite|weitergeben|durchstellen|stellen sie|übergeben|kontakt(?:ieren)?|erreichen|wenden|rückruf|anrufen|rufen sie|ruf mich|zurückrufen|holen sie|hol',
  want: 'will|wollen|möchte|möchten|brauche|bräuchte|hätte gern|hätte gerne|gib mir|geben sie mir|gibt es|bitte|wünsche|benötige',
  person:
    'mensch(?:en)?|(?:echten?|reale[nr]?) person|person|jemand(?:en|em)?|mitarbeiter(?:in|innen|n)?|berater(?:in|n)?|kolleg(?:e|en|in)|ansprechpartner(?:in)?|sachbearbeiter(?:in)?|kundendienst|kundenservice|kundenbetreuung|kundenberater(?:in)?|support|team|personal|operator|agenten?|(?:der|die|einer) hotline',
  human:
    'mensch(?:en)?|echten? (?:person|mensch(?:en)?|mitarbeiter)|mitarbeiter(?:in|n)?|ansprechpartner(?:in)?|sachbearbeiter(?:in)?|kundenberater(?:in)?|berater(?:in)?|operator|kundenservice|kundendienst',
  not: 'nicht|kein(?:e|en|em|er)?|nie|niemals|ohne|statt|anstatt|nein',
  about:
    '(?:telefon|ruf|service)?nummer|e-?mail|adresse|öffnungszeiten|wie|was|wann|wo|warum|wieso|weshalb|welche[rnms]?|wer ist|wer sind|ob|wenn|muss ich|müssen|bist du|sind sie|sprechen über|reden über|hat|haben sie|habe ich',
  bare: 'einen?|einer|einem|mit|zu|bitte|echten?|jetzt|sofort|mal|den|die|der|ich|will|möchte|hallo',
  yes: 'ja|jap|jo|jawohl|gerne?|bitte|sehr gerne?|klar|okay|ok|natürlich|sicher|auf jeden fall|einverstanden|mach das|machen sie das|passt|das wäre (?:gut|nett|toll|super|schön)|unbedingt|selbstverständlich',
})

const FRENCH = lexicon({
  language: 'fr',
  talk: 'parler|discuter|échanger|dialoguer|contacter|joindre|(?:me |nous )?mettre en (?:contact|relation)|mettez-moi|mets-moi|passez-moi|passe-moi|passer|transférer|transférez(?:-moi)?|transfère(?:-moi)?|transmettre|rappeler|rappelez-moi|connectez-moi|redirigez-moi',
  want: "veux|voudrais|souhaite|souhaiterais|aimerais|besoin|faut|donnez-moi|s'il vous pla[iî]t|svp|stp|puis-je avoir|je peux avoir",
  person:
    "humains?|personne (?:réelle|humaine|physique)|(?:une|vraie) personne|quelqu'un|conseill(?:er|ère)s?|agents?|opérat(?:eur|rice)|employée?s?|collaborat(?:eur|rice)|collègue|responsable|service (?:client|clientèle|après-vente)|support|votre équipe|l'équipe|interlocuteur",
  human:
    "humain|(?:vraie|réelle) personne|personne (?:réelle|humaine)|quelqu'un de réel|conseill(?:er|ère)|opérat(?:eur|rice)|agent humain|service client",
  not: "ne|n'(?:ai|est|en|y)?|pas|sans|plutôt que|au lieu de|non|jamais",
  about:
    "numéro|horaires|e-?mail|comment|(?<!est-ce )que|quoi|quand|où|pourquoi|quels?|quelles?|combien|est-ce que je dois|dois-je|si je|êtes-vous|es-tu|parler (?:de|du|des)|qu'est-ce",
  bare: "une?|le|la|l'|avec|à|un vrai|vraie?|s'il vous pla[iî]t|svp|stp|je|veux|bonjour|maintenant|réel(?:le)?",
  yes: "oui|ouais|volontiers|d'accord|ok|okay|avec plaisir|bien sûr|s'il vous pla[iî]t|svp|stp|allez-y|vas-y|parfait|certainement|absolument|je veux bien|pourquoi pas|ce serait (?:bien|super|parfait)",
})

const SPANISH = lexicon({
  language: 'es',
  talk: 'hablar|hable|platicar|charlar|chatear|conversar|comunicarme|comunicar|comuníqueme|comunícame|contactar|contacto|contacte|conéctame|conécteme|conectarme|pásame|páseme|pasarme|me pasas?|me pase|transfiérame|transfiéreme|transferirme|transferir|derivar|póngame|ponme|llámame|llámenme|llamen|atienda|atendido|atender',
  want: 'quiero|quisiera|necesito|deseo|me gustaría|dame|deme|por favor|puedo tener|hay',
  person:
    'humanos?|persona (?:real|humana|de verdad)|(?:una|alguna) persona|persona|alguien|agentes?|asesor(?:a|es)?|operador(?:a|es)?|representantes?|empleados?|encargad[oa]|ejecutiv[oa]|atención al cliente|servicio al cliente|soporte|(?:su|vuestro|el|tu) equipo|responsable|supervisor',
  human:
    'humano|persona (?:real|humana|de verdad)|agente|operador(?:a)?|asesor(?:a)?|representante|alguien real|atención al cliente',
  not: 'no|sin|nunca|ni|en vez de|en lugar de',
  about:
    'número|horario|correo|cómo|como (?:puedo|hago|se)|qué|cuándo|dónde|por qué|cuál(?:es)?|cuánt[oa]s?|tengo que|debo|si puedo|eres|es usted|hablar de|hablar sobre',
  bare: 'una?|un|el|la|con|a|por favor|real|quiero|hola|ahora|de verdad',
  yes: 'sí|si|claro|por favor|vale|ok|okay|de acuerdo|por supuesto|adelante|perfecto|con gusto|desde luego|bueno|está bien|me gustaría|hazlo|hágalo|dale|cómo no|seguro',
})

const PORTUGUESE = lexicon({
  language: 'pt',
  talk: 'falar|conversar|contactar|contatar|contato|contacto|entrar em contato|entrar em contacto|transfira(?:-me)?|transferir|me transfere|passe(?:-me)?|me passa|me passe|passar|encaminhar|encaminhe|me liga|ligue|conecte|me conecta|atendido|chamar|chame',
  want: 'quero|queria|gostaria|preciso|desejo|por favor|me dá|dê-me|tem',
  person:
    'humano|ser humano|pessoa (?:real|de verdade|humana)|(?:uma|alguma) pessoa|pessoa|alguém|atendentes?|agentes?|operador(?:a)?|representante|funcionári[oa]|assistente humano|suporte|(?:sua|vossa|a) equipe|(?:sua|vossa|a) equipa|atendimento (?:humano|ao cliente)|colaborador(?:a)?|responsável',
  human:
    'humano|pessoa (?:real|de verdade|humana)|atendente|operador(?:a)?|representante|alguém real|atendimento humano|agente',
  not: 'não|nao|sem|nunca|nem|em vez de|ao invés de',
  about:
    'número|horário|e-?mail|como|o que|quando|onde|por que|porque|porquê|qual|quais|quant[oa]s?|tenho que|preciso falar com alguém para|devo|você é|és|falar sobre|falar de',
  bare: 'uma?|um|o|a|com|por favor|real|quero|olá|oi|agora|de verdade',
  yes: 'sim|claro|por favor|ok|okay|tá bom|está bem|com certeza|pode ser|pode|quero|perfeito|de acordo|certo|isso|gostaria|faça isso|ótimo',
})

const ITALIAN = lexicon({
  language: 'it',
  talk: 'parlare|parlarne|conversare|chattare|contattare|mettermi in contatto|mettimi in contatto|mettetemi in contatto|mi metta in contatto|passami|passatemi|mi passi|passarmi|trasferisci(?:mi)?|trasferire|mi trasferisca|inoltrare|inoltra|collegami|collegatemi|richiamare|essere (?:richiamat[oa]|contattat[oa])',
  want: 'voglio|vorrei|desidero|ho bisogno|mi serve|dammi|datemi|per favore|per piacere|posso avere|potrei avere',
  person:
    'uman[oi]|essere umano|persona (?:reale|vera|umana|in carne e ossa)|(?:una|qualche) persona|persona|qualcuno|operator[ei]|operatrice|agenti?|consulente|rappresentante|addett[oi]|responsabile|assistenza(?: clienti)?|servizio clienti|supporto|(?:vostro|tuo|il) team|collega|impiegat[oi]',
  human:
    'umano|persona (?:reale|vera|umana|in carne e ossa)|operatore|operatrice|consulente|agente|addetto|servizio clienti|qualcuno di reale',
  not: 'non|senza|mai|no|né|invece di|anziché',
  about:
    'numero|orari|e-?mail|come|cosa|che cosa|quando|dove|perché|quale|quali|quant[oiae]|devo|se posso|sei|parlare di|parlare del',
  bare: 'una?|un|il|la|con|a|ad|per favore|reale|ver[oa]|voglio|vorrei|ciao|adesso|ora',
  yes: "sì|si|certo|certamente|volentieri|per favore|ok|okay|va bene|d'accordo|perfetto|naturalmente|procedi|fallo|ottimo|con piacere|sarebbe (?:bello|ottimo|utile)",
})

const DUTCH = lexicon({
  language: 'nl',
  talk: 'praten|spreken|chatten|contact|doorverbinden|verbind|verbinden|doorgeven|doorsturen|overzetten|bereiken|bellen|gebeld|terugbellen|te woord',
  want: 'wil|wilde|zou|nodig|graag|geef me|geef mij|alstublieft|alsjeblieft|mag ik|kan ik',
  person:
    'mens|mensen|echt persoon|persoon|iemand|medewerkers?|medewerkster|collega|klantenservice|klantendienst|support|jullie team|het team|operator|agent|adviseur|vertegenwoordiger',
  human: 'mens|echt persoon|echte persoon|medewerker|medewerkster|operator|klantenservice|adviseur|agent',
  not: 'niet|geen|nooit|zonder|nee|in plaats van',
  about:
    '(?:telefoon)?nummer|openingstijden|e-?mail|hoe|wat|wanneer|waar|waarom|welke?|moet ik|of ik|ben je|bent u|praten over|spreken over',
  bare: 'een|de|het|met|aub|alstublieft|alsjeblieft|graag|echte?|ik|wil|hallo|nu',
  yes: 'ja|jazeker|graag|alsjeblieft|alstublieft|aub|ok|okay|oké|prima|natuurlijk|zeker|doe maar|is goed|klopt|akkoord',
})

const POLISH = lexicon({
  language: 'pl',
  talk: 'porozmawiać|rozmawiać|pogadać|mówić|połącz|połączyć|połączcie|proszę połączyć|przełącz|przełączyć|przekierować|przekieruj|przekaż|przekazać|skontaktować|kontakt|zadzwonić|oddzwonić|czat',
  want: 'chcę|chciałbym|chciałabym|potrzebuję|poproszę|proszę|daj mi|życzę sobie',
  person:
    'człowiek(?:iem|a|owi)?|żyw(?:ym|ą) (?:człowiekiem|osobą)|osob[aąęy]|kimś|ktoś|konsultant(?:em|ką|a|ka)?|pracownik(?:iem|a)?|agent(?:em|a)?|operator(?:em|a)?|przedstawiciel(?:em|a)?|doradc[aąęy]|obsług[aąęi] klienta|wsparcie(?:m)?|zespołem',
  human:
    'człowiek(?:iem|a|owi)?|prawdziw(?:ą|ym) (?:osobą|człowiekiem)|konsultant(?:em|ka|a)?|pracownik(?:iem|a)?|operator(?:em|a)?|doradc[aąęy]',
  not: 'nie|bez|nigdy|zamiast',
  about:
    'numer|telefon do|e-?mail|jak|co|kiedy|gdzie|dlaczego|czemu|któr[yae]|ile|czy muszę|czy jesteś|rozmawiać o|mówić o',
  bare: 'z|ze|do|proszę|poproszę|żywym|prawdziwym|chcę|cześć|teraz',
  yes: 'tak|jasne|pewnie|proszę|poproszę|ok|okej|dobrze|oczywiście|zgoda|chętnie|zgadzam się|bardzo proszę|no dobra',
})

const TURKISH = lexicon(
  {
    language: 'tr',
    talk: 'konuşmak|konuşabilir|konuşayım|görüşmek|görüşebilir|bağlan(?:mak|abilir)?|bağla(?:yın|r mısınız|r mısın|yabilir)?|bağlar|aktar(?:ın|ır mısınız|ır)?|yönlendir(?:in|ir misiniz|ir)?|ulaş(?:mak|abilir)|iletişime geç(?:mek|ebilir)?|iletir|arayın|sohbet',
    want: 'istiyorum|isterim|istiyoruz|lazım|ihtiyacım|lütfen|gerekiyor',
    person:
      'insan(?:la|a|ı|ile)?|gerçek (?:bir )?(?:insan|kişi)(?:yle|ye|la|a)?|kişi(?:yle|ye)?|biri(?:yle|ne|si|siyle)?|temsilci(?:yle|ye|niz|nizle|si|siyle)?|yetkili(?:yle|ye|niz|nizle|si|siyle)?|çalışan(?:la|ınızla)?|operatör(?:le|e)?|görevli(?:yle|ye)?|destek ekib(?:i|iyle|ine)|müşteri (?:hizmetleri|temsilcisi)(?:yle|ne)?|danışman(?:la|a)?',
    human:
      'insan(?:la|a|ile)?|temsilci(?:yle|ye|si|siyle)?|yetkili(?:yle|ye)?|operatör(?:le|e)?|gerçek (?:bir )?kişi(?:yle|ye)?|müşteri (?:hizmetleri|temsilcisi)(?:yle)?',
    not: 'istemiyorum|istemem|değil|hayır|olmadan|gerek yok|konuşmayacağım|yerine',
    about:
      'numarası|numara|e-?posta|nasıl|ne|ne zaman|nerede|neden|niçin|hangi|kaç|gerekir mi|zorunda mıyım|misin|hakkında',
    bare: 'bir|destek|ile|lütfen|gerçek|canlı|müşteri|merhaba|şimdi|istiyorum',
    yes: 'evet|olur|tamam|lütfen|tabii|tabi|elbette|peki|kesinlikle|memnuniyetle|isterim|iyi olur|harika',
  },
  { negatesLast: true },
)

const RUSSIAN = lexicon({
  language: 'ru',
  talk: 'поговорить|говорить|пообщаться|общаться|связаться|связь|свяжите|соедините|соедини|соединить|переключите|переключи|переведите|переведи|передайте|передай|позовите|позови|позвоните|перезвоните|пригласите|дайте|дай',
  want: 'хочу|хотел бы|хотела бы|хотелось бы|нужен|нужна|нужно|надо|требуется|пожалуйста|прошу|можно|могу',
  person:
    'человек(?:ом|а|у)?|люд(?:ьми|ей|ям)|жив(?:ым|ого) человек(?:ом|а)|кем-то|кем-нибудь|кто-нибудь|оператор(?:ом|а|у)?|сотрудник(?:ом|а|у)?|менеджер(?:ом|а|у)?|специалист(?:ом|а|у)?|консультант(?:ом|а|у)?|представител(?:ем|я|ь)|служб(?:ой|у) поддержки|поддержк(?:ой|у)|поддержкой|администратор(?:ом|а)?',
  human:
    'человек(?:ом|а)?|оператор(?:ом|а)?|сотрудник(?:ом|а)?|консультант(?:ом|а)?|специалист(?:ом|а)?|менеджер(?:ом|а)?',
  not: 'не|нет|без|никогда|вместо',
  about:
    'номер|телефон|почта|как|что|когда|где|почему|зачем|какой|какая|какие|сколько|нужно ли|надо ли|должен ли|вы человек|ты человек',
  bare: 'с|со|живым|живого|живой|настоящим|реальным|пожалуйста|мне|хочу|привет|здравствуйте|сейчас|срочно',
  yes: 'да|ага|угу|хорошо|ладно|конечно|пожалуйста|давай|давайте|ок|окей|согласен|согласна|хочу|было бы (?:хорошо|здорово)|будьте добры|разумеется|непременно',
})

const ARABIC = lexicon({
  language: 'ar',
  talk: 'التحدث|اتحدث|أتحدث|التكلم|أتكلم|اتكلم|الكلام|أكلم|اكلم|التواصل|أتواصل|اتواصل|حولني|حوّلني|تحويلي|وصلني|أوصلني|الاتصال|اتصلوا|مخاطبة|أخاطب|احكي|أحكي',
  want: 'أريد|اريد|أرغب|ارغب|أود|اود|أحتاج|احتاج|بدي|عايز|عاوز|ابغى|أبغى|من فضلك|رجاء|رجاءً|ممكن|هل يمكنني|لو سمحت',
  person:
    'إنسان|انسان|بشري|شخص|شخص حقيقي|شخصا|شخصًا|موظف|الموظف|موظفا|موظفًا|أحد|احد|ممثل|خدمة العملاء|الدعم|الدعم الفني|فريقكم|الفريق|مسؤول|وكيل|مندوب',
  human: 'إنسان|انسان|بشري|شخص حقيقي|موظف|خدمة العملاء|ممثل',
  not: 'لا|لن|ليس|بدون|بدلا|بدلاً',
  about: 'رقم|كيف|(?<!شخص )ما|ماذا|متى|أين|اين|لماذا|كم|هل يجب|هل أنت|هل انت|عن',
  bare: 'مع|إلى|الى|من فضلك|رجاء|حقيقي|أريد|اريد|مرحبا|الآن|لو سمحت',
  yes: 'نعم|أجل|اجل|ايوه|أيوه|طبعا|طبعًا|بالتأكيد|موافق|حسنا|حسنًا|تمام|من فضلك|رجاء|أكيد|اكيد|اوكي',
})

const HINDI = lexicon(
  {
    language: 'hi',
    talk: 'बात|संपर्क|जोड़|कनेक्ट|ट्रांसफर|बुला',
    want: 'चाहिए|चाहता|चाहती|कृपया|दीजिए|करवा|करा',
    person: 'इंसान|व्यक्ति|किसी से|एजेंट|प्रतिनिधि|ऑपरेटर|कर्मचारी|कस्टमर केयर|ग्राहक सेवा|सपोर्ट टीम|असली आदमी',
    human: 'इंसान|असली व्यक्ति|प्रतिनिधि|ऑपरेटर|कस्टमर केयर|ग्राहक सेवा|एजेंट',
    // Infinitives end in ना, and कीमत (price) ends in मत, so only whole words count as a refusal.
    not: 'नहीं|बिना|(?<![\\p{L}\\p{M}])(?:मत|ना)(?![\\p{L}\\p{M}])',
    about: 'नंबर|कैसे|क्या है|कब|कहाँ|कहां|क्यों|कौन सा|कितन|के बारे में क्या',
    bare: 'कृपया|एक|असली|से|को|मुझे|चाहिए',
    yes: 'हाँ|हां|जी|ठीक है|ज़रूर|जरूर|कृपया|बिल्कुल|अच्छा',
  },
  { hasSpaces: false, negatesLast: true },
)

const JAPANESE = lexicon(
  {
    language: 'ja',
    talk: '話したい|話せ|話させ|話がしたい|お話し|話を|つない|繋い|繋げ|つなげ|代わっ|替わっ|連絡(?:したい|を取りたい|して|ください)|相談したい|対応して|取り次|呼んで|話す必要',
    want: 'お願い|ください|下さい|したい|ほしい|欲しい|希望',
    person:
      '人間|担当者|担当の方|オペレータ|スタッフ|有人|係の(?:者|人|方)|(?:本物|生身|実際|普通)の人|誰か|人と|人に|話せる人|カスタマーサポート|サポートの',
    human: '人間|担当者|担当の方|オペレータ|スタッフ|有人|係の(?:者|人|方)|(?:本物|生身|実際)の人',
    not: 'たくない|たくあり|不要|いらない|要らない|しないで|必要(?:は)?(?:ない|あり)|結構です|嫌',
    about:
      '電話番号|方法|どうやって|どうすれば|どのように|どうしたら|いつ|何時|なぜ|とは|何人|ですか？?$(?<!お願いできますか？?)(?<!できますか？?)(?<!ませんか？?)(?<!でしょうか？?)',
    bare: 'お願いします|お願い|を|に|と|へ|ください|、',
    yes: 'はい|ええ|うん|お願い|ぜひ|是非|もちろん|そうして|頼みます|いいです(?:よ|ね)|よろしく|オッケー|了解',
  },
  { hasSpaces: false, negatesLast: true },
)

const CHINESE = lexicon(
  {
    language: 'zh',
    talk: '转(?:接|到|给|人工)?|轉|接(?:通|入)?人工|联系|聯繫|聊|说话|說話|说一?下|沟通|溝通|对话|對話|谈|談|找|叫|通话|通話|交流|咨询人工',
    want: '要|想|请|請|需要|给我|給我|麻烦|麻煩|能不能|可以|帮我|幫我',
    person: '人工|真人|客服|工作人员|工作人員|专员|專員|活人|人类|人類|员工|員工|店员|顾问|顧問',
    human: '人工|真人|客服|工作人员|工作人員|专员|專員|活人',
    not: '不想|不要|不需要|不用|别|無需|无需|不必',
    about:
      '电话|電話|号码|怎么|怎麼|如何|怎样|怎樣|什么|什麼|为什么|為什麼|几点|幾點|哪些|是否需要|多少|你是|您是|吗$(?<!可以.{0,12}吗)(?<!能.{0,12}吗)',
    bare: '请|請|要|我|谢谢|謝謝|服务|服務|客服|在线|在線|一下',
    yes: '是的|是|好的|好|可以|行|请|請|麻烦|麻煩|对|對|没问题|沒問題|当然|當然|需要|嗯|^要的?$',
  },
  { hasSpaces: false, negatesLast: false },
)

const KOREAN = lexicon(
  {
    language: 'ko',
    talk: '연결|상담하고|상담받|상담 받|통화|얘기|이야기|대화|말하고|말씀|바꿔|문의하고|연락',
    want: '싶|주세요|해줘|부탁|원해|원합니다|필요해|필요합니다|가능',
    person: '상담원|상담사|사람|직원|담당자|인간|매니저|고객센터|고객 센터|운영자',
    human: '상담원|상담사|사람|직원|담당자|인간|고객센터',
    not: '싶지 않|싶지는 않|원하지 않|필요 없|필요없|아니|말고 싶|않고',
    about: '번호|어떻게|방법|언제|어디|왜|무엇|뭐|몇 |해야 하|인가요|입니까',
    bare: '부탁드립니다|부탁드려요|부탁|주세요|을|를|과|와|좀|요',
    yes: '네|예|응|그래|좋아|좋습니다|부탁|물론|그렇게 해|해 주세요|해주세요|오케이|알겠',
  },
  { hasSpaces: false, negatesLast: true },
)

export const LEXICONS: readonly Lexicon[] = [
  ENGLISH,
  GERMAN,
  FRENCH,
  SPANISH,
  PORTUGUESE,
  ITALIAN,
  DUTCH,
  POLISH,
  TURKISH,
  RUSSIAN,
  ARABIC,
  HINDI,
  JAPANESE,
  CHINESE,
  KOREAN,
  ...MORE_LEXICONS,
]
