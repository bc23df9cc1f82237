type Word = 'out' | 'in'

type Language = 'en' | 'de' | 'fr' | 'es' | 'pt' | 'it' | 'nl'

/** Only whole messages count. "cancel my order" and "stop" in a sentence are for the agent. */
const WORDS: Record<Word, [Language, string[]][]> = {
  out: [
    ['en', ['stop', 'stop all', 'stopall', 'unsubscribe', 'opt out', 'optout']],
    ['de', ['stopp', 'abmelden', 'abbestellen']],
    ['fr', ['arret', 'desabonner', 'desinscription']],
    ['es', ['baja', 'desuscribir', 'darse de baja']],
    ['pt', ['parar', 'descadastrar', 'cancelar inscricao']],
    ['it', ['disiscrivi', 'annulla iscrizione']],
    ['nl', ['afmelden', 'uitschrijven']],
  ],
  in: [
    ['en', ['start', 'unstop', 'subscribe', 'opt in', 'optin']],
    ['de', ['anmelden']],
    ['fr', ['abonner', 'inscription']],
    ['es', ['alta', 'suscribir']],
    ['pt', ['inscrever', 'cadastrar']],
    ['it', ['iscrivi']],
    ['nl', ['aanmelden', 'inschrijven']],
  ],
}

const CONFIRMATIONS: Record<Language, Record<Word, string>> = {
  en: {
    out: 'You will get no more messages from us. Send START if you want them again.',
    in: 'You will get our messages again. Send STOP if you want no more.',
  },
  de: {
    out: 'Sie erhalten keine Nachrichten mehr von uns. Mit ANMELDEN erhalten Sie sie wieder.',
    in: 'Sie erhalten unsere Nachrichten wieder. Mit STOPP erhalten Sie keine mehr.',
  },
  fr: {
    out: 'Vous ne recevrez plus de messages de notre part. Envoyez START pour en recevoir à nouveau.',
    in: 'Vous recevrez de nouveau nos messages. Envoyez STOP pour ne plus en recevoir.',
  },
  es: {
    out: 'No recibirá más mensajes nuestros. Envíe ALTA si desea recibirlos de nuevo.',
    in: 'Volverá a recibir nuestros mensajes. Envíe BAJA si no desea recibir más.',
  },
  pt: {
    out: 'Não receberá mais mensagens nossas. Envie START para voltar a receber.',
    in: 'Voltará a receber as nossas mensagens. Envie PARAR para não receber mais.',
  },
  it: {
    out: 'Non riceverà più nostri messaggi. Invii START per riceverli di nuovo.',
    in: 'Riceverà di nuovo i nostri messaggi. Invii STOP per non riceverne più.',
  },
  nl: {
    out: 'U ontvangt geen berichten meer van ons. Stuur AANMELDEN om ze weer te ontvangen.',
    in: 'U ontvangt onze berichten weer. Stuur AFMELDEN om ze niet meer te ontvangen.',
  },
}

/** Returns whether the whole message is a word that opts out or in again, and the reply to it. */
export function readWord(message: string): { word: Word; confirmation: string } | null {
  const plain = message
    .slice(0, 60)
    .normalize('NFD')
    .replace(/[^\p{L}\s]/gu, '')
    .trim()
    .replace(/\s+/g, ' ')
    .toLowerCase()
  for (const word of ['out', 'in'] as const) {
    const [language] = WORDS[word].find(([, words]) => words.includes(plain)) ?? []
    if (language) return { word, confirmation: CONFIRMATIONS[language][word] }
  }
  return null
}
