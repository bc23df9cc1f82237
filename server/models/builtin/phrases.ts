import type { Language } from '../../text/languages/language.ts'

/** The only sentences that the responder writes itself. */
type Phrases = {
  hello: string
  thanks: string
  goodbye: string
  /** Introduces passages that may not answer the question. */
  closest: string
  decline: string
}

const PHRASES: Partial<Record<Language, Phrases>> & { en: Phrases } = {
  en: {
    hello: 'Hello! What would you like to know?',
    thanks: 'You are welcome. Is there anything else you would like to know?',
    goodbye: 'Goodbye, and have a good day!',
    closest: 'I am not sure that this answers your question. The closest passages I found:',
    decline:
      'I could not find an answer to this in the documents I have. Would you like me to pass your question on to a human?',
  },
  de: {
    hello: 'Hallo! Was möchten Sie wissen?',
    thanks: 'Gern geschehen. Möchten Sie noch etwas wissen?',
    goodbye: 'Auf Wiedersehen und einen schönen Tag!',
    closest: 'Ich bin nicht sicher, ob das Ihre Frage beantwortet. Am nächsten kommen diese Stellen:',
    decline:
      'Dazu habe ich in den vorliegenden Dokumenten keine Antwort gefunden. Soll ich Ihre Frage an einen Menschen weitergeben?',
  },
  fr: {
    hello: 'Bonjour ! Que souhaitez-vous savoir ?',
    thanks: 'Avec plaisir. Souhaitez-vous savoir autre chose ?',
    goodbye: 'Au revoir et bonne journée !',
    closest: 'Je ne suis pas sûr que cela réponde à votre question. Voici les passages les plus proches :',
    decline:
      'Je n’ai pas trouvé de réponse à cette question dans les documents dont je dispose. Souhaitez-vous que je la transmette à une personne ?',
  },
  es: {
    hello: '¡Hola! ¿Qué le gustaría saber?',
    thanks: 'De nada. ¿Desea saber algo más?',
    goodbye: '¡Hasta luego y que tenga un buen día!',
    closest: 'No estoy seguro de que esto responda a su pregunta. Estos son los pasajes más cercanos:',
    decline:
      'No he encontrado una respuesta a esto en los documentos que tengo. ¿Quiere que pase su pregunta a una persona?',
  },
  it: {
    hello: 'Buongiorno! Che cosa desidera sapere?',
    thanks: 'Prego. Desidera sapere altro?',
    goodbye: 'Arrivederci e buona giornata!',
    closest: 'Non sono sicuro che questo risponda alla sua domanda. Questi sono i passaggi più vicini:',
    decline:
      'Non ho trovato una risposta nei documenti a mia disposizione. Desidera che inoltri la sua domanda a una persona?',
  },
  pt: {
    hello: 'Olá! O que gostaria de saber?',
    thanks: 'De nada. Gostaria de saber mais alguma coisa?',
    goodbye: 'Até logo e tenha um bom dia!',
    closest: 'Não tenho certeza de que isto responde à sua pergunta. Estes são os trechos mais próximos:',
    decline:
      'Não encontrei uma resposta para isto nos documentos que tenho. Deseja que eu encaminhe a sua pergunta a uma pessoa?',
  },
  nl: {
    hello: 'Hallo! Wat wilt u weten?',
    thanks: 'Graag gedaan. Wilt u nog iets weten?',
    goodbye: 'Tot ziens en een fijne dag!',
    closest: 'Ik weet niet zeker of dit uw vraag beantwoordt. Deze passages komen het dichtst in de buurt:',
    decline:
      'Ik heb hierop geen antwoord gevonden in de documenten die ik heb. Zal ik uw vraag doorgeven aan een medewerker?',
  },
  pl: {
    hello: 'Dzień dobry! Czego chcesz się dowiedzieć?',
    thanks: 'Nie ma za co. Czy chcesz dowiedzieć się czegoś jeszcze?',
    goodbye: 'Do widzenia i miłego dnia!',
    closest: 'Nie mam pewności, że to odpowiada na pytanie. Najbliższe fragmenty, które udało się znaleźć:',
    decline: 'W dostępnych dokumentach nie ma odpowiedzi na to pytanie. Czy przekazać je człowiekowi?',
  },
  sv: {
    hello: 'Hej! Vad vill du veta?',
    thanks: 'Varsågod. Är det något mer du vill veta?',
    goodbye: 'Hej då och ha en bra dag!',
    closest: 'Jag är inte säker på att det här besvarar din fråga. De närmaste avsnitten jag hittade:',
    decline:
      'Jag hittade inget svar på detta i dokumenten jag har. Vill du att jag skickar din fråga vidare till en människa?',
  },
  da: {
    hello: 'Hej! Hvad vil du gerne vide?',
    thanks: 'Selv tak. Er der andet, du gerne vil vide?',
    goodbye: 'Farvel og hav en god dag!',
    closest: 'Jeg er ikke sikker på, at dette besvarer dit spørgsmål. De nærmeste afsnit, jeg fandt:',
    decline:
      'Jeg fandt ikke noget svar på dette i de dokumenter, jeg har. Skal jeg sende dit spørgsmål videre til et menneske?',
  },
  no: {
    hello: 'Hei! Hva vil du vite?',
    thanks: 'Bare hyggelig. Er det noe mer du vil vite?',
    goodbye: 'Ha det, og ha en fin dag!',
    closest: 'Jeg er ikke sikker på at dette svarer på spørsmålet ditt. De nærmeste avsnittene jeg fant:',
    decline:
      'Jeg fant ikke noe svar på dette i dokumentene jeg har. Skal jeg sende spørsmålet ditt videre til et menneske?',
  },
  fi: {
    hello: 'Hei! Mitä haluaisit tietää?',
    thanks: 'Ole hyvä. Haluatko tietää vielä jotain?',
    goodbye: 'Näkemiin ja hyvää päivänjatkoa!',
    closest: 'En ole varma, vastaako tämä kysymykseesi. Lähimmät löytämäni kohdat:',
    decline:
      'En löytänyt tähän vastausta käytettävissäni olevista asiakirjoista. Välitänkö kysymyksesi ihmiselle?',
  },
  cs: {
    hello: 'Dobrý den! Co byste chtěli vědět?',
    thanks: 'Není zač. Chtěli byste vědět ještě něco?',
    goodbye: 'Na shledanou a hezký den!',
    closest: 'Nejsem si jistý, že to odpovídá na vaši otázku. Nejbližší nalezené pasáže:',
    decline: 'V dokumentech, které mám, jsem na to nenašel odpověď. Mám vaši otázku předat člověku?',
  },
  ru: {
    hello: 'Здравствуйте! Что вы хотели бы узнать?',
    thanks: 'Пожалуйста. Хотите узнать что-нибудь ещё?',
    goodbye: 'До свидания и хорошего дня!',
    closest: 'Я не уверен, что это отвечает на ваш вопрос. Самые близкие фрагменты:',
    decline: 'В имеющихся документах я не нашёл ответа на этот вопрос. Передать его человеку?',
  },
  tr: {
    hello: 'Merhaba! Ne öğrenmek istersiniz?',
    thanks: 'Rica ederim. Öğrenmek istediğiniz başka bir şey var mı?',
    goodbye: 'Hoşça kalın, iyi günler!',
    closest: 'Bunun sorunuzu yanıtladığından emin değilim. Bulduğum en yakın bölümler:',
    decline: 'Elimdeki belgelerde bunun yanıtını bulamadım. Sorunuzu bir kişiye iletmemi ister misiniz?',
  },
  ar: {
    hello: 'مرحبًا! ماذا تود أن تعرف؟',
    thanks: 'على الرحب والسعة. هل تود معرفة شيء آخر؟',
    goodbye: 'إلى اللقاء، ويومًا سعيدًا!',
    closest: 'لست متأكدًا من أن هذا يجيب عن سؤالك. أقرب المقاطع التي وجدتها:',
    decline: 'لم أجد جوابًا عن هذا في المستندات المتوفرة لدي. هل تريد أن أحيل سؤالك إلى شخص؟',
  },
  ja: {
    hello: 'こんにちは。どのようなことをお知りになりたいですか?',
    thanks: 'どういたしまして。ほかにお知りになりたいことはありますか?',
    goodbye: '失礼いたします。よい一日をお過ごしください。',
    closest: 'ご質問の答えになっているか確かではありません。最も近い箇所は次のとおりです。',
    decline: '手元の文書にはこのご質問の答えが見つかりませんでした。担当者におつなぎしましょうか?',
  },
  zh: {
    hello: '您好!您想了解什么?',
    thanks: '不客气。您还想了解什么?',
    goodbye: '再见,祝您愉快!',
    closest: '我不确定这是否回答了您的问题。以下是最接近的内容:',
    decline: '在现有文档中没有找到这个问题的答案。需要我把您的问题转给人工客服吗?',
  },
  ko: {
    hello: '안녕하세요! 무엇을 알고 싶으신가요?',
    thanks: '천만에요. 더 알고 싶은 것이 있으신가요?',
    goodbye: '안녕히 가세요. 좋은 하루 보내세요!',
    closest: '이것이 질문에 대한 답인지 확실하지 않습니다. 가장 가까운 내용은 다음과 같습니다:',
    decline: '가지고 있는 문서에서 이에 대한 답을 찾지 못했습니다. 질문을 담당자에게 전달해 드릴까요?',
  },
}

/** Returns the phrases in a language; the English ones for a language without its own. */
export function phrasesFor(language: Language): Phrases {
  return PHRASES[language] ?? PHRASES.en
}
