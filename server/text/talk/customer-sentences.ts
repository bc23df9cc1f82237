/** What customers read on the website, in mails and in messages, in the languages of the chat's controls. */
export const CUSTOMER_SENTENCES = {
  en: {
    aiNotice: 'Your messages are answered by an AI system.',
    noAnswer: 'I have no answer to this.',
    teamTold: 'Our team has been told and will get back to you.',
  },
  ar: {
    aiNotice: 'يجيب عن رسائلك نظام ذكاء اصطناعي.',
    noAnswer: 'ليس لدي جواب عن هذا.',
    teamTold: 'أُبلغ فريقنا بذلك وسيرد عليك.',
  },
  de: {
    aiNotice: 'Ihre Nachrichten werden von einem KI-System beantwortet.',
    noAnswer: 'Darauf habe ich keine Antwort.',
    teamTold: 'Unser Team weiß Bescheid und meldet sich bei Ihnen.',
  },
  es: {
    aiNotice: 'Un sistema de IA responde a sus mensajes.',
    noAnswer: 'No tengo respuesta a esto.',
    teamTold: 'Hemos avisado a nuestro equipo, que se pondrá en contacto con usted.',
  },
  fr: {
    aiNotice: 'Un système d’IA répond à vos messages.',
    noAnswer: 'Je n’ai pas de réponse à cela.',
    teamTold: 'Notre équipe a été prévenue et reviendra vers vous.',
  },
  it: {
    aiNotice: 'Ai suoi messaggi risponde un sistema di IA.',
    noAnswer: 'Non ho una risposta a questo.',
    teamTold: 'Il nostro team è stato avvisato e la ricontatterà.',
  },
  ja: {
    aiNotice: 'メッセージには AI システムが回答します。',
    noAnswer: 'この件についてはお答えできません。',
    teamTold: '担当チームに連絡しました。追ってご連絡いたします。',
  },
  nl: {
    aiNotice: 'Uw berichten worden beantwoord door een AI-systeem.',
    noAnswer: 'Hier heb ik geen antwoord op.',
    teamTold: 'Ons team is op de hoogte en neemt contact met u op.',
  },
  pl: {
    aiNotice: 'Na Państwa wiadomości odpowiada system AI.',
    noAnswer: 'Nie mam na to odpowiedzi.',
    teamTold: 'Nasz zespół został powiadomiony i skontaktuje się z Państwem.',
  },
  pt: {
    aiNotice: 'As suas mensagens são respondidas por um sistema de IA.',
    noAnswer: 'Não tenho resposta para isto.',
    teamTold: 'A nossa equipa foi avisada e entrará em contacto consigo.',
  },
  tr: {
    aiNotice: 'Mesajlarınızı bir yapay zekâ sistemi yanıtlıyor.',
    noAnswer: 'Buna verecek bir yanıtım yok.',
    teamTold: 'Ekibimize haber verildi, size dönüş yapılacak.',
  },
  zh: {
    aiNotice: '您的消息由人工智能系统回复。',
    noAnswer: '这个问题我无法回答。',
    teamTold: '我们的团队已收到通知，会与您联系。',
  },
}

export type CustomerLanguage = keyof typeof CUSTOMER_SENTENCES

export const isCustomerLanguage = (language: string): language is CustomerLanguage =>
  Object.hasOwn(CUSTOMER_SENTENCES, language)
