import type { TalkWords } from './talk-words.ts'

export const ROMANCE_WORDS = {
  fr: {
    greeting: `{bonjour|bonsoir|salut|coucou|bjr|rebonjour}{| à tous| à toutes| à vous| tout le monde| madame| monsieur| l équipe
      | toute l équipe| madame monsieur}|bonne journée à tous|comment {ça va|allez vous|vas tu|vous allez}{| aujourd hui}|ça va
      |{vous allez|tu vas} bien|madame monsieur|chère équipe`,
    thanks: `merci|merci {beaucoup|bien|infiniment|à vous|d avance|par avance|encore|énormément|quand même|à toi|mille fois}|mille
      mercis|un grand merci|grand merci|je vous remercie{| beaucoup| d avance}|je te remercie|{c est|c était} {très |}{gentil|utile
      |aimable|sympa}{| de votre part}|très utile|ça m {aide|a aidé}{| beaucoup}`,
    goodbye: `au revoir|à {bientôt|plus|plus tard|demain|la prochaine}|a plus|bonne {journée|soirée|nuit|fin de journée|continuation}
      |bon {week end|weekend|après midi}|adieu|tchao|ciao|{bien |}cordialement|bien à vous|{sincères |meilleures |}salutations
      |vous aussi|à vous aussi|de même|pareillement`,
    yes: `oui|ouais|oui {s il vous plaît|s il te plaît|svp|stp|merci|volontiers|bien sûr|je veux bien}|volontiers|avec plaisir|bien
      sûr|je veux bien|certainement|absolument|allez y|vas y|ce serait {bien|super|parfait}`,
    acknowledgement: `d accord|dac|parfait|très bien|c est {parfait|bon|bien|noté|super|clair|compris|ok|d accord|très clair
      |entendu}|bien|compris|j ai compris|je comprends|je vois|entendu|noté|génial|excellent|magnifique|formidable|nickel|ça marche
      |ça roule|pas de {problème|souci}|pas grave|ce n est pas grave|tant pis|bon|ah|ah ok|ah d accord|hum|exact|exactement|tout à
      fait|de rien|je vous en prie|pardon|désolé|désolée|excusez moi|bravo|intéressant|bon à savoir|test|je vais essayer`,
    refusal: `non|nan|non {merci|merci bien|ça ira|c est bon|c est tout|pas maintenant}|ça ira|pas {maintenant|encore|besoin|la peine
      |pour le moment|vraiment|nécessaire|aujourd hui}|c est {tout|tout bon|bon|inutile}|ce {sera|n est} {tout|pas la peine|pas
      nécessaire}|rien{| d autre| de plus}|plus tard|peut être plus tard|ce n est pas {la peine|nécessaire}|je n ai {plus|pas} {de
      question|d autre question|besoin}{| s}|laissez tomber|laisse tomber|pas intéressé|surtout pas|tout est {bon|clair}`,
    help: `aide|à l aide|au secours|aidez moi|aide moi|{j ai|on a|nous avons} besoin {d aide|d un renseignement|d informations
      |d une information|de renseignements|de votre aide|d un conseil|d une info}|{pouvez|pourriez} vous m {aider|aider svp|assister
      |renseigner}|{peux|pourrais} tu m aider|{est ce que |}{vous pouvez|vous pourriez|tu peux|quelqu un peut} m aider|{j ai|j aurais
      |nous avons} {une|une autre|encore une|quelques|deux|des} {petite |autre |}{question|questions}|{j ai|j aurais} {un problème
      |une demande|un souci}|{une |petite |autre |}question|{je peux|puis je|est ce que je peux|je voudrais|j aimerais|je souhaite}
      {vous |te |}{poser|demander} {une question|quelque chose|une petite question}|je {voudrais|souhaite|cherche} {un renseignement
      |une information|des renseignements|des informations|savoir quelque chose}|comment ça {marche|fonctionne}|renseignement
      |info`,
    identity: `{êtes vous|es tu|vous êtes|tu es|t es|c est} {un |une |vraiment |vraiment un |vraiment une |bien |}{vrai |vraie |}{bot
      |robot|humain|machine|personne|ia|chatbot|intelligence artificielle|là|encore là|réel|être humain|vraie personne|ordinateur|
      robot ou un humain|humain ou un robot}|{est ce que |}je {parle|discute|suis} {bien |}{à|avec|avec} {un |une |}{vrai |vraie |}{robot
      |bot|humain|machine|personne|ia|chatbot|être humain}|{est ce un|est ce une|est ce que c est un} {robot|bot|machine|humain|ia}
      |{qui|vous êtes qui|tu es qui|t es qui}{| êtes vous| es tu| est là}|à qui {je parle|ai je affaire|parle je|est ce que je
      parle}|{comment|quel} {vous appelez vous|t appelles tu|tu t appelles|est {votre|ton} nom|est votre prénom}|{que|qu est ce
      que|de quoi} {pouvez vous|savez vous|peux tu|sais tu|vous pouvez|vous savez|tu peux|tu sais|êtes vous capable de} {faire|
      faire pour moi|répondre|}|{comment|en quoi} {pouvez vous|peux tu} m aider|à quoi {servez vous|sers tu|tu sers}|il y a
      quelqu un|y a {quelqu un|t il quelqu un}|quelqu un|{robot ou humain|humain ou robot|robot|bot}|vous êtes là`,
    complaint: `{c est|c était|ce n est pas|c est pas|ceci est} {faux|incorrect|inutile|nul|ridicule|n importe quoi|une blague|juste
      |vrai|correct|utile|ça|ma question|la réponse|la question|ce que {je veux|j ai demandé|je demande|je demandais|je voulais}{
      | savoir}|une réponse|exact|bon|la bonne réponse|très utile}|faux|mauvaise réponse|inutile|{ça|cela|ceci} {ne m aide pas|m
      aide pas|n aide pas|ne m a pas aidé|ne répond pas à ma question|répond pas à ma question|n a pas répondu à ma question|ne veut
      rien dire|n a aucun sens}{| du tout}|{vous|tu} {n avez|avez|n as|as} pas répondu{| à ma question}|{vous ne|tu ne|vous|tu}
      {répondez|réponds|comprenez|comprends|m aidez|m aides} {pas|rien}{| à ma question| ma question| du tout}|{vous|tu} {ne me|me}
      {comprenez|comprends} pas|{vous êtes|tu es|t es} {nul|inutile|bête|stupide|idiot|con}|{stupide|mauvais} {bot|robot}|j ai déjà
      {demandé|dit|posé la question|essayé}{| ça| cela}|{vous avez|tu as} déjà dit {ça|cela}|merci pour rien|n importe quoi|merde
      |putain|je {ne |}comprends {pas|rien}|je {ne |}suis pas {content|contente|satisfait|satisfaite}|je suis {mécontent|déçu|déçue
      |en colère}|je {veux|voudrais|souhaite} {me plaindre|faire une réclamation}|comment|hein|quoi`,
    beside: `s il vous plaît|s il te plaît|svp|stp|bien|alors|donc|et|mais|beaucoup|encore|maintenant|vraiment|aussi|madame|monsieur|bon
      |ah|oh|tout|tous|à vous|à tous|pour le moment|pour l instant|aujourd hui|là|déjà|vous|toi|du tout`,
    thanksFor: 'pour|de {votre|vos|ton|ta|l|m avoir}|d avoir',
    contact: 'contact téléphone numéro adresse e-mail service client',
  },
  es: {
    greeting: `{hola|buenos días|buenas tardes|buenas noches|buen día|buenas|holi|ola|saludos}{| a todos| a todas| equipo| señor
      | señora| amigo| amigos| de nuevo| otra vez| qué tal}|qué tal{| está| estás| estáis| todo}|cómo {está|estás|están|estáis|va|te
      va|le va|va todo}{| usted| hoy}|muy buenas{| tardes| noches}|qué hay|qué onda|estimados{| señores}|estimado equipo|encantado`,
    thanks: `gracias|graciass|{muchas|muchísimas|mil|miles de} gracias|gracias {igual|igualmente|de nuevo|a ti|a usted|de todos modos
      |de todas formas|de antemano|de todas maneras}|{te|le|se} lo agradezco{| mucho}|{le|te|les} agradezco{| mucho}|muy {amable|útil}
      |{me|eso me} {ayuda|ayudó|sirve|ha servido|ha ayudado}{| mucho}|qué amable`,
    goodbye: `adiós|hasta {luego|pronto|mañana|la vista|otra|la próxima}|nos vemos|chao|chau|ciao|{que |}{tenga|tengas|pase|pases}
      {un buen|buen|un buen} {día|fin de semana}|{que |}{tenga|tengas|pase|pases} {buena|una buena} {tarde|noche|semana}|buen {fin de
      semana|día}|cuídate|igualmente|{un |}{cordial saludo|saludo|saludo cordial}|saludos{| cordiales}|atentamente|a usted también`,
    yes: `sí|sip|sí {por favor|claro|gracias|quiero|me gustaría}|claro|claro que sí|por supuesto|con gusto|desde luego|adelante|cómo no
      |me gustaría|seguro`,
    acknowledgement: `vale|bien|muy bien|bueno|de acuerdo|perfecto|genial|excelente|estupendo|fantástico|maravilloso|entendido
      |entiendo|ya entiendo|ya veo|comprendo|comprendido|{está|eso está|todo} {bien|bueno|perfecto|claro}|qué bien|ya|listo
      |{es|eso es} {correcto|perfecto|cierto}|correcto|exacto|exactamente|sin problema|no {hay problema|pasa nada|importa|te preocupes
      |se preocupe}|de nada|perdón|perdona|disculpe|disculpa|lo siento|interesante|bueno saberlo|ah|ah ok|ajá|anotado|guay|dale|prueba
      |lo intentaré|voy a probar`,
    refusal: `no|no {gracias|muchas gracias|hace falta|es necesario|por ahora|ahora|de momento|nada más|eso es todo|así está bien|quiero
      |lo necesito|tengo más preguntas|todavía|por el momento}|eso {es|sería|era} todo{| por ahora| gracias}|{es|era} todo|nada{| más
      | por ahora}|ahora no|todavía no|más tarde|quizás más tarde|tal vez luego|luego|así está bien|está bien así|ninguna{| más}|mejor
      no|déjalo|déjelo|olvídalo|olvídelo|por ahora no|por el momento no|no me interesa`,
    help: `ayuda|ayúdame|ayúdeme|{necesito|quiero|quisiera|busco|necesitamos} {tu |su |un poco de |algo de |más |}{ayuda|información|asistencia
      |apoyo|informarme|asesoramiento}|{me|nos} {puede|puedes|podría|podrías|pueden|podrían} ayudar|{puede|puedes|podría|podrías|pueden}
      {ayudarme|ayudarnos}{| por favor| con algo}|{alguien |}{me puede|puede} {ayudar|ayudarme}|{tengo|tenía|quisiera hacer|quiero
      hacer|me gustaría hacer} {una|otra|unas|algunas|dos|una última} {pequeña |}{pregunta|duda|preguntas|dudas|consulta|consultas}
      {| rápida| más}|tengo {un problema|una petición|una solicitud}|{una |otra |}{pregunta|consulta|duda}{| rápida}|{puedo|podría|te
      puedo|le puedo} {hacer|hacerle|hacerte|preguntar|preguntarle|preguntarte} {una |otra |}{pregunta|consulta|algo}|quiero {saber|
      preguntar} algo|cómo funciona{| esto}|información|info`,
    identity: `{eres|es|es usted|usted es|esto es|sos|tú eres} {un |una |realmente un |de verdad un |}{bot|robot|humano|humana|máquina|persona
      |ia|chatbot|real|persona real|ser humano|inteligencia artificial|humano o un robot|robot o una persona|ordenador}|{estoy|hablo}
      {hablando |chateando |}{con|con} {un |una |}{bot|robot|humano|máquina|persona|persona real|ia|ser humano|chatbot}|quién {eres|es|es
      usted|sos|está ahí}|qué {eres|es usted}|con quién {hablo|estoy hablando|tengo el gusto}|{cómo|cuál} {te llamas|se llama|es {tu|su}
      nombre}{| usted}|qué {puedes|puede|sabes|sabe|podés} {hacer|responder|contestar|}{| por mí| tú| usted}|{en qué|cómo} {me |}{puedes|
      puede} {ayudar|ayudarme}|qué {te |le |}puedo preguntar|para qué {sirves|sirve}|{hay |}alguien{| ahí| aquí| por ahí}|{estás|está}
      {ahí|aquí}|{robot o humano|humano o robot|robot|bot}`,
    complaint: `{eso|esto|es|eso es|esto es|está|eso está|esto está|eso no es|esto no es|no es|eso no|no} {mal|incorrecto|falso|inútil
      |ridículo|una broma|una tontería|mentira|equivocado|correcto|cierto|verdad|útil|lo que {pregunté|he preguntado|quería|quiero|
      pedí}{| saber}|mi pregunta|la respuesta|una respuesta|así|ayuda}|incorrecto|respuesta {incorrecta|equivocada}|inútil|{eso|esto|}
      {| eso}no {me |}{ayuda|sirve|ayudó|ha ayudado|responde|responde a|contesta|resuelve}{| mucho| nada| de nada| mi pregunta| a mi
      pregunta| para nada}|no {has|ha|respondió|respondiste|me has|me ha|contestaste|contestó} {respondido|contestado|entendido|}{| a}
      {| mi pregunta| la pregunta}|no {me |}{entiendes|entiende|entendiste|comprendes|comprende}{| nada| mi pregunta}|no {entiendo|
      comprendo|lo entiendo}{| nada}|{eres|es} {un |}{inútil|tonto|estúpido|idiota}|{bot|robot} {inútil|tonto|estúpido}|ya {lo |}{pregunté
      |dije|he preguntado|he dicho|lo intenté}{| eso}|ya {lo |me lo }{dijiste|dijo|has dicho}|eso ya lo {dijiste|dijo|sé}|no tiene sentido
      |gracias por nada|qué tontería|mierda|no estoy {contento|contenta|satisfecho|satisfecha}|estoy {enfadado|enfadada|molesto|molesta
      |decepcionado|decepcionada}|{quiero|quisiera} {quejarme|poner una queja|presentar una queja|hacer un reclamo}|cómo|qué`,
    beside: `por favor|porfa|pues|entonces|y|pero|muy|mucho|ahora|también|de verdad|señor|señora|bueno|ah|oh|todo|todos|a todos|hoy|por
      ahora|por el momento|bien|usted|tú|a ti|aquí|ya|igual`,
    thanksFor: 'por',
    contact: 'contacto teléfono número correo electrónico atención al cliente',
  },
  it: {
    greeting: `{ciao|buongiorno|buon giorno|buonasera|buona sera|buon pomeriggio|salve|hey|ehi}{| a tutti| a voi| a lei| team| di nuovo|
      signora| signore| gentile team}|come {va|stai|sta|state|sta oggi}|tutto bene|gentile team|gentili signori|spettabile ditta`,
    thanks: `grazie|{grazie |}{mille|tante|infinite|di cuore}|{molte|tante|mille} grazie|grazie {mille|tante|infinite|molto|ancora|lo
      stesso|comunque|in anticipo|a lei|a te|a voi}|la ringrazio{| molto| tanto}|ti ringrazio{| molto| tanto}|vi ringrazio{| molto}
      |molto {gentile|utile}|{mi è stato|è stato} {molto |}{utile|d aiuto}|gentilissimo|gentilissima`,
    goodbye: `arrivederci|arrivederla|a {presto|dopo|domani|più tardi}|addio|ci {vediamo|sentiamo}|buona {giornata|serata|notte
      |continuazione|settimana}|buon {fine settimana|weekend|proseguimento|lavoro}|altrettanto|{cordiali|distinti|un cordiale} {saluti|
      saluto}|saluti|anche a {lei|te|voi}|ciao ciao`,
    yes: `sì|si|sì {grazie|per favore|certo|volentieri|prego|per piacere}|certo|certamente|volentieri|naturalmente|con piacere|sarebbe
      {bello|ottimo|utile}|certo che sì`,
    acknowledgement: `va {bene|benissimo}|bene|benissimo|molto bene|d accordo|perfetto|ottimo|fantastico|eccellente|magnifico|ho capito
      |capito|capisco|chiaro|tutto {chiaro|ok|bene|a posto}|è {chiaro|perfetto|corretto|tutto chiaro}|esatto|esattamente|giusto|bello
      |bravo|bravissimo|nessun problema|non {c è problema|fa niente|importa|si preoccupi|ti preoccupare}|prego|di niente|scusa|scusi|mi
      dispiace|interessante|buono a sapersi|ah|ah ok|ricevuto|prova|proverò`,
    refusal: `no|no {grazie|grazie mille|per ora|adesso|ora|è tutto|basta così|va bene così|non serve|non ora|niente altro|nient altro}
      |non {ora|adesso|serve|mi serve|importa|è necessario|ancora|per ora|ce n è bisogno}|{è|questo è|per ora è|sarebbe} tutto|basta così
      |va bene così|niente{| altro}|nient altro|nessun altra domanda|nessuna{| altra domanda}|più tardi|magari dopo|dopo|per ora no|meglio
      di no|lascia stare|lasci stare|lascia perdere|non mi interessa|sono a posto|a posto così`,
    help: `aiuto|aiutami|mi aiuti|{ho|avrei|abbiamo} bisogno {di |d }{aiuto|informazioni|assistenza|un informazione|una informazione|un
      aiuto|supporto}|mi serve {aiuto|un informazione|una mano}|{mi |}{puoi|può|potete|potresti|potrebbe|potreste} {aiutarmi|aiutare|dare
      una mano|darmi una mano}{| per favore}|{qualcuno |}{mi può|può} {aiutare|aiutarmi}|{ho|avrei|vorrei fare|volevo fare|posso fare}
      {una|un altra|un|alcune|delle|due|ancora una} {piccola |breve |altra |}{domanda|domande|richiesta}|ho un problema|{una |un altra |}
      domanda|{posso|potrei} {chiedere|chiederti|chiederle|farle|farti|fare} {una domanda|qualcosa|una cosa}|{vorrei|volevo} {chiedere
      |sapere|chiederle} {una cosa|qualcosa|un informazione}|{vorrei|cerco} {informazioni|un informazione|delle informazioni}|come
      funziona|informazioni|info`,
    identity: `{sei|è|lei è|tu sei|siete|questo è} {un |una |davvero un |veramente un |}{bot|robot|umano|umana|macchina|persona|ia|chatbot
      |reale|persona reale|persona vera|vero|essere umano|intelligenza artificiale|umano o un robot|robot o una persona|computer}|{sto
      parlando|parlo|sto scrivendo|sto chattando} con {un |una |}{bot|robot|umano|macchina|persona|ia|persona reale|persona vera|essere
      umano|chatbot|operatore}|chi {sei|è|è lei|siete}|{cosa|che cosa} sei|con chi {parlo|sto parlando|ho il piacere}|come {ti chiami|si
      chiama}|qual è il {tuo|suo} nome|{cosa|che cosa} {puoi|può|sai|sa|potete|sei in grado di} {fare|rispondere|}{| per me}|{come|in che
      modo} {puoi|può} aiutarmi|{cosa|che cosa} posso {chiederti|chiedere|chiederle}|a cosa servi|c è {qualcuno|nessuno}{| lì| qui}
      |qualcuno|sei {lì|qui|ancora lì}|{robot o umano|umano o robot|robot|bot}`,
    complaint: `{è|questo è|questa è|quello è|non è|questo non è|questa non è} {sbagliato|sbagliata|errato|falso|inutile|ridicolo|uno scherzo
      |assurdo|giusto|corretto|vero|utile|la risposta|una risposta|la mia domanda|quello che {ho chiesto|volevo|cercavo|chiedevo|cerco}{
      | sapere}|ciò che ho chiesto|un aiuto|di aiuto}|sbagliato|risposta sbagliata|inutile|{questo |}non {mi |}{aiuta|serve|è utile|è di
      aiuto|ha aiutato|risponde}{| a niente| per niente| a nulla| alla mia domanda}|non {hai|ha|avete} {risposto|capito}{| alla mia domanda
      | la mia domanda| niente| la domanda}|non {mi |}{capisci|capisce|rispondi|risponde|ascolti}{| niente| alla mia domanda}|non {capisco
      |ho capito|ha senso}{| niente}|{sei|è} {inutile|stupido|un idiota|scemo}|{stupido bot|bot stupido|bot inutile}|{l |}ho già {chiesto
      |detto|provato|letto}|{l |}{hai|ha} già detto|grazie {per niente|di niente lo stesso}|che schifo|merda|non sono {contento|contenta
      |soddisfatto|soddisfatta}|sono {arrabbiato|arrabbiata|deluso|delusa}|{voglio|vorrei} {fare un reclamo|lamentarmi|reclamare}|come|cosa`,
    beside: `per favore|per piacere|allora|e|ma|molto|tanto|adesso|ora|anche|davvero|signora|signor|signore|beh|ah|oh|tutto|tutti|a tutti|oggi
      |per ora|per il momento|bene|lei|voi|qui|già|pure|proprio`,
    thanksFor: 'per|di tutto|della|dell|del',
    contact: 'contatti telefono numero email servizio clienti',
  },
  pt: {
    greeting: `{olá|oi|oie|bom dia|boa tarde|boa noite|viva|alô|e aí|opa|ola}{| a todos| pessoal| equipe| equipa| de novo| senhor| senhora
      | tudo bem| tudo bom| gente}|tudo {bem|bom|certo}{| com você| contigo| por aí}|como {vai|está|estás|vão|você está|vai você}|prezados
      {| senhores}|caros{| senhores}`,
    thanks: `obrigado|obrigada|obrigadão|obg|obgd|brigado|brigada|valeu|vlw|grato|grata|agradecido|agradeço{| muito| a ajuda| desde já}
      |{muito|muitíssimo} {obrigado|obrigada}|{obrigado|obrigada} {mesmo assim|igualmente|desde já|de novo|mais uma vez|a você}|ajudou
      {| muito| bastante}|muito {útil|gentil}|{isso|isto} {ajuda|ajudou}{| muito}`,
    goodbye: `tchau|tchauzinho|adeus|até {logo|breve|mais|amanhã|a próxima|já|depois}|{tenha|tenham} {um bom|uma boa|um ótimo|um
      excelente} {dia|tarde|noite|fim de semana}|bom {fim de semana|final de semana|descanso}|igualmente|{atenciosamente|cumprimentos|com
      os melhores cumprimentos|abraço|abraços|cordialmente}|para você também`,
    yes: `sim|sim {por favor|claro|obrigado|obrigada|quero|pode ser}|claro|claro que sim|com certeza|pode ser|quero|com prazer|gostaria|por
      favor sim`,
    acknowledgement: `bem|muito bem|tá|tá {bom|bem|certo|ok}|está {bem|bom|certo|ótimo|perfeito|tudo bem}|certo|perfeito|ótimo|óptimo
      |excelente|maravilha|maravilhoso|fantástico|legal|beleza|blz|show|joia|entendi|entendido|percebi|compreendo|compreendi|de acordo
      |combinado|isso|isso mesmo|exato|exatamente|correto|fixe|bacana|sem {problema|problemas}|não {tem problema|faz mal|há problema|se
      preocupe}|de nada|por nada|desculpe|desculpa|perdão|interessante|bom saber|ah|ah ok|ah tá|tudo {certo|ok|claro}|teste|vou tentar`,
    refusal: `não|nao|não {obrigado|obrigada|precisa|é preciso|é necessário|agora|por enquanto|por agora|quero|preciso|é só isso|muito
      obrigado|muito obrigada|mais nada|ainda}|{é|era|isso é|só} {só isso|tudo|só|isso}{| mesmo| por enquanto| por hoje}|só isso{| mesmo}
      |isso é tudo|nada{| mais| não}|mais nada|agora não|ainda não|por enquanto não|mais tarde|talvez {mais tarde|depois}|depois|nenhuma{
      | mais}|deixa{| pra lá| para lá}|deixe{| estar}|esquece|esqueça|não tenho mais {perguntas|dúvidas}|não me interessa|melhor não`,
    help: `ajuda|socorro|{me ajuda|ajude me|me ajude|ajuda me}|{preciso|precisava|gostaria|queria|quero|necessito} {de |da sua |de uma |de
      alguma |}{ajuda|informação|informações|apoio|assistência|suporte}|{pode|podes|poderia|podia|podem|você pode|vocês podem|consegue|alguém
      pode|alguém} {me ajudar|ajudar me|ajudar|me auxiliar}{| por favor}|{tenho|tinha|gostaria de fazer|queria fazer|estou com} {uma|outra
      |mais uma|algumas|umas|duas} {pequena |outra |}{pergunta|dúvida|questão|perguntas|dúvidas|questões}{| rápida}|tenho um {problema|pedido}
      |{uma |outra |}{pergunta|dúvida}|{posso|poderia|podia} {fazer|lhe fazer|te fazer|tirar|perguntar|te perguntar|lhe perguntar} {uma
      pergunta|uma dúvida|uma coisa|algo|uma questão}|{queria|gostaria de|quero} {saber|perguntar|tirar} {uma coisa|algo|uma dúvida|uma
      informação}|como {isso |isto |}funciona|informação|informações|info`,
    identity: `{você é|és|é|tu és|isso é|isto é|vc é|o senhor é} {um |uma |mesmo um |mesmo uma |realmente um |}{bot|robô|robot|humano|humana
      |máquina|pessoa|ia|chatbot|real|pessoa real|pessoa de verdade|ser humano|inteligência artificial|humano ou um robô|robô ou uma pessoa
      |computador}|{estou|eu estou} {falando|a falar|conversando|a conversar} com {um |uma |}{bot|robô|robot|humano|máquina|pessoa|ia|pessoa
      real|pessoa de verdade|ser humano|chatbot}|{falo|converso} com {um |uma |}{robô|humano|pessoa|máquina}|quem {é você|és|é|és tu|está aí|é
      vc|fala}|{o que|que} {você é|és}|com quem {falo|estou falando|estou a falar}|{qual|como} {é {o seu|seu|o teu} nome|você se chama|te
      chamas|se chama}|{o que|que|do que} {você |vc |}{pode|podes|sabe|sabes|faz|fazes|consegue} {fazer|responder|}{| por mim}|{como|em que
      |no que} {você |}{pode|podes} {me ajudar|ajudar me|ajudar}|{o que|que} posso {te |lhe |}perguntar|para que {você |}{serve|serves}
      |{tem |há |}alguém{| aí| aqui| online}|{está|estás|você está} {aí|por aí}|{robô ou humano|humano ou robô|robô|robot|bot}`,
    complaint: `{isso|isto|está|isso está|isto está|é|isso é|isto é|isso não é|isto não é|não é|não está|isso não está} {errado|incorreto|falso
      |inútil|ridículo|uma piada|um absurdo|mentira|certo|correto|verdade|útil|o que {perguntei|eu perguntei|queria|eu queria|quero|pedi|eu
      pedi}{| saber}|a minha pergunta|minha pergunta|a resposta|uma resposta|ajuda}|errado|resposta errada|inútil|{isso |isto |}não {me |}
      {ajuda|ajudou|serve|serviu|responde|respondeu|resolve|adianta|ajudou em}{| nada| em nada| muito| a minha pergunta| à minha pergunta|
      minha pergunta| de nada}|{você |vc |tu |}não {me |}{respondeu|entendeu|entende|respondeste|entendes|percebe|percebeu|respondes|ajuda}{
      | a| à}{| minha pergunta| nada| o que perguntei}|não {entendi|entendo|percebi|percebo|compreendo|faz sentido}{| nada}|{você é|és|é} {um
      |}{inútil|burro|estúpido|idiota}|{bot|robô} {inútil|burro|estúpido}|já {perguntei|disse|falei|tentei}{| isso}|{você |}já {disse|falou}
      isso|obrigado por nada|que absurdo|merda|porra|não estou {satisfeito|satisfeita|feliz}|estou {insatisfeito|insatisfeita|chateado
      |chateada|decepcionado|decepcionada}|{quero|gostaria de} {reclamar|fazer uma reclamação}|como assim|quê|o quê`,
    beside: `por favor|pf|pfv|então|e|mas|muito|agora|também|mesmo|senhor|senhora|bom|bem|ah|oh|tudo|todos|a todos|hoje|por enquanto|por agora
      |você|aqui|aí|já|só|pela atenção|viu|né`,
    thanksFor: 'por|pela|pelo|pelas|pelos',
    contact: 'contato contacto telefone número e-mail atendimento ao cliente',
  },
} satisfies Record<string, TalkWords>
